"""What every test shares: hypothesis repeats the same examples on every machine, so a red run can be repeated."""

import os

from hypothesis import HealthCheck, settings

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}

settings.register_profile("ci", derandomize=True, database=None, max_examples=60, **_COMMON)
settings.register_profile("search", max_examples=2000, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
