"""Chapters that are quick enough for every run; the others are run by `kinegraph reproduce all`."""

import numpy as np
import pytest

from kinegraph.cli.reproduce import Which
from kinegraph.reproduce.document import Chapter, Document, Entry, Verdict, curves, number, reproduced
from kinegraph.reproduce.documents import DOCUMENTS
from kinegraph.reproduce.documents.database import numbers_of_example, symbolic_element
from kinegraph.reproduce.documents.inverse import path_of_the_load
from kinegraph.reproduce.page import html, index, markdown


@pytest.mark.soak
def test_table_2_2_of_the_dissertation() -> None:
    """All 258 numbers; one is a misprint, since C is symmetric."""
    entries = numbers_of_example()
    assert len(entries) == 6 + 36 + 216
    assert [entry.name for entry in entries if entry.verdict is not Verdict.AGREES] == ["C^5_56"]
    assert next(entry for entry in entries if entry.name == "C^5_56").verdict is Verdict.EXPLAINED


def test_the_printed_element_is_ours() -> None:
    """But for two moments in each other's place, which have the same value in the table."""
    as_printed, exchanged = symbolic_element()
    assert as_printed.verdict is Verdict.EXPLAINED
    assert exchanged.verdict is Verdict.AGREES


def test_the_load_of_the_crane_moves_as_printed() -> None:
    sideways, height = path_of_the_load()
    assert sideways.verdict is Verdict.AGREES
    assert float(height.ours) < float(height.printed)


def test_pages_say_everything_and_let_nothing_out_of_its_cell() -> None:
    def entries() -> tuple[Entry, ...]:
        return number("a|b <i>", "1.0", 1.0), number("c", "1.0", 3.0)

    made = Document("word", "A <title>", "source", (Chapter("Table 1", "text & more", "kinegraph eval x", entries),))
    found = reproduced(made)
    assert str(found) == "word: 2 entries compared, 1 agrees, 0 better, 0 explained, 1 unexplained"
    assert "| a\\|b <i> | 1.0 | 1.000 | agrees |  |" in markdown(found)
    page = html(found)
    assert "<td>a|b &lt;i&gt;</td>" in page and "A &lt;title&gt;" in page and "text &amp; more" in page
    assert "<td class=unexplained>" in page and "<meta name=viewport" in page
    assert "word.html" in index([found])


def test_long_tables_show_first_what_differs() -> None:
    def entries() -> tuple[Entry, ...]:
        return (*(number(f"n{k}", "1.0", 1.0) for k in range(60)), number("wrong", "1.0", 3.0))

    page = html(reproduced(Document("word", "T", "s", (Chapter("Table", "see `x`", "kinegraph eval x", entries),))))
    assert page.index("<td>wrong</td>") < page.index("<details>") < page.index("<td>n0</td>")
    assert "60 that agree" in page and "see <code>x</code>" in page


def test_figures_stand_on_the_page() -> None:
    def picture() -> tuple[str, ...]:
        return (curves("a <b>", "t", np.array([0.0, 1.0]), "y", {"one": np.array([0.0, 1.0]), "two": np.zeros(2)}),)

    chapter = Chapter("Figure", "text", "kinegraph eval x", lambda: (number("a", "1", 1.0),), picture)
    found = reproduced(Document("word", "T", "s", (chapter,)))
    assert "<figure><svg" in html(found) and "on the HTML page" in markdown(found)


def test_the_command_knows_every_document() -> None:
    assert {which.value for which in Which} == {*DOCUMENTS, "all"}
    assert list(DOCUMENTS) == ["kidym", "inverse", "loops", "database", "docking"]


def test_every_chapter_names_a_command() -> None:
    for document in DOCUMENTS.values():
        assert document.chapters
        assert all(chapter.command.startswith(("kinegraph ", "python -m benchmarks ")) for chapter in document.chapters)


@pytest.mark.parametrize("word", DOCUMENTS)
@pytest.mark.soak
def test_nothing_in_a_document_stays_unexplained(word: str) -> None:
    found = reproduced(DOCUMENTS[word])
    unexplained = [entry for section in found.sections for entry in section.entries
                   if entry.verdict is Verdict.UNEXPLAINED]  # fmt: skip
    assert unexplained == []
