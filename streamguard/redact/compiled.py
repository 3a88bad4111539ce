"""The rules of a redactor as one matcher, with the placeholders that stand for their values."""

from __future__ import annotations

from functools import lru_cache

from streamguard.automaton import Matcher, Pattern, parse
from streamguard.redact.obfuscation import unescaped, with_breaks
from streamguard.redact.placeholder import PLACEHOLDER, placeholder_of
from streamguard.redact.rule import Rule
from streamguard.session import Bound, PatternError

__all__ = ["LIMIT", "STAGE", "bound_of", "compiled"]

STAGE = "redactor"
LIMIT = 256
"""Characters after which a value that is still undecided counts as one, unless a redactor says otherwise."""


@lru_cache(maxsize=64)
def compiled(rules: tuple[Rule, ...], limit: int, *, obfuscated: bool = False) -> Matcher:
    """The matcher of these rules, shared by every redactor that has them.

    Raises:
        PatternError: two rules have one id, a rule's `anchors` are not what its pattern
            requires, or the patterns are too large.
    """
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
        patterns = [rule.pattern() for rule in rules]
        if obfuscated:
            patterns = [with_breaks(pattern) or pattern for pattern in patterns]
        matcher = Matcher([*patterns, *atoms, others], limit=limit, folded=obfuscated)
    except PatternError:
        for rule in rules:
            _compile_alone(rule, limit)
        raise
    for rule, derived in zip(rules, matcher.prefilter.derived, strict=False):
        if rule.anchors and not (
            derived
            and all(any(anchor in unescaped(string) for anchor in rule.anchors) for string in derived.strings)
        ):
            raise PatternError(f"rule {rule.id!r}: its pattern does not require its anchors")
    return matcher


def _compile_alone(rule: Rule, limit: int) -> None:
    """Say which rule it is that cannot be compiled."""
    try:
        Matcher([rule.pattern()], limit=limit)
    except PatternError as error:
        raise PatternError(f"rule {rule.id!r}: {error}") from None


def bound_of(matcher: Matcher, number: int, rule: Rule, limit: int) -> Bound:
    """The most characters that one of the rules of a matcher holds back."""
    characters, open_ended = matcher.bound(number)
    policy = f"counts as a value after {limit} characters" if open_ended else ""
    return Bound(STAGE, rule.id, characters, policy)
