"""The laws of FenceScrubber, for every option, on texts built to collide with its patterns.

Law 1 defines the result on the whole text. `Reference` is that definition, written down
once more: it has the whole text at hand, knows nothing of chunks, states or hold-back,
and takes its time. Session and reference have to agree on the text, on the findings and
on what is handed on as hidden.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from streamguard import End, Fence, FenceScrubber, LimitExceededError
from streamguard.fence.plan import INVISIBLE, LIMIT, MAX_ATTRIBUTES, code_end
from streamguard.testing import Law, check_linear, check_minimal, check_transformer, cuts_of, texts
from streamguard.testing.cost import _reachable, _size

# -- the definition, on the whole text ----------------------------------------------------

NOTE = "\n[System note:"
BLANKS = rf"(?:[^\S\n]|{INVISIBLE}){{0,16}}"
LINE_START = re.compile(rf"(?:[^\S\n]|{INVISIBLE}){{0,200}}")
ESCAPED_BRACKET = r"&[lg]t;|&#0{0,4}6[02];|&#x0{0,4}3[ce];|\\u003[ce]"


@dataclass
class Tag:
    name: str
    open: str
    close: str
    void: str = ""
    nests: bool = True


def tag(fence: str | Fence, *, attributes: bool, escaped: bool) -> Tag:
    if isinstance(fence, Fence):
        opener, closer = ("|".join(map(re.escape, side)) for side in (fence.open, fence.close))
        return Tag(fence.name, opener, closer, nests=fence.nests)
    left, right, slash, attribute = "<", ">", "/", "[^<>＜＞]"
    if escaped:
        left = r"(?:<|＜|&lt;|&#0{0,4}60;|&#x0{0,4}3c;|\\u003c)"
        right = r"(?:>|＞|&gt;|&#0{0,4}62;|&#x0{0,4}3e;|\\u003e)"
        slash = r"(?:\\?/|／|&#0{0,4}47;|&#x0{0,4}2f;)"
        attribute = f"(?:(?!{ESCAPED_BRACKET}){attribute})"
    letters = [f"(?:{char}|{chr(ord(char) + 0xFEE0)})" if escaped else char for char in fence]
    if not attributes:
        name = "".join(letters)
        return Tag(
            fence, f"{left}{name}{right}", f"{left}{slash}{name}{right}", f"{left}{name}{slash}{right}"
        )
    gap = f"{INVISIBLE}{{0,4}}"
    name = gap.join(letters)
    more = rf"(?:\s{attribute}{{0,{MAX_ATTRIBUTES}}})?"
    return Tag(
        fence,
        rf"{left}{gap}{name}{gap}{more}{gap}{right}",
        rf"{left}{gap}{slash}{gap}\s{{0,2}}{name}{gap}{more}{gap}{right}",
        rf"{left}{gap}{name}{gap}{more}{gap}{slash}{gap}\s{{0,2}}{right}",
    )


def longest(pattern: str, text: str, start: int, beyond: int = 0, follows: str = "") -> int:
    """Where the longest match from `start` on ends, if it ends after `beyond`; or 0."""
    match = re.compile(pattern, re.IGNORECASE).fullmatch
    for end in range(len(text), max(start, beyond), -1):
        if match(text, start, end) and (not follows or re.match(follows, text[end : end + 1])):
            return end
    return 0


@dataclass
class Found:
    """A delimiter, or code that stays: where it ends, and what it is."""

    end: int
    kind: str
    fence: int = -1
    ahead: int = 0
    mark: str = ""


@dataclass
class Block:
    fence: int
    opened: int
    content: int
    trim: bool


class Reference:
    def __init__(self, *fences: str | Fence, **options: Any) -> None:
        given = {"where": "anywhere", "attributes": True, "nested": True, "orphan_close": "drop"}
        given |= {"unclosed": "drop", "start_inside": None, "code": False, "escaped": False}
        given |= {"max_block": None, "on_limit": "drop", "trim": "none"}
        self.options: dict[str, Any] = given | options
        self.tags = [tag(f, attributes=self["attributes"], escaped=self["escaped"]) for f in fences]

    def __getitem__(self, option: str) -> Any:
        return self.options[option]

    def run(self, text: str) -> None:
        self.text = text
        self.at = 0  # how much of the input is used up
        self.out = ""
        self.floor = 0  # where in the output a delimiter may begin: not before the end of code
        self.literal: dict[int, int] = {}
        self.findings: list[tuple[str, str, int, int]] = []
        self.hidden: dict[str, str] = {}
        place: Block | str | None = ""
        if self["start_inside"]:
            names = [one.name for one in self.tags]
            place = Block(names.index(self["start_inside"]), 0, 0, self["trim"] == "lines")
        while place is not None:
            if isinstance(place, Block):
                place = self.inside(place)
            else:
                place = self.in_code(place) if place else self.in_the_open()

    # -- in the open: matching is done on the output and what follows it

    def in_the_open(self) -> Block | str | None:
        seen = len(self.out)
        text = self.out + self.text[self.at :]
        found = self.leftmost(text, seen)
        if found is None:
            self.out, self.at = text, len(self.text)
            return None
        start, what = found
        first, last = (self.at + place - seen for place in (start, what.end))
        if what.kind in {"span", "code"}:
            self.out, self.at, self.floor = text[: what.end], last, what.end
            return what.mark
        if last - what.ahead > first:
            last -= what.ahead
        self.out, self.at = text[:start], last
        if what.kind == "open":
            trim = self["trim"] == "lines" and (not self.out or self.out.endswith("\n"))
            return Block(what.fence, first, last, trim)
        self.findings.append((self.tags[what.fence].name, "dropped", first, last - first))
        return ""

    def leftmost(self, text: str, seen: int) -> tuple[int, Found] | None:
        """The leftmost match; whatever begins in the output begins where that ends."""
        early: list[Found] = []
        for start in range(self.floor, len(text)):
            begins = self.at + max(0, start - seen)
            kept, cut = self.code(text, start, seen), self.delimiter(text, start, seen, begins)
            if start < seen:
                early += [found for found in (kept, cut) if found]
            elif found := kept or cut:
                return start, found
            if start >= seen - 1 and early:
                stays = [found for found in early if found.kind in {"span", "code"}]
                return seen, max(stays or early, key=lambda one: one.end)
        return None

    def delimiter(self, text: str, start: int, seen: int, begins: int) -> Found | None:
        """The longest delimiter from `start` on that ends in what has not been seen."""
        found: list[Found] = []
        for number, one in enumerate(self.tags):
            if one.void:
                found.append(self.opening(one.void, "void", text, start, seen))
            if begins >= self.literal.get(number, 0):
                found.append(self.opening(one.open, "open", text, start, seen))
            if self["orphan_close"] == "drop" and (self["where"] == "anywhere" or line_start(text, start)):
                end = longest(rf"(?:{one.close})[ \t]{{0,16}}", text, start, seen)
                found.append(Found(end, "close"))
            for new in found:
                new.fence = number if new.fence < 0 else new.fence
        return max((one for one in found if one.end), key=lambda one: one.end, default=None)

    def opening(self, source: str, kind: str, text: str, start: int, seen: int = 0) -> Found:
        if self["where"] == "anywhere":
            return Found(longest(source, text, start, seen), kind)
        alone = line_start(text, start) and longest(f"(?:{source}){BLANKS}", text, start, seen, "[\r\n]")
        noted = longest(f"(?:{source}){BLANKS}{re.escape(NOTE)}", text, start, seen)
        return Found(noted, kind, ahead=len(NOTE)) if noted > alone else Found(alone, kind)

    def code(self, text: str, start: int, seen: int) -> Found | None:
        run = re.compile(r"`+|~+").match(text, start)
        if not self["code"] or run is None or text[start - 1 : start] == run[0][0]:
            return None
        mark, size = run[0][0], len(run[0])
        line = text[start:].partition("\n")[0]
        indented = re.fullmatch(" {0,3}", text[text.rfind("\n", 0, start) + 1 : start])
        ends = start + len(line) < len(text)
        if indented and ends and size >= 3 and not (mark == "`" and mark in line[size:]):
            end = start + len(line) + 1
            return Found(end, "code", mark=mark * min(size, 8)) if end > seen else None
        if mark == "`" and size <= 3 and (close := re.search(r"(?<=[^`])" + run[0], line)):
            return Found(start + close.end(), "span") if start + close.end() > seen else None
        return None

    def in_code(self, mark: str) -> str | None:
        rest = self.text[self.at :]
        end = re.search(rf"(?m)^ {{0,3}}{mark[0]}{{{len(mark)},}}[ \t\r]*$(?=\n|\Z)", rest)
        self.out += rest[: end.end()] if end else rest
        self.at += end.end() if end else len(rest)
        self.floor = len(self.out)
        return "" if end else None

    # -- inside a block: its closers and its nested openers, each after the other

    def inside(self, block: Block) -> Block | str | None:
        one = self.tags[block.fence]
        start, end = self.closer(block)
        keep = self["unclosed"] == "keep" and block.opened < block.content
        limit = 65_536 if keep and self["max_block"] is None else self["max_block"]
        shown = len(self.text) if end is None else None
        if limit is not None and start - block.content > limit:
            if self["on_limit"] == "raise":
                raise LimitExceededError("fence", one.name, limit)
            shown = None
            if self["on_limit"] == "drop":
                keep = False
            elif keep:
                shown = block.content + limit
            else:
                start = end = block.content + limit
        if keep and shown is not None:
            self.literal[block.fence], self.at = shown, block.opened
            return ""
        self.at = len(self.text) if end is None else end
        self.findings.append((one.name, "hidden", block.opened, self.at - block.opened))
        self.hidden[one.name] = self.hidden.get(one.name, "") + self.text[block.content : start]
        return "" if end is not None else None

    def closer(self, block: Block) -> tuple[int, int | None]:
        """Where the closer of a block begins and ends; no end if there is none."""
        one, at, depth = self.tags[block.fence], block.content, 1
        close = f"(?:{one.close})" + (r"(?:[^\S\n]*\n)*" if block.trim else "")
        while at < len(self.text):
            closed, opened, empty = longest(close, self.text, at), 0, 0
            if self["nested"] and one.nests:
                opened = self.opening(one.open, "open", self.text, at).end
                empty = self.opening(one.void, "void", self.text, at).end if one.void else 0
            end = max(closed, opened, empty)
            depth += 0 if end in {0, empty} else -1 if end == closed else 1
            if not depth:
                return at, end
            at = end or at + 1
        return len(self.text), None


def line_start(text: str, start: int) -> bool:
    return LINE_START.fullmatch(text[text.rfind("\n", 0, start) + 1 : start]) is not None


# -- options and texts --------------------------------------------------------------------

FENCES: list[tuple[str | Fence, ...]] = [
    ("t",),
    ("t", "tt"),
    ("t", Fence("[[", "]]")),
    ("t", Fence(("<|a", "<|a|b"), ("|>", "<|c"), name="z", nests=False)),
]
OPTIONS: dict[str, list[Any]] = {
    "where": ["anywhere", "line_start"],
    "attributes": [True, False],
    "nested": [True, False],
    "orphan_close": ["drop", "keep"],
    "unclosed": ["drop", "keep"],
    "code": [False, True],
    "escaped": [False, True],
    "max_block": [None, 0, 3, 7],
    "on_limit": ["drop", "release", "raise"],
    "trim": ["none", "lines"],
    "start_inside": [None, "t"],
}
FRAGMENTS = [
    *("<", ">", "t", "/", " ", "\n", "a", "`", "[", "]", "\u200b"),
    *("<t>", "</t>", "<t/>", "<T a", " />", "</t >", "<tt>", "</tt>", "<t\n", "[[", "]]"),
    *("<|a", "|b", "|>", "<|c", "``", "```", "```\n", "~~~\n", "  \n", "\r\n", NOTE, "<t>\n", "\n</t>"),
    *("&lt;", "&gt;", "&lt;t a&gt;", "&lt;/t&gt;", r"\u003ct", "＞"),
]

fences = st.sampled_from(FENCES)
options = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(values[1:]) for name, values in OPTIONS.items()}
)
colliding = st.lists(st.sampled_from(FRAGMENTS), min_size=3, max_size=9, unique=True).flatmap(texts)


@dataclass
class Outcome:
    text: str
    findings: Counter[tuple[str, str, int, int]]
    hidden: dict[str, str]


def streamed(guard: FenceScrubber, chunks: list[str], end: End = End.COMPLETE) -> Outcome | None:
    findings: list[tuple[str, str, int, int]] = []
    hidden: dict[str, str] = {}

    def collect(name: str, piece: str) -> None:
        hidden[name] = hidden.get(name, "") + piece

    session = guard.session(
        on_finding=lambda one: findings.append((one.rule, one.action, one.offset, one.length)),
        on_hidden=collect,
    )
    try:
        text = "".join(map(session.feed, chunks)) + session.flush(end)
    except LimitExceededError:
        return None
    assert session.pending == 0
    return Outcome(text, Counter(findings), hidden)


def defined(reference: Reference, text: str) -> Outcome | None:
    try:
        reference.run(text)
    except LimitExceededError:
        return None
    hidden = {name: piece for name, piece in reference.hidden.items() if piece}
    return Outcome(reference.out, Counter(reference.findings), hidden)


def scrubbed(guard: FenceScrubber, text: str) -> str | None:
    try:
        return guard.scrub(text)
    except LimitExceededError:
        return None


# -- the laws -----------------------------------------------------------------------------


@given(fences, options, colliding, st.data())
def test_law_1_every_cut_gives_what_is_defined_on_the_whole_text(
    fences: tuple[str | Fence, ...], options: dict[str, Any], text: str, data: st.DataObject
) -> None:
    guard = FenceScrubber(*fences, **options)
    wanted = defined(Reference(*fences, **options), text)
    for chunks in ([text], list(text), data.draw(cuts_of(text))):
        assert streamed(guard, chunks) == wanted


@given(fences, options, colliding, st.lists(colliding, min_size=1, max_size=4), st.data())
def test_law_2_what_came_out_is_a_prefix_whatever_follows(
    fences: tuple[str | Fence, ...],
    options: dict[str, Any],
    text: str,
    others: list[str],
    data: st.DataObject,
) -> None:
    guard = FenceScrubber(*fences, **options)
    session = guard.session()
    stop = data.draw(st.integers(0, len(text)))
    try:
        shown = "".join(map(session.feed, data.draw(cuts_of(text[:stop]))))
    except LimitExceededError:
        return
    for rest in (text[stop:], "", *others):
        whole = scrubbed(guard, text[:stop] + rest)
        assert whole is None or whole.startswith(shown)


@given(fences, options, colliding, colliding)
def test_law_4_streams_in_turns_do_not_influence_each_other(
    fences: tuple[str | Fence, ...], options: dict[str, Any], one: str, other: str
) -> None:
    guard = FenceScrubber(*fences, **options)
    sessions = guard.session(), guard.session()
    shown = ["", ""]
    try:
        for at in range(max(len(one), len(other))):
            for number, text in enumerate((one, other)):
                shown[number] += sessions[number].feed(text[at : at + 1])
        shown = [text + session.flush() for text, session in zip(shown, sessions, strict=True)]
    except LimitExceededError:
        return
    assert shown == [guard.scrub(one), guard.scrub(other)]


@given(fences, options, st.text(st.characters(exclude_characters="<[|&＜\\")))
def test_law_5_text_that_opens_nothing_is_not_touched_or_held(
    fences: tuple[str | Fence, ...], options: dict[str, Any], text: str
) -> None:
    guard = FenceScrubber(*fences, **{**options, "start_inside": None, "orphan_close": "keep"})
    session = guard.session()
    assert [session.feed(char) for char in text] == list(text)
    assert guard.scrub(text) == text


@given(fences, options, colliding)
def test_law_6_scrubbing_twice_changes_nothing(
    fences: tuple[str | Fence, ...], options: dict[str, Any], text: str
) -> None:
    assume(options.get("on_limit") != "release" and "start_inside" not in options)
    guard = FenceScrubber(*fences, **options)
    once = scrubbed(guard, text)
    assume(once is not None)
    assert scrubbed(guard, once or "") == once


SETTINGS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "line_start": {"where": "line_start"},
    "exact": {"attributes": False, "nested": False, "orphan_close": "keep"},
    "keep": {"unclosed": "keep", "max_block": 40},
    "inside": {"start_inside": "t"},
    "code": {"code": True},
    "escaped": {"escaped": True},
    "release": {"max_block": 3, "on_limit": "release"},
    "raise": {"max_block": 3, "on_limit": "raise"},
    "trim": {"trim": "lines"},
    "all": {
        "where": "line_start",
        "code": True,
        "escaped": True,
        "trim": "lines",
        "unclosed": "keep",
        "max_block": 30,
        "on_limit": "release",
    },
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_other_laws(name: str) -> None:
    options = SETTINGS[name]
    laws = {Law.USED_ONCE, Law.FRESHNESS, Law.BOUNDED_STATE, Law.FAIL_CLOSED}
    check_transformer(
        FenceScrubber("t", Fence("[[", "]]"), **options),
        ["a\n<t x>\nb\n</t>\n[[`c`]]<t", "<t <t>x</t>>y</t>"],
        laws=laws,
        alphabet="<t>/ \n[`",
        # Half a tag is shown where a stream fails: it is no secret.
        undecided_on_error="show",
        samples=2,
    )


# -- law 3: for whatever is held, two continuations tell the outcomes apart ---------------

# The ends of every delimiter, from each of its characters on, with what makes it count.
ENDINGS = [
    *(
        "<t>b</t>c",
        "<t>\nb</t>c",
        "<t x>\n[System note:b</t>c",
        "</t></t></t></t>c",
        "\n</t>c",
        "<t/>c",
        "\n<t>\nb</t>c",
    ),
    *("[[b]]c", "\n[[\nb]]c", "[[\n[System note:b]]c", "]]]]]]]]c", "\n]]c"),
]
CONTINUATIONS = sorted(
    {ending[at:] for ending in ENDINGS for at in range(len(ending))} | {"a", "  \nb", "a" * 9}
)

HELD: dict[str, tuple[dict[str, Any], list[str]]] = {
    "defaults": ({}, ["a<t x>b</t>  c", "<t<t>x</t>>y</t>", "</t", "a[[b]]c[", "<t/x", "<tt<<t"]),
    "exact": ({"attributes": False}, ["a<t>b</t>c</t>  d", "<t x>", "<t/>", "< t"]),
    "line_start": (
        {"where": "line_start"},
        ["a<t>b", "<t>\nb</t>c", " <t> a", "a\n</t>b", "<t>\n[System", "a</t>", "a[["],
    ),
    "not nested": ({"nested": False}, ["<t>a<t>b</t>c</t>d"]),
    "orphans kept": ({"orphan_close": "keep"}, ["a</t>b</t", "<t>a</t>b"]),
    "unclosed kept": ({"unclosed": "keep"}, ["a<t>b[[c]]</t>d", "[[<t>"]),
    "opened by the prompt": ({"start_inside": "t"}, ["a</t>b<t>c"]),
    "code": ({"code": True}, ["`<t>`b", "`<t>\nb", "```\n<t>\n```\n<t", "``<t>` ``", "~~~\n<t"]),
    "released": (
        {"max_block": 3, "on_limit": "release", "nested": False},
        ["a<t>bcde</t>f", "<t>a</", "<t>abc</"],
    ),
    "trimmed": ({"trim": "lines"}, ["<t>a</t>  \n\n  b", "a<t>b</t>\n c", "a\n<t>b</t> "]),
}
CODE = ["`", "``", "\n", "\n```\n"]


@pytest.mark.parametrize("name", HELD)
def test_law_3_nothing_is_held_that_all_continuations_agree_on(name: str) -> None:
    options, examples = HELD[name]
    guard = FenceScrubber("t", Fence("[[", "]]"), **options)
    further = CONTINUATIONS
    if options.get("code"):
        further = [first + second for first, second in product(["", *CODE], CONTINUATIONS)] + CODE
    for text in examples:
        check_minimal(guard, text, "<t>/a \n[]", depth=1, continuations=further)


def test_law_3_on_every_short_text() -> None:
    guard = FenceScrubber("t")
    for letters in product("<t>/ a", repeat=4):
        session = guard.session()
        text = "".join(letters)
        shown = "".join(map(session.feed, text))
        held = text[len(shown) :]
        if session.pending == 0:
            continue
        # Held is only what can be completed to a tag that is taken out, or is inside of a block.
        outcomes = {guard.scrub(text + rest) for rest in ("", ">a</t>b", "t>a</t>b", "/t>b", "</t>b", "a")}
        assert all(outcome.startswith(shown) for outcome in outcomes)
        first = {outcome[len(shown) : len(shown) + 1] for outcome in outcomes}
        assert len(first) > 1, (text, held)


# -- laws 7 and 8: floods -----------------------------------------------------------------

FLOODS = {
    "an unclosed block": "<t>" + "a" * 3000,
    "left brackets": "<",
    "openers": "<t>",
    "closers": "</t>",
    "orphans with blanks": "</t>  ",
    "empty tags": "<t/>",
    "attributes": "<t " + "a" * 3000,
    "characters without width": "\u200b",
    "characters without width in a tag": "<\u200bt\u200b",
    "white space": " \t",
    "line breaks": "<t></t>\n",
    "backticks": "`",
    "code": "```\n<t>",
    "half a tag at every cut": "<t<t>x</t>",
    "escapes": "&lt;",
    "short blocks": "<t>aaaaaaaa</t>",
}


def flood(name: str, size: int) -> str:
    return (FLOODS[name] * (1 + size // len(FLOODS[name])))[:size]


@pytest.mark.parametrize("name", ["defaults", "line_start", "code", "escaped", "release", "trim"])
def test_law_7_a_session_stays_small_in_every_flood(name: str) -> None:
    guard = FenceScrubber("t", **SETTINGS[name])
    floods = [flood(kind, 10_000) for kind in FLOODS]
    for text in floods:
        guard.scrub(text)  # makes the states that all streams share
    shared = _reachable([guard.session(), code_end("`", 3)], {})
    for text, size in product(floods, (1, 10_000)):
        session = guard.session()
        for start in range(0, len(text), size):
            session.feed(text[start : start + size])
            assert session.pending <= LIMIT
        assert _size(session, shared) < 4096


def test_law_7_blocks_may_be_nested_any_number_of_times() -> None:
    guard = FenceScrubber("t")
    guard.scrub("<t><t></t></t>" * 100)
    session = guard.session()
    shared = _reachable(guard.session(), {})
    for _ in range(100):
        assert session.feed("<t>" * 1000) == ""
    assert _size(session, shared) < 4096
    for _ in range(100):
        assert session.feed("</t>" * 1000) == ""
    assert session.feed("a") == "a"


@pytest.mark.parametrize("name", ["defaults", "code", "keep", "release", "all"])
@pytest.mark.parametrize("kind", FLOODS)
def test_law_8_the_work_grows_as_the_text_does(kind: str, name: str) -> None:
    guard = FenceScrubber("t", **SETTINGS[name])
    make: Callable[[int], str] = lambda size: flood(kind, size)  # noqa: E731
    check_linear(guard, make, (600, 2400))
