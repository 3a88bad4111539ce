r"""Where a token may begin, and pieces several rules share.

A token begins where no word goes on. Inside a string of JSON, of a URL or of a program's
source, and in coloured terminal output, what stands before it may look like the end of a
word and is an escape: `\n`, `%3D`, `\x3d`, `\u003d`, `[32m`. Without these a key on the
second line of a tool's JSON result is missed.
"""

from __future__ import annotations

__all__ = ["LEFT", "STRICT_LEFT", "UNMASKED", "spellings"]

_ESCAPES = (
    r"(?<=\\[nrtbf])",
    r"(?<=%[0-9A-Fa-f]{2})",
    r"(?<=\\x[0-9A-Fa-f]{2})",
    r"(?<=\\u[0-9A-Fa-f]{4})",
    *(rf"(?<=\[[0-9;]{{{width}}}m)" for width in (1, 2, 4, 5)),
)

# Underscores that set the token in italics or in bold and belong to no word, as in Markdown.
_EMPHASIS = tuple(rf"(?<={mark})(?<![A-Za-z0-9_]{mark})" for mark in ("_", "__"))
# A line that a patch adds or takes away begins with its sign.
_PATCH = (r"(?<=[+-])(?<![^\n][+-])", r"(?<=\\n[+-])")

LEFT = f"(?:{'|'.join((r'(?<![A-Za-z0-9_])', *_EMPHASIS, *_ESCAPES))})"
"""Before a token with a telling prefix."""

STRICT_LEFT = f"(?:{'|'.join((r'(?<![A-Za-z0-9_./+-])', *_PATCH, *_ESCAPES))})"
"""Before a token whose prefix is also found inside file names and hyphenated words."""

UNMASKED = r"(?:(?![xX])|[xX](?![xX])|[xX][xX](?![xX]))"
"""Before a token's random part: it does not begin with three `x`, as masked ones do.

One real token in thirty thousand is missed, and masked ones in documentation are left alone
without a check, which would hold a value to its end.
"""


def spellings(*words: str) -> str:
    """A pattern of the ways in which people write a name: `api_key`, `ApiKey`, `API-KEY`.

    Cases are spelled out rather than ignored: the prefilter then looks for whole names, and
    not for the first letters of every word that begins like one.
    """
    either = [f"[{word[0].lower()}{word[0].upper()}]{word[1:]}" for word in words[:-1]]
    forms = [
        "[_ -]?".join(words),
        "[_ -]?".join([*either, words[-1].title()]),
        "[_ -]?".join(map(str.upper, words)),
    ]
    if len(words) > 1:
        forms.append("[_ ]".join([words[0].upper(), *words[1:]]))
        if len(words[0]) == 3:  # an abbreviation: API Key
            forms.append("[_ ]".join([words[0].upper(), *map(str.title, words[1:])]))
    return f"(?:{'|'.join(forms)})"
