"""Rules by name: one rule, or a group of the catalogue."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from typing import Literal

from streamguard.redact.rule import Rule

__all__ = ["Action", "actions_of", "groups", "select"]

Action = Literal["redact", "flag", "block"]
"""What is done with a value: replaced, only reported, or the stream is ended."""

_ACTIONS = ("redact", "flag", "block")


def groups() -> dict[str, tuple[Rule, ...]]:
    """The rules that ship with the library, by the name of their group.

    Returns:
        First the whole sets, `secrets` and `pii`, then the groups they are made of.
    """
    from streamguard.redact import rules

    names = sorted(rules.__all__, key=lambda name: (name != "SECRETS", name != "PII"))
    return {name.lower().replace("_", "-"): getattr(rules, name) for name in names}


def select(rules: Iterable[Rule] | None, only: Collection[str], without: Collection[str]) -> tuple[Rule, ...]:
    """The rules of a redactor.

    Args:
        rules: to choose from; `None` for the secrets, or for the whole catalogue if `only`
            names some.
        only: names of rules and groups to take; none for all.
        without: names of rules and groups to leave out.

    Raises:
        ValueError: a name is of no rule and no group here.
    """
    if rules is None and not only:
        from streamguard.redact.rules import SECRETS

        rules = SECRETS
    if not only and not without:
        return tuple(rules or ())
    catalogue = groups()
    among = tuple(rules) if rules is not None else (*catalogue["secrets"], *catalogue["pii"])
    if only:
        wanted = _named(only, among, catalogue)
        among = tuple(rule for rule in among if rule.id in wanted)
    unwanted = _named(without, among, catalogue)
    return tuple(rule for rule in among if rule.id not in unwanted)


def actions_of(actions: Mapping[str, Action], rules: Collection[Rule]) -> dict[str, Action]:
    """The action of each rule that has one of its own; a rule's own name wins over its group's.

    Raises:
        ValueError: a name is of no rule and no group here, or there is no such action.
    """
    for action in actions.values():
        if action not in _ACTIONS:
            raise ValueError(f"the action of a rule must be one of {', '.join(_ACTIONS)}")
    catalogue = groups() if any(name not in {rule.id for rule in rules} for name in actions) else {}
    found: dict[str, Action] = {}
    own: dict[str, Action] = {}
    for name, action in actions.items():
        ids = _named((name,), rules, catalogue)
        (own if ids == {name} else found).update(dict.fromkeys(ids, action))
    return {**found, **own}


def _named(
    names: Collection[str], rules: Collection[Rule], catalogue: Mapping[str, Collection[Rule]]
) -> set[str]:
    """The ids of the rules that are meant."""
    if isinstance(names, str):
        raise TypeError("names of rules come as a list of strings, not as one string")
    known = {rule.id for rule in rules}
    found: set[str] = set()
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"the name of a rule is a string, not {type(name).__name__}")
        plain = name.lower().replace("_", "-")
        ids = {plain} & known or {rule.id for rule in catalogue.get(plain, ())} & known
        if not ids:
            close = [one for one in get_close_matches(plain, [*known, *catalogue], n=2) if one != plain]
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ValueError(f"no rule or group {name!r} here{hint}")
        found |= ids
    return found
