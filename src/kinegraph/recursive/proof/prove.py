"""The proof of a recursive kernel: its own source over a finite field against Newton's law in the fixed frame."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from kinegraph.derive.tree.algebra import FOLLOWING
from kinegraph.errors import ProofError
from kinegraph.graph.certificate import RecursiveProof
from kinegraph.graph.node import Kind
from kinegraph.graph.prime_field import UnluckyPoint
from kinegraph.jit.bitcode import compiled
from kinegraph.model.evaluate import parameter_values
from kinegraph.model.expressions import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.recursive import articulated_body, forward, systems
from kinegraph.recursive.arrays import AXIS, Floats
from kinegraph.recursive.chains.dynamics import ChainSystem, work_of
from kinegraph.recursive.chains.sweeps import Ends
from kinegraph.recursive.linkages import pins
from kinegraph.recursive.linkages.pins import LinkageSystem
from kinegraph.recursive.linkages.recognition import bars_of, pin_places
from kinegraph.recursive.proof.fixed_frame import rows_at_point
from kinegraph.recursive.proof.point import PointOfMechanism, Stated
from kinegraph.recursive.systems import ByChains, ByPins, ClosedSystem, RecursiveSystem

System: TypeAlias = RecursiveSystem | ClosedSystem


def over_field(system: System, point: PointOfMechanism) -> System:
    """The system with its tables and its code over the field."""
    if isinstance(system, RecursiveSystem):
        return _tree(system, point)
    method = _closed_method(system.closed_method, point)
    return point.code.instance(system, flat=point.flat, closed_method=method)


def _tree(system: RecursiveSystem, point: PointOfMechanism) -> RecursiveSystem:
    flat, method = point.flat, system.forward
    changes: dict[str, object] = {"tree": flat.tree}
    if isinstance(method, forward.IndependentForward):
        none = point.numbers(method.apart.armature)
        changes["apart"] = method.apart._replace(constant=flat.tree.constant, armature=none)
    rest = point.numbers(np.zeros(len(system.layout.velocities), dtype=int))
    return point.code.instance(system, flat=flat, forward=point.code.instance(method, **changes), _rest=rest)


def _closed_method(closed_method: ByPins | ByChains, point: PointOfMechanism) -> ByPins | ByChains:
    code = point.code
    if isinstance(closed_method, ByPins):
        return code.instance(closed_method, system=_linkage(closed_method.system, point))
    return code.instance(closed_method, system=_chains(closed_method.system, point))


def _linkage(system: LinkageSystem, point: PointOfMechanism) -> LinkageSystem:
    code, flat = point.code, point.flat
    axis = int(flat.tree.link[1, AXIS])
    bar = code.function(bars_of)(flat, axis)
    place = code.function(pin_places)(bar, system.linkage.pin, point.ends, axis)
    assert flat.constant_gravity is not None
    plane = [flat.constant_gravity[k] for k in FOLLOWING[axis]]
    gravity = np.array(plane, dtype=object)
    linkage = system.linkage._replace(bar=bar, place=place, slope=flat.linear.slope, gravity=gravity)
    return code.instance(system, linkage=linkage)


def _chains(chains: ChainSystem, point: PointOfMechanism) -> ChainSystem:
    """The frames of loops are ends, in the order of their steps."""
    flat = point.flat
    tree = chains.tree._replace(constant=flat.tree.constant, armature=flat.tree.armature)
    frames = [frame for pair in point.ends for frame in pair]
    order = np.argsort(chains.place[: len(frames)])
    turn, at = (np.array([getattr(frames[k], name) for k in order], dtype=object) for name in ("turn", "origin"))
    zero = point.number(0)
    closing = chains.closing._replace(sign=point.numbers(chains.closing.sign), alpha=zero, beta=zero)
    sizes = len(tree.link), len(chains.layout.velocities), chains.directions.end.size
    work = point.code.function(work_of)(*sizes)
    ends = Ends(chains.ends.step, turn, at)
    return point.code.instance(chains, flat=flat, tree=tree, ends=ends, closing=closing, work=work)


def solved(matrix: Floats, right: Floats) -> Floats:
    """The solution of a linear system over a field, by elimination."""
    rows = np.column_stack([matrix, right])
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i, k] != 0), None)
        if pivot is None:
            raise UnluckyPoint
        rows[[k, pivot]] = rows[[pivot, k]]
        rows[k] = rows[k] / rows[k, k]
        for i in range(len(rows)):
            if i != k:
                rows[i] = rows[i] - rows[i, k] * rows[k]
    return rows[:, -1]


#: Replacements in the field for functions that load machine code, check rounding or array types, or call LAPACK.
INSTEAD: Mapping[object, object] = {
    compiled: lambda function: function,
    articulated_body.vanished: lambda pivot, before: pivot == 0,
    pins.singular: lambda pivot: pivot == 0,
    systems.refuse_singular: lambda pivots, rows: None,
    forward.solved_by_factors: solved,
    systems.checked: lambda label, values, expected, kind: values,
}


# Accelerations are put into Newton's law, which must give back the forces. With closed loops the accelerations must
# keep the rows closed, and what is left of the forces must be a sum of forces that the rows exert.

#: Quantities that Newton's law determines.
PROVED = ("tau", "qdd", "energy")
#: Beyond so many rows of closed loops their forces are not sought: that would take minutes.
MOST_ROWS = 300
#: So many points may be unlucky (something divides by zero there) before that is the mechanism's fault.
_TRIES = 8


def proved(
    system: System, mechanism: Mechanism, quantities: Sequence[str], parameters: Mapping[str, Scalar] | None
) -> RecursiveProof:
    """The proof that the system computes these quantities, or ProofError naming one that differs."""
    started = time.perf_counter()
    rows = rows_of(system)
    stated = Stated(mechanism, parameters)
    _require_same_structure(system, stated)
    _at_a_lucky_point(lambda: _compared(system, stated, quantities, rows))
    sizes = len(mechanism.bodies), len(mechanism.layout.velocities), len(rows)
    return RecursiveProof(tuple(quantities), *sizes, time.perf_counter() - started)


def rows_of(system: System) -> tuple[str, ...]:
    """The rows of closed loops that take part."""
    return tuple(system.closed_method.rows) if isinstance(system, ClosedSystem) else ()


def unproved(system: System, mechanism: Mechanism, parameters: Mapping[str, Scalar] | None) -> str:
    """Why no proof is made; nothing if one can be."""
    if mechanism.elements:
        return f"{mechanism.elements[0].name}: recursive algorithms with springs are not proved"
    if len(rows_of(system)) > MOST_ROWS:
        return f"recursive algorithms with more than {MOST_ROWS} rows of closed loops are not proved"
    inexact = [name for name, value in parameter_values(mechanism, parameters).items() if isinstance(value, float)]
    if system.flat.nonlinear is not None and inexact:
        return f"{inexact[0]} is not a rational number; nonlinear displacements are proved for rational numbers only"
    return ""


def _at_a_lucky_point(compare: Callable[[], None]) -> None:
    for _ in range(_TRIES):
        try:
            return compare()
        except (UnluckyPoint, ZeroDivisionError):
            continue
    raise ProofError(f"a denominator is zero at {_TRIES} random points: some coordinate moves nothing with inertia")


def _require_same_structure(system: System, stated: Stated) -> None:
    """The recursion must run over the steps that exact numbers give."""
    for name in ("link", "row", "column"):
        if not np.array_equal(getattr(system.flat.tree, name), getattr(stated.flat.tree, name)):
            raise ProofError(
                "the recursion runs over other steps than exact numbers give: a slope vanishes by rounding"
            )


def _compared(system: System, stated: Stated, quantities: Sequence[str], rows: Sequence[str]) -> None:
    point = PointOfMechanism(stated, INSTEAD)
    layout = stated.mechanism.layout
    q, v = point.symbols(Kind.COORDINATE, layout.positions), point.symbols(Kind.VELOCITY, layout.velocities)
    a, forces = (point.symbols(kind, layout.accelerations) for kind in (Kind.ACCELERATION, Kind.INPUT))
    (t,) = point.symbols(Kind.TIME, ["t"])
    found = over_field(system, point)
    if "tau" in quantities and isinstance(found, RecursiveSystem):
        _require_equal("tau", found.tau(q, v, a, t), point.fixed_frame().forces())
    if "qdd" in quantities:
        _require_law(point, rows, found.qdd(q, v, forces, t), forces)
    if "energy" in quantities:
        _require_equal("energy", found.energy(q, v, t), point.fixed_frame().energies())


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
        raise ProofError(f"the recursive algorithm differs from Newton's law in {name!r}, entry {different[0]}{more}")
