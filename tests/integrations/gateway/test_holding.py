from __future__ import annotations

from streamguard_gateway.holding import Holding

from streamguard import End
from streamguard.adapting import JsonLane

from .support import CANARY, GUARD, HIDDEN


def test_it_knows_what_all_its_texts_hold() -> None:
    holding = Holding(GUARD)
    one, two = holding.session(), holding.session()
    assert one.feed("a ZQCAN") == "a "
    assert two.feed("b <zqf") == "b "
    assert holding.held == one.pending + two.pending == len("ZQCAN" + "<zqf")
    assert one.flush(End.COMPLETE) == "ZQCAN"
    assert holding.held == len("<zqf")
    two.flush()
    assert holding.held == 0


def test_two_answers_do_not_count_each_other() -> None:
    one, two = Holding(GUARD), Holding(GUARD)
    one.session().feed("ZQCAN")
    assert (one.held, two.held) == (5, 0)


def test_it_guards_as_what_it_stands_for() -> None:
    text = f"a {CANARY} {HIDDEN}b"
    assert Holding(GUARD).scrub(text) == GUARD.scrub(text)
    document = f'{{"k": "{CANARY}", "n": 1}}'
    assert JsonLane(Holding(GUARD)).scrub(document) == JsonLane(GUARD).scrub(document)
