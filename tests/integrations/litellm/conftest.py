"""LiteLLM reads the environment when it is imported, and its imports warn."""

from __future__ import annotations

import gc
import importlib.util
import os
import warnings
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
if importlib.util.find_spec("litellm") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import litellm
        import litellm.proxy.utils

from .upstream import Upstream


@pytest_asyncio.fixture(loop_scope="module", scope="module", autouse=True)
async def _clients() -> AsyncIterator[None]:
    """LiteLLM keeps its clients open, and leaves sockets to the collector, which would warn of them."""
    yield
    await litellm.close_litellm_async_clients()
    litellm.in_memory_llm_clients_cache.flush_cache()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with Upstream() as server:
        yield server
