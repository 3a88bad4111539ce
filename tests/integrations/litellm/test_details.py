"""The details of a call that loggers share."""

from __future__ import annotations

import copy
import threading
from dataclasses import replace
from typing import Any

import pytest
from streamguard_litellm.details import CallDetails, details_of
from streamguard_litellm.options import Options

from streamguard import Redactor, Rule
from streamguard.adapting import Settings

from .support import GUARD, Canary

OPTIONS = Options(Settings(GUARD))
WORD = Options(Settings(Redactor(rules=[Rule("word", "forbidden")])))


def answer(text: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"content": text}}]}


@pytest.mark.parametrize("way", ["item", "update", "or", "default"])
def test_what_is_written_is_guarded_however_it_is_written(way: str) -> None:
    canary = Canary(way)
    details = details_of({"stream": True}, OPTIONS)
    name, whole = "complete_streaming_response", answer(canary.text)
    if way == "item":
        details[name] = whole
    elif way == "update":
        details.update({name: whole})
    elif way == "or":
        details |= {name: whole}
    else:
        assert not canary.seen_in([str(details.setdefault(name, whole))])
    assert details[name] == answer(GUARD.scrub(canary.text))
    assert canary.key in str(whole)


def test_all_threads_have_the_same_details_of_a_call() -> None:
    source, made = {"model": "m"}, list[CallDetails]()
    threads = [threading.Thread(target=lambda: made.append(details_of(source, OPTIONS))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 20
    assert all(details is made[0] for details in made)
    assert details_of(made[0], OPTIONS) is made[0]
    assert details_of(dict(source), OPTIONS) is not made[0]


def test_what_is_still_written_into_the_original_is_taken_over() -> None:
    canary = Canary("late")
    source: dict[str, Any] = {"model": "m", "response_cost": None}
    details = details_of(source, OPTIONS)
    details["cache_hit"] = False
    source["complete_streaming_response"] = answer(canary.text)
    source["response_cost"] = 0.5
    assert details_of(source, OPTIONS) is details
    assert details == {
        "model": "m",
        "response_cost": 0.5,
        "cache_hit": False,
        "complete_streaming_response": answer(GUARD.scrub(canary.text)),
    }


def test_every_logger_of_streamguard_guards_them() -> None:
    canary = Canary("both")
    whole = answer(f"{canary.text} forbidden")
    details = details_of({"stream": True, "complete_streaming_response": whole}, OPTIONS)
    result = details.result(whole, OPTIONS)
    assert details_of(details, WORD) is details
    for shown in (details["complete_streaming_response"], details.result(result, WORD)):
        assert "forbidden" not in str(shown)
        assert not canary.seen_in([str(shown)])
        assert "Sûre" in str(shown)
    details["original_response"] = f"{canary.key} forbidden"
    assert "forbidden" not in details["original_response"]
    assert not canary.seen_in([details["original_response"]])


def test_a_piece_of_a_stream_loses_its_text_and_the_whole_does_not() -> None:
    details = details_of({"stream": True}, OPTIONS)
    piece = {"choices": [{"index": 0, "delta": {"content": "sk-"}}]}
    assert "sk-" not in str(details.result(piece, OPTIONS))
    whole = answer("Yes.")
    details["complete_streaming_response"] = whole
    assert details.result(whole, OPTIONS) == whole


@pytest.mark.parametrize("copied", [dict, copy.copy, copy.deepcopy, CallDetails.copy])
def test_a_copy_is_an_ordinary_dictionary(copied: Any) -> None:
    details = details_of({"model": "m", "messages": [{"content": "x"}]}, OPTIONS)
    assert type(copied(details)) is dict
    assert copied(details) == details


def test_what_loggers_need_to_log_in_stays() -> None:
    canary = Canary("login")
    source = {
        "api_key": canary.key,
        "user": canary.key,
        "standard_callback_dynamic_params": {"x": canary.key},
    }
    assert details_of(source, OPTIONS) == source
    assert details_of({"messages": canary.key}, replace(OPTIONS, inputs=False)) == {"messages": canary.key}
