"""Anything an application may be handed: states, outputs, lists of messages, plain texts."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult

from streamguard import End
from streamguard_langchain.errors import guard_error
from streamguard_langchain.free import FreeData
from streamguard_langchain.messages import guard_llm_result, guard_message
from streamguard_langchain.settings import Settings

__all__ = ["guard_value"]


def guard_value(value: Any, settings: Settings, /, *, name: str | None = None, end: End | None = None) -> Any:
    """Guard every message and every text in a value.

    Args:
        value: anything; it is not changed.
        settings: what the user has chosen.
        name: what the value stands under; texts are looked at behind it as well.
        end: how the texts of messages end, if that is not to be read off their metadata.
    """

    def known(part: Any) -> Any:
        if isinstance(part, BaseMessage):
            return guard_message(part, settings, end=end)
        if isinstance(part, LLMResult):
            return guard_llm_result(part, settings, end=end)
        return guard_error(part, settings) if isinstance(part, Exception) else None

    return FreeData(settings.guard, known=known).guarded(value, name)
