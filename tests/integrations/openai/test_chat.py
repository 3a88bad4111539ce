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
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
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
    events = [chunk({"content": "x. "}), chunk({"content": "mail <"}, "stop")]
    events += [{**chunk({}), "choices": [], "usage": USAGE}]
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
    assert sorted(finishes) == [(0, "stop"), (1, "stop")]


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


def finishes(events: list[Any]) -> list[Any]:
    return [choice.get("finish_reason") for event in events for choice in event.get("choices") or []]


@FORMS
def test_a_choice_that_goes_on_behind_a_finish_reason_keeps_its_lanes(form: str) -> None:
    text = f"a<think>hidden</think>b {SECRET} c <"
    for cut in range(1, len(text)):
        events = [chunk({"content": text[:cut]}, "stop"), chunk({"content": text[cut:]}, "stop")]
        shown = run(events, form)
        assert chat_texts(shown) == {(0, "content"): GUARD.scrub(text)}
        assert shown[-1]["choices"][0]["finish_reason"] == "stop"
        assert finishes(shown).count("stop") == 2


@pytest.mark.parametrize(
    "between",
    [
        [chunk({}, "stop")],
        [chunk({"content": ""})],
        [chunk({"content": "other"}, "stop", index=1)],
        [{"ping": True}],
        [chunk({"content": ""}, "stop")] * 3,
    ],
    ids=["finish", "nothing", "another choice", "ping", "many"],
)
def test_what_comes_between_two_finish_reasons_does_not_close_the_lanes(between: list[Any]) -> None:
    events = [
        chunk({"content": "x <think>hid"}, "stop"),
        *between,
        chunk({"content": "den</think>y"}, "stop"),
    ]
    assert chat_texts(run(events))[0, "content"] == "x y"
    events = [chunk({"content": SECRET[:20]}, "stop"), *between, chunk({"content": SECRET[20:]}, "stop")]
    assert chat_texts(run(events))[0, "content"] == GUARD.scrub(SECRET)


def test_choices_with_a_finish_reason_on_every_chunk_do_not_mix() -> None:
    events = []
    for first, second in ((SECRET[:9], "<thi"), (SECRET[9:], "nk>no</think>yes")):
        events += [chunk({"content": first}, "stop"), chunk({"content": second}, "length", index=1)]
    assert chat_texts(run(events)) == {(0, "content"): GUARD.scrub(SECRET), (1, "content"): "yes"}
    both = [
        {**one, "choices": [*one["choices"], *other["choices"]]}
        for one, other in zip(events[::2], events[1::2], strict=True)
    ]
    shown = run(both)
    assert chat_texts(shown) == {(0, "content"): GUARD.scrub(SECRET), (1, "content"): "yes"}
    assert finishes(shown)[-2:] == ["stop", "length"]


def test_a_finish_reason_waits_for_one_chunk_at_most_where_the_usage_follows() -> None:
    adapter = ChatAdapter(GUARD)
    assert list(adapter.event(chunk({"content": "a <"})))
    assert list(adapter.event(chunk({}, "stop"))) == []
    held, last, usage = adapter.event({**chunk({}), "choices": [], "usage": USAGE})
    assert [event["choices"][0]["delta"] for event in (held, last)] == [{"content": "<"}, {}]
    assert usage["usage"] == USAGE
    assert list(adapter.end(End.COMPLETE)) == []


def test_chunks_that_wait_are_bounded() -> None:
    adapter = ChatAdapter(GUARD)
    adapter.event(chunk({"content": "a <"}))
    shown = [event for _ in range(40) for event in adapter.event(chunk({}, "stop"))]
    assert chat_texts(shown) == {(0, "content"): "<"}
    assert len(shown) > 20


@FORMS
def test_another_id_behind_the_finish_reason_is_another_response(form: str) -> None:
    events = [chunk({"content": "a <"}, "stop"), chunk({"content": "b. "}, "stop")]
    events[1]["id"] = "c2"
    shown = run(events, form)
    texts = [(event["id"], event["choices"][0]["delta"].get("content")) for event in shown]
    assert texts == [("c1", "a "), ("c1", "<"), ("c1", None), ("c2", "b. ")]
    assert finishes(shown) == [None, None, "stop", "stop"]


def test_ids_of_chunks_that_each_have_one_say_nothing() -> None:
    events = [chunk({"content": part}, finish) for part, finish in (("k ", None), (SECRET[:9], "stop"))]
    events += [chunk({"content": SECRET[9:]}, "stop")]
    events = [{**event, "id": f"c{number}"} for number, event in enumerate(events)]
    assert chat_texts(run(events))[0, "content"] == GUARD.scrub(f"k {SECRET}")


@FORMS
@pytest.mark.parametrize("silent", [[], [{"index": 0, "delta": {"content": ""}, "finish_reason": None}]])
def test_held_text_comes_before_the_usage_where_no_finish_reason_does(form: str, silent: list[Any]) -> None:
    usage = {**chunk({}), "choices": silent, "usage": USAGE}
    shown = run([chunk({"content": "a <"}), usage], form)
    assert chat_texts(shown) == {(0, "content"): "a <"}
    assert [event.get("usage") and event["usage"]["total_tokens"] for event in shown] == [None, None, 2]
    going = run([chunk({"content": SECRET[:9]}), usage, chunk({"content": SECRET[9:]}), usage], form)
    assert chat_texts(going) == {(0, "content"): GUARD.scrub(SECRET)}
    assert going[-1]["usage"]["total_tokens"] == 2


def test_the_usage_of_every_chunk_is_that_of_the_last_too() -> None:
    events = [{**chunk({"content": part}), "usage": USAGE} for part in ("a ", "b <")]
    shown = run(events)
    assert chat_texts(shown) == {(0, "content"): "a b <"}
    assert shown[-1]["usage"] == USAGE


NATIVE = [
    lambda text: {"index": 0, "content": text, "stop": False},
    lambda text: {"output": {"text": text}},
    lambda text: {"data": text},
    lambda text: {"choices": {"0": text}},
    lambda text: {"choices": [], "content": text},
    lambda text: {"choices": [{"index": 0, "delta": {}, "content": text, "finish_reason": "stop"}]},
    lambda text: {"choices": [text]},
    lambda text: {"choices": [[text]]},
    lambda text: {"choices": [{"index": 0, "delta": text}]},
    lambda text: {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]},
    lambda text: {"choices": [{"index": 0, "token": {"value": text}, "finish_reason": "stop"}]},
]


@pytest.mark.parametrize("event", NATIVE)
def test_strings_of_what_is_no_chunk_go_on_in_the_next(event: Any) -> None:
    text = f"hi {SECRET} x <think>hidden</think> y"
    for cut in range(1, len(text)):
        shown = json.dumps(run([event(text[:cut]), event(text[cut:])]))
        assert not any(part in shown for part in (SECRET[-9:], "hidd", "dden"))
        assert "REDACTED" in shown


def test_a_message_that_came_whole_stays_one() -> None:
    message = {"role": "assistant", "content": f"a <think>hidden</think> {SECRET} <"}
    event = {"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    (shown,) = run([event])
    assert shown["choices"][0]["message"]["content"] == GUARD.scrub(message["content"])


def test_pieces_of_a_message_come_before_the_finish_reason() -> None:
    def piece(text: str, finish: str | None) -> dict[str, Any]:
        return {"choices": [{"index": 0, "message": {"content": text}, "finish_reason": finish}]}

    shown = run([piece("x <think>hid", None), piece("den</think>y <", "stop")])
    texts = [event["choices"][0]["message"].get("content", "") for event in shown]
    assert "".join(texts) == "x y <"
    assert finishes(shown)[-1] == "stop"
    assert texts[-1] == ""


def test_a_password_in_what_is_no_chunk_is_known_by_its_name() -> None:
    assert "hunter2hunter" not in json.dumps(run([{"database": {"password": "hunter2hunter"}}]))


@pytest.mark.parametrize("name", ["reasoning_details", "thinking_blocks"])
def test_reasoning_is_whole_where_it_is_signed(name: str) -> None:
    field = "text" if name == "reasoning_details" else "thinking"

    def signed(*texts: str) -> list[Any]:
        parts: list[dict[str, Any]] = [{field: text} for text in texts] + [{"signature": "c2lnbmVk"}]
        items = [{"type": "reasoning.text", "index": 0, **part} for part in parts]
        return [*(chunk({name: [item]}) for item in items), chunk({"content": "ok"}), chunk({}, "stop")]

    shown = run(signed("a ", "b <"))
    assert chat_texts(shown[:3])[0, name, 0, field] == "a b <"
    assert shown[2]["choices"][0]["delta"][name][0]["signature"] == "c2lnbmVk"
    shown = run(signed("a ", SECRET, " b"))
    assert chat_texts(shown)[0, name, 0, field] == GUARD.scrub(f"a {SECRET} b")
    assert "c2lnbmVk" not in json.dumps(shown)
    assert "c2lnbmVk" in json.dumps(run(signed("a ", SECRET), reasoning="keep"))
    assert "c2lnbmVk" not in json.dumps(run(signed("a ", SECRET), reasoning="drop"))


def test_content_that_turns_from_a_list_into_a_string_is_one_text() -> None:
    events = [
        chunk({"content": [{"type": "text", "text": "k " + SECRET[:20]}]}),
        chunk({"content": SECRET[20:]}),
        chunk({"content": [{"type": "text", "text": " <think>x"}]}),
        chunk({"content": "y</think>z"}, "stop"),
    ]
    shown = json.dumps(run(events))
    assert SECRET[20:] not in shown
    assert "y</think>" not in shown


def test_calls_without_a_number_do_not_mix() -> None:
    def call(arguments: str, ident: str | None = None) -> dict[str, Any]:
        named = {"id": ident} if ident else {}
        return {**named, "type": "function", "function": {"name": "f", "arguments": arguments}}

    events = [
        chunk({"tool_calls": [call('{"a": "<', "t1")]}),
        chunk({"tool_calls": [call('{"b": "', "t2")]}),
        chunk({"tool_calls": [call(SECRET[:9])]}),
        chunk({"tool_calls": [call(SECRET[9:] + '"}')]}),
        chunk({}, "tool_calls"),
    ]
    shown = run(events)
    assert SECRET[-9:] not in json.dumps(shown)
    (second,) = shown[1]["choices"][0]["delta"]["tool_calls"]
    assert second["function"]["arguments"] == '{"b": "'
    together = chunk({"tool_calls": [call('{"a": "<'), call('{"b": "x')]})
    first, second = run([together])[0]["choices"][0]["delta"]["tool_calls"]
    assert (first["function"]["arguments"], second["function"]["arguments"][:7]) == ('{"a": "', '{"b": "')


def test_signatures_of_thoughts_pass_whole() -> None:
    extra = {"google": {"thought_signature": f"{SECRET}<"}}
    call = {"index": 0, "id": "t", "function": {"name": "f", "arguments": "{}"}, "extra_content": extra}
    event = chunk({"tool_calls": [call]})
    assert run([event, chunk({}, "tool_calls")])[0] is event


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
