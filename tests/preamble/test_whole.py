"""The stream against a slow trimmer that reads the complete text with `re`, many times over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from streamguard.preamble import PreambleTrimmer
from streamguard.preamble.grammar import LANGUAGES
from streamguard.testing import chunked, texts

# --- the slow trimmer ------------------------------------------------------------------------

WORD = "A-Za-z0-9"  # the texts drawn here have no other letters that apostrophes stand beside
CHAIN = r"[.!?…。！？｡\"'“”’」』»`*_~)\]}）】》〉]*"
OPENER, CODE, ABBREVIATED = "\x01", "\x02", "\x03"
PARTNERS = {"“": "”", "„": "“”", "‘": "’", "「": "」", "『": "』", "«": "»", '"': '"', "'": "'"}


def marks(text: str) -> tuple[list[tuple[str, ...]], list[bool], str]:
    """What is open behind each character, which are marks, and the text with the rest spelled out."""
    opened: list[str] = []
    states: list[tuple[str, ...]] = []
    marked = [False] * len(text)
    flat = list(text)
    at = 0
    blank_since: int | None = 0
    while at < len(text):
        char = text[at]
        size = 1
        code = bool(opened) and opened[-1].startswith("`")
        if char in "\r\n":
            size = 2 if text.startswith("\r\n", at) else 1
            if blank_since is not None:
                opened = [mark for mark in opened if mark.startswith("```")]
            blank_since = at
        elif not char.isspace():
            blank_since = None
            if char == "`":
                size = len(re.compile("`+").match(text, at)[0])  # type: ignore[index]
                run = "`" * min(size, 16)
                if code and opened[-1] == run:
                    opened.pop()
                elif not code:
                    states.extend([tuple(opened)] * size)
                    opened.append(run)
                marked[at : at + size] = [True] * size
            elif code:
                flat[at] = CODE
            elif char in "'’" and re.search(f"[{WORD}]\\Z", text[:at]):
                # An apostrophe, unless it closes what is open and no word goes on.
                if not re.match(f"[{WORD}]", text[at + 1 :]):
                    states.append(tuple(opened))
                    close(opened, char)
            elif char in "\"'“”„‘’「」『』«»":
                marked[at] = True
                if not close(opened, char) and char in PARTNERS and char not in opened:
                    opened.append(char)
                    flat[at] = OPENER
        at += size
        states.extend([tuple(opened)] * (at - len(states)))
    spelled = re.sub(r"(?<=\.[A-Za-z])\.", ABBREVIATED, "".join(flat))
    spelled = re.sub(r"((?:\A|[\r\n])\s*\d+)\.", lambda found: found[1] + ABBREVIATED, spelled)
    return states, marked, spelled


def close(opened: list[str], mark: str) -> bool:
    for index in range(len(opened) - 1, -1, -1):
        if mark in PARTNERS.get(opened[index], ""):
            del opened[index:]
            return True
    return False


@dataclass(frozen=True)
class Sentence:
    start: int
    end: int
    wide: bool  # whether another can begin directly behind it


def sentences(text: str, flat: str) -> Iterator[Sentence]:
    start: int | None = None
    for at, char in enumerate(text):
        before = flat[:at]
        wide = bool(re.search(rf"(?:[。！？｡]|……){CHAIN}\Z", before))
        ended = char in "\r\n" or (char.isspace() and bool(re.search(rf"[.!?…。！？｡]{CHAIN}\Z", before)))
        begins = not char.isspace() and (
            bool(re.search(r"(?:\A|[\r\n])\s*\Z", before))
            or bool(re.search(rf"[.!?…。！？｡]{CHAIN}\s+\Z", before))
            or (wide and not re.match(CHAIN, flat[at])[0])  # type: ignore[index]
        )
        if start is not None and (ended or begins):
            yield Sentence(start, at, wide)
            start = None
        if begins:
            start = at
    if start is not None:
        yield Sentence(start, len(text), bool(re.search(rf"(?:[。！？｡]|……){CHAIN}\Z", flat)))


@dataclass(frozen=True)
class Slow:
    """What the trimmer does, said once more."""

    languages: tuple[str, ...]
    phrases: tuple[str, ...] = ()
    max_sentence: int = 240
    max_held: int = 360

    def spell(self, pattern: str) -> str:
        return pattern.replace(" ", r"(?:[ \t\u00a0]{1,2})").replace("'", "['’]")

    def kind(self, sentence: Sentence, text: str, flat: str, marked: list[bool]) -> str:
        """The rule of a preamble, `lead`, or nothing for other text."""
        said = text[sentence.start : sentence.end]
        if len(said) > self.max_sentence or any(marked[sentence.start : sentence.end]):
            return ""
        emphasis = re.search(rf"[.!?…。！？｡]{CHAIN}[_~]", flat[sentence.start : sentence.end])
        if emphasis or re.search(r"[?？*]", said):
            return ""
        depth = 0
        for char in said:
            depth += (char in "([{（【《〈") - (char in ")]}）】》〉")
            if not 0 <= depth <= 4:
                return ""
        chosen = [LANGUAGES[language] for language in self.languages]
        line = said + "\n"
        excepted = any(
            re.search(self.spell(exception), line, re.IGNORECASE)
            for one in chosen
            for exception in one.exceptions
        )
        before = "|".join(self.spell(one.interjections) for one in chosen)
        before = f"(?:{before}){{0,2}}" if before else ""
        if self.phrases and re.match(f"{before}(?:{'|'.join(self.phrases)})", line, re.IGNORECASE):
            return "custom"
        rules = {
            language: "|".join(map(self.spell, LANGUAGES[language].beginnings)) for language in self.languages
        }
        complete = {
            size: name
            for name, pattern in reversed(rules.items())
            for size in range(len(said) + 1)
            if re.match(f"{before}(?:{pattern})(?=(?s:.{{{len(line) - size}}})\\Z)", line, re.IGNORECASE)
        }
        if complete and not excepted and not re.search(r":\s+\S|：\s*\S", said[min(complete) :]):
            return complete[min(complete)]
        if excepted or complete:
            return ""
        if any(re.fullmatch(self.spell(one.leads), said, re.IGNORECASE) for one in chosen):
            return "lead"
        return ""

    def cut(self, text: str) -> tuple[int, str] | None:
        """Where the tail begins that goes, and its rule."""
        states, marked, flat = marks(text)
        last_begin = self.max_held - self.max_sentence
        shown = False
        run: int | None = None
        kinds: list[str] = []
        previous = 0
        for sentence in sentences(text, flat):
            kind = self.kind(sentence, text, flat, marked)
            gap = [at for at in range(previous, sentence.start) if not states[at]]
            if run is None:
                run, kinds = gap[0] if gap else sentence.start, []
            if states[sentence.start] or (shown and sentence.start - run > last_begin):
                kind = ""
            if shown and kind == "lead" and sentence.end + (not sentence.wide) - run > last_begin:
                kind = ""
            if kind:
                kinds.append(kind)
            else:
                shown, run = True, None
            previous = sentence.end
        if run is None or not shown or not kinds or kinds[-1] == "lead" or len(text) - run > self.max_held:
            return None
        return run, next(kind for kind in kinds if kind != "lead")

    def whole(self, text: str) -> str:
        found = self.cut(text)
        return text if found is None else text[: found[0]]


# --- the comparison --------------------------------------------------------------------------

ENGLISH = (
    "Let me ", "update the state", ".", " ", "\n", "“", "”", '"', "Let me know", "x", "I'll ", "search",
    "Now, ", "Okay", "!", "?", ": ", "'", "’", "‘", "`", "```", "e.g", "1", ") ", "(", "*", "_", "\r", ",",
    "The scene has progressed", "let me check", " if you ", "\n\n", "…", "let", "Sure. ", "file.py",
)  # fmt: skip
CHINESE = (
    "让我查一下", "。", "好的，", "好的。", "我来", "搜索", "“", "”", "「", "」", "x", " ", "\n", "……", "！",
    "？", "：", "I'll search", ". ", "如果", "Let me ", "…", "现在我", "…。", "（", "）", "`",
)  # fmt: skip
SMALL = (
    "go on", "go ", "on", "g", ". ", ".", " ", "  ", "\n", "x", "。", "stop", '"', "'", ":", "?", "     ",
)  # fmt: skip
TRIMMER = PreambleTrimmer()
SLOW = Slow(("en", "zh"))
OWN_PHRASES = ("let me (?:check|know)", "update the state", "I'll search:", "note: x")
OWN_TRIMMER = PreambleTrimmer(phrases=OWN_PHRASES)
OWN_SLOW = Slow(("en", "zh"), OWN_PHRASES)
SMALL_TRIMMER = PreambleTrimmer(languages=(), phrases=("go on", r"stop\b"), max_sentence=8, max_held=14)
SMALL_SLOW = Slow((), ("go on", r"stop\b"), max_sentence=8, max_held=14)


def agree(trimmer: PreambleTrimmer, slow: Slow, chunks: list[str]) -> None:
    text = "".join(chunks)
    findings = []
    session = trimmer.session(on_finding=findings.append)
    streamed = "".join(session.feed(chunk) for chunk in chunks) + session.flush()
    found = slow.cut(text)
    assert streamed == slow.whole(text)
    assert [(finding.rule, finding.offset, finding.length) for finding in findings] == (
        [] if found is None else [(found[1], found[0], len(text) - found[0])]
    )


@settings(max_examples=600, deadline=None)
@given(chunked(texts(ENGLISH, max_fragments=14)))
def test_english_is_trimmed_as_the_slow_trimmer_does(chunks: list[str]) -> None:
    agree(TRIMMER, SLOW, chunks)


@settings(max_examples=400, deadline=None)
@given(chunked(texts((*ENGLISH, "note: ", ":", "。"), max_fragments=14)))
def test_own_phrases_are_trimmed_as_the_slow_trimmer_does(chunks: list[str]) -> None:
    agree(OWN_TRIMMER, OWN_SLOW, chunks)


@settings(max_examples=600, deadline=None)
@given(chunked(texts(CHINESE, max_fragments=14)))
def test_chinese_is_trimmed_as_the_slow_trimmer_does(chunks: list[str]) -> None:
    agree(TRIMMER, SLOW, chunks)


@settings(max_examples=800, deadline=None)
@given(chunked(texts(SMALL, max_fragments=16)))
def test_limits_are_the_ones_of_the_slow_trimmer(chunks: list[str]) -> None:
    agree(SMALL_TRIMMER, SMALL_SLOW, chunks)


@settings(max_examples=400, deadline=None)
@given(st.text("ab.'’\"“”‘`\n\r 1e。…「」_!g", max_size=24))
def test_quotations_code_and_sentences_are_found_as_the_slow_trimmer_does(noise: str) -> None:
    for text in (f"{noise}Let me check", f"x. {noise} Let me check.", f"x\n{noise}\nI'll read it. {noise}"):
        agree(TRIMMER, SLOW, [text])
