"""The proof of a looped kernel: its loops over a finite field against Newton's law in the fixed frame.

Accelerations are put into Newton's law, which must give back the forces. With closed loops the accelerations must keep
the rows closed, and what is left of the forces must be a sum of forces that the rows exert.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from kinegraph.errors import ProofError
from kinegraph.graph.node import Kind
from kinegraph.graph.proof.point import UnluckyPoint
from kinegraph.graph.proof.whole import LoopsProof
from kinegraph.large.chains.closed_system import ClosedSystem
from kinegraph.large.proof.over_field import INSTEAD, System, over_field, solved
from kinegraph.large.proof.point import PointOfMechanism, Stated
from kinegraph.large.proof.rows import rows_at_point
from kinegraph.large.records import Floats
from kinegraph.large.system import LoopedSystem
from kinegraph.model.evaluate import parameter_values
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism

#: What loops compute that Newton's law says.
PROVED = ("tau", "qdd", "energy")
#: Beyond so many rows of closed loops their forces are not sought: that would take minutes.
MOST_ROWS = 300
#: So many points may be unlucky (something divides by zero there) before that is the mechanism's fault.
_TRIES = 8


def proved(
    loops: System, mechanism: Mechanism, quantities: Sequence[str], parameters: Mapping[str, Scalar] | None
) -> LoopsProof:
    """The proof that the loops compute these quantities, or ProofError naming one that differs."""
    started = time.perf_counter()
    rows = rows_of(loops)
    stated = Stated(mechanism, parameters)
    _require_same_structure(loops, stated)
    _at_a_lucky_point(lambda: _compared(loops, stated, quantities, rows))
    sizes = len(mechanism.bodies), len(mechanism.layout.velocities), len(rows)
    return LoopsProof(tuple(quantities), *sizes, time.perf_counter() - started)


def rows_of(loops: System) -> tuple[str, ...]:
    """The rows of closed loops that take part."""
    return tuple(loops.closed_method.rows) if isinstance(loops, ClosedSystem) else ()


def unproved(loops: System, mechanism: Mechanism, parameters: Mapping[str, Scalar] | None) -> str:
    """Why no proof is made; nothing if one can be."""
    if mechanism.elements:
        return f"{mechanism.elements[0].name}: springs in loops over bodies are not proved"
    if len(rows_of(loops)) > MOST_ROWS:
        return f"loops over bodies with more than {MOST_ROWS} rows of closed loops are not proved"
    inexact = [name for name, value in parameter_values(mechanism, parameters).items() if isinstance(value, float)]
    if loops.flat.nonlinear is not None and inexact:
        return f"{inexact[0]} is no rational number, which displacements that are not linear are proved for"
    return ""


def _at_a_lucky_point(compare: Callable[[], None]) -> None:
    for _ in range(_TRIES):
        try:
            return compare()
        except (UnluckyPoint, ZeroDivisionError):
            continue
    raise ProofError(f"a denominator is zero at {_TRIES} random points: some coordinate moves nothing with inertia")


def _require_same_structure(loops: System, stated: Stated) -> None:
    """The loops must run over the steps that exact numbers give."""
    for name in ("link", "row", "column"):
        if not np.array_equal(getattr(loops.flat.tree, name), getattr(stated.flat.tree, name)):
            raise ProofError("the loops run over other steps than exact numbers give: a slope vanishes by rounding")


def _compared(loops: System, stated: Stated, quantities: Sequence[str], rows: Sequence[str]) -> None:
    point = PointOfMechanism(stated, INSTEAD)
    layout = stated.mechanism.layout
    q, v = point.symbols(Kind.COORDINATE, layout.positions), point.symbols(Kind.VELOCITY, layout.velocities)
    a, forces = (point.symbols(kind, layout.accelerations) for kind in (Kind.ACCELERATION, Kind.INPUT))
    (t,) = point.symbols(Kind.TIME, ["t"])
    every = over_field(loops, point)
    if "tau" in quantities and isinstance(every[0], LoopedSystem):
        _require_equal("tau", every[0].tau(q, v, a, t), point.fixed_frame().forces())
    for one in every if "qdd" in quantities else ():
        _require_law(point, rows, one.qdd(q, v, forces, t), forces)
    if "energy" in quantities:
        _require_equal("energy", every[0].energy(q, v, t), point.fixed_frame().energies())


def _require_law(point: PointOfMechanism, rows: Sequence[str], found: Floats, forces: Floats) -> None:
    """Accelerations must need the given forces, but for those of rows, which must stay closed."""
    frame = point.fixed_frame(found)
    missing = frame.forces() - forces
    if rows:
        stated = list(rows_at_point(point.stated.mechanism, frame, rows))
        _require_equal("qdd", [row.change for row in stated], [point.number(0)] * len(rows))
        columns = np.stack([row.force for row in stated], axis=1)
        missing = missing - columns @ solved(columns.T @ columns, columns.T @ missing)
    _require_equal("qdd", missing, 0 * missing)


def _require_equal(name: str, left: Sequence[float] | Floats, right: Sequence[float] | Floats) -> None:
    different = [k for k, (a, b) in enumerate(zip(left, right, strict=True)) if a != b]
    if different:
        more = f" and {len(different) - 1} more" if len(different) > 1 else ""
        raise ProofError(f"the loops over bodies differ from Newton's law in {name!r}, entry {different[0]}{more}")
