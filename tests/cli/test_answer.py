from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

import pytest

from streamguard import End, Pipeline, Transformer
from streamguard.cli.answer import Answer, guard_recording
from streamguard.cli.exits import Failure
from streamguard.cli.recording import Delta, Ends, Lane, Step

MakeMask = Callable[[str, str], Transformer]

TEXT, REASONING = Lane(0, "text"), Lane(0, "reasoning")


def show(guard: Transformer, steps: Iterable[Step], *, reasoning: bool = False) -> list[str]:
    """What comes out for each step, and at the end."""
    answer = Answer(guard, reasoning=reasoning, on_finding=lambda _: None)
    return ["".join(answer.take(step)) for step in steps] + ["".join(answer.finish())]


def sse(*events: Mapping[str, object]) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def run(data: bytes, guard: Transformer, *, reasoning: bool = False, provider: str = "auto") -> str:
    return b"".join(
        guard_recording(
            [data],
            guard,
            "sse",
            provider=provider,
            reasoning=reasoning,
            name="recording",
            on_finding=lambda _: None,
            on_broken=lambda: None,
        )
    ).decode()


def test_a_lane_streams_and_its_tail_comes_with_its_end(mask: MakeMask) -> None:
    steps = [Delta(TEXT, "my SEC"), Delta(TEXT, "RET, SEC"), Ends(0, End.COMPLETE), Ends(0, End.COMPLETE)]
    assert show(mask("SECRET", "*"), steps) == ["my ", "*, ", "SEC", "", ""]


def test_choices_never_share_a_session_and_come_one_after_the_other(mask: MakeMask) -> None:
    other = Lane(1, "text")
    steps = [
        Delta(TEXT, "a SEC"),
        Delta(other, "RET SEC"),
        Delta(TEXT, "x"),
        Delta(other, "RET"),
        Ends(0, End.COMPLETE),
        Ends(1, End.COMPLETE),
    ]
    assert show(mask("SECRET", "*"), steps) == ["a ", "", "SECx", "", "\n\nRET *", "", ""]


def test_reasoning_is_left_out_unless_asked_for_and_never_joined_to_the_answer(mask: MakeMask) -> None:
    steps = [Delta(REASONING, "hm SEC"), Delta(TEXT, ""), Delta(TEXT, "RET"), Ends(0, End.COMPLETE)]
    assert show(mask("SECRET", "*"), steps) == ["", "", "RET", "", ""]
    assert show(mask("SECRET", "*"), steps, reasoning=True) == ["hm ", "", "SEC\n\nRET", "", ""]


def test_reasoning_that_ends_a_line_is_not_moved_further_from_the_answer() -> None:
    assert show(Pipeline(), [Delta(REASONING, "hm.\n"), Delta(TEXT, "Yes.")], reasoning=True) == [
        "hm.\n",
        "\nYes.",
        "",
    ]


def test_blocks_of_one_answer_are_joined_as_they_are() -> None:
    steps: list[Step] = [
        Delta(Lane(0, "text", "0"), "It is "),
        Ends(None, End.COMPLETE),
        Delta(Lane(0, "text", "1"), "sunny."),
    ]
    assert "".join(show(Pipeline(), steps)) == "It is sunny."


def test_a_recording_cut_off_shows_no_half_secret(mask: MakeMask) -> None:
    assert show(mask("SECRET", "*"), [Delta(TEXT, "my SECRE")]) == ["my ", ""]
    assert show(mask("SECRET", "*"), [Delta(TEXT, "my SECRE"), Ends(None, End.ERROR)]) == ["my ", "", ""]


def test_a_reason_that_is_only_noted_counts_at_the_end(mask: MakeMask) -> None:
    for end, tail in ((End.COMPLETE, "SEC"), (End.TRUNCATED, "")):
        steps = [
            Delta(TEXT, "SEC"),
            Ends(0, end, now=False),
            Delta(TEXT, ""),
            Ends(0, End.COMPLETE, now=False),
        ]
        assert show(mask("SECRET", "*"), steps)[-1] == tail


def test_characters_cut_into_surrogates_are_put_together() -> None:
    assert show(Pipeline(), [Delta(TEXT, "\ud83d"), Delta(TEXT, "\ude42 \ud83d"), Ends(0, End.COMPLETE)]) == [
        "",
        "🙂 ",
        "\ufffd",
        "",
    ]


def test_bytes_that_were_not_utf8_come_out_as_they_went_in() -> None:
    data = b'data: {"choices": [{"delta": {"content": "a\xffb"}}]}\n\n'
    out = guard_recording(
        [data],
        Pipeline(),
        "sse",
        provider="auto",
        reasoning=False,
        name="x",
        on_finding=lambda _: None,
        on_broken=pytest.fail,
    )
    assert b"".join(out) == b"a\xffb"


@pytest.mark.parametrize("data", [b"", b"hello\n\nworld", sse({"a": 1}), b"data: [1]\n\n"])
def test_what_is_no_recording_of_a_provider_fails(data: bytes) -> None:
    with pytest.raises(Failure, match="recording: no event of any known provider in it"):
        run(data, Pipeline())


def test_the_named_provider_alone_is_read() -> None:
    data = sse({"choices": [{"delta": {"content": "a"}}]})
    assert run(data, Pipeline(), provider="openai-chat") == "a"
    with pytest.raises(Failure, match="recording: no event of gemini in it"):
        run(data, Pipeline(), provider="gemini")


def anthropic(*texts: Sequence[str]) -> bytes:
    """A message of text blocks, each given as its deltas."""
    events: list[Mapping[str, object]] = [{"type": "message_start", "message": {"content": []}}]
    for index, deltas in enumerate(texts):
        events.append(
            {
                "type": "content_block_start",
                "index": index,
                "content_block": {"type": "text", "text": ""},
            }
        )
        events += [
            {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": text}}
            for text in deltas
        ]
        events.append({"type": "content_block_stop", "index": index})
    events += [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop"}]
    return sse(*events)


def test_a_message_of_several_blocks(mask: MakeMask) -> None:
    data = anthropic(["The SEC", "RET is SEC"], ["RET."])
    assert run(data, mask("SECRET", "*")) == "The * is SECRET."
