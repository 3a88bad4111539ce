"""Caches give out no answer that another guard has let through, and their keys tell nothing."""

from __future__ import annotations

import functools
import gc
import os
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from streamguard_langchain import guard_model
from streamguard_langchain.settings import Settings

from streamguard import PII, FenceScrubber, LiteralRedactor, PreambleTrimmer, Redactor, Rule, Transformer
from streamguard.memory import InjectionGuard

from .sources import GUARD, TEXT, anthropic_answer, anthropic_model, chat_completion, openai_model, text_fake

WORDS = {"DB": "correct horse battery"}
OTHERS = {"DB": "staple zebra lamp"}


class Own(Transformer):
    """An application's guard, the settings of which nobody can see."""

    def __init__(self, name: str) -> None:
        self._inner = FenceScrubber(name)

    def session(self, **options: Any) -> Any:
        return self._inner.session(**options)

    def bounds(self) -> Any:
        return self._inner.bounds()


def marking(mark: str) -> Callable[..., str]:
    return lambda *_: mark


def mark(mark: str, *_: object) -> str:
    return mark


def long(ending: str) -> re.Pattern[str]:
    return re.compile("(?:" + "x" * 300 + ending + ")")


PAIRS: dict[str, tuple[Transformer, Transformer]] = {
    "literals": (Redactor.literals(WORDS), Redactor.literals(OTHERS)),
    "literals in a pipeline": (
        Redactor.literals(WORDS) | Redactor(),
        Redactor.literals(OTHERS) | Redactor(),
    ),
    "literals and none": (Redactor.literals(WORDS) | Redactor(), Redactor()),
    "allow": (Redactor(allow=["canarysecret77"]), Redactor()),
    "allow of other values": (Redactor(allow=["canarysecret77"]), Redactor(allow=["canarysecret78"])),
    "allow of long patterns": (Redactor(allow=[long("a")]), Redactor(allow=[long("b")])),
    "allow with other flags": (
        Redactor(allow=[re.compile("canary[a-z]{6}77")]),
        Redactor(allow=[re.compile("CANARY[a-z]{6}77", re.IGNORECASE)]),
    ),
    "key": (Redactor(key=b"a" * 16), Redactor(key=b"b" * 16)),
    "closures": (Redactor(placeholder=marking("[X]")), Redactor(placeholder=marking("[Y]"))),
    "partial functions": (
        Redactor(placeholder=functools.partial(mark, "[X]")),
        Redactor(placeholder=functools.partial(mark, "[Y]")),
    ),
    "rules": (
        Redactor([Rule(id="own", value="foo[0-9]{3}")]),
        Redactor([Rule(id="own", value="canary[a-z]{6}[0-9]{2}")]),
    ),
    "actions": (Redactor(actions={"secrets": "flag"}), Redactor()),
    "fences": (FenceScrubber("a"), FenceScrubber("think")),
    "an application's": (Own("a"), Own("think")),
}
EACH_PAIR = pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)


@EACH_PAIR
def test_other_settings_have_another_fingerprint(pair: tuple[Transformer, Transformer]) -> None:
    one, other = (Settings(guard).fingerprint for guard in pair)
    assert one != other
    assert Settings(pair[0]).fingerprint == one, "the same guard keeps its own"
    first, second = pair
    assert Settings(GUARD, tool_guard=first).fingerprint != Settings(GUARD, tool_guard=second).fingerprint
    assert Settings(GUARD, input_guard=first).fingerprint != Settings(GUARD, input_guard=second).fingerprint


@EACH_PAIR
def test_a_cache_that_is_shared_gives_no_answer_of_another_guard(
    pair: tuple[Transformer, Transformer],
) -> None:
    cache = InMemoryCache()
    assert text_fake(cache=cache).invoke("x").text == TEXT
    for _ in range(2):
        for guard in (*pair, GUARD, LiteralRedactor({"name": "canaryhidden"})):
            assert guard_model(text_fake(cache=cache), guard).invoke("x").text == guard.scrub(TEXT)
    assert text_fake(cache=cache).invoke("x").text == TEXT


def test_guards_that_are_gone_leave_their_fingerprint_to_no_other() -> None:
    seen: set[str] = set()
    for _ in range(20):
        seen.add(Settings(LiteralRedactor(WORDS)).fingerprint)
        seen.add(Settings(Own("a")).fingerprint)
        gc.collect()
    assert len(seen) == 40


def told(code: str, seed: str) -> list[str]:
    """What another process tells of some guards."""
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


IMPORTS = (
    "from streamguard import *; from streamguard import Redactor as R, FenceScrubber as F\n"
    "from streamguard.memory import InjectionGuard; from streamguard_langchain.settings import Settings\n"
)


def test_a_fingerprint_is_the_same_in_each_process() -> None:
    code = IMPORTS + (
        "blocking = R(actions={'aws-access-key-id': 'block', 'private-key': 'block'})\n"
        "for guard in (F('a') | R(), F('b') | R(), R(PII), PreambleTrimmer(), InjectionGuard(), blocking):\n"
        "    print(Settings(guard, answers=frozenset('abc')).fingerprint)"
    )
    first = told(code, "1")
    assert first == told(code, "2")
    assert len(set(first)) == 6
    here = [Redactor(PII), PreambleTrimmer(), InjectionGuard()]
    assert [Settings(guard, answers=frozenset("abc")).fingerprint for guard in here] == first[2:5]


def test_nobody_can_try_guesses_at_what_a_guard_holds() -> None:
    code = IMPORTS + (
        "for guard in (R(key=b'0123456789abcdef'), R(allow=['canary']), R.literals({'A': 'canary'})):\n"
        "    print(Settings(guard).fingerprint)"
    )
    assert not set(told(code, "1")) & set(told(code, "1"))


def test_the_same_guard_finds_its_answers_again() -> None:
    asked: list[Any] = []

    def answer(request: dict[str, Any]) -> Any:
        asked.append(request)
        return chat_completion(request)

    cache = InMemoryCache()
    for guard in (Redactor.literals(WORDS) | Redactor(key=b"k" * 16), GUARD, Own("think")):
        asked.clear()
        for _ in range(2):
            model = guard_model(openai_model(answer, cache=cache), guard)
            model.invoke("x")
            model.bind(stop=["y"]).invoke("x")
        assert len(asked) == 2


OPTIONS: dict[str, tuple[Callable[..., Any], Any, Any]] = {
    "base_url": (openai_model, "http://a/v1", "http://b/v1"),
    "organization": (openai_model, "a", "b"),
    "default_headers": (openai_model, {"x": "a"}, {"x": "b"}),
    "include_response_headers": (openai_model, False, True),
    "temperature": (openai_model, 0.1, 0.2),
    "betas": (anthropic_model, ["a"], ["b"]),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_models_that_caches_tell_apart_unguarded_they_tell_apart_guarded(name: str) -> None:
    make, one, other = OPTIONS[name]
    answer = anthropic_answer if make is anthropic_model else chat_completion
    cache = InMemoryCache()
    asked: list[Any] = []

    def counted(request: dict[str, Any]) -> Any:
        asked.append(request)
        return answer(request)

    for value in (one, other, one):
        guard_model(make(counted, cache=cache, **{name: value}), GUARD).invoke("x")
    assert len(asked) == 2


def test_answers_in_another_form_are_cached_apart() -> None:
    cache = InMemoryCache()
    model = guard_model(text_fake(cache=cache), GUARD)
    assert model.invoke("x").content == GUARD.scrub(TEXT)
    other = model.model_copy(update={"output_version": "v1"})
    assert other.invoke("x").content == [{"type": "text", "text": GUARD.scrub(TEXT)}]
    assert model.invoke("x").content == GUARD.scrub(TEXT)
