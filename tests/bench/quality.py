"""What is found and what is wrongly found, beside the other tools that look for secrets.

    python -m tests.bench.quality --peers VENV... [--show-benign] [--show-worse] [--json FILE]

A tool is taken from the environments named, from the one this runs in, or from PATH; one that is
not there is shown as such. Recall needs the labelled corpus beside the checkout.

An item counts as found if any character of a labelled secret is covered, as covered if 95 % of
them are. Both are means over the rules of the corpus, each the mean of its items, so that a rule
with a hundred samples weighs as much as one with two. No tool is judged by what its own project
wrote, so each has its own set of items: what streamguard does on the same set stands next to it.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from .benign import Document, documents, size
from .report import Report
from .tools import Outcome, Span, Tool, tools

__all__ = ["DATA", "Item", "covered", "items", "mean_by_rule", "merged", "named_rules"]

DATA = Path(__file__).parents[3] / "shared" / "data"
ENOUGH = 0.95
"""The share of a secret's characters from which on it counts as covered."""
SHOWN = 40
"""Findings of one rule listed for a kind of text."""

RuleKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Item:
    """A labelled text.

    Attributes:
        source: the project and the place it was collected from.
        secrets: where its secrets stand; none in a text in which nothing may be found.
    """

    source: str
    rule: str
    kind: str
    positive: bool
    text: str
    secrets: tuple[tuple[int, int], ...]

    @property
    def key(self) -> RuleKey:
        return self.source, self.rule


@cache
def items(name: str) -> list[Item]:
    """A corpus, `secrets` or `pii`: what must be found, and where nothing may be."""
    found: list[Item] = []
    for side in ("positive", "negative"):
        with (DATA / f"rules_{name}_{side}.jsonl").open(encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                positive = row["expect"] == "match"
                if row["kind"] == name.removesuffix("s") and (positive or row["scope"] == "any"):
                    spans = tuple((start, end) for start, end in row["secret_spans"])
                    found.append(Item(row["source"], row["rule"], row["kind"], positive, row["text"], spans))
    return found


def covered(item: Item, spans: Iterable[Span]) -> float:
    """The share of the characters of an item's secrets that findings cover."""
    hidden = {at for start, end, _ in spans for at in range(start, end)}
    secret = {at for start, end in item.secrets or ((0, len(item.text)),) for at in range(start, end)}
    if not item.secrets:
        return float(bool(hidden))
    return len(secret & hidden) / len(secret)


def mean_by_rule(pairs: Iterable[tuple[Item, float]]) -> dict[RuleKey, tuple[float, float]]:
    """For each rule of a corpus, the share of its items found and the share covered."""
    shares: dict[RuleKey, list[float]] = {}
    for item, share in pairs:
        shares.setdefault(item.key, []).append(share)
    return {
        key: (
            sum(share > 0 for share in found) / len(found),
            sum(share >= ENOUGH for share in found) / len(found),
        )
        for key, found in shares.items()
    }


def _mean(rules: dict[RuleKey, tuple[float, float]], wanted: Callable[[RuleKey], bool]) -> str:
    chosen = [value for key, value in rules.items() if wanted(key)]
    if not chosen:
        return "-"
    found, full = (100 * sum(column) / len(chosen) for column in zip(*chosen, strict=True))
    return f"{found:.1f} / {full:.1f}"


def merged(spans: Iterable[Span]) -> list[Span]:
    """Findings that overlap, as one: a place in a text is reported once, whatever it may be."""
    out: list[Span] = []
    for start, end, rule in sorted(spans):
        if out and start < out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]), out[-1][2])
        else:
            out.append((start, end, rule))
    return out


def named_rules(pairs: Iterable[tuple[Item, Iterable[Span]]]) -> set[RuleKey]:
    """The kinds of secrets we name: rules of the corpus of which at least one secret is found by a
    rule of ours for that vendor or format, not by what a variable is called."""
    from streamguard.redact.rules import ASSIGNMENTS

    by_name = {rule.id for rule in ASSIGNMENTS}
    return {
        item.key
        for item, spans in pairs
        if item.positive and covered(item, [span for span in spans if span[2] not in by_name]) > 0
    }


@dataclass(frozen=True, slots=True)
class Corpus:
    """The labelled texts of one kind, and which of the texts that were searched they are."""

    name: str
    items: list[Item]
    first: int

    def found(self, outcome: Outcome) -> list[tuple[Item, list[Span]]]:
        texts = outcome.found[0][self.first : self.first + len(self.items)]
        return list(zip(self.items, texts, strict=True))

    def by_rule(self, outcome: Outcome) -> dict[RuleKey, tuple[float, float]]:
        return mean_by_rule(
            (item, covered(item, spans)) for item, spans in self.found(outcome) if item.positive
        )

    def false(self, outcome: Outcome, wanted: Callable[[Item], bool]) -> str:
        """The share of texts without secrets in which something was found."""
        hit = [bool(spans) for item, spans in self.found(outcome) if not item.positive and wanted(item)]
        return f"{100 * sum(hit) / len(hit):.2f}" if hit else "-"


@dataclass(frozen=True, slots=True)
class Run:
    """All that was measured."""

    benign: list[Document]
    corpora: dict[str, Corpus]
    outcomes: dict[str, Outcome]
    absent: dict[str, str]

    @property
    def megabytes(self) -> float:
        return float(sum(size(self.benign).values())) / 1e6

    def benign_findings(self, name: str) -> list[tuple[Document, Span]]:
        found = self.outcomes[name].found[-1]
        return [
            (document, span)
            for document, spans in zip(self.benign, found, strict=True)
            for span in merged(spans)
        ]


def measure(chosen: Sequence[Tool], places: Sequence[Path]) -> Run:
    """Write the texts to folders, a file each, and let the tools search them one after the other."""
    benign = documents()
    corpora: dict[str, Corpus] = {}
    texts: list[str] = []
    for name in ("secrets", "pii"):
        if (DATA / f"rules_{name}_positive.jsonl").exists():
            corpora[name] = Corpus(name, items(name), len(texts))
            texts += [item.text for item in corpora[name].items]
    run = Run(benign, corpora, {}, {})
    with tempfile.TemporaryDirectory() as made:
        scratch = Path(made)
        folders = [_write(scratch / "labelled", texts)]
        folders.append(_write(scratch / "benign", [document.text for document in benign]))
        for tool in chosen:
            outcome = tool.run(places, folders, scratch)
            if isinstance(outcome, Outcome):
                run.outcomes[tool.name] = outcome
            else:
                run.absent[tool.name] = outcome
    return run


def _write(folder: Path, texts: Sequence[str]) -> Path:
    folder.mkdir()
    for number, text in enumerate(texts):
        (folder / f"{number:06}.txt").write_bytes(text.encode())
    return folder


OURS = "streamguard"
COLUMNS = (
    "tool",
    "recall, all kinds",
    "ours there",
    "recall, kinds we name",
    "ours there",
    "labelled negatives hit %",
    "keyword lines hit %",
    "false findings a MB",
    "MB/s first",
    "MB/s again",
    "times as fast, first",
    "again",
    "start s",
)


def tabulate(run: Run, chosen: Sequence[Tool]) -> Report:
    report = Report()
    rows = report.table("Secrets: found / covered, %, and what it costs", *COLUMNS)
    secrets = run.corpora.get("secrets")
    ours = run.outcomes.get(OURS)
    named = named_rules(secrets.found(ours)) if secrets and ours else set()
    for tool in chosen:
        if tool.name not in run.outcomes:
            rows.append((tool.name, "absent", *[""] * (len(COLUMNS) - 2)))
            continue
        outcome = run.outcomes[tool.name]
        rows.append(
            (
                f"{tool.name} {outcome.version}",
                *_recall(secrets, outcome, ours, tool, named),
                *_precision(secrets, outcome, tool),
                f"{len(run.benign_findings(tool.name)) / run.megabytes:.2f}",
                *_speed(run, outcome, ours),
            )
        )
    if "pii" in run.corpora:
        _tabulate_personal(report, run, chosen)
    kinds = ", ".join(f"{name} {count / 1e6:.1f} MB" for name, count in size(run.benign).items())
    report.note(f"Ordinary text: {kinds}; together {run.megabytes:.1f} MB in {len(run.benign)} texts.")
    if ours:
        kinds = ", ".join(f"{kind} {count}" for kind, count in _by_kind(run).items())
        report.note(f"Findings of {OURS} there: {kinds}.")
    if secrets and ours:
        rules = {item.key for item in secrets.items if item.positive}
        report.note(
            f"Kinds we name: {len(named)} of the {len(rules)} rules of the corpus, those of which a rule of "
            f"ours other than one for assignments finds at least one secret."
        )
    for name, reason in run.absent.items():
        report.note(f"Absent: {name}: {reason}.")
    report.note("* chosen among lines that this tool leaves alone. Overlapping findings count once.")
    report.note("Speed: processor time on one core, start-up apart; `again` is a second pass in one process.")
    return report


def _by_kind(run: Run) -> dict[str, int]:
    counts = dict.fromkeys(size(run.benign), 0)
    for document, _ in run.benign_findings(OURS):
        counts[document.kind] += 1
    return counts


def _recall(
    secrets: Corpus | None, outcome: Outcome, ours: Outcome | None, tool: Tool, named: set[RuleKey]
) -> list[str]:
    if secrets is None:
        return ["-"] * 4
    cells: list[str] = []
    for kinds in (None, named):

        def wanted(key: RuleKey, kinds: set[RuleKey] | None = kinds) -> bool:
            return not key[0].startswith(tool.own or ("\0",)) and (kinds is None or key in kinds)

        for one in (outcome, ours):
            cells.append("-" if one is None else _mean(secrets.by_rule(one), wanted))
    return cells


def _precision(secrets: Corpus | None, outcome: Outcome, tool: Tool) -> list[str]:
    if secrets is None:
        return ["-"] * 2

    def labelled(item: Item) -> bool:
        return not item.rule.startswith("benign:") and not item.source.startswith(tool.own or ("\0",))

    lines = secrets.false(outcome, lambda item: item.rule.startswith("benign:"))
    return [secrets.false(outcome, labelled), lines + ("*" if tool.screened else "")]


def _speed(run: Run, outcome: Outcome, ours: Outcome | None) -> list[str]:
    first, *more = outcome.seconds[-1]
    cells = [f"{run.megabytes / first:.2f}", f"{run.megabytes / more[0]:.2f}" if more else "-"]
    for number in (0, -1):
        cells.append("-" if ours is None else f"{outcome.seconds[-1][number] / ours.seconds[-1][number]:.3g}")
    return [*cells, f"{outcome.setup:.2f}"]


def _tabulate_personal(report: Report, run: Run, chosen: Sequence[Tool]) -> None:
    rows = report.table("Personal data: found / covered, %", "tool", "recall", "ours there")
    corpus = run.corpora["pii"]
    ours = run.outcomes.get("streamguard, PII alone")
    for tool in chosen:
        if tool.name not in run.outcomes or tool.binary:
            continue

        def wanted(key: RuleKey, own: tuple[str, ...] = tool.own or ("\0",)) -> bool:
            return not key[0].startswith(own)

        outcome = run.outcomes[tool.name]
        cells = [_mean(corpus.by_rule(one), wanted) if one else "-" for one in (outcome, ours)]
        rows.append((tool.name, *cells))


def worse(run: Run) -> list[tuple[float, str, RuleKey, float]]:
    """Rules of the corpus of which another tool covers more than we do: by how much, and who."""
    secrets = run.corpora["secrets"]
    ours = secrets.by_rule(run.outcomes[OURS])
    best: dict[RuleKey, tuple[float, str]] = {}
    for name, outcome in run.outcomes.items():
        if name.startswith(OURS):
            continue
        for key, (_, full) in secrets.by_rule(outcome).items():
            best[key] = max(best.get(key, (0.0, "")), (full, name))
    lacking = [(full - ours[key][1], name, key, ours[key][1]) for key, (full, name) in best.items()]
    return sorted((one for one in lacking if one[0] > 0), reverse=True)


def _listing(findings: Iterable[tuple[Document, Span]]) -> Iterator[str]:
    """Findings with what stands around them; of those of one rule in one kind of text, some."""
    times: dict[tuple[str, str], int] = {}
    for document, (start, end, rule) in findings:
        key = document.kind, rule
        times[key] = times.get(key, 0) + 1
        if times[key] <= SHOWN:
            before, after = document.text[max(0, start - 60) : start], document.text[end : end + 60]
            yield f"{rule}  {document.kind}: {document.name}"
            yield f"    {before!r} >>> {document.text[start : min(end, start + 60)]!r} <<< {after!r}"
    for (kind, rule), count in times.items():
        if count > SHOWN:
            yield f"{rule}  {kind}: {count - SHOWN} more"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.quality", description=__doc__)
    parser.add_argument("--peers", nargs="+", type=Path, default=[], help="virtual environments with tools")
    parser.add_argument("--only", nargs="+", help="names of tools, or beginnings of them")
    parser.add_argument("--json", type=Path, help="write all that was measured to a file")
    parser.add_argument(
        "--show-benign", nargs="?", const=OURS, help="list a tool's findings in ordinary text"
    )
    parser.add_argument("--show-worse", action="store_true", help="list the rules at which another is better")
    asked = parser.parse_args()
    chosen = [tool for tool in tools() if not asked.only or tool.name.startswith(tuple(asked.only))]
    run = measure(chosen, asked.peers)
    report = tabulate(run, chosen)
    print(*report.lines(), sep="\n")
    if asked.show_benign in run.outcomes:
        print(f"\nFindings of {asked.show_benign} in ordinary text:\n")
        print(*_listing(run.benign_findings(asked.show_benign)), sep="\n")
    if asked.show_worse and OURS in run.outcomes and "secrets" in run.corpora:
        print("\nCovered more by another tool: by how much, rule, source, tool, what we cover\n")
        own = {tool.name: tool.own or ("\0",) for tool in chosen}
        for more, name, (source, rule), full in worse(run):
            mark = ", its own samples" if source.startswith(own[name]) else ""
            print(f"{100 * more:5.0f}  {rule}  ({source.split()[0]})  {name}{mark}  {100 * full:.0f}")
    if asked.json:
        content = {
            "megabytes": run.megabytes,
            "absent": run.absent,
            "tools": {name: asdict(outcome) for name, outcome in run.outcomes.items()},
        }
        asked.json.write_text(json.dumps(content))


if __name__ == "__main__":
    main()
