"""Every state a small grammar can reach: what is held may still go, and what may go is held."""

from __future__ import annotations

from collections import deque

import pytest

from streamguard.preamble.grammar import LANGUAGES, Grammar
from streamguard.preamble.phrases import Phrases
from streamguard.preamble.place import kind_of
from streamguard.preamble.tail import Config, Machine

SMALL = Phrases(
    interjections="(?:no, )",
    leads=r"no(?:\.|。)",
    beginnings=("go on", r"stop\b"),
    exceptions=(r"\bx\b",),
    openings=(),
)
MAX_HELD = 24
ALPHABET = "gonstpx ,.。:\n'\"("


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setitem(LANGUAGES, "small", SMALL)
    grammar = Grammar(("small",), ("go x on",))
    return Machine(grammar, max_sentence=grammar.longest, max_held=MAX_HELD)


def reachable(machine: Machine, start: Config) -> dict[Config, list[Config]]:
    moves = [(kind_of(char), machine.grammar.classify(char)) for char in ALPHABET]
    found: dict[Config, list[Config]] = {}
    todo = deque([start])
    while todo:
        config = todo.popleft()
        if config not in found:
            found[config] = [machine.move(config, kind, mask) for kind, mask in moves]
            todo.extend(found[config])
    return found


def test_what_is_held_may_still_go(machine: Machine) -> None:
    states = reachable(machine, machine.state().config)
    assert len(states) > 5_000
    before: dict[Config, list[Config]] = {config: [] for config in states}
    for config, following in states.items():
        for after in following:
            if config.hold and after.hold == config.hold + 1:
                before[after].append(config)
    todo = [config for config in states if config.hold and machine.trims(config) is not None]
    goes = set(todo)
    while todo:
        for config in before[todo.pop()]:
            if config not in goes:
                goes.add(config)
                todo.append(config)
    assert [config for config in states if config.hold and config not in goes] == []


def test_what_is_held_grows_by_the_character_read_or_begins_anew(machine: Machine) -> None:
    states = reachable(machine, machine.state().config)
    assert max(config.hold for config in states) == MAX_HELD
    for config, following in states.items():
        for after in following:
            assert after.hold in {0, 1, config.hold + 1}
            assert after.hold == 0 or after.shown
        assert machine.trims(config) is None or config.hold > 0
