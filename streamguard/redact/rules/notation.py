r"""How a value stands after its name, in the notations of programs, settings and prose.

All of it is context: shown already, never held. A value never runs over a line break, but it
may begin on the line after its name, and one level of an object may stand between the two.
"""

from __future__ import annotations

__all__ = ["END", "GAP", "IS", "MARK", "NEXT_LINE", "OPENED", "PAIRED", "QUOTED", "STOP"]

MARK = r"""(?:\\{0,3}["'`]|&(?:quot|apos|#34|#39);|\\u0022)"""
"""A quotation mark, escaped perhaps: as in JSON inside JSON, or for HTML."""

# Not counted: every count would be a state of its own in the automaton.
GAP = r"[ \t]*"

_CLOSED = rf"(?:{MARK})?(?:\[[0-9]{{0,3}}\]|\])?"
_TYPE = r":[ ]?(?:&'[a-z]+[ ]|&)?[A-Za-z][A-Za-z0-9_.\[\]<>]*(?:[ ]?\|[ ]?[A-Za-z]+)?[ ]?="
_BOLD = r"\*{0,2}"  # in Markdown a name is often set in bold, with its colon or without
_SIGN = r"(?:[?+.|]{1,2}=|=>|->|!==?|:{1,3}={0,2}|:[-+]|={1,3}|：)"
_LINE = r"(?:\\[nr]|\r?\n)[ \t]*"
# An object or a block whose only or first entry is the value, as in Terraform or a schema.
_NESTED = rf"""\{{(?:{_LINE})?[ ]?(?:{MARK})?(?:value|default|content)(?:{MARK})?{GAP}[:=][ ]?"""
# The entry after the one that holds the name, as in Kubernetes: `name: X` and `value: Y`.
_ENTRY = rf"""(?:{MARK})?,?(?:[ ]|{_LINE})(?:{MARK})?[vV]alue(?:{MARK})?{GAP}[:=]"""

IS = (
    rf"(?:{_CLOSED}{_BOLD}{GAP}(?:{_TYPE}|(?:string|value)[ ]?=|{_SIGN}){_BOLD}{GAP}(?:\*\*\*?|{_NESTED})?"
    rf"|{_CLOSED}[ ]\{{{_LINE}(?:type[ ]+=[ ]string{_LINE})?default{GAP}={GAP}"
    rf"|{_ENTRY}{GAP})"
)
"""The sign between a name and its value, with what may stand around it."""

NEXT_LINE = rf"""(?:{MARK})?{GAP}(?:=|:)[ ]?(?:[|>][+-]?|\()?[ ]?\r?\n[ \t]+"""
"""The same where the value begins on the next line: a block of YAML, brackets of Python."""

OPENED = rf"""[@bBfFrRuU]{{0,2}}(?:"{{3}}|'{{3}}|{MARK})"""
"""What opens a string literal."""

PAIRED = rf"""{MARK},{GAP}"""
"""Between a name and a value that are arguments of a call: `set("name", "value")`."""

# A string in quotes, which may hold white space if it is short; one in escaped quotes,
# as in JSON inside JSON, ends at the next backslash, one in quotes of HTML at the next mark.
QUOTED = "|".join(
    [
        *(
            rf"(?<=[^\\]{mark})(?:(?:[^\s{mark}\\]|\\\S){{4,}}|[^{mark}\\\n]{{4,120}})(?={mark}|\Z)"
            for mark in "\"'`"
        ),
        r"""(?<=\\["'])[^\s"'\\]{4,}(?=\\|\Z)""",
        r"""(?:(?<=&(?:quot|apos);)|(?<=&#3[49];))[^\s"'&\\]{4,}(?=&|\Z)|(?<=\\u0022)[^\s"'\\]{4,}(?=\\|\Z)""",
    ]
)
"""A string literal, after the mark that opens it."""

STOP = r"""\s"'`,;()\[\]{}<>|&\\"""
"""Characters that end a value without quotes."""

# It may not end before an opening bracket: that would be a call or an element of something.
END = r"""(?=[\s"'`,;.)\]}<>|&\\]|\Z)"""
"""What follows a value without quotes."""
