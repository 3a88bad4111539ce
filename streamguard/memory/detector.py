"""The state of one text that is looked through for threats.

A `Detector` is the redactor's session with two differences: what is quoted is less grave,
and what is not grave enough stays and is told all the same. Whether a place is quoted is
read from the text as it comes out: what is replaced counts as one word, so that looking
through the result a second time comes to the same places.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from streamguard.automaton import Decision, Matcher, Scan
from streamguard.memory.hidden import HIDDEN
from streamguard.memory.quoting import Quoting
from streamguard.memory.threat import Scope, Severity, Threat
from streamguard.memory.threats import THREATS
from streamguard.redact import Rule, placeholder
from streamguard.redact.compiled import compiled
from streamguard.redact.session import RedactorSession, Value
from streamguard.session import End, Finding, Session

__all__ = ["LIMIT", "STAGE", "Acting", "Kind", "OnMatch", "Watching", "kinds"]

STAGE = "injection"
LIMIT = 1024
"""Characters after which an undecided match counts as one: more than any sentence has."""

OnMatch = Callable[[Finding, Severity, bool], None]
"""Receives what was found, how grave it is there, and whether it is quoted."""


@dataclass(frozen=True, slots=True)
class Kind:
    """The threats that are looked for in one reading of the text; what a redactor's session asks for.

    Attributes:
        threats: in order of priority.
        obfuscated: whether the text is read as a reader sees it.
        blocking: the names of those that end the stream.
        quoting: whether it matters what is quoted.
    """

    threats: tuple[Threat, ...]
    obfuscated: bool
    blocking: frozenset[str]
    quoting: bool
    key: None = None
    placeholder: None = None
    allowed: None = None

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of the threats."""
        return tuple(threat.rule for threat in self.threats)

    @property
    def matcher(self) -> Matcher:
        """What finds them; shared."""
        return compiled(self.rules, LIMIT, obfuscated=self.obfuscated)


@lru_cache(maxsize=8)
def kinds(scope: Scope, *, rejects: bool) -> tuple[Kind, Kind]:
    """What is looked for in the text as it is seen, and in the text as it is."""
    sentences = tuple(threat for threat in THREATS if scope in threat.scopes)
    hidden = tuple(threat for threat in HIDDEN if scope in threat.scopes)

    def names(threats: tuple[Threat, ...]) -> frozenset[str]:
        return frozenset(threat.rule.id for threat in threats if rejects)

    return (
        Kind(sentences, obfuscated=True, blocking=names(sentences), quoting=scope == "context"),
        Kind(hidden, obfuscated=False, blocking=names(hidden), quoting=False),
    )


class Detector(RedactorSession):
    """Finds and replaces the threats of one kind."""

    __slots__ = ("_kind", "_least", "_on_match", "_quoting", "_read", "_taken")
    stage: ClassVar[str] = STAGE

    def __init__(self, kind: Kind, least: Severity, on_match: OnMatch) -> None:
        super().__init__(kind, kind.matcher, None, self._found)
        self._kind = kind
        self._least = least
        self._on_match = on_match
        self._quoting = Quoting() if kind.quoting else None
        self._read = 0  # how far the text was read for quotations, in characters of the input
        self._taken = (Severity.HIGH, False)

    @property
    def reached(self) -> int:
        """How much of the input is decided, in characters."""
        return self._offset

    def _found(self, finding: Finding) -> None:
        self._on_match(finding, *self._taken)

    def _feed(self, text: str, /) -> str:
        if self._quoting is None:
            return super()._feed(text)
        data, base = self._held + text, self._offset
        shown = super()._feed(text)
        if self._value is None:
            self._quoting.read(data[max(self._read - base, 0) : self._offset - base])
        self._read = self._offset
        return shown

    def _flush(self, end: End, /) -> str:
        return super()._flush(
            End.COMPLETE
        )  # half a sentence is no threat: it is shown, however the text ends

    def _choose(self, scan: Scan, decision: Decision) -> tuple[int, int] | None:
        rule, back = decision.matches[0]
        start, end = scan.at - decision.age, scan.at - back
        threat = self._kind.threats[rule]
        quoted = False
        if self._quoting is not None:
            self._quoting.read(scan.data[self._read - self._offset : start])
            self._read = self._offset + start
            quoted = self._quoting.is_quoted()
        severity = Severity.LOW if quoted and threat.quotable else threat.severity
        if severity < self._least:
            finding = Finding(STAGE, threat.rule.id, "flagged", self._offset + start, end - start)
            self._on_match(finding, severity, quoted)
            return None
        self._taken = severity, quoted
        return rule, end

    def _replace(self, scan: Scan, out: list[str], value: Value, end: int) -> int:
        if self._quoting is not None:
            self._quoting.pass_over()
            self._read = self._offset + end
        return super()._replace(scan, out, value, end)


class Watching(Session):
    """Tells what is found, and lets everything through at once."""

    __slots__ = ("_detectors",)

    def __init__(self, both: tuple[Kind, Kind], least: Severity, on_match: OnMatch) -> None:
        super().__init__()

        def flagged(finding: Finding, severity: Severity, quoted: bool) -> None:  # noqa: FBT001 - an OnMatch
            on_match(
                Finding(STAGE, finding.rule, "flagged", finding.offset, finding.length), severity, quoted
            )

        self._detectors = [Detector(kind, least, flagged) for kind in both]

    @property
    def pending(self) -> int:
        """Nothing is held."""
        return 0

    def _feed(self, text: str, /) -> str:
        for detector in self._detectors:
            detector.feed(text)
        return text

    def _flush(self, end: End, /) -> str:
        for detector in self._detectors:
            detector.flush(end)
        return ""


class Acting(Session):
    """Replaces what is found, or ends the stream: sentences first, then what shows nothing.

    The second detector sees the output of the first. `_shifts` leads back from there: by how
    much a text is moved from which place on.
    """

    __slots__ = ("_hidden", "_moved", "_on_match", "_sentences", "_shift", "_shifts")

    def __init__(self, both: tuple[Kind, Kind], least: Severity, on_match: OnMatch) -> None:
        super().__init__()
        self._on_match = on_match
        self._shifts: deque[tuple[int, int]] = deque()
        self._shift = 0  # of the last sentence that was replaced
        self._moved = 0  # of what the second detector has not decided yet
        self._sentences = Detector(both[0], least, self._sentence)
        self._hidden = Detector(both[1], least, self._nothing)

    @property
    def pending(self) -> int:
        """Characters held by either."""
        return self._sentences.pending + self._hidden.pending

    def _feed(self, text: str, /) -> str:
        return self._let(self._sentences.feed(text))

    def _flush(self, end: End, /) -> str:
        return self._let(self._sentences.flush(end)) + self._hidden.flush(end)

    def _let(self, text: str) -> str:
        shown = self._hidden.feed(text)
        while self._shifts and self._shifts[0][0] <= self._hidden.reached:
            self._moved = self._shifts.popleft()[1]
        return shown

    def _sentence(self, finding: Finding, severity: Severity, quoted: bool) -> None:  # noqa: FBT001
        self._on_match(finding, severity, quoted)
        if finding.action == "redacted":
            begins = finding.offset + self._shift
            mark = len(placeholder(finding.rule, ""))
            self._shift += mark - finding.length
            self._shifts.append((begins + mark, self._shift))

    def _nothing(self, finding: Finding, severity: Severity, quoted: bool) -> None:  # noqa: FBT001
        moved = self._moved
        for place, shift in self._shifts:
            if place > finding.offset:
                break
            moved = shift
        found = Finding(STAGE, finding.rule, finding.action, finding.offset - moved, finding.length)
        self._on_match(found, severity, quoted)
