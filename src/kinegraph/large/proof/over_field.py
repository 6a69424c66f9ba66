"""Looped systems with their tables and their code over a field, every way of computing them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from kinegraph.graph.proof.point import UnluckyPoint
from kinegraph.jit.bitcode import compiled
from kinegraph.large import articulated, forward, system
from kinegraph.large.chains import closed_system
from kinegraph.large.chains.closed_system import ByBars, ByChains, ByPins, ClosedMethod, ClosedSystem
from kinegraph.large.chains.planar_structure import FOLLOWING, chain_to, ring_of
from kinegraph.large.chains.records import Ends
from kinegraph.large.chains.system import ChainSystem, work_of
from kinegraph.large.linkages import sweeps
from kinegraph.large.linkages.structure import bars_of, pin_places
from kinegraph.large.linkages.system import LinkageSystem
from kinegraph.large.proof.point import PointOfMechanism
from kinegraph.large.records import AXIS, Floats
from kinegraph.large.system import LoopedSystem

System: TypeAlias = LoopedSystem | ClosedSystem


def over_field(loops: System, point: PointOfMechanism) -> list[LoopedSystem] | list[ClosedSystem]:
    """The system in the field, once for every way in which it is computed."""
    if isinstance(loops, LoopedSystem):
        return [_tree(loops, point)]
    return [
        point.code.instance(loops, flat=point.flat, closed_method=_closed_method(closed_method, point))
        for closed_method in loops.closed_methods
    ]


def _tree(loops: LoopedSystem, point: PointOfMechanism) -> LoopedSystem:
    flat, method = point.flat, loops.forward
    changes: dict[str, object] = {"tree": flat.tree}
    if isinstance(method, forward.Independent):
        none = point.numbers(method.apart.armature)
        changes["apart"] = method.apart._replace(constant=flat.tree.constant, armature=none)
    rest = point.numbers(np.zeros(len(loops.layout.velocities), dtype=int))
    return point.code.instance(loops, flat=flat, forward=point.code.instance(method, **changes), _rest=rest)


def _closed_method(closed_method: ClosedMethod, point: PointOfMechanism) -> ClosedMethod:
    code, flat = point.code, point.flat
    axis = int(flat.tree.link[1, AXIS])
    if isinstance(closed_method, ByBars):
        ends = point.ends[0]
        chains = [chain_to(flat, end.step) for end in ends]
        return code.instance(closed_method, ring=code.function(ring_of)(flat, axis, chains, ends))
    if isinstance(closed_method, ByPins):
        return code.instance(closed_method, system=_linkage(closed_method.system, point, axis))
    assert isinstance(closed_method, ByChains)
    return code.instance(closed_method, system=_chains(closed_method.system, point))


def _linkage(pins: LinkageSystem, point: PointOfMechanism, axis: int) -> LinkageSystem:
    code, flat = point.code, point.flat
    bar = code.function(bars_of)(flat, axis)
    place = code.function(pin_places)(bar, pins.linkage.pin, point.ends, axis)
    assert flat.constant_gravity is not None
    plane = [flat.constant_gravity[k] for k in FOLLOWING[axis]]
    gravity = np.array(plane, dtype=object)
    linkage = pins.linkage._replace(bar=bar, place=place, slope=flat.linear.slope, gravity=gravity)
    return code.instance(pins, linkage=linkage)


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


#: What stands in the field for functions that load machine code, ask about rounding, types of arrays, or call LAPACK.
INSTEAD: Mapping[object, object] = {
    compiled: lambda function: function,
    articulated.vanished: lambda pivot, before: pivot == 0,
    sweeps.singular: lambda pivot: pivot == 0,
    closed_system.refuse_singular: lambda pivots, rows: None,
    forward.solved_by_factors: solved,
    system.checked: lambda label, values, expected, kind: values,
}
