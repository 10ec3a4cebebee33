import logging
import sys

log = logging.getLogger("worker")


def test_noisy_failure():
    for step in range(120):
        print(f"step {step}: copied {step * 17} rows")
    sys.stderr.write("worker: connection reset by peer (errno 104)\n")
    log.warning("retrying in 3 seconds")
    assert step == 120, "lost the last batch"


def test_noisy_success():
    print("all rows copied")


def test_binary_noise():
    sys.stdout.buffer.write(b"\xff\xfe\x00raw\x9b31mred\n") if hasattr(sys.stdout, "buffer") else None
    assert b"\xff".hex() == "00"
