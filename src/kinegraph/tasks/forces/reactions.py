"""`reactions`: the force and moment in a joint, at a state or along a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.compiler.load import MechanismSource, mechanism_of
from kinegraph.derive.constraints.rank import DEPENDENT
from kinegraph.derive.quantities.definitions.reactions import supported_body
from kinegraph.derive.quantities.mobility import mobility
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.display import RichDisplay
from kinegraph.errors import TaskError
from kinegraph.model.axes import Axes
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.expression import Scalar, expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.tasks.forces.joint_places import JointPlace, LoadView, Point, joint_places, load_view
from kinegraph.tasks.forces.loop_motion import JACOBIAN
from kinegraph.tasks.forces.run_states import RunStates
from kinegraph.tasks.kernels import called_rows, kernel_of
from kinegraph.tasks.operating_point import Floats, operating_point

#: Rows whose singular values are below this part of the largest say nothing new.
_RANK = 1e-9
COMPONENTS = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")


@dataclass(frozen=True)
class Reaction(RichDisplay):
    """What the parent exerts on the body through their joint; a loop's first frame on its second.

    force in N, moment in N m; rows are states if there are several. view: in whose axes they are, about which point
    moments are (that of the joint on the body's side: the pin, what slides), and whether forces on the joint's own
    coordinates (drives, springs `on(s)`) count: they are the moment about a revolute axis, the force along a prismatic
    one. about: the point in the fixed frame.

    determinate: of each component of force and moment, whether the motion determines it. Where rows of loops are
    redundant it may not; what is not determined is NaN. force_size, moment_size: lengths of what is determined, so the
    least that the joint carries.
    """

    body: str
    force: Floats
    moment: Floats
    determinate: tuple[bool, ...]
    view: LoadView
    about: Floats
    force_size: Floats = field(repr=False)
    moment_size: Floats = field(repr=False)

    @property
    def axes(self) -> Axes:
        """In whose axes force and moment are."""
        return self.view.axes

    @property
    def worst(self) -> tuple[float, float]:
        """The largest force and moment over all states."""
        force, moment = (float(np.max(size, initial=0.0)) for size in (self.force_size, self.moment_size))
        return force, moment

    @property
    def undetermined(self) -> str:
        """The components that the motion does not determine: `Fz, Mx`; nothing if there are none."""
        return ", ".join(name for name, sure in zip(COMPONENTS, self.determinate, strict=True) if not sure)

    @property
    def single(self) -> Reaction:
        """The first state alone."""
        first = {name: getattr(self, name)[0] for name in ("force", "moment", "about", "force_size", "moment_size")}
        return replace(self, **first)

    def __str__(self) -> str:
        sizes = zip(("force", "moment"), self.worst, ("N", "N m"), (slice(0, 3), slice(3, 6)), strict=True)
        parts = [
            f"{word} {'' if all(self.determinate[part]) else 'at least '}{size:.6g} {unit}"
            for word, size, unit, part in sizes
        ]
        unsure = f" ({self.undetermined} not determined: loops have redundant rows)" if self.undetermined else ""
        return f"joint of {self.body}: {', '.join(parts)}{unsure}"


def reactions(
    mechanism: MechanismSource,
    joint: str,
    at: Mapping[str, Scalar] | None = None,
    *,
    axes: Axes | str = Axes.WORLD,
    point: Point = None,
    drives: bool = True,
    parameters: Mapping[str, Scalar] | None = None,
) -> Reaction:
    """The reaction in a joint, as the mechanism moves from the state `at` under its forces.

    joint: the body it carries, a coordinate that moves it alone, or a loop.
    axes: `world`, `parent` or `body`.
    point: about which moments are: None for the joint's point on the body's side, `parent` for that on the parent's,
        the name of a body or output, or three numbers in the fixed frame.
    drives: whether forces on the joint's own coordinates count; without them there is what its bearing carries.
    """
    (found,) = reactions_at(mechanism_of(mechanism), (joint,), at, load_view(axes, point, drives), parameters)
    return found


def reactions_at(
    mechanism: Mechanism,
    joints: Sequence[str],
    at: Mapping[str, Scalar] | None,
    view: LoadView,
    parameters: Mapping[str, Scalar] | None,
) -> tuple[Reaction, ...]:
    """The same for several joints."""
    state = operating_point(mechanism, at, parameters)
    rows = (part[None] for part in (state.q, state.v, state.tau, state.u))
    states = RunStates(mechanism, parameters, np.array([state.t]), *rows)
    found = tuple(one.single for one in reaction_rows(states, joints, view))
    lost = [one.body for one in found if not np.isfinite([one.force_size, one.moment_size]).all()]
    if lost and is_constrained(mechanism):
        words = ", ".join(f"reaction:{name}" for name in lost)
        message = Assembler(mechanism, parameters).singular_message(words, state.q, state.t)
        if message:
            raise TaskError(message)
    return found


def reaction_rows(states: RunStates, joints: Sequence[str], view: LoadView) -> tuple[Reaction, ...]:
    """The reactions in joints at many states."""
    mechanism, parameters = states.mechanism, states.parameters
    words = {name: f"reaction:{name}" for name in joints}
    found = called_rows(kernel_of(mechanism, list(words.values()), parameters), states.arguments)
    places = joint_places(mechanism, _targets(mechanism, joints), view, states.arguments, parameters)
    passed: dict[str, Floats] = {}
    stresses: SelfStresses | None = None
    if is_constrained(mechanism):
        ways = [f"transmission:{name}" for name in joints]
        passed = called_rows(kernel_of(mechanism, [*ways, JACOBIAN], parameters), states.arguments)
        stresses = self_stresses(passed[JACOBIAN], independent_count(mechanism, parameters))
    return tuple(
        seen_reaction(name, view, places[name], found[word], passed.get(f"transmission:{name}"), stresses)
        for name, word in words.items()
    )


def _targets(mechanism: Mechanism, joints: Sequence[str]) -> dict[str, str]:
    """The body or loop that each joint stands for."""
    loops = {one.name for one in mechanism.loops}
    return {name: name if name in loops else supported_body(mechanism, Quantity("reaction", name)) for name in joints}


def independent_count(mechanism: Mechanism, parameters: Mapping[str, Scalar] | None) -> int | None:
    """How many rows are independent wherever the mechanism is assembled; None if that is not known."""
    found = mobility(mechanism, {name: expression(value, name) for name, value in (parameters or {}).items()})
    return None if found.dof is None else found.velocities - found.dof


@dataclass(frozen=True, eq=False)
class SelfStresses:
    """Multipliers that do nothing, by state, row and number; zeros where a state has fewer than others.

    part: what they pass to a joint below this is nothing.
    """

    ways: Floats
    part: float = _RANK


def self_stresses(jacobians: Floats, independent: int | None = None) -> SelfStresses:
    """The self-stresses of loops from their rows by state; independent: how many rows are, if that is known.

    Rows that follow from others but for rounded numbers of a model are redundant: these numbers would share the load
    among them, not the motion.
    """
    size = jacobians.shape[1]
    good = np.where(np.isfinite(jacobians), jacobians, 0.0)
    _, sizes, vectors = np.linalg.svd(np.swapaxes(good, 1, 2), full_matrices=True)
    largest = np.max(sizes, axis=1, initial=0.0)
    found = np.sum(sizes > _RANK * np.maximum(largest, 1e-300)[:, None], axis=1)
    ranks = found if independent is None else np.minimum(found, independent)
    idle = np.arange(size)[None, :] >= ranks[:, None]
    first = int(np.min(ranks, initial=size))
    ways = np.asarray(np.swapaxes(vectors * idle[:, :, None], 1, 2)[:, :, first:])
    return SelfStresses(ways, DEPENDENT if np.any(ranks < found) else _RANK)


def seen_reaction(
    name: str, view: LoadView, place: JointPlace, wrenches: Floats, passed: Floats | None, stresses: SelfStresses | None
) -> Reaction:
    """A reaction from force and moment at the joint's point in world axes, by state.

    passed: what multipliers of 1 add to it. What a self-stress of the loops changes, the motion does not determine.
    """
    seen = place.seen(wrenches[:, :, None])[:, :, 0]
    sure, open_ways = np.ones(seen.shape, dtype=bool), np.zeros((*seen.shape, 0))
    if passed is not None and stresses is not None and stresses.ways.shape[2]:
        open_ways = place.seen(passed @ stresses.ways)
        size = stresses.part * np.maximum(1.0, np.max(np.abs(passed), axis=(1, 2)))[:, None]
        sure = np.max(np.abs(open_ways), axis=2) < size
        open_ways = np.where(np.abs(open_ways) < size[:, :, None], 0.0, open_ways)
    sizes = [_determined_size(seen[:, part], open_ways[:, part]) for part in (slice(0, 3), slice(3, 6))]
    seen = np.where(sure, seen, np.nan)
    known = tuple(np.all(sure, axis=0).tolist())
    return Reaction(name, seen[:, :3], seen[:, 3:], known, view, place.about, *sizes)


def _determined_size(vectors: Floats, ways: Floats) -> Floats:
    """Lengths of vectors without their parts along ways that are open."""
    if ways.shape[2] and ways.any():
        left, sizes, _ = np.linalg.svd(ways, full_matrices=False)
        left = left * (sizes > _RANK * np.maximum(np.max(sizes, axis=1), 1e-300)[:, None])[:, None, :]
        vectors = vectors - (left @ (np.swapaxes(left, 1, 2) @ vectors[:, :, None]))[:, :, 0]
    return np.asarray(np.linalg.norm(vectors, axis=1))
