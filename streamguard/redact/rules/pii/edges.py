r"""Where personal data may begin and end, and the words that announce it.

A word or a number begins where no other goes on, or right behind an escape (`\n`, `%3D`,
`\u003d`). The letter of an escape is not the beginning of what follows: without that, the
value would take the `n` of `\n` with it and leave a lone backslash in somebody's JSON.
"""

from __future__ import annotations

from streamguard.redact.rules.boundary import spellings

__all__ = ["LETTERS", "NUMBER", "NUMBER_END", "WORD", "announced", "digits", "words_of"]

LETTERS = "A-Za-zÀ-ɏͰ-ӿ"
"""Latin, Greek and Cyrillic. Scripts without spaces between words are none of them."""

_LOWER = "a-zß-ɏα-ωа-џ"
_ESCAPES = r"(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=\\x[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4})"

WORD = rf"(?:(?<![A-Za-z0-9_\\%])(?<!%[0-9A-Fa-f])|{_ESCAPES})"
"""Before a value of letters and digits."""

NUMBER = rf"(?:(?<![A-Za-z0-9_%])(?<!%[0-9A-Fa-f])(?<![A-Za-z0-9]-)(?<![0-9]\.)|{_ESCAPES})"
"""Before a number that is no part of a decimal, a version or a UUID."""

NUMBER_END = r"(?![A-Za-z0-9_-])"

# Not counted: each character counted would be a state of its own, times those of a word.
_SAME = r"[^0-9\n,.;!?}，。]*"
_GAP = rf"{_SAME}(?:\.{_SAME}){{0,2}}"


def digits(count: int, *, most: int | None = None, first: str = "[0-9]") -> str:
    """So many digits, in whatever groups. The number is exact: what follows is another number."""
    times = str(count - 1) if most is None else f"{count - 1},{most - 1}"
    return rf"{first}(?:[ \u00a0./-]?[0-9]){{{times}}}"


def _forms(word: str) -> str:
    if len(word) > 4 or not word.islower():
        return word if word != word.lower() else spellings(*word.split())
    # `sin` is not the beginning of `since`, nor `SIN` of `SINGLE`.
    return f"(?:{word}(?![{_LOWER}])|{word.title()}(?![{_LOWER}])|{word.upper()}(?![{LETTERS}]))"


def announced(*words: str) -> str:
    """The context of a value that is told by a word before it: `NHS number: `, `"nhsNumber": "`.

    Lower-case words are known in their usual spellings, others as they are written here.
    Words of up to four letters stand alone; longer ones may be inflected. Between the word and
    the value there may be others of the same sentence, but no digit and no line break; two
    periods, as behind `tel.` and `no.`, do not end it.
    """
    return rf"(?<![{LETTERS}])(?:{'|'.join(map(_forms, words))}){_GAP}"


def words_of(*words: str) -> tuple[str, ...]:
    """The anchors of `announced`: the last part of each word, in its three cases."""
    last = [word.split()[-1] for word in words]
    return tuple(dict.fromkeys(form for word in last for form in (word, word.title(), word.upper())))
