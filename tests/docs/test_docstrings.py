"""Every public function and method says what it does, itself or in what it overrides, and says more than its name."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from benchmarks.self.documentation import Documentation

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "kinegraph"


@cache
def documentation() -> Documentation:
    paths = sorted(PACKAGE.rglob("*.py"))
    return Documentation({str(path.relative_to(PACKAGE)): ast.parse(path.read_text("utf-8")) for path in paths})


def test_every_public_function_is_documented() -> None:
    assert [str(one) for one in documentation().missing()] == [], "write one sentence for each"


def test_docstrings_say_more_than_the_name() -> None:
    repeated = [
        str(one)
        for one in documentation().functions
        if _words(ast.get_docstring(one.node) or "?") == _words(one.node.name.replace("_", " "))
    ]
    assert repeated == []


def _words(text: str) -> list[str]:
    """Without articles, prepositions and the third person's s."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    return sorted(word.rstrip("s") for word in words if word not in ("a", "an", "the", "of", "for", "to"))


def test_all_modules_are_looked_at() -> None:
    found = documentation()
    assert found.trees and found.classes and found.functions
