"""The most frequent errors say what the golden file says; the page shows them beside those of an older version."""

from __future__ import annotations

import pytest

from tests.messages import BEFORE, MESSAGES, PAGE, golden_text, page

_WRITE = "run `python -m tests.messages` and read what changed"


@pytest.fixture(scope="module")
def golden() -> str:
    return MESSAGES.read_text("utf-8")


def test_messages_are_those_of_the_golden_file(golden: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    assert golden_text() == golden, _WRITE


def test_every_provocation_is_an_error(golden: str) -> None:
    assert "(no error)" not in golden and golden.count("\n# ") >= 60


def test_the_page_shows_the_golden_file(golden: str) -> None:
    assert PAGE.read_text("utf-8") == page(golden, BEFORE.read_text("utf-8")), _WRITE
