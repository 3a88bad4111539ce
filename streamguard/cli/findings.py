"""Counts of what was done, for `--report`: by stage and rule, never a value."""

from __future__ import annotations

import json
from collections import Counter

from streamguard.session import Finding

__all__ = ["Tally"]


class Tally:
    """Findings of any number of sources, counted."""

    def __init__(self) -> None:
        self._sources: dict[str, Counter[tuple[str, str, str]]] = {}
        self._characters: Counter[tuple[str, str, str, str]] = Counter()
        self._current = Counter[tuple[str, str, str]]()
        self._name = ""

    def start(self, source: str) -> None:
        """Count what follows under the name of `source`."""
        self._name = source
        self._current = self._sources.setdefault(source, Counter())

    def add(self, finding: Finding) -> None:
        """Count one finding; the `on_finding` of a session."""
        what = (finding.stage, finding.rule, finding.action)
        self._current[what] += 1
        self._characters[(self._name, *what)] += finding.length

    @property
    def total(self) -> int:
        """How many findings there were."""
        return sum(counts.total() for counts in self._sources.values())

    def as_json(self) -> str:
        """Return one line of JSON."""
        sources = [
            {
                "source": name,
                "findings": [
                    {
                        "stage": stage,
                        "rule": rule,
                        "action": action,
                        "count": count,
                        "characters": self._characters[(name, stage, rule, action)],
                    }
                    for (stage, rule, action), count in sorted(counts.items())
                ],
            }
            for name, counts in self._sources.items()
        ]
        return json.dumps({"findings": self.total, "sources": sources}, ensure_ascii=False)

    def as_text(self) -> str:
        """Return a few lines for people."""
        lines: list[str] = []
        for name, counts in self._sources.items():
            total = counts.total()
            found = "nothing found" if not total else f"{total} finding{'s' if total != 1 else ''}"
            lines.append(f"{name}: {found}")
            width = max((len(f"{stage}/{rule}") for stage, rule, _ in counts), default=0)
            for (stage, rule, action), count in sorted(counts.items()):
                characters = self._characters[(name, stage, rule, action)]
                label = f"{stage}/{rule}"
                lines.append(f"  {label:<{width}}  {action} {count} ({characters} characters)")
        return "\n".join(lines)
