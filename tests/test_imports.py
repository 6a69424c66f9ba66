"""Dependencies point one way (STYLE.md, point 5): each part of the package imports only what the table allows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "kinegraph"

#: What each part may import of the others. A new part is added here, or the test fails.
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "version": set(),
    "arrays": set(),  # types of NumPy arrays
    "garbage_collection": set(),  # pauses Python's collector
    "lazy_imports": {"garbage_collection"},
    "files": {"errors"},  # reading files that users give
    "interrupt": {"errors"},
    "seeds": {"errors"},  # what a user's seed may be
    "extras": {"errors"},  # packages that only some users have
    "tabular": {"display", "extras"},  # results as tables of other libraries
    "display": set(),  # asks `view.notebook` by name, when a notebook wants to show something
    "graph": {"errors", "display"},
    "passes": {"errors", "interrupt", "jit", "graph", "display"},
    "codegen": {"errors", "graph"},
    "notation": {"errors", "graph", "codegen", "model", "derive"},
    "jit": {"errors", "graph", "codegen"},
    "model": {"errors", "display"},
    "io": {"errors", "model"},
    "library": {"errors", "model", "io"},
    "derive": {"errors", "model", "graph", "codegen"},  # constraints are looked at in numbers
    "assembly": {"errors", "model", "graph", "codegen", "derive"},  # positions that fit the constraints
    "recursive": {"errors", "interrupt", "model", "graph", "codegen", "jit", "derive"},
    "compiler": {
        "errors",
        "display",
        "interrupt",
        "model",
        "io",
        "library",
        "derive",
        "recursive",
        "graph",
        "passes",
        "codegen",
        "notation",
        "jit",
    },
    # kernels are plain callables here: never derive
    "solve": {"errors", "interrupt", "model", "graph", "codegen", "jit", "display", "tabular"},
}
BASE = set(ALLOWED)
ALLOWED |= {
    "simulate": BASE,  # from a mechanism to the problem `solve` integrates
    "export": BASE,
    "interop": BASE | {"export", "simulate", "studies", "tasks"},
    "store": BASE | {"export"},  # program text of stored graphs
    "tasks": BASE | {"simulate"},
    "studies": BASE | {"simulate"},
    "docking": BASE | {"simulate", "tasks", "studies"},
    "view": BASE | {"export", "store", "simulate", "tasks", "studies", "docking"},
    "reproduce": BASE | {"simulate", "store", "tasks", "docking"},
    "robot": BASE | {"simulate", "tasks", "view"},
    "studio": BASE | {"robot", "store", "view", "export", "interop", "simulate", "tasks", "studies", "docking"},
    "__init__": BASE | {"robot", "store", "view", "export", "interop", "simulate", "tasks", "studies", "docking"},
    "cli": BASE
    | {"robot", "store", "view", "export", "interop", "simulate", "tasks", "studies", "docking", "reproduce", "studio"}
    | {"__init__"},
    "__main__": {"cli"},
}

#: What every part may import, but those below it.
EVERYBODY = {"files", "extras", "seeds", "lazy_imports", "garbage_collection", "version", "arrays"}
for _part in ALLOWED.keys() - EVERYBODY - {"errors", "interrupt", "__main__"}:
    ALLOWED[_part] = ALLOWED[_part] | EVERYBODY

FILES = sorted(PACKAGE.rglob("*.py"))


def part_of(path: Path) -> str:
    """The folder or module right below the package a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def imports_in(source: str) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """The import statements of a source. Only statements have others in them: expressions are not looked through."""
    waiting: list[ast.AST] = [ast.parse(source)]
    found = []
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.append(node)
        for name in ("body", "handlers", "orelse", "finalbody", "cases"):
            inner = getattr(node, name, ())
            waiting += inner if isinstance(inner, list) else ()
    return tuple(found)


def imported_modules(path: Path, source: str) -> Iterator[tuple[int, str]]:
    """Every module or name an import statement of the file may mean, as (line, dotted name)."""
    package = ("kinegraph", *path.relative_to(PACKAGE).parts[:-1])
    for node in imports_in(source):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        else:
            start = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*start, *([node.module] if node.module else [])])
            for alias in node.names:
                yield node.lineno, f"{base}.{alias.name}"


def imported_part(module: str) -> str | None:
    """The part of the package a dotted name lies in; None outside the package."""
    package, *rest = module.split(".")
    if package != "kinegraph":
        return None
    return rest[0] if rest and is_part(rest[0]) else "__init__"


def is_part(name: str) -> bool:
    return name in ALLOWED or (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file()


def wrong_imports(path: Path, source: str) -> list[str]:
    """What a file imports against the table."""
    part = part_of(path)
    wrong = []
    for line, module in imported_modules(path, source):
        target = imported_part(module)
        if target not in (None, part) and target not in ALLOWED[part]:
            wrong.append(f"{path.relative_to(PACKAGE)}:{line}: {part} must not import {module}")
    return wrong


def test_every_part_is_in_the_table() -> None:
    assert {part_of(path) for path in FILES} - ALLOWED.keys() == set()


def test_the_table_has_no_cycle() -> None:
    order = list(TopologicalSorter(ALLOWED).static_order())
    assert order.index("errors") < order.index("graph") < order.index("cli")


@pytest.mark.parametrize("part", sorted({part_of(path) for path in FILES} & ALLOWED.keys()))
def test_imports_point_one_way(part: str) -> None:
    files = [path for path in FILES if part_of(path) == part]
    assert [complaint for path in files for complaint in wrong_imports(path, path.read_text("utf-8"))] == []


@pytest.mark.parametrize(
    ("file", "statement", "allowed"),
    [
        ("graph/node.py", "from kinegraph.errors import GraphError", True),
        ("graph/node.py", "import kinegraph.graph.build", True),
        ("graph/node.py", "from .build import Builder", True),
        ("graph/node.py", "import numpy as np", True),
        ("graph/node.py", "import kinegraph.model.mechanism", False),
        ("graph/node.py", "from kinegraph import model", False),
        ("graph/node.py", "from kinegraph import load", False),
        ("graph/node.py", "from ..model import Mechanism", False),
        ("graph/node.py", "from .. import model", False),
        ("graph/node.py", "def later():\n    import kinegraph.cli", False),
        ("graph/node.py", "class Node:\n    async def later():\n        import kinegraph.cli", False),
        ("graph/node.py", "try:\n    pass\nexcept OSError:\n    import kinegraph.cli", False),
        ("graph/node.py", "try:\n    pass\nfinally:\n    import kinegraph.cli", False),
        ("graph/node.py", "if x:\n    pass\nelse:\n    with y:\n        import kinegraph.cli", False),
        ("graph/node.py", "match x:\n    case 1:\n        import kinegraph.cli", False),
        ("derive/energy.py", "from kinegraph.passes.pipeline import reduce", False),
        ("solve/simulation.py", "from kinegraph.derive.dynamics.energy import energy", False),
        ("compiler/compile.py", "from kinegraph.derive.dynamics.energy import energy", True),
        ("cli/demo.py", "import kinegraph as kg", True),
    ],
)
def test_the_test_sees_every_way_to_import(file: str, statement: str, allowed: bool) -> None:
    assert (wrong_imports(PACKAGE / file, statement) == []) is allowed


def runtime_imports(path: Path) -> set[str]:
    """The modules of the package that importing a file imports: not those for type checkers, nor inside functions."""
    found = set()
    for node in imports_in(path.read_text("utf-8")):
        outermost = not node.col_offset
        if outermost and isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kinegraph"):
            module = node.module or ""
            parts = {f"{module}.{alias.name}" for alias in node.names}
            found |= (parts & MODULES) | ({module} if parts - MODULES else set())
    return found


MODULES = {".".join(("kinegraph", *path.relative_to(PACKAGE).with_suffix("").parts)) for path in FILES}


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Packages' own files count as modules; a circle makes `TopologicalSorter` raise CycleError."""
    graph = {}
    for path in FILES:
        name = ".".join(("kinegraph", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
        graph[name] = runtime_imports(path) - {name}
    order = list(TopologicalSorter(graph).static_order())
    assert len(order) >= len(graph) > 0


def test_stages_of_the_compiler_form_no_circle_even_late() -> None:
    """Imports inside functions count here: the stages never call back the door that imports them late."""
    graph = {}
    for path in (PACKAGE / "compiler").glob("*.py"):
        names = {f"kinegraph.compiler.{path.stem}" for path in (PACKAGE / "compiler").glob("*.py")}
        modules = {module for _, module in imported_modules(path, path.read_text("utf-8"))}
        homes = {module.rpartition(".")[0] for module in modules}
        graph[f"kinegraph.compiler.{path.stem}"] = (modules | homes) & names
    order = [name.rpartition(".")[2] for name in TopologicalSorter(graph).static_order()]
    stages = ["request", "stage_records", "derive", "reduce", "choose", "closures", "stored", "bind", "compile"]
    assert [name for name in order if name in stages] == stages
