"""Contacts of a simulator: equations with constant contact forces, kernels, and the memory of compiled steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import isfinite

import numpy as np

from kinegraph.arrays import Floats
from kinegraph.derive.constraints.constraint_rows import ConstraintRow
from kinegraph.derive.contacts import ContactRows, contact_rows
from kinegraph.derive.dynamics.state_rate import Forces, with_forces
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.tree.displacements import position_rates
from kinegraph.derive.tree.expressions import Names, output
from kinegraph.errors import SolveError
from kinegraph.graph.build import GraphBuilder, moved, transfer
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.model.changes.shape_contacts import made_of_shapes
from kinegraph.model.constraints import Contact, is_constrained
from kinegraph.model.elements import Limit
from kinegraph.model.evaluate import Value, number
from kinegraph.model.expressions import Name, Scalar, names
from kinegraph.model.joint_models import rotation_angle
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.robot_data import JointLimits, Shape, dry_friction
from kinegraph.simulate.contacts.columns import columns_of, moved_by_rows, packed_motion
from kinegraph.simulate.contacts.shapes import Scene, scene
from kinegraph.simulate.equations import VelocityForm
from kinegraph.solve.loops.collision_distances import MOST_EDGES, MOST_FACES, MOST_POINTS, DistanceMemory
from kinegraph.solve.loops.collision_points import CollisionMemory, CollisionPoints
from kinegraph.solve.loops.collision_shapes import MOST_CORNERS, Shapes
from kinegraph.solve.loops.contact_model import (
    COLUMNS,
    COUNT,
    FACTS,
    FORCE,
    GAP,
    GAPS,
    MOMENT,
    NORMAL,
    PAIR,
    POINT,
    ContactMemory,
    ContactModel,
)  # fmt: skip
from kinegraph.solve.loops.impulse_rows import Rows
from kinegraph.solve.loops.settling import SPARE
from kinegraph.solve.problem import Function, code_of

_ROWS = (1, 3, 4, 6)


@dataclass(frozen=True)
class ContactSettings:
    """How a simulator treats contacts.

    ground: the height of a horizontal plane to add to the model, in m; None: none.
    friction: the coefficient of sliding friction of all shapes; None: as the file says, and 1 if it does not.
    restitution: of all shapes, from 0 (no rebound) to 1.
    shapes: the shapes of the model touch. limits: joint ranges of a robot file hold as contacts. dry_friction: that of
    its joints and tendons acts, without smoothing.
    self_contacts: shapes of moving bodies touch each other; None: yes, except in URDF and SDF files.
    most: the largest number of contacts at once. tolerance: impulses are settled when a sweep over all contacts changes
    no speed by more than this part of the fastest. sweeps: the most of them in a step.
    """

    ground: float | None = None
    friction: float | None = None
    restitution: float = 0.0
    shapes: bool = True
    limits: bool = True
    dry_friction: bool = True
    self_contacts: bool | None = None
    most: int = 64
    tolerance: float = 1e-10
    sweeps: int = 100

    def __post_init__(self) -> None:
        if self.friction is not None and not (isfinite(self.friction) and self.friction >= 0):
            raise SolveError(f"friction is {self.friction!r}: give a coefficient of at least 0")
        if not 0 <= self.restitution <= 1:
            raise SolveError(f"restitution is {self.restitution!r}: give a number from 0 to 1")
        if self.ground is not None and not isfinite(self.ground):
            raise SolveError(f"ground is {self.ground!r}: give the height of the plane in m")
        if not (self.most >= 1 and self.sweeps >= 1 and 0 < self.tolerance < 1):
            raise SolveError("contacts: most and sweeps must be at least 1, the tolerance between 0 and 1")


@dataclass(frozen=True)
class ActiveContact:
    """One contact: the names of both sides, the point between them, and the unit normal from the first to the second.

    gap: the distance along the normal at the end of the step, in m. force, moment: what the second side received, mean
    of the step, in N and N m in fixed axes; the moment is that of spin and rolling friction at the point. A contact
    that is given by a gap has no point, and its force is along its normal and slip directions.
    """

    first: str
    second: str
    point: Floats
    normal: Floats
    gap: float
    force: Floats
    moment: Floats


class SteppedForm(VelocityForm):
    """The motion with contact forces that are constant in a step; x ends with them, one for each velocity."""

    def __init__(
        self, mechanism: Mechanism, values: Mapping[str, Scalar], forces: Forces, runtime: Sequence[str] = ()
    ) -> None:
        super().__init__(replace(mechanism, contacts=()), values, forces, runtime)

    @property
    def flags(self) -> tuple[Symbol, ...]:
        return tuple(Symbol(Kind.INPUT, f"contact:{name}") for name in self.mechanism.layout.forces)

    def quantities(self, words: str) -> Graph:
        """Quantities without contact forces."""
        return super().chosen(words)

    def chosen(self, words: str) -> Graph:
        """Quantities, with contact forces added to the forces in joints."""
        graph = self.quantities(words)
        pushes = dict(zip(self.mechanism.layout.forces, self.flags, strict=True))
        builder = GraphBuilder()

        def symbol(node: Symbol) -> int:
            own = builder.symbol(node.kind, node.name)
            if node.kind is Kind.INPUT and node.name in pushes:
                return builder.add(own, builder.symbol(*pushes[node.name]))
            return own

        return builder.graph(moved(graph.outputs, transfer(graph, builder, symbol)))


class SteppedContacts:
    """What may touch in a mechanism, and the code that steps with it."""

    def __init__(
        self,
        mechanism: Mechanism,
        equations: SteppedForm,
        values: Mapping[str, Value],
        settings: ContactSettings,
        native: bool,
    ) -> None:
        self.equations, self.settings, self.native = equations, settings, native
        self.mechanism = equations.mechanism
        _refuse_runtime(mechanism, equations.runtime)
        self.scene: Scene = scene(
            mechanism if settings.shapes else replace(mechanism, extras=()),
            values,
            ground=settings.ground,
            self_contacts=settings.self_contacts,
            friction=settings.friction,
        )
        if self.scene.pairs and (twice := made_of_shapes(mechanism)):
            raise SolveError(
                f"{mechanism.name}: contacts of shapes would act twice, by the model ({twice[0]}, ...) and by the "
                "simulator\n  load it without contacts=True, or give contacts=ContactSettings(shapes=False)"
            )
        limits = _limits(mechanism) if settings.limits else []
        self.by_gap: tuple[Contact, ...] = (*mechanism.contacts, *limits)
        self.dry = tuple(dry_friction(mechanism)) if settings.dry_friction else ()
        self.values = values
        if not self.scene.pairs and not self.by_gap and not self.dry:
            raise SolveError(
                f"{mechanism.name} has nothing that can touch: add shapes or contacts to the model, "
                "or a ground with ContactSettings(ground=0)"
            )

    @cached_property
    def _gap_graphs(self) -> tuple[Graph, Graph]:
        """The gaps; and rates and Jacobian of their rows: a normal row each, and two for friction."""
        derivation = Derivation(self.mechanism, self.equations.bound, Plan())
        equations = derivation.constraint_equations
        found = contact_rows(equations, self.by_gap)
        velocities = self.mechanism.layout.velocities
        dry = []
        for one in self.dry:
            place = equations.names.scalar(one.place)
            moves = isinstance(one.place, Name) and one.place.text in velocities
            dry.append(equations.nonholonomic(one.joint, place if moves else equations.names.total_rate(place)))
        rows = [*(row for one in found for row in self._three(one)), *dry]
        zero = derivation.zero
        rates = [zero if row is None else row.rate for row in rows]
        size = len(self.mechanism.layout.velocities)
        entries = list(chain.from_iterable([zero] * size if row is None else row.jacobian for row in rows))
        builder = derivation.builder
        closed = [*(one.normal.zero_value() for one in found), *[zero] * len(dry)]
        gaps = builder.graph([output("gaps", (len(closed),), closed)])
        motion = builder.graph([output("rates", (len(rates),), rates), output("jacobian", (len(rates), size), entries)])
        return self._driven(gaps), self._driven(motion)

    @staticmethod
    def _three(rows: ContactRows) -> list[ConstraintRow | None]:
        return [*rows.rows, *[None] * (len(rows.rows) == 2)]

    def _driven(self, graph: Graph) -> Graph:
        return with_forces(self.mechanism, graph, self.equations.bound, self.equations.forces)

    def _function(self, graph: Graph) -> Function:
        return self.equations.function(graph, self.native)

    @cached_property
    def _motion(self) -> tuple[Graph, list[list[int]], list[set[int]]]:
        """How bodies and shapes move, packed; which velocities move each body; the ties of the inertia matrix."""
        inertia = "d(qdd)/d(tau)" if is_constrained(self.mechanism) else "H"
        words = [f"{kind}:{body}" for kind in ("velocity", "jacobian") for body in self.scene.bodies]
        return packed_motion(self._ordered([*words, inertia]), self.scene, inertia, is_constrained(self.mechanism))

    def _moves(self) -> Graph:
        builder = GraphBuilder()
        names = Names(builder, self.mechanism, self.equations.bound)
        rates = position_rates(self.mechanism, builder, [names[name] for name in self.mechanism.layout.velocities])
        return builder.graph([Output("moves", (len(rates),), tuple(one.index for one in rates))])

    @cached_property
    def model(self) -> ContactModel:
        """What compiled loops take."""
        layout, found = self.mechanism.layout, self.scene
        poses: Function = 0
        if found.bodies:
            poses = self._function(self._ordered([f"pose:{body}" for body in found.bodies]))
        gaps: Function = 0
        rows: Function = 0
        closed = len(self.by_gap) + len(self.dry)
        if closed:
            gaps, rows = map(self._function, self._gap_graphs)
        widths = [*(_width(pair.dimension) for pair in found.pairs), *(1 if not one.slip else 3 for one in self.by_gap)]
        widths += [1] * len(self.dry)
        friction = [
            *(pair.friction for pair in found.pairs),
            *((float(number(one.friction, self.values)), 0.0, 0.0) for one in self.by_gap),
            *[(0.0, 0.0, 0.0)] * len(self.dry),
        ]
        rebound = [self.settings.restitution] * len(found.pairs)
        rebound += [float(number(one.restitution, self.values)) for one in self.by_gap]
        rebound += [0.0] * len(self.dry)
        bounds = [0.0] * (len(found.pairs) + len(self.by_gap))
        bounds += [float(number(one.dry, self.values)) for one in self.dry]
        positions, velocities = len(layout.positions), len(layout.velocities)
        start = len(self.equations.symbols) - velocities
        sizes = [positions, velocities, len(found.bodies), closed, start]
        motion_graph, moved, ties = self._motion
        motion = self._function(motion_graph)
        by_gap: list[set[int]] = []
        if closed:
            rows_graph = self._gap_graphs[1]
            by_gap = moved_by_rows(rows_graph.output("jacobian"), widths[len(found.pairs) :], rows_graph)
        moves = self._function(self._moves())
        self.functions: tuple[Function, ...] = poses, motion, moves, gaps, rows
        return ContactModel(
            code_of(poses),
            code_of(motion),
            code_of(moves),
            code_of(gaps),
            code_of(rows),
            is_constrained(self.mechanism),
            np.array(sizes, dtype=np.int64),
            np.concatenate([[0], np.cumsum(widths[len(found.pairs) :])]).astype(np.int64),
            columns_of(found, moved, ties, by_gap, is_constrained(self.mechanism)),
            found.shapes,
            np.array(friction, dtype=float).reshape(-1, 3),
            np.array(rebound, dtype=float),
            np.array(bounds, dtype=float),
            np.array(widths, dtype=np.int64),
            self.settings.tolerance,
            self.settings.sweeps,
        )

    @property
    def _most(self) -> int:
        """The most rows of contacts and dry friction together."""
        return self.settings.most + len(self.dry)

    def _ordered(self, words: Sequence[str]) -> Graph:
        """Quantities as one graph, its outputs in this order."""
        graph = self._driven(self.equations.quantities(",".join(words)))
        by_name = {one.name: one for one in graph.outputs}
        return replace(graph, outputs=tuple(by_name[word] for word in words))

    def memory(self) -> ContactMemory:
        """The memory of one step."""
        model, most = self.model, self._most
        n, bodies = len(self.mechanism.layout.velocities), len(self.scene.bodies)
        rows = most * int(max(model.widths))
        total = int(model.gap_first[-1])
        collisions = collision_memory(model.shapes)
        touches = CollisionPoints(
            np.zeros(1, dtype=np.int64),
            np.zeros(most, dtype=np.int64),
            np.zeros((most, 3)),
            np.zeros((most, 3)),
            np.zeros(most),
        )
        solver = Rows(
            np.zeros(2, dtype=np.int64),
            np.zeros(most, dtype=np.int64),
            np.zeros(most, dtype=np.int64),
            np.zeros((most, 3)),
            np.zeros(most),
            np.zeros((rows + 6, n)),
            np.zeros((rows + 6, n)),
            np.zeros((rows, rows)),
            np.zeros(rows + 6),
            np.zeros(rows + 6),
            np.zeros(rows + 6),
            np.zeros(rows + 6),
            np.zeros((rows, rows)),
            np.zeros(rows + 6),
            np.zeros(rows + 6, dtype=np.int64),
            np.zeros((rows, rows)),
            np.zeros((SPARE, rows + 6)),
            np.zeros(rows + 6, dtype=np.int64),
        )
        return ContactMemory(
            np.zeros(16 * bodies),
            np.zeros(6 * (bodies + len(model.columns.bodies)) + n * n),
            np.zeros(len(self.mechanism.layout.positions)),
            np.zeros(model.sizes[GAPS]),
            np.zeros(total * (1 + n)),
            collisions,
            np.zeros((len(model.shapes.kinds), 12)),
            touches,
            solver,
            np.zeros((n, n)),
            np.zeros(n),
            np.zeros(n),
            np.zeros(n),
            np.zeros(n),
            np.zeros((most, FACTS)),
            np.zeros(most),
            np.zeros(most),
            np.zeros((most, 6)),
            np.zeros(most, dtype=np.int64),
            np.zeros(len(self.equations.names)),
        )

    def touches(self, previous: Floats) -> tuple[ActiveContact, ...]:
        """The contacts of the latest step."""
        contacts = len(self.scene.pairs) + len(self.by_gap)
        return tuple(self._active(row) for row in previous[1 : 1 + int(previous[0, COUNT])] if row[PAIR] < contacts)

    def _active(self, row: Floats) -> ActiveContact:
        pair, pairs = int(row[PAIR]), len(self.scene.pairs)
        first, second = self.scene.pair_name(pair) if pair < pairs else (self.by_gap[pair - pairs].name, "")
        parts = (row[at : at + 3].copy() for at in (POINT, NORMAL, FORCE, MOMENT))
        point, normal, force, moment = parts
        return ActiveContact(first, second, point, normal, float(row[GAP]), force, moment)

    def previous(self) -> Floats:
        """What one step keeps for the next."""
        return np.zeros((self._most + 1, COLUMNS))


def collision_memory(shapes: Shapes) -> CollisionMemory:
    """The memory in which the points of shapes are found."""
    longest = max(4 * MOST_CORNERS, int(max(np.diff(shapes.first_vertex), default=0)))
    distances = DistanceMemory(
        np.zeros((MOST_POINTS + 1, 3)),
        np.zeros((MOST_POINTS + 1, 3)),
        np.zeros(4),
        np.zeros((MOST_FACES + MOST_EDGES, 3), dtype=np.int64),
        np.zeros((MOST_FACES + MOST_EDGES, 4)),
        np.zeros((MOST_EDGES, 2), dtype=np.int64),
    )
    frames, polygons = np.zeros((len(shapes.kinds), 12)), np.zeros((3, longest, 3))
    return CollisionMemory(frames, polygons[0], polygons[1], polygons[2], np.zeros(longest), distances)


def _width(dimension: int) -> int:
    """The rows of a contact."""
    if dimension not in _ROWS:
        raise SolveError(f"a contact of dimension {dimension}: it must be one of 1, 3, 4, 6")
    return dimension


def _refuse_runtime(mechanism: Mechanism, runtime: Sequence[str]) -> None:
    """SolveError if shapes depend on parameters that may change."""
    for one in mechanism.extras:
        if isinstance(one, Shape):
            for size in one.sizes:
                if found := names(size) & set(runtime):
                    raise SolveError(
                        f"runtime: the shapes depend on {', '.join(sorted(found))}, which must be constant"
                    )


def _limits(mechanism: Mechanism) -> list[Contact]:
    """The ranges of joints as contacts; those that are elastic stops already are left to these."""
    stops = {element.on for element in mechanism.elements if isinstance(element, Limit)}
    moving, found = set(mechanism.layout.positions), []
    for one in mechanism.extras:
        if not isinstance(one, JointLimits) or set(one.displacement) & stops:
            continue
        ball = len(one.displacement) == 4
        place = rotation_angle(one.displacement) if ball else one.displacement[0]
        if not any(name in moving or "." in name for name in names(place)):  # neither a coordinate nor a point
            continue
        if one.lower is not None and not ball:  # the angle of a rotation has no lower limit
            found.append(Contact(f"lower limit of {one.joint}", place - one.lower))
        if one.upper is not None:
            found.append(Contact(f"upper limit of {one.joint}", one.upper - place))
    return found
