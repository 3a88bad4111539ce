"""LiteLLM's callbacks: a logger that is always on, and a guardrail for its proxy.

Both do the same. LiteLLM looks for the hooks of streams in the very class of a callback, not in
those it is derived from, so each class, a user's own too, gets them as its own.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any, cast

import litellm
from litellm.exceptions import BadRequestError
from litellm.integrations.custom_guardrail import CustomGuardrail
from litellm.integrations.custom_logger import CustomLogger
from litellm.types.guardrails import (  # pyright: ignore[reportMissingTypeStubs]  # typed inline
    GuardrailEventHooks,
)
from streamguard_openai.client import for_call
from streamguard_openai.shapes import fields, is_list, with_fields

from streamguard import Transformer
from streamguard.adapting import ReasoningPolicy, Settings, ToolArgsPolicy, guard_events
from streamguard.session import FindingHandler, StreamGuardError
from streamguard_litellm.adapter import LiteLLMAdapter
from streamguard_litellm.assembled import choices_asked_for
from streamguard_litellm.blocked import ending
from streamguard_litellm.details import details_of
from streamguard_litellm.errors import guard_error_in_place
from streamguard_litellm.logs import guard_answer, guard_in_place
from streamguard_litellm.options import GuardrailConfigError, Options, read_options
from streamguard_litellm.whole import guard_any

__all__ = ["StreamGuardGuardrail", "StreamGuardLogger"]

_OWN = ("async_post_call_streaming_iterator_hook",)
_MIXED = "a streamed completion of several choices cannot be guarded; ask for one, or not for a stream"


class _Hooks:
    """The hooks; what they guard by is in `_options`, which never changes."""

    _options: Options

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in _OWN:
            if name not in cls.__dict__:
                setattr(cls, name, getattr(cls, name))

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncGenerator[Any, None]:
        """Guard a stream that goes to a client of the proxy.

        Raises:
            BadRequestError: it is a completion of several choices, of which LiteLLM does not say
                which is which.
        """
        settings = for_call(self._options.settings, request_data)
        adapter = LiteLLMAdapter(settings, response)
        events = guard_events(response, adapter)
        several = choices_asked_for(request_data) > 1
        event: Any = None
        try:
            async for event in events:
                if several and getattr(event, "object", None) == "text_completion":
                    raise BadRequestError(_MIXED, request_data.get("model"), "streamguard")
                yield event
        except StreamGuardError:
            for last in _ending(adapter, event, request_data):
                yield last
        except Exception as error:
            guard_error_in_place(error, settings)
            raise
        finally:
            await events.aclose()

    async def async_post_call_success_hook(
        self, data: dict[str, Any], user_api_key_dict: Any, response: Any
    ) -> Any:
        """Guard a response that goes to a client of the proxy."""
        return _answer(response, for_call(self._options.settings, data))

    async def async_post_call_failure_hook(
        self,
        request_data: dict[str, Any],
        original_exception: Exception,
        user_api_key_dict: Any,
        traceback_str: str | None = None,
    ) -> None:
        """Guard an error that goes to a client of the proxy."""
        if self._guards_clients(request_data):
            guard_error_in_place(original_exception, self._options.settings)

    def log_pre_api_call(self, model: Any, messages: Any, kwargs: dict[str, Any]) -> None:
        """Guard what the loggers behind this one receive of the request, and come before them if it fails."""
        if self._guards_logs(kwargs):
            self._lead()
            guard_in_place(kwargs, self._options)

    def _lead(self) -> None:
        # Of a call that failed functions among the callbacks are told always, loggers by their kind.
        own: Any
        callbacks: list[Any]
        for callbacks, own in (
            (litellm.success_callback, self),
            (litellm._async_success_callback, self),
            (litellm.failure_callback, self._failed),
            (litellm._async_failure_callback, self),
        ):
            ahead = callbacks[: callbacks.index(own)] if own in callbacks else callbacks
            if own in callbacks and all(_is_ours(other) for other in ahead):
                continue
            if own in callbacks:
                callbacks.remove(own)
            callbacks.insert(0, own)

    def _failed(self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any) -> None:
        self.log_failure_event(kwargs, response_obj, start_time, end_time)

    async def async_logging_hook(
        self, kwargs: dict[str, Any], result: Any, call_type: str
    ) -> tuple[dict[str, Any], Any]:
        """Guard what loggers receive of a call that has succeeded."""
        return self.logging_hook(kwargs, result, call_type)

    def logging_hook(self, kwargs: dict[str, Any], result: Any, call_type: str) -> tuple[dict[str, Any], Any]:
        """Guard what loggers receive of a call that has succeeded."""
        if not self._options.logs:
            return kwargs, result
        details = details_of(kwargs, self._options)
        return details, details.result(result, self._options)

    def log_post_api_call(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """Guard what the loggers behind this one receive of the provider's answer as it came."""
        if self._guards_logs(kwargs):
            guard_in_place(kwargs, self._options)

    def log_failure_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """Guard what the loggers behind this one receive of a call that has failed."""
        if self._guards_logs(kwargs):
            guard_in_place(kwargs, self._options)

    async def async_log_failure_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """Guard what the loggers behind this one receive of a call that has failed."""
        self.log_failure_event(kwargs, response_obj, start_time, end_time)

    def _guards_logs(self, kwargs: dict[str, Any]) -> bool:
        return self._options.logs

    def _guards_clients(self, request: dict[str, Any]) -> bool:
        return True


def _is_ours(callback: Any) -> bool:
    return isinstance(getattr(callback, "__self__", callback), _Hooks)


class StreamGuardLogger(_Hooks, CustomLogger):
    """Guards all that LiteLLM gives to loggers and tracing back-ends; put it first among the callbacks.

        litellm.callbacks = [StreamGuardLogger(guard), "langfuse"]

    In the proxy it guards as well all that clients are sent, streamed or not, of every request.
    That costs less than a guardrail: for any guardrail LiteLLM takes each chunk apart first.

    Args:
        guard: what every text goes through; one that has blocked leaves no text.
        tool_args: what happens to the arguments of tools.
        reasoning: what happens to reasoning.
        tool_guard: what arguments go through, if not `guard`.
        inputs: the request is guarded too, in what loggers receive.
        on_finding: called with each finding in what clients are sent.

    Raises:
        TypeError: the guard is no `Transformer`.
        ValueError: a policy is unknown.
    """

    def __init__(
        self,
        guard: Transformer,
        *,
        tool_args: ToolArgsPolicy = "guard",
        reasoning: ReasoningPolicy = "guard",
        tool_guard: Transformer | None = None,
        inputs: bool = True,
        on_finding: FindingHandler | None = None,
    ) -> None:
        super().__init__()  # pyright: ignore[reportUnknownMemberType]  # LiteLLM's is typed in part
        settings = Settings(guard, tool_args, reasoning, tool_guard, on_finding=on_finding)
        self._options = Options(settings, inputs=inputs)


class StreamGuardGuardrail(_Hooks, CustomGuardrail):
    """A guardrail of LiteLLM's proxy, configured in its `config.yaml`.

        guardrails:
          - guardrail_name: streamguard
            litellm_params:
              guardrail: streamguard_litellm.StreamGuardGuardrail
              mode: post_call
              default_on: true
              streamguard: {policy: streamguard.toml}

    Where it guards what clients are sent (`post_call`), it guards what loggers receive, unless
    `logs` is false. With the mode `logging_only` it does only that.

    Args:
        guardrail_name: its name.
        event_hook: its modes, `post_call` and `logging_only`.
        streamguard: the options, see `streamguard_litellm.options.read_options`.
        **kwargs: what LiteLLM gives to every guardrail.

    Raises:
        GuardrailConfigError: a mode, an option or the policy is none; the proxy does not start.
    """

    def __init__(
        self,
        guardrail_name: str | None = None,
        event_hook: Any = None,
        streamguard: object = None,
        **kwargs: Any,
    ) -> None:
        try:
            self._options = read_options(streamguard)
            super().__init__(  # pyright: ignore[reportUnknownMemberType]  # LiteLLM's is typed in part
                guardrail_name=guardrail_name,
                event_hook=_modes(event_hook, logs=self._options.logs),
                supported_event_hooks=[GuardrailEventHooks.post_call, GuardrailEventHooks.logging_only],
                **kwargs,
            )
        except (ValueError, TypeError) as error:
            raise GuardrailConfigError(str(error)) from error
        if self._options.logs:
            # Where there is no hook before loggers, they get what the first of them has left.
            litellm.input_callback.insert(0, self)
            self._lead()

    def _guards_logs(self, kwargs: dict[str, Any]) -> bool:
        should_run = cast("Callable[..., bool]", self.should_run_guardrail)  # pyright: ignore[reportUnknownMemberType]
        return self._options.logs and should_run(data=kwargs, event_type=GuardrailEventHooks.logging_only)

    def _guards_clients(self, request: dict[str, Any]) -> bool:
        should_run = cast("Callable[..., bool]", self.should_run_guardrail)  # pyright: ignore[reportUnknownMemberType]
        return should_run(data=request, event_type=GuardrailEventHooks.post_call)


def _modes(given: Any, *, logs: bool) -> list[GuardrailEventHooks]:
    modes = [GuardrailEventHooks(mode) for mode in (given if is_list(given) else [given])]
    if logs and GuardrailEventHooks.logging_only not in modes:
        modes.append(GuardrailEventHooks.logging_only)
    return modes


def _answer(response: Any, settings: Settings) -> Any:
    try:
        return guard_any(response, settings)
    except StreamGuardError:
        blank = guard_answer(response, settings)
        return _marked(blank)


def _marked(response: Any) -> Any:
    """Say in a response that its content was filtered."""
    own = fields(response)
    if is_list(own.get("choices")):
        choices = [with_fields(choice, {"finish_reason": "content_filter"}) for choice in own["choices"]]
        return with_fields(response, {"choices": choices})
    if is_list(own.get("candidates")):
        return with_fields(
            response, {"candidates": [{**fields(own["candidates"][0]), "finishReason": "SAFETY"}]}
        )
    if "stop_reason" in own:
        return with_fields(response, {"stop_reason": "refusal"})
    if is_list(own.get("output")):
        details = {"reason": "content_filter"}
        return with_fields(response, {"status": "incomplete", "incomplete_details": details})
    return response


def _ending(adapter: LiteLLMAdapter, shown: Any, request: Mapping[str, Any]) -> list[Any]:
    count = choices_asked_for(request)
    events = ending(adapter.first, adapter.last, shown, adapter.blocks, count)
    return [adapter.framed(event) for event in events]
