"""The state of one text that is looked through for threats.

A `Detector` is the redactor's session with two differences: what is quoted is less grave,
and what is not grave enough stays and is told all the same. Whether a place is quoted is
read from the text as it comes out: what is replaced counts as one word, so that looking
through the result a second time comes to the same places.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from streamguard.automaton import Decision, Matcher, Scan
from streamguard.memory.hidden import HiddenSession
from streamguard.memory.quoting import Quoting
from streamguard.memory.threat import STAGE, OnMatch, Scope, Severity, Threat
from streamguard.memory.threats import THREATS
from streamguard.redact import Rule, placeholder
from streamguard.redact.compiled import compiled
from streamguard.redact.session import RedactorSession, Value
from streamguard.session import End, Finding, Session

__all__ = ["LIMIT", "Acting", "Sentences", "Watching", "sentences"]

LIMIT = 1024
"""Characters after which an undecided match counts as one: more than any sentence has."""


@dataclass(frozen=True, slots=True)
class Sentences:
    """The threats that count in one scope; what a redactor's session asks for.

    Attributes:
        threats: in order of priority.
        blocking: the names of those that end the stream.
        quoting: whether it matters what is quoted.
    """

    threats: tuple[Threat, ...]
    blocking: frozenset[str]
    quoting: bool
    key: None = None
    placeholder: None = None
    allowed: None = None
    obfuscated: bool = True

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of the threats."""
        return tuple(threat.rule for threat in self.threats)

    @property
    def matcher(self) -> Matcher:
        """What finds them; shared."""
        return compiled(self.rules, LIMIT, obfuscated=True)


@lru_cache(maxsize=8)
def sentences(scope: Scope, *, rejects: bool = False) -> Sentences:
    """What is looked for in a scope."""
    threats = tuple(threat for threat in THREATS if scope in threat.scopes)
    blocking = frozenset(threat.rule.id for threat in threats if rejects)
    return Sentences(threats, blocking, quoting=scope == "context")


class Detector(RedactorSession):
    """Finds sentences, and replaces those that are grave enough."""

    __slots__ = ("_kind", "_least", "_on_match", "_quoting", "_read", "_taken")
    stage: ClassVar[str] = STAGE

    def __init__(self, kind: Sentences, least: Severity, on_match: OnMatch) -> None:
        super().__init__(kind, kind.matcher, None, self._found)
        self._kind = kind
        self._least = least
        self._on_match = on_match
        self._quoting = Quoting() if kind.quoting else None
        self._read = 0  # how far the text was read for quotations, in characters of the input
        self._taken = (Severity.HIGH, False)

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
            quoted = self._quoting.is_quoted_throughout(scan.data[start:end])
        severity = Severity.LOW if quoted else threat.severity
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

    __slots__ = ("_detector", "_hidden")

    def __init__(self, kind: Sentences, least: Severity, on_match: OnMatch) -> None:
        super().__init__()

        def flagged(finding: Finding, severity: Severity, quoted: bool) -> None:  # noqa: FBT001 - an OnMatch
            on_match(
                Finding(STAGE, finding.rule, "flagged", finding.offset, finding.length), severity, quoted
            )

        self._detector = Detector(kind, least, flagged)
        self._hidden = HiddenSession(least, flagged)

    @property
    def pending(self) -> int:
        """Nothing is held."""
        return 0

    def _feed(self, text: str, /) -> str:
        self._detector.feed(text)
        self._hidden.feed(text)
        return text

    def _flush(self, end: End, /) -> str:
        self._detector.flush(end)
        self._hidden.flush(end)
        return ""


class Acting(Session):
    """Replaces what is found, or ends the stream: sentences first, then what shows nothing.

    The second one sees the output of the first. `_shifts` leads back from there: by how much a
    text is moved from which place on.
    """

    __slots__ = ("_detector", "_hidden", "_moved", "_on_match", "_shift", "_shifts")

    def __init__(self, kind: Sentences, least: Severity, on_match: OnMatch) -> None:
        super().__init__()
        self._on_match = on_match
        self._shifts: deque[tuple[int, int]] = deque()
        self._shift = 0  # of the last sentence that was replaced
        self._moved = 0  # of what the second one has not decided yet
        self._detector = Detector(kind, least, self._sentence)
        self._hidden = HiddenSession(least, self._nothing, rejects=bool(kind.blocking))

    @property
    def pending(self) -> int:
        """Characters held by either."""
        return self._detector.pending + self._hidden.pending

    def _feed(self, text: str, /) -> str:
        return self._let(self._detector.feed(text))

    def _flush(self, end: End, /) -> str:
        return self._let(self._detector.flush(end)) + self._hidden.flush(end)

    def _let(self, text: str) -> str:
        shown = self._hidden.feed(text) if text else ""
        while self._shifts and self._shifts[0][0] <= self._hidden.reached:
            self._moved = self._shifts.popleft()[1]
        return shown

    def _sentence(self, finding: Finding, severity: Severity, quoted: bool) -> None:  # noqa: FBT001 - an OnMatch
        self._on_match(finding, severity, quoted)
        if finding.action == "redacted":
            begins = finding.offset + self._shift
            mark = len(placeholder(finding.rule, ""))
            self._shift += mark - finding.length
            self._shifts.append((begins + mark, self._shift))

    def _nothing(self, finding: Finding, severity: Severity, quoted: bool) -> None:  # noqa: FBT001 - an OnMatch
        moved = self._moved
        for place, shift in self._shifts:
            if place > finding.offset:
                break
            moved = shift
        found = Finding(STAGE, finding.rule, finding.action, finding.offset - moved, finding.length)
        self._on_match(found, severity, quoted)
