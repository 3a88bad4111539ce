"""Characters that show nothing and carry something: what people do not see and models read.

Zero-width joiners and non-joiners are left alone wherever scripts and emoji need them:
that is everywhere but between two ASCII letters, where they only split a word. A byte
order mark at the start of a text is one. The patterns here see text as it is.

Nothing of this is lowered in quotations: who reads the page cannot see that it is quoted.
"""

from __future__ import annotations

from streamguard.memory.threat import Severity, Threat, complete
from streamguard.redact import Rule

__all__ = ["HIDDEN"]

_TAGS = "\U000e0000-\U000e007f"
_FLAG = "\U0001f3f4"  # England's and others' flags are this one and up to seven tags
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_ZERO_WIDTH = "\u180e\u200b-\u200d\u2060-\u2064\ufeff"
_SOURCE = "Unicode 16, chapters 23.2 to 23.9"


def _hidden(name: str, value: str, description: str, severity: Severity, found: str, *left: str) -> Threat:
    rule = Rule(
        name,
        value,
        checks=(complete,),
        hashed=False,
        description=description,
        source=_SOURCE,
        examples=(found,),
        near_misses=left,
    )
    return Threat(rule, severity, quotable=False)


HIDDEN: tuple[Threat, ...] = (
    _hidden(
        "hidden-text",
        rf"(?<![{_FLAG}{_TAGS}])[{_TAGS}]+|(?<={_FLAG})[{_TAGS}]{{8,}}|[{_SELECTORS}]{{4,}}",
        "text in tag characters, or bytes in variation selectors",
        Severity.HIGH,
        "a\U000e0068\U000e0069b",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "\u2764\ufe0f",
    ),
    _hidden(
        "bidi-override",
        "[\u202d\u202e]+",
        "makes text read in another order than it is shown",
        Severity.MEDIUM,
        "a\u202eb",
        "\u2067a\u2069",
    ),
    _hidden(
        "bidi-control",
        "[\u202a-\u202c\u2066-\u2069]+",
        "changes the direction of text",
        Severity.LOW,
        "\u2067a",
        "\u200fa",
    ),
    _hidden(
        "invisible-characters",
        rf"(?<=[A-Za-z])[{_ZERO_WIDTH}]+(?=[A-Za-z])",
        "characters without width inside a word",
        Severity.MEDIUM,
        "ig\u200bnore",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\U0001f469\u200d\U0001f4bb",
    ),
    _hidden(
        "zero-width",
        r"(?s:(?<=.))[\u180e\u200b\u2060-\u2064\ufeff]+",
        "characters without width",
        Severity.LOW,
        "a \u200bb",
        "\ufeffa",
    ),
)
