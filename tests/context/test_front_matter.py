"""Front matter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamguard.context.front_matter import read_values, split_front_matter


@pytest.mark.parametrize(
    ("text", "inner", "rest"),
    [
        ("---\nname: x\n---\nBody\n", "name: x\n", "Body\n"),
        ("---\n---\nBody", "", "Body"),
        ("---  \n# a comment\nname: x\n...\n", "# a comment\nname: x\n", ""),
        ("---\nname: x\n---", "name: x\n", ""),
        ("---\nname: x\nBody without an end\n", "", None),
        ("---\nA line above.\n\n---\nA line below.\n", "", None),
        ("\n---\nname: x\n---\n", "", None),
        ("----\nname: x\n----\n", "", None),
        ("Body\n---\nname: x\n---\n", "", None),
    ],
)
def test_where_it_ends(text: str, inner: str, rest: str | None) -> None:
    assert split_front_matter(text) == (inner, text if rest is None else rest)


def test_values_as_they_are_written() -> None:
    values = read_values(
        "name: pdf-tools  # a comment\n"
        "description: >-\n  Reads files\n  and writes them.\n\n"
        'quoted: "say \\"hi\\" # no comment"\n'
        "single: 'it''s'\n"
        "long: one\n  two\n"
        "list:\n- a\n- b\n"
        "url: http://x.example/#part\n"
        "empty:\n"
    )
    assert values == {
        "name": "pdf-tools",
        "description": "Reads files and writes them.",
        "quoted": 'say "hi" # no comment',
        "single": "it's",
        "long": "one two",
        "list": "",
        "url": "http://x.example/#part",
        "empty": "",
    }


@given(st.text(alphabet="-. \na:>|'\"#", max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    inner, rest = split_front_matter(text)
    assert text.endswith(rest)
    assert inner in text
    assert all("\n" not in value for value in read_values(text).values())
