"""Blocks of text are one text, on every path, with and without an index, whatever stands between them."""

from __future__ import annotations

import itertools
from functools import reduce
from operator import add
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from streamguard_langchain import GuardedCallbackHandler, guard_model
from streamguard_langchain.messages import guard_message
from streamguard_langchain.settings import Settings

from streamguard import End, FenceScrubber, PreambleTrimmer, Redactor, StreamGuardError

from .paths import Listener, leaks
from .sources import GUARD, REASONING, REFUSAL, TEXT, Fake, pieces

pytestmark = pytest.mark.filterwarnings("ignore::langchain_core._api.beta_decorator.LangChainBetaWarning")
SAFE = GUARD.scrub(TEXT)

Block = dict[str, Any] | str


def text(said: str) -> Block:
    return {"type": "text", "text": said}


IMAGE: Block = {"type": "image", "base64": "aGVsbG8=", "mime_type": "image/png"}
THOUGHT: Block = {"type": "reasoning", "reasoning": "hm. "}
CALL: Block = {"type": "tool_call", "id": "c", "name": "n", "args": {}}
BETWEEN: dict[str, list[Block]] = {
    "nothing": [],
    "an image": [IMAGE],
    "reasoning": [THOUGHT],
    "both": [IMAGE, THOUGHT],
}


def cut(said: str, at: tuple[int, ...], between: list[Block]) -> list[Block]:
    """Blocks of a text that is cut at some places, with other blocks between them."""
    ends = [0, *at, len(said)]
    blocks: list[Block] = []
    for number, (start, end) in enumerate(itertools.pairwise(ends)):
        blocks += [*(between if number else ()), text(said[start:end])]
    return blocks


def streamed(blocks: list[Block], size: int, *, indexed: bool) -> list[AIMessageChunk]:
    """The same blocks in pieces."""
    chunks: list[AIMessageChunk] = []
    for index, block in enumerate(blocks):
        parts: list[Any] = [block]
        for field in ("text", "reasoning"):
            if isinstance(block, dict) and field in block:
                parts = [{**block, field: piece} for piece in pieces(block[field], size) or [""]]
        if isinstance(block, str):
            parts = list(pieces(block, size))
        elif indexed:
            parts = [{**part, "index": index} for part in parts]
        chunks += [AIMessageChunk(content=[part], id="m") for part in parts]
    return chunks


def whole(blocks: list[Block]) -> AIMessage:
    return AIMessage(content=list[Any](blocks), id="m")


def shown_by(blocks: list[Block], size: int, *, indexed: bool) -> dict[str, str]:
    """The text of a message with these blocks, by every kind of path."""
    chunks = streamed(blocks, size, indexed=indexed)
    model = guard_model(Fake(chunks=chunks, message=whole(blocks)), GUARD)
    listener = Listener()
    handler = GuardedCallbackHandler(listener, GUARD)
    out: list[Any] = list(model.stream("x"))
    list(Fake(chunks=chunks).stream("x", {"callbacks": [handler]}))
    told = [options["chunk"].message.text for name, _, options in listener.seen if name == "on_llm_new_token"]
    message = model.invoke("x")
    assert leaks([out, message, listener.seen]) == set()
    return {
        "invoke": message.text,
        "stream": "".join(chunk.text for chunk in out),
        "stream, merged": reduce(add, out).text,
        "handler": "".join(told),
        "handler, end": listener.seen[-1][1][0].generations[0][0].message.text,
    }


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("between", BETWEEN)
def test_a_text_that_is_cut_into_blocks_is_guarded_as_one_on_every_path(between: str, indexed: bool) -> None:
    for at in range(1, len(TEXT), 3):
        blocks = cut(TEXT, (at, min(at + 5, len(TEXT))), BETWEEN[between])
        for path, shown in shown_by(blocks, 6, indexed=indexed).items():
            assert shown == SAFE, (path, at)


def test_bare_strings_and_blocks_are_one_text() -> None:
    for at in range(1, len(TEXT), 3):
        blocks: list[Block] = [TEXT[: at // 2], text(TEXT[at // 2 : at]), TEXT[at:]]
        for path, shown in shown_by(blocks, 5, indexed=False).items():
            assert shown == SAFE, (path, at)


@pytest.mark.parametrize("indexed", [True, False])
def test_content_that_is_a_string_and_goes_on_in_blocks_is_one_text(indexed: bool) -> None:
    for at in range(1, len(TEXT), 3):
        for parts in (("", TEXT[:at], TEXT[at:]), (TEXT[: at // 2], TEXT[at // 2 : at], TEXT[at:])):
            block: dict[str, Any] = {"type": "text", "text": parts[1], **({"index": 0} if indexed else {})}
            contents: list[Any] = [parts[0], [block], parts[2]]
            model = guard_model(Fake(chunks=[AIMessageChunk(content=part) for part in contents]), GUARD)
            out: list[Any] = list(model.stream("x"))
            assert reduce(add, out).text == SAFE
            assert "".join(chunk.text for chunk in out) == SAFE


FULL = FenceScrubber("think") | PreambleTrimmer() | Redactor()
PARTS = (
    "See <thi",
    "nk>canaryhidden</th",
    "ink> pass",
    "word: canary",
    "secret77 <",
    "Let me update ",
    "the anchors now.",
    "",
)
SIGNED: Block = {"type": "thinking", "thinking": "a <", "signature": "s"}
ANY_BLOCK = st.one_of(st.sampled_from(PARTS).map(text), st.sampled_from([IMAGE, THOUGHT, CALL, SIGNED]))


@given(blocks=st.lists(ANY_BLOCK, min_size=1, max_size=9), size=st.integers(1, 9))
@settings(deadline=None, max_examples=60)
def test_all_paths_agree_whatever_the_blocks(blocks: list[Any], size: int) -> None:
    model = guard_model(Fake(message=whole(blocks)), FULL)
    message: Any = model.invoke("x")
    texts = [""]
    for block in blocks:
        if block is CALL:
            texts.append("")
        elif block["type"] == "text":
            texts[-1] += block["text"]
    wanted = ""
    for number, said in enumerate(texts, start=1):
        session = FULL.session()
        wanted += session.feed(said) + session.flush(End.COMPLETE if number == len(texts) else End.TOOL_CALL)
    assert message.text == wanted
    for indexed in (True, False):
        chunks = streamed(blocks, size, indexed=indexed)
        out: list[Any] = list(guard_model(Fake(chunks=chunks), FULL).stream("x"))
        assert "".join(chunk.text for chunk in out) == message.text
        merged: Any = reduce(add, out)
        assert merged.text == message.text
        if indexed and "" not in [block.get("text") for block in blocks]:
            assert [
                {k: v for k, v in block.items() if k != "index"} for block in merged.content
            ] == message.content


def test_each_block_keeps_its_own_characters() -> None:
    said = ["One <", "tw", "o <", "th", "ree. "]
    blocks = [text(part) for part in said]
    model = guard_model(Fake(chunks=streamed(blocks, 2, indexed=True), message=whole(blocks)), GUARD)
    message = model.invoke("x")
    assert message.content == blocks
    merged: Any = reduce(add, list(model.stream("x")))
    assert [block["text"] for block in merged.content] == said
    assert [block["index"] for block in merged.content] == [0, 1, 2, 3, 4]
    in_parts = [text(". a"), text("pass")]  # what is held of the first comes in two parts
    assert guard_model(Fake(message=whole(in_parts)), FULL).invoke("x").content == in_parts


def test_what_each_block_shows_does_not_depend_on_how_it_comes() -> None:
    for at in range(1, len(TEXT), 2):
        blocks = cut(TEXT, (at, min(at + 3, len(TEXT))), [])
        message: Any = guard_model(Fake(message=whole(blocks)), GUARD).invoke("x")
        for size in (1, 4, 100):
            chunks = streamed(blocks, size, indexed=True)
            merged: Any = reduce(add, list(guard_model(Fake(chunks=chunks), GUARD).stream("x")))
            assert [b["text"] for b in merged.content if b["text"]] == [
                b["text"] for b in message.content if b["text"]
            ]


def test_a_message_with_nothing_to_take_out_is_the_models_own() -> None:
    message = whole([text("One <"), IMAGE, text("two <"), THOUGHT, "three <"])
    assert guard_message(message, Settings(GUARD)) is message


@pytest.mark.parametrize("indexed", [True, False])
def test_a_call_of_a_tool_ends_a_text_and_what_it_held_comes_before_the_next(indexed: bool) -> None:
    preamble = "Let me update the anchors now."
    blocks = [text(f"One <two. {preamble}"), CALL, text("Three <"), text("four.")]
    chunks = streamed(blocks, 4, indexed=indexed)
    model = guard_model(Fake(chunks=chunks, message=whole(blocks)), FULL)
    wanted = FULL.scrub(f"One <two. {preamble}") + "Three <four."
    assert preamble not in wanted
    out: list[Any] = list(model.stream("x"))
    assert model.invoke("x").text == wanted
    assert "".join(chunk.text for chunk in out) == wanted
    assert reduce(add, out).text == wanted


@pytest.mark.parametrize("indexed", [True, False])
def test_blocks_of_reasoning_are_one_text_until_a_signature(indexed: bool) -> None:
    for at in range(1, len(REASONING)):
        thoughts: list[Block] = [
            {"type": "reasoning", "reasoning": part} for part in (REASONING[:at], REASONING[at:])
        ]
        blocks = [thoughts[0], text("x. "), thoughts[1]]
        model = guard_model(Fake(chunks=streamed(blocks, 6, indexed=indexed), message=whole(blocks)), GUARD)
        for message in (model.invoke("x"), reduce(add, list(model.stream("x")))):
            said = [block["reasoning"] for block in message.content_blocks if block["type"] == "reasoning"]
            assert "".join(said) == GUARD.scrub(REASONING)
    refused: list[Block] = [{"type": "refusal", "refusal": part} for part in (REFUSAL[:20], REFUSAL[20:])]
    shown: Any = guard_model(Fake(message=whole(refused)), GUARD).invoke("x").content
    assert "".join(block["refusal"] for block in shown) == GUARD.scrub(REFUSAL)
    signed: list[Block] = [
        {"type": "thinking", "thinking": part, "signature": "s"} for part in ("a <", "b <", "c")
    ]
    assert guard_model(Fake(message=whole(signed)), GUARD).invoke("x").content == signed


@pytest.mark.parametrize("kinds", [("text", "reasoning"), ("text", "tool"), ("text", "image")])
def test_blocks_of_different_kinds_may_take_turns(kinds: tuple[str, str]) -> None:
    other: dict[str, dict[str, Any]] = {
        "reasoning": {"type": "reasoning", "reasoning": "z. "},
        "tool": {"type": "server_tool_call_chunk", "args": ""},
        "image": {"type": "image", "base64": ""},
    }
    parts: list[dict[str, Any]] = []
    for piece in pieces(TEXT):
        parts += [{"type": "text", "text": piece, "index": 0}, {**other[kinds[1]], "index": 1}]
    model = guard_model(Fake(chunks=[AIMessageChunk(content=[part], id="r") for part in parts]), GUARD)
    assert reduce(add, list(model.stream("x"))).text == SAFE


def test_blocks_of_one_kind_that_take_turns_are_refused_and_nothing_leaks() -> None:
    for between in ([], [{"type": "tool_call_chunk", "id": "c", "name": "n", "args": "{}", "index": 2}]):
        parts: list[dict[str, Any]] = []
        for piece in pieces(TEXT):
            parts += [{"type": "text", "text": piece, "index": 0}, *between]
            parts += [{"type": "text", "text": "z. ", "index": 1}]
        model = guard_model(Fake(chunks=[AIMessageChunk(content=[part], id="r") for part in parts]), GUARD)
        seen: list[Any] = []
        with pytest.raises(StreamGuardError, match="take turns"):
            seen.extend(iter(model.stream("x")))
        assert leaks(seen) == set()


@pytest.mark.parametrize("kind", [HumanMessage, ToolMessage])
def test_blocks_of_what_a_model_is_told_are_texts_of_their_own(kind: Any) -> None:
    key = "AKIA" + "QWERTYUIOPASDF23"
    message = kind([text("The key is"), text(key)], tool_call_id="c")
    assert key not in str(guard_message(message, Settings(GUARD)).content)


# events


def told(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    listener = Listener()
    handler: Any = GuardedCallbackHandler(listener, GUARD)
    for event in events:
        handler.on_stream_event(event, run_id=1)
    return [args[0] for _, args, _ in listener.seen]


def block_events(index: int, block: dict[str, Any], *, deltas: bool) -> list[dict[str, Any]]:
    """What tells of one block, from its start to its end."""
    kind = str(block["type"])
    parts: list[dict[str, Any]] = []
    if kind in ("text", "reasoning") and deltas:
        parts = [{"type": f"{kind}-delta", kind: piece} for piece in pieces(block[kind], 4)]
    empty = {**block, kind: ""} if kind in ("text", "reasoning") else block
    return [
        {"event": "content-block-start", "index": index, "content": empty},
        *({"event": "content-block-delta", "index": index, "delta": part} for part in parts),
        {"event": "content-block-finish", "index": index, "content": block},
    ]


@pytest.mark.parametrize("deltas", [True, False])
@pytest.mark.parametrize("late", [True, False])
@pytest.mark.parametrize("between", BETWEEN)
def test_events_say_the_same_in_deltas_and_whole_over_all_blocks(
    between: str, late: bool, deltas: bool
) -> None:
    for at in range(1, len(TEXT), 3):
        blocks: list[Any] = cut(TEXT, (at, min(at + 5, len(TEXT))), BETWEEN[between])
        events = [
            each for index, block in enumerate(blocks) for each in block_events(index, block, deltas=deltas)
        ]
        if late:  # as LangChain makes them of chunks: all blocks finish at the end
            events.sort(key=lambda event: event["event"] == "content-block-finish")
        shown = told([{"event": "message-start", "id": "m"}, *events, {"event": "message-finish"}])
        assert leaks(shown) == set()
        said: dict[int, str] = {}
        finished: dict[int, str] = {}
        for event in shown:
            if event["event"] == "content-block-delta":
                assert event["index"] not in finished
                said[event["index"]] = said.get(event["index"], "") + event["delta"].get("text", "")
            if event["event"] == "content-block-finish":
                finished[event["index"]] = event["content"].get("text", "")
        assert len(finished) == len(blocks)
        assert "".join(finished[index] for index in sorted(finished)) == SAFE
        if deltas:
            texts = [index for index, block in enumerate(blocks) if block["type"] == "text"]
            assert all(said.get(index, "") == finished[index] for index in texts)


def test_a_block_finishes_once_the_next_has_decided_its_text() -> None:
    first, second = text("one <"), text("two <")
    # plain dictionaries stand for the typed blocks
    events = [*block_events(0, first, deltas=True), *block_events(1, second, deltas=True)]  # type: ignore[arg-type]
    shown = told([*events, {"event": "message-finish"}])
    kinds = [(event["event"], event.get("index")) for event in shown]
    assert kinds.index(("content-block-finish", 0)) < kinds.index(("content-block-finish", 1))
    finished = [event["content"] for event in shown if event["event"] == "content-block-finish"]
    assert finished == [first, second]


def test_a_signature_in_events_stays_only_with_reasoning_that_came_through() -> None:
    for said, stays in (("I think. ", True), (REASONING, False)):
        block = {"type": "reasoning", "reasoning": said, "extras": {"signature": "s"}}
        shown = told([*block_events(0, block, deltas=True), {"event": "message-finish"}])
        (finished,) = [event["content"] for event in shown if event["event"] == "content-block-finish"]
        assert finished["reasoning"] == GUARD.scrub(said)
        assert ("signature" in finished["extras"]) == stays


def test_an_error_among_the_events_shows_nothing_held_and_finishes_what_has_finished() -> None:
    key = "AKIA" + "QWERTYUI"
    block = {"type": "text", "text": f"a {key}"}
    shown = told(
        [*block_events(0, block, deltas=True), {"event": "error", "message": f"cannot read {TEXT!r}"}]
    )
    assert leaks(shown) == set()
    assert key[:4] not in str(shown)
    assert [event["event"] for event in shown][-2:] == ["content-block-finish", "error"]
    assert shown[-2]["content"] == text("a ")
