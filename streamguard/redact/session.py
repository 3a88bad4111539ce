"""The redactor's state of one stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Protocol

from streamguard.automaton import (
    END,
    Decided,
    Decision,
    Matcher,
    Scan,
    State,
    Tail,
    prefix_length,
    swallow,
)
from streamguard.redact.allowed import Allowed
from streamguard.redact.compiled import STAGE
from streamguard.redact.obfuscation import undisguised
from streamguard.redact.placeholder import Digest, PlaceholderFunction, placeholder
from streamguard.redact.rule import Rule
from streamguard.session import End, Finding, FindingHandler, Session, StreamBlocked

__all__ = ["SHORT", "RedactorSession", "Settings"]

TELLING = 6
"""Characters after which the beginning of a value without a literal may be one, after a doubtful end."""
SHORT = 256
"""Chunks up to this length are walked; longer ones are searched for anchors first."""


_MARK = placeholder("x", "")


class Settings(Protocol):
    """What a session needs to know of its redactor."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        """What is replaced."""
        ...

    @property
    def key(self) -> bytes | None:
        """The key of the digests."""
        ...

    @property
    def placeholder(self) -> PlaceholderFunction | None:
        """What makes a placeholder."""
        ...

    @property
    def allowed(self) -> Allowed | None:
        """The values that stay."""
        ...

    @property
    def obfuscated(self) -> bool:
        """Whether values are found in disguise."""
        ...

    @property
    def blocking(self) -> frozenset[str]:
        """The rules that end the stream."""
        ...


class Value:
    """A value that is certain and has not ended.

    Attributes:
        kept: its text, while that may still be one that is allowed; else `None`.
        plain: takes a disguise off, where there may be one.
    """

    __slots__ = ("allowed", "digest", "kept", "length", "plain", "rule", "start", "tail")

    def __init__(
        self, tail: Tail | None, rule: int, start: int, digest: Digest, allowed: Allowed | None
    ) -> None:
        self.tail = tail
        self.rule = rule
        self.start = start
        self.length = 0
        self.digest = digest
        self.allowed = allowed
        self.kept = "" if allowed else None
        self.plain: Callable[[str], str] | None = None

    def extend(self, text: str) -> None:
        self.length += len(text)
        self.digest.update(self._undisguised(text))
        if self.allowed is not None and self.kept is not None:
            kept = self.kept + text
            self.kept = kept if self.allowed.may_become(self._undisguised(kept)) else None

    @property
    def stays(self) -> bool:
        """Whether it is one of those that are allowed."""
        if self.allowed is None or self.kept is None:
            return False
        return self.allowed(self._undisguised(self.kept))

    def _undisguised(self, text: str) -> str:
        return text if self.plain is None else self.plain(text)


class RedactorSession(Session):
    """The state of one stream of a `Redactor`."""

    __slots__ = (
        "_aside",
        "_blocked",
        "_held",
        "_last",
        "_matcher",
        "_offset",
        "_on_finding",
        "_settings",
        "_state",
        "_value",
        "_watch",
    )
    stage: ClassVar[str] = STAGE

    def __init__(
        self, settings: Settings, matcher: Matcher, watch: Session | None, on_finding: FindingHandler | None
    ) -> None:
        super().__init__()
        self._settings = settings
        self._matcher = matcher
        self._watch = watch  # reports what is to be flagged; what it returns is of no interest
        self._on_finding = on_finding
        self._blocked: StreamBlocked | None = None
        self._aside = watch is not None
        self._state = matcher.start
        self._held = ""
        self._offset = 0  # of the first held character, in the input
        self._last = False  # nothing follows the text that is being read
        self._value: Value | None = None

    @property
    def pending(self) -> int:
        """Characters held back, and those of a value that may turn out to be allowed."""
        kept = self._value.kept if self._value is not None else None
        return len(self._held) + len(kept or "")

    def _feed(self, text: str, /) -> str:
        if self._aside:
            self._look_aside(text)
        if len(text) > SHORT or self._value is not None:
            return self._decide(text)
        state = self._state
        try:
            for char in text:
                state = state[char]
        except Decided:
            return self._decide(text)
        self._state = state
        if state.hold or self._held:
            text = self._held + text
            shown = len(text) - state.hold
            self._held = text[shown:]
            text = text[:shown]
        self._offset += len(text)
        return text

    def _look_aside(self, text: str) -> None:
        """What is rarely asked for: rules that only report, and those that have ended the stream."""
        if self._blocked is not None:
            raise self._blocked
        if self._watch is not None:
            self._watch.feed(text)

    def _decide(self, text: str) -> str:
        scan = Scan(self._matcher, self._state, self._held + text, len(self._held), last=self._last)
        out: list[str] = []
        shown = self._run(scan, out)
        if self._value is None:
            safe = len(scan.data) - scan.state.hold
            out.append(scan.data[shown:safe])
            shown = safe
        self._held = scan.data[shown:]
        self._state = scan.state
        self._offset += shown
        shown_now = "".join(out)
        if self._blocked is not None and not shown_now:
            raise self._blocked
        return shown_now

    def _flush(self, end: End, /) -> str:
        if self._watch is not None:
            self._watch.flush(end)
        if self._blocked is not None:
            raise self._blocked
        scan = Scan(self._matcher, self._state, self._held, len(self._held), last=self._last)
        size = len(scan.data)
        out: list[str] = []
        shown = 0
        doubt = size
        unsure = end in {End.TRUNCATED, End.ERROR}
        while True:
            shown = self._run(scan, out, shown)
            if self._value is not None:
                shown = self._close(scan, out, self._value, shown)
                if unsure:  # what is left may be the rest of the value
                    doubt = shown
                    break
                continue
            if unsure:
                doubt = min(doubt if doubt >= shown else size, self._doubtful(scan.state, scan))
            matcher = scan.state.matcher
            outcome = matcher.finish(scan.state.config)
            chosen = None
            while isinstance(outcome, Decision) and chosen is None:
                chosen = self._choose(scan, outcome)
                if chosen is None:
                    outcome = matcher.settle(outcome.refused)
            if not isinstance(outcome, Decision) or chosen is None:
                break
            if unsure and size - outcome.age > doubt:
                break
            shown = self._begin(scan, out, shown, outcome, chosen)
        if self._blocked is not None:
            raise self._blocked
        if unsure and doubt < size:
            self._report("half-received", "dropped", doubt, size - doubt)
        out.append(scan.data[shown : doubt if unsure else size])
        return "".join(out)

    def _feed_last(self, text: str, end: End, /) -> str:
        self._last = end not in {End.TRUNCATED, End.ERROR}  # after these the beginning of a secret matters
        if self._aside:
            self._look_aside(text)
        return self._decide(text) + self._flush(end)

    def _run(self, scan: Scan, out: list[str], shown: int = 0) -> int:
        """Go through the decisions up to the end of the data, or to a value that goes on.

        Returns:
            How much of the data has been dealt with.
        """
        while True:
            value = self._value
            if value is not None:
                shown = self._swallow(scan, out, value, shown)
                if value.tail is not None:
                    return shown
            decision = scan.next()
            chosen = None
            while decision is not None:
                chosen = self._choose(scan, decision)
                if chosen is not None:
                    break
                decision = scan.refuse(decision)
            if decision is None or chosen is None:
                return shown
            shown = self._begin(scan, out, shown, decision, chosen)

    def _begin(
        self, scan: Scan, out: list[str], shown: int, decision: Decision, chosen: tuple[int, int]
    ) -> int:
        """Begin a value, and hash what is certain of it."""
        rule, end = chosen
        start = scan.at - decision.age
        out.append(scan.data[shown:start])
        settings = self._settings
        self._value = Value(decision.tail, rule, self._offset + start, Digest(settings.key), settings.allowed)
        if settings.obfuscated:
            self._value.plain = undisguised(settings.rules[rule])
        self._value.extend(scan.data[start:end])
        return end

    def _choose(self, scan: Scan, decision: Decision) -> tuple[int, int] | None:
        """The first match that passes its checks: its rule and where it ends."""
        for rule, back in decision.matches:
            end = scan.at - back
            checks = self._settings.rules[rule].checks
            if decision.tail is not None or not checks:
                return rule, end
            value = scan.data[scan.at - decision.age : end]
            if self._settings.obfuscated:
                value = undisguised(self._settings.rules[rule])(value)
            if all(check(value) for check in checks):
                return rule, end
        return None

    def _swallow(self, scan: Scan, out: list[str], value: Value, hashed: int) -> int:
        """Read on inside a value, up to its end or the end of the data."""
        if value.tail is not None:
            value.tail, scan.at, end, rule = swallow(value.tail, scan.data, scan.at, hashed)
            if end >= 0:
                value.extend(scan.data[hashed:end])
                value.rule = rule
                hashed = end
            if value.tail is not None:
                return hashed
        return self._replace(scan, out, value, hashed)

    def _close(self, scan: Scan, out: list[str], value: Value, hashed: int) -> int:
        """The text has ended inside a value."""
        rule = value.tail.late(END) if value.tail is not None else -1
        if rule >= 0:
            value.extend(scan.data[hashed:])
            value.rule = rule
            hashed = len(scan.data)
        return self._replace(scan, out, value, hashed)

    def _replace(self, scan: Scan, out: list[str], value: Value, end: int) -> int:
        self._value = None
        if value.kept is not None and value.stays:
            out.append(value.kept)
            self._resume(scan, value.kept, end)
            return end
        rule = self._settings.rules[value.rule]
        if rule.id in self._settings.blocking:
            return self._block(scan, rule.id, value)
        digest = str(value.digest) if rule.hashed or self._settings.key else ""
        mark = (self._settings.placeholder or placeholder)(rule.id, digest)
        out.append(mark)
        self._report(rule.id, "redacted", value.start - self._offset, value.length)
        self._resume(scan, mark, end)
        return end

    def _resume(self, scan: Scan, before: str, at: int) -> None:
        """Go on behind a value; what follows a name that was taken out is found all the same."""
        matcher = self._matcher
        scan.resume(matcher.replaced(before, _MARK), at, matcher.after(before))

    def _block(self, scan: Scan, rule: str, value: Value) -> int:
        """End the stream; what was shown before comes out first, whatever the chunks."""
        finding = Finding(self.stage, rule, "blocked", value.start, value.length)
        if self._on_finding is not None:
            self._on_finding(finding)
        self._blocked = StreamBlocked(finding)
        self._aside = True
        size = len(scan.data)
        scan.resume(self._matcher.start, size)
        return size

    def _report(self, rule: str, action: str, at: int, length: int) -> None:
        if self._on_finding is not None:
            self._on_finding(Finding(self.stage, rule, action, self._offset + at, length))

    def _doubtful(self, state: State, scan: Scan) -> int:
        """Where a half-received secret begins: a thread past what its rule is told by."""
        size = len(scan.data)
        for group in state.config.groups:
            held = scan.data[size - group.age :]
            for thread in group.threads:
                rule = self._matcher.nfa.rule[thread]
                if rule < len(self._settings.rules) and self._is_telling(rule, held):
                    return size - group.age
        return size

    def _is_telling(self, rule: int, held: str) -> bool:
        """Whether the beginning of a value tells so: its literal, its anchor, or some length."""
        pattern = self._matcher.patterns[rule]
        if pattern.context is not None:
            return True
        literal = prefix_length(pattern.value)
        if literal > 2:
            return len(held) > literal
        anchors = self._matcher.prefilter.derived[rule]
        told = anchors is None or not anchors.lead or any(anchor in held for anchor in anchors.strings)
        return told and len(held) > TELLING
