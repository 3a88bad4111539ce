"""What a guarded model says is what the guard makes of the model's text, and nothing else differs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from streamguard_langchain import guard_model

from streamguard import Redactor

from .paths import STATE, Listener, Tracer, config, gathered, graph, leaks
from .sources import ARGUMENTS, EVERY_SOURCE, GUARD, REASONING, SOURCES, TEXT, Fake, text_fake

pytestmark = pytest.mark.filterwarnings("ignore::langchain_core._api.beta_decorator.LangChainBetaWarning")
GUARDED_ARGUMENTS = {"note": "ok", "password": "[REDACTED:secret-literal:f5589357]", "n": [1, 2.5]}


def joined(chunks: list[Any]) -> AIMessageChunk:
    return reduce(add, chunks)


def both(source: str, **options: Any) -> tuple[Any, Any]:
    return SOURCES[source](), guard_model(SOURCES[source](), GUARD, **{"tool_args": "guard", **options})


def shape(content: Any) -> Any:
    """What stays of content when all its texts are taken away."""
    if isinstance(content, str):
        return "text"
    kept = ("type", "index", "id", "name", "call_id")
    return [
        "text" if isinstance(block, str) else {name: block[name] for name in kept if name in block}
        for block in content
    ]


def reasoning(message: AIMessage) -> str:
    return "".join(
        block.get("reasoning", "") for block in message.content_blocks if block["type"] == "reasoning"
    )


@EVERY_SOURCE
@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
def test_text_reasoning_and_arguments_are_what_the_guard_makes_of_them(source: str, way: str) -> None:
    raw, guarded = (
        {
            "invoke": lambda model: model.invoke("x"),
            "ainvoke": lambda model: asyncio.run(model.ainvoke("x")),
            "stream": lambda model: joined(list(model.stream("x"))),
            "astream": lambda model: joined(asyncio.run(gathered(model.astream("x")))),
        }[way](model)
        for model in both(source)
    )
    if source != "fake-blocks":
        assert raw.text == TEXT
        assert guarded.text == GUARD.scrub(TEXT)
    if reasoning(raw):
        assert reasoning(raw) == REASONING
        assert reasoning(guarded) == GUARD.scrub(REASONING)
    assert [call["args"] for call in guarded.tool_calls] == [GUARDED_ARGUMENTS for _ in raw.tool_calls]
    assert shape(guarded.content) == shape(raw.content)
    assert guarded.usage_metadata == raw.usage_metadata
    known = {name: value for name, value in raw.response_metadata.items() if not name.startswith("logprobs")}
    assert guarded.response_metadata == known
    if raw.id is not None and not raw.id.startswith("lc_run"):
        assert guarded.id == raw.id


def on_events(model: Any, version: Any) -> str:
    events = asyncio.run(gathered(model.astream_events("x", version=version)))
    return "".join(e["data"]["chunk"].text for e in events if e["event"] == "on_chat_model_stream")


def on_callbacks(model: Any) -> str:
    listener = Listener()
    list(model.stream("x", {"callbacks": [listener]}))
    told = [options["chunk"] for name, _, options in listener.seen if name == "on_llm_new_token"]
    return "".join(chunk.message.text for chunk in told)


def on_tracer(model: Any) -> str:
    tracer = Tracer()
    list(model.stream("x", {"callbacks": [tracer]}))
    message = tracer.seen[0].outputs["generations"][0][0]["message"]
    return AIMessage(content=message["kwargs"]["content"]).text


def in_store(model: Any) -> str:
    compiled, _ = graph(model)
    place = config()
    compiled.invoke(STATE, place)
    return str(compiled.get_state(place).values["messages"][-1].text)


def in_cache(model: Any) -> str:
    model.cache = InMemoryCache()
    model.invoke("x")
    return str(model.invoke("x").text)


def in_log(model: Any) -> str:
    patches = asyncio.run(gathered(model.astream_log("x")))
    return "".join(chunk.text for chunk in reduce(add, patches).state["streamed_output"])


def in_graph(model: Any) -> str:
    told = graph(model)[0].stream(STATE, config(), stream_mode="messages")
    return "".join(message.text for message, _ in told)


SAID: dict[str, Callable[[Any], str]] = {
    "batch": lambda model: model.batch(["x"])[0].text,
    "abatch": lambda model: asyncio.run(model.abatch(["x"]))[0].text,
    "generate": lambda model: model.generate([[HumanMessage("x")]]).generations[0][0].message.text,
    "agenerate": lambda m: asyncio.run(m.agenerate([[HumanMessage("x")]])).generations[0][0].message.text,
    "stream": lambda model: "".join(chunk.text for chunk in model.stream("x")),
    "astream_events v1": lambda model: on_events(model, "v1"),
    "astream_events v2": lambda model: on_events(model, "v2"),
    "stream_events v3": lambda model: str(model.stream_events("x", version="v3").text),
    "astream_log": in_log,
    "callbacks": on_callbacks,
    "tracer": on_tracer,
    "graph messages": in_graph,
    "graph checkpoint": in_store,
    "cache": in_cache,
}


@pytest.mark.filterwarnings("ignore::langchain_core._api.deprecation.LangChainPendingDeprecationWarning")
@pytest.mark.filterwarnings("ignore::langchain_core._api.deprecation.LangChainDeprecationWarning")
@pytest.mark.parametrize("source", ["fake", "fake-native", "fake-spans", "openai", "anthropic"])
@pytest.mark.parametrize("path", SAID)
def test_the_text_is_what_the_guard_makes_of_it_on_every_path(source: str, path: str) -> None:
    raw, guarded = both(source)
    assert SAID[path](raw) == TEXT
    assert SAID[path](guarded) == GUARD.scrub(TEXT)


@EVERY_SOURCE
@pytest.mark.parametrize("way", ["stream", "astream"])
def test_each_chunk_goes_out_with_its_id_and_one_is_the_last(source: str, way: str) -> None:
    raw, guarded = (
        list(model.stream("x")) if way == "stream" else asyncio.run(gathered(model.astream("x")))
        for model in both(source)
    )
    assert len({chunk.id for chunk in guarded if chunk.id}) <= len({chunk.id for chunk in raw if chunk.id})
    assert [chunk.chunk_position for chunk in guarded].count("last") == 1
    assert guarded[-1].chunk_position == "last"
    tails = len(guarded) - len(raw)
    assert 0 <= tails <= 3  # a text, reasoning, a call: what they held


@EVERY_SOURCE
def test_a_graph_streams_no_other_messages_than_without_a_guard(source: str) -> None:
    raw, guarded = (
        {message.id for message, _ in graph(model)[0].stream(STATE, config(), stream_mode="messages")}
        for model in both(source)
    )
    assert len(guarded) == len(raw)  # ids of LangChain's own are new each time
    assert {each for each in guarded if not each.startswith("lc_run")} == {
        each for each in raw if not each.startswith("lc_run")
    }


@pytest.mark.parametrize(
    "source", [name for name in SOURCES if name != "fake-blocks"]
)  # bare texts: no events
def test_events_of_the_third_version_say_the_same_in_deltas_and_whole(source: str) -> None:
    _, guarded = both(source)
    stream = guarded.stream_events("x", version="v3")
    events = list(stream)
    deltas: dict[tuple[int, str], str] = {}
    for event in events:
        if event["event"] == "content-block-delta":
            for field in ("text", "reasoning", "args"):
                place = (event["index"], field)
                deltas[place] = deltas.get(place, "") + event["delta"].get(field, "")
    for event in events:
        if event["event"] == "content-block-finish":
            block = event["content"]
            if block["type"] == "tool_call":
                assert json.loads(deltas[event["index"], "args"]) == block["args"] == GUARDED_ARGUMENTS
            elif block["type"] in ("text", "reasoning"):
                assert deltas[event["index"], block["type"]] == block[block["type"]]
    assert str(stream.text) == GUARD.scrub(TEXT)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_the_cut_makes_no_difference(size: int) -> None:
    for start in range(size):
        parts = [TEXT[:start], *(TEXT[at : at + size] for at in range(start, len(TEXT), size))]
        model = guard_model(Fake(chunks=[AIMessageChunk(content=part) for part in parts]), GUARD)
        assert joined(list(model.stream("x"))).content == GUARD.scrub(TEXT)


@pytest.mark.parametrize("position", range(0, len(ARGUMENTS), 3))
def test_arguments_cut_anywhere_stay_json(position: int) -> None:
    halves = (ARGUMENTS[:position], ARGUMENTS[position:])
    chunks = [
        AIMessageChunk(
            content="",
            tool_call_chunks=[{"index": 0, "id": "c" if not at else None, "name": None, "args": half}],
        )
        for at, half in enumerate(halves)
    ]
    shown = joined(list(guard_model(Fake(chunks=chunks), GUARD, tool_args="guard").stream("x")))
    assert shown.tool_calls[0]["args"] == GUARDED_ARGUMENTS
    assert shown.tool_calls[0]["id"] == "c"


def test_text_with_nothing_to_take_out_passes_as_the_models_own_chunks() -> None:
    clean = ["Two words, ", "one 1 ", "\n\n", "", "end. "]
    chunks = [AIMessageChunk(content=part, id="r") for part in clean]
    model = guard_model(Fake(chunks=chunks), GUARD)
    shown = list(model.stream("x"))
    assert [chunk.content for chunk in shown[: len(clean)]] == clean
    assert joined(shown) == joined(list(Fake(chunks=chunks).stream("x")))


def test_objects_of_the_model_are_not_changed() -> None:
    class Kept(Fake):
        def _stream(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
            for chunk in super()._stream(messages):
                given.append((chunk, chunk.model_copy(deep=True)))
                yield chunk

    given: list[Any] = []
    for source in ("fake-kwargs", "fake-blocks"):
        fake = SOURCES[source]()
        list(guard_model(Kept(**vars(fake)), GUARD, tool_args="guard").stream("x"))  # type: ignore[arg-type]
    for chunk, before in given:
        if chunk.message.content == before.message.content:
            assert chunk.message.additional_kwargs == before.message.additional_kwargs
        assert chunk.message.content == before.message.content


def test_a_stream_of_which_nothing_is_shown_has_chunks_and_no_text() -> None:
    chunks = [AIMessageChunk(content="<think>all"), AIMessageChunk(content=" of it")]
    shown = list(guard_model(Fake(chunks=chunks), GUARD).stream("x"))
    assert len(shown) == 3
    assert joined(shown).content == ""


@pytest.mark.parametrize(
    ("reason", "shown"), [("stop", "key AKIAIOSFOD"), ("length", "key "), ("odd", "key ")]
)
def test_a_response_that_is_cut_off_shows_no_half_of_a_secret(reason: str, shown: str) -> None:
    text = "key " + "AKIA" + "IOSFOD"  # the beginning of a key of AWS
    last = AIMessageChunk(content="", response_metadata={"finish_reason": reason})
    message = AIMessage(content=text, response_metadata={"finish_reason": reason})
    model = guard_model(Fake(chunks=[AIMessageChunk(content=text), last], message=message), Redactor())
    assert model.invoke("x").content == shown
    assert joined(list(model.stream("x"))).content == shown
    assert joined(list(model.stream("x"))).response_metadata == {"finish_reason": reason}


def test_streams_do_not_influence_each_other() -> None:
    model = guard_model(text_fake(), GUARD)

    async def many() -> list[Any]:
        return await asyncio.gather(*(gathered(model.astream("x")) for _ in range(20)))

    assert {joined(chunks).content for chunks in asyncio.run(many())} == {GUARD.scrub(TEXT)}


@pytest.mark.parametrize("kind", [AIMessage, AIMessageChunk])
def test_fields_that_langchain_does_not_know_are_guarded(kind: Any) -> None:
    message = kind(content="ok", odd={"said": TEXT}, odd_id="1")
    shown = guard_model(Fake(chunks=[AIMessageChunk(content="ok", odd=TEXT)], message=message), GUARD)
    assert leaks([shown.invoke("x"), list(shown.stream("x"))]) == set()
    assert shown.invoke("x").odd == {"said": GUARD.scrub(TEXT)}  # type: ignore[attr-defined]
    assert shown.invoke("x").odd_id == "1"  # type: ignore[attr-defined]


def test_a_tail_deep_in_a_block_doubles_no_type_and_readable_data_is_guarded() -> None:
    source = {"type": "text", "media_type": "text/plain", "data": "password: canarysecret77 and a <"}
    page = {"type": "web_fetch_result", "content": {"type": "document", "source": source}}
    block = {"type": "web_fetch_tool_result", "tool_use_id": "s", "content": page, "index": 0}
    whole = joined(list(guard_model(Fake(chunks=[AIMessageChunk(content=[block])]), GUARD).stream("x")))
    (shown,) = whole.content
    assert shown["content"]["type"] == "web_fetch_result"
    assert shown["content"]["content"]["type"] == "document"
    assert shown["content"]["content"]["source"] == {**source, "data": GUARD.scrub(source["data"])}


@pytest.mark.parametrize("name", ["stopReason", "finishReason", "stop_reason", "done_reason"])
def test_a_reason_is_read_under_every_name_that_providers_give_it(name: str) -> None:
    text = "key " + "AKIA" + "IOSFOD"
    cut_off = {name: "max_tokens"}
    chunks = [AIMessageChunk(content=text), AIMessageChunk(content="", response_metadata=cut_off)]
    message = AIMessage(content=text, response_metadata=cut_off)
    model = guard_model(Fake(chunks=chunks, message=message), Redactor())
    assert model.invoke("x").content == "key "
    assert joined(list(model.stream("x"))).content == "key "


@pytest.mark.parametrize("blocks", [False, True])
def test_a_stream_that_runs_out_without_a_reason_is_cut_off_where_reasons_are_given(blocks: bool) -> None:
    text = "key " + "AKIA" + "IOSFOD"
    for metadata, shown in (({"model_provider": "openai"}, "key "), ({}, text)):
        content: Any = [{"type": "text", "text": text, "index": 0}] if blocks else text
        model = guard_model(
            Fake(chunks=[AIMessageChunk(content=content, response_metadata=metadata)]), Redactor()
        )
        assert joined(list(model.stream("x"))).text == shown


def test_a_reason_with_text_behind_it_closes_no_text() -> None:
    stop = {"finish_reason": "stop"}
    said = ["key " + "AKIA" + "QWERT", "YUIOPASDF23 <think>a", "ll of it</think> done <"]
    for stops in ((0,), (0, 1), (0, 1, 2)):
        chunks = [
            AIMessageChunk(content=text, id="m", response_metadata=stop if at in stops else {})
            for at, text in enumerate(said)
        ]
        shown = list(guard_model(Fake(chunks=chunks), GUARD).stream("x"))
        assert joined(shown).content == GUARD.scrub("".join(said))
        assert [c.response_metadata for c in shown if c.response_metadata] == [stop] * len(stops)


def test_what_is_held_comes_before_the_chunk_that_says_why_it_ended() -> None:
    stop = {"finish_reason": "stop"}
    usage: Any = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    chunks = [
        AIMessageChunk(content="a <"),
        AIMessageChunk(content="", response_metadata=stop),
        AIMessageChunk(content="", usage_metadata=usage, chunk_position="last"),
    ]
    shown = list(guard_model(Fake(chunks=chunks), GUARD).stream("x"))
    assert [chunk.content for chunk in shown] == ["a ", "<", "", ""]
    assert shown[2].response_metadata == stop
    assert shown[3].usage_metadata == usage
