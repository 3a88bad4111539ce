"""LiteLLM reads the environment when it is imported, and its imports warn."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator

import pytest

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("litellm")
    pytest.importorskip("litellm.proxy.utils")

from .upstream import Upstream


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with Upstream() as server:
        yield server
