from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from streamguard_openai import ChatAdapter, CompletionAdapter

from streamguard import End, FenceScrubber, Pipeline, PreambleTrimmer, Redactor
from streamguard.adapting import guard_events_sync

from .support import chat_texts, chunk, objects, plain

SECRET = "sk-proj-" + "a1B2c3D4e5F6g7H8i9J0" * 3
GUARD = FenceScrubber("think") | Redactor()
FORMS = pytest.mark.parametrize("form", ["dict", "object"])


def run(events: list[Any], form: str = "dict", guard: Any = GUARD, **options: Any) -> list[Any]:
    given = objects(events, "chat") if form == "object" else events
    before = copy.deepcopy([plain(event) for event in given])
    shown = list(guard_events_sync(given, ChatAdapter(guard, **options)))
    assert [plain(event) for event in given] == before, "the provider's objects were changed"
    return [plain(event) for event in shown]


@FORMS
def test_a_fence_and_a_secret_cut_anywhere_do_not_come_out(form: str) -> None:
    text = f"a<think>hidden</think>b {SECRET} c <"
    want = GUARD.scrub(text)
    for cut in range(len(text) + 1):
        events = [chunk({"role": "assistant", "content": ""})]
        events += [chunk({"content": text[:cut]}), chunk({"content": text[cut:]}), chunk({}, "stop")]
        shown = run(events, form)
        assert chat_texts(shown) == {(0, "content"): want}
        assert shown[0]["choices"][0]["delta"]["role"] == "assistant"
        assert shown[-1]["choices"][0]["finish_reason"] == "stop"
        assert not any(event["choices"][0].get("finish_reason") for event in shown[:-1])
        assert "hidden" not in json.dumps(shown)


@FORMS
def test_text_held_in_the_finish_chunk_comes_before_the_finish_reason(form: str) -> None:
    events = [chunk({"content": "x. "}), chunk({"content": "mail <"}, "stop"), {**chunk({}), "choices": []}]
    shown = run(events, form)
    assert chat_texts(shown) == {(0, "content"): "x. mail <"}
    assert [event["choices"][0]["finish_reason"] for event in shown[:-1]] == [None, None, None, "stop"]
    assert shown[-1]["choices"] == []


@FORMS
def test_choices_do_not_mix(form: str) -> None:
    events = [
        chunk({"content": "<thi"}),
        chunk({"content": "B <"}, index=1),
        chunk({"content": "nk>x</think>A"}),
        chunk({"content": " 3"}, index=1),
        chunk({}, "stop", index=1),
        chunk({}, "stop"),
    ]
    assert chat_texts(run(events, form)) == {(0, "content"): "A", (1, "content"): "B < 3"}


def test_choices_of_one_chunk_finish_each_for_itself() -> None:
    both = chunk({"content": "a <"})
    both["choices"].append({"index": 1, "delta": {"content": "b <"}, "finish_reason": "stop"})
    shown = run([both, chunk({"content": "x"}, "stop")])
    assert chat_texts(shown) == {(0, "content"): "a <x", (1, "content"): "b <"}
    finishes = [
        (choice["index"], choice["finish_reason"])
        for event in shown
        for choice in event["choices"]
        if choice["finish_reason"]
    ]
    assert finishes == [(1, "stop"), (0, "stop")]


@FORMS
def test_arguments_stay_json_and_lose_their_secret(form: str) -> None:
    text = json.dumps({"cmd": f"run\n{SECRET}", "n": 1})
    for cut in range(len(text)):
        events = [
            chunk(
                {
                    "tool_calls": [
                        {
                            "index": 0,
                            "id": "t1",
                            "type": "function",
                            "function": {"name": "sh", "arguments": ""},
                        }
                    ]
                }
            ),
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": text[:cut]}}]}),
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": text[cut:]}}]}),
            chunk({}, "tool_calls"),
        ]
        shown = run(events, form)
        arguments = chat_texts(shown)[0, "tool_calls", 0, "function", "arguments"]
        assert json.loads(arguments)["n"] == 1
        assert SECRET not in arguments
        assert shown[0]["choices"][0]["delta"]["tool_calls"][0]["id"] == "t1"


@pytest.mark.parametrize(("policy", "left"), [("keep", True), ("drop", False)])
def test_arguments_can_be_kept_or_dropped(policy: Any, left: bool) -> None:
    text = json.dumps({"k": SECRET})
    events = [
        chunk({"tool_calls": [{"index": 0, "id": "t", "function": {"name": "f", "arguments": text}}]}),
        chunk({"function_call": {"name": "g", "arguments": text}}, "tool_calls"),
    ]
    shown = run(events, tool_args=policy)
    assert (json.dumps(events) == json.dumps(shown)) is left
    assert (SECRET in json.dumps(shown)) is left
    assert '"name": "f"' in json.dumps(shown)


def test_tools_may_have_a_guard_of_their_own() -> None:
    guard = PreambleTrimmer() | Redactor()
    call = {
        "index": 0,
        "function": {
            "name": "f",
            "arguments": json.dumps({"a": "It is in the list. Let me update the anchors now."}),
        },
    }
    events = [
        chunk({"content": "It is in the list. Let me update the anchors now."}),
        chunk({"tool_calls": [call]}),
        chunk({}, "tool_calls"),
    ]
    shown = run(events, guard=guard, tool_guard=Redactor())
    texts = chat_texts(shown)
    assert texts[0, "content"].strip() == "It is in the list."
    assert texts[0, "tool_calls", 0, "function", "arguments"] == call["function"]["arguments"]  # type: ignore[index]


def test_a_custom_tools_input_is_guarded_as_text() -> None:
    events = [
        chunk(
            {
                "tool_calls": [
                    {"index": 0, "id": "t", "type": "custom", "custom": {"name": "sh", "input": SECRET[:9]}}
                ]
            }
        ),
        chunk({"tool_calls": [{"index": 0, "custom": {"input": SECRET[9:] + " <"}}]}),
        chunk({}, "tool_calls"),
    ]
    shown = run(events)
    assert chat_texts(shown) == {(0, "tool_calls", 0, "custom", "input"): GUARD.scrub(SECRET + " <")}


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "refusal", "unknown_text"])
@FORMS
def test_other_texts_are_lanes_too(form: str, name: str) -> None:
    events = [chunk({name: "x " + SECRET[:20]}), chunk({name: SECRET[20:] + " y"}), chunk({}, "stop")]
    assert chat_texts(run(events, form)) == {(0, name): GUARD.scrub(f"x {SECRET} y")}


def test_nested_reasoning_is_guarded_kept_or_dropped() -> None:
    deltas: list[dict[str, Any]] = [
        {"reasoning_details": [{"index": 0, "type": "reasoning.text", "text": part}], "reasoning": part}
        for part in ("k " + SECRET[:20], SECRET[20:] + " z")
    ]
    deltas += [{"content": [{"type": "thinking", "thinking": [{"type": "text", "text": f"q {SECRET} "}]}]}]
    deltas += [{"content": "answer"}]
    events = [*map(chunk, deltas), chunk({}, "stop")]
    guarded = run(events)
    assert SECRET[20:] not in json.dumps(guarded)
    assert chat_texts(guarded)[0, "reasoning_details", 0, "text"] == GUARD.scrub(f"k {SECRET} z")
    dropped = run(events, reasoning="drop")
    assert chat_texts(dropped) == {(0, "content"): "answer"}
    assert run(events, reasoning="keep") == events


def test_a_fence_open_over_a_call_stays_closed() -> None:
    call = {"index": 0, "id": "t", "function": {"name": "f", "arguments": "{}"}}
    events = [
        chunk({"content": "a<think>one"}),
        chunk({"tool_calls": [call]}),
        chunk({"content": "two</think>b"}),
        chunk({}, "stop"),
    ]
    assert chat_texts(run(events))[0, "content"] == "ab"


@FORMS
def test_log_probabilities_stay_beside_the_same_text_only(form: str) -> None:
    def tokens(*texts: str) -> dict[str, Any]:
        return {
            "content": [
                {"token": text, "logprob": -1.0, "bytes": None, "top_logprobs": []} for text in texts
            ],
            "refusal": None,
        }

    events = [
        chunk({"content": "hello"}, logprobs=tokens("hel", "lo")),
        chunk({"content": " <thi"}, logprobs=tokens(" <", "thi")),
        chunk({"content": "nk>no</think>"}, logprobs=tokens("nk>no</think>")),
        chunk({"content": " ok"}, logprobs=tokens("other")),
        chunk({}, "stop", logprobs=None),
    ]
    shown = run(events, form)
    assert [event["choices"][0].get("logprobs") is None for event in shown] == [False, True, True, True]


def test_bytes_of_tokens_count_where_a_character_is_cut() -> None:
    pieces = [{"token": "\\xc3", "bytes": [0xC3]}, {"token": "\\xa9", "bytes": [0xA9]}]
    event = chunk({"content": "é"}, logprobs={"content": pieces})
    assert run([event, chunk({}, "stop")])[0] is event


def test_audio_transcripts_and_annotations_are_guarded() -> None:
    note = {"type": "url_citation", "url_citation": {"url": "https://x", "title": f"t {SECRET}"}}
    events = [
        chunk({"audio": {"id": "a", "transcript": "k " + SECRET[:20], "data": "QUJD"}}),
        chunk({"audio": {"transcript": SECRET[20:] + " z"}}),
        chunk({"annotations": [note]}),
        chunk({}, "stop"),
    ]
    shown = run(events)
    assert chat_texts(shown)[0, "audio", "transcript"] == GUARD.scrub(f"k {SECRET} z")
    assert SECRET not in json.dumps(shown)
    assert "QUJD" in json.dumps(shown)


def test_a_message_beside_the_delta_is_guarded() -> None:
    event = chunk({"content": SECRET[:20]})
    event["choices"][0]["message"] = {"role": "assistant", "content": SECRET[:20]}
    assert SECRET[:20] not in json.dumps(run([event]))


@pytest.mark.parametrize("finish", ["length", "content_filter", "never heard of", None])
def test_half_a_secret_is_dropped_where_the_text_is_cut_off(finish: str | None) -> None:
    events = [chunk({"content": "x " + SECRET[:11]})] + ([chunk({}, finish)] if finish else [])
    assert chat_texts(run(events)) == {(0, "content"): "x "}


def test_an_error_of_the_source_comes_behind_what_was_decided() -> None:
    def source() -> Any:
        yield chunk({"content": f"tail < {SECRET[:11]}"})
        raise RuntimeError

    shown: list[Any] = []
    with pytest.raises(RuntimeError):
        shown.extend(guard_events_sync(source(), ChatAdapter(GUARD)))
    assert chat_texts(shown) == {(0, "content"): "tail < "}


def test_an_error_event_comes_behind_the_text() -> None:
    shown = run([chunk({"content": "a <"}), {"error": {"message": f"no {SECRET}", "code": 1}}])
    assert chat_texts(shown) == {(0, "content"): "a <"}
    assert SECRET not in json.dumps(shown)
    assert shown[-1]["error"]["code"] == 1


def test_text_behind_the_finish_reason_does_not_break_the_stream() -> None:
    shown = run([chunk({"content": "a"}, "stop"), chunk({"content": " b <"})])
    assert chat_texts(shown) == {(0, "content"): "a b <"}


@pytest.mark.parametrize("choices", [SECRET, {"0": SECRET}, [SECRET], [[SECRET]], [{"delta": SECRET}]])
def test_choices_that_are_none_are_guarded_as_what_they_are(choices: Any) -> None:
    assert SECRET not in json.dumps(run([{"id": "c", "object": "chat.completion.chunk", "choices": choices}]))


def test_what_nobody_knows_passes() -> None:
    events: list[Any] = [
        {"choices": [], "prompt_filter_results": [{"a": 1}]},
        {**chunk({"content": "x. ", "role": None}), "x_groq": {"id": "r", "n": [1, None]}},
        {"choices": None},
        {"ping": True},
        chunk({"content": None}, ""),
    ]
    shown = run(events)
    assert all(new is old for new, old in zip(shown, events, strict=True))


def test_a_json_content_stays_json() -> None:
    text = json.dumps({"a": "<think>open", "b": f"{SECRET}"})
    events = [chunk({"content": part}) for part in text] + [chunk({}, "stop")]
    shown = chat_texts(run(events, json_content=True))[0, "content"]
    assert json.loads(shown)["a"] == ""
    assert SECRET not in shown


@FORMS
def test_completions(form: str) -> None:
    def piece(text: str, finish: str | None = None, logprobs: Any = None) -> dict[str, Any]:
        return {
            "id": "c",
            "object": "text_completion",
            "choices": [{"index": 0, "text": text, "finish_reason": finish, "logprobs": logprobs}],
        }

    events = [piece("a ", logprobs={"tokens": ["a", " "]}), piece("<thi", logprobs={"tokens": ["<thi"]})]
    events += [piece("nk>x</think>b <", "stop")]
    given = objects(events, "completion") if form == "object" else events
    shown = [plain(event) for event in guard_events_sync(given, CompletionAdapter(GUARD))]
    assert chat_texts(shown) == {(0, "text"): "a b <"}
    assert shown[0] == plain(given[0])
    assert shown[-1]["choices"][0]["finish_reason"] == "stop"
    assert "think" not in json.dumps(shown)


def test_findings_name_the_lane() -> None:
    found: list[Any] = []
    run([chunk({"content": f"{SECRET} "}, index=2), chunk({}, "stop", index=2)], on_finding=found.append)
    assert [finding.lane for finding in found] == [(2, "content")]


def test_an_empty_pipeline_changes_nothing() -> None:
    events = [chunk({"content": part}, logprobs={"content": [{"token": part}]}) for part in ("a <", "b")]
    shown = run(events, guard=Pipeline())
    assert all(new is old for new, old in zip(shown, events, strict=True))


def test_policies_are_checked() -> None:
    with pytest.raises(ValueError, match="tool_args"):
        ChatAdapter(GUARD, tool_args="no")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        ChatAdapter("no")  # type: ignore[arg-type]
    assert list(ChatAdapter(GUARD).end(End.COMPLETE)) == []


def test_private_attributes_of_a_chunk_stay_with_what_was_held() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Chunk(pydantic.BaseModel):
        choices: list[dict[str, Any]]
        _notes: dict[str, str] = pydantic.PrivateAttr(default_factory=dict)

    given = Chunk(choices=[{"index": 0, "delta": {"content": "a <"}, "finish_reason": None}])
    given._notes["seen"] = "yes"
    last = Chunk(choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}])
    _, held, _ = guard_events_sync([given, last], ChatAdapter(GUARD))
    assert held.choices[0]["delta"] == {"content": "<"}
    assert held._notes == {"seen": "yes"}
