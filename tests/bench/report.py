"""The numbers of one run, as tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

__all__ = ["Report"]

Table = tuple[tuple[str, ...], list[tuple[str, ...]]]


class Report:
    """Tables by title, in the order they were begun, and remarks."""

    def __init__(self) -> None:
        self._tables: dict[str, Table] = {}
        self._notes: list[str] = []

    def table(self, title: str, *columns: str) -> list[tuple[str, ...]]:
        """The rows of a table, to append to."""
        return self._tables.setdefault(title, (columns, []))[1]

    def target(
        self, what: str, measured: float, least: float | None = None, *, most: float | None = None
    ) -> None:
        """Set a number beside what the project promises. A miss is printed; it fails nothing."""
        if least is not None:
            wanted, met = f"at least {least:g}", measured >= least
        else:
            assert most is not None
            wanted, met = f"at most {most:g}", measured <= most
        self.table("Targets", "what", "measured", "target", "").append(
            (
                what,
                f"{measured:.3g}" if measured < 100 else f"{measured:.0f}",
                wanted,
                "met" if met else "MISSED",
            )
        )

    def note(self, line: str) -> None:
        """Add a remark."""
        self._notes.append(line)

    def lines(self) -> Iterator[str]:
        """The report; nothing if nothing was measured."""
        for title, (columns, rows) in sorted(self._tables.items(), key=lambda item: item[0] == "Targets"):
            yield ""
            yield f"### {title}"
            yield ""
            yield from _markdown(columns, rows)
        if self._notes:
            yield ""
            yield from self._notes


def _markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    for row in (columns, ["-" * width for width in widths], *rows):
        cells = [
            cell.ljust(width) if index == 0 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield f"| {' | '.join(cells)} |"
