"""Singular coordinates: positions where some coordinates move nothing, as in gimbal lock.

With all other coordinates free, coordinate i feels the inertia 1/(H^-1)_ii: its pivot when H is eliminated and i
comes last. Units differ between coordinates, so each pivot is compared with the same pivot at usual positions.
Kernels need no further output for this: the diagonal follows from accelerations under unit forces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kinegraph.assembly.initial_values import angle_names
from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler.compile import compile
from kinegraph.graph.node import Graph, Kind
from kinegraph.model.constraints import is_constrained
from kinegraph.model.evaluate import float_values, initial_positions, initial_states, parameter_values
from kinegraph.model.expressions import TIME, Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.equations import row_values
from kinegraph.solve.problem import Floats

#: A pivot below the first fraction of the usual one is singular: the position is then within 1e-5 of a singular one,
#: and rates have fewer than six correct digits. Runs that fail end near such positions: the second fraction.
SINGULAR, ENDED = 1e-10, 1e-6
#: How many usual positions are sampled, and how many for mechanisms with more than _MANY velocities.
_SAMPLES, _FEW_SAMPLES, _MANY = 7, 2, 100
#: Where nothing is finite, positions at this distance show which coordinates are singular.
_ASIDE = 1e-6
#: Lengths below this are taken as zero.
_NO_LENGTH = 1e-12
#: A coordinate with a smaller compliance, relative to that of its own inertia, is held by constraints.
_HELD = 1e-9

REMEDY = "start from a nearby state, or use other coordinates: a quaternion, or rotations in another order"

#: The diagonal of H^-1 for rows of positions; NaN where it has no value.
Compliance: TypeAlias = Callable[[Floats], Floats]


@dataclass(frozen=True)
class PivotMeasure:
    """The usual pivots of a mechanism, and the pivots at any position."""

    mechanism: Mechanism
    compliance: Compliance
    usual: Floats
    parameters: Mapping[str, Scalar] | None = None

    def singular(self, q: Floats, part: float = SINGULAR) -> tuple[str, ...]:
        """The singular coordinates at this position; none if it is regular, or if nothing is finite near it.

        If two coordinates rotate a body about the same axis, both are named.
        """
        found = self.compliance(q[None])[0]
        if not np.isfinite(found).all():
            found = self.compliance(self._aside(q)[None])[0]
        return self.lost(found, part)

    def _aside(self, q: Floats) -> Floats:
        away = np.random.default_rng(3).uniform(0.5, 1.0, len(q))
        return _unit(self.mechanism, q + _ASIDE * _sizes(self.mechanism, q, self.parameters) * away)

    def lost(self, compliance: Floats, part: float = SINGULAR) -> tuple[str, ...]:
        """The coordinates whose pivots are below a fraction of the usual ones, from the diagonal of H^-1."""
        with np.errstate(invalid="ignore"):
            found = np.flatnonzero(np.abs(compliance) * part > self.usual)
        return tuple(coordinate_name(self.mechanism, int(index)) for index in found)


def pivot_measure(
    mechanism: Mechanism, q: Floats, compliance: Compliance, parameters: Mapping[str, Scalar] | None = None
) -> PivotMeasure:
    """The measure, with usual pivots from random positions; q gives the size of lengths."""
    return PivotMeasure(mechanism, compliance, usual_compliance(mechanism, q, compliance, parameters), parameters)


def usual_compliance(
    mechanism: Mechanism, q: Floats, compliance: Compliance, parameters: Mapping[str, Scalar] | None = None
) -> Floats:
    """The usual diagonal of H^-1; NaN where it has no value."""
    found = np.abs(compliance(_usual_positions(mechanism, q, parameters)))
    found = np.where(np.isfinite(found), found, np.nan)
    known = np.isfinite(found).any(axis=0)
    usual = np.full(found.shape[1], np.nan)  # an entry without a usual value is never judged
    usual[known] = np.nanmedian(found[:, known], axis=0)
    return np.where(usual == 0, np.nan, usual)  # held by constraints: its compliance is a rounding error


def singular_coordinates(
    mechanism: Mechanism,
    q: Floats,
    t: float = 0.0,
    u: Floats | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    part: float = SINGULAR,
) -> tuple[str, ...]:
    """The singular coordinates at a position. Singular loops are detected separately, by their rows.

    The usual positions need not satisfy loops: the rows have a slope anywhere.
    """
    if not can_be_judged(mechanism, q):
        return ()
    inputs = np.zeros(len(mechanism.layout.inputs)) if u is None else u
    z = np.array(initial_states(mechanism, parameter_values(mechanism, parameters)))
    kernel = compile(mechanism, "qdd", parameters=dict(parameters or {}))

    def compliance(rows: Floats) -> Floats:
        return np.array([_compliance_of(kernel, row, t, inputs, z) for row in rows])

    return pivot_measure(mechanism, q, compliance, parameters).singular(q, part)


def singular_in(
    motion: Graph, mechanism: Mechanism, q: Floats, t: float, parameters: Mapping[str, Scalar], part: float
) -> tuple[str, ...]:
    """The same from `qdd` and `H` as a graph, in which some parameters may be symbols: nothing is compiled per case."""
    if not can_be_judged(mechanism, q):
        return ()
    layout, size = mechanism.layout, len(mechanism.layout.velocities)
    symbols = [symbol for symbol in motion.symbols() if symbol.kind is not Kind.CONSTANT]
    known = float_values(parameter_values(mechanism, parameters)) | {TIME: t}
    forces = np.vstack([np.zeros(size), np.eye(size)])

    def compliance(rows: Floats) -> Floats:
        count = len(rows) * (size + 1)
        columns = {name: np.full(count, value) for name, value in known.items()}
        columns |= zip(layout.positions, np.repeat(rows, size + 1, axis=0).T, strict=True)
        columns |= zip(layout.forces, np.tile(forces, (len(rows), 1)).T, strict=True)
        table = np.column_stack([columns.get(one.name, np.zeros(count)) for one in symbols])
        with np.errstate(all="ignore"):
            values = row_values(motion, symbols, table)
            found = np.broadcast_to(values["qdd"], (count, size)).reshape(-1, size + 1, size)
            masses = np.broadcast_to(values["H"], (count, size, size))[:: size + 1]
            slopes = np.diagonal(found[:, 1:] - found[:, :1], axis1=1, axis2=2)
            held = np.abs(slopes * np.diagonal(masses, axis1=1, axis2=2)) < _HELD
            return np.where(held, 0.0, slopes)

    return pivot_measure(mechanism, q, compliance, parameters).singular(q, part)


def can_be_judged(mechanism: Mechanism, q: Floats) -> bool:
    """Whether pivots can be evaluated: not if accelerations depend on which contacts are closed."""
    size = len(mechanism.layout.velocities)
    if mechanism.contacts or not size or not np.isfinite(q).all():
        return False
    return not (is_constrained(mechanism) and size > _MANY)


def singular_words(mechanism: Mechanism, names: tuple[str, ...]) -> str:
    """Two lines: what is wrong at a singular position, and what to do about it."""
    listed = ", ".join(names)
    which = f"{listed} moves nothing" if len(names) == 1 else f"{listed} do not move independently"
    return (
        f"the coordinates of {mechanism.name} are singular here, as in gimbal lock: {which}, so "
        f"accelerations are not determined\n  {REMEDY}"
    )


def coordinate_name(mechanism: Mechanism, index: int) -> str:
    """The coordinate of a velocity, by index; for a free rotation, the angular velocity itself."""
    return mechanism.layout.velocities[index].removesuffix("'")


def _compliance_of(kernel: Kernel, q: Floats, t: float, u: Floats, z: Floats) -> Floats:
    """The acceleration of every coordinate under a unit force on it; first-order states z do not change it."""
    size = next(len(one.symbols) for one in kernel.arguments if one.name == "tau")
    tau = np.vstack([np.zeros(size), np.eye(size)])
    count = len(tau)
    known: dict[str, Floats | float] = {
        "q": np.tile(q, (count, 1)), "v": np.zeros((count, size)), "z": np.tile(z, (count, 1)),
        "tau": tau, "u": np.tile(u, (count, 1)), "t": t,
    }  # fmt: skip
    with np.errstate(all="ignore"):
        rows = kernel.by_name(kernel.batch(**{one.name: known[one.name] for one in kernel.arguments}))["qdd"]
        return np.asarray(np.diagonal(rows[1:] - rows[0]), dtype=float)


def _usual_positions(mechanism: Mechanism, q: Floats, parameters: Mapping[str, Scalar] | None) -> Floats:
    """Random positions: any angles, lengths as large as now or initially."""
    sizes = _sizes(mechanism, q, parameters)
    count = _SAMPLES if len(q) <= _MANY else _FEW_SAMPLES
    random = np.random.default_rng(7).uniform(-sizes, sizes, (count, len(q)))
    return np.array([_unit(mechanism, row) for row in random])


def _sizes(mechanism: Mechanism, q: Floats, parameters: Mapping[str, Scalar] | None) -> Floats:
    """The usual size of each coordinate: half a turn, or a length."""
    first = initial_positions(mechanism, parameter_values(mechanism, parameters))
    sizes = np.maximum(np.abs(q), np.abs(first))
    angles = angle_names(mechanism)
    known = [name in angles for name in mechanism.layout.positions]
    return np.where(known, np.pi, np.where(sizes > _NO_LENGTH, sizes, 1.0))


def _unit(mechanism: Mechanism, q: Floats) -> Floats:
    """Positions with unit quaternions."""
    q = q.copy()
    for start in mechanism.layout.quaternions:
        q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
    return q
