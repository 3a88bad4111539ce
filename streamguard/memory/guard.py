"""What every memory passes before it is stored: poison is refused, secrets are taken out.

A memory is repeated in every later prompt, so an instruction in it is worth more to an
attacker than anywhere else. Refused are memories that try to take a model over, and empty
ones; secrets, tags of the memory fence and characters that hide something are taken out,
and the write goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, field, fields

from streamguard.memory.fence import sanitize
from streamguard.memory.injection import InjectionFinding, InjectionGuard, blocked, scan
from streamguard.memory.threat import Severity
from streamguard.redact import Redactor
from streamguard.session import Finding, FindingHandler, StreamGuardError, Transformer

__all__ = ["AuditEntry", "MemoryGuard", "MemoryRecord", "MemoryRejected"]


class MemoryRejected(StreamGuardError, ValueError):  # noqa: N818 - what happened, and the name its users look for
    """A memory is not stored.

    Attributes:
        pattern: the name of the threat that was found; empty if the memory was.
        field: the field of the record it was found in.
    """

    def __init__(self, field: str, pattern: str = "") -> None:
        reason = f"Memory poisoning detected: matching pattern {pattern!r}" if pattern else "Empty memory"
        super().__init__(f"Memory rejected by Security Guard: {reason}")
        self.pattern = pattern
        self.field = field


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A memory with where it comes from; every field is stored, and so every field is guarded."""

    content: str
    source: str = ""
    source_id: str = ""
    source_hash: str = ""
    source_revision: str = ""
    fact_key: str = ""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One write that was asked for. It holds names and numbers only.

    Attributes:
        stored: whether the memory was let through.
        rules: how often each rule acted: that of a secret, of a fence, of a threat.
    """

    stored: bool
    rules: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class MemoryGuard:
    """Guards what is written to memory; settings, shared by any number of writers.

    Attributes:
        redactor: takes the secrets out; all rules of `SECRETS` by default.
        least: threats from this severity on are refused.
        on_audit: called with an entry for each record.
    """

    redactor: Transformer = field(default_factory=Redactor)
    least: Severity = Severity.MEDIUM
    on_audit: Callable[[AuditEntry], None] | None = None

    def check(self, record: MemoryRecord, /) -> MemoryRecord:
        """Say what of a memory may be stored.

        Args:
            record: what is to be stored.

        Returns:
            The record to store instead.

        Raises:
            MemoryRejected: it tries to take a model over, or there is nothing in it.
        """
        rules = Counter[str]()
        cleaned: dict[str, str] = {}
        try:
            for one, text in zip(fields(record), astuple(record), strict=True):
                cleaned[one.name] = self._check(one.name, text, rules)
            if not cleaned["content"].strip():
                raise MemoryRejected("content")
        except MemoryRejected as refused:
            if refused.pattern:
                rules[refused.pattern] += 1
            self._audit(AuditEntry(stored=False, rules=dict(rules)))
            raise
        self._audit(AuditEntry(stored=True, rules=dict(rules)))
        return MemoryRecord(**cleaned)

    def check_text(self, text: str, /) -> str:
        """The same for a memory that is nothing but text."""
        return self.check(MemoryRecord(text)).content

    def threats(self, text: str, /) -> tuple[str, ...]:
        """The names of the threats a text would be refused for, each once; empty for most texts."""
        return tuple(dict.fromkeys(finding.pattern for finding in self._refused(sanitize(text))))

    def clean(self, text: str, /) -> str:
        """Make a text fit for a prompt that came to be without this guard: nothing is refused.

        Lines that try to take a model over go as a whole, with `[BLOCKED: ...]` in their place.
        """
        text = sanitize(text)
        lines: list[str | None] = list(text.split("\n"))
        names: list[str] = []
        for finding in self._refused(text):
            names.append(finding.pattern)
            first = finding.line - 1
            for number in range(
                first, first + 1 + text.count("\n", finding.offset, finding.offset + finding.length)
            ):
                lines[number] = None
        if names:
            mark = blocked("a memory", names)
            kept = [one if one is not None else mark for one in lines]
            text = "\n".join(
                one for n, one in enumerate(kept) if one != mark or n == 0 or kept[n - 1] != mark
            )
        return self._without_hidden(text, None)

    def redact(self, text: str, /) -> str:
        """A text for somebody else than a model: without secrets and memory blocks, else as it is."""
        return self.redactor.scrub(sanitize(text))

    def _check(self, name: str, text: str, rules: Counter[str]) -> str:
        def count(finding: Finding) -> None:
            if finding.action != "flagged":
                rules[finding.rule] += 1

        unfenced = sanitize(text)
        if unfenced != text:
            rules["memory-fence"] += 1
        for finding in self._refused(unfenced):
            raise MemoryRejected(name, finding.pattern)
        return self._without_hidden(unfenced, count)

    def _without_hidden(self, text: str, on_finding: FindingHandler | None) -> str:
        """A text without characters that hide something, and without secrets."""
        visible = InjectionGuard(scope="memory", least=min(self.least, Severity.MEDIUM))
        return self.redactor.scrub(visible.scrub(text, on_finding=on_finding), on_finding=on_finding)

    def _refused(self, text: str) -> list[InjectionFinding]:
        """What is refused: threats that are grave enough and not made harmless by dropping a character."""
        return [
            finding
            for finding in scan(text, scope="memory")
            if finding.severity >= self.least and finding.pattern not in _HARMLESS_WITHOUT
        ]

    def _audit(self, entry: AuditEntry) -> None:
        if self.on_audit is not None:
            self.on_audit(entry)


_HARMLESS_WITHOUT = frozenset({"bidi-override", "bidi-control", "invisible-characters", "zero-width"})
