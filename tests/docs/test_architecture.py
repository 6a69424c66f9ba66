"""The architecture page: every file it names exists, and defines the name the page gives."""

import ast
import re
from pathlib import Path

import kinegraph

PACKAGE = Path(kinegraph.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
ROW = re.compile(r"^\| ([^|]+\?) \| `([^`]+)` \| `([^`]+)` \|$", re.MULTILINE)


def defined(file):
    """The names a module defines at its top."""
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def test_ten_questions_are_answered_by_a_file_and_a_name():
    rows = ROW.findall(PAGE.read_text("utf-8"))
    assert len(rows) >= 10
    for question, file, name in rows:
        assert name in defined(PACKAGE / file), question


def test_every_part_of_the_package_is_on_the_page():
    text = PAGE.read_text("utf-8")
    parts = [path for path in PACKAGE.iterdir() if path.is_dir() and (path / "__init__.py").exists()]
    assert [path.name for path in parts if f"| `{path.name}` |" not in text] == []


def test_every_file_the_page_names_exists():
    named = re.findall(r"`([a-z_]+(?:/[a-z_]+)+\.py)`", PAGE.read_text("utf-8"))
    assert named
    root = PACKAGE.parents[1]
    assert [file for file in named if not (PACKAGE / file).exists() and not (root / file).exists()] == []
