"""`statics`: the forces that hold a mechanism at rest, and the loads of its joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.display import RichDisplay
from kinegraph.errors import TaskError
from kinegraph.model.axes import Axes
from kinegraph.model.constraints import refuse_states
from kinegraph.model.expressions import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.tasks.force_equations import solved
from kinegraph.tasks.joint_loads import motion_loads
from kinegraph.tasks.operating_point import Floats, OperatingPoint, name_index, operating_point
from kinegraph.tasks.prescribed_motion import SampledMotion
from kinegraph.tasks.reactions import LoadView, Point, Reaction, load_view
from kinegraph.tasks.tangent_space import refuse_singular, tangent
from kinegraph.tasks.unknown_forces import ForceProblem, require_values, unknown_names, with_values


@dataclass(frozen=True)
class Statics(RichDisplay):
    """The balancing forces; NaN if equilibrium does not determine them.

    q: the equilibrium position. residual: the largest residual of all equations. reactions: the loads of the
    requested joints. near_singular: whether the position is nearly singular for these forces, so that they are
    large.
    """

    model: str
    coordinates: tuple[str, ...]
    q: Floats
    unknowns: tuple[str, ...]
    values: Floats
    determinate: tuple[bool, ...]
    residual: float
    reactions: tuple[Reaction, ...]
    near_singular: bool = False

    def __getitem__(self, name: str) -> float:
        """One balancing force."""
        return float(self.values[name_index(name, self.unknowns, "force")])

    def __contains__(self, name: object) -> bool:
        return name in self.unknowns

    def __str__(self) -> str:
        place = ", ".join(f"{name} = {value:.6g}" for name, value in zip(self.coordinates, self.q, strict=True))
        lines = [f"{self.model} at rest at {place}"]
        for name, value, known in zip(self.unknowns, self.values, self.determinate, strict=True):
            lines.append(f"  {name} = {value:.9g}" + ("" if known else " (equilibrium does not determine it)"))
        lines += ["  nearly a singular position for these forces"] if self.near_singular else []
        lines += [f"  {one}" for one in self.reactions]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, object]:
        """The numbers as JSON can hold them."""
        return {
            "q": dict(zip(self.coordinates, self.q.tolist(), strict=True)),
            "forces": dict(zip(self.unknowns, self.values.tolist(), strict=True)),
            "determinate": list(self.determinate),
            "reactions": {one.body: one.to_dict() for one in self.reactions},
        }


def statics(
    model: MechanismSource,
    state: Mapping[str, Scalar] | None = None,
    *,
    unknown: Sequence[str] = (),
    inputs: Mapping[str, Scalar] | None = None,
    joints: Sequence[str] = (),
    axes: Axes | str = Axes.WORLD,
    point: Point = None,
    drives: bool = True,
    parameters: Mapping[str, Scalar] | None = None,
    least_norm: bool = False,
) -> Statics:
    """Find the forces that hold a mechanism at rest against weight, springs and all other elements.

    state: positions that differ from the model's; with loops, dependent positions follow. Velocities count as zero.
    unknown: as in `unknown_forces`; by default the model's unknowns, else forces on the independent coordinates.
    inputs: values of the other inputs.
    joints: bodies and loops whose joint reactions to compute. axes, point, drives: as in `reactions`.
    least_norm: if rest does not determine the forces, choose those with the smallest sum of squares instead of NaN.
    """
    mechanism = with_values(mechanism_of(model), inputs or {})
    refuse_states(mechanism, "statics")
    _require_positions(mechanism, state or {})
    place = operating_point(mechanism, state, parameters)
    place = replace(place, v=np.zeros_like(place.v))
    refuse_singular(mechanism, place, parameters, "forces at rest")
    names = unknown_names(mechanism, unknown or _usual(mechanism, place, parameters))
    require_values(mechanism, names)
    time, still = np.array([place.t]), np.zeros((1, len(place.v)))
    problem = ForceProblem(mechanism, names, parameters)
    motion = SampledMotion(time, place.q[None], still, still)
    found = solved(problem.equations(motion), least_norm)
    found.require_possible()
    values = found.values[0]
    return Statics(
        mechanism.name, mechanism.layout.positions, place.q, names, values, found.determinate, found.residual,
        _transmitted(problem, motion, values, joints, load_view(axes, point, drives)), bool(found.near_singular.size),
    )  # fmt: skip


def _require_positions(mechanism: Mechanism, at: Mapping[str, Scalar]) -> None:
    for name in at:
        if name not in (*mechanism.layout.positions, "t"):
            raise TaskError(f"state: {name!r} is not a coordinate; choose from {', '.join(mechanism.layout.positions)}")


def _usual(mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None) -> tuple[str, ...]:
    """Without unknowns in the model: the forces on the independent coordinates."""
    if mechanism.unknowns:
        return ()
    return tuple(mechanism.layout.forces[k] for k in tangent(mechanism, point, parameters).moving)


def _transmitted(
    problem: ForceProblem, motion: SampledMotion, values: Floats, joints: Sequence[str], view: LoadView
) -> tuple[Reaction, ...]:
    """The reactions in joints while the balancing forces act."""
    if joints and not np.isfinite(values).all():
        raise TaskError(
            "equilibrium does not determine all forces, so reactions are unknown: request fewer joints, or "
            "use least_norm"
        )
    loads = motion_loads(problem, motion, values[None])
    return tuple(one.single for one in loads.reactions(joints, view)) if joints else ()
