"""What guarding costs beside LangChain's own work on a chunk, on every path a user would take."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

import pytest

pytest.importorskip("langchain_openai")
pytest.importorskip("langgraph")

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk
from langgraph.graph import MessagesState, StateGraph
from streamguard_langchain import guard_model

from streamguard import End, FenceScrubber, PreambleTrimmer, Redactor, Session, Transformer
from streamguard.session import Bound
from tests.integrations.langchain.sources import Fake, openai_model, sse

from .report import Report
from .rounds import Turn, interleave
from .texts import prose

pytestmark = [
    pytest.mark.bench,
    pytest.mark.filterwarnings("ignore::langchain_core._api.beta_decorator.LangChainBetaWarning"),
]
ROUNDS = 7


class Nothing(Transformer):
    """Lets everything through: what is left is the adapter."""

    def session(self, *, on_finding: Any = None, on_hidden: Any = None) -> Session:
        return Passing()

    def bounds(self) -> tuple[Bound, ...]:
        return ()


class Passing(Session):
    pending = 0

    def _feed(self, text: str, /) -> str:
        return text

    def _flush(self, end: End, /) -> str:
        return ""


GUARDS: dict[str, Transformer | None] = {
    "LangChain": None,
    "adapter": Nothing(),
    "three stages": FenceScrubber("memory-context", "think") | PreambleTrimmer() | Redactor(),
}
WORDS = [word + " " for word in prose(2_400).split()]  # a chunk is a word: what most models send


class Plain(Fake):
    """Makes its chunks when asked, as a provider's model does."""

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        for word in WORDS:
            yield ChatGenerationChunk(message=AIMessageChunk(content=word, id="r"))


def answer(request: dict[str, Any]) -> bytes:
    def frame(delta: dict[str, Any], reason: str | None = None) -> tuple[None, dict[str, Any]]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        return None, {**head, "choices": [choice]}

    frames = [frame({"role": "assistant", "content": ""}), *(frame({"content": word}) for word in WORDS)]
    return sse([*frames, frame({}, "stop")], done=True)


BODY = answer({})
MODELS: dict[str, Callable[[], BaseChatModel]] = {
    "ChatOpenAI": lambda: openai_model(lambda request: BODY),
    "a fake that does nothing": Plain,
}


def stream(model: BaseChatModel) -> None:
    for _ in model.stream("x"):
        pass


def heard(model: BaseChatModel) -> None:
    for _ in model.stream("x", {"callbacks": [BaseCallbackHandler()]}):
        pass


def astream(model: BaseChatModel) -> None:
    async def run() -> None:
        async for _ in model.astream("x"):
            pass

    asyncio.run(run())


def events(model: BaseChatModel) -> None:
    async def run() -> None:
        async for _ in model.astream_events("x", version="v2"):
            pass

    asyncio.run(run())


def events_v3(model: BaseChatModel) -> None:
    for _ in model.stream_events("x", version="v3"):
        pass


def graph(model: BaseChatModel) -> None:
    def node(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    compiled = StateGraph(MessagesState).add_node("node", node).set_entry_point("node").compile()
    for _ in compiled.stream({"messages": [("human", "x")]}, stream_mode="messages"):
        pass


WAYS: dict[str, Callable[[BaseChatModel], None]] = {
    "stream": stream,
    "stream, one callback handler": heard,
    "astream": astream,
    "astream_events v2": events,
    "stream_events v3": events_v3,
    "LangGraph, stream_mode=messages": graph,
}


def timed(way: Callable[[BaseChatModel], None], model: BaseChatModel) -> Turn:
    def turn() -> float:
        start = process_time()
        way(model)
        return process_time() - start

    return turn


def test_a_chunk(report: Report) -> None:
    turns: dict[tuple[str, str, str], Turn] = {}
    for name, make in MODELS.items():
        for way, run in WAYS.items():
            for label, guard in GUARDS.items():
                model = make()
                turns[name, way, label] = timed(run, model if guard is None else guard_model(model, guard))
    times = {key: seconds / len(WORDS) * 1e6 for key, seconds in interleave(turns, ROUNDS).items()}

    rows = report.table("Microseconds a chunk, a word a chunk; what is added", "model", "path", *GUARDS)
    for name in MODELS:
        for way in WAYS:
            bare = times[name, way, "LangChain"]
            added = {label: times[name, way, label] / bare - 1 for label in GUARDS if label != "LangChain"}
            rows.append((name, way, f"{bare:.1f}", *(f"{share:.0%}" for share in added.values())))
            if name == "ChatOpenAI":
                for label in ("adapter", "three stages"):
                    report.target(f"LangChain, {way}: added by {label}", added[label], most=0.1)
