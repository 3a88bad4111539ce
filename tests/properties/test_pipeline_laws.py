"""The laws of pipelines: random chains of one to four stages, on texts that several of them act on.

Minimal hold-back and idempotence are laws of a stage: the order of the stages matters, and
docs/design.md says why.
"""

from __future__ import annotations

from functools import reduce
from operator import or_

from hypothesis import given
from hypothesis import strategies as st

from streamguard import (
    End,
    Fence,
    FenceScrubber,
    LimitExceededError,
    PreambleTrimmer,
    Redactor,
    Rule,
    ScaffoldScrubber,
    StateOpScrubber,
    Transformer,
    presets,
)
from streamguard.testing import Law, check_transformer, texts

LAWS = (Law.USED_ONCE, Law.CHUNK_INVARIANCE, Law.PREFIX_SAFETY, Law.FRESHNESS, Law.FAIL_CLOSED)

STAGES: list[Transformer] = [
    FenceScrubber("t"),
    FenceScrubber("t", Fence("[[", "]]"), where="line_start", trim="lines", code=True),
    FenceScrubber("t", unclosed="keep", max_block=9, on_limit="release", escaped=True),
    FenceScrubber("t", max_block=5, on_limit="raise", start_inside="t"),
    Redactor(),
    Redactor([Rule("a", "ab+"), Rule("b", "[0-9a-f]{4}"), Rule("c", "x{2,}", context="k=")], limit=16),
    PreambleTrimmer(),
    PreambleTrimmer("tool_call", opening=True, phrases=("go on",)),
    StateOpScrubber(),
    StateOpScrubber(max_candidate=9, max_restore=8),
    ScaffoldScrubber(extra_headers=("Lore",)),
    ScaffoldScrubber(max_line=12, max_restore=0),
]
FRAGMENTS = [
    *("<t>", "</t>", "<t", ">", "<", "[[", "]]", "&lt;t>", "`", "```\n", "```json\n", "\n", "\n\n", " ", "a"),
    *(
        "[REDACTED:",
        "[REDACTED:a:0000abcd]",
        "sk-proj-",
        "aB3dE5fG7h" * 4,
        "password=",
        "ab",
        "b",
        "f00",
        "k=",
    ),
    *(
        "xx",
        "Let me ",
        "update the notes",
        ". ",
        "Sure! ",
        "Here is it: ",
        "go on.",
        "“",
        "让我更新记录",
        "。",
    ),
    *(
        '{"op":',
        '{"op":1}',
        "1}",
        "[",
        "]",
        "{",
        '"',
        "=== 世界设定 ===\n",
        "===",
        "Lore",
        "开始输出\n",
        "The sea. ",
    ),
]
pipelines = st.lists(st.sampled_from(STAGES), min_size=1, max_size=4).map(lambda stages: reduce(or_, stages))
few = st.lists(st.sampled_from(FRAGMENTS), min_size=2, max_size=6, unique=True)
colliding = few.flatmap(lambda chosen: texts(chosen, max_fragments=8))
further = st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=3, unique=True)
ends = st.sampled_from(End)


def keeps_the_laws(t: Transformer, text: str, letters: list[str], end: End) -> None:
    check_transformer(t, [text], laws=LAWS, alphabet=letters, ends=(end,), samples=1)
    most = sum(bound.characters for bound in t.bounds())
    # Nobody has to hear of a limit here: it ends the stream, and what is pending is gone.
    session = t.session()
    for char in text:
        try:
            session.feed(char)
        except LimitExceededError:
            return
        assert 0 <= session.pending <= most


@given(pipelines, colliding, further, ends)
def test_random_pipelines(t: Transformer, text: str, letters: list[str], end: End) -> None:
    keeps_the_laws(t, text, letters, end)


@given(st.sampled_from([(), ("Lore",)]), colliding, further, ends)
def test_the_preset_for_role_play(headers: tuple[str, ...], text: str, letters: list[str], end: End) -> None:
    keeps_the_laws(presets.roleplay(extra_headers=headers), text, letters, end)
