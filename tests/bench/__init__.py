"""Ratios, measured in one run: `nox -s bench [-- start ingest linear tokens]`."""
