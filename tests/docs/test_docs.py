"""The code of README and walkthrough is run, and what they show is what it prints."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import kinegraph as kg
from kinegraph.cli import main
from kinegraph.derive.quantities.table import TABLE, markdown_table, variables_text

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "docs/walkthrough.md",
    "docs/motion.md",
    "docs/notebook.md",
    "docs/passes.md",
    "docs/quantities.md",
    "docs/closed-loops.md",
    "docs/tasks.md",
    "docs/studies.md",
    "docs/platforms.md",
    "docs/legs-to-study.md",
    "docs/machines.md",
    "docs/docking.md",
    "docs/forces.md",
    "docs/kinematics.md",
    "docs/equilibria.md",
    "docs/robot.md",
)
PACKAGE = ROOT / "src" / "kinegraph"
#: Pages written by hand; benchmarks write bench.md.
DOCS = sorted(
    {"README.md", "CHANGELOG.md", *(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))} - {"docs/bench.md"}
)
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def examples(page):
    """Python blocks in order, each with the output shown right after it (None if there is none)."""
    blocks = _BLOCK.findall((ROOT / page).read_text("utf-8"))
    found = []
    for position, (language, code) in enumerate(blocks):
        if language == "python":
            following = blocks[position + 1] if position + 1 < len(blocks) else ("", "")
            found.append((code, following[1] if following[0] == "text" else None))
    return found


@pytest.mark.parametrize("page", PAGES)
def test_code_prints_what_the_page_shows(page):
    names = {}
    assert examples(page)
    for code, expected in examples(page):
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(code, page, "exec"), names)
        assert expected is None or printed.getvalue().strip() == expected.strip(), code


def test_an_example_fits_the_first_screen():
    code, output = examples("README.md")[0]
    assert len(code.splitlines()) <= 15 and output
    head = (ROOT / "README.md").read_text("utf-8").split("\n## ")[0]
    assert "make demo" in head and "make test" in head and len(head.splitlines()) < 45


@pytest.mark.parametrize("page", [*PAGES, *(str(p.relative_to(ROOT)) for p in sorted((ROOT / "docs").glob("*.md")))])
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text("utf-8")
    for target in re.findall(r"\]\(([^)#]+)", text):
        if "://" not in target:
            assert ((ROOT / page).parent / target).exists(), f"{page}: {target}"


_FILE = re.compile(r"`([\w./-]+\.(?:py|json|lark|toml))`")
#: Files that the reader or a command makes.
_MADE = {"NAME.py", "host.py", "study.json", "Cargo.toml", "arm.toml", "cart.toml", "closed.toml"}


@pytest.mark.parametrize("page", DOCS)
def test_files_of_the_source_exist(page):
    """A page names a file by its path in the repository or in the package."""
    roots = (ROOT, PACKAGE, PACKAGE / "io" / "language")
    named = set(_FILE.findall((ROOT / page).read_text("utf-8"))) - _MADE
    assert [file for file in sorted(named) if not any((root / file).exists() for root in roots)] == []


@pytest.mark.parametrize("page", DOCS)
def test_lines_are_short(page):
    """Tables, code, links and pictures may be longer."""
    prose = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    lines = [line for line in prose.splitlines() if not line.startswith(("|", "    ", "!["))]
    assert [line for line in lines if len(line) > 100] == []


def test_the_api_page_lists_the_public_names():
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", page, re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"\w+", row)]
    assert sorted(named) == sorted(kg.__all__)


def test_the_table_of_quantities_is_that_of_the_program():
    page = (ROOT / "docs/quantities.md").read_text("utf-8")
    shown = re.search(r"<!-- table:.*?-->\n(.*?)<!-- end of table -->", page, re.DOTALL)
    assert shown and shown[1] == markdown_table(), "paste what `python -m kinegraph.derive.quantities` prints"
    assert variables_text() in " ".join(page.split())


def test_help_lists_all_quantities(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    for command in ("derive", "eval", "count", "export", "inspect"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        words = re.sub(r"[\s│]+", "", capsys.readouterr().out)
        assert [record.name for record in TABLE if record.word not in words] == [], command
