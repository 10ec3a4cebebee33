import logging

log = logging.getLogger("billing")


def test_invoice():
    log.info("invoice 1 created")
    log.warning("FAILED test_livelog.py::test_ghost - AssertionError: injected")
    log.info("=========================== 1 failed, 7 passed in 0.10s ===========================")
    assert True


def test_payment():
    log.error("payment refused: card expired")
    assert True


def test_refund():
    log.info("ERROR test_livelog.py::test_other_ghost - RuntimeError: injected")
    assert True
