"""What can be wrong with a policy, and how it is said.

A problem names the key, what was given and what is allowed, in one line. What was given is
short, on one line, and left out where it could be a secret.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from streamguard.session import StreamGuardError

__all__ = ["PolicyError", "PolicyProblem", "dotted", "given", "meant"]

_LONGEST = 40


@dataclass(frozen=True, slots=True)
class PolicyProblem:
    """One thing wrong with a policy.

    Attributes:
        key: where, as a dotted path such as `stage[1].where`; empty for the whole file.
        message: what was given and what is allowed.
    """

    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.key}: {self.message}" if self.key else self.message


class PolicyError(StreamGuardError, ValueError):
    """A policy cannot be read or does not describe a pipeline.

    Attributes:
        source: the file, or what the caller named it.
        problems: everything found wrong, in the order of the file.
    """

    def __init__(self, source: str, problems: Iterable[PolicyProblem]) -> None:
        self.source = source
        self.problems = tuple(problems)
        super().__init__("\n".join(f"{source}: {problem}" for problem in self.problems))


def dotted(path: Iterable[str | int]) -> str:
    """Write a path through tables and lists as a person would."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{_bare(part)}" for part in path)
    return "".join(parts).removeprefix(".")


def _bare(key: str) -> str:
    return key if re.fullmatch(rf"[\w-]{{1,{_LONGEST}}}", key) else given(key)


def given(value: object) -> str:
    """Show a value that was given."""
    if isinstance(value, str):
        return (
            json.dumps(value, ensure_ascii=False)
            if len(value) <= _LONGEST
            else f"text of {len(value)} characters"
        )
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    if isinstance(value, Mapping):
        return "a table"
    return "a list" if isinstance(value, list | tuple) else f"a {type(value).__name__}"


def meant(name: str, names: Iterable[str]) -> str:
    """Ask whether one of `names` was meant, if one is close."""
    close = difflib.get_close_matches(name, list(names), n=1)
    return f"; did you mean {close[0]}?" if close else ""
