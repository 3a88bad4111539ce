"""The lines between `---` that a Markdown file may begin with, and the values in them.

They are YAML. Of that, what names and descriptions are written in is read: a key at the
beginning of a line and a text behind it, plain, in quotes or as a block (`|`, `>`).
"""

from __future__ import annotations

import re

__all__ = ["read_values", "split_front_matter"]

_WHOLE = re.compile(
    r"---[ \t]*\n(?P<inner>(?:(?!(?:---|\.\.\.)[ \t]*(?:\n|\Z)).*\n)*)(?:---|\.\.\.)[ \t]*(?:\n|\Z)"
)
_KEY = re.compile(r"(?P<key>[A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(?P<value>.*))?")
_BLOCK = re.compile(r"[|>][+-]?[0-9]?(?:[ \t]+#.*)?")


def split_front_matter(text: str) -> tuple[str, str]:
    """Divide a text into its front matter, without the lines around it, and the rest.

    A text that begins with a line across the page, and with no key behind it, has none.
    """
    found = _WHOLE.match(text)
    if found is None:
        return "", text
    lines = [line for line in found["inner"].splitlines() if line.strip() and not line.startswith("#")]
    if lines and not _KEY.fullmatch(lines[0]):
        return "", text
    return found["inner"], text[found.end() :]


def read_values(front_matter: str) -> dict[str, str]:
    """The texts of the keys at the beginning of a line, each as one line."""
    values: dict[str, str] = {}
    key = ""
    for line in front_matter.splitlines():
        if found := _KEY.fullmatch(line):
            key = found["key"]
            value = (found["value"] or "").strip()
            values[key] = "" if _BLOCK.fullmatch(value) else value
        elif key and (line[:1] in (" ", "\t") and line.strip()):
            values[key] = f"{values[key]} {line.strip()}".strip()
        elif line.strip() and not line.startswith("#"):
            key = ""
    return {name: _unquoted(value) for name, value in values.items()}


def _unquoted(value: str) -> str:
    quote = value[:1]
    if quote in ("'", '"') and len(value) > 1 and value.endswith(quote):
        inner = value[1:-1]
        return inner.replace("''", "'") if quote == "'" else inner.replace('\\"', '"').replace("\\\\", "\\")
    return re.sub(r"[ \t]#.*", "", value).strip()
