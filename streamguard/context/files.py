"""The file in which a project tells an agent about itself.

The first that exists, and says something, is taken:

1. `.hermes.md` or `HERMES.md`, in the working directory or the nearest one above it, up to the
   root of the git repository;
2. `AGENTS.md`, `CLAUDE.md`, `.cursorrules` in the working directory.

Whoever can write to the repository can write such a file, and it goes into the prompt. So
tags of the memory fence are taken out of it, secrets are redacted, and what then is left
is looked through for injections: a file with one is not loaded. Nor is one that a link
leads to out of the project.

What is quoted may be loaded. Of a long file a part is left out, and with it may go the mark
that begins a quotation: so what is left is looked through again, as it will be read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from streamguard.context.front_matter import split_front_matter
from streamguard.context.shorten import shorten
from streamguard.memory.fence import sanitize
from streamguard.memory.injection import InjectionFinding, blocked, scan
from streamguard.memory.threat import Severity
from streamguard.redact import Redactor
from streamguard.session import FindingHandler, Transformer

__all__ = ["ContextFile", "load_context_file"]

ABOVE = (".hermes.md", "HERMES.md")
HERE = ("AGENTS.md", "CLAUDE.md", ".cursorrules")
LIMIT = 20_000
"""Characters of a file that go into a prompt."""
LARGEST = 1 << 20
"""Bytes of a file that is read at all."""


@dataclass(frozen=True, slots=True)
class ContextFile:
    """A context file as it may go into a prompt.

    Attributes:
        path: where it is.
        text: its text, or, if it is blocked, a line that says why.
        blocked: whether the text was not loaded.
        findings: what was found in it; places are in the text without front matter and fences,
            and with secrets redacted. What is not grave enough to block it is among them. What
            is quoted in the text, and no more so where a part is left out, counts as not quoted.
    """

    path: Path
    text: str
    blocked: bool = False
    findings: tuple[InjectionFinding, ...] = ()


def load_context_file(
    directory: str | Path,
    /,
    *,
    guard: Transformer | None = None,
    least: Severity = Severity.MEDIUM,
    limit: int = LIMIT,
    on_finding: FindingHandler | None = None,
) -> ContextFile | None:
    """Find and read the context file of a project.

    Args:
        directory: the working directory.
        guard: redacts the text; by default secrets.
        least: the severity of an injection from which on a file is not loaded.
        limit: characters; of a longer text the first 70% and the last 20% of them are kept.
        on_finding: is told what was redacted.

    Returns:
        The file, or `None` if there is none. Blank files do not count.
    """
    directory = Path(directory).resolve()
    root = _root(directory)
    for path in _candidates(directory, root):
        if not path.is_file():
            continue
        text, problem = _read(path, root)
        text = split_front_matter(text)[1].strip()
        if problem:
            return ContextFile(path, f"[BLOCKED: {path.name} {problem}. Content not loaded.]", blocked=True)
        if text:
            text = (guard or Redactor()).scrub(sanitize(text), on_finding=on_finding)
            shown = shorten(text, limit, of=path.name)
            findings = scan(text)
            if shown != text:
                findings = _as_shown(findings, scan(shown), len(text) - len(shown))
            grave = [finding for finding in findings if finding.severity >= least]
            return ContextFile(path, blocked(path.name, grave) if grave else shown, bool(grave), findings)
    return None


def _as_shown(
    findings: tuple[InjectionFinding, ...], shown: tuple[InjectionFinding, ...], less: int
) -> tuple[InjectionFinding, ...]:
    """Findings in the whole text, each as grave as in that text or in the shortened one.

    Args:
        findings: in the whole text.
        shown: in the shortened one.
        less: by how many characters that is shorter. What is behind the cut has moved so far.
    """
    found = {(one.pattern, one.offset): one for one in findings}
    for one in shown:
        places = ((one.pattern, one.offset + less), (one.pattern, one.offset))
        place = next((place for place in places if place in found), places[1])
        known = found.get(place, one)  # one that was put together by the cut is where it is shown
        if one.severity >= known.severity:
            found[place] = replace(known, severity=one.severity, quoted=one.quoted)
    return tuple(sorted(found.values(), key=lambda one: one.offset))


def _root(directory: Path) -> Path:
    """The root of the repository; outside of one, the directory itself."""
    return next((above for above in (directory, *directory.parents) if (above / ".git").exists()), directory)


def _candidates(directory: Path, root: Path) -> Iterator[Path]:
    for above in (directory, *directory.parents):
        yield from (above / name for name in ABOVE)
        if above == root:
            break
    yield from (directory / name for name in HERE)


def _read(path: Path, root: Path) -> tuple[str, str]:
    """The text of a file, or why it is not read."""
    if not path.resolve().is_relative_to(root):
        return "", "leads out of the project"
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError:
        return "", "cannot be read"
    if len(data) > LARGEST:
        return "", "is too large"
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    text = data.decode(encoding, "replace").replace("\r\n", "\n")
    return ("", "is no text") if "\0" in text else (text, "")
