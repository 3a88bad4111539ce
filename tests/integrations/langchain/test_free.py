"""Data of any form: no name and no shape hides a text, and what is no text comes through."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, LLMResult
from langgraph.graph import StateGraph
from langgraph.types import Command, Send
from streamguard_langchain import GuardedCallbackHandler, guard_model, guard_transformer
from streamguard_langchain.free import FreeData
from streamguard_langchain.settings import Settings
from streamguard_langchain.whole import guard_value
from typing_extensions import TypedDict

from .paths import Listener, leaks, strings
from .sources import GUARD, SOURCES, Fake, pieces

pytestmark = pytest.mark.filterwarnings("ignore::langchain_core._api.beta_decorator.LangChainBetaWarning")
SECRET = "password: canarysecret77"
NAMES = ("data", "name", "status", "id", "role", "model", "user_id", "object", "signature", "base64")
Pair = namedtuple("Pair", "left right")


@dataclass
class Kept:
    name: str
    within: list[Any]


VALUES: dict[str, Any] = {
    **{f"a field {name}": {name: SECRET} for name in NAMES},
    "a set": {SECRET},
    "a frozen set": frozenset({SECRET}),
    "bytes": SECRET.encode(),
    "bytes that are no text": b"\xff" + SECRET.encode(),
    "a byte array": {"x": bytearray(SECRET.encode())},
    "a key": {SECRET: 1},
    "a key of bytes": {SECRET.encode(): 1},
    "a send": [Send("node", {"x": SECRET})],
    "a command": Command(update={"messages": [AIMessage(SECRET)]}, goto=Send("node", {"name": SECRET})),
    "a data class": Kept(SECRET, [{"data": SECRET}]),
    "a named tuple": Pair(SECRET, 1),
    "a document": [Document(SECRET, metadata={"data": SECRET})],
    "an error": {"error": ValueError(SECRET)},
    "a group of errors": ExceptionGroup("many", [ValueError("good"), ValueError(SECRET)]),
    "a group in a group": ExceptionGroup("all", [ExceptionGroup(SECRET, [KeyError(SECRET)])]),
    "messages": ({"data": (AIMessage(SECRET), HumanMessage(SECRET))},),
}


@pytest.mark.parametrize("what", VALUES)
def test_no_name_and_no_shape_hides_a_text(what: str) -> None:
    value = VALUES[what]
    before = repr(value)
    assert "canarysecret77" in before
    safe = guard_value(value, Settings(GUARD))
    assert "canarysecret77" not in repr(safe)
    assert type(safe) is type(value)
    assert repr(value) == before, "the value itself has been changed"


@pytest.mark.parametrize("what", VALUES)
def test_a_handler_is_told_no_data_raw(what: str) -> None:
    inner = Listener()
    handler: Any = GuardedCallbackHandler(inner, GUARD)
    handler.on_chain_end({"output": VALUES[what]}, run_id=None)
    handler.on_tool_end(VALUES[what], run_id=None)
    handler.on_tool_start({}, "x", run_id=None, inputs={"data": VALUES[what]})
    assert "canarysecret77" not in repr(inner.seen)


def test_what_has_nothing_to_take_out_is_the_same_object() -> None:
    value = {"data": ["x", {"y": b"z", "s": {1, "a"}}], "k": Kept("n", []), "u": "data:image/png;base64,aGk="}
    assert FreeData(GUARD).guarded(value) is value


def test_what_the_shape_says_nobody_reads_is_kept() -> None:
    code = "A" + "KIA" + "QWERTYUIOPASDF23"  # looks like a key, and is the data of an image
    blocks = [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": code}},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{code}"}},
        {"type": "audio", "base64": code, "mime_type": "audio/wav"},
        {"type": "redacted_thinking", "data": code},
        {"type": "tool_use", "id": code, "name": code, "input": {}},
    ]
    assert FreeData(GUARD).guarded(blocks) is blocks


def test_readable_data_of_a_source_is_guarded_before_the_model_sees_it() -> None:
    seen: list[Any] = []

    class Seeing(Fake):
        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            seen.extend(messages)
            return super()._generate(messages, *args, **kwargs)

    source = {"type": "text", "media_type": "text/plain", "data": SECRET}
    asked = [
        HumanMessage([{"type": "document", "source": source}]),
        ToolMessage([{"type": "json", "data": SECRET}], tool_call_id="c"),
    ]
    guard_model(Seeing(), GUARD, input_guard=GUARD).invoke(asked)
    assert leaks(seen) == set()
    assert [message.content[0]["type"] for message in seen] == ["document", "json"]


def test_no_name_hides_a_text_in_what_a_model_says() -> None:
    names = ("name", "data", "status", "note")
    message = AIMessage(
        content=[
            {"type": "custom", "data": SECRET, "name": SECRET},
            {"type": "text", "text": "a", "name": SECRET},
        ],
        additional_kwargs={**dict.fromkeys([*names, "id", "user_id"], SECRET), "foo": {"id": SECRET}},
        response_metadata={"data": SECRET, "usage": {"name": SECRET}},
    )
    chunks = [
        AIMessageChunk(
            content=[{"type": "custom", "data": piece, "index": 0}],
            additional_kwargs=dict.fromkeys(names, piece),
        )
        for piece in pieces(SECRET)
    ]
    model = guard_model(Fake(message=message, chunks=chunks), GUARD)
    assert leaks([model.invoke("x"), list(model.stream("x"))]) == set()
    assert leaks([Fake(message=message, chunks=chunks).invoke("x")])


def test_log_probabilities_are_dropped_wherever_they_stand() -> None:
    told = [{"token": piece, "logprob": -1.0} for piece in pieces(SECRET)]
    block = {"type": "text", "text": "x", "logprobs": told, "index": 0}
    chunk = AIMessageChunk(content=[block], additional_kwargs={"logprobs": {"content": told}})
    message = AIMessage(content=[block], additional_kwargs={"logprobs": {"content": told}})
    model = guard_model(Fake(message=message, chunks=[chunk]), GUARD)
    for shown in (model.invoke("x"), *model.stream("x")):
        assert "logprobs" not in shown.additional_kwargs
        assert not [name for place, _ in strings(shown) for name in place if name == "logprobs"]


def test_what_a_model_has_said_before_an_error_is_cut_off() -> None:
    inner = Listener()
    handler: Any = GuardedCallbackHandler(inner, GUARD)
    half = "key " + "AKIA" + "QWERTYUI"
    response = LLMResult(generations=[[ChatGeneration(message=AIMessage(half))]])
    handler.on_llm_error(ValueError("x"), run_id=1, response=response)
    ((_, _, told),) = inner.seen
    assert told["response"].generations[0][0].text == "key "


def test_no_name_hides_a_text_in_a_state_that_streams() -> None:
    class State(TypedDict, total=False):
        data: str
        name: str
        user_id: str
        summary: str

    said: Any = dict.fromkeys(("data", "name", "user_id", "summary"), SECRET)
    made: Any = StateGraph(State).add_node("node", lambda _: said).set_entry_point("node")
    graph = made.compile(transformers=[guard_transformer(GUARD)])
    events = list(graph.stream_events({"summary": ""}, version="v3"))
    assert leaks(events) == set()
    tasks = [event["params"]["data"] for event in events if event["method"] == "tasks"]
    assert {task["name"] for task in tasks} <= {"node"}


def test_a_group_of_errors_stays_a_group() -> None:
    class Fails(Fake):
        def _generate(self, *args: Any, **kwargs: Any) -> Any:
            raise ExceptionGroup("many", [ValueError("good"), ExceptionGroup("in", [ValueError(SECRET)])])

    with pytest.raises(ExceptionGroup) as caught:
        guard_model(Fails(), GUARD).invoke("x")
    first, second = caught.value.exceptions
    assert str(first) == "good"
    assert isinstance(second, ExceptionGroup)
    assert "canarysecret77" not in repr(second)


def test_a_source_has_all_its_identifiers() -> None:
    raw = SOURCES["openai-responses"]().invoke("x")
    safe = guard_model(SOURCES["openai-responses"](), GUARD).invoke("x")
    assert [(b.get("type"), b.get("id")) for b in raw.content] == [  # type: ignore[union-attr]
        (b.get("type"), b.get("id"))
        for b in safe.content  # type: ignore[union-attr]
    ]
