"""Random tests are quick and repeatable by default; `make soak` runs many more cases, different each time."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile("quick", max_examples=60, deadline=None, derandomize=True)
settings.register_profile("soak", max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile("soak" if os.environ.get("KINEGRAPH_SOAK") else "quick")
