"""State operations leave a stream; everything else stays, however it is cut."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamguard import Bound, End, Finding, Transformer
from streamguard.stateops import StateOpScrubber
from streamguard.testing import check_linear, check_minimal, check_transformer, chunked, every_cut, texts

SCRUBBER = StateOpScrubber()
OP = '{"op":1}'
OPS = '[{"op":1}]'
FENCED = "```json\n" + OPS + "\n```"


def streamed(t: Transformer, chunks: list[str], end: End = End.COMPLETE) -> str:
    session = t.session()
    return "".join([*map(session.feed, chunks), session.flush(end)])


def common_prefix(one: str, other: str) -> str:
    length = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    return min(one, other, key=len) if length is None else one[:length]


def findings(text: str, end: End = End.COMPLETE) -> list[Finding]:
    found: list[Finding] = []
    SCRUBBER.scrub(text, end=end, on_finding=found.append)
    return found


# --- a reference that looks at the whole text, and starts again after every removal --------------


class _OutError(Exception):
    """JSON cannot go on at `args[0]`."""


class _MarkerError(Exception):
    """A marker's colon ends at `args[0]`, at depth `args[1]`."""


class _EndError(Exception):
    """The text ends; `args[0]` tells whether only a marker's colon is missing."""


class Reference:
    """The definition, by recursive descent on an indexable text; exponential, and easy to believe."""

    def __init__(self, text: str) -> None:
        self.text = text

    def scrub(self, end: End = End.COMPLETE) -> str:
        whole, leading, trailing, removed = self.text, False, False, False
        while (block := self.first_block(end)) is not None:
            start, stop = block
            before, after = self.text[:start], self.text[stop:]
            before = before[: self.floor] + before[self.floor :].rstrip()
            leading |= not before
            trailing = not after.strip()
            removed = True
            self.text = before + after
        result = self.text[: self.floor] + self.text[self.floor :].rstrip() if trailing else self.text
        result = result.lstrip() if leading else result
        return whole if removed and not result.strip() and end is End.COMPLETE else result

    def first_block(self, end: End) -> tuple[int, int] | None:
        at, place = 0, "prose"
        self.floor = 0  # white space in front of this has ruled out a string
        while at < len(self.text):
            if self.text[at] != "`" and not (self.text[at] in "[{" and place != "foreign"):
                at += 1
                continue
            start, fenced = at, self.text[at] == "`"
            after = place
            try:
                if fenced:
                    fence = re.compile(r"(`+)(?:(state-ops|state|json)(?![^\s\[{]))?(\s*)(?=([\[{])?)", re.I)
                    ticks, name, space, bracket = fence.match(self.text, at).groups()  # type: ignore[union-attr]
                    at += len(ticks)
                    if len(ticks) < 3:
                        continue
                    if bracket and (name or place == "prose"):
                        at += len(name or "") + len(space)
                        after = "code"
                    else:
                        tail = self.text[at:]
                        partial = re.match(r"(?:state-ops|state|json|)(?=\s|$)", tail, re.I)
                        if re.fullmatch(
                            r"(?:s(t(a(t(e(-(o(p(s)?)?)?)?)?)?)?)?|j(s(o(n)?)?)?)?\s*", tail, re.I
                        ):
                            return None
                        named = partial and partial.group()
                        place = (
                            "code"
                            if named or (partial and place == "prose")
                            else "foreign"
                            if place == "prose"
                            else "prose"
                        )
                        continue
                at = self.value(at, 0, fenced, [])
                place = after
            except _OutError as out:
                at, place = out.args[0], after
                if self.text[at] == "\n":
                    at = self.floor = at + 1
            except _MarkerError as marker:
                return start, self.block_end(*marker.args, fenced)
            except _EndError as ended:
                return (start, len(self.text)) if ended.args[0] and end is End.TRUNCATED else None
        return None

    def char(self, at: int, *, at_marker: bool = False) -> tuple[int, str]:
        while at < len(self.text) and self.text[at].isspace():
            at += 1
        if at == len(self.text):
            raise _EndError(at_marker)
        return at, self.text[at]

    def value(self, at: int, depth: int, fenced: bool, above: list[str]) -> int:
        """Read one value, return where it ends."""
        at, char = self.char(at)
        if char == '"':
            return self.string(at)
        if char == "{" and depth < 64:
            return self.members(at + 1, [*above, char])
        if char == "[" and depth < 64:
            return self.elements(at + 1, fenced, [*above, char])
        if word := re.compile(r"[-0-9tfn][-+.0-9A-Za-z]*").match(self.text, at):
            return word.end()
        raise _OutError(at)

    def elements(self, at: int, fenced: bool, above: list[str]) -> int:
        while True:
            at, char = self.char(at)
            if char == "]":
                return at + 1
            if char == ",":
                at += 1
            elif above == ["["] and not fenced and char != "{":
                raise _OutError(at)
            else:
                at = self.value(at, len(above), fenced, above)

    def members(self, at: int, above: list[str]) -> int:
        while True:
            at, char = self.char(at)
            if char == "}":
                return at + 1
            if char == ",":
                at += 1
                continue
            if char != '"':
                raise _OutError(at)
            stop = self.string(at)
            marker = self.text[at + 1 : stop - 1] in ("op", "path", "question") and above in (
                ["{"],
                ["[", "{"],
            )
            at, char = self.char(stop, at_marker=marker)
            if char != ":":
                raise _OutError(at)
            at += 1
            if marker:
                raise _MarkerError(at, len(above))
            at, char = self.char(at)
            if char not in ",}":
                at = self.value(at, len(above), True, above)

    def string(self, at: int) -> int:
        found = re.compile(r'"(?:\\[^\n]|[^"\\\n])*').match(self.text, at)
        assert found
        stop = found.end()
        if self.text[stop : stop + 1] == "\\":
            stop += 1
        if stop == len(self.text):
            raise _EndError(False)
        if self.text[stop] == "\n":
            raise _OutError(stop)
        return stop + 1

    def block_end(self, at: int, depth: int, fenced: bool) -> int:
        token = re.compile(r'(")(?:\\[^\n]|[^"\\\n])*\\?(?:"|(?=\n)|\Z)|(`+)|(\s+)|([\[{])|([\]}])|(.)', re.S)
        last = at
        while at < len(self.text):
            found = token.match(self.text, at)
            assert found
            _, ticks, space, opening, closing, _ = found.groups()
            if fenced and ticks and len(ticks) >= 3:
                return found.end()
            if fenced and not depth:
                rest = self.text[at:]
                if not rest.strip() or rest in ("`", "``"):
                    return len(self.text)
                if not space and not opening and not closing and found.group() != ",":
                    if ticks and found.end() == len(self.text):
                        return len(self.text)
                    return last
            beyond = self.text[found.end() : found.end() + 1]
            if not fenced and space and space.count("\n") > 1 and beyond and beyond not in '[]{},":':
                return last
            at = found.end()
            depth += bool(opening) - (bool(closing) and depth > 0)
            last = last if space or (fenced and ticks and not depth) else at
            if closing and not depth and not fenced:
                return at
        return len(self.text)


FRAGMENTS = (
    *("[", "]", "{", "}", '"', '"op"', '"a"', ":", ",", "1", "x", " ", "\n", "\n\n", "\\"),
    *("`", "``", "```", "json", "py", "js", OP, OPS, FENCED, '{"a":1}', '[{"a":1},', "```json\n", "\n```"),
)


# --- what goes ------------------------------------------------------------------------------------

GONE = [
    pytest.param(
        '战斗结束。\n```json\n{"op": "append", "path": "bag", "value": "刀"}\n```', "战斗结束。", id="object"
    ),
    pytest.param(
        '你推开门，走了进去。\n\n```json\n[{"op": "set", "path": "player.location", "value": "地窖"}]\n```',
        "你推开门，走了进去。",
        id="array",
    ),
    pytest.param("一。\n```state-ops\n" + OPS + "\n```\n二。", "一。\n二。", id="state-ops"),
    pytest.param("一。\n```state\n" + OPS + "```", "一。", id="state, closed on the line"),
    pytest.param("一。 ```" + OP + "``` 二。", "一。 二。", id="fence without a name, within a line"),
    pytest.param("一。\n```JSON\n" + OPS + "\n```", "一。", id="capitals"),
    pytest.param("一。\n````json\n" + OPS + "\n````\n二", "一。\n二", id="four backticks"),
    pytest.param('一。\n```json\n{"value": "x", "path": "a"}\n```', "一。", id="marker comes second"),
    pytest.param(
        '一。\n```json\n[1, {"question": "Which way?"}]\n```', "一。", id="fenced array of more than objects"
    ),
    pytest.param("一。\n```json\n" + OP + "\n" + OP + "\n```", "一。", id="several objects in one fence"),
    pytest.param('一。\n```json\n{"op": "```"}\n```\n二', "一。\n二", id="fence in a string"),
    pytest.param("门开了。\n" + OPS + "\n\n她走了。", "门开了。\n\n她走了。", id="bare array"),
    pytest.param("门开了。" + OP + "她走了。", "门开了。她走了。", id="bare object, nothing around it"),
    pytest.param('a [{"a": 1}, {"op": 1}] b', "a b", id="bare array with one operation"),
    pytest.param('a {"op": "x]}\\"", "b": [1, {"c": {}}]} b', "a b", id="brackets and quotes in strings"),
    pytest.param('a [{"op": 1}, 5] b', "a b", id="decided before the array turns out mixed"),
    pytest.param("a " + OP + " " + OP + "\n" + OPS + " b", "a b", id="one after another"),
    pytest.param("a [" + OPS + "] b", "a [] b", id="nested in an array"),
    # malformed
    pytest.param('a\n```json\n[,,\n {"op": 1}\n]\n```\nb', "a\nb", id="commas too many"),
    pytest.param('a\n```json\n[{"value": "x" "op": "y"}]\n```\nb', "a\nb", id="comma missing"),
    pytest.param('a\n```json\n[{"op": "x"\n```\nb', "a\nb", id="brackets missing"),
    pytest.param('a\n```json\n[{"op": "x}]\n```\nb', "a\nb", id="quote missing"),
    pytest.param('a\n```json\n[{"op": 1}]]}\n```\nb', "a\nb", id="brackets too many"),
    pytest.param('a\n```json\n[{"op": "他说"走"。"}]\n```\nb', "a\nb", id="quotes within a string"),
    pytest.param('a\n```json\n[{"op": "一\n\n二"}]\n```\nb', "a\nb", id="line breaks within a string"),
    pytest.param("a\n```json\n" + OPS + "\n\nb", "a\n\nb", id="closing fence missing"),
    pytest.param("a\n```json\n" + OPS + " `b`", "a `b`", id="closing fence missing, code follows"),
    pytest.param("a\n```json\n" + OPS + "\n`` b", "a\n`` b", id="closing fence too short"),
    pytest.param('a [{"op": "x}]\n\nb', "a\n\nb", id="bare, quote missing, blank line and prose"),
    pytest.param('a [{"op": 1,\n\n  "b": 2}]\n\nb', "a\n\nb", id="bare, blank line within"),
    # truncated
    pytest.param('…prose.\n\n```json\n[,,\n  {"op": "append", ', "…prose.", id="truncated fence"),
    pytest.param("一。\n```json\n" + OPS, "一。", id="truncated before the closing fence"),
    pytest.param("一。\n```json\n" + OPS + "\n``", "一。", id="truncated in the closing fence"),
    pytest.param('a [{"op": "set", "val', "a", id="truncated in a string"),
    pytest.param('a {"op":', "a", id="truncated after the marker"),
    # the ends of the text
    pytest.param(OPS + "\n\na", "a", id="white space after a block at the beginning"),
    pytest.param(
        " \n" + OPS + "\n" + FENCED + "\n\n  a", "a", id="white space between blocks at the beginning"
    ),
    pytest.param("a\n" + OPS + "\n \n", "a", id="white space after a block at the end"),
    # what was apart stays apart
    pytest.param('a {{"op":1}"op":2} b', "a b", id="glued into a block, which goes too"),
    pytest.param(
        "a ``" + OP + "`json\n" + OP + "``` b", "a b", id="glued into a fence, whose block goes too"
    ),
    pytest.param('a {"op"' + FENCED + ":1} b", "a b", id="glued at the colon"),
    pytest.param('a {"op"\n' + OP + ":1} b", "a b", id="glued at the colon, with white space"),
    pytest.param(
        'a {"op\n' + OP + '":1} b', 'a {"op\n":1} b', id="a line break keeps apart what is around it"
    ),
]


@pytest.mark.parametrize(("text", "shown"), GONE)
def test_state_operations_go(text: str, shown: str) -> None:
    for chunks in every_cut(text):
        assert streamed(SCRUBBER, chunks) == shown
    assert SCRUBBER.scrub(shown) == shown


# --- what stays -----------------------------------------------------------------------------------

STAYS = [
    "",
    " \n\n ",
    "  她走进废墟。\n\n\t捡起刀。 \n",
    '```json\n{"name": "刀", "tags": ["a", "b"], "weight": 1.5e3}\n```\n',
    "```json\n[1, 2, 3]\n```",
    "```\n+--+\n|  |\n+--+\n```\n",
    "```python\nops = [{'op': 1}]\nprint({1: [2]})\n```\n",
    '```python\npatch = [{"op": "replace"}]\n```\n',
    '```http\nPATCH /a\n\n[{"op": "replace"}]\n```\n',
    'a {"name": "刀"} b [{"name": "刀"}, {}] c {} d [] e',
    'a {"data": {"op": 1}} b [[1, 2], [3]] c',
    'a {"x": "\\"op\\":", "opx": 1, "Path": null} b',
    '他说"op": 1，"path": 2。',
    "[链接](http://a.b) [x] [1] {name} {{ var }} `code` `[x]` ``a`` - [ ] todo",
    "| a | b |\n|---|---|\n| [1] | {2} |\n",
    "===\n\n=== 序章 ===\n标题\n===\n",
    'a {"a": b} {"a" "b"} {"a": 1 {"b"} [{"a": 1} x] [{]} b',
    'a {"a: 1\n} "op": b',
    'text {"op" } and ["op":1] and [{"op"}]',
    "{'op': 'set'}",
]


@pytest.mark.parametrize("text", STAYS)
def test_everything_else_stays(text: str) -> None:
    for chunks in every_cut(text):
        assert streamed(SCRUBBER, chunks) == text
    assert findings(text) == []


def test_the_closing_fence_of_a_data_block_is_not_the_opening_fence_of_operations() -> None:
    data = '```json\n{"a": 1}\n```'
    code = "```python\nprint()\n```"
    for block in (data, code):
        assert SCRUBBER.scrub(f"{block}\n{OPS}\na") == f"{block}\na"
        assert SCRUBBER.scrub(f"{block}\n{FENCED}\na") == f"{block}\na"


def test_a_stray_fence_does_not_disarm_what_follows() -> None:
    for stray in ("```\n", "```python\nx\n", "a ```b c\n"):
        assert SCRUBBER.scrub(f"{stray}a\n{FENCED}\nb") == f"{stray}a\nb"
    assert SCRUBBER.scrub(f"```\na\n{OPS}\nb") == "```\na\nb"


def test_json_nested_too_deep_is_no_candidate() -> None:
    data = 'x {"a": {"a": ' + '{"a":' * 61 + OP
    assert SCRUBBER.scrub(f"{data} y") == f"{data} y"
    # One deeper, the outer object is given up, and the inner one stands on its own.
    assert (
        SCRUBBER.scrub('x {"a": {"a": ' + '{"a":' * 62 + OP + " y") == 'x {"a": {"a": ' + '{"a":' * 62 + " y"
    )


# --- how long text is held ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("prose", "prose"),
        ("prose ", "prose"),
        ("prose [", "prose"),
        ("prose [x", "prose [x"),
        ("prose [1", "prose [1"),
        ("prose [ ", "prose"),
        ("prose {", "prose"),
        ("prose {n", "prose {n"),
        ('prose {"n', "prose"),
        ('prose {"n"', "prose"),
        ('prose {"n",', 'prose {"n",'),
        ('prose {"n":', "prose"),
        ('prose {"n":x', 'prose {"n":x'),
        ('prose {"n":1}', 'prose {"n":1}'),
        ('prose [{"n":1}]', 'prose [{"n":1}]'),
        ('prose [{"n":1} x', 'prose [{"n":1} x'),
        ("prose `", "prose"),
        ("prose `c", "prose `c"),
        ("prose ``c", "prose ``c"),
        ("prose ```js", "prose"),
        ("prose ```jsx", "prose ```jsx"),
        ("prose ```json\n", "prose"),
        ("prose ```json\nx", "prose ```json\nx"),
        ("prose ```py [", "prose ```py ["),
        ("prose [[[", "prose"),
        ("prose [[[x", "prose [[[x"),
        ('prose {"op":', "prose"),
        (f"prose {OPS}", "prose"),
        (f"prose {OPS}.", "prose."),
    ],
)
def test_text_is_held_to_the_character_that_decides(text: str, shown: str) -> None:
    for chunks in every_cut(text):
        session = SCRUBBER.session()
        assert "".join(map(session.feed, chunks)) == shown


def test_an_undecided_candidate_is_released_at_its_limit_and_is_data_to_its_end() -> None:
    t = StateOpScrubber(max_candidate=20)
    session = t.session()
    assert session.feed('a {"lore": "0123456789') == "a"
    assert session.pending == 21
    assert session.feed("01234") == ' {"lore": "012345678901234'
    assert session.pending == 0
    # Inside data nothing is removed; behind it, all is as ever.
    assert session.feed('", "op": {"op": 1}} b {"op": 1} c') == '", "op": {"op": 1}} b c'


def test_a_decided_block_is_never_stored() -> None:
    session = SCRUBBER.session()
    assert session.feed('a {"op": "') == "a"
    for _ in range(1000):
        assert session.feed("x" * 1000) == ""
        assert session.pending == 0
    assert session.feed('"} b') == " b"


def test_white_space_is_held_up_to_a_limit() -> None:
    session = SCRUBBER.session()
    assert session.feed("a" + "\n" * 64) == "a"
    assert session.feed("\n") == "\n" * 65
    assert session.feed(OPS + "b") == "b"
    assert SCRUBBER.scrub("a [" + " " * (512 + 65 + 64) + OPS) == "a [" + " " * (512 + 65)
    assert SCRUBBER.scrub("a ```" + "\n" * (510 + 65 + 64) + OPS + "b") == "a ```" + "\n" * (510 + 65) + "b"
    assert SCRUBBER.scrub("`" * 600 + OPS + "b") == "`" * 600 + "b"
    # Behind brackets that are closed, and in front of a blank line that may end a block.
    assert SCRUBBER.scrub("a ```" + OPS + " " * 99 + "b") == "a" + " " * 99 + "b"
    assert SCRUBBER.scrub('a [{"op":1' + "\n" * 99 + "b") == "a" + "\n" * 99 + "b"
    assert SCRUBBER.scrub('a [{"op":1' + " " * 99 + "}] b") == "a b"


def test_what_is_held_for_a_reason_can_still_become_something_else() -> None:
    alphabet = ("[", "{", "}", "]", '"op"', ":", ",", "`", "```", " ", "\n", "a")
    # What completes a candidate, alone and for those that wait below it.
    endings = (
        '"op":1}',
        '{"op":1}]',
        ":1}",
        '":1}',
        "}",
        "]",
        '`[{"op":1}]```',
        '``{"op":1}```',
        '``json{"op":1}```',
        '```json{"op":1}```',
        '[{"op":1}]```',
        "n",
    )
    continuations = ["", *alphabet, "\n\nz", "`z", "``z", "```z"]
    continuations += [
        "".join(some) + z for n in (1, 2, 3) for some in product(endings, repeat=n) for z in ("", " z")
    ]
    for text in map("".join, product(alphabet, repeat=3)):
        session = SCRUBBER.session()
        shown = "".join(map(session.feed, text))
        common = None
        for continuation in continuations:
            outcome = SCRUBBER.scrub(text + continuation)
            common = outcome if common is None else common_prefix(common, outcome)
            if common == shown:
                break
        assert common == shown, text


@pytest.mark.parametrize("text", ['a {"a":', "``[{", "```j\n", OP + " ", "a\n" + OPS + "\n`"])
def test_the_least_is_held_whatever_the_end(text: str) -> None:
    check_minimal(
        SCRUBBER,
        text,
        FRAGMENTS,
        depth=1,
        continuations=[
            '1,"op":1} z',
            "son[" + OP + "] z",
            '"op":1}] z',
            "`json" + OP + "``` z",
            "`json\n[x",
            "\n\nz",
            "z",
        ],
        ends=tuple(End),
    )


# --- how the stream ends --------------------------------------------------------------------------


def test_a_text_of_state_operations_alone_comes_back_if_the_stream_is_complete() -> None:
    for text in (OPS, FENCED, f"\n{OPS}\n\n{FENCED}\n", '[{"op": "set", "pa'):
        for chunks in every_cut(text):
            assert streamed(SCRUBBER, chunks) == text
            for end in (End.TOOL_CALL, End.TRUNCATED, End.ERROR):
                assert streamed(SCRUBBER, chunks, end) == ""
        assert findings(text) == []
        assert findings(text, End.TRUNCATED) != []


def test_a_text_longer_than_what_may_come_back_does_not() -> None:
    t = StateOpScrubber(max_restore=len(OPS))
    assert t.scrub(OPS) == OPS
    assert t.scrub(OPS + " ") == ""
    assert StateOpScrubber(max_restore=0).scrub(OPS) == ""
    assert t.scrub("\n" * 99 + OPS) == "\n" * 65  # long white space was shown, before a block came


def test_while_a_text_may_come_back_it_is_pending() -> None:
    session = SCRUBBER.session()
    assert session.feed(f"{OPS}\n\n") == ""
    assert session.pending == len(OPS) + 2
    assert session.feed("a") == "a"
    assert session.pending == 0


def test_an_undecided_candidate_is_shown_at_the_end() -> None:
    for text in ("a [", 'a {"b": [', 'a {"op"', "a `", "a ```json\n", 'a [{"a": 1}, '):
        for chunks in every_cut(text):
            assert streamed(SCRUBBER, chunks) == text
            assert streamed(SCRUBBER, chunks, End.TOOL_CALL) == text


def test_after_a_cut_a_candidate_that_has_shown_a_marker_is_dropped() -> None:
    assert SCRUBBER.scrub('a {"op"', end=End.TRUNCATED) == "a"
    assert SCRUBBER.scrub('a ```json\n[{"x": 1, "path" ', end=End.TRUNCATED) == "a"
    assert SCRUBBER.scrub('a {"op"{"path"', end=End.TRUNCATED) == "a"
    assert SCRUBBER.scrub('a {"o', end=End.TRUNCATED) == 'a {"o'
    assert findings('a {"op"', End.TRUNCATED) == [Finding("state_ops", "truncated", "trimmed", 1, 6)]


def test_after_an_error_nothing_undecided_is_shown() -> None:
    for held in (" ", "\n\n", "[", '{"a"', "```json"):
        assert SCRUBBER.scrub(f"a{held}", end=End.ERROR) == "a"


# --- what is reported -----------------------------------------------------------------------------


def test_findings_tell_where_and_how_much_and_not_what() -> None:
    text = f"一。\n{FENCED}\n二 {OP}三 {OPS[:-1]}"
    expected = [
        Finding("state_ops", "fenced", "trimmed", 2, 1 + len(FENCED)),
        Finding("state_ops", "bare", "trimmed", 2 + 1 + len(FENCED) + 2, 1 + len(OP)),
        Finding("state_ops", "truncated", "trimmed", len(text) - len(OPS), len(OPS)),
    ]
    for chunks in every_cut(text):
        found: list[Finding] = []
        session = SCRUBBER.session(on_finding=found.append)
        for chunk in chunks:
            session.feed(chunk)
        session.flush()
        assert found == expected


@given(chunked(texts(FRAGMENTS)))
def test_the_findings_add_up_to_what_was_taken_out(chunks: list[str]) -> None:
    found: list[Finding] = []
    session = SCRUBBER.session(on_finding=found.append)
    text = ["a", *chunks, "\n\nz```z"]
    shown = "".join([*map(session.feed, text), session.flush()])
    if shown.endswith("z"):
        assert sum(finding.length for finding in found) == len("".join(text)) - len(shown)


def test_findings_wait_until_something_is_shown() -> None:
    found: list[Finding] = []
    session = SCRUBBER.session(on_finding=found.append)
    session.feed(OPS)
    session.feed("\n")
    assert found == []
    session.feed("a")
    assert found == [Finding("state_ops", "bare", "trimmed", 0, len(OPS))]


def test_hidden_text_is_passed_on_as_it_passes() -> None:
    hidden: list[tuple[str, str]] = []
    session = SCRUBBER.session(on_hidden=lambda rule, text: hidden.append((rule, text)))
    for chunk in ('一。\n```json\n[{"op":', ' "set"}', "]\n", "```", "二 ", OP, "三"):
        session.feed(chunk)
    assert hidden == [
        ("fenced", '```json\n[{"op":'),
        ("fenced", ' "set"}'),
        ("fenced", "]"),
        ("fenced", "\n```"),
        ("bare", OP),
    ]


# --- settings -------------------------------------------------------------------------------------


def test_markers_and_fences_can_be_chosen() -> None:
    t = StateOpScrubber(markers=("delta",), fences=("state",))
    assert t.scrub('a {"delta": 1} b {"op": 1} c') == 'a b {"op": 1} c'
    assert t.scrub('a ```state\n{"delta": 1}``` b') == "a b"
    for fence in ("```", "```json\n"):
        foreign = f'a {fence}{{"delta": 1}}``` b'
        assert t.scrub(foreign) in (foreign, f"a {fence}``` b")
    assert t.scrub('a ```json {"delta": 1}``` b') == 'a ```json {"delta": 1}``` b'


def test_wrong_settings_are_refused() -> None:
    for wrong in ({"markers": ()}, {"markers": ("",)}, {"max_candidate": -1}, {"max_restore": -1}):
        with pytest.raises(ValueError, match="must"):
            StateOpScrubber(**wrong)  # type: ignore[arg-type]


def test_bounds_are_those_of_the_settings() -> None:
    assert StateOpScrubber(max_candidate=7, max_restore=9).bounds() == (
        Bound("state_ops", "candidate", 7, "released"),
        Bound("state_ops", "white_space", 130, "released"),
        Bound("state_ops", "restore", 9, "dropped"),
    )


# --- the laws -------------------------------------------------------------------------------------


@given(texts(FRAGMENTS), st.sampled_from((End.COMPLETE, End.TRUNCATED)))
def test_the_stream_agrees_with_the_definition(text: str, end: End) -> None:
    assert SCRUBBER.scrub(text, end=end) == Reference(text).scrub(end)


@given(chunked(texts(FRAGMENTS)), st.sampled_from(End))
def test_the_result_does_not_depend_on_the_cut(chunks: list[str], end: End) -> None:
    for t in (SCRUBBER, StateOpScrubber(max_candidate=9, max_restore=20)):
        assert streamed(t, chunks, end) == t.scrub("".join(chunks), end=end)


@given(texts(FRAGMENTS), texts(FRAGMENTS, max_fragments=4), st.sampled_from(End))
def test_what_is_shown_stays(text: str, continuation: str, end: End) -> None:
    for t in (SCRUBBER, StateOpScrubber(max_candidate=9, max_restore=20)):
        assert t.scrub(text + continuation, end=end).startswith(t.session().feed(text))
        assert t.scrub(text, end=End.ERROR) == t.session().feed(text)


@given(texts(FRAGMENTS))
def test_twice_is_once(text: str) -> None:
    for t in (SCRUBBER, StateOpScrubber(max_candidate=9, max_restore=20)):
        assert t.scrub(t.scrub(text)) == t.scrub(text)


def test_the_laws_hold() -> None:
    check_transformer(
        SCRUBBER,
        ["a " + OPS + "\nb", OP + "\n", "一\n" + FENCED + "\n二", '``{"a":[1', '{{"op":1}"op":2}'],
        alphabet=("[", "{", '"', ":1", "`", " ", "\n", "x"),
        clean=STAYS[2:4],
        samples=4,
    )


@pytest.mark.parametrize(
    "unit", ["[", "{", '{"a":', "`", "``` ", " ", OP, '{"op', '[{"a":1},', "a [\n", '"\\', "{ `"]
)
def test_the_work_grows_as_the_text_does(unit: str) -> None:
    for beginning in ("a ", "", 'a {"op":', "a ```json\n"):
        check_linear(SCRUBBER, lambda size, beginning=beginning: beginning + unit * (size // len(unit)))  # type: ignore[misc]
