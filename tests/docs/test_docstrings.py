"""Every public function and method says what it does, itself or in what it overrides, and says more than its name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "kinegraph"
Function = ast.FunctionDef | ast.AsyncFunctionDef


def public_functions(node: ast.Module | ast.ClassDef, owners: tuple[ast.ClassDef, ...] = ()) -> Iterator[tuple]:
    """Functions and methods whose names, and those of their classes, have no underscore in front."""
    for one in node.body:
        if isinstance(one, ast.ClassDef) and not one.name.startswith("_"):
            yield from public_functions(one, (*owners, one))
        elif isinstance(one, Function) and not one.name.startswith("_"):
            yield owners, one


def documented(tree: ast.ClassDef) -> set[str]:
    return {one.name for one in tree.body if isinstance(one, Function) and ast.get_docstring(one)}


def bases(tree: ast.ClassDef) -> list[str]:
    return [ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in tree.bases]


@cache
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


def class_definitions(statements: list[ast.AST]) -> Iterator[ast.ClassDef]:
    """Those among statements and inside them; expressions, which are most of a file, hold none."""
    for one in statements:
        if isinstance(one, ast.ClassDef):
            yield one
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from class_definitions(getattr(one, block, []))


@cache
def classes() -> dict[str, list[ast.ClassDef]]:
    found: dict[str, list[ast.ClassDef]] = {}
    for tree in trees().values():
        for node in class_definitions(tree.body):
            found.setdefault(node.name, []).append(node)
    return found


def overrides_documented(owner: ast.ClassDef, method: str, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a class this one is derived from documents the method."""
    for base in bases(owner):
        for parent in classes().get(base, ()) if base not in seen else ():
            if method in documented(parent) or overrides_documented(parent, method, seen | {base}):
                return True
    return False


def is_overload(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(one).endswith(("overload", ".setter")) for one in function.decorator_list)


def test_every_public_function_is_documented() -> None:
    bare = [
        f"{path.relative_to(PACKAGE)}:{function.lineno} {function.name}"
        for path, tree in trees().items()
        for owners, function in public_functions(tree)
        if not ast.get_docstring(function) and not is_overload(function)
        if not (owners and overrides_documented(owners[-1], function.name))
    ]
    assert bare == [], "write one sentence for each"


def test_docstrings_say_more_than_the_name() -> None:
    repeated = [
        f"{path.relative_to(PACKAGE)}:{function.lineno} {function.name}"
        for path, tree in trees().items()
        for _, function in public_functions(tree)
        if _words(ast.get_docstring(function) or "?") == _words(function.name.replace("_", " "))
    ]
    assert repeated == []


def _words(text: str) -> list[str]:
    """Without articles, prepositions and the third person's s."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    return sorted(word.rstrip("s") for word in words if word not in ("a", "an", "the", "of", "for", "to"))


def test_all_modules_are_looked_at() -> None:
    assert len(trees()) > 800 and len(classes()) > 500
