"""A process that finds its code on disk computes the same, and imports nothing that derives, reduces or writes code."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import kinegraph as kg
from kinegraph.derive.quantities.definitions import DEFINITIONS, WRITTEN_DERIVATIVES
from kinegraph.derive.quantities.table import RECORDS, TABLE
from tests.programs import HANGS

#: How many modules of ours `kg.compile` may import where its code is on disk, and where a tree is derived, reduced and
#: compiled; with some room above what was measured: 78 and 164.
CACHED, NEW_TREE = 85, 170

PROGRAM = """
import sys
import kinegraph as kg
kernel = kg.compile(kg.load({model!r}), {quantity!r})
print(kernel(*([0.3 * k * k for k in range(len(argument.symbols))] for argument in kernel.arguments)).sum())
print(*sys.modules)
"""


def run(program: str) -> list[str]:
    """The lines that a program prints in a process of its own."""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, check=True, env=os.environ)
    return done.stdout.splitlines()


def ours(modules: str) -> list[str]:
    return [name for name in modules.split() if name.partition(".")[0] == "kinegraph"]


@pytest.mark.parametrize(("model", "quantity"), [("double-pendulum", "tau"), ("four-bar", "qdd")])
def test_code_found_on_disk_needs_nothing_that_makes_it(
    model: str, quantity: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KINEGRAPH_CACHE", str(tmp_path))
    kernel = kg.compile(model, quantity)
    result, modules = run(PROGRAM.format(model=model, quantity=quantity))
    states = [[0.3 * k * k for k in range(len(argument.symbols))] for argument in kernel.arguments]
    assert float(result) == kernel(*states).sum()
    assert len(ours(modules)) <= CACHED, ours(modules)
    assert not {"flint", "importlib.metadata"} & set(modules.split())


def test_trees_import_little_of_loops_legs_and_contacts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINEGRAPH_CACHE", str(tmp_path))
    modules = run(PROGRAM.format(model="double-pendulum", quantity="tau"))[-1]
    assert "kinegraph.derive.quantities.derivation" in modules.split()  # nothing was on disk
    assert len(ours(modules)) <= NEW_TREE, ours(modules)


CONTACTS = """
import sys
import kinegraph as kg
print(kg.simulate("bouncing-ball", 0.6).columns["z"][-1])
print(*sys.modules)
"""


def test_contacts_found_on_disk_are_not_derived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINEGRAPH_CACHE", str(tmp_path))
    first = kg.simulate("bouncing-ball", 0.6).columns["z"][-1]
    again, modules = run(CONTACTS)
    assert float(again) == pytest.approx(first, rel=1e-9)
    assert "kinegraph.derive.contacts" not in modules.split()


def test_every_quantity_has_a_definition() -> None:
    assert DEFINITIONS.keys() == RECORDS.keys()
    assert WRITTEN_DERIVATIVES.keys() <= RECORDS.keys()
    assert len(TABLE) == len(RECORDS) > 30


def test_rows_are_pickled() -> None:
    assert pickle.loads(pickle.dumps(TABLE)) == TABLE
