"""Receipts: the record of a run, its table, its check, and what a person reads of it (S16)."""
