"""Redactor: every secret replaced while the text streams.

The rules are one automaton. Its state says how many characters are held back: those
from the first one that may begin a value. When a value is certain but its end is not,
it is hashed while it passes and no longer kept. After a value matching begins anew
behind the placeholder, as it will when the output is redacted again: that, and that
nothing may begin inside a placeholder, nor run into one that stands where a value of its
rule could have stood, makes redaction idempotent. Elsewhere a placeholder is text like any
other: written behind a secret it must not protect it.

Semantics on the whole text, by the span of the value: the leftmost; among those that
begin together, rules without checks before rules with, then the longest, then the
order of the rules. A value its checks refuse is as if it had never matched; values that
begin inside of it and go on like it are refused with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from streamguard.automaton import (
    END,
    Decided,
    Decision,
    Matcher,
    Pattern,
    Scan,
    State,
    Tail,
    parse,
    prefix_length,
    swallow,
)
from streamguard.redact.placeholder import (
    PLACEHOLDER,
    Digest,
    PlaceholderFunction,
    placeholder,
    placeholder_of,
)
from streamguard.redact.rule import Rule
from streamguard.session import (
    Bound,
    End,
    Finding,
    FindingHandler,
    HiddenHandler,
    PatternError,
    Session,
    Transformer,
)

__all__ = ["Redactor"]

STAGE = "redactor"
SHORT = 256
"""Chunks up to this length are walked; longer ones are searched for anchors first."""


@dataclass(frozen=True, slots=True, init=False)
class Redactor(Transformer):
    """Replaces secrets with `[REDACTED:<rule>:<8 hex digits of SHA-256>]`.

    *Delay*: text that may be the beginning of a value is held until it is one or cannot
    be; `bounds()` gives the most for each rule. *Memory*: at most `limit` characters.

    Attributes:
        rules: what to redact, in order of priority.
        key: makes the digest an HMAC. Without it, whoever reads a placeholder can check a
            guess at the value; a weak password is guessed in seconds.
        placeholder: makes another placeholder of the rule's id and the digest. Redacting
            twice gives the same result only if no rule matches what it makes.
        limit: characters after which a value that is still undecided counts as one.
    """

    rules: tuple[Rule, ...]
    key: bytes | None = field(default=None, repr=False)
    placeholder: PlaceholderFunction | None = None
    limit: int = 256

    def __init__(
        self,
        rules: Iterable[Rule] | None = None,
        *,
        key: bytes | None = None,
        placeholder: PlaceholderFunction | None = None,
        limit: int = 256,
    ) -> None:
        """Compile the rules.

        Raises:
            PatternError: two rules have one id, a pattern can match nothing at all, or a
                rule's `anchors` are not what its pattern requires.
            ValueError: no rules, an empty key, or a limit under 16.
        """
        if rules is None:
            from streamguard.redact.rules import SECRETS

            rules = SECRETS
        chosen = tuple(rules)
        if not chosen:
            raise ValueError("a redactor without rules redacts nothing: give at least one")
        if key is not None and not key:
            raise ValueError("an empty key protects nothing: give at least one byte, better 16")
        if limit < 16:
            raise ValueError("the limit must be at least 16 characters")
        object.__setattr__(self, "rules", chosen)
        object.__setattr__(self, "key", key)
        object.__setattr__(self, "placeholder", placeholder)
        object.__setattr__(self, "limit", limit)
        _compile(chosen, limit)

    def session(
        self,
        *,
        on_finding: FindingHandler | None = None,
        on_hidden: HiddenHandler | None = None,
    ) -> Session:
        """Make the state of one stream. `on_hidden` is for fences; a redactor hides nothing."""
        return _Session(self, _compile(self.rules, self.limit), on_finding)

    def bounds(self) -> tuple[Bound, ...]:
        """The most characters each rule holds back."""
        matcher = _compile(self.rules, self.limit)
        found: list[Bound] = []
        for number, rule in enumerate(self.rules):
            characters, open_ended = matcher.bound(number)
            policy = f"counts as a value after {self.limit} characters" if open_ended else ""
            found.append(Bound(STAGE, rule.id, characters, policy))
        return tuple(found)


@lru_cache(maxsize=64)
def _compile(rules: tuple[Rule, ...], limit: int) -> Matcher:
    seen: set[str] = set()
    for rule in rules:
        if rule.id in seen:
            raise PatternError(f"two rules have the id {rule.id!r}")
        seen.add(rule.id)
    atoms = [
        Pattern(parse(placeholder_of(rule.id, hashed=rule.hashed)), atomic=True, stands_for=number)
        for number, rule in enumerate(rules)
    ]
    others = Pattern(parse(PLACEHOLDER), atomic=True)
    try:
        matcher = Matcher([*(rule.pattern() for rule in rules), *atoms, others], limit=limit)
    except PatternError:
        for rule in rules:
            _compile_alone(rule, limit)
        raise
    for rule, derived in zip(rules, matcher.prefilter.derived, strict=False):
        if rule.anchors and not (
            derived and all(any(anchor in string for anchor in rule.anchors) for string in derived.strings)
        ):
            raise PatternError(f"rule {rule.id!r}: its pattern does not require its anchors")
    return matcher


def _compile_alone(rule: Rule, limit: int) -> None:
    """Say which rule it is that cannot be compiled."""
    try:
        Matcher([rule.pattern()], limit=limit)
    except PatternError as error:
        raise PatternError(f"rule {rule.id!r}: {error}") from None


class _Value:
    """A value that is certain and has not ended."""

    __slots__ = ("digest", "length", "rule", "start", "tail")

    def __init__(self, tail: Tail | None, rule: int, start: int, digest: Digest) -> None:
        self.tail = tail
        self.rule = rule
        self.start = start
        self.length = 0
        self.digest = digest

    def extend(self, text: str) -> None:
        self.length += len(text)
        self.digest.update(text)


class _Session(Session):
    __slots__ = ("_held", "_matcher", "_offset", "_on_finding", "_settings", "_state", "_value")

    def __init__(self, settings: Redactor, matcher: Matcher, on_finding: FindingHandler | None) -> None:
        super().__init__()
        self._settings = settings
        self._matcher = matcher
        self._on_finding = on_finding
        self._state = matcher.start
        self._held = ""
        self._offset = 0  # of the first held character, in the input
        self._value: _Value | None = None

    @property
    def pending(self) -> int:
        return len(self._held)

    def _feed(self, text: str, /) -> str:
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

    def _decide(self, text: str) -> str:
        scan = Scan(self._matcher, self._state, self._held + text, len(self._held))
        out: list[str] = []
        shown = self._run(scan, out)
        if self._value is None:
            safe = len(scan.data) - scan.state.hold
            out.append(scan.data[shown:safe])
            shown = safe
        self._held = scan.data[shown:]
        self._state = scan.state
        self._offset += shown
        return "".join(out)

    def _flush(self, end: End, /) -> str:
        scan = Scan(self._matcher, self._state, self._held, len(self._held))
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
            doubt = min(doubt if doubt >= shown else size, self._doubtful(scan.state, size))
            outcome = self._matcher.finish(scan.state.config)
            chosen = None
            while isinstance(outcome, Decision) and chosen is None:
                chosen = self._choose(scan, outcome)
                if chosen is None:
                    outcome = self._matcher.settle(outcome.refused)
            if not isinstance(outcome, Decision) or chosen is None:
                break
            if unsure and size - outcome.age > doubt:
                break
            shown = self._begin(scan, out, shown, outcome, chosen)
        if unsure and doubt < size:
            self._report("half-received", "dropped", doubt, size - doubt)
        out.append(scan.data[shown : doubt if unsure else size])
        return "".join(out)

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
        self._value = _Value(decision.tail, rule, self._offset + start, Digest(self._settings.key))
        self._value.extend(scan.data[start:end])
        return end

    def _choose(self, scan: Scan, decision: Decision) -> tuple[int, int] | None:
        """The first match that passes its checks: its rule and where it ends."""
        for rule, back in decision.matches:
            end = scan.at - back
            value = scan.data[scan.at - decision.age : end]
            if decision.tail is not None or all(check(value) for check in self._settings.rules[rule].checks):
                return rule, end
        return None

    def _swallow(self, scan: Scan, out: list[str], value: _Value, hashed: int) -> int:
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

    def _close(self, scan: Scan, out: list[str], value: _Value, hashed: int) -> int:
        """The text has ended inside a value."""
        rule = value.tail.late(END) if value.tail is not None else -1
        if rule >= 0:
            value.extend(scan.data[hashed:])
            value.rule = rule
            hashed = len(scan.data)
        return self._replace(scan, out, value, hashed)

    def _replace(self, scan: Scan, out: list[str], value: _Value, end: int) -> int:
        rule = self._settings.rules[value.rule]
        digest = str(value.digest) if rule.hashed or self._settings.key else ""
        mark = (self._settings.placeholder or placeholder)(rule.id, digest)
        out.append(mark)
        self._report(rule.id, "redacted", value.start - self._offset, value.length)
        self._value = None
        scan.resume(self._matcher.after(mark), end)
        return end

    def _report(self, rule: str, action: str, at: int, length: int) -> None:
        if self._on_finding is not None:
            self._on_finding(Finding(STAGE, rule, action, self._offset + at, length))

    def _doubtful(self, state: State, size: int) -> int:
        """Where a half-received secret begins: a thread past the literal its rule begins with."""
        nfa = self._matcher.nfa
        for group in state.config.groups:
            for thread in group.threads:
                rule = nfa.rule[thread]
                if rule < len(self._settings.rules) and group.age > self._threshold(rule):
                    return size - group.age
        return size

    def _threshold(self, rule: int) -> int:
        pattern = self._matcher.patterns[rule]
        return 0 if pattern.context is not None else max(3, prefix_length(pattern.value))
