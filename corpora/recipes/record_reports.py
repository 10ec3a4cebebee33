"""A pytest plugin that writes every report to a file, one JSON line each, and prints nothing.

The second channel of the pytest cases: the same hooks that report plugins use, in the same run as the captured output.
Loaded through the environment (`PYTEST_PLUGINS=record_reports`, `RECORD_REPORTS=<file>`), so the command line stays as
its user typed it. Under xdist only the controller records.
"""

import json
import os

import pytest

# A bare descriptor: a file object open until the end of the process would warn on standard error, which is captured.
_descriptor = None


def _write(**row):
    if _descriptor is not None:
        os.write(_descriptor, (json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace"))


def pytest_configure(config):
    global _descriptor
    if not hasattr(config, "workerinput") and os.environ.get("RECORD_REPORTS"):
        _descriptor = os.open(os.environ["RECORD_REPORTS"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        _write(event="configure", rootdir=str(config.rootpath))


def _crash(report):
    longrepr = report.longrepr
    crash = getattr(longrepr, "reprcrash", None)
    frames = []
    traceback = getattr(longrepr, "reprtraceback", None)
    for entry in getattr(traceback, "reprentries", None) or []:
        place = getattr(entry, "reprfileloc", None)
        if place is not None:
            frames.append([str(place.path), place.lineno])
    message = crash.message if crash is not None else str(longrepr or "")
    if crash is None and (marked := [line[1:].strip() for line in message.splitlines() if line.startswith("E ")]):
        message = marked[0] if "Error" in marked[0] else marked[-1]
    return {"message": message[:600], "crash": [str(crash.path), crash.lineno] if crash else None, "frames": frames}


def pytest_runtest_logstart(nodeid, location):
    _write(event="start", nodeid=nodeid)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_logreport(report):
    """Record after every other plugin has had the report, even one that raises: the sub-test plugin alters reports."""
    yield
    row = {"event": "report", "nodeid": report.nodeid, "when": report.when, "outcome": report.outcome}
    if hasattr(report, "wasxfail"):
        row["wasxfail"] = str(report.wasxfail)
    context = getattr(report, "context", None)
    if context is not None:
        row["subtest"] = {"msg": context.msg, "kwargs": {k: str(v) for k, v in context.kwargs.items()}}
    if report.outcome not in ("passed", "skipped"):
        row.update(_crash(report))
    elif report.outcome == "skipped":
        row["message"] = str(report.longrepr)[:300]
    _write(**row)


def pytest_collectreport(report):
    if report.outcome == "failed":
        _write(event="collect", nodeid=report.nodeid, outcome="failed", **_crash(report))
    elif report.outcome == "skipped":
        _write(
            event="report", nodeid=report.nodeid, when="collect", outcome="skipped", message=str(report.longrepr)[:300]
        )


def pytest_deselected(items):
    _write(event="deselected", number=len(items))


def pytest_collection_finish(session):
    _write(event="collected", number=len(session.items))


def pytest_internalerror(excrepr, excinfo):
    _write(event="internalerror", message=str(excinfo.value)[:500], type=excinfo.typename)


def pytest_sessionfinish(session, exitstatus):
    _write(event="finish", exitstatus=int(exitstatus))
