"""Names and lines of others' making, fit to stand in a list of a prompt.

Each name and each description is looked at by itself. That is not enough: a name and the
description behind it, or one line and the next, may say together what none of them does. So a
list is looked at once more as it will be read, and lines with something grave go.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence

from streamguard.memory.fence import sanitize
from streamguard.memory.injection import scan
from streamguard.memory.threat import Scope, Severity
from streamguard.redact import Redactor

__all__ = ["safe_line", "safe_list", "safe_name", "scrub_name"]

_LONGEST = 256  # characters of a name that are looked at
_WORDS = re.compile(r"[-_./]+|(?<=[a-z])(?=[A-Z])")


def scrub_name(name: str, scrub: Callable[[str], str]) -> str:
    """Guard a name whole, and what stands in it behind each underscore.

    Secrets begin where no word goes on, and for rules an underscore is part of a word.
    """
    name = scrub(name)[:_LONGEST]
    for found in re.finditer("_", name):
        tail = name[found.end() :]
        if (shown := scrub(tail)) != tail:
            return name[: found.end()] + shown
    return name


def safe_name(name: str, longest: int) -> str:
    """Make a name of letters, digits, points and hyphens.

    Returns:
        The name, shortened; empty if nothing of it may be shown.
    """
    words = re.sub(r"[^\w.-]+", "-", scrub_name(sanitize(name), Redactor().scrub)).strip("-")
    shown = words[:longest]
    told = any(_grave(_WORDS.sub(" ", text), "memory") for text in (words, shown))
    return "" if told or scrub_name(shown, Redactor().scrub) != shown else shown


def safe_line(text: str, longest: int, *, behind: str = "") -> str:
    """Make one line of a text, to stand behind a name, or a note that says why it is not shown."""
    line = Redactor().scrub(" ".join(sanitize(text).split()))
    line = textwrap.shorten(line, longest, placeholder=" ...")
    found = _grave(line, "context") or _grave(f"{_WORDS.sub(' ', behind)} {line}", "context")
    return _note(found) if found else line


def safe_list(head: str, lines: Sequence[str]) -> str:
    """Put a list together.

    Args:
        head: our own words, which stand before it.
        lines: entries, which begin with `- `, headings and blank lines.

    Returns:
        The list. A line with something grave is a note that says so.
    """
    text = Redactor().scrub("\n".join([head, *lines]))
    first = head.count("\n") + 1
    for _ in range(len(lines)):
        shown = text.split("\n")
        changed = False
        for finding in scan(text):
            if finding.severity < Severity.MEDIUM:
                continue
            last = finding.line + text.count("\n", finding.offset, finding.offset + finding.length)
            for at in range(max(finding.line - 1, first), last):
                note = f"{'##' if shown[at].startswith('#') else '-'} {_note([finding.pattern])}"
                changed = changed or shown[at] not in ("", note)
                shown[at] = note if shown[at] else ""
        if not changed:
            break
        text = "\n".join(shown)
    return text


def _grave(text: str, scope: Scope) -> list[str]:
    return [finding.pattern for finding in scan(text, scope=scope) if finding.severity >= Severity.MEDIUM]


def _note(patterns: Sequence[str]) -> str:
    return f"[BLOCKED: potential prompt injection ({', '.join(dict.fromkeys(patterns))})]"
