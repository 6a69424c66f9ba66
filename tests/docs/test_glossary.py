"""The glossary: each word once, in order, and every file it names exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINES = (ROOT / "docs" / "glossary.md").read_text("utf-8").splitlines()
ROWS = [line.split("|")[1:-1] for line in LINES if line.startswith("| *")]
WORDS = [row[0].strip(" *") for row in ROWS]


def test_words_stand_once_and_in_order():
    assert len(WORDS) > 30 and sorted(set(WORDS)) == WORDS


def test_places_exist():
    named = [place for row in ROWS for place in re.findall(r"`([a-z_/]+(?:\.py|/))`", row[-1])]
    assert named and [one for one in named if not (ROOT / "src" / "kinegraph" / one).exists()] == []


def test_private_words_do_not_come_back():
    """Words that a reader of the field should not meet as names of classes."""
    gone = re.compile(r"^class (Placing|Ways|Shown|Happening|Seat|Gauge|Many|Taken)\b", re.MULTILINE)
    sources = (ROOT / "src" / "kinegraph").rglob("*.py")
    found = {str(path.relative_to(ROOT)): gone.findall(path.read_text("utf-8")) for path in sources}
    assert {path: words for path, words in found.items() if words} == {}
