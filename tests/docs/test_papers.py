"""The page on the source documents: every command of its lists runs and shows what the page says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from kinegraph.cli import main
from tests.effort import SOAK

PAGE = (Path(__file__).parents[2] / "docs" / "papers.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (?P<what>[^|]+) \| `kinegraph (?P<command>.+?)` \| `(?P<shows>[^`]+)` \|$", re.MULTILINE)
FILE = re.compile(r"^`([\w.-]+)`\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROWS = [(row["what"], row["command"], row["shows"]) for row in ROW.finditer(PAGE)]
#: What a list ends with an error to show.
REFUSED = {"check uuu.kg"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the page, and two stores with a model in each."""
    here = tmp_path_factory.mktemp("papers")
    for name, text in FILE.findall(PAGE):
        (here / name).write_text(text, encoding="utf-8")
    for words in (
        ("double-pendulum", "-q", "H,gravity", "--store", str(here / "models.sqlite")),
        ("cart-double-pendulum", "--closed-form", "--store", str(here / "closed.sqlite")),
    ):
        with pytest.raises(SystemExit) as ended:
            main(["store", "add", *words])
        assert not ended.value.code
    return here


def test_the_page_lists_what_every_document_says() -> None:
    assert len(ROWS) == len(re.findall(r"^\| [^|]+ \| `kinegraph", PAGE, re.MULTILINE)) > 30
    assert len(FILE.findall(PAGE)) == len(re.findall(r"^`[\w.-]+\.\w+`$", PAGE, re.MULTILINE)) > 8


@pytest.mark.parametrize(("what", "command", "shows"), ROWS)
def test_commands_show_what_the_page_says(
    what: str,
    command: str,
    shows: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    if what.endswith("(long)") and not SOAK:
        pytest.skip("long: make soak")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")
    before = set(folder.rglob("*"))
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(command))
    assert bool(ended.value.code) is (command in REFUSED)
    out, said = capfd.readouterr()
    written = [one.read_text("utf-8", "replace") for one in set(folder.rglob("*")) - before if one.is_file()]
    assert any(shows in text for text in (out, said, *written))
