"""Text that tries to take a model over: found, replaced, or refused.

`scan` looks through a whole text and says what it found where. `InjectionGuard` is the same
as a stage of a stream. Both run on the automaton of the redactor: sentences are matched
in the text as a reader sees it (`threats`), characters that show nothing in the text as
it is (`hidden`). All places are in the text that was given.

In a context file a threat that is quoted is `LOW`: documentation tells of attacks. In a
memory it is what it is, since nothing needs to be quoted there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, get_args

from streamguard.memory import hidden
from streamguard.memory.detector import LIMIT, Acting, Watching, sentences
from streamguard.memory.quoting import FARTHEST, Quoting
from streamguard.memory.threat import STAGE, Scope, Severity
from streamguard.redact.compiled import bound_of
from streamguard.session import Bound, Finding, FindingHandler, HiddenHandler, Session, Transformer

__all__ = ["InjectionAction", "InjectionFinding", "InjectionGuard", "blocked", "scan"]

InjectionAction = Literal["reject", "replace", "flag"]
"""What is done about a threat: the stream ends, a placeholder stands for it, or it is only reported."""


@dataclass(frozen=True, slots=True)
class InjectionFinding:
    """A threat and its place. It never carries the text.

    Attributes:
        pattern: the name of the threat.
        severity: how grave it is there.
        quoted: whether it stands in code or in a quotation.
        offset: where it begins, in characters of the text.
        length: its length in characters.
        line: the line it begins in; the first one is 1.
        column: the character of that line it begins at; the first one is 1.
    """

    pattern: str
    severity: Severity
    quoted: bool
    offset: int
    length: int
    line: int
    column: int


def scan(text: str, /, *, scope: Scope = "context") -> tuple[InjectionFinding, ...]:
    """Look for text that tries to take a model over.

    Args:
        text: the text of a context file, or of a memory.
        scope: which of them it is.

    Returns:
        What was found, in the order of the text; empty for most texts. Linear time.

    Raises:
        TypeError: `text` is not a `str`.
        ValueError: there is no such scope.
    """
    if scope not in get_args(Scope):
        raise ValueError(f"scope must be {' or '.join(map(repr, get_args(Scope)))}")
    found: list[tuple[int, int, str, Severity, bool]] = []

    def on_match(finding: Finding, severity: Severity, quoted: bool) -> None:  # noqa: FBT001 - an OnMatch
        found.append((finding.offset, finding.length, finding.rule, severity, quoted))

    session = Watching(sentences(scope), Severity.LOW, on_match)
    session.feed(text)
    session.flush()
    findings: list[InjectionFinding] = []
    line, start = 1, 0
    for offset, length, name, severity, quoted in _closed(text, sorted(found), scope):
        line += text.count("\n", start, offset)
        start = offset
        column = offset - text.rfind("\n", 0, offset)
        findings.append(InjectionFinding(name, severity, quoted, offset, length, line, column))
    return tuple(findings)


def _closed(
    text: str, found: list[tuple[int, int, str, Severity, bool]], scope: Scope
) -> Iterator[tuple[int, int, str, Severity, bool]]:
    """What was found; quoted is no more what a stray mark comes before."""
    grave = {threat.rule.id: threat.severity for threat in sentences(scope).threats}
    quoting = Quoting()
    read = 0
    for offset, length, name, severity, quoted in found:
        if name not in grave:
            yield offset, length, name, severity, quoted
            continue
        quoting.read(text[read:offset])
        end = read = offset + length
        if quoted and not quoting.is_closed(text[end : end + FARTHEST]):
            yield offset, length, name, grave[name], False
        else:
            yield offset, length, name, severity, quoted
        quoting.pass_over()


def blocked(what: str, findings: Iterable[InjectionFinding | str], /) -> str:
    """What stands in the place of a text that is not given to a model.

    Args:
        what: what the text was, such as the name of a file.
        findings: why, as findings or by the names of the threats.
    """
    names = ", ".join(dict.fromkeys(one if isinstance(one, str) else one.pattern for one in findings))
    return f"[BLOCKED: {what} contained potential prompt injection ({names}). Content not loaded.]"


@dataclass(frozen=True, slots=True)
class InjectionGuard(Transformer):
    """A stage that takes threats out, ends the stream, or only reports.

    `[REDACTED:<name>]` stands for a sentence; characters that show nothing are dropped.

    *Delay*: text that may begin a threat is held until it is one or cannot be; with `"flag"`
    nothing is. *Memory*: `bounds()`, at most two times 1,024 characters.

    Attributes:
        action: `"replace"`, `"reject"` (the stream ends with `StreamBlocked`) or `"flag"`.
        scope: where the text goes.
        least: the severity from which on the action is taken. What is less grave stays,
            and is reported as `"flagged"`.

    Raises:
        ValueError: there is no such action or scope.
    """

    action: InjectionAction = "replace"
    scope: Scope = field(default="context", kw_only=True)
    least: Severity = field(default=Severity.MEDIUM, kw_only=True)

    def __post_init__(self) -> None:
        for name, value, choices in (("action", self.action, InjectionAction), ("scope", self.scope, Scope)):
            if value not in get_args(choices):
                raise ValueError(f"{name} must be {' or '.join(map(repr, get_args(choices)))}")
        object.__setattr__(self, "least", Severity(self.least))

    def session(
        self,
        *,
        on_finding: FindingHandler | None = None,
        on_hidden: HiddenHandler | None = None,
    ) -> Session:
        """Make the state of one stream."""
        del on_hidden

        def on_match(finding: Finding, severity: Severity, quoted: bool) -> None:  # noqa: FBT001 - an OnMatch
            del severity, quoted
            if on_finding is not None:
                on_finding(finding)

        if self.action == "flag":
            return Watching(sentences(self.scope), self.least, on_match)
        kind = sentences(self.scope, rejects=self.action == "reject")
        return Acting(kind, self.least, on_match)

    def bounds(self) -> tuple[Bound, ...]:
        """The most characters that each threat holds back."""
        kind = sentences(self.scope)
        names = [*(rule.id for rule in kind.rules), *(one.id for one in hidden.HIDDEN)]
        if self.action == "flag":
            return tuple(Bound(STAGE, name, 0) for name in names)
        most = [
            bound_of(kind.matcher, number, rule, LIMIT).characters for number, rule in enumerate(kind.rules)
        ]
        most += [hidden.LIMIT] * len(hidden.HIDDEN)
        return tuple(Bound(STAGE, name, held) for name, held in zip(names, most, strict=True))
