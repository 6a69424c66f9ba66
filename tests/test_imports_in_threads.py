"""Threads of a fresh process import parts of the package at the same moment; Python's locks must not meet in a ring."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.programs import HANGS

SOURCE = Path(__file__).resolve().parents[1] / "src"

#: Commands and documents, which one thread asks for.
BY_ONE_THREAD = ("kinegraph.cli", "kinegraph.reproduce.documents")

FILES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in (SOURCE / "kinegraph").rglob("*.py")
}

PROGRAM = """
import importlib, sys, threading
names = sys.argv[1:]
barrier, wrong = threading.Barrier(len(names)), []
def load(name):
    barrier.wait()
    try:
        importlib.import_module(name)
    except BaseException as error:
        wrong.append(f"{name}: {error!r}")
threads = [threading.Thread(target=load, args=(name,)) for name in names]
for one in threads: one.start()
for one in threads: one.join()
print(*wrong)
"""


@pytest.mark.parametrize(
    "names",
    [
        ("simulate.run", "simulate.sweep", "simulate.inputs"),
        ("model.evaluate", "model.builder", "io.urdf.reader", "io.language.reader"),
        ("view.page.solution_page", "view.plot", "store.graphs", "jit.kernel"),
    ],
)
def test_threads_that_import_parts_at_once(names: tuple[str, ...]) -> None:
    command = [sys.executable, "-c", PROGRAM, *(f"kinegraph.{name}" for name in names)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, check=True)
    assert done.stdout.strip() == ""


def imported(body: list[ast.stmt]) -> Iterator[str]:
    """The modules that are imported as soon as a file is."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{one.name}" for one in node.names)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            yield from imported(node.orelse)
        elif isinstance(node, ast.If | ast.Try | ast.With):
            yield from imported(node.body)


@cache
def needed(module: str) -> frozenset[str]:
    """The modules of the package that one imports at once, with the packages they are in."""
    found = [name for name in imported(ast.parse(FILES[module].read_text(encoding="utf-8")).body) if name in FILES]
    parts = [name.split(".") for name in found]
    return frozenset(".".join(part[:length]) for part in parts for length in range(1, len(part) + 1))


def reached(module: str) -> set[str]:
    """The same with all that these import."""
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        fresh = needed(waiting.pop()) - seen
        seen |= fresh
        waiting += fresh
    return seen


def test_no_package_imports_its_own_parts() -> None:
    packages = [name for name, path in FILES.items() if path.name == "__init__.py" and name != "kinegraph"]
    rings = {name: sorted(one for one in reached(name) if one.startswith(f"{name}.")) for name in packages}
    assert {name: parts for name, parts in rings.items() if parts and not name.startswith(BY_ONE_THREAD)} == {}
