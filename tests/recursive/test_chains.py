"""Closed loops by loops over chains: equal to the derived graphs, on threads, with any body that chains hang on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import DerivationError, KernelError
from kinegraph.recursive.chains.dynamics import ChainSystem
from kinegraph.recursive.chains.structure import shared
from kinegraph.recursive.systems import ClosedSystem

#: Processes of their own run this very package, installed or not.
PACKAGE = Path(kg.__file__).parents[1]


@pytest.fixture(scope="module")
def found() -> Any:
    """All cases, in a process of its own: one of them replaces a part of the proof."""
    case = Path(__file__).with_name("chains_case.py")
    done = subprocess.run(
        [sys.executable, str(case)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (Path(__file__).parents[2], PACKAGE)))},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("case", "chains"),
    [
        ("loop-9", 2),
        ("slider-crank", 2),
        ("threads", 2),
        ("platform", 1),
        ("four chains", 4),
        ("four chains on threads", 4),
        ("gimbal", 2),
        ("gimbal on its top", 1),
    ],
)
def test_chains_give_the_accelerations_of_the_derived_graph(found: Any, case: str, chains: int) -> None:
    assert found[case]["difference"] < 1e-11
    assert found[case]["missed"] < 1e-9
    assert found[case]["chains"] == chains
    assert all(0 < pivot <= 1 for pivot in found[case]["pivots"])


def test_rows_that_say_nothing_take_no_part(found: Any) -> None:
    assert found["loop-9"]["rows"] == ["middle.x", "middle.y"]
    assert found["gimbal"]["rows"] == [f"hinge.{row}" for row in ("x", "y", "z", "turn_x", "turn_z")]


def test_pivots_are_those_of_the_graph(found: Any) -> None:
    assert found["pivots"]["difference"] < 1e-13


def test_a_singular_position_has_a_pivot_of_nothing(found: Any) -> None:
    assert not found["singular"]["pivot"] > 1e-14


@pytest.mark.parametrize("case", ["planar loop", "unequal bars", "bars about y", "bars closed on the ground"])
def test_planar_loops_have_the_accelerations_and_pivots_of_the_graph(found: Any, case: str) -> None:
    assert found[case]["code"] == "pins"
    assert found[case]["difference"] < 1e-11
    assert found[case]["pivots"] < 1e-12


@pytest.mark.parametrize("case", ["pins", "pins of one loop", "pins of a truss"])
def test_planar_linkages_pin_by_pin(found: Any, case: str) -> None:
    """Any number of loops, angles shared by bars: accelerations, and the way back onto the loops in the metric of H."""
    assert found[case]["code"] == "pins"
    assert found[case]["difference"] < 1e-11
    assert found[case]["back"] < 1e-13 and found[case]["missed"] < 1e-14
    assert found[case]["rates"] < 1e-13
    assert found[case]["least pivot"] > 1e-3


def test_long_loops_fulfil_their_equations(found: Any) -> None:
    assert max(found["long"].values()) < 1e-10


def test_a_singular_position_is_refused_by_name(found: Any) -> None:
    assert "singular" in found["refused"]["said"] and "middle." in found["refused"]["said"]


def test_a_run_that_becomes_infinite_says_when(found: Any) -> None:
    assert "before t = 1" in found["broken"]["said"] and "shorter steps" in found["broken"]["said"]


def test_what_loops_over_chains_cannot_do_is_said() -> None:
    with pytest.raises(KernelError, match="s is not a linear spring"):
        text = kg.library.text("loop-5").replace("loop", "spring s | on(a1), stiffness(1), rest(0);\nloop", 2)
        ChainSystem(kg.parse(text.replace("model spring s | on(a1), stiffness(1), rest(0);\n", "model ")))
    with pytest.raises(KernelError, match="unknown body 'nobody'"):
        ChainSystem(kg.library.mechanism("loop-5"), body="nobody")
    with pytest.raises(KernelError, match="constraint blade"):
        ClosedSystem(
            kg.parse("coordinates x, y; A | Sx(x), Sy(y) | m(1), Jz(1), Jx(1), Jy(1); constraint blade | y' - x' = 0;")
        )


@pytest.mark.soak
def test_ranks_give_the_serial_numbers() -> None:
    """Four chains on two ranks, with a spring and a damper between chains: two messages an evaluation."""
    pytest.importorskip("mpi4py", reason="needs the extra mpi")
    beside = Path(sys.executable).parent / "mpiexec"
    launcher = str(beside) if beside.exists() else shutil.which("mpiexec")
    if launcher is None:
        pytest.skip("there is no mpiexec")
    root = Path(__file__).parents[2]
    paths = os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [launcher, "-n", "2", sys.executable, "-m", "tests.recursive.ranks_case"],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        cwd=root,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    differences, counted = (line.split() for line in done.stdout.splitlines()[-2:])
    assert max(map(float, differences)) < 1e-13
    assert int(counted[0]) >= 2 * 4 and float(counted[1]) < 1e-3


def test_chains_are_shared_by_their_lengths() -> None:
    def part(steps: int) -> Any:
        from numpy import array, zeros

        from kinegraph.recursive.chains.sweeps import Part

        return Part(array([[1, steps + 1]]), zeros(0, dtype=int), zeros(0, dtype=int))

    assert shared([part(n) for n in (3, 10, 4, 5)], 2) == [[1], [3, 2, 0]]


def test_loops_over_chains_are_proved(found):
    assert found["proof"] == {"code": "chains", "rows": 5}
    assert found["proof of a slider-crank"] == {"code": "chains", "rows": 3}
    assert found["wrong chains"]["said"]


def planar(bars: int, end: str = "Sz(1)", ground: str = "Sy(1)", joint: str = "revolute(x)", more: str = "") -> Any:
    """Bars that turn about x, from the ground to the ground."""
    names = ", ".join(f"q{k} = {value}" for k, value in enumerate([2.2, -1.5, -1.4] + [0.0] * (bars - 3)))
    text = f"model planar; gravity 0, 0, -9.81; coordinates {names};\n"
    for k in range(bars):
        base, shift = ("", "") if k == 0 else (f"~B{k - 1}", "Sz(1), ")
        text += f"B{k}{base} | {shift}Rx(q{k}) | Sz(0.5), m(1), Jx(0.1), Jy(0.1), Jz(0.1);\n"
    return kg.parse(f"{text}loop pin | {joint} | B{bars - 1}: {end} | {ground};\n{more}")


IMPOSSIBLE = {
    "apart along the axis": ({"end": "Sz(1), Sx(0.5)"}, "pin.x, pin.y, pin.z"),
    "points apart along the axis": ({"end": "Sz(1), Sx(0.5)", "joint": "spherical"}, "pin.x, pin.y, pin.z"),
    "axes that are not parallel": ({"end": "Sz(1), Ry(0.3)"}, "pin.y, pin.z, pin.turn_y"),
    "fixed apart": ({"end": "Sz(1), Sx(0.5)", "joint": "fixed"}, "pin.x, pin.y, pin.z, pin.turn_x"),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_loops_that_can_never_close_are_refused_as_in_derived_graphs(case: str) -> None:
    options, rows = IMPOSSIBLE[case]
    mechanism = planar(3, **options)
    said = f"the constraints {rows} are redundant or contradictory"
    for refused in (lambda: kg.compile(mechanism, "qdd", loops=False), lambda: ChainSystem(mechanism)):
        with pytest.raises(DerivationError, match=said):
            refused()
    for bars in (3, 320):
        with pytest.raises(DerivationError, match=said):
            kg.compile(planar(bars, **options), "qdd", loops=True)


def test_loops_that_are_stated_twice_close_once() -> None:
    """Such rows are left out if the mechanism can be assembled; two places for one point contradict each other."""
    twice = planar(3, more="loop again | revolute(x) | B2: Sz(1) | Sy(1);")
    q, none = np.array([2.2, -1.5, -1.4]), np.zeros(3)
    once = kg.compile(planar(3), "qdd", loops=True)(q, none, none)
    np.testing.assert_allclose(kg.compile(twice, "qdd", loops=True)(q, none, none), once, rtol=1e-10)
    with pytest.raises(DerivationError, match=r"pin\.y, pin\.z, again\.y, again\.z are redundant or contradictory"):
        kg.compile(planar(3, more="loop again | revolute(x) | B2: Sz(1) | Sy(1.2);"), "qdd", loops=True)


@pytest.mark.parametrize("ground", ["Sy(1)", "Sy(10)"])
def test_accelerations_are_those_of_graphs_wherever_the_ends_are(ground: str) -> None:
    """Rows of a loop that is out of reach do not depend on each other: as in graphs, positions are taken as given."""
    mechanism = planar(3, ground=ground)
    q, none = np.array([2.2, -1.5, -1.4]), np.zeros(3)
    both = [np.asarray(kg.compile(mechanism, "qdd", loops=loops)(q, none, none)) for loops in (True, False)]
    np.testing.assert_allclose(both[0], both[1], rtol=1e-11)


def test_singular_positions_begin_where_those_of_graphs_begin() -> None:
    """At a pivot of 2e-12 graphs give no numbers and recursions refuse; at one of 2e-8 both compute."""
    mechanism, none = planar(3), np.zeros(3)
    recursive, straight = (kg.compile(mechanism, "qdd,pivots", loops=loops) for loops in (True, False))
    near, beside = np.array([0.3, 1e-6, 0.0]), np.array([0.3, 1e-4, 0.0])
    assert 1e-12 < straight(near, none, none)["pivots"].min() < 1e-11
    assert np.all(np.isnan(straight(near, none, none)["qdd"]))
    with pytest.raises(KernelError, match=r"the row pin\.y depends on others"):
        recursive(near, none, none)
    found, wanted = (kernel(beside, none, none)["qdd"] for kernel in (recursive, straight))
    np.testing.assert_allclose(found, wanted, atol=1e-6)
