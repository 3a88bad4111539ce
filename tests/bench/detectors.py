"""The detectors that are written in Python, each run in a process of its own.

A script, started with the interpreter that has the detector:
`python -P detectors.py NAME RESULT FOLDER...`. The texts of a folder are read first and then
searched, once, and a second time if that was quick; RESULT gets what was found the first time
and the processor time of each pass. It imports nothing of the project but streamguard.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from time import process_time
from typing import Any

Span = tuple[int, int, str]
Detect = Callable[[str, Path], Iterable[Span]]

AGAIN = 30.0
"""Seconds of processor time after which a pass is not repeated."""


ASSIGNED = ("secret-literal", "secret-variable", "secret-assignment", "secret-flag")
"""The rules that take a value for a secret for what it is assigned to, be it a plain word."""


def _streamguard(*, secrets: bool, personal: bool, without: Sequence[str] = ()) -> Detect:
    from streamguard import Redactor
    from streamguard.redact.rules import SECRETS

    rules = SECRETS if secrets else ()
    if personal:
        from streamguard.redact.rules.pii import PII

        rules = (*rules, *PII)
    redactor = Redactor(rules, without=without)

    def detect(text: str, _: Path) -> Iterable[Span]:
        found: list[Any] = []
        redactor.scrub(text, on_finding=found.append)
        return [(item.offset, item.offset + item.length, item.rule) for item in found]

    return detect


def _detect_secrets() -> Detect:
    """File mode, default plugins and filters. It reports a line and a value."""
    from detect_secrets.core.scan import scan_file
    from detect_secrets.settings import default_settings

    settings = default_settings()
    settings.__enter__()

    def detect(text: str, path: Path, _: object = settings) -> Iterator[Span]:  # in force while it lives
        lines = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", text)), len(text)]
        for secret in scan_file(str(path)):
            value = secret.secret_value or ""
            number = min(secret.line_number, len(lines) - 1)
            at = text.find(value, lines[number - 1], lines[number]) if value else -1
            if at < 0 and value:
                at = text.find(value)
            if at >= 0:
                yield at, at + len(value), secret.type

    return detect


def _langchain() -> Detect:
    """The detectors of PIIMiddleware."""
    from langchain.agents.middleware import _redaction

    detectors = list(_redaction.BUILTIN_DETECTORS.values())

    def detect(text: str, _: Path) -> Iterator[Span]:
        for match in chain.from_iterable(one(text) for one in detectors):
            yield match["start"], match["end"], match["type"]

    return detect


def _presidio() -> Detect:
    """The recognizers for English that need no model, at the score of 0.4 and more."""
    import tldextract

    # Its list of domains is the one it ships with; it would ask the network for a newer one.
    tldextract.extract = tldextract.TLDExtract(suffix_list_urls=())
    from presidio_analyzer import RecognizerRegistry

    registry = RecognizerRegistry(supported_languages=["en"])
    registry.load_predefined_recognizers(languages=["en"])
    recognizers = [one for one in registry.recognizers if "Spacy" not in type(one).__name__]

    def detect(text: str, _: Path) -> Iterator[Span]:
        for one in recognizers:
            for match in one.analyze(text, one.supported_entities, None) or ():
                if match.score >= 0.4:
                    yield match.start, match.end, match.entity_type

    return detect


def _litellm(*, category: str | None) -> Detect:
    """The content filter's built-in patterns, those of a category or all."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    from litellm.proxy.guardrails.guardrail_hooks.litellm_content_filter import patterns
    from litellm.proxy.guardrails.guardrail_hooks.litellm_content_filter.content_filter import (
        ContentFilterGuardrail,
    )
    from litellm.types.guardrails import ContentFilterAction, ContentFilterPattern

    names = [
        name
        for key, found in patterns.PATTERN_CATEGORIES.items()
        for name in found
        if category in {None, key}
    ]
    guardrail = ContentFilterGuardrail(
        guardrail_name="bench",
        patterns=[
            ContentFilterPattern(pattern_type="prebuilt", pattern_name=name, action=ContentFilterAction.MASK)
            for name in names
        ],
    )

    def detect(text: str, _: Path) -> Iterator[Span]:
        for entry in guardrail.compiled_patterns:
            for start, end in guardrail._find_pattern_spans(text, entry):
                yield start, end, entry["pattern_name"]

    return detect


DETECTORS: dict[str, tuple[str, Callable[[], Detect]]] = {
    "streamguard": ("streamguard", lambda: _streamguard(secrets=True, personal=False)),
    "streamguard without assignments": (
        "streamguard",
        lambda: _streamguard(secrets=True, personal=False, without=ASSIGNED),
    ),
    "streamguard, PII alone": ("streamguard", lambda: _streamguard(secrets=False, personal=True)),
    "streamguard, secrets and PII": ("streamguard", lambda: _streamguard(secrets=True, personal=True)),
    "detect-secrets": ("detect-secrets", _detect_secrets),
    "LangChain PII detectors": ("langchain", _langchain),
    "Presidio without a model": ("presidio-analyzer", _presidio),
    "LiteLLM content filter, all": ("litellm", lambda: _litellm(category=None)),
    "LiteLLM content filter, credentials": ("litellm", lambda: _litellm(category="Credential Patterns")),
}


def search(detect: Detect, folder: Path) -> dict[str, object]:
    """Search a folder; the findings of the first pass, and the time of each."""
    paths = sorted(folder.iterdir())
    texts = [path.read_bytes().decode() for path in paths]
    seconds: list[float] = []
    found: list[list[tuple[int, int, str]]] = []
    while not seconds or (len(seconds) < 2 and seconds[0] < AGAIN):
        start = process_time()
        passed = [list(detect(text, path)) for text, path in zip(texts, paths, strict=True)]
        seconds.append(process_time() - start)
        found = found or passed
    return {"seconds": seconds, "found": found}


def _version(distribution: str) -> str:
    """Of a checkout that is not installed, what the package says of itself."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return str(import_module(distribution).__version__)


def main(name: str, result: str, *folders: str) -> None:
    logging.disable(logging.CRITICAL)
    distribution, make = DETECTORS[name]
    start = process_time()
    detect = make()
    setup = process_time() - start
    answer = {
        "version": _version(distribution),
        "setup": setup,
        "folders": [search(detect, Path(folder)) for folder in folders],
    }
    Path(result).write_text(json.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
