def pytest_runtest_logreport(report):
    if report.when == "call" and report.nodeid.endswith("test_third"):
        raise KeyError("duration_by_owner")
