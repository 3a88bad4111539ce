r"""How threats are written down: in words.

A blank in a sentence is a gap of up to twelve characters of white space, list and emphasis
marks or escaped line breaks; `~3` is up to three words of any kind; everything else is a
pattern in the subset of `re` that streams. Case is ignored.
"""

from __future__ import annotations

from streamguard.memory.threat import Scope, Severity, Threat, complete
from streamguard.redact import Rule
from streamguard.redact.rules.boundary import LEFT

__all__ = ["told_of"]

_GAP = r"(?:[\s\u2800*_#>~-]|\\[nrt]){1,12}"


_NOT_FORBIDDEN = "".join(
    f"(?<!{forbidding}[ ])"
    for forbidding in (
        "[Nn]ever",
        "NEVER",
        "[Dd]o not",
        "DO NOT",
        "[Dd]on['’]t",
        "DON['’]T",
        "ust not",
        "uld not",
    )
)
_LEFT = LEFT + _NOT_FORBIDDEN


def _words(sentence: str) -> str:
    """The pattern of a sentence."""
    parts: list[str] = []
    gap = False
    for part in sentence.split(" "):
        if part[0] == "~":
            parts.append(rf"{_GAP}(?:[\w'’]{{1,16}},?{_GAP}){{0,{part[1:]}}}")
        else:
            parts.append(_GAP + part if gap else part)
        gap = part[0] != "~"
    return "".join(parts)


def told_of(
    name: str,
    description: str,
    *sentences: str,
    examples: tuple[str, ...],
    near_misses: tuple[str, ...] = (),
    severity: Severity = Severity.HIGH,
    scopes: tuple[Scope, ...] = ("memory", "context"),
    context: str = "",
    left: str = _LEFT,
) -> Threat:
    """A threat that is told by any of its sentences.

    Args:
        name: the id of its rule.
        description: what such a text does, for people.
        sentences: written as the module says.
        examples: texts in which it is found.
        near_misses: texts in which it is not.
        severity: how grave it is.
        scopes: where it counts.
        context: a pattern, with case, of what has to stand right before it.
        left: what it may begin behind: by default, where no word goes on and it is not forbidden
            ("never", "do not") right before.
    """
    value = "|".join(map(_words, sentences))
    return Threat(
        Rule(
            name,
            rf"{left}(?i:{value})(?![A-Za-z0-9_])",
            context=context,
            checks=(complete,),
            hashed=False,
            description=description,
            source="hermes-agent, its threat patterns: the names and what they are about",
            examples=examples,
            near_misses=near_misses,
        ),
        severity,
        scopes,
    )
