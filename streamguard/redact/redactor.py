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

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from streamguard.automaton import Matcher
from streamguard.redact.allowed import Allowed
from streamguard.redact.compiled import LIMIT, bound_of, compiled
from streamguard.redact.placeholder import PlaceholderFunction
from streamguard.redact.rule import Rule
from streamguard.redact.selection import Action, actions_of, select
from streamguard.redact.session import RedactorSession
from streamguard.session import Bound, Finding, FindingHandler, HiddenHandler, Session, Transformer

if TYPE_CHECKING:
    from streamguard.redact.literals import LiteralRedactor

__all__ = ["Redactor"]


@dataclass(frozen=True, slots=True, init=False)
class Redactor(Transformer):
    """Replaces secrets with `[REDACTED:<rule>:<8 hex digits of SHA-256>]`.

    *Delay*: text that may be the beginning of a value is held until it is one or cannot
    be; `bounds()` gives the most for each rule. *Memory*: at most `limit` characters, and as
    many again while a value may turn out to be one that is allowed.

    Attributes:
        rules: what is replaced or ends the stream, in order of priority.
        flagged: what is only reported, with the action `"flagged"`; nothing else depends on it.
        blocking: the ids of the rules that end the stream.
        allow: the values that stay, and patterns of such values.
        key: makes the digest an HMAC. Without it, whoever reads a placeholder can check a
            guess at the value; a weak password is guessed in seconds.
        placeholder: makes another placeholder of the rule's id and the digest. Redacting
            twice gives the same result only if no rule matches what it makes.
        limit: characters after which a value that is still undecided counts as one.
        obfuscated: whether values are found in disguise too.
    """

    rules: tuple[Rule, ...]
    flagged: tuple[Rule, ...] = ()
    blocking: frozenset[str] = frozenset()
    allow: tuple[str | re.Pattern[str], ...] = field(default=(), repr=False)
    allowed: Allowed | None = field(default=None, repr=False, compare=False)
    key: bytes | None = field(default=None, repr=False)
    placeholder: PlaceholderFunction | None = None
    limit: int = LIMIT
    obfuscated: bool = False
    _matcher: Matcher = field(repr=False, compare=False, kw_only=True)
    _watch: Redactor | None = field(default=None, repr=False, compare=False)

    def __init__(
        self,
        rules: Iterable[Rule] | None = None,
        *,
        only: Collection[str] = (),
        without: Collection[str] = (),
        allow: Iterable[str | re.Pattern[str]] = (),
        actions: Mapping[str, Action] | None = None,
        key: bytes | None = None,
        placeholder: PlaceholderFunction | None = None,
        limit: int = LIMIT,
        obfuscated: bool = False,
    ) -> None:
        """Compile the rules.

        Args:
            rules: what to look for, in order of priority; `SECRETS` by default.
            only: the names of the rules and groups to take. Without `rules` they are looked up
                in the whole catalogue, personal data included.
            without: the names of rules and groups to leave out.
            allow: values that stay: strings that are a whole value, compiled patterns that
                match a whole value of up to `limit` characters.
            actions: by name of rule or group `"redact"`, `"flag"` (the value stays and is
                reported) or `"block"` (the stream ends with `StreamBlocked`).
            key: makes the digest an HMAC.
            placeholder: makes another placeholder.
            limit: characters after which a value that is still undecided counts as one.
            obfuscated: find values with zero-width and control characters inside, in full-width
                and other forms, and tokens broken over lines. Texts with such characters
                are read several times slower.

        Raises:
            PatternError: two rules have one id, a pattern can match nothing at all, or a
                rule's `anchors` are not what its pattern requires.
            ModuleNotFoundError: a rule needs a library that is not installed.
            TypeError: `allow` holds something else, or names come as one string.
            ValueError: no rules, an unknown name or action, an empty key, or a limit under 16.
        """
        chosen = select(rules, only, without)
        if not chosen:
            raise ValueError("a redactor without rules redacts nothing: give at least one")
        for rule in chosen:
            for module in rule.needs:
                if not _is_installed(module):
                    raise ModuleNotFoundError(
                        f"the rule {rule.id!r} needs {module}: pip install 'streamguard-llm[pii]'",
                        name=module,
                    )
        if key is not None and not isinstance(key, bytes):
            raise TypeError(f"a key is bytes, not {type(key).__name__}")
        if key is not None and not key:
            raise ValueError("an empty key protects nothing: give at least one byte, better 16")
        if limit < 16:
            raise ValueError("the limit must be at least 16 characters")
        action = actions_of(actions, chosen) if actions else {}
        flagged = tuple(rule for rule in chosen if action.get(rule.id) == "flag")
        replaced = tuple(rule for rule in chosen if action.get(rule.id) != "flag")
        object.__setattr__(self, "rules", replaced)
        object.__setattr__(self, "flagged", flagged)
        blocking = frozenset(rule.id for rule in replaced if action.get(rule.id) == "block")
        object.__setattr__(self, "blocking", blocking)
        allow = allow if isinstance(allow, str) else tuple(allow)
        object.__setattr__(self, "allow", allow)
        object.__setattr__(self, "allowed", Allowed(allow, limit) if allow else None)
        object.__setattr__(self, "key", key)
        object.__setattr__(self, "placeholder", placeholder)
        object.__setattr__(self, "limit", limit)
        object.__setattr__(self, "obfuscated", obfuscated)
        object.__setattr__(self, "_matcher", compiled(replaced, limit, obfuscated=obfuscated))
        watch = Redactor(flagged, allow=self.allow, limit=limit, obfuscated=obfuscated) if flagged else None
        object.__setattr__(self, "_watch", watch)

    def __reduce__(self) -> tuple[Callable[..., Redactor], tuple[object, ...]]:
        # A matcher is made again, and shared again, wherever the redactor is restored.
        actions: dict[str, Action] = {rule.id: "flag" for rule in self.flagged}
        actions.update(dict.fromkeys(self.blocking, "block"))
        given = {name: getattr(self, name) for name in _GIVEN}
        return _restore, ((*self.rules, *self.flagged), actions, given)

    @staticmethod
    def literals(
        values: Mapping[str, str],
        *,
        key: bytes | None = None,
        placeholder: PlaceholderFunction | None = None,
        encodings: Collection[str] = ("base64", "url", "json"),
    ) -> LiteralRedactor:
        """A guard for the known secrets of this deployment, by name: see `LiteralRedactor`."""
        from streamguard.redact.literals import LiteralRedactor

        return LiteralRedactor(values, key=key, placeholder=placeholder, encodings=encodings)

    def session(
        self,
        *,
        on_finding: FindingHandler | None = None,
        on_hidden: HiddenHandler | None = None,
    ) -> Session:
        """Make the state of one stream. `on_hidden` is for fences; a redactor hides nothing."""
        watch: Session | None = None
        if self._watch is not None and on_finding is not None:
            watch = self._watch.session(on_finding=_flagging(on_finding))
        return RedactorSession(self, self._matcher, watch, on_finding)

    def bounds(self) -> tuple[Bound, ...]:
        """The most characters each rule holds back."""
        return tuple(
            bound_of(self._matcher, number, rule, self.limit) for number, rule in enumerate(self.rules)
        )


@lru_cache(maxsize=64)
def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ValueError:  # imports of it are blocked
        return False


_GIVEN = ("allow", "key", "placeholder", "limit", "obfuscated")


def _restore(rules: tuple[Rule, ...], actions: dict[str, Action], given: dict[str, Any]) -> Redactor:
    return Redactor(rules, actions=actions, **given)


def _flagging(on_finding: FindingHandler) -> FindingHandler:
    """Tells what would have been redacted as flagged."""

    def flagged(finding: Finding) -> None:
        if finding.action == "redacted":
            on_finding(Finding(finding.stage, finding.rule, "flagged", finding.offset, finding.length))

    return flagged
