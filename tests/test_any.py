"""`Any` only where no type can stand in its place: each place is listed with the reason, and none is added silently."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "kinegraph"

#: Every file that uses `Any`: how often besides the import, and why.
ALLOWED: dict[str, tuple[int, str]] = {
    "extras.py": (1, "`Foreign`: objects of packages that may not be installed, or that have no types"),
    "cli/__init__.py": (1, "`Click`: Typer's versions have their classes of click in different places"),
    "codegen/kernel.py": (1, "`Outputs`: what a kernel returns depends on what it was compiled for"),
    "interop/gymnasium.py": (7, "Gymnasium's classes are made when it is installed, and its `info` holds anything"),
    "io/language/expressions.py": (1, "`Children`: the grammar alone says what a rule is made of"),
    "model/tables.py": (3, "`horner`: one formula for numbers and for nodes of graphs"),
    "recursive/c_interface.py": (1, "arrays of several number types, whose addresses C code takes"),
    "robot/robot.py": (1, "`Option`: handed on to a function that gives it a type"),
    "store/rows.py": (1, "`Query`: SQLAlchemy 2.0 and 2.1 write the types of columns differently"),
    "studies/outcomes.py": (1, "`Column`: numbers, words or truth values, as the name of the column says"),
}


def uses_of_any(source: str) -> int:
    """How often a source names `Any`, by whichever name it is imported; imports themselves do not count."""
    if "Any" not in source:
        return 0
    tree = ast.parse(source)
    names = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in ("typing", "typing_extensions")
        for alias in node.names
        if alias.name == "Any"
    }
    return sum(_is_any(node, names) for node in ast.walk(tree))


def _is_any(node: ast.AST, names: set[str]) -> int:
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.Attribute):
        return node.attr == "Any" and isinstance(node.value, ast.Name) and node.value.id in ("typing", "t")
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isprintable():
        return _in_text(node.value, names)
    return 0


def _in_text(text: str, names: set[str]) -> int:
    """Annotations in quotes: texts that are an expression and name it."""
    if not any(name in text for name in names):
        return 0
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return 0
    return sum(isinstance(node, ast.Name) and node.id in names for node in ast.walk(tree))


def test_any_stands_only_where_no_type_can() -> None:
    found = {
        str(path.relative_to(PACKAGE)): count
        for path in sorted(PACKAGE.rglob("*.py"))
        if (count := uses_of_any(path.read_text("utf-8")))
    }
    assert found == {file: count for file, (count, _) in ALLOWED.items()}


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("from typing import Any\nx: Any = 1", 1),
        ("from typing import Any\ndef f(x: dict[str, Any]) -> Any: ...", 2),
        ("from typing import Any as Thing\nx: Thing = 1", 1),
        ("import typing\nx: typing.Any = 1", 1),
        ("from typing import Any\nx: 'list[Any]' = []", 1),
        ("from typing import Any", 0),
        ("x = 'Any number'", 0),
        ("from typing import Any\nx = 'Any number'", 0),
    ],
)
def test_the_test_sees_every_way_to_write_it(source: str, count: int) -> None:
    assert uses_of_any(source) == count
