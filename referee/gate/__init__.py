"""The decision over a receipt: hard rules, closed reasons, no averaging (S15.7)."""
