"""Every path on which text of a chat model comes to an application, and what can be read there.

A path is given a model and returns all it has seen. `leaks` finds canaries in that, also those that
come in pieces: strings that stand at the same place are joined.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers.base import BaseTracer
from langchain_core.tracers.schemas import Run
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import MessagesState, StateGraph
from pydantic import BaseModel

from .sources import CANARIES, TEXT

QUESTION = "Tell me."


def strings(value: Any, place: tuple[str, ...] = (), depth: int = 0) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every string in an object, with its place; positions in lists are no part of it."""
    if isinstance(value, str):
        yield place, str(value)
    elif isinstance(value, bytes):
        yield place, value.decode("utf-8", "replace")
    elif depth > 25 or value is None or isinstance(value, int | float | type):
        return
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from strings(name, (*place, "key"), depth + 1)
            yield from strings(item, (*place, str(name)), depth + 1)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from strings(item, (*place, str(_index(item))), depth + 1)
    elif isinstance(value, BaseException):
        yield place, str(value)
        yield from strings([value.args, value.__cause__, value.__context__, vars(value)], place, depth + 1)
    elif isinstance(value, BaseModel):
        yield from strings({**vars(value), **(value.__pydantic_extra__ or {})}, place, depth + 1)
        for derived in ("content_blocks", "text"):
            if hasattr(value, derived):
                yield from strings(getattr(value, derived), (*place, derived), depth + 1)
    elif isinstance(value, Run) or hasattr(value, "__dict__"):
        yield from strings(vars(value), place, depth + 1)


def _index(item: Any) -> object:
    return item.get("index", "") if isinstance(item, dict) else ""


def leaks(seen: Any) -> set[str]:
    """The canaries that can be read in what a path has seen, also where two runs tell the same in turns."""
    joined: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for place, text in strings(seen):
        joined[place].append(text)
    found: set[str] = set()
    for parts in joined.values():
        once = [text for text, before in zip(parts, ["", *parts], strict=False) if text != before]
        text = "".join(parts) + " " + "".join(once)
        found.update(canary for canary in CANARIES if canary in text)
    return found


class Listener(BaseCallbackHandler):
    """Keeps whatever it is told."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("on_"):
            return lambda *args, **kwargs: self.seen.append((name, args, kwargs))
        return super().__getattribute__(name)


class AsyncListener(AsyncCallbackHandler):
    def __init__(self) -> None:
        self.seen: list[Any] = []

    async def on_llm_new_token(self, *args: Any, **kwargs: Any) -> None:
        self.seen.append(("on_llm_new_token", args, kwargs))

    async def on_llm_end(self, *args: Any, **kwargs: Any) -> None:
        self.seen.append(("on_llm_end", args, kwargs))

    async def on_llm_error(self, *args: Any, **kwargs: Any) -> None:
        self.seen.append(("on_llm_error", args, kwargs))

    async def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
        self.seen.append(("on_chat_model_start", args, kwargs))


class Tracer(BaseTracer):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []

    def _persist_run(self, run: Run) -> None:
        self.seen.append(run)


Path = Callable[[BaseChatModel], Any]


def run(coroutine: Any) -> Any:
    return asyncio.run(coroutine)


async def gathered(source: Any) -> list[Any]:
    return [item async for item in source]


async def events_v3(model: BaseChatModel) -> list[Any]:
    stream = await model.astream_events(QUESTION, version="v3")
    seen = [event async for event in stream]
    return [seen, await stream.output, await stream.text, await stream.reasoning, await stream.tool_calls]


def events_v3_sync(model: BaseChatModel) -> list[Any]:
    stream = model.stream_events(QUESTION, version="v3")
    return [list(stream), stream.output, str(stream.text), str(stream.reasoning)]


def events_v3_projections(model: BaseChatModel) -> list[Any]:
    return [list(model.stream_events(QUESTION, version="v3").text)]


def listened(call: Callable[[BaseChatModel, Any], Any], make: Callable[[], Any] = Listener) -> Path:
    def path(model: BaseChatModel) -> Any:
        listener = make()
        call(model, {"callbacks": [listener]})
        return listener.seen

    return path


def graph(model: BaseChatModel, *, streams: bool = False) -> Any:
    def answer(state: MessagesState) -> dict[str, Any]:
        if streams:
            whole = None
            for chunk in model.stream(state["messages"]):
                whole = chunk if whole is None else whole + chunk
            return {"messages": [whole]}
        return {"messages": [model.invoke(state["messages"])]}

    async def aanswer(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    made = (
        StateGraph(MessagesState)
        .add_node("answer", RunnableLambda(answer, aanswer))
        .set_entry_point("answer")
    )
    saver = InMemorySaver()
    compiled = made.compile(checkpointer=saver)
    compiled.name = "graph"
    return compiled, saver


STATE = {"messages": [("human", QUESTION)]}


def config() -> dict[str, Any]:
    return {"configurable": {"thread_id": str(uuid.uuid4())}}


def graph_mode(mode: str, *, streams: bool = False) -> Path:
    return lambda model: list(graph(model, streams=streams)[0].stream(STATE, config(), stream_mode=mode))


def graph_mode_async(mode: str) -> Path:
    return lambda model: run(gathered(graph(model)[0].astream(STATE, config(), stream_mode=mode)))


def graph_store(model: BaseChatModel) -> Any:
    compiled, saver = graph(model)
    place = config()
    compiled.invoke(STATE, place)
    return [
        saver.storage,
        saver.writes,
        saver.blobs,
        compiled.get_state(place),
        list(compiled.get_state_history(place)),
    ]


def graph_events_v3(model: BaseChatModel) -> Any:
    return list(graph(model)[0].stream_events(STATE, config(), version="v3"))


def told_by(stream: Any) -> list[Any]:
    """What the stream of one message says: event by event, as texts, and as a whole."""
    return [list(stream.text), list(stream), str(stream.text), str(stream.reasoning), stream.output]


def graph_messages_v3(model: BaseChatModel) -> Any:
    run = graph(model)[0].stream_events(STATE, config(), version="v3")
    return [told_by(stream) for stream in run.messages]


async def graph_messages_v3_async(model: BaseChatModel) -> Any:
    run = await graph(model)[0].astream_events(STATE, config(), version="v3")
    return [[await gathered(stream.text), await stream.output] async for stream in run.messages]


def cache(model: BaseChatModel) -> Any:
    store = InMemoryCache()
    model.cache = store
    return [model.invoke(QUESTION), model.invoke(QUESTION), list(store._cache.values())]


async def acache(model: BaseChatModel) -> Any:
    store = InMemoryCache()
    model.cache = store
    return [await model.ainvoke(QUESTION), await model.ainvoke(QUESTION), list(store._cache.values())]


def error(model: BaseChatModel) -> Any:
    """The stream inside breaks off with an error that quotes the answer."""
    inner: Any = getattr(model, "inner", model)
    whole = inner._stream

    def broken(*args: Any, **kwargs: Any) -> Iterator[Any]:
        yield from whole(*args, **kwargs)
        raise ValueError(TEXT)

    vars(inner)["_stream"] = broken
    listener, tracer = Listener(), Tracer()
    seen: list[Any] = []
    try:
        for chunk in model.stream(QUESTION, {"callbacks": [listener, tracer]}):
            seen.append(chunk)
    except ValueError as failure:
        return [seen, failure, listener.seen, tracer.seen]
    raise AssertionError("the error has been swallowed")


async def aerror(model: BaseChatModel) -> Any:
    """The same of an asynchronous stream."""
    inner: Any = getattr(model, "inner", model)
    whole = inner._astream

    async def broken(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        async for chunk in whole(*args, **kwargs):
            yield chunk
        raise ValueError(TEXT)

    vars(inner)["_astream"] = broken
    listener = AsyncListener()
    seen: list[Any] = []
    try:
        async for chunk in model.astream(QUESTION, {"callbacks": [listener]}):
            seen.append(chunk)
    except ValueError as failure:
        return [seen, failure, listener.seen]
    raise AssertionError("the error has been swallowed")


def batch_as_completed(model: BaseChatModel) -> Any:
    return list(model.batch_as_completed([QUESTION, QUESTION]))


PATHS: dict[str, Path] = {
    "invoke": lambda model: model.invoke(QUESTION),
    "ainvoke": lambda model: run(model.ainvoke(QUESTION)),
    "stream": lambda model: list(model.stream(QUESTION)),
    "astream": lambda model: run(gathered(model.astream(QUESTION))),
    "batch": lambda model: model.batch([QUESTION, QUESTION]),
    "abatch": lambda model: run(model.abatch([QUESTION, QUESTION])),
    "batch_as_completed": batch_as_completed,
    "abatch_as_completed": lambda model: run(gathered(model.abatch_as_completed([QUESTION, QUESTION]))),
    "generate": lambda model: model.generate([model._convert_input(QUESTION).to_messages()]),
    "agenerate": lambda model: run(model.agenerate([model._convert_input(QUESTION).to_messages()])),
    "astream_events v1": lambda model: run(gathered(model.astream_events(QUESTION, version="v1"))),
    "astream_events v2": lambda model: run(gathered(model.astream_events(QUESTION, version="v2"))),
    "astream_events v3": lambda model: run(events_v3(model)),
    "stream_events v3": events_v3_sync,
    "stream_events v3 text": events_v3_projections,
    "astream_log": lambda model: run(gathered(model.astream_log(QUESTION))),
    "callbacks of invoke": listened(lambda model, config: model.invoke(QUESTION, config)),
    "callbacks of stream": listened(lambda model, config: list(model.stream(QUESTION, config))),
    "callbacks of astream": listened(lambda model, config: run(gathered(model.astream(QUESTION, config)))),
    "callbacks of a stream=True call": listened(
        lambda model, config: model.invoke(QUESTION, config, stream=True)
    ),
    "async callbacks of ainvoke": listened(
        lambda model, config: run(model.ainvoke(QUESTION, config)), AsyncListener
    ),
    "async callbacks of astream": listened(
        lambda model, config: run(gathered(model.astream(QUESTION, config))), AsyncListener
    ),
    "tracer of invoke": listened(lambda model, config: model.invoke(QUESTION, config), Tracer),
    "tracer of stream": listened(lambda model, config: list(model.stream(QUESTION, config)), Tracer),
    "callbacks of a chain around it": listened(
        lambda model, config: RunnableLambda(lambda text: model.invoke(text).text).invoke(QUESTION, config)
    ),
    **{
        f"graph {mode}": graph_mode(mode)
        for mode in ("messages", "updates", "values", "debug", "tasks", "checkpoints")
    },
    "graph messages of a node that streams": graph_mode("messages", streams=True),
    "graph messages, async": graph_mode_async("messages"),
    "graph updates, async": graph_mode_async("updates"),
    "graph stream_events v3": graph_events_v3,
    "graph run.messages": graph_messages_v3,
    "graph run.messages, async": lambda model: run(graph_messages_v3_async(model)),
    "graph checkpoints in the store": graph_store,
    "cache": cache,
    "cache, async": lambda model: run(acache(model)),
    "an error of the stream": error,
    "an error of the stream, async": lambda model: run(aerror(model)),
}
EVERY_PATH = list(PATHS)
