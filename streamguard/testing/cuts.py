"""Ways to cut a text into chunks, enumerated, drawn by seed, or as Hypothesis strategies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["chunked", "cuts_of", "every_cut", "random_cuts", "texts"]


def every_cut(text: str, /) -> Iterator[list[str]]:
    """Cut a text in every systematic way.

    Args:
        text: the text to cut.

    Yields:
        The whole text, the text at every two-way cut (an empty first or last chunk
        included), one character at a time, and the same with empty chunks in between.
    """
    yield [text]
    for at in range(len(text) + 1):
        yield [text[:at], text[at:]]
    yield list(text)
    yield ["", *(part for character in text for part in (character, ""))]


def random_cuts(text: str, /, *, seed: int = 0, n: int = 20) -> Iterator[list[str]]:
    """Cut a text at random places, few or many.

    Args:
        text: the text to cut.
        seed: the same seed gives the same cuts.
        n: how many to draw.

    Yields:
        The chunks of one cut; some are empty.
    """
    random = Random(seed)  # noqa: S311 - reproducible, not secret
    for _ in range(n):
        count = random.choice((1, 2, 3, 1 + len(text) // 8, 1 + len(text) // 2))
        yield _cut(text, [random.randint(0, len(text)) for _ in range(count)])


def _cut(text: str, places: Sequence[int]) -> list[str]:
    edges = [0, *sorted(places), len(text)]
    return [text[start:stop] for start, stop in pairwise(edges)]


def cuts_of(text: str, /) -> SearchStrategy[list[str]]:
    """Draw a cut of one text.

    Args:
        text: the text to cut.

    Returns:
        A strategy that shrinks to the uncut text.

    Raises:
        ImportError: hypothesis is not installed.
    """
    from hypothesis import strategies as st

    places = st.lists(st.integers(0, len(text)), max_size=8)
    return places.map(lambda drawn: _cut(text, drawn)) | st.just(list(text))


def chunked(text: SearchStrategy[str], /) -> SearchStrategy[list[str]]:
    """Draw a text and a cut of it.

    Args:
        text: the strategy for the text.

    Returns:
        A strategy for its chunks; joined, they are the text.

    Raises:
        ImportError: hypothesis is not installed.
    """
    return text.flatmap(cuts_of)


def texts(fragments: Sequence[str], /, *, max_fragments: int = 12) -> SearchStrategy[str]:
    r"""Draw texts built to collide with patterns.

    Args:
        fragments: what the texts are put together from, such as `"<"`, `"<think"`,
            `">"`, `"</think>"`, `"a"`, `" "` and `"\n"`.
        max_fragments: most fragments in one text.

    Returns:
        A strategy for concatenations of fragments.

    Raises:
        ImportError: hypothesis is not installed.
    """
    from hypothesis import strategies as st

    return st.lists(st.sampled_from(fragments), max_size=max_fragments).map("".join)
