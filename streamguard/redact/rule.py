"""A rule: a named pattern of something to redact."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from streamguard.automaton import Pattern, nullable, parse
from streamguard.session import PatternError

__all__ = ["Check", "Rule"]

Check = Callable[[str], bool]
"""Says of a finished value whether it is one: a checksum, an entropy, not code."""

_ID = re.compile(r"[a-z][a-z0-9-]{0,63}")


@dataclass(frozen=True, slots=True)
class Rule:
    """What to redact: `value`, wherever `context` stands right before it.

    Patterns are Python `re` in the subset `streamguard.automaton.pattern` describes. Only
    the value is replaced and only the value is ever held back; the context has been shown
    already and is merely remembered.

    Attributes:
        id: names the rule in placeholders and findings: lower-case letters, digits, hyphens.
        value: pattern of the value.
        context: pattern of what stands right before the value; empty for no condition.
        anchors: literals the pattern is known to require. They are derived anyway; written
            down, they are compared with what is derived, so that the two cannot drift apart.
        checks: a value is redacted if all of them say yes. They are asked once, on the
            finished value, and never of a value longer than the redactor's `limit`.
        hashed: whether the placeholder carries a plain hash. Personal data should not:
            its values are few enough to be tried one by one.
        description: what it matches, for people.
        source: where the format comes from.
        examples: texts in which something is redacted.
        near_misses: texts in which nothing is.
        needs: modules its checks import, when they are first asked.

    Raises:
        PatternError: a pattern is outside the subset, or the id is malformed.
    """

    id: str
    value: str
    context: str = ""
    anchors: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    hashed: bool = True
    description: str = ""
    source: str = ""
    examples: tuple[str, ...] = ()
    near_misses: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise PatternError(
                "a rule's id is lower-case letters, digits and hyphens, a letter first, up to 64"
            )
        self.pattern()

    def pattern(self) -> Pattern:
        """The rule as the automaton takes it."""
        try:
            value = parse(self.value)
            if nullable(value):
                raise PatternError("the value can be empty: let it match at least one character")
            context = parse(self.context) if self.context else None
        except PatternError as error:
            raise PatternError(f"rule {self.id!r}: {error}") from None
        follows = self.context.startswith(r"\[REDACTED:")
        return Pattern(value, context, checked=bool(self.checks), follows=follows)
