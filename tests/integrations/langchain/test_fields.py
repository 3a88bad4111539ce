"""Fields beside the content: what classes declare, metadata, `additional_kwargs`, signatures."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk
from pydantic import Field
from streamguard_langchain import guard_model

from .paths import leaks
from .sources import GUARD, TEXT, Fake, pieces

SAFE = GUARD.scrub(TEXT)
HELD = "is 4 <"


class Thoughtful(AIMessage):
    """A message of a class that declares a text."""

    thoughts: str = ""
    reasoning: str = ""
    steps: list[str] = Field(default_factory=list)


class ThoughtfulChunk(AIMessageChunk):
    """A chunk of it."""

    thoughts: str = ""
    reasoning: str = ""
    steps: list[str] = Field(default_factory=list)


def streamed(chunks: list[AIMessageChunk], **options: Any) -> list[Any]:
    return list(guard_model(Fake(chunks=chunks), GUARD, **options).stream("x"))


def merged(chunks: list[AIMessageChunk], **options: Any) -> Any:
    return reduce(add, streamed(chunks, **options))


def test_fields_that_a_class_declares_are_guarded_whole_and_in_pieces() -> None:
    whole: Any = guard_model(
        Fake(message=Thoughtful(content="hi", thoughts=TEXT, reasoning=TEXT, steps=[TEXT])), GUARD
    ).invoke("x")
    assert (whole.thoughts, whole.reasoning, whole.steps) == (SAFE, SAFE, [SAFE])
    said: list[AIMessageChunk] = [
        ThoughtfulChunk(content="", thoughts=piece, id="m") for piece in pieces(TEXT + " <")
    ]
    out = streamed([*said, ThoughtfulChunk(content="hi <", thoughts="", id="m")])
    assert "".join(chunk.thoughts for chunk in out if isinstance(chunk, ThoughtfulChunk)) == SAFE + " <"
    assert "".join(chunk.text for chunk in out) == "hi <"
    assert {type(chunk) for chunk in out[: len(said)]} == {ThoughtfulChunk}
    assert leaks(out) == set()


def test_reasoning_that_a_class_declares_can_be_dropped() -> None:
    model = guard_model(Fake(message=Thoughtful(content="hi", reasoning=TEXT)), GUARD, reasoning="drop")
    assert not model.invoke("x").reasoning  # type: ignore[attr-defined]  # the model makes messages of its own class


NAMES = ["status", "phase", "note_id", "signature", "encrypted_note", "x_signature", "model", "id", "note"]


@pytest.mark.parametrize("name", NAMES)
def test_no_field_of_metadata_is_kept_by_its_name(name: str) -> None:
    for message in (
        AIMessage(content="hi", response_metadata={name: TEXT}),
        AIMessage(content="hi", additional_kwargs={name: TEXT}),
    ):
        shown = guard_model(Fake(message=message), GUARD).invoke("x")
        assert leaks(shown) == set()
    info = streamed([AIMessageChunk(content="hi", response_metadata={name: TEXT})])
    assert leaks(info) == set()


@pytest.mark.parametrize("name", ["phase", "note_id", "created_at", "note"])
def test_a_field_of_additional_kwargs_that_comes_in_pieces_is_one_text(name: str) -> None:
    given = [{name: piece, "data": {name: piece}} for piece in pieces(TEXT + " <")]
    kwargs = merged([AIMessageChunk(content="", additional_kwargs=each) for each in given]).additional_kwargs
    assert kwargs == {name: SAFE + " <", "data": {name: SAFE + " <"}}


def test_signatures_and_identifiers_stay_what_they_are() -> None:
    opaque = "QUJD/+_-" * 20 + "="
    kwargs = {"signature": opaque, "id": "a1", "calls__signatures__": {"c": opaque}}
    for message in (
        AIMessage(content="hi", additional_kwargs=kwargs),
        AIMessage(
            content="hi", response_metadata={"signature": opaque, "id": "resp_1", "encrypted_state": [opaque]}
        ),
    ):
        shown = guard_model(Fake(message=message), GUARD).invoke("x")
        assert shown.additional_kwargs == message.additional_kwargs
        assert shown.response_metadata == message.response_metadata
    chunks = [
        AIMessageChunk(content="", additional_kwargs={"id": "a1"}),
        AIMessageChunk(content="", additional_kwargs={"id": "a1"}),
    ]
    assert merged(chunks).additional_kwargs == {"id": "a1"}


@pytest.mark.parametrize("field", ["text", "summary", "thinking"])
@pytest.mark.parametrize("kind", ["reasoning.text", None])
def test_items_without_an_index_that_come_in_pieces_are_one_text(kind: str | None, field: str) -> None:
    about = {"type": kind, "format": "v1"} if kind else {"format": "v1"}
    chunks = [
        AIMessageChunk(content="", additional_kwargs={"details": [{**about, field: piece}]})
        for piece in pieces(TEXT + " <")
    ]
    details = merged(chunks).additional_kwargs["details"]
    assert "".join(item[field] for item in details) == SAFE + " <"
    assert [item["format"] for item in details[:-1]] == ["v1"] * len(chunks)


def test_items_with_an_index_all_get_what_was_held_of_them() -> None:
    given = [{"type": "reasoning.text", "text": f"{at} <", "index": at} for at in range(3)]
    kwargs = merged(
        [AIMessageChunk(content="", additional_kwargs={"reasoning_details": given})]
    ).additional_kwargs
    assert kwargs == {"reasoning_details": given}


def test_items_that_are_no_pieces_of_a_text_are_guarded_each_for_itself() -> None:
    given = {"citations": ["http://a/b", "http://a/<"], "search_results": [{"title": "a <", "date": "1 <"}]}
    (chunk,) = [
        chunk
        for chunk in streamed([AIMessageChunk(content="hi. ", additional_kwargs=given)])
        if chunk.content
    ]
    assert chunk.additional_kwargs == given


def reasoned(kind: str, said: str | None) -> dict[str, Any]:
    """A piece of reasoning, or the signature behind it."""
    signed = {"signature": "sig"}
    match kind:
        case "thinking":
            part: dict[str, Any] = {"thinking": said} if said else signed
        case "reasoning":
            part = {"reasoning": said} if said else {"extras": signed}
        case _:
            part = {kind: {"text": said} if said else signed}
    return {"type": kind, **part, "index": 0}


@pytest.mark.parametrize("kind", ["thinking", "reasoning", "reasoning_content"])
@pytest.mark.parametrize("said", [HELD, "fine.", TEXT])
def test_a_signature_that_comes_alone_stays_with_unchanged_reasoning_only(kind: str, said: str) -> None:
    parts = [*pieces(said), None]
    chunks = [AIMessageChunk(content=[reasoned(kind, part)]) for part in parts]
    raw = reduce(add, chunks)
    shown = merged([*chunks, AIMessageChunk(content=[{"type": "text", "text": "hi. ", "index": 1}])])
    assert ("'sig'" in repr(shown)) == (said != TEXT)
    if said != TEXT:
        assert shown.content[0] == raw.content[0]
    assert leaks(shown) == set()


@pytest.mark.parametrize("said", [HELD, TEXT])
def test_a_signature_within_a_part_of_the_reasoning_is_told_apart_too(said: str) -> None:
    block = {"type": "reasoning_content", "reasoning_content": {"text": said, "signature": "sig"}}
    thought = {"type": "thinking", "thinking": said, "signature": "sig"}
    kwargs = {"thinking_blocks": [thought]}
    for message in (AIMessage(content=[block]), AIMessage(content="hi", additional_kwargs=kwargs)):
        shown = guard_model(Fake(message=message), GUARD).invoke("x")
        assert ("'sig'" in repr(shown)) == (said == HELD)
        same = shown.content == message.content and shown.additional_kwargs == message.additional_kwargs
        assert same == (said == HELD)
    pieces_of = [{"type": "thinking", "thinking": piece} for piece in pieces(said)]
    told = [*pieces_of, {"type": "thinking", "thinking": "", "signature": "sig"}]
    out = merged([AIMessageChunk(content="", additional_kwargs={"thinking_blocks": [part]}) for part in told])
    blocks = out.additional_kwargs["thinking_blocks"]
    assert "".join(part["thinking"] for part in blocks) == GUARD.scrub(said)
    assert ("'sig'" in repr(out)) == (said == HELD)
