import os

import pytest
from hypothesis import HealthCheck, settings

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # or importing it asks the network for a price list

settings.register_profile("default", deadline=None, derandomize=True, database=None, max_examples=100)
settings.register_profile(
    "long", deadline=None, max_examples=5000, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("default")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    backend: str = request.param
    return backend
