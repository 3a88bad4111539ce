"""The phrases of all languages as one automaton, read from the beginning of a sentence.

The rules of the automaton are, in order: the beginnings of preambles, one rule a language
and one for the caller's own; the leads; the exceptions, which may begin anywhere. To a phrase the
end of its sentence is a line break, whatever ends it: so the end of the text decides
nothing that a line break there would have decided otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from streamguard.automaton import Node, parse
from streamguard.automaton.nfa import Nfa
from streamguard.automaton.pattern import Alternation, CharSet, Concat, LookAhead, Repeat
from streamguard.automaton.prefilter import members, width
from streamguard.preamble.phrases import Phrases, en, zh
from streamguard.session import PatternError

__all__ = ["LANGUAGES", "LEAD", "Grammar", "Verdict", "choose", "spell"]

LANGUAGES = {"en": en.PHRASES, "zh": zh.PHRASES}
LEAD = -1
"""What `Grammar.ended` says of a lead."""

CUSTOM = "custom"
_MOST_INTERJECTIONS = 2
_LONGEST_PHRASE = 100
_MOST_READINGS = 20_000
_NEVER = frozenset('"“”„‘「」『』«»`?？*.!…。！｡\n\r')
"""Characters that a preamble does not contain, or that end it."""


def choose(languages: tuple[str, ...]) -> list[Phrases]:
    """The phrases of the named languages.

    Raises:
        ValueError: there are none for a language; the message lists those there are.
    """
    for language in languages:
        if language not in LANGUAGES:
            known = ", ".join(map(repr, LANGUAGES))
            raise ValueError(f"no phrases for the language {language!r}; there are {known}")
    return [LANGUAGES[language] for language in languages]


@cache
def spell(pattern: str) -> Node:
    """Read a shipped pattern; `Phrases` says how it is spelled."""
    return parse(pattern.replace(" ", r"(?:[ \t\u00a0]{1,2})").replace("'", "['’]"), re.IGNORECASE)


def _own(pattern: str) -> Node:
    """Read a caller's phrase, and refuse what could be held but never be trimmed."""
    node = parse(pattern, re.IGNORECASE)
    longest = width(node)
    if longest is None or longest > _LONGEST_PHRASE:
        raise PatternError(
            f"a phrase is the beginning of a sentence, up to {_LONGEST_PHRASE} characters: bound its repeats"
        )
    for part in _parts(node):
        if isinstance(part, LookAhead) and part.end and not part.sets and not part.negated:
            raise PatternError(
                "a phrase is the beginning of a sentence: it cannot ask for the end of the text"
            )
        if isinstance(part, CharSet):
            known = members(part)
            if known is not None and known <= _NEVER:
                raise PatternError(
                    "a phrase is the beginning of one sentence, so quotation marks, backticks, asterisks, "
                    "question marks, line breaks and what ends a sentence cannot be in it"
                )
    return node


def _parts(node: Node) -> Iterator[Node]:
    yield node
    if isinstance(node, Alternation):
        for branch in node.branches:
            yield from _parts(branch)
    elif isinstance(node, Concat):
        for part in node.parts:
            yield from _parts(part)
    elif isinstance(node, Repeat):
        yield from _parts(node.node)


class Verdict(NamedTuple):
    """What a sentence is, as far as it has been read.

    Attributes:
        threads: where the phrases that may still be in it are.
        behind: what stands before, for look-behinds.
        rule: the rule it begins with, or -1 while that is open.
        lead: whether it can only be a lead: no phrase is possible any more.
        behind_phrase: whether the last character stands behind the phrase it begins with.
    """

    threads: frozenset[int]
    behind: int = 1
    rule: int = -1
    lead: bool = False
    behind_phrase: bool = False


class Grammar:
    """The compiled phrases.

    Attributes:
        names: of the rules that phrases belong to, for findings and bounds.
        longest: most characters in which a phrase is complete.
    """

    def __init__(self, languages: tuple[str, ...], phrases: tuple[str, ...]) -> None:
        chosen = choose(languages)
        before = [spell(one.interjections) for one in chosen]
        beginnings: list[Node] = [Alternation(tuple(map(spell, one.beginnings))) for one in chosen]
        self.names = [*languages]
        if phrases:
            beginnings.append(Alternation(tuple(map(_own, phrases))))
            self.names.append(CUSTOM)
        self.nfa = nfa = Nfa()
        interjections = Repeat(Alternation(tuple(before)), 0, _MOST_INTERJECTIONS)
        self.longest = 0
        for rule, beginning in enumerate(beginnings):
            sentence = Concat((interjections, beginning)) if before else beginning
            self.longest = max(self.longest, width(sentence) or 0)
            nfa.add_rule(rule, None, sentence)
        self._lead = len(beginnings)
        self._exception = self._lead + 1
        for one in chosen:
            nfa.add_rule(self._lead, None, spell(one.leads))
        initial = list(nfa.initial)
        exceptions = [spell(pattern) for one in chosen for pattern in one.exceptions]
        for node in exceptions:
            nfa.add_rule(self._exception, None, node)
        self._anywhere = frozenset(nfa.initial[len(initial) :])
        self.start = Verdict(frozenset(initial))
        self._end = nfa.classify("\n")
        self._readings: dict[tuple[Verdict, int], Verdict | None] = {}

    def classify(self, char: str) -> int:
        """The class of a character, for `read`."""
        return self.nfa.classify(char)

    def read(self, verdict: Verdict, mask: int) -> Verdict | None:
        """Read a character of class `mask`; `None` if the sentence cannot be a preamble any more."""
        key = (verdict, mask)
        if key in self._readings:
            return self._readings[key]
        if len(self._readings) >= _MOST_READINGS:
            self._readings.clear()
        found = self._readings[key] = self._read(verdict, mask)
        return found

    def ended(self, verdict: Verdict) -> int | None:
        """The rule of a sentence that has ended, `LEAD` if it is a lead, `None` if it is neither."""
        accepts = self.nfa.closure(verdict.threads | self._anywhere, verdict.behind, self._end).accepts
        if self._exception in accepts:
            return None
        rule = self._phrase(verdict.rule, accepts)
        return rule if rule >= 0 else LEAD if self._lead in accepts else None

    def _read(self, verdict: Verdict, mask: int) -> Verdict | None:
        nfa = self.nfa
        closure = nfa.closure(verdict.threads | self._anywhere, verdict.behind, mask)
        behind = nfa.step_behind(verdict.behind, mask)
        threads = nfa.read(closure.consuming, mask)
        following = nfa.closure(threads, behind, None)
        if self._exception in closure.accepts or self._exception in following.accepts:
            return None
        complete = self._phrase(verdict.rule, closure.accepts)
        rule = self._phrase(complete, following.accepts)
        if rule >= 0:
            exceptions = frozenset(thread for thread in threads if nfa.rule[thread] == self._exception)
            return Verdict(exceptions, behind, rule, behind_phrase=complete >= 0)
        first = min((nfa.rule[thread] for thread in threads), default=self._exception)
        if first == self._exception:
            return None
        return Verdict(frozenset(threads), behind, rule, lead=first == self._lead)

    def _phrase(self, rule: int, accepts: tuple[int, ...]) -> int:
        """The rule the sentence begins with: the first that was complete, then the first in order."""
        return rule if rule >= 0 else min((one for one in accepts if one < self._lead), default=-1)
