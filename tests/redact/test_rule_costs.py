"""No rule can be made slow: texts made out of each rule itself, counted and never timed.

Work is the number of characters the automaton reads, those it reads again included, the
states it makes on the way and the characters its checks are given; of the text that makes
most of it the lines of Python that run as well, since work may hide between two characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

import pytest

from streamguard import PII, SECRETS, Redactor
from streamguard.automaton import Matcher, Node, State, Tail, parse
from streamguard.automaton.nodes import Alternation, CharSet, Concat, Repeat
from streamguard.redact import Rule
from streamguard.redact.compiled import compiled as _compile
from streamguard.session import Finding
from streamguard.testing import check_linear

pytestmark = pytest.mark.exhaustive

RULES = (*SECRETS, *PII)
SHORT, LONG = 1_200, 4_800
READS = 2
"""Most times a character is read: when it comes, and when a value before it has ended; 1.3 on average."""
CHECKED = 2
"""Most characters the checks of a rule are given, for each character of the text."""
PERIOD = 1_000
"""Most characters after which a text repeats itself."""


@dataclass
class Work:
    """What has been done so far."""

    reads: int = 0
    states: int = 0
    checked: int = 0


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    done = Work()
    move, get = Matcher.move, dict.__getitem__

    def read(self: dict[str, object], char: str) -> object:
        done.reads += 1
        return get(self, char)

    def moved(self: Matcher, *arguments: object) -> object:
        done.states += 1
        return move(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(State, "__getitem__", read)
    monkeypatch.setattr(Tail, "__getitem__", read)
    monkeypatch.setattr(Matcher, "move", moved)
    return done


def counted(rule: Rule, work: Work) -> Rule:
    """The rule, with a check before its own that counts what the checks are given."""

    def count(value: str) -> bool:
        work.checked += len(value)
        return True

    return replace(rule, checks=(count, *rule.checks)) if rule.checks else rule


# -- texts --------------------------------------------------------------------------


def sets_of(node: Node) -> Iterator[CharSet]:
    """The sets of characters a pattern reads."""
    if isinstance(node, CharSet):
        yield node
    elif isinstance(node, Repeat):
        yield from sets_of(node.node)
    elif isinstance(node, Concat | Alternation):
        parts = node.parts if isinstance(node, Concat) else node.branches
        yield from chain.from_iterable(map(sets_of, parts))


def characters(pattern: str) -> list[str]:
    """Of every set of characters that a pattern reads and that is not just one: a letter, a digit, a sign."""
    chosen: dict[str, None] = {}
    for one in dict.fromkeys(sets_of(parse(pattern))) if pattern else ():
        members = list(filter(re.compile(one.source, one.flags).fullmatch, map(chr, range(1, 127))))
        if len(members) > 2 or members == [" "]:
            for kind in (str.isalpha, str.isdigit, lambda char: not char.isalnum()):
                chosen.update(dict.fromkeys(list(filter(kind, members))[-1:]))
    return list(chosen)[:8]


def cycled(*parts: str) -> Callable[[int], str]:
    """The parts repeated; all but the last come once."""
    *once, again = parts
    head = "".join(once)
    return lambda size: (head + again * (size // len(again) + 1))[:size]


def every_beginning(text: str) -> str:
    """A text cut at every place, one piece after the other; a long one at as many as there is room for."""
    step = max(1, len(text) * len(text) // (2 * PERIOD))
    return "".join(text[:at] for at in range(1, len(text) + 1, step))


def adversaries(rule: Rule) -> dict[str, Callable[[int], str]]:
    """Texts of any length that come near the rule again and again, or go on without an end."""
    derived = _compile((rule,), 256).prefilter.derived[0]
    anchors = sorted(rule.anchors or (derived.strings if derived else ()))[:8]
    found: dict[str, Callable[[int], str]] = {}
    if anchors:
        found["anchors"] = cycled("".join(anchors))
        found["anchors, apart"] = cycled(" ".join(anchors) + "\n")
    for number, text in enumerate(rule.examples[:2]):
        findings: list[Finding] = []
        Redactor((rule,)).scrub(text, on_finding=findings.append)
        assert findings, "an example in which the rule finds nothing"
        start = findings[0].offset
        value = text[start : start + findings[0].length]
        head = text[max(0, start - 200) : start]
        half = value[: len(value) // 2]
        found[f"example {number}"] = cycled((head + value)[:PERIOD])
        found[f"beginnings of example {number}"] = cycled(every_beginning((head + value)[:PERIOD]))
        found[f"beginnings of value {number}"] = cycled(head, every_beginning(value[:PERIOD]))
        found[f"halves of example {number}"] = cycled(head + half)
        found[f"value {number} without an end"] = cycled(head, value)
        if number:
            continue
        found["nested"] = cycled(head * 9 + value[:3] * 9)
        if head:
            found["context"] = cycled(head)
        for char in characters(rule.value):
            found[f"value and {char!r}"] = cycled(head, value, char)
            found[f"beginning of a value and {char!r}"] = cycled(head, value[:6], char)
        for char in characters(rule.context):
            found[f"only {char!r}"] = cycled(char)
            found[f"context and {char!r}"] = cycled(head, char)
            found[f"beginning of the context and {char!r}"] = cycled(head[:-1], char)
            found[f"contexts with {char!r}"] = cycled(head + char * 20)
    return found


# -- costs --------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_no_text_makes_a_rule_slow(rule: Rule, work: Work) -> None:
    texts = adversaries(rule)
    redactor = Redactor((counted(rule, work),))
    (bound,) = redactor.bounds()
    worst, most = "", -1
    for name, make in texts.items():
        work.reads = work.checked = 0
        session = redactor.session()
        for char in make(SHORT):
            session.feed(char)
            assert session.pending <= bound.characters, name
        session.flush()
        made = work.states
        session = redactor.session()
        session.feed(make(LONG))
        assert session.pending <= bound.characters, name
        session.flush()
        assert SHORT <= work.reads <= READS * (SHORT + LONG) + 600, name
        assert work.checked <= CHECKED * (SHORT + LONG), name
        # What comes after the first periods of a text leads to states that are known.
        assert work.states - made <= LONG / 4, name
        if work.reads + work.checked > most:
            worst, most = name, work.reads + work.checked
    # A low limit is reached early in the shorter text too; each has every part of its period at least twice.
    check_linear(Redactor((rule,), limit=32), texts[worst], (2 * PERIOD, 4 * PERIOD))
