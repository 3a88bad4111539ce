"""Fences compiled: one matcher for each place a stream can be in.

In the open, every opener, self-closing tag and stray closer is looked for; inside a
block, the closers of that fence and its nested openers; inside a Markdown code block,
its end. Delimiters become patterns of the automaton, which derives the hold-back.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from streamguard.automaton import Matcher, Pattern, State, parse, width
from streamguard.fence.fences import MEMORY, Fence

__all__ = ["LIMIT", "Kind", "Plan", "Target", "code_end"]

LIMIT = 512
"""Most characters a tag may have, and so the most that is ever held."""

MAX_ATTRIBUTES = 100
"""Most characters between a tag's name and its `>`."""

MAX_CODE_FENCE = 8
"""Longest delimiter of a code block that is told from a longer one."""

INVISIBLE = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
"""Characters that are not drawn (Unicode's `Default_Ignorable_Code_Point`, in the main); ignored
inside a tag, up to four in a row."""

_NOTE = "\n[System note:"
"""How the block that hermes-agent puts into a prompt goes on: no prose does."""

_LINE_START = rf"(?<![^\n])(?:[^\S\n]|{INVISIBLE}){{0,200}}"
_BLANKS = rf"(?:[^\S\n]|{INVISIBLE}){{0,16}}"
_INDENT = r"(?<![^\n]) {0,3}"
MAX_IDLE = 1_000
"""Most characters for which the state behind them is remembered."""


class Kind(enum.Enum):
    """What a delimiter does."""

    OPEN = enum.auto()
    VOID = enum.auto()
    CLOSE = enum.auto()
    CODE = enum.auto()
    SPAN = enum.auto()


@dataclass(frozen=True, slots=True)
class Target:
    """The meaning of a matcher's rule.

    Attributes:
        kind: what it does.
        fence: number of the fence, or -1.
        code: a code block's delimiter.
        ahead: what has to come after a delimiter, and is no part of it.
    """

    kind: Kind
    fence: int = -1
    code: str = ""
    ahead: str = ""


@dataclass(frozen=True, slots=True)
class Delimiters:
    """The patterns of one fence, as sources."""

    name: str
    open: str
    close: str
    void: str
    nests: bool
    private: bool


class _Idle(dict[str, State]):
    """The state where nothing is under way, by the character that stands before."""

    __slots__ = ("_matcher",)

    def __init__(self, matcher: Matcher) -> None:
        super().__init__()
        self._matcher = matcher

    def __missing__(self, char: str) -> State:
        if len(self) >= MAX_IDLE:
            self.clear()
        state = self[char] = self._matcher.after(char)
        return state


class Plan:
    """All matchers of one set of options; shared by every stream."""

    def __init__(
        self,
        fences: Sequence[Delimiters],
        *,
        line_start: bool,
        nested: bool,
        drop_orphans: bool,
        code: bool,
    ) -> None:
        self.fences = tuple(fences)
        self.targets: list[Target] = []
        patterns: list[Pattern] = []
        for number, fence in enumerate(fences):
            # An empty tag is an opener too, with a slash for its last attribute: it goes first.
            for kind, source in ((Kind.VOID, fence.void), (Kind.OPEN, fence.open)):
                for pattern, ahead in _openers(source, line_start=line_start):
                    self._add(patterns, pattern, Target(kind, number, ahead=ahead))
            if drop_orphans:
                context = parse(_LINE_START) if line_start else None
                # The blanks behind it go where blanks stand before it, or words would run together.
                for source in (rf"(?<!\S)(?:{fence.close})[ \t]{{0,16}}", fence.close):
                    closer = Pattern(parse(source), context, checked=True)
                    self._add(patterns, closer, Target(Kind.CLOSE, number))
        if code:
            for pattern in _CODE_SPANS:
                self._add(patterns, pattern, Target(Kind.SPAN))
            for mark in "`~":
                for length in range(3, MAX_CODE_FENCE + 1):
                    self._add(patterns, _code_start(mark, length), Target(Kind.CODE, code=mark * length))
        self.visible = Matcher(patterns, limit=LIMIT, release=True, glue=True)
        self._line_start = line_start
        self._nested = nested
        self._hidden: dict[tuple[int, bool], tuple[Matcher, list[Kind]]] = {}
        prefilter = self.visible.prefilter
        begins = prefilter.complete and not prefilter.lead and self.visible.nfa.reach <= 1
        only = next(iter(prefilter.strings)) if len(prefilter.strings) == 1 else ""
        self.mark = only if begins and len(only) == 1 else ""
        """The one character with which everything begins; empty if there is none."""
        self.idle = _Idle(self.visible)
        """The states where nothing is under way, by the character before, if `mark` is there."""
        for number, fence in enumerate(fences):
            if not fence.void:  # of a user's making: what is wrong with it is said at once
                self.hidden(number, trim=False)

    def hidden(self, fence: int, *, trim: bool) -> tuple[Matcher, list[Kind]]:
        """What is looked for inside a block, and what each rule means.

        Args:
            fence: number of the fence.
            trim: whether blank lines after the closer go with it.
        """
        key = (fence, trim)
        if key not in self._hidden:
            self._hidden[key] = _hidden(
                self.fences[fence], line_start=self._line_start, nested=self._nested, trim=trim
            )
        return self._hidden[key]

    def bound(self, fence: int, *, trim: bool) -> int:
        """The most characters that a delimiter of the fence holds back."""
        if any(target.kind is Kind.SPAN for target in self.targets):
            return LIMIT  # a tag is held until the code it stands in has ended
        own = [rule for rule, target in enumerate(self.targets) if target.fence == fence]
        patterns = [self.visible.patterns[rule] for rule in own]
        patterns.extend(self.hidden(fence, trim=trim)[0].patterns)
        return min(LIMIT, max(width(pattern.value) or LIMIT for pattern in patterns))

    def _add(self, patterns: list[Pattern], pattern: Pattern, target: Target) -> None:
        patterns.append(pattern)
        self.targets.append(target)


def _openers(source: str, *, line_start: bool) -> list[tuple[Pattern, str]]:
    """The patterns of an opener or an empty tag, each with what it reads beyond it."""
    if not source:
        return []
    if not line_start:
        return [(Pattern(parse(source), checked=True), "")]
    alone = Pattern(parse(rf"(?:{source}){_BLANKS}(?=[\r\n])"), parse(_LINE_START), checked=True)
    noted = Pattern(parse(rf"(?:{source}){_BLANKS}{re.escape(_NOTE)}"), checked=True)
    return [(alone, ""), (noted, _NOTE)]


def _hidden(fence: Delimiters, *, line_start: bool, nested: bool, trim: bool) -> tuple[Matcher, list[Kind]]:
    blank_lines = r"(?:[^\S\n]*\n)*" if trim else ""
    patterns = [Pattern(parse(rf"(?:{fence.close}){blank_lines}"), checked=True)]
    kinds = [Kind.CLOSE]
    if nested and fence.nests:
        for kind, source in ((Kind.VOID, fence.void), (Kind.OPEN, fence.open)):
            for pattern, _ in _openers(source, line_start=line_start):
                patterns.append(pattern)
                kinds.append(kind)
    return Matcher(patterns, limit=LIMIT, release=True), kinds


# Markdown (CommonMark 0.31, sections 4.5 and 6.1), within one line: a code span runs from
# a run of backticks to the next run of the same length. Here a longer run ends it as well:
# what follows a run may be cut out, and the run then be a longer one.
_CODE_SPANS = [
    Pattern(parse(source), keep=True)
    for source in (
        r"(?<!`)`[^`\n]+`",
        r"(?<!`)``[^`\n]+(?:`[^`\n]+)*``",
        r"(?<!`)```[^`\n]+(?:`{1,2}[^`\n]+)*```",
    )
]


def _code_start(mark: str, length: int) -> Pattern:
    exactly = f"{mark}{{{length}}}(?!{mark})" if length < MAX_CODE_FENCE else f"{mark}{{{length},}}"
    info = r"[^`\n]*" if mark == "`" else r"[^\n]*"
    return Pattern(parse(rf"{exactly}{info}\n"), context=parse(_INDENT), keep=True, told=True)


@lru_cache(maxsize=64)
def code_end(mark: str, length: int) -> Matcher:
    """Finds the line that ends a code block which `length` times `mark` began."""
    line = parse(rf"{mark}{{{length},}}[ \t\r]*(?=\n|\Z)")
    return Matcher([Pattern(line, context=parse(_INDENT), keep=True, told=True)], limit=LIMIT)


def delimiters(fence: str | Fence, *, attributes: bool, escaped: bool) -> Delimiters:
    """The patterns of a tag or of another fence."""
    if isinstance(fence, Fence):

        def either(sources: tuple[str, ...]) -> str:
            return "|".join(source if fence.patterns else f"(?i:{re.escape(source)})" for source in sources)

        return Delimiters(fence.name, either(fence.open), either(fence.close), "", fence.nests, fence.private)
    left, right, slash = "<", ">", "/"
    if escaped:
        left = r"(?:<|＜|&lt;|&\#0{0,4}60;|&\#x0{0,4}3c;|\\u003c)"
        right = r"(?:>|＞|&gt;|&\#0{0,4}62;|&\#x0{0,4}3e;|\\u003e)"
        slash = r"(?:\\?/|／|&\#0{0,4}47;|&\#x0{0,4}2f;)"
    gap = blank = more = ""
    if attributes:
        gap = f"{INVISIBLE}{{0,4}}"
        blank = r"\s{0,2}"
        more = rf"(?:\s(?:[^<>＜＞]{_NO_ESCAPE if escaped else ''}){{0,{MAX_ATTRIBUTES}}})?{gap}"
    name = gap.join(_letter(char, wide=escaped) for char in fence) + gap
    return Delimiters(
        name=fence,
        open=f"(?i:{left}{gap}{name}{more}{right})",
        close=f"(?i:{left}{gap}{slash}{gap}{blank}{name}{more}{right})",
        void=f"(?i:{left}{gap}{name}{more}{slash}{gap}{blank}{right})",
        nests=True,
        private=fence.casefold() in MEMORY,
    )


_NO_ESCAPE = r"(?<!(?s:..)&[lg]t;|(?s:..)[#0]6[02];|(?s:..)[x0]3[ce];|\\u003[ce])"
"""Attributes contain no escaped angle bracket: one that ends the tag is not to be read over."""


def _letter(char: str, *, wide: bool) -> str:
    if wide and "!" <= char <= "~":
        return f"[{re.escape(char)}{chr(ord(char) + 0xFEE0)}]"
    return re.escape(char)
