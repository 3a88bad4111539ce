"""A chat model that guards another: what LangChain derives from it is derived from guarded text.

Everything a chat model of LangChain tells anyone (messages, chunks, callbacks, events of every
version, traces, caches, the states of a graph) comes out of four methods: `_generate`, `_stream`
and their asynchronous forms. These call the same methods of the model inside and guard what comes.
They pass no `run_manager` on, for some providers' models report raw tokens to it themselves.

What LangChain asks about a model is answered by the model inside, one question at a time. There is
no delegation of unknown attributes but for plain data: LangChain looks for hooks by name
(`_stream_chat_model_events`) and would stream past the guard.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.language_models.base import LangSmithParams
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableSerializable
from langchain_core.runnables.configurable import RunnableConfigurableFields
from langchain_core.runnables.utils import AnyConfigurableField, ConfigurableField
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from streamguard.adapting import guard_events, guard_events_sync
from streamguard_langchain.calls import AsyncSteps, Steps, acall, call
from streamguard_langchain.chunks import ChunkGuard
from streamguard_langchain.inputs import guard_inputs
from streamguard_langchain.messages import guard_result
from streamguard_langchain.settings import Settings, wants_json

__all__ = ["GuardedChatModel"]

_PLAIN = (str, int, float, bool, type(None), SecretStr, dict, list, tuple)


class GuardedChatModel(BaseChatModel):
    """Guards a chat model; made by `guard_model`.

    Attributes:
        inner: the model inside. What it is asked directly is not guarded.
        settings: what the user has chosen.
    """

    inner: BaseChatModel = Field(repr=False)
    settings: Settings = Field(repr=False)

    model_config = ConfigDict(arbitrary_types_allowed=True)

    @model_validator(mode="before")
    @classmethod
    def _pass_on(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Give options of the model inside to a copy of it: LangChain configures fields this way."""
        own = {name: value for name, value in values.items() if name in cls.model_fields}
        options = {name: value for name, value in values.items() if name not in own}
        if options:
            inner: BaseChatModel = values["inner"]
            kept = {name: getattr(inner, name) for name in inner.model_fields_set}
            own["inner"] = type(inner)(**{**kept, **options})
        return own

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        asked = self._asked(messages)
        result = call(self.settings, lambda: self.inner._generate(asked, stop=stop, **kwargs))
        return guard_result(result, self.settings, json_content=self._wants_json(kwargs))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        asked = self._asked(messages)
        result = await acall(self.settings, lambda: self.inner._agenerate(asked, stop=stop, **kwargs))
        return guard_result(result, self.settings, json_content=self._wants_json(kwargs))

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        if not self._streams(async_api=False):
            return iter([_as_chunk(self._generate(messages, stop=stop, **kwargs))])
        asked = self._asked(messages)
        source = call(self.settings, lambda: iter(self.inner._stream(asked, stop=stop, **kwargs)))
        guard = ChunkGuard(self.settings, json_content=self._wants_json(kwargs))
        return guard_events_sync(Steps(self.settings, source), guard)

    def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        if not self._streams(async_api=True):
            return self._awhole(messages, stop, kwargs)
        asked = self._asked(messages)
        source = call(self.settings, lambda: aiter(self.inner._astream(asked, stop=stop, **kwargs)))
        guard = ChunkGuard(self.settings, json_content=self._wants_json(kwargs))
        return guard_events(AsyncSteps(self.settings, source), guard)

    async def _awhole(
        self, messages: list[BaseMessage], stop: list[str] | None, kwargs: Mapping[str, Any]
    ) -> AsyncIterator[ChatGenerationChunk]:
        yield _as_chunk(await self._agenerate(messages, stop=stop, **kwargs))

    def _asked(self, messages: list[BaseMessage]) -> list[BaseMessage]:
        guard = self.settings.input_guard
        return (
            messages if guard is None else guard_inputs(messages, guard, on_finding=self.settings.on_finding)
        )

    def _wants_json(self, kwargs: Mapping[str, Any]) -> bool:
        options = getattr(self.inner, "model_kwargs", None)
        return wants_json({**options, **kwargs} if isinstance(options, dict) else kwargs)

    def _streams(self, *, async_api: bool) -> bool:
        """Tell whether the model inside has a stream of its own."""
        cls = type(self.inner)
        sync = cls._stream is not BaseChatModel._stream
        return sync or (async_api and cls._astream is not BaseChatModel._astream)

    def _should_stream(self, *, async_api: bool, run_manager: Any = None, **kwargs: Any) -> bool:
        return not self._stays_whole(kwargs) and self.inner._should_stream(
            async_api=async_api, run_manager=run_manager, **kwargs
        )

    def _should_use_protocol_streaming(
        self, *, async_api: bool, run_manager: Any = None, **kwargs: Any
    ) -> bool:
        return not self._stays_whole(kwargs) and self.inner._should_use_protocol_streaming(
            async_api=async_api, run_manager=run_manager, **kwargs
        )

    def _stays_whole(self, kwargs: Mapping[str, Any]) -> bool:
        disabled = self.disable_streaming
        return disabled is True or (disabled == "tool_calling" and bool(kwargs.get("tools")))

    @property
    def _llm_type(self) -> str:
        return self.inner._llm_type

    @property
    def _identifying_params(self) -> Mapping[str, Any]:
        """Those of the model inside, and a fingerprint."""
        return {**self.inner._identifying_params, "streamguard": self.fingerprint}

    @property
    def fingerprint(self) -> str:
        """Names the guards and the policies, so that caches tell them apart; says nothing of them."""
        return self.settings.fingerprint

    def _get_invocation_params(self, stop: list[str] | None = None, **kwargs: Any) -> dict[str, Any]:
        params = self.inner._get_invocation_params(stop=stop, **kwargs)
        return {**params, "streamguard": self.fingerprint}

    def _get_llm_string(self, stop: list[str] | None = None, **kwargs: Any) -> str:
        """The key that the model inside has in caches, and what this one adds to it."""
        key = self.inner._get_llm_string(stop=stop, **kwargs)
        return f"{key}---streamguard {self.fingerprint} {self.output_version}"

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        return self.inner._get_ls_params(stop=stop, **kwargs)

    def _combine_llm_outputs(self, llm_outputs: list[dict[str, Any] | None], /) -> dict[str, Any]:
        return self.inner._combine_llm_outputs(llm_outputs)

    def _resolve_model_profile(self) -> Any:
        return self.inner.profile

    def get_token_ids(self, text: str) -> list[int]:
        """Count with the model inside."""
        return self.inner.get_token_ids(text)

    def get_num_tokens(self, text: str) -> int:
        """Count with the model inside."""
        return self.inner.get_num_tokens(text)

    def get_num_tokens_from_messages(
        self, messages: list[BaseMessage], tools: Sequence[Any] | None = None, **kwargs: Any
    ) -> int:
        """Count with the model inside."""
        if tools is not None:
            kwargs["tools"] = tools
        return self.inner.get_num_tokens_from_messages(messages, **kwargs)

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind tools as the model inside does, to this model.

        A tool that has nothing to be called stands for the format of an answer (`ToolStrategy`):
        its arguments are a structured output, and guarded unless they are dropped.
        """
        from streamguard_langchain.wrapping import moved, with_answers

        if tool_choice is not None:
            kwargs["tool_choice"] = tool_choice
        answers = [
            tool.name
            for tool in tools
            if isinstance(tool, StructuredTool) and tool.func is None and tool.coroutine is None
        ]
        return moved(self.inner.bind_tools(tools, **kwargs), with_answers(self, answers))

    def with_structured_output(
        self, schema: dict[str, Any] | type, *, include_raw: bool = False, **kwargs: Any
    ) -> Runnable[LanguageModelInput, dict[str, Any] | BaseModel]:
        """Parse what this model says, as the model inside would.

        A structured output is an answer, even where it comes as the arguments of a tool: these
        are guarded unless they are dropped.
        """
        from streamguard_langchain.wrapping import moved, with_guarded_arguments

        made = self.inner.with_structured_output(schema, include_raw=include_raw, **kwargs)
        return moved(made, with_guarded_arguments(self))

    def configurable_fields(self, **kwargs: AnyConfigurableField) -> RunnableSerializable[Any, Any]:
        """Make fields of this model, or of the model inside, configurable at run time.

        Raises:
            ValueError: there is no such field.
        """
        inner = self.inner
        while isinstance(inner, GuardedChatModel):
            inner = inner.inner
        theirs = type(inner).model_fields
        specs: dict[str, AnyConfigurableField] = {}
        for name, spec in kwargs.items():
            if name in type(self).model_fields:
                specs[name] = spec
            elif name not in theirs:
                raise ValueError(f"{type(inner).__name__} has no field {name!r} to configure")
            elif isinstance(spec, ConfigurableField):
                field = theirs[name]
                specs[name] = spec._replace(
                    description=spec.description or field.description or name,
                    annotation=spec.annotation or field.annotation,
                )
            else:
                specs[name] = spec._replace(description=spec.description or theirs[name].description or name)
        return RunnableConfigurableFields(default=self, fields=specs)

    def __getattr__(self, name: str) -> Any:
        """Plain data of the model inside, such as `model_name` or `temperature`."""
        if not name.startswith("_"):
            value: Any = getattr(vars(self).get("inner"), name, self)
            if issubclass(type(value), _PLAIN):
                return value
            if value is not self:
                raise AttributeError(
                    f"{name!r} of the model inside is not guarded; it can be reached as .inner.{name}"
                )
        return cast("Any", super()).__getattr__(name)


def _as_chunk(result: ChatResult) -> ChatGenerationChunk:
    """Make a whole answer the one chunk of a stream."""
    generation = result.generations[0]
    message = generation.message
    parts: dict[str, Any] = {name: value for name, value in vars(message).items() if name != "type"}
    parts["chunk_position"] = "last"
    return ChatGenerationChunk(message=AIMessageChunk(**parts), generation_info=generation.generation_info)
