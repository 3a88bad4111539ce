"""Anything an application may be handed: states, outputs, lists of messages, plain texts."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult

from streamguard.adapting import guard_object
from streamguard_langchain.messages import guard_llm_result, guard_message
from streamguard_langchain.settings import Settings, is_kept
from streamguard_langchain.shapes import is_dict, is_list, is_tuple

__all__ = ["guard_value"]


def guard_value(value: Any, settings: Settings, /, *, name: str | None = None) -> Any:
    """Guard every message and every text in a value.

    Args:
        value: anything; it is not changed.
        settings: what the user has chosen.
        name: what the value stands under; texts are looked at behind it as well.
    """
    if isinstance(value, BaseMessage):
        return guard_message(value, settings)
    if isinstance(value, LLMResult):
        return guard_llm_result(value, settings)
    if is_dict(value):
        return {
            key: item
            if isinstance(item, str) and is_kept(str(key))
            else guard_value(item, settings, name=str(key))
            for key, item in value.items()
        }
    if is_list(value):
        return [guard_value(item, settings, name=name) for item in value]
    if is_tuple(value):
        return tuple(guard_value(item, settings, name=name) for item in value)
    return guard_object({name: value}, settings.guard)[name]
