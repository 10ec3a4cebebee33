"""Metrics of one delivery and one episode against truth; names are the receipt's (S14.11)."""
