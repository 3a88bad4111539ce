"""LangChain's own tests of chat models: the guarded model passes each that the model inside passes."""

from __future__ import annotations

from typing import Any, ClassVar

import openai
import pytest
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI
from langchain_tests.integration_tests import ChatModelIntegrationTests
from langchain_tests.unit_tests import ChatModelUnitTests
from streamguard_langchain import GuardedChatModel, guard_model

from streamguard import FenceScrubber, PreambleTrimmer, Redactor

from . import messages_endpoint
from .endpoint import answer
from .sources import anthropic_clients, clients

pytestmark = [
    pytest.mark.anyio,  # the tests are asynchronous without saying so
    pytest.mark.filterwarnings("ignore:Benchmark fixture was not used"),
    pytest.mark.filterwarnings("ignore:Unrecognized structured output method"),
    pytest.mark.filterwarnings("ignore::langchain_core._api.beta_decorator.LangChainBetaWarning"),
    pytest.mark.filterwarnings("ignore::langchain_core._api.deprecation.LangChainDeprecationWarning"),
]
GUARD = FenceScrubber("think") | PreambleTrimmer() | Redactor()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Bare(ChatOpenAI):
    def __init__(self, **options: Any) -> None:
        client, async_client = clients(openai, answer)
        super().__init__(
            **{"base_url": "http://test/v1", "api_key": "none", "max_retries": 0, **options},
            http_client=client,
            http_async_client=async_client,
        )

    @classmethod
    def is_lc_serializable(cls) -> bool:
        return False  # it cannot be loaded from here, and a guard is no plain data


class Guarded(GuardedChatModel):
    """Makes guarded models; LangChain's tests want a class."""

    def __new__(cls, **options: Any) -> Any:
        return guard_model(Bare(**options), GUARD, tool_args="guard")


class Params:
    """What the tests are told of the model."""

    chat_model_params: ClassVar[dict[str, Any]] = {"model": "gpt-test", "stream_usage": True}
    supports_json_mode = True
    supports_image_inputs = False  # these tests would load a picture from the network
    model_override_value = "gpt-other"
    supports_model_override = True
    has_tool_choice = True
    structured_output_kwargs: ClassVar[dict[str, Any]] = {"method": "function_calling"}


class BareModel(Params):
    chat_model_class = Bare


class GuardedModel(Params):
    chat_model_class = Guarded


class TestUnitsBare(BareModel, ChatModelUnitTests):
    pass


class TestUnitsGuarded(GuardedModel, ChatModelUnitTests):
    pass


class TestIntegrationBare(BareModel, ChatModelIntegrationTests):
    pass


class TestIntegrationGuarded(GuardedModel, ChatModelIntegrationTests):
    pass


class Anthropic(ChatAnthropic):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        vars(self).update(anthropic_clients(messages_endpoint.answer))

    @classmethod
    def is_lc_serializable(cls) -> bool:
        return False


class GuardedAnthropic(GuardedChatModel):
    def __new__(cls, **options: Any) -> Any:
        return guard_model(Anthropic(**options), GUARD, tool_args="guard")


class AnthropicParams:
    chat_model_params: ClassVar[dict[str, Any]] = {"model": "claude-test", "api_key": "none"}
    supports_image_inputs = False  # these tests would load a picture from the network
    supports_anthropic_inputs = True
    model_override_value = "claude-other"
    supports_model_override = True
    has_tool_choice = True


class BareAnthropicModel(AnthropicParams):
    chat_model_class = Anthropic


class GuardedAnthropicModel(AnthropicParams):
    chat_model_class = GuardedAnthropic


class TestUnitsBareAnthropic(BareAnthropicModel, ChatModelUnitTests):
    pass


class TestUnitsGuardedAnthropic(GuardedAnthropicModel, ChatModelUnitTests):
    pass


class TestIntegrationBareAnthropic(BareAnthropicModel, ChatModelIntegrationTests):
    pass


class TestIntegrationGuardedAnthropic(GuardedAnthropicModel, ChatModelIntegrationTests):
    pass
