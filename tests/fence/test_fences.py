from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError

import pytest

from streamguard import HARMONY, MEMORY, REASONING, TOOL_MARKUP, Fence, FenceScrubber, PatternError


def test_one_delimiter_or_several() -> None:
    assert Fence("[[", "]]").open == ("[[",)
    fence = Fence(["<a>", "<b>"], iter(["</a>", "</b>"]))
    assert fence.open == ("<a>", "<b>")
    assert fence.close == ("</a>", "</b>")


def test_a_fence_is_named_after_its_first_opener_or_as_it_is_told() -> None:
    assert Fence(["[[", "(("], "]]").name == "[["
    assert Fence("[[", "]]", name="note").name == "note"


def test_by_default_a_fence_nests_is_not_private_and_is_given_as_text() -> None:
    fence = Fence("[[", "]]")
    assert (fence.nests, fence.private, fence.patterns) == (True, False, False)


def test_equal_fences_are_one_key_and_no_field_is_left_out() -> None:
    fences = [
        Fence("a", "b"),
        Fence("A", "b"),
        Fence("a", "c"),
        Fence("a", "b", name="c"),
        Fence("a", "b", nests=False),
        Fence("a", "b", private=True),
        Fence("a", "b", patterns=True),
    ]
    assert len(set(fences)) == len(fences)
    assert {Fence("a", "b"): 1}[Fence(["a"], ("b",))] == 1


def test_a_fence_cannot_be_changed() -> None:
    fence = Fence("a", "b")
    with pytest.raises(FrozenInstanceError):
        fence.name = "c"  # type: ignore[misc]


@pytest.mark.parametrize("fence", [Fence("a", "b"), *HARMONY])
def test_a_fence_can_be_copied_and_pickled(fence: Fence) -> None:
    assert copy.deepcopy(fence) == fence
    assert pickle.loads(pickle.dumps(fence)) == fence  # noqa: S301 - our own


@pytest.mark.parametrize(("opener", "closer"), [("", "b"), ("a", ""), ([], "b"), ("a", []), (["a", ""], "b")])
def test_a_fence_needs_an_opener_and_a_closer(opener: str | list[str], closer: str | list[str]) -> None:
    with pytest.raises(PatternError, match="neither may be empty"):
        Fence(opener, closer)


@pytest.mark.parametrize(("opener", "closer"), [("a", "a"), (["a", "b"], ["c", "b"]), ("[T]", "[t]")])
def test_what_opens_cannot_close(opener: str | list[str], closer: str | list[str]) -> None:
    with pytest.raises(PatternError, match="the same text"):
        Fence(opener, closer)


@pytest.mark.parametrize("name", ["a", "think", "memory-context", "mm:think", "_x", "a.b", "思考", "É9"])
def test_names_of_tags(name: str) -> None:
    assert FenceScrubber(name).scrub(f"a<{name}>SEC</{name}>b") == "ab"


@pytest.mark.parametrize("name", ["<think>", "think>", "</think", "a b", "1a", "-a", "a\n", "a/", "a" * 65])
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(PatternError, match="by its name alone"):
        FenceScrubber(name)


def test_an_empty_name() -> None:
    with pytest.raises(PatternError, match="needs a name"):
        FenceScrubber("")


@pytest.mark.parametrize("preset", [MEMORY, REASONING, TOOL_MARKUP, HARMONY])
def test_every_fence_of_a_preset_hides_its_blocks(preset: tuple[str | Fence, ...]) -> None:
    guard = FenceScrubber(*preset)
    for fence in preset:
        if isinstance(fence, str):
            assert guard.scrub(f"a<{fence}>SEC</{fence}>b<{fence.upper()}>SEC</{fence.upper()}>c") == "abc"
        elif not fence.patterns:
            assert guard.scrub(f"a{fence.open[0]}SEC{fence.close[0]}b") == "ab"


def test_the_presets_go_together() -> None:
    guard = FenceScrubber(*MEMORY, *REASONING, *TOOL_MARKUP, *HARMONY)
    assert len(guard.fences) == sum(map(len, (MEMORY, REASONING, TOOL_MARKUP, HARMONY)))
    assert guard.scrub("<think>a</think>b[THINK]c[/THINK]d<tool_call>e</tool_call>f") == "bdf"


def test_memory_is_private_however_it_is_written() -> None:
    for name in ("memory-context", "Memory_Context"):
        assert FenceScrubber(name, unclosed="keep").scrub(f"a<{name}>SEC") == "a"


# -- Harmony ------------------------------------------------------------------------------

HARMONY_STREAMS = {
    "analysis and final": (
        (
            "<|channel|>analysis<|message|>SEC<|end|>"
            "<|start|>assistant<|channel|>final<|message|>2 + 2 = 4.<|return|>"
        ),
        "2 + 2 = 4.",
    ),
    "with the opening of the first message": (
        (
            "<|start|>assistant<|channel|>analysis<|message|>SEC<|end|>"
            "<|start|>assistant<|channel|>final<|message|>Hi<|return|>"
        ),
        "Hi",
    ),
    "a function call": (
        (
            "<|channel|>analysis<|message|>SEC<|end|>"
            "<|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>"
            '{"city": "SEC"}<|call|>'
        ),
        "",
    ),
    "a function call, recipient before the channel": (
        (
            "<|start|>assistant to=functions.get_weather<|channel|>commentary <|constrain|>json<|message|>"
            '{"city": "SEC"}<|call|>'
        ),
        "",
    ),
    "a content type without <|constrain|>": (
        (
            "<|channel|>analysis to=python code<|message|>SEC<|call|>"
            "<|start|>assistant<|channel|>commentary to=functions.f code<|message|>SEC<|call|>ok"
        ),
        "ok",
    ),
    "what a tool returned": (
        (
            "<|start|>functions.get_weather to=assistant<|channel|>commentary<|message|>SEC<|end|>"
            "<|start|>assistant<|channel|>final<|message|>Sunny<|return|>"
        ),
        "Sunny",
    ),
    "<|end|> is missing": (
        "<|channel|>analysis<|message|>SEC<|start|>assistant<|channel|>final<|message|>Hi<|return|>",
        "Hi",
    ),
    "<|end|> and <|start|> are missing": (
        "<|channel|>analysis<|message|>SEC<|channel|>final<|message|>Hi",
        "Hi",
    ),
    "<|end|> is missing before the next hidden message": (
        "<|channel|>analysis<|message|>SEC<|start|>assistant<|channel|>commentary<|message|>SEC<|end|>Hi",
        "Hi",
    ),
    "structured output": (
        '<|start|>assistant<|channel|>final <|constrain|>json<|message|>{"a": 1}<|return|>',
        '{"a": 1}',
    ),
    "a message without a channel": ("<|start|>assistant<|message|>Hi<|end|>", "Hi"),
    "two answers": (
        (
            "<|channel|>final<|message|>A<|end|><|start|>assistant<|channel|>analysis<|message|>SEC<|end|>"
            "<|start|>assistant<|channel|>final<|message|>B<|return|>"
        ),
        "AB",
    ),
    "cut off": ("<|channel|>analysis<|message|>SEC", ""),
    "cut off in a header": ("Hi<|channel|>analysis<|mess", "Hi<|channel|>analysis<|mess"),
    "a mention": (
        "Tokens such as <|channel|> and <|message|>.",
        "Tokens such as <|channel|> and <|message|>.",
    ),
}


@pytest.mark.parametrize("stream", HARMONY_STREAMS)
def test_harmony(stream: str) -> None:
    text, wanted = HARMONY_STREAMS[stream]
    guard = FenceScrubber(*HARMONY)
    assert guard.scrub(text) == wanted
    assert "".join(guard.transform_sync(text)) == wanted


def test_harmony_hands_the_hidden_channels_on() -> None:
    hidden: list[tuple[str, str]] = []
    text = "<|channel|>analysis<|message|>plan<|end|><|channel|>commentary to=f<|message|>{}<|call|>"
    FenceScrubber(*HARMONY).scrub(text, on_hidden=lambda name, piece: hidden.append((name, piece)))
    assert hidden == [("harmony", "plan"), ("harmony", "{}")]
