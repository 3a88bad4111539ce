"""What is not looked at again in a chunk like the last one changes nothing of what comes out."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamguard_openai import ChatAdapter, ResponsesAdapter, chat, guard_stream, responses

from streamguard import End, FenceScrubber, Redactor
from streamguard.adapting import LaneFinding

from .support import chunk, objects, plain

GUARD = FenceScrubber("think") | Redactor()
SECRET = "sk-proj-" + "a1B2c3D4e5F6g7H8i9J0" * 3
TEXTS = st.sampled_from(
    ["", "a", " word", "<thi", "nk>", "hidden", "</thi", "nk>", SECRET[:9], SECRET[9:], " <"]
)
SHAPES: list[Any] = [
    lambda text: {"content": text},
    lambda text: {"content": text, "role": "assistant"},
    lambda text: {"content": text, "refusal": text},
    lambda text: {"reasoning_content": text},
    lambda text: {"content": None, "reasoning_content": text},
    lambda text: {"text": text},
    lambda text: {"tool_calls": [{"index": 0, "function": {"arguments": text}}]},
    lambda _: {},
]
MORE = st.sampled_from(
    [
        {},
        {},
        {},
        {"obfuscation": "p"},
        {"id": "d"},
        {"created": 7},
        {"usage": {"total_tokens": 1}},
        {"note": "n"},
    ]
)
KINDS = ("output_text", "refusal", "reasoning_text", "function_call_arguments")
DONE = {
    "type": "response.output_text.done",
    "item_id": "i0",
    "output_index": 0,
    "content_index": 0,
    "text": "a",
}
PLACES = st.sampled_from([0, 0, 0, 1])


@st.composite
def chunks(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Runs of chunks of one shape each, of which some end a choice or say more."""
    made: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(1, 4))):
        shape, place = draw(st.sampled_from(SHAPES)), draw(PLACES)
        for text in draw(st.lists(TEXTS, min_size=1, max_size=6)):
            made.append({**chunk(shape(text), None, place), **draw(MORE)})
        if draw(st.booleans()):
            made.append(chunk({}, draw(st.sampled_from(["stop", "length"])), place))
    return made


@st.composite
def events(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Runs of deltas of one text each, with other events between them, numbered or not."""
    made: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(1, 4))):
        kind, place = draw(st.sampled_from(KINDS)), draw(PLACES)
        more = draw(
            st.sampled_from([{}, {"logprobs": []}, {"logprobs": [{"token": "a"}]}, {"obfuscation": "p"}])
        )
        where = {"item_id": f"i{place}", "output_index": place, "content_index": 0}
        for text in draw(st.lists(TEXTS, min_size=1, max_size=6)):
            made.append({"type": f"response.{kind}.delta", **where, "delta": text, **more})
        if draw(st.booleans()):
            made.append(DONE)
    if draw(st.booleans()):
        made = [{**event, "sequence_number": number} for number, event in enumerate(made)]
    return made


def run(adapter: Any, given: list[Any]) -> Any:
    found: list[LaneFinding] = []
    made = adapter(found.append)
    shown: list[Any] = []
    for event in given:
        shown += [copy.deepcopy(plain(one)) for one in made.event(event)]
    shown += [plain(one) for one in made.end(End.COMPLETE)]
    return shown, found


def compare(kind: Any, module: Any, protocol: str, events: list[dict[str, Any]], policy: str) -> None:
    for form in ("dict", "object", "owned"):
        owned = form == "owned"
        given = [objects(events, protocol) if form != "dict" else copy.deepcopy(events) for _ in range(2)]

        def adapter(on_finding: Any, owned: bool = owned) -> Any:
            return kind(GUARD, reasoning=policy, on_finding=on_finding, owned=owned)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "going", lambda *_, **__: None)
            want = run(adapter, given[0])
        assert run(adapter, given[1]) == want, form


@settings(deadline=None, max_examples=200)
@given(chunks(), st.sampled_from(["guard", "keep", "drop"]))
def test_chunks_come_out_as_if_each_were_looked_through(given: list[dict[str, Any]], policy: str) -> None:
    compare(ChatAdapter, chat, "chat", given, policy)


@settings(deadline=None, max_examples=200)
@given(events(), st.sampled_from(["guard", "keep", "drop"]))
def test_events_come_out_as_if_each_were_looked_through(given: list[dict[str, Any]], policy: str) -> None:
    compare(ResponsesAdapter, responses, "responses", given, policy)


def test_chunks_that_are_owned_are_changed_and_others_are_not() -> None:
    given = objects([chunk({"content": "a "}), chunk({"content": "b <"}), chunk({"content": "c. "})], "chat")
    for owned in (True, False):
        chunks = copy.deepcopy(given)
        adapter = ChatAdapter(GUARD, owned=owned)
        shown = [one for event in chunks for one in adapter.event(event)]
        assert [one.choices[0].delta.content for one in shown] == ["a ", "b ", "<c. "]
        assert (shown[1] is chunks[1]) is owned
        assert (chunks[2].choices[0].delta.content == "<c. ") is owned


def test_what_a_consumer_does_to_chunks_loses_nothing() -> None:
    for spoil in ("clear", "delta", "choice"):
        chunks = objects(
            [chunk({"content": "a "}), chunk({"content": "b <"}), chunk({"content": "thi"})], "chat"
        )
        adapter = ChatAdapter(GUARD, owned=True)
        shown = ""
        for event in chunks:
            for one in adapter.event(event):
                shown += one.choices[0].delta.content
                if spoil == "clear":
                    one.choices.clear()
                elif spoil == "delta":
                    one.choices[0].delta = None
                else:
                    one.choices[0] = None
        assert (
            shown + "".join(one.choices[0].delta.content for one in adapter.end(End.COMPLETE)) == "a b <thi"
        )


def test_a_chunk_that_is_used_again_and_again() -> None:
    def again() -> Any:
        one = chunk({"content": ""})
        for text in ("a ", "<thi"):
            one["choices"] = [{"index": 0, "delta": {"content": text}}]
            yield one
        yield {**one, "choices": [], "usage": {"total_tokens": 1}}
        one["choices"] = []

    shown = [copy.deepcopy(one) for one in guard_stream(again(), GUARD)]
    assert "".join(one["choices"][0]["delta"]["content"] for one in shown if one["choices"]) == "a <thi"
    assert shown[-1]["usage"] == {"total_tokens": 1}


def test_a_list_of_parts_stays_a_list() -> None:
    events = [chunk({"content": [{"type": "text", "text": text}]}) for text in ("a <thi", "nk3")]
    shown = list(guard_stream(iter(events), GUARD))
    contents = [one["choices"][0]["delta"]["content"] for one in shown]
    assert all(isinstance(content, list) for content in contents)
    assert "".join(part["text"] for content in contents for part in content) == "a <think3"


@pytest.mark.parametrize("policy", ["keep", "drop"])
def test_arguments_that_are_not_guarded_hold_no_finish_reason(policy: Any) -> None:
    call = {"index": 0, "id": "t", "function": {"name": "f", "arguments": "{}"}}
    adapter = ChatAdapter(GUARD, tool_args=policy)
    assert adapter.event(chunk({"tool_calls": [call]}))
    assert adapter.event(chunk({}, "tool_calls"))
