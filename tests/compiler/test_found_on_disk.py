"""A process that finds its code on disk does not import what makes equations, reduces them and writes code."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest

import kinegraph as kg
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.derive.quantities.table import RECORDS, TABLE
from kinegraph.derive.tree.expressions import output
from tests.programs import HANGS

#: What makes records and code: packages, or modules of packages of which a request needs others.
MAKING = (
    "kinegraph.compiler.stages.",
    "kinegraph.derive.constraints",
    "kinegraph.derive.contacts",
    "kinegraph.derive.derivatives",
    "kinegraph.derive.dynamics",
    "kinegraph.derive.elements",
    "kinegraph.derive.parameters",
    "kinegraph.derive.platforms",
    "kinegraph.derive.tree",
    "kinegraph.derive.quantities.",
    "kinegraph.derive.quantities.derivation",
    "kinegraph.derive.quantities.plan_search",
    "kinegraph.codegen.estimate",
    "kinegraph.codegen.llvm.module",
    "kinegraph.codegen.program.lowering",
    "kinegraph.codegen.program.lowering",
    "kinegraph.codegen.simd.",
    "kinegraph.graph.build",
    "kinegraph.graph.interpret",
    "kinegraph.graph.proof",
    "kinegraph.passes.pipeline",
    "kinegraph.passes.pipeline",
    "kinegraph.passes.pipeline",
    "flint",
    "importlib.metadata",
)

PROGRAM = """
import sys
import kinegraph as kg
kernel = kg.compile(kg.load({model!r}), {quantity!r})
print(kernel(*([0.3 * k * k for k in range(len(argument.symbols))] for argument in kernel.arguments)).sum())
print(*sys.modules)
"""

COMMAND = """
import sys
from kinegraph.cli import main
try:
    main(["eval", "double-pendulum", "-q", "tau", "--json"])
except SystemExit:
    print(*sys.modules)
"""


def run(program: str) -> list[str]:
    """The lines that a program prints in a process of its own."""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, check=True, env=os.environ)
    return done.stdout.splitlines()


@pytest.mark.parametrize(("model", "quantity"), [("double-pendulum", "tau"), ("four-bar", "qdd")])
def test_what_is_found_on_disk_needs_nothing_that_makes_it(
    model: str, quantity: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KINEGRAPH_CACHE", str(tmp_path))
    kernel = kg.compile(model, quantity)
    program = PROGRAM.format(model=model, quantity=quantity)
    result, modules = run(program)
    states = [[0.3 * k * k for k in range(len(argument.symbols))] for argument in kernel.arguments]
    assert float(result) == kernel(*states).sum()
    assert [name for name in modules.split() if name.startswith(MAKING)] == []


def test_commands_do_not_import_it_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINEGRAPH_CACHE", str(tmp_path))
    kg.compile("double-pendulum", "tau")
    modules = run(COMMAND)[-1].split()
    assert "kinegraph.cli.eval" in modules
    wanted = tuple(name for name in MAKING if name != "importlib.metadata")  # some versions of typer need it
    assert [name for name in modules if name.startswith((*wanted, "rich."))] == []


def test_trees_need_nothing_of_loops_legs_and_contacts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINEGRAPH_CACHE", str(tmp_path))
    parts = ("kinegraph.derive.constraints.", "kinegraph.derive.contacts", "kinegraph.derive.platforms.")
    modules = run(PROGRAM.format(model="double-pendulum", quantity="tau"))[-1].split()
    assert "kinegraph.derive.quantities.derivation" in modules  # nothing was on disk
    assert [name for name in modules if name.startswith(parts)] == []


def test_every_row_names_functions_that_exist() -> None:
    """They are imported where they are called: a wrong name would be seen late."""
    functions = [one for record in TABLE for one in (record.derive, record.derivative) if one is not None]
    assert len(functions) > len(TABLE) > 30
    for function in functions:
        if isinstance(function, partial):  # else its module was imported before
            module, name = function.args
            assert callable(getattr(import_module(module), name))


def test_rows_are_pickled() -> None:
    derivation, quantity = Derivation(kg.load("double-pendulum"), {}, Plan()), Quantity("H")
    records = RECORDS["H"], pickle.loads(pickle.dumps(RECORDS["H"]))
    first, second = (output("H", (2, 2), record.derive(derivation, quantity)) for record in records)
    assert first == second
