"""The phrases of all languages as one automaton, read from the beginning of a sentence.

To a phrase the end of its sentence is a line break, whatever ends it: so the end of the text
decides nothing that a line break there would have decided otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from streamguard.automaton import Node, parse, width
from streamguard.automaton.anchors import members
from streamguard.automaton.nfa import Nfa
from streamguard.automaton.nodes import Alternation, CharSet, Concat, LookAhead, Repeat
from streamguard.preamble.phrases import Phrases, en, zh
from streamguard.session import PatternError

__all__ = ["LANGUAGES", "LEAD", "Grammar", "Verdict", "choose", "spell"]

LANGUAGES = {"en": en.PHRASES, "zh": zh.PHRASES}
LEAD = -1
"""What `Grammar.ended` says of a lead."""

OWN = "custom"
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
        refuted: whether only a phrase of the caller's can make it a preamble.
    """

    threads: frozenset[int]
    behind: int = 1
    rule: int = -1
    lead: bool = False
    refuted: bool = False


class Grammar:
    """The compiled phrases.

    The rules of the automaton are, in order: the beginnings of each language, those of the caller,
    the leads, the exceptions, which may begin anywhere in a sentence.

    Attributes:
        names: the names of the rules that trim, for findings and bounds.
        own: the rule of the caller's phrases. It is not refuted: whoever wrote it knows.
        longest: most characters in which a phrase is complete.
    """

    def __init__(self, languages: tuple[str, ...], phrases: tuple[str, ...]) -> None:
        chosen = choose(languages)
        before = [spell(one.interjections) for one in chosen]
        interjections = Repeat(Alternation(tuple(before)), 0, _MOST_INTERJECTIONS)
        beginnings: list[Node] = [Alternation(tuple(map(spell, one.beginnings))) for one in chosen]
        if phrases:
            beginnings.append(Alternation(tuple(map(_own, phrases))))
        self.names = (*languages, OWN) if phrases else languages
        self.own = len(languages)
        self.longest = 0
        self.nfa = nfa = Nfa()
        for rule, beginning in enumerate(beginnings):
            sentence = Concat((interjections, beginning)) if before else beginning
            self.longest = max(self.longest, width(sentence) or 0)
            nfa.add_rule(rule, None, sentence)
        self._lead = self.own + 1
        for one in chosen:
            nfa.add_rule(self._lead, None, spell(one.leads))
        self.start = Verdict(frozenset(nfa.initial))
        self._exception = self._lead + 1
        for one in chosen:
            for exception in one.exceptions:
                nfa.add_rule(self._exception, None, spell(exception))
        self._anywhere = frozenset(nfa.initial) - self.start.threads
        self._end = nfa.classify("\n")
        self._readings: dict[tuple[Verdict, int], Verdict | None] = {}

    def classify(self, char: str) -> int:
        """The class of a character, for `read`."""
        return self.nfa.classify(char)

    def read(self, verdict: Verdict, mask: int) -> Verdict | None:
        """Read a character of class `mask`; `None` if the sentence cannot be a preamble any more."""
        key = (verdict, mask)
        found = self._readings.get(key, self.start)
        if found is self.start:  # which nothing leads back to
            if len(self._readings) >= _MOST_READINGS:
                self._readings.clear()
            found = self._readings[key] = self._read(verdict, mask)
        return found

    def refute(self, verdict: Verdict) -> Verdict | None:
        """The verdict once the sentence says something to the reader: only the caller's phrases are left."""
        if verdict.rule == self.own:
            return verdict
        own = frozenset(thread for thread in verdict.threads if self.nfa.rule[thread] == self.own)
        return Verdict(own, verdict.behind, refuted=True) if own else None

    def ended(self, verdict: Verdict) -> int | None:
        """The rule of a sentence that has ended, `LEAD` if it is a lead, `None` if it is neither."""
        accepts = self.nfa.closure(self._searched(verdict), verdict.behind, self._end).accepts
        if verdict.rule == self.own or self.own in accepts:
            return self.own
        if verdict.refuted or self._exception in accepts:
            return None
        rule = self._first(verdict.rule, accepts)
        return rule if rule >= 0 else LEAD if self._lead in accepts else None

    def _read(self, verdict: Verdict, mask: int) -> Verdict | None:
        nfa = self.nfa
        closure = nfa.closure(self._searched(verdict), verdict.behind, mask)
        behind = nfa.step_behind(verdict.behind, mask)
        threads = nfa.read(closure.consuming, mask)
        accepts = closure.accepts + nfa.closure(threads, behind, None).accepts
        if verdict.rule == self.own or self.own in accepts:
            return Verdict(frozenset(), rule=self.own)
        rule = self._first(verdict.rule, accepts)
        following = Verdict(frozenset(threads), behind, rule)
        if verdict.refuted or self._exception in accepts:
            return self.refute(following)
        rules = {nfa.rule[thread] for thread in threads}
        if rule >= 0:
            needed = {self.own, self._exception}
            return following._replace(threads=frozenset(t for t in threads if nfa.rule[t] in needed))
        first = min(rules, default=self._exception)
        return None if first == self._exception else following._replace(lead=first == self._lead)

    def _searched(self, verdict: Verdict) -> frozenset[int]:
        """The threads of a verdict, with those of the exceptions that may begin here."""
        if verdict.refuted or verdict.rule == self.own:
            return verdict.threads
        return verdict.threads | self._anywhere

    def _first(self, rule: int, accepts: tuple[int, ...]) -> int:
        """The rule of the language whose phrase was complete first, or -1."""
        return rule if rule >= 0 else min((one for one in accepts if one < self.own), default=-1)
