"""`statics`: the forces that hold a mechanism at rest, and the loads of its joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.display import RichDisplay
from kinegraph.errors import TaskError
from kinegraph.model.axes import Axes
from kinegraph.model.expressions import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.tasks.force_equations import solved
from kinegraph.tasks.joint_loads import MotionLoads, motion_loads
from kinegraph.tasks.operating_point import Floats, OperatingPoint, name_index, operating_point
from kinegraph.tasks.prescribed_motion import SampledMotion
from kinegraph.tasks.reactions import LoadView, Point, Reaction, load_view
from kinegraph.tasks.states_in_motion import state_rates_at, with_unknown_states
from kinegraph.tasks.tangent_space import refuse_singular, tangent
from kinegraph.tasks.unknown_forces import ForceProblem, require_values, unknown_names, with_values


@dataclass(frozen=True)
class Statics(RichDisplay):
    """The balancing forces; NaN if equilibrium does not determine them.

    q: the equilibrium position. z, rates: the first-order states, held at given or initial values, and the rates that
    they would have. residual: the largest residual of all equations. reactions: the loads of the
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
    states: tuple[str, ...] = ()
    z: Floats = field(default_factory=lambda: np.zeros(0))
    rates: Floats = field(default_factory=lambda: np.zeros(0))

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
        for name, value, rate in zip(self.states, self.z, self.rates, strict=True):
            lines.append(f"  held: {name} = {value:.9g}" + (f" ({name}' = {rate:.6g})" if rate else ""))
        lines += ["  nearly a singular position for these forces"] if self.near_singular else []
        lines += [f"  {one}" for one in self.reactions]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, object]:
        """The numbers as JSON can hold them."""
        return {
            "q": dict(zip(self.coordinates, self.q.tolist(), strict=True)),
            "forces": dict(zip(self.unknowns, self.values.tolist(), strict=True)),
            "determinate": list(self.determinate),
            **({"states": dict(zip(self.states, self.z.tolist(), strict=True))} if self.states else {}),
            **({"rates": dict(zip(self.states, self.rates.tolist(), strict=True))} if self.states else {}),
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

    state: positions and first-order states that differ from the model's; with loops, dependent positions follow.
        Velocities count as zero. States are held, and their rates reported; `equilibria` finds where these vanish.
    unknown: as in `unknown_forces`, also first-order states; by default the model's unknowns, else forces on the
        independent coordinates.
    inputs: values of the other inputs.
    joints: bodies and loops whose joint reactions to compute. axes, point, drives: as in `reactions`.
    least_norm: if rest does not determine the forces, choose those with the smallest sum of squares instead of NaN.
    """
    mechanism = with_unknown_states(with_values(mechanism_of(model), inputs or {}), unknown)
    _require_positions(mechanism, state or {})
    place = operating_point(mechanism, state, parameters)
    place = replace(place, v=np.zeros_like(place.v))
    refuse_singular(mechanism, place, parameters, "forces at rest")
    names = unknown_names(mechanism, unknown or _usual(mechanism, place, parameters))
    require_values(mechanism, names)
    time, still = np.array([place.t]), np.zeros((1, len(place.v)))
    problem = ForceProblem(mechanism, names, parameters)
    motion = SampledMotion(time, place.q[None], still, still, place.z[None])
    found = solved(problem.equations(motion), least_norm)
    found.require_possible()
    values = found.values[0]
    loads = motion_loads(problem, motion, values[None])
    return Statics(
        mechanism.name, mechanism.layout.positions, place.q, names, values, found.determinate, found.residual,
        _transmitted(loads, joints, load_view(axes, point, drives)), bool(found.near_singular.size),
        mechanism.layout.states, place.z,
        state_rates_at(loads.mechanism, parameters, {**motion.arguments, "u": loads.u, "tau": loads.tau})[0],
    )  # fmt: skip


def _require_positions(mechanism: Mechanism, at: Mapping[str, Scalar]) -> None:
    for name in at:
        known = (*mechanism.layout.positions, *mechanism.layout.states)
        if name not in (*known, "t"):
            what = "a coordinate or a first-order state" if mechanism.states else "a coordinate"
            raise TaskError(f"state: {name!r} is not {what}; choose from {', '.join(known)}")


def _usual(mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None) -> tuple[str, ...]:
    """Without unknowns in the model: the forces on the independent coordinates."""
    if mechanism.unknowns:
        return ()
    return tuple(mechanism.layout.forces[k] for k in tangent(mechanism, point, parameters).moving)


def _transmitted(loads: MotionLoads, joints: Sequence[str], view: LoadView) -> tuple[Reaction, ...]:
    """The reactions in joints while the balancing forces act."""
    if joints and not (np.isfinite(loads.u).all() and np.isfinite(loads.tau).all()):
        raise TaskError(
            "equilibrium does not determine all forces, so reactions are unknown: request fewer joints, or "
            "use least_norm"
        )
    return tuple(one.single for one in loads.reactions(joints, view)) if joints else ()
