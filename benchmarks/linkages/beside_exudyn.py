"""Four-bar and slider-crank beside Exudyn's generalized-alpha method, at equal accuracy, in one run.

    python -m benchmarks linkages

Exudyn takes three numbers of steps; beside each stands the loosest of our tolerances whose error is no larger. Errors
are those of the angles at the end against a run at 1e-12; times are the best of several, compiling apart.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from math import cos, sin

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.compiler.mechanism_source import mechanism_of
from kinegraph.extras import Foreign
from kinegraph.model.evaluate import float_values, parameter_values
from kinegraph.simulate.run import simulate

DURATION = 5.0
STEPS = (1000, 4000, 16000)
TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11)


@dataclass(frozen=True)
class Bar:
    """A planar body: mass, moment, its center and angle at the start."""

    mass: float
    moment: float
    center: tuple[float, float]
    angle: float


@dataclass(frozen=True)
class Pin:
    """A pin between two bodies (0 is the ground, bars count from 1) at points in their own axes."""

    first: int
    at: tuple[float, float]
    second: int
    on: tuple[float, float]


@dataclass(frozen=True)
class Linkage:
    """A planar linkage in absolute coordinates; `slider` is a bar that only moves along x."""

    model: str
    angles: tuple[str, ...]
    bars: tuple[Bar, ...]
    pins: tuple[Pin, ...]
    slider: int = 0


@dataclass(frozen=True)
class Row:
    """One accuracy: errors and seconds of both."""

    model: str
    steps: int
    error: float
    seconds: float
    rtol: float
    our_error: float
    our_seconds: float

    @property
    def ratio(self) -> float:
        """How many times faster."""
        return self.seconds / self.our_seconds


def _tip(length: float, angle: float, start: tuple[float, float] = (0.0, 0.0)) -> tuple[float, float]:
    return start[0] + length * cos(angle), start[1] + length * sin(angle)


def four_bar() -> Linkage:
    """The library's four-bar, bar by bar."""
    p, q = _start("four-bar")
    a, b, c, d, rho = (p[name] for name in ("a", "b", "c", "d", "rho"))
    lengths, origins = (a, b, c), ((0.0, 0.0), _tip(a, q[0]), (d, 0.0))
    bars = [
        Bar(rho * size, rho * size**3 / 12, _tip(size / 2, angle, origin), angle)
        for size, angle, origin in zip(lengths, q, origins, strict=True)
    ]
    pins = (
        Pin(0, (0, 0), 1, (-a / 2, 0)), Pin(1, (a / 2, 0), 2, (-b / 2, 0)),
        Pin(2, (b / 2, 0), 3, (c / 2, 0)), Pin(0, (d, 0), 3, (-c / 2, 0)),
    )  # fmt: skip
    return Linkage("four-bar", ("crank", "coupler", "rocker"), tuple(bars), pins)


def slider_crank() -> Linkage:
    """The library's slider-crank, bar by bar."""
    p, q = _start("slider-crank")
    r, size = p["r"], p["l"]
    bars = (
        Bar(p["mc"], p["mc"] * r**2 / 12, _tip(r / 2, q[0]), q[0]),
        Bar(p["ml"], p["ml"] * size**2 / 12, _tip(size / 2, q[1], _tip(r, q[0])), q[1]),
        Bar(p["mp"], 1.0, (q[2], 0.0), 0.0),
    )
    pins = (
        Pin(0, (0, 0), 1, (-r / 2, 0)), Pin(1, (r / 2, 0), 2, (-size / 2, 0)), Pin(2, (size / 2, 0), 3, (0, 0)),
    )  # fmt: skip
    return Linkage("slider-crank", ("crank", "rod"), bars, pins, slider=3)


def _start(model: str) -> tuple[dict[str, float], list[float]]:
    mechanism = mechanism_of(model)
    return float_values(parameter_values(mechanism)), Assembler(mechanism).assemble().q.tolist()


def exudyn_run(linkage: Linkage, steps: int) -> tuple[float, list[float]]:
    """Seconds and angles at the end, by generalized-alpha in absolute coordinates."""
    import exudyn as exu

    system: Foreign = exu.SystemContainer().AddSystem()
    nodes = _build(system, linkage)
    system.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.endTime, settings.timeIntegration.numberOfSteps = DURATION, steps
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    settings.solution.file.write = False
    begun = time.perf_counter()
    system.SolveDynamic(settings)
    seconds = time.perf_counter() - begun
    turned = [float(system.GetNodeOutput(node, exu.OutputVariableType.Coordinates)[2]) for node in nodes]
    return seconds, [bar.angle + turn for bar, turn in zip(linkage.bars, turned, strict=True)]


def _build(system: Foreign, linkage: Linkage) -> list[int]:
    """The linkage in Exudyn's system; returns the nodes of its bars."""
    from exudyn import itemInterface as items

    bodies, nodes = [system.AddObject(items.ObjectGround())], []
    for bar in linkage.bars:
        nodes.append(system.AddNode(items.NodeRigidBody2D(referenceCoordinates=[*bar.center, bar.angle])))
        body = items.ObjectRigidBody2D(mass=bar.mass, inertia=bar.moment, nodeNumber=nodes[-1])
        bodies.append(system.AddObject(body))
        marker = system.AddMarker(items.MarkerBodyPosition(bodyNumber=bodies[-1], localPosition=[0, 0, 0]))
        system.AddLoad(items.LoadForceVector(markerNumber=marker, loadVector=[0, -9.81 * bar.mass, 0]))
    for pin in linkage.pins:
        ends = (bodies[pin.first], pin.at), (bodies[pin.second], pin.on)
        markers = [items.MarkerBodyPosition(bodyNumber=body, localPosition=[*place, 0]) for body, place in ends]
        system.AddObject(items.ObjectJointRevolute2D(markerNumbers=[system.AddMarker(one) for one in markers]))
    if linkage.slider:
        _hold(system, items, nodes[linkage.slider - 1])
    return nodes


def _hold(system: Foreign, items: Foreign, node: int) -> None:
    """Height and turn of a body stay as they are."""
    ground = system.AddNode(items.NodePointGround())
    still = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=ground, coordinate=0))
    for coordinate in (1, 2):
        marker = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=coordinate))
        system.AddObject(items.ObjectConnectorCoordinate(markerNumbers=[still, marker]))


def our_run(linkage: Linkage, rtol: float) -> tuple[float, list[float]]:
    """Seconds and angles at the end, by dop853 in machine code."""
    run = simulate(
        mechanism_of(linkage.model), DURATION, rtol=rtol, atol=rtol, times=[0, DURATION], native=True, progress=False
    )
    seconds = run.statistics.seconds - run.statistics.loading
    return seconds, [float(run[name][-1]) for name in linkage.angles]


def rows_of(linkage: Linkage) -> list[Row]:
    """The same accuracy by both, for every number of Exudyn's steps."""
    exact = np.array(our_run(linkage, 1e-12)[1])
    ours = [(rtol, *_best(partial(our_run, linkage, rtol), exact, 5)) for rtol in TOLERANCES]
    rows = []
    for steps in STEPS:
        seconds, error = _best(partial(exudyn_run, linkage, steps), exact, 2)
        rtol, our_seconds, our_error = next(one for one in ours if one[2] <= error)
        rows.append(Row(linkage.model, steps, error, seconds, rtol, our_error, our_seconds))
    return rows


def _best(
    run: Callable[[], tuple[float, list[float]]], exact: np.ndarray[Foreign, Foreign], repeats: int
) -> tuple[float, float]:
    """The least time, and the error."""
    found = [run() for _ in range(repeats)]
    error = float(np.max(np.abs(np.array(found[0][1][: len(exact)]) - exact)))
    return min(seconds for seconds, _ in found), error


def main() -> None:
    """Print a row for every accuracy."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks linkages", description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = [row for linkage in (four_bar(), slider_crank()) for row in rows_of(linkage)]
    if given.json:
        print(json.dumps([asdict(row) | {"ratio": row.ratio} for row in rows]))
        return
    print("| linkage | Exudyn: steps, error, time | Kinegraph: rtol, error, time | ratio |")
    print("|---|---|---|---|")
    for row in rows:
        theirs = f"{row.steps}, {row.error:.1e}, {1e3 * row.seconds:.1f} ms"
        ours = f"{row.rtol:.0e}, {row.our_error:.1e}, {1e3 * row.our_seconds:.3f} ms"
        print(f"| {row.model} | {theirs} | {ours} | {row.ratio:.0f} |")


if __name__ == "__main__":
    main()
