"""`inverse_dynamics`: forces marked unknown, from a given motion: A X = B, one equation for every coordinate.

Two ways lead there (KiDyM). The old way derives the finished equations and differentiates them: A = -d(tau)/dX. The new
way sorts while the elements are walked: only the elements that hold an unknown are differentiated, A = d(forces)/dX,
and all the rest is B. Both are derived here and are the same; the new one takes fewer operations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from scipy.linalg import null_space

from kinegraph.compiler.load import MechanismSource, mechanism_of
from kinegraph.display import RichDisplay
from kinegraph.errors import TaskError
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.elements import Input
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.tasks.forces.loop_motion import JACOBIAN, motion_on_constraints
from kinegraph.tasks.forces.motion_law import Motion, motion_of
from kinegraph.tasks.kernels import called_rows, kernel_of
from kinegraph.tasks.operating_point import Floats

#: Singular values below this part of the largest count as zero.
_RANK = 1e-10
#: A is called near-singular at times where its singular values are this far apart.
NEAR_SINGULAR = 1e-6


class Way(Enum):
    """How A is formed."""

    OLD = "old"
    NEW = "new"


@dataclass(frozen=True)
class UnknownForces(RichDisplay):
    """X at every time, NaN where the motion does not determine it.

    determinate: by unknown, true if it is determined at all times. residual: what the unknowns cannot provide, the
    largest over all equations. near_singular: times at which A is nearly singular. A, B: the equations.
    """

    times: Floats
    unknowns: tuple[str, ...]
    values: Floats
    determinate: tuple[bool, ...]
    residual: float
    near_singular: Floats
    A: Floats
    B: Floats

    def __getitem__(self, name: str) -> Floats:
        """One unknown over time."""
        return np.asarray(self.values[:, self.unknowns.index(name)])


def inverse_dynamics(
    mechanism: MechanismSource,
    motion: Mapping[str, Scalar],
    times: Sequence[float] | Floats,
    *,
    unknown: Sequence[str] = (),
    parameters: Mapping[str, Scalar] | None = None,
    way: Way = Way.NEW,
    least_norm: bool = False,
) -> UnknownForces:
    """The unknown forces for a motion.

    motion: a law of time for every coordinate; with loops, for as many as leave nothing free.
    unknown: names of `unknown` statements, free inputs, or forces on
    coordinates (`tau:q1`); by default all that the model declares unknown. least_norm: give the smallest values where
    the motion does not determine them, instead of NaN.
    """
    mechanism = mechanism_of(mechanism)
    names = _unknown_names(mechanism, unknown)
    at = np.atleast_1d(np.asarray(times, dtype=float))
    if is_constrained(mechanism):
        moved = motion_on_constraints(replace(mechanism, unknowns=(), elements=()), motion, at, parameters)
        a, b = _equations(replace(_with_inputs(mechanism), loops=(), constraints=()), names, moved, parameters, way)
        a, b = _without_multipliers(mechanism, moved, a, b, parameters)
    else:
        moved = motion_of(mechanism, motion, at, parameters)
        a, b = _equations(_with_inputs(mechanism), names, moved, parameters, way)
    return _solved(moved.times, names, a, b, least_norm)


def _unknown_names(mechanism: Mechanism, wanted: Sequence[str]) -> tuple[str, ...]:
    declared = [one.name for one in mechanism.unknowns]
    known = [*declared, *mechanism.layout.inputs, *mechanism.layout.forces]
    for name in wanted:
        if name not in known:
            raise TaskError(f"there is no unknown {name!r} in the equations\n  {did_you_mean(name, known)}")
    names = tuple(wanted) or tuple(declared)
    if not names:
        raise TaskError("nothing is unknown: write `unknown S;` in the model, or name forces such as tau:q1")
    return names


def _with_inputs(mechanism: Mechanism) -> Mechanism:
    """Unknowns become inputs: values that arrive from outside."""
    inputs = (*mechanism.inputs, *(Input(one.name) for one in mechanism.unknowns))
    return replace(mechanism, inputs=inputs, unknowns=())


def _equations(
    mechanism: Mechanism, names: tuple[str, ...], motion: Motion, parameters: Mapping[str, Scalar] | None, way: Way
) -> tuple[Floats, Floats]:
    layout = mechanism.layout
    wanted = ["tau"]
    if layout.inputs:
        wanted.append("d(tau)/d(all:u)" if way is Way.OLD else "d(forces)/d(all:u)")
    kernel = kernel_of(mechanism, wanted, parameters)
    values = {
        "q": motion.q, "v": motion.v, "a": motion.a, "t": motion.times, "u": np.zeros(len(layout.inputs)),
    }  # fmt: skip
    found = called_rows(kernel, values)
    columns = []
    for name in names:
        if name in layout.inputs:
            slope = found[wanted[1]][:, :, layout.inputs.index(name)]
            columns.append(-slope if way is Way.OLD else slope)
        else:
            unit = np.eye(len(layout.forces))[layout.forces.index(name)]
            columns.append(np.tile(unit, (len(motion.times), 1)))
    return np.stack(columns, axis=2), found["tau"]


def _without_multipliers(
    mechanism: Mechanism, motion: Motion, a: Floats, b: Floats, parameters: Mapping[str, Scalar] | None
) -> tuple[Floats, Floats]:
    """The equations along the motions the constraints allow, in which their forces do no work."""
    ties = replace(mechanism, unknowns=(), elements=())
    values = {"q": motion.q, "v": motion.v, "t": motion.times, "u": np.zeros(len(mechanism.layout.inputs))}
    jacobians = called_rows(kernel_of(ties, JACOBIAN, parameters), values)[JACOBIAN]
    bases = [null_space(jacobian, rcond=1e-9) for jacobian in jacobians]
    pairs = list(zip(bases, a, b, strict=True))
    return np.array([basis.T @ one for basis, one, _ in pairs]), np.array([basis.T @ one for basis, _, one in pairs])


def _solved(times: Floats, names: tuple[str, ...], a: Floats, b: Floats, least_norm: bool) -> UnknownForces:
    values = np.full((len(times), len(names)), np.nan)
    determinate = np.ones(len(names), dtype=bool)
    residual, near = 0.0, []
    for k, (matrix, right) in enumerate(zip(a, b, strict=True)):
        scale = np.max(np.abs(matrix), axis=0)
        left, sizes, right_vectors = np.linalg.svd(matrix / np.where(scale > 0, scale, 1.0), full_matrices=True)
        rank = int(np.sum(sizes > _RANK * max(float(np.max(sizes, initial=0.0)), 1e-300)))
        inverse = right_vectors[:rank].T @ np.diag(1 / sizes[:rank]) @ left[:, :rank].T
        solution = (inverse @ right) / np.where(scale > 0, scale, 1.0)
        free = np.any(np.abs(right_vectors[rank:]) > 1e-9, axis=0) if rank < len(names) else np.zeros(len(names), bool)
        determinate &= ~free
        values[k] = solution if least_norm else np.where(free, np.nan, solution)
        residual = max(residual, float(np.max(np.abs(matrix @ solution - right), initial=0.0)))
        if rank and sizes[rank - 1] < NEAR_SINGULAR * sizes[0]:
            near.append(times[k])
    _require_possible(residual, b)
    return UnknownForces(
        times, names, values, tuple(determinate.tolist()), residual, np.array(near), a, b,
    )  # fmt: skip


def _require_possible(residual: float, b: Floats) -> None:
    if residual > 1e-8 * max(1.0, float(np.max(np.abs(b), initial=0.0))):
        raise TaskError(
            f"these unknowns cannot cause this motion: {residual:.3g} N (or N m) are missing in some equation\n"
            "  mark more forces as unknown, e.g. tau:NAME for every driven coordinate"
        )
