"""Public functions and methods of a source, and which of them say nothing of what they do."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class PublicFunction:
    """A function or method whose name, and those of its classes, have no underscore in front."""

    module: str
    owner: ast.ClassDef | None
    node: Function

    def __str__(self) -> str:
        return f"{self.module}:{self.node.lineno} {self.node.name}"


@dataclass(frozen=True)
class Documentation:
    """What the functions of a source say of themselves. trees: its modules, by name."""

    trees: Mapping[str, ast.Module]

    def missing(self) -> list[PublicFunction]:
        """Public functions without a docstring, their own or that of what they override."""
        return [one for one in self.functions if not ast.get_docstring(one.node) and not self._is_said_elsewhere(one)]

    @cached_property
    def functions(self) -> tuple[PublicFunction, ...]:
        """All public functions and methods."""
        return tuple(one for module, tree in self.trees.items() for one in _public(module, tree))

    @cached_property
    def classes(self) -> Mapping[str, list[ast.ClassDef]]:
        """All classes, by their names, which several may share."""
        found: dict[str, list[ast.ClassDef]] = {}
        for tree in self.trees.values():
            for node in _class_definitions(tree.body):
                found.setdefault(node.name, []).append(node)
        return found

    def _is_said_elsewhere(self, one: PublicFunction) -> bool:
        overloads = any(ast.unparse(word).endswith(("overload", ".setter")) for word in one.node.decorator_list)
        return overloads or (one.owner is not None and self._overrides_documented(one.owner, one.node.name))

    def _overrides_documented(self, owner: ast.ClassDef, method: str, seen: frozenset[str] = frozenset()) -> bool:
        """Whether a class this one is derived from documents the method."""
        for base in _bases(owner):
            for parent in self.classes.get(base, ()) if base not in seen else ():
                if method in _documented(parent) or self._overrides_documented(parent, method, seen | {base}):
                    return True
        return False


def _public(module: str, node: ast.Module | ast.ClassDef) -> Iterator[PublicFunction]:
    for one in node.body:
        if isinstance(one, ast.ClassDef) and not one.name.startswith("_"):
            yield from _public(module, one)
        elif isinstance(one, Function) and not one.name.startswith("_"):
            yield PublicFunction(module, node if isinstance(node, ast.ClassDef) else None, one)


def _class_definitions(statements: Iterable[ast.AST]) -> Iterator[ast.ClassDef]:
    """Those among statements and inside them; expressions, which are most of a file, hold none."""
    for one in statements:
        if isinstance(one, ast.ClassDef):
            yield one
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            inside = getattr(one, block, ())
            yield from _class_definitions(inside if isinstance(inside, list) else ())


def _documented(tree: ast.ClassDef) -> set[str]:
    return {one.name for one in tree.body if isinstance(one, Function) and ast.get_docstring(one)}


def _bases(tree: ast.ClassDef) -> list[str]:
    return [ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in tree.bases]
