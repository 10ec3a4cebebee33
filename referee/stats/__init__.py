"""Paired, clustered statistics: arrays in, intervals out, no files (S15.3 to S15.6)."""
