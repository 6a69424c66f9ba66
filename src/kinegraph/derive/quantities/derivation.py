"""A derivation: a mechanism lowered into one builder by one plan, and the intermediate results its quantities
share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, TypeVar, cast

from kinegraph.derive import constraints
from kinegraph.derive.dynamics import composite_body, newton_euler
from kinegraph.derive.dynamics.base_parameters import (
    BaseRegressor,
    armature_parameters,
    base_regressor,
    parametrized,
    regrouped,
)
from kinegraph.derive.dynamics.closed_form import ClosedForm
from kinegraph.derive.dynamics.composite_body import Column, Square, driven_columns, inertia_matrix
from kinegraph.derive.dynamics.derivatives import displacement_seeds
from kinegraph.derive.dynamics.inertia_factorization import Factorized, base_to_tip, massless_remedy, require_inertia
from kinegraph.derive.dynamics.named_closed_form import NamedClosedForm
from kinegraph.derive.elements.element_values import ElementNames
from kinegraph.derive.elements.forces import Elements, component_count
from kinegraph.derive.plan import InertiaMethod, Plan
from kinegraph.derive.quantities.definitions import DEFINITIONS
from kinegraph.derive.quantities.derivatives import derivative
from kinegraph.derive.quantities.elements import named_element
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.derive.quantities.record import Extent
from kinegraph.derive.quantities.variables import DISPLACEMENTS, Variables, group_word
from kinegraph.derive.tree.displacements import Motion, MotionBuilder
from kinegraph.derive.tree.expressions import Names, output
from kinegraph.derive.tree.frame_assignment import FrameAssignment, arrange, parallel_runs, with_shifted_origins
from kinegraph.derive.tree.kinematics import fixed_frame
from kinegraph.derive.tree.limbs import LimbsSideBySide, SideBySide, limbs_side_by_side
from kinegraph.derive.tree.links import Placement, Tree, build_tree, moved_by_constants
from kinegraph.errors import DerivationError, MasslessError
from kinegraph.graph.angle import PI
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.node import Graph, Output
from kinegraph.model.expressions import Expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.model.platforms.recognition import legs_of, platform_of

if TYPE_CHECKING:
    from kinegraph.derive.constraints.closed_form import Dyads
    from kinegraph.derive.constraints.constrained_dynamics import ConstrainedDynamics
    from kinegraph.derive.constraints.constraint_rows import ConstraintEquations
    from kinegraph.derive.constraints.partitioning import ReducedSystem
    from kinegraph.derive.constraints.segments import PlanarLoop, SegmentedLoop
    from kinegraph.derive.quantities.closed_legs import ClosedLegs


# Trees lowered once for all derivations of one mechanism that differ in their plans alone.
#
# Lowering a mechanism takes a quarter of a derivation, and a search derives by several plans. A builder in which
# nothing was derived yet begins with a copy of what lowering left in another one: all nodes get the numbers they would
# have got.

#: A tuple of trees, or of what is made of them.
Trees = TypeVar("Trees", bound=tuple[object, ...])


class LoweredTrees:
    """The trees that were made first thing in a builder, by a word for how; with the builder as it was then."""

    def __init__(self) -> None:
        self._trees_by_plan: dict[str, tuple[GraphBuilder, object]] = {}
        self._regular = False

    def require_once(self, require: Callable[[], None]) -> None:
        """Ask once whether the inertia matrix can be solved with: all plans have the same."""
        if not self._regular:
            require()
            self._regular = True

    def trees(self, how: str, builder: GraphBuilder, make: Callable[[], Trees]) -> Trees:
        """The trees in a builder in which nothing was derived yet: those known by this word, or what `make` makes."""
        if how not in self._trees_by_plan:
            made = make()
            self._trees_by_plan[how] = builder.copy(), made
            return made
        known, trees = self._trees_by_plan[how]
        builder.become(known)
        return cast("Trees", _in_builder(trees, builder))


def _in_builder(value: object, builder: GraphBuilder) -> object:
    """The same value with its scalars in another builder, which has the same nodes."""
    if isinstance(value, Scalar):
        return Scalar(builder, value.index)
    make: Callable[..., object] = type(value)
    if isinstance(value, tuple):
        parts = [_in_builder(part, builder) for part in value]
        return make(*parts) if hasattr(value, "_fields") else tuple(parts)
    names = _field_names(make)
    if names:
        return make(**{name: _in_builder(getattr(value, name), builder) for name in names})
    if isinstance(value, Mapping):
        return {name: _in_builder(part, builder) for name, part in value.items()}
    return value


@cache
def _field_names(kind: Callable[..., object]) -> tuple[str, ...]:
    """The fields of a dataclass, found out once: a tree has thousands of records of few types."""
    return tuple(one.name for one in fields(kind)) if isinstance(kind, type) and is_dataclass(kind) else ()


# One derivation: a mechanism lowered into one builder by one plan, and what its quantities share.

#: What `@world` asks for, unless a body or point is called so.
WORLD = "world"


class Derivation:
    """Quantities of one mechanism in one builder; `side_by_side`: limbs of one shape by the same formulas."""

    def __init__(
        self, mechanism: Mechanism, bound: Mapping[str, Expression], plan: Plan, side_by_side: bool = False,
        lowered: LoweredTrees | None = None,
    ) -> None:  # fmt: skip
        """lowered: what derivations of the same mechanism with the same `bound` share."""
        self.mechanism = mechanism
        self.plan = plan
        self.side_by_side = side_by_side
        self.bound = bound
        self.builder = GraphBuilder()
        self.names = Names(self.builder, mechanism, bound)
        self.zero = self.names.number(0)
        self._motions = MotionBuilder(self.builder, mechanism)
        self._known_motions: dict[tuple[bool, bool, bool], Motion] = {}
        self._lowered = lowered or LoweredTrees()
        self._before = len(self.builder.nodes)

    def output(self, quantity: Quantity) -> Output:
        """The graph output of a quantity."""
        if quantity.by:
            return derivative(self, quantity)
        return output(str(quantity), self.shape(quantity), DEFINITIONS[quantity.name](self, quantity))

    def shape(self, quantity: Quantity) -> tuple[int, ...]:
        """The shape of a quantity that is not a derivative."""
        return tuple(self._extent(extent, quantity) for extent in quantity.record.shape)

    def _extent(self, extent: Extent | int, quantity: Quantity) -> int:
        match extent:
            case Extent.VELOCITIES:
                return self.size
            case Extent.BASE_PARAMETERS:
                return len(self.base_parameters.parameters)
            case Extent.STATES:
                return len(self.mechanism.states)
            case Extent.UNKNOWNS:
                return len(self.mechanism.unknowns)
            case Extent.ROWS:
                return len(constraints.row_names_of(self.mechanism))
            case Extent.LEGS:
                return len(legs_of(self.mechanism))
            case Extent.LEG_COORDINATES:
                return sum(len(leg.coordinates) for leg in legs_of(self.mechanism))
            case Extent.COMPONENTS:
                return component_count(named_element(quantity, self.mechanism))
            case int():
                return extent

    def variable(self, by: str) -> str:
        """The group a quantity is differentiated by, nothing for a single variable.

        Displacements are coordinates where there are no quaternions.
        """
        word = group_word(by, self.mechanism)
        same = len(self.mechanism.layout.positions) == self.size
        return DISPLACEMENTS if word == Variables.POSITIONS and same else word

    # the mechanism, lowered

    @cached_property
    def tree(self) -> Tree:
        """The tree of links everything is derived from."""
        limbs = self.side_by_side and not self.plan.segment and self.platform is None
        return self.limbs.tree if limbs else self._unreduced_tree

    @cached_property
    def _unreduced_tree(self) -> Tree:
        plan = self.plan
        if self._lowers_as_usual:
            self.described_tree, tree = self._lowered.trees("regrouped", self.builder, self._regrouped)
            return tree
        tree = with_shifted_origins(self.described_tree, plan.origin_shifts)
        return regrouped(tree, plan.axial_moments) if plan.regroup else tree

    def _regrouped(self) -> tuple[Tree, Tree]:
        return self.described_tree, regrouped(self.described_tree)

    @cached_property
    def described_tree(self) -> Tree:
        """The tree as the model describes it: no origin shifted, no parameter regrouped."""
        if not self._is_first:
            return self._described()
        (tree,) = self._lowered.trees("described", self.builder, lambda: (self._described(),))
        return tree

    def _described(self) -> Tree:
        if self.mechanism.cuts:
            constraints.refuse_cuts(self.mechanism)
        return build_tree(self.mechanism, self.names)

    @property
    def _lowers_as_usual(self) -> bool:
        """Whether nothing was derived yet and the plan leaves origins and moments where most plans do."""
        plan = self.plan
        return self._is_first and plan.regroup and not plan.origin_shifts and not plan.axial_moments

    @property
    def _is_first(self) -> bool:
        """Whether nothing was derived yet."""
        return len(self.builder.nodes) == self._before

    @cached_property
    def limbs(self) -> LimbsSideBySide:
        """The tree with limbs of one shape written side by side."""
        if not self._lowers_as_usual:
            return limbs_side_by_side(self._unreduced_tree)
        self.described_tree, self._unreduced_tree, limbs = self._lowered.trees("limbs", self.builder, self._with_limbs)
        return limbs

    def _with_limbs(self) -> tuple[Tree, Tree, LimbsSideBySide]:
        tree = self._unreduced_tree
        return self.described_tree, tree, limbs_side_by_side(tree)

    @cached_property
    def layout(self) -> FrameAssignment:
        """The tree with the frame in which each link is computed."""
        in_parent_frame = parallel_runs(self.tree) if self.plan.in_parent_frame is None else self.plan.in_parent_frame
        return arrange(self.tree, in_parent_frame)

    @cached_property
    def described_layout(self) -> FrameAssignment:
        """The same frames for the tree as described: the joints' points are where the model puts them."""
        return arrange(self.described_tree, self.layout.in_parent_frame)

    @cached_property
    def euler(self) -> frozenset[int]:
        """The links whose moment is formed by Euler's equation."""
        if self.plan.euler is not None:
            return self.plan.euler
        return newton_euler.without_products(self.layout)

    @property
    def size(self) -> int:
        """How many velocities there are."""
        return len(self.mechanism.layout.velocities)

    def frame(self, quantity: Quantity, tree: Tree | None = None) -> Placement:
        """The frame a quantity is asked for in: a body's, a point's, else the fixed one."""
        known = self._frame_names(tree or self.tree)
        if not quantity.frame or (quantity.frame == WORLD and WORLD not in known):
            return fixed_frame(self.zero)
        return self.place(quantity, quantity.frame, tree)

    def place(self, quantity: Quantity, name: str, tree: Tree | None = None) -> Placement:
        """Where the frame of a body, or of an output point, sits on a link."""
        tree = tree or self.tree
        if name in tree.bodies:
            return tree.bodies[name]
        for point in self.mechanism.points:
            if point.name == name:
                body = fixed_frame(self.zero) if point.body is None else tree.bodies[point.body]
                return moved_by_constants(body, point.transforms, self.names)
        remedy = did_you_mean(name, self._frame_names(tree))
        raise DerivationError(f"{quantity}: no body or output point is called {name!r}\n  {remedy}")

    def _frame_names(self, tree: Tree) -> list[str]:
        return [*tree.bodies, *(point.name for point in self.mechanism.points)]

    # its motion

    def motion(
        self, velocities: bool = False, accelerations: bool | Sequence[Scalar] = False, prescribed: bool = True
    ) -> Motion:
        """The rates of all joints, with velocities and accelerations symbolic, given or zero."""
        if not isinstance(accelerations, bool):
            return self._motions.motion(self.tree, velocities, accelerations, prescribed)
        kind = velocities, accelerations, prescribed
        if kind not in self._known_motions:
            self._known_motions[kind] = self._motions.motion(self.tree, *kind)
        return self._known_motions[kind]

    @cached_property
    def at_rest(self) -> Motion:
        """The motion with all rates zero: its columns say which coordinate moves what."""
        return self.motion(prescribed=False)

    @cached_property
    def driven(self) -> frozenset[Column]:
        """The joint components that coordinates move."""
        return driven_columns(self.at_rest)

    @property
    def velocity_of(self) -> dict[int, int]:
        """Which velocity belongs to an ordinary coordinate: symbol of the coordinate -> index in v."""
        return self._motions.velocity_of

    @cached_property
    def displacement_derivatives(self) -> list[ForwardDerivative]:
        """The derivative along every displacement."""
        return [ForwardDerivative(self.builder, seeds) for seeds in displacement_seeds(self.mechanism, self.builder)]

    # what quantities share

    @cached_property
    def elements(self) -> Elements:
        """Springs, dampers, forces and what else acts beside gravity."""
        return Elements(self.mechanism, self.bound, self.layout, self.motion(velocities=True))

    @cached_property
    def element_forces(self) -> list[Scalar]:
        """The generalized forces of the elements."""
        return self.elements.forces() if self.mechanism.elements else [self.zero] * self.size

    @cached_property
    def state_rates(self) -> list[Scalar]:
        """The rates of the first-order states."""
        return [self.elements.names.scalar(state.rate) for state in self.mechanism.states]

    @cached_property
    def armature(self) -> list[Scalar]:
        """The inertia in each velocity that belongs to no body."""
        return [self.tree.armature.get(name, self.zero) for name in self.mechanism.layout.velocities]

    @cached_property
    def closed_form(self) -> ClosedForm:
        """The closed formulas need true centers of mass, so nothing is regrouped."""
        if self.plan.inertia is InertiaMethod.NAMED_CLOSED_FORM:
            return NamedClosedForm(self.described_tree, self._known_names())
        return ClosedForm(self.described_tree)

    def _known_names(self) -> set[str]:
        """The names that symbols and definitions of the model have."""
        m, layout = self.mechanism, self.mechanism.layout
        symbols = {one.name for one in m.parameters} | {one.name for one in m.inputs} | {one.name for one in m.states}
        defined = {one.name for one in m.definitions} | {one.name for one in m.quasivelocities}
        return symbols | defined | {*layout.positions, *layout.velocities, *layout.accelerations, PI.name, "t"}

    @cached_property
    def joint_inertia(self) -> dict[tuple[Column, Column], Scalar]:
        """The inertia matrix of joint components."""
        if self.plan.sums_over_links:
            return self.closed_form.inertia(self.driven)
        if self.plan.inertia is InertiaMethod.SCREWS:
            return composite_body.inertia_by_screws(self.layout, self.driven)
        return composite_body.inertia_by_wrenches(self.layout, self.driven)

    @cached_property
    def inertia(self) -> Square:
        """H."""
        bodies = inertia_matrix(self.at_rest, self.joint_inertia, self.zero)
        return composite_body.add_armature_inertia(bodies, self.armature)

    @cached_property
    def factorized(self) -> Factorized:
        """H ready to be solved with."""
        order = base_to_tip(self.motion(velocities=True))
        try:
            found = Factorized(self.inertia, order, self.mechanism.layout.velocities)
        except MasslessError as error:
            raise DerivationError(f"{error}{massless_remedy(self.mechanism, error.velocity)}") from None
        self._lowered.require_once(lambda: require_inertia(self.mechanism, self.inertia, found))
        return found

    @property
    def is_constrained(self) -> bool:
        """Whether loops or constraints take away some of the motion."""
        return bool(self.mechanism.loops or self.mechanism.constraints)

    @cached_property
    def constraint_equations(self) -> ConstraintEquations:
        """The rows of loops and constraints."""
        names = ElementNames(self.mechanism, self.bound, self.layout)
        seeds = displacement_seeds(self.mechanism, self.builder)
        return constraints.ConstraintEquations(self.mechanism, self.layout, self.motion(velocities=True), names, seeds)

    @cached_property
    def constrained(self) -> ConstrainedDynamics:
        """The rows together with the inertia; without the rows that follow from others."""
        analysis = constraints.analyzed(self.mechanism, tuple(sorted(self.bound.items())), constraint_graph)
        return constraints.ConstrainedDynamics(self.constraint_equations, lambda: self.factorized, analysis, self.bound)

    @cached_property
    def dyads(self) -> Dyads | None:
        """The closed forms of all loops; None where one has none."""
        tree = self.described_tree
        layout = arrange(tree, parallel_runs(tree))
        motion = self._motions.motion(tree, velocities=True, accelerations=False)
        names = ElementNames(self.mechanism, self.bound, layout)
        equations = constraints.ConstraintEquations(
            self.mechanism, layout, motion, names, displacement_seeds(self.mechanism, self.builder)
        )
        if self.constrained.analysis.clusters:
            return None
        rows = constraints.ConstrainedDynamics(equations, lambda: self.factorized, self.constrained.analysis, {}).taken
        blocks = constraints.ClosedFormChoice(
            equations, rows, [row.name for row in rows], self._motions.velocity_of
        ).blocks()
        if not blocks:
            return None
        return constraints.Dyads(self.builder, tuple(blocks), rows, self.mechanism.layout.velocities)

    @cached_property
    def partitioned(self) -> ReducedSystem:
        """The equations for as many accelerations as there are degrees of freedom: of quasi-velocities, if the model
        names as many; else of independent coordinates, loop by loop where loops have closed forms."""
        constrained = self.constrained
        if len(self.mechanism.quasivelocities) == self.size - len(constrained.places):
            return constraints.QuasiVelocitySystem(
                constrained.taken,
                constraints.quasi_velocity_rows(self.constraint_equations),
                dict(constrained.analysis.sample),
            )
        dyads = self.dyads
        if dyads is None:
            return constrained.partition
        jacobian = [list(row.jacobian) for row in constrained.taken]
        return dyads.partition(jacobian, closed=self.plan.closed_loops)

    @cached_property
    def closed_loops(self) -> Dyads:
        """The closed forms of all loops; DerivationError where one has none."""
        if self.dyads is None:
            raise DerivationError(
                f"{self.mechanism.name}: not all of its loops have a closed form\n  known are two bars, or a bar and a "
                "slider, on pins (RRR, RRP, RPR, PRP), rods on ball joints, and single equations: take closure "
                "'multipliers', which works for all loops"
            )
        return self.dyads

    def closed_output(self, quantity: Quantity) -> Output:
        """The output of a quantity; where rows are solved for it, in independent coordinates alone."""
        found = self.output(quantity)
        if not quantity.record.solves_rows:
            return found
        try:
            nodes = self.closed_loops.written([Scalar(self.builder, node) for node in found.nodes])
        except constraints.NoClosedForm:
            raise DerivationError(f"{quantity}: it contains parts of angles whose sines no closed form tells") from None
        return found._replace(nodes=tuple(one.index for one in nodes))

    @cached_property
    def given_forces(self) -> list[Scalar]:
        """The forces on the coordinates: those that arrive, and those of the elements."""
        symbols = [Scalar(self.builder, self.builder.symbol(*one)) for one in Variables.FORCES.symbols(self.mechanism)]
        return [force + item for force, item in zip(symbols, self.element_forces, strict=True)]

    @cached_property
    def planar_loop(self) -> PlanarLoop | None:
        """The mechanism as a planar loop of bars, if it is one and both directions of the plane restrict it."""
        loop = constraints.planar_loop(self.mechanism, self.described_tree, self.motion(velocities=True))
        return loop if loop and self.constrained.places == sorted(loop.rows) else None

    @cached_property
    def segmented(self) -> SegmentedLoop | None:
        """The planar loop in the plan's segments; None if the plan has none."""
        if not self.plan.segment or self.planar_loop is None:
            return None
        lengths = constraints.lengths_of(self.planar_loop, self.plan.segment)
        lanes = (
            constraints.SegmentLanes(constraints.lane_groups(lengths, constraints.WIDTH)) if self.side_by_side else None
        )
        return constraints.SegmentedLoop(
            self.planar_loop, tuple(lengths), self.given_forces, self.mechanism.layout.velocities, lanes
        )

    @property
    def side_by_side_parts(self) -> SideBySide:
        """The parts that are written side by side: the legs of a platform, the segments of a loop, or limbs."""
        if self.platform is not None:
            return self.platform.side_by_side
        lanes = self.segmented.lanes if self.segmented else None
        return SideBySide(lanes.numbers, lanes.exchange) if lanes else self.limbs

    def hidden_outputs(self) -> list[Output]:
        """What the segments of a loop take in, lane by lane (`segments/lanes.py`)."""
        lanes = self.segmented.lanes if self.segmented else None
        return lanes.outputs() if lanes else []

    @cached_property
    def platform(self) -> ClosedLegs | None:
        """The closed forms of a platform, if the mechanism is one and the plan wants them."""
        found = platform_of(self.mechanism) if self.plan.closed_legs else None
        if found is None:
            return None
        # Few mechanisms have legs, whose equations are twenty modules: only they import them.
        from kinegraph.derive.quantities.closed_legs import ClosedLegs

        return ClosedLegs(self, found)

    @cached_property
    def base_parameters(self) -> BaseRegressor:
        """The minimal inertial parameters with the regressor they multiply."""
        unreduced = regrouped(with_shifted_origins(self.described_tree, self.plan.origin_shifts))
        tree, parameters = parametrized(unreduced, self._link_names())
        own = armature_parameters(tree.armature, self.mechanism.velocity_groups)
        layout = arrange(tree, self.layout.in_parent_frame)
        motion = self.motion(velocities=True, accelerations=True)
        forces = newton_euler.joint_forces(layout, motion, newton_euler.without_products(layout))
        bodies = newton_euler.generalized(motion, forces, self.size, self.zero)
        symbols = [own[name].symbol if name in own else self.zero for name in self.mechanism.layout.velocities]
        roots = composite_body.add_armature_forces(bodies, symbols, motion)
        return base_regressor(self.builder, roots, [*parameters, *dict.fromkeys(own.values())])

    def _link_names(self) -> list[str]:
        """Every link by the first body on it."""
        names = [f"joint{index}" for index in range(len(self.tree.links))]
        for name, place in reversed(self.tree.bodies.items()):
            names[place.link] = name
        return names


@lru_cache(maxsize=16)
def constraint_graph(mechanism: Mechanism, bound: tuple[tuple[str, Expression], ...]) -> Graph:
    """`value`, `jacobian` and `rate` of all rows, in axes that are the same for all plans; `facing` of frames that stay
    parallel."""
    derivation = Derivation(mechanism, dict(bound), Plan())
    equations = derivation.constraint_equations
    equations = equations.in_own_axes(loop.name for loop in equations.loops_on_moving_bodies())
    rows, facing = equations.rows(), equations.facing()
    count = len(rows)
    outputs = (
        output("value", (count,), [row.zero_value() for row in rows]),
        output("jacobian", (count, derivation.size), [row.jacobian for row in rows]),
        output("rate", (count,), [row.rate for row in rows]),
        output("facing", (len(facing),), facing),
    )
    return derivation.builder.graph(outputs)
