"""Digests of what the nightly data checks print."""
