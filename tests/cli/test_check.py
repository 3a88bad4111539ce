from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import streamguard.policy
import streamguard.testing
from streamguard import (
    HARMONY,
    Bound,
    Fence,
    FenceScrubber,
    Pipeline,
    PreambleTrimmer,
    Redactor,
    ScaffoldScrubber,
    Session,
    StateOpScrubber,
    Transformer,
)
from streamguard.cli.app import app
from streamguard.cli.check import made_up_texts
from streamguard.session import End, FindingHandler, HiddenHandler
from streamguard.testing import Law

FENCE = '[[stage]]\ntype = "fence"\nfences = ["plan"]\n'
REDACTOR = '[[stage]]\ntype = "redactor"\nrules = ["mine"]\n[[rule]]\nid = "mine"\nvalue = "KEY-[0-9]{8}"\n'


def check(policy: str, path: Path, *arguments: str, **environ: str) -> Result:
    path.write_text(policy, encoding="utf-8")
    environ = {"COLUMNS": "120", "STREAMGUARD_KEY": "", **environ}
    return CliRunner().invoke(app, ["check", str(path), *arguments], env=environ)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "streamguard.toml"


def test_a_good_policy_shows_its_bounds_and_keeps_the_laws(path: Path) -> None:
    done = check(FENCE + REDACTOR, path, STREAMGUARD_KEY="pepper")
    assert done.exit_code == 0, done.output
    assert "plan" in done.output
    assert "mine" in done.output
    assert "law 1 (chunk invariance) is kept" in done.output
    assert "broken" not in done.output
    assert "bounded state" not in done.output
    assert "note:" not in done.output


def test_a_policy_that_blocks_is_checked_all_the_same(path: Path) -> None:
    policy = REDACTOR.replace("[[rule]]", 'actions = {mine = "block"}\n[[rule]]', 1)
    result = check(policy, path)
    assert result.exit_code == 0, result.output
    assert "is kept" in result.output


def test_the_laws_can_be_left_out(path: Path) -> None:
    done = check(FENCE, path, "--no-laws")
    assert done.exit_code == 0
    assert "law" not in done.output


def test_the_slow_law_is_asked_for(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Law] = []
    monkeypatch.setattr(streamguard.testing, "check_transformer", lambda *_, laws, **__: tried.extend(laws))
    assert check(FENCE, path, "--thorough").exit_code == 0
    assert Law.BOUNDED_STATE in tried


def test_an_order_that_leaks_and_a_plain_hash_are_noted(path: Path) -> None:
    done = check(REDACTOR + FENCE, path, "--no-laws")
    assert "note: a redactor stands before a stage that removes text" in done.output
    assert "note: placeholders carry a plain hash; set STREAMGUARD_KEY to key it" in done.output


def test_texts_are_made_up_for_every_kind_of_stage() -> None:
    fences = FenceScrubber("plan", Fence("<<", ">>"), HARMONY)
    pipeline = Pipeline(fences, StateOpScrubber(), PreambleTrimmer(), ScaffoldScrubber(), Redactor())
    texts = list(made_up_texts(pipeline))
    for stage in pipeline.stages:
        assert any(stage.scrub(text) != text for text in texts), stage
        assert stage.scrub(texts[0]) == texts[0]


def test_a_broken_policy_is_told_in_one_line(path: Path) -> None:
    done = check("[[stage]]\n", path)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"streamguard: {path}: stage[0].type: is missing; allowed: ")
    assert done.stderr.count("\n") == 1


class Forgetful(Transformer):
    """Hides a word only where it comes in one chunk, as the guards do that this library replaces."""

    def session(
        self, *, on_finding: FindingHandler | None = None, on_hidden: HiddenHandler | None = None
    ) -> Session:
        return _ForgetfulSession()

    def bounds(self) -> tuple[Bound, ...]:
        return (Bound("forgetful", "words", 0),)


class _ForgetfulSession(Session):
    @property
    def pending(self) -> int:
        return 0

    def _feed(self, text: str, /) -> str:
        return text.replace("words", "")

    def _flush(self, end: End, /) -> str:
        return ""


def test_a_broken_law_is_named_and_exits_with_1(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamguard.policy, "load_policy", lambda _: Pipeline(Forgetful()))
    done = check(FENCE, path)
    assert done.exit_code == 1
    assert "law 1 (chunk invariance) is broken" in done.output
