"""Chunks of generated content: text by text, nothing lost, nothing leaked."""

from __future__ import annotations

import copy
import sys
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from streamguard_google import GenerateContentAdapter, guard_response, guard_stream

from streamguard import FenceScrubber, Finding, Pipeline, PreambleTrimmer, Redactor, Rule

sys.path.insert(0, str(Path(__file__).parent))
from google_chunks import (
    CANARY,
    GUARD,
    RECORDINGS,
    TOKEN,
    Chunk,
    changed,
    chunk,
    leaks,
    leaves,
    planted,
    read,
    rest,
    texts,
    thought,
)

recordings = pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem[-40:])
UNFOUND = FenceScrubber("never-there") | Redactor([Rule("never", r"NEVER-[0-9]{8}")])
THINK = FenceScrubber("think")
KEPT = {
    "role",
    "name",
    "id",
    "finishReason",
    "modelVersion",
    "responseId",
    "createTime",
    "thoughtSignature",
    "usageMetadata",
    "sdkBlob",
    "toolType",
    "data",
    "mimeType",
}


def guarded(chunks: list[Chunk], guard: Any = GUARD, **options: Any) -> list[Any]:
    before = copy.deepcopy(chunks)
    shown = list(guard_stream(iter(chunks), guard, **options))
    assert chunks == before
    return shown


@recordings
def test_an_empty_pipeline_changes_nothing(path: Path) -> None:
    chunks = read(path)
    assert guarded(chunks, Pipeline()) == chunks


@recordings
def test_a_guard_with_nothing_to_find_changes_no_text(path: Path) -> None:
    chunks = read(path)
    shown = guarded(chunks, UNFOUND)
    assert texts(shown) == texts(chunks)
    assert rest(shown) == rest(chunks)


@recordings
def test_a_planted_canary_never_comes_out_wherever_it_is_cut(path: Path) -> None:
    chunks = read(path)
    for key, whole, copied in planted(chunks):
        shown = guarded(copied)
        assert not leaks(shown)
        assert texts(shown) == {**texts(chunks), key: GUARD.scrub(whole)}
        kept = rest(copied)
        for one in kept:
            for candidate in one["candidates"]:
                candidate.get("groundingMetadata", {}).pop("groundingSupports", None)
        assert rest(shown) == kept


@recordings
def test_a_canary_in_what_comes_whole_never_comes_out(path: Path) -> None:
    chunks = read(path)
    for at, one in enumerate(chunks):
        for leaf in leaves(one):
            if leaf[-1] == "text" or KEPT & set(leaf):
                continue
            copied = [*chunks[:at], changed(one, leaf, lambda text: text + CANARY), *chunks[at + 1 :]]
            assert not leaks(guarded(copied)), leaf


@pytest.mark.parametrize("cut", range(len(CANARY) + 1))
def test_held_text_comes_out_in_the_chunk_with_the_finish_reason(cut: int) -> None:
    chunks = [chunk("a " + CANARY[:cut]), chunk(CANARY[cut:] + "b <", reason="STOP")]
    shown = guarded(chunks)
    assert not leaks(shown)
    assert len(shown) == 2
    assert texts(shown) == {(0, False): GUARD.scrub("a " + CANARY + "b <")}
    assert rest(shown) == rest(chunks)


def test_a_last_chunk_without_content_brings_what_is_held() -> None:
    last = {"candidates": [{"index": 0, "finishReason": "STOP"}], "responseId": "r1"}
    shown = guarded([chunk("a <"), last], THINK)
    assert texts(shown) == {(0, False): "a <"}
    assert shown[1]["candidates"][0] == {
        "index": 0,
        "finishReason": "STOP",
        "content": {"role": "model", "parts": [{"text": "<"}]},
    }
    usage = {"usageMetadata": {"totalTokenCount": 9}, "responseId": "r1"}
    assert guarded([chunk("a <"), last, usage], THINK)[2] == usage


def test_the_placeholder_of_an_endless_secret_comes_in_the_chunk_with_the_finish_reason() -> None:
    secret = "sk-ant-api03-" + "a1B2c3" * 300
    shown = guarded([chunk("key "), chunk(secret[:900]), chunk(secret[900:], reason="STOP")])
    assert len(shown) == 3
    assert texts(shown) == {(0, False): GUARD.scrub(f"key {secret}")}


def test_a_finish_reason_on_every_chunk_does_not_cut_the_text() -> None:
    for cut in range(len(CANARY) + 1):
        chunks = [chunk("a " + CANARY[:cut], reason="STOP"), chunk(CANARY[cut:] + "b", reason="STOP")]
        shown = guarded(chunks)
        assert not leaks(shown)
        assert texts(shown) == {(0, False): GUARD.scrub("a " + CANARY + "b")}


def test_another_response_in_the_same_stream_is_another_text() -> None:
    following = chunk("think>", reason="STOP")
    following["responseId"] = "r2"
    shown = guarded([chunk("a <", reason="STOP"), following], THINK)
    assert [one["candidates"][0]["content"]["parts"][0]["text"] for one in shown] == ["a <", "think>"]


def test_candidates_do_not_influence_each_other() -> None:
    half = len(CANARY) // 2
    chunks = [
        chunk(CANARY[:half], index=0),
        chunk(CANARY[:half], index=1),
        chunk(CANARY[half:], index=1, reason="STOP"),
        chunk(CANARY[half:], index=0, reason="STOP"),
    ]
    shown = guarded(chunks)
    assert not leaks(shown)
    assert set(texts(shown).values()) == {GUARD.scrub(CANARY)}
    both = chunk("x <thi")
    both["candidates"] += chunk("y <thi", index=1)["candidates"]
    last = chunk("nk>z", reason="STOP")
    last["candidates"] += chunk("ng", index=1, reason="STOP")["candidates"]
    assert texts(guarded([both, last], THINK)) == {(0, False): "x ", (1, False): "y <thing"}


def test_thoughts_end_where_the_answer_begins() -> None:
    shown = guarded(
        [chunk(thought("so a <")), chunk("b <", thought("c")), chunk("think>d", reason="STOP")], THINK
    )
    assert shown[1]["candidates"][0]["content"]["parts"] == [thought("<"), {"text": "b "}, thought("c")]
    assert texts(shown)[0, False] == "b "


def test_thoughts_follow_their_policy() -> None:
    chunks = [
        chunk(thought("so " + CANARY)),
        chunk({**thought("x"), "thoughtSignature": "sig"}, thought("y")),
        chunk("b", reason="STOP"),
    ]
    assert not leaks(guarded(chunks))
    assert guarded(chunks, reasoning="keep") == chunks
    shown = guarded(chunks, reasoning="drop")
    assert texts(shown) == {(0, False): "b", (0, True): ""}
    assert shown[0]["candidates"][0]["content"]["parts"] == [{"text": ""}]
    assert shown[1]["candidates"][0]["content"]["parts"][0]["thoughtSignature"] == "sig"


@pytest.mark.parametrize("name", ["functionCall", "toolCall", "function_call", "tool_call"])
def test_arguments_of_tools_follow_their_policy(name: str) -> None:
    call = {name: {"name": "f", "id": "i", "args": {"password": "hunter2hunter", "q": [CANARY], "n": 1}}}
    chunks = [chunk("a <"), chunk(call, reason="STOP")]
    shown = guarded(chunks)
    assert not leaks(shown)
    held, called = shown[1]["candidates"][0]["content"]["parts"]
    assert held == {"text": "<"}
    args = called[name]["args"]
    assert "hunter2" not in args["password"]
    assert args["n"] == 1
    assert called[name]["name"] == "f"
    assert guarded(chunks, tool_args="keep")[1]["candidates"][0]["content"]["parts"][1] == call
    assert guarded(chunks, tool_guard=Pipeline())[1]["candidates"][0]["content"]["parts"][1] == call
    dropped = guarded(chunks, tool_args="drop")[1]["candidates"][0]["content"]["parts"][1]
    assert dropped[name] == {"name": "f", "id": "i", "args": {}}


def test_a_sentence_before_a_tool_call_is_trimmed_on_that_evidence() -> None:
    trimmer = PreambleTrimmer(when="tool_call")
    said = chunk("It is 5. Let me check the weather now.")
    shown = guarded([said, chunk({"functionCall": {"name": "f", "args": {}}}, reason="STOP")], trimmer)
    assert texts(shown)[0, False].rstrip() == "It is 5."
    assert texts(guarded([said, chunk(reason="STOP")], trimmer)) == texts([said])


def test_arguments_that_stream_are_one_text_each() -> None:
    for cut in range(len(CANARY) + 1):
        pieces = [
            {"jsonPath": "$.q", "stringValue": CANARY[:cut], "willContinue": True},
            {"jsonPath": "$.q", "stringValue": CANARY[cut:]},
        ]
        chunks = [chunk({"functionCall": {"name": "f", "partialArgs": [piece]}}) for piece in pieces]
        shown = guarded([*chunks, chunk({"functionCall": {}}, reason="STOP")])
        assert not leaks(shown)
        said = "".join(
            part["functionCall"]["partialArgs"][0]["stringValue"]
            for one in shown[:2]
            for part in one["candidates"][0]["content"]["parts"]
        )
        assert said == GUARD.scrub(CANARY)
    secret = [
        {"jsonPath": "$.login['password']", "stringValue": "hunter2", "willContinue": True},
        {"jsonPath": "$.login['password']", "stringValue": "hunter", "willContinue": False},
    ]
    (shown,) = guarded([chunk({"functionCall": {"partialArgs": secret}})])
    said = [
        piece["stringValue"]
        for piece in shown["candidates"][0]["content"]["parts"][0]["functionCall"]["partialArgs"]
    ]
    assert said[0] == ""
    assert said[1].startswith("[REDACTED:")
    harmless = [{**secret[0], "jsonPath": "$[0].q"}, {"jsonPath": "$[0].q", "stringValue": 'b \n" é\\'}]
    chunks_of_it = [chunk({"functionCall": {"partialArgs": harmless}})]
    assert guarded(chunks_of_it, THINK) == chunks_of_it
    dropped = guarded(chunks, tool_args="drop")
    assert dropped[0]["candidates"][0]["content"]["parts"] == [{"functionCall": {"name": "f"}}]
    number = [chunk({"functionCall": {"partialArgs": [{"jsonPath": "$.n", "numberValue": 1}]}})]
    assert guarded(number) == number


def test_transcripts_of_audio_are_a_text() -> None:
    for cut in range(len(CANARY) + 1):
        chunks = [
            chunk({"audioTranscription": {"text": "a " + CANARY[:cut], "words": [{"word": TOKEN}]}}),
            chunk({"audioTranscription": {"text": CANARY[cut:] + "b"}}, reason="STOP"),
        ]
        del chunks[0]["candidates"][0]["content"]["parts"][0]["audioTranscription"]["words"]
        shown = guarded(chunks)
        assert not leaks(shown)
        said = [
            part["audioTranscription"]["text"]
            for one in shown
            for part in one["candidates"][0]["content"]["parts"]
        ]
        assert "".join(said) == GUARD.scrub("a " + CANARY + "b")
    whole = {"audioTranscription": {"text": CANARY + "<", "finished": True, "words": [{"word": TOKEN}]}}
    (shown,) = guarded([chunk(whole, reason="STOP")])
    assert not leaks(shown)
    assert shown["candidates"][0]["content"]["parts"][0]["audioTranscription"]["text"].endswith("<")


def test_code_results_and_unknown_parts_are_guarded_whole() -> None:
    odd = [
        {"executableCode": {"code": f"print('{TOKEN}')", "language": "PYTHON"}},
        {"codeExecutionResult": {"output": TOKEN, "outcome": "OUTCOME_OK"}},
        {"functionResponse": {"name": "f", "response": {"output": CANARY, "data": CANARY, "name": CANARY}}},
        {"brandNew": {"text": CANARY}},
        {"text": f"x {TOKEN}", "brandNew": CANARY},
        {"text": f"x {TOKEN} ", "functionCall": {"name": "f", "args": {}}},
    ]
    picture = {"inlineData": {"data": "QUJD", "mimeType": "image/png"}}
    shown = guarded([chunk("a <", *odd, picture, reason="STOP")])
    assert not leaks(shown)
    parts = shown[0]["candidates"][0]["content"]["parts"]
    assert parts[0] == {"text": "a <"}
    assert parts[1]["executableCode"]["language"] == "PYTHON"
    assert parts[-1] == picture


@pytest.mark.parametrize("reason", ["MAX_TOKENS", "SAFETY", "PROHIBITED_CONTENT", "NEW_REASON"])
def test_half_a_secret_is_dropped_where_the_answer_is_cut_off(reason: str) -> None:
    assert texts(guarded([chunk(f"key {TOKEN[:20]}", reason=reason)])) == {(0, False): "key "}
    assert texts(guarded([chunk(f"key {TOKEN[:20]}", reason="STOP")])) == {(0, False): f"key {TOKEN[:20]}"}


def test_a_stream_that_breaks_off_shows_nothing_undecided() -> None:
    chunks = [chunk("a. "), chunk(f"key {TOKEN[:20]}"), chunk("a <", index=1)]
    shown = guarded(chunks)
    assert not leaks(shown)
    assert texts(shown) == {(0, False): "a. key ", (1, False): "a <"}

    def broken() -> Any:
        yield from chunks
        raise OSError("gone")

    seen: list[Chunk] = []
    with pytest.raises(OSError, match="gone"):
        seen.extend(guard_stream(broken(), GUARD))
    assert not leaks(seen)
    assert texts(seen)[0, False] == "a. key "


def test_what_is_decided_comes_out_of_a_stream_without_a_finish_reason() -> None:
    trimmer = PreambleTrimmer(when="tool_call")
    chunks = [chunk("It is 5. Let me check the weather now.", groundingMetadata={"webSearchQueries": ["q"]})]
    shown = guarded(chunks, trimmer)
    assert texts(shown) == texts(chunks)
    assert len(shown) == 2
    assert set(shown[1]) == {"candidates", "responseId"}
    assert set(shown[1]["candidates"][0]) == {"content", "index"}


def test_what_repeats_the_answer_is_left_only_with_an_unchanged_answer() -> None:
    support = {"groundingSupports": [{"segment": {"text": "kanarievogel", "endIndex": 9}}]}
    logprobs = {"chosenCandidates": [{"token": "kanarie"}]}
    extra = {"groundingMetadata": {**support, "webSearchQueries": ["q"]}, "logprobsResult": logprobs}
    shown = guarded([chunk(CANARY, reason="STOP", **extra)])
    assert not leaks(shown)
    assert shown[0]["candidates"][0]["groundingMetadata"] == {"webSearchQueries": ["q"]}
    kept = [chunk("a <", reason="STOP", **extra)]
    assert guarded(kept) == kept
    held = guarded([chunk("<think>kanarie", **extra), chunk("</think>", reason="STOP")])
    assert not leaks(held)


def test_what_stands_beside_the_candidates_is_guarded() -> None:
    one = chunk(
        "a",
        reason="STOP",
        citationMetadata={"citations": [{"title": CANARY, "startIndex": 1}]},
        finishMessage=CANARY,
        brandNew=CANARY,
    )
    one["promptFeedback"] = {"blockReasonMessage": CANARY}
    one["sdkHttpResponse"] = {"headers": {"x": "y"}, "body": CANARY}
    one["parsed"] = {"q": CANARY, "name": CANARY, "data": CANARY}
    half = len(CANARY) // 2
    one["automaticFunctionCallingHistory"] = [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"text": "x " + CANARY[:half]}]},
        {"role": "model", "parts": [{"text": CANARY[half:]}, {"functionCall": {"args": {"q": CANARY}}}]},
        {"role": "user", "parts": [{"functionResponse": {"response": {"r": CANARY}}}]},
    ]
    (shown,) = guarded([one])
    assert not leaks(shown)
    assert shown["sdkHttpResponse"] == {"headers": {"x": "y"}}
    assert shown["automaticFunctionCallingHistory"][0] is one["automaticFunctionCallingHistory"][0]
    assert guarded([{**one, "sdkHttpResponse": {"headers": {}}}], Pipeline()) == [
        {**one, "sdkHttpResponse": {"headers": {}}}
    ]


def test_a_whole_response_says_what_its_stream_says() -> None:
    parts = [thought("so " + CANARY), "a ", CANARY[:9], CANARY[9:], {"functionCall": {"args": {"q": CANARY}}}]
    whole = chunk(*parts, reason="STOP")
    before = copy.deepcopy(whole)
    shown = guard_response(whole, GUARD)
    assert whole == before
    assert not leaks(shown)
    assert texts([shown]) == {
        (0, True): GUARD.scrub("so " + CANARY),
        (0, False): GUARD.scrub("a " + CANARY),
    }
    assert guard_response(whole, Pipeline()) is whole
    assert texts([guard_response(chunk("a <"), THINK)]) == {(0, False): "a <"}
    cut_off = guard_response(chunk(f"key {TOKEN[:20]}", reason="MAX_TOKENS"), GUARD)
    assert texts([cut_off]) == {(0, False): "key "}


def test_findings_name_their_lane_and_objects_of_any_class_do() -> None:
    found: list[Finding] = []
    part = SimpleNamespace(text=f"a {TOKEN} b", thought=None)
    content = SimpleNamespace(parts=[part], role="model")
    candidate = SimpleNamespace(content=content, index=0, finish_reason="STOP")
    one = SimpleNamespace(candidates=[candidate], response_id="r")
    (shown,) = guard_stream([one], GUARD, on_finding=found.append)
    assert TOKEN in part.text
    assert TOKEN not in shown.candidates[0].content.parts[0].text
    assert [finding.lane for finding in found] == [(0, "text")]  # type: ignore[attr-defined]


def _merged(chunks: list[Chunk]) -> list[Any]:
    """The parts of all chunks, neighbouring texts of one kind joined, empty ones left out."""
    merged: list[Any] = []
    for one in chunks:
        for part in one["candidates"][0]["content"]["parts"]:
            if "text" not in part:
                merged.append(part)
            elif part["text"]:
                kind = part.get("thought", False)
                if merged and "text" in merged[-1] and merged[-1].get("thought", False) == kind:
                    merged[-1] = {**merged[-1], "text": merged[-1]["text"] + part["text"]}
                else:
                    merged.append(part)
    return merged


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("guard", [GUARD, PreambleTrimmer() | GUARD], ids=["guard", "trimmer"])
def test_every_cut_into_parts_and_chunks_comes_to_the_same(seed: int, guard: Any) -> None:
    random = Random(seed)
    words = [CANARY, "a <", "b. ", "<thi", "Let me check the weather now.", "key ghp_Zz9Yy8Xx", "nk>", " é "]
    parts: list[Any] = []
    for _ in range(random.randrange(1, 8)):
        text = "".join(random.choices(words, k=3))
        call = {"functionCall": {"name": "f", "args": {"q": CANARY}}}
        parts.append(random.choice([{"text": text}, {"text": text}, call]))
        if random.random() < 0.3:
            parts.insert(0, thought(text))
    whole = _merged([guard_response(chunk(*parts, reason="STOP"), guard)])
    assert not leaks(whole)
    for _ in range(5):
        pieces: list[Any] = []
        for part in parts:
            rest = part.get("text")
            while rest:
                size = random.randrange(1, 12)
                pieces.append({**part, "text": rest[:size]})
                rest = rest[size:]
            if rest is None:
                pieces.append(part)
        chunks: list[Chunk] = []
        while pieces:
            size = random.choice([1, 1, 2, 5])
            chunks.append(chunk(*pieces[:size]))
            pieces = pieces[size:]
        every = random.random() < 0.3
        for one in chunks if every else chunks[-1:]:
            one["candidates"][0]["finishReason"] = "STOP"
        assert _merged(guarded(chunks, guard)) == whole


def test_what_is_no_stream_and_unknown_policies_are_refused() -> None:
    with pytest.raises(TypeError, match="needs a stream"):
        guard_stream(3, GUARD)
    with pytest.raises(ValueError, match="is one of guard, keep, drop"):
        GenerateContentAdapter(GUARD, reasoning="dorp")  # type: ignore[arg-type]


def test_unknown_fields_beside_the_text_are_guarded_wherever_they_stand() -> None:
    secret = "<think>hidden</think>"
    content = {"role": "model", "parts": [{"text": "hi", "more": secret}], "note": secret}
    chunk = {"candidates": [{"index": 0, "content": content, "extra": {"a": [secret]}}], "other": secret}
    for shown in (guard_response(chunk, GUARD), *guarded([chunk])):
        assert "hidden" not in str(shown)
        if shown["candidates"][0]["content"]["parts"][0]["text"] == "hi":
            assert shown["candidates"][0]["content"]["note"] == ""
            assert shown["other"] == ""
