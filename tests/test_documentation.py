"""Every Python snippet in the README and the docs runs, and prints what it says."""

from __future__ import annotations

import ast
import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ADAPTERS = sorted((ROOT / "integrations").glob("*/README.md"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SNIPPET = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
POLICY = re.compile(r"^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if SNIPPET.search(page.read_text())],
    ids=lambda page: page.name,
)
def test_snippets_run_in_order(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if policy := POLICY.search(page.read_text()):
        Path("streamguard.toml").write_text(policy[1])
    namespace: dict[str, object] = {"__name__": "snippet"}
    for found in SNIPPET.finditer(page.read_text()):
        line = page.read_text()[: found.start()].count("\n") + 2
        source = "\n" * (line - 1) + found[1]
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(source, str(page), "exec"), namespace)  # noqa: S102 - our own documentation


def test_the_readme_example_prints_what_its_comment_says() -> None:
    text = (ROOT / "README.md").read_text()
    found = SNIPPET.search(text)
    assert found
    promised = re.search(r"# (The password.*)$", found[1], re.MULTILINE)
    assert promised
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(found[1], "README.md", "exec"), {"__name__": "snippet"})  # noqa: S102
    assert out.getvalue() == promised[1]


@pytest.mark.source_tree
@pytest.mark.parametrize("page", ADAPTERS, ids=lambda page: page.parent.name)
def test_what_an_adapters_page_imports_is_there(page: Path) -> None:
    """Its snippets talk to providers; what they import they can."""
    for found in SNIPPET.finditer(page.read_text()):
        tree = compile(found[1], str(page), "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        exec(compile(ast.Module(imports, []), str(page), "exec"), {})  # noqa: S102


@pytest.mark.source_tree
@pytest.mark.parametrize("page", [*PAGES, *ADAPTERS], ids=lambda page: f"{page.parent.name}/{page.name}")
def test_links_lead_somewhere(page: Path) -> None:
    missing = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    beyond = [
        link for link in missing if Path(link).name in {"CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"}
    ]
    assert [link for link in missing if link not in beyond or (ROOT / "CHANGELOG.md").exists()] == []


def test_nothing_tells_people_to_install_the_other_package() -> None:
    wrong = re.compile(r"pip3? install (?:-\S+ )*['\"]?streamguard(?![-\w])")
    pages = [*PAGES, *ROOT.glob("*.md"), *(ROOT / "examples").glob("*.py")]
    assert [page.name for page in pages if wrong.search(page.read_text())] == []
