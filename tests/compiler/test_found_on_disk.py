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
from kinegraph.derive.quantities.table import RECORDS, TABLE
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
    "kinegraph.derive.quantities.definitions.",
    "kinegraph.derive.quantities.derivation",
    "kinegraph.derive.quantities.plans",
    "kinegraph.codegen.estimate.choice",
    "kinegraph.codegen.llvm.module",
    "kinegraph.codegen.program.lower",
    "kinegraph.codegen.program.statics",
    "kinegraph.codegen.simd.",
    "kinegraph.graph.build",
    "kinegraph.graph.interpret",
    "kinegraph.graph.proof.prove",
    "kinegraph.passes.by_name",
    "kinegraph.passes.pipeline",
    "kinegraph.passes.routes",
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


@pytest.mark.parametrize(("model", "quantity"), [("double-pendulum", "tau"), ("four-bar", "qdd")])
def test_what_is_found_on_disk_needs_nothing_that_makes_it(
    model: str, quantity: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KINEGRAPH_CACHE", str(tmp_path))
    kernel = kg.compile(model, quantity)
    program = PROGRAM.format(model=model, quantity=quantity)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=HANGS, check=True, env=os.environ
    )
    result, modules = done.stdout.splitlines()
    states = [[0.3 * k * k for k in range(len(argument.symbols))] for argument in kernel.arguments]
    assert float(result) == kernel(*states).sum()
    assert [name for name in modules.split() if name.startswith(MAKING)] == []


def test_every_row_names_functions_that_exist() -> None:
    """They are imported where they are called: a wrong name would be seen late."""
    functions = [one for record in TABLE for one in (record.derive, record.derivative) if one is not None]
    assert len(functions) > len(TABLE) > 30
    for function in functions:
        assert isinstance(function, partial)
        module, name = function.args
        assert callable(getattr(import_module(module), name))


def test_rows_are_pickled() -> None:
    record = pickle.loads(pickle.dumps(RECORDS["tau"]))
    assert record.name == "tau"
    assert record.derive.args == RECORDS["tau"].derive.args  # type: ignore[attr-defined]
