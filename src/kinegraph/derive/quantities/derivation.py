"""One derivation: a mechanism lowered into one builder by one plan, and the quantities read off it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from kinegraph.derive.derivatives.forces_and_accelerations import ChainRule, displacement_seeds, joints_are_straight
from kinegraph.derive.derivatives.inverse_dynamics import force_slopes
from kinegraph.derive.dynamics import armature, composite_body, energy, newton_euler
from kinegraph.derive.dynamics.articulated_body import articulated_accelerations, joints_are_independent
from kinegraph.derive.dynamics.christoffel import christoffel
from kinegraph.derive.dynamics.closed_form import ClosedForm
from kinegraph.derive.dynamics.composite_body import Column
from kinegraph.derive.dynamics.coriolis import coriolis_matrix
from kinegraph.derive.dynamics.forward import Factorised, LinearSystem, base_to_tip
from kinegraph.derive.elements.forces import Elements
from kinegraph.derive.parameters.regressor import BaseRegressor, armature_parameters, base_regressor, parametrised
from kinegraph.derive.parameters.regroup import Gauge, regrouped
from kinegraph.derive.quantities.quantity import DISPLACEMENTS, Quantity
from kinegraph.derive.quantities.variables import Variables
from kinegraph.derive.tree import kinematics
from kinegraph.derive.tree.algebra import identity, zero_vector
from kinegraph.derive.tree.convert import Names
from kinegraph.derive.tree.coordinates import Square, driven_columns, inertia_matrix, three_index
from kinegraph.derive.tree.displacements import Motion, MotionBuilder
from kinegraph.derive.tree.frame_assignment import Layout, arrange, parallel_runs
from kinegraph.derive.tree.limbs import AlikeLimbs, alike_limbs
from kinegraph.derive.tree.links import Placement, Tree, build_tree, position_in
from kinegraph.derive.tree.origin_shift import Slide, slid
from kinegraph.errors import DerivationError
from kinegraph.graph.build import Builder
from kinegraph.graph.differentiate import ForwardDerivative, jacobian
from kinegraph.graph.node import Kind, Output
from kinegraph.graph.scalar import Scalar
from kinegraph.model.expression import Expression
from kinegraph.model.mechanism import Mechanism


class InertiaMethod(Enum):
    """Two ways to the entries of H off the diagonal; which is cheaper depends on the mechanism.

    The closed form, for C and gravity as well, is never the cheapest: it is what the dissertation starts from.
    """

    SCREWS = "screws"
    WRENCHES = "wrenches"
    CLOSED_FORM = "closed form"


class ForwardMethod(Enum):
    """Two ways to forward dynamics."""

    FACTORISE = "factorise"
    ARTICULATED = "articulated"


@dataclass(frozen=True)
class Plan:
    """The choices that change the operation count and nothing else. `kept` None: the runs of parallel axes."""

    kept: frozenset[int] | None = None
    slides: frozenset[tuple[int, Slide]] = frozenset()
    #: Links whose moment is formed by Euler's equation instead of U; None: those without products of inertia.
    euler: frozenset[int] | None = None
    regroup: bool = True
    gauges: frozenset[tuple[int, Gauge]] = frozenset()
    inertia: InertiaMethod = InertiaMethod.SCREWS
    forward: ForwardMethod = ForwardMethod.FACTORISE


class Derivation:
    """Quantities of one mechanism in one builder; `alike` writes limbs of one shape alike (`limbs.py`)."""

    def __init__(self, mechanism: Mechanism, bound: Mapping[str, Expression], plan: Plan, alike: bool = False) -> None:
        self.mechanism = mechanism
        self.plan = plan
        self.alike = alike
        self.bound = bound
        self.builder = Builder()
        self.names = Names(self.builder, mechanism, bound)
        self.zero = self.names.number(0)
        self._motions = MotionBuilder(self.builder, mechanism)

    @cached_property
    def tree(self) -> Tree:
        return self.limbs.tree if self.alike else self._plain_tree

    @cached_property
    def _plain_tree(self) -> Tree:
        tree = slid(build_tree(self.mechanism, self.names), self.plan.slides)
        return regrouped(tree, self.plan.gauges) if self.plan.regroup else tree

    @cached_property
    def limbs(self) -> AlikeLimbs:
        """The tree with limbs of one shape written alike."""
        return alike_limbs(self._plain_tree)

    @cached_property
    def layout(self) -> Layout:
        kept = parallel_runs(self.tree) if self.plan.kept is None else self.plan.kept
        return arrange(self.tree, kept)

    @cached_property
    def euler(self) -> frozenset[int]:
        if self.plan.euler is not None:
            return self.plan.euler
        return newton_euler.without_products(self.layout)

    def motion(
        self, velocities: bool = False, accelerations: bool | Sequence[Scalar] = False, prescribed: bool = True
    ) -> Motion:
        return self._motions.motion(self.tree, velocities, accelerations, prescribed)

    @cached_property
    def at_rest(self) -> Motion:
        """The motion with all rates zero: its columns say which coordinate moves what."""
        return self.motion(prescribed=False)

    @cached_property
    def driven(self) -> frozenset[Column]:
        return driven_columns(self.at_rest)

    @cached_property
    def elements(self) -> Elements:
        """Springs, dampers, forces and what else acts beside gravity."""
        return Elements(self.mechanism, self.bound, self.layout, self.at_rest)

    @cached_property
    def element_forces(self) -> list[Scalar]:
        """The generalized forces of the elements."""
        return self.elements.forces() if self.mechanism.elements else [self.zero] * self.size

    @cached_property
    def armature(self) -> list[Scalar]:
        """The inertia in each velocity that belongs to no body."""
        return [self.tree.armature.get(name, self.zero) for name in self.mechanism.velocity_names]

    @property
    def size(self) -> int:
        return len(self.mechanism.layout.velocities)

    def output(self, quantity: Quantity) -> Output:
        """The graph output of a quantity."""
        if quantity.by:
            return self._derivative(quantity)
        return _output(str(quantity), _QUANTITIES[quantity.name](self, quantity))

    # the quantities

    def tau(self, quantity: Quantity) -> list[Scalar]:
        return self._inverse_dynamics(self.motion(velocities=True, accelerations=True))

    def bias(self, quantity: Quantity) -> list[Scalar]:
        return self._inverse_dynamics(self.motion(velocities=True))

    def _inverse_dynamics(self, motion: Motion) -> list[Scalar]:
        forces = newton_euler.joint_forces(self.layout, motion, self.euler)
        bodies = newton_euler.generalized(motion, forces, self.size, self.zero)
        needed = armature.add_forces(bodies, self.armature, motion)
        return [force - given for force, given in zip(needed, self.element_forces, strict=True)]

    def gravity(self, quantity: Quantity) -> list[Scalar]:
        if self.plan.inertia is InertiaMethod.CLOSED_FORM:
            forces = self.closed_form.gravity()
        else:
            forces = composite_body.gravity_forces(self.layout)
        return newton_euler.generalized(self.at_rest, forces, self.size, self.zero)

    @cached_property
    def closed_form(self) -> ClosedForm:
        """The closed formulas need true mass centres, so nothing is regrouped."""
        return ClosedForm(build_tree(self.mechanism, self.names))

    @cached_property
    def joint_inertia(self) -> dict[tuple[Column, Column], Scalar]:
        if self.plan.inertia is InertiaMethod.CLOSED_FORM:
            return self.closed_form.inertia(self.driven)
        if self.plan.inertia is InertiaMethod.SCREWS:
            return composite_body.inertia_by_screws(self.layout, self.driven)
        return composite_body.inertia_by_wrenches(self.layout, self.driven)

    def inertia(self, quantity: Quantity) -> Square:
        bodies = inertia_matrix(self.at_rest, self.joint_inertia, self.zero)
        return armature.add_inertia(bodies, self.armature)

    def christoffel(self, quantity: Quantity) -> list[Square]:
        closed = self.plan.inertia is InertiaMethod.CLOSED_FORM
        entries = self.closed_form.christoffel(self.driven) if closed else christoffel(self.layout, self.driven)
        coordinates = self._motions.velocity_of
        return three_index(self.builder, self.at_rest, entries, self.joint_inertia, coordinates, self.zero)

    def coriolis(self, quantity: Quantity) -> Square:
        """C v = sum C_kl v_k v_l; of motions prescribed in time only what is quadratic in v belongs here."""
        motion = self.motion(velocities=True, prescribed=False)
        entries = coriolis_matrix(self.layout, motion, self.driven)
        matrix = [[self.zero] * self.size for _ in range(self.size)]
        for (i, j), value in entries.items():
            for k, left in motion.columns[i.link][i.component].items():
                for m, right in motion.columns[j.link][j.component].items():
                    matrix[k][m] = matrix[k][m] + left * right * value
        self._add_slope_rates(matrix, motion)
        return matrix

    def _add_slope_rates(self, matrix: Square, motion: Motion) -> None:
        """Where dp/dq changes with q, its rate adds sum P_ik h_ij dP_jm/dt."""
        seeds = {symbol: motion.velocities[index].index for symbol, index in self._motions.velocity_of.items()}
        rate = ForwardDerivative(self.builder, seeds)
        for (i, j), value in self.joint_inertia.items():
            for m, slope in motion.columns[j.link][j.component].items():
                change = Scalar(self.builder, rate(slope.index))
                if not change.is_zero:
                    for k, left in motion.columns[i.link][i.component].items():
                        matrix[k][m] = matrix[k][m] + left * value * change

    def accelerations(self, quantity: Quantity) -> list[Scalar]:
        symbols = [Scalar(self.builder, self.builder.symbol(Kind.INPUT, n)) for n in self.mechanism.layout.forces]
        motion = self.motion(velocities=True)
        if self.plan.forward is ForwardMethod.ARTICULATED and joints_are_independent(motion):
            given = [force + item for force, item in zip(symbols, self.element_forces, strict=True)]
            return articulated_accelerations(self.layout, motion, given, self.armature)
        bias = self._inverse_dynamics(motion)
        right = [force - item for force, item in zip(symbols, bias, strict=True)]
        return self.factorised.solve(right)

    @cached_property
    def factorised(self) -> Factorised:
        order = base_to_tip(self.motion(velocities=True))
        return Factorised(self.inertia(Quantity("H")), order, self.mechanism.layout.velocities)

    @cached_property
    def base_parameters(self) -> BaseRegressor:
        """The minimal inertial parameters with the regressor they multiply."""
        plain = regrouped(slid(build_tree(self.mechanism, self.names), self.plan.slides))
        tree, parameters = parametrised(plain, self._link_names())
        own = armature_parameters(tree.armature, self.mechanism.velocity_groups)
        layout = arrange(tree, self.layout.kept)
        motion = self.motion(velocities=True, accelerations=True)
        forces = newton_euler.joint_forces(layout, motion, newton_euler.without_products(layout))
        bodies = newton_euler.generalized(motion, forces, self.size, self.zero)
        symbols = [own[name].symbol if name in own else self.zero for name in self.mechanism.velocity_names]
        roots = armature.add_forces(bodies, symbols, motion)
        return base_regressor(self.builder, roots, [*parameters, *dict.fromkeys(own.values())])

    def _link_names(self) -> list[str]:
        """Every link by the first body on it."""
        names = [f"joint{index}" for index in range(len(self.tree.links))]
        for name, place in reversed(self.tree.bodies.items()):
            names[place.link] = name
        return names

    def regressor(self, quantity: Quantity) -> Square:
        return self.base_parameters.matrix

    def base_parameter_values(self, quantity: Quantity) -> list[Scalar]:
        return [parameter.value for parameter in self.base_parameters.parameters]

    def energy(self, quantity: Quantity) -> list[Scalar]:
        motion = self.motion(velocities=True)
        kinetic = energy.kinetic_energy(self.layout, motion)
        kinetic = kinetic + armature.kinetic_energy(self.armature, motion, self.zero)
        potential = energy.potential_energy(self.layout)
        return [kinetic, potential + self.elements.potential() if self.mechanism.elements else potential]

    def forces(self, quantity: Quantity) -> list[Scalar]:
        return self.element_forces

    def power(self, quantity: Quantity) -> list[Scalar]:
        """Dissipated in dampers and friction, supplied by forces; v . tau comes on top."""
        return self.elements.power()

    def momentum(self, quantity: Quantity) -> list[Scalar]:
        linear, angular = energy.total_momentum(self.layout, self.motion(velocities=True))
        return [*linear, *angular]

    def pose(self, quantity: Quantity) -> Square:
        return kinematics.pose(self.layout, self._place(quantity))

    def jacobian(self, quantity: Quantity) -> Square:
        screws = kinematics.point_screws(self.layout, self._place(quantity))
        return kinematics.jacobian(screws, self.at_rest.columns, self.size, self.zero)

    def _place(self, quantity: Quantity) -> Placement:
        tree = self.tree
        if quantity.of in tree.bodies:
            return tree.bodies[quantity.of]
        for point in self.mechanism.points:
            if point.name == quantity.of:
                where = (
                    Placement(0, identity(self.zero), zero_vector(self.zero))
                    if point.body is None
                    else tree.bodies[point.body]
                )
                x, y, z = (self.names.scalar(item) for item in point.position)
                return Placement(where.link, where.rotation, position_in(where, (x, y, z)))
        known = ", ".join([*tree.bodies, *(point.name for point in self.mechanism.points)])
        raise DerivationError(f"{quantity}: no body or output point is called {quantity.of!r}; there are {known}")

    # derivatives

    def _derivative(self, quantity: Quantity) -> Output:
        if values := self._written_derivative(quantity):
            return _output(str(quantity), values)
        inner = self.output(Quantity(quantity.name, quantity.of))
        if quantity.by == DISPLACEMENTS:
            columns = [[way(root) for root in inner.nodes] for way in self._ways]
            rows = [list(row) for row in zip(*columns, strict=True)]
            return Output(str(quantity), (*inner.shape, self.size), tuple(entry for row in rows for entry in row))
        symbols, scalar = self._symbols(quantity)
        rows = jacobian(self.builder, inner.nodes, symbols)
        shape = inner.shape if scalar else (*inner.shape, len(symbols))
        return Output(str(quantity), shape, tuple(entry for row in rows for entry in row))

    def _written_derivative(self, quantity: Quantity) -> Square | None:
        """Derivatives that have shorter ways than differentiating the graph."""
        by = self._by(quantity)
        if quantity.name == "tau" and by in (DISPLACEMENTS, "v", "a"):
            return self._force_derivative(by, self.motion(velocities=True, accelerations=True))
        return self._acceleration_derivative(by) if self.solves(quantity) else None

    @cached_property
    def _ways(self) -> list[ForwardDerivative]:
        """The derivative along every displacement."""
        return [ForwardDerivative(self.builder, seeds) for seeds in displacement_seeds(self.mechanism, self.builder)]

    def _force_derivative(self, by: str, motion: Motion) -> Square:
        if by == "a":
            return self.inertia(Quantity("H"))
        slopes = force_slopes(self.layout, motion, self.euler, self.driven)
        chain = ChainRule(self.builder, motion, slopes, displacement_seeds(self.mechanism, self.builder))
        needed = chain.by_displacement() if by == DISPLACEMENTS else chain.by_velocity()
        if not self.mechanism.elements:
            return needed
        given = self._element_derivative(by)
        return [[force - item for force, item in zip(*rows, strict=True)] for rows in zip(needed, given, strict=True)]

    def _element_derivative(self, by: str) -> Square:
        ways = self._ways
        if by == "v":
            symbols, _ = self._symbols(Quantity("tau", by="v"))
            ways = [ForwardDerivative(self.builder, {symbol: self.builder.one}) for symbol in symbols]
        return [[Scalar(self.builder, way(force.index)) for way in ways] for force in self.element_forces]

    def _acceleration_derivative(self, by: str) -> Square:
        """- H^-1 d(tau) at a = qdd, and H^-1."""
        if by == "tau":
            return self.factorised.inverted()
        forces = self._forces_along_motion(by)
        return self.factorised.solve_columns([[-item for item in row] for row in forces])

    def _forces_along_motion(self, by: str) -> Square:
        motion = self.motion(velocities=True, accelerations=self.accelerations(Quantity("qdd")))
        return self._force_derivative(by, motion)

    def unsolved(self, quantities: Sequence[Quantity]) -> tuple[list[Output], LinearSystem]:
        """Outputs from which the last linear system is still to be solved: d(tau) (or -1) for derivatives of
        accelerations, what else was asked for, and the factors of H."""
        outputs = []
        for quantity in quantities:
            if self.solves(quantity):
                right = self._negative_unit() if quantity.by == "tau" else self._forces_along_motion(self._by(quantity))
                outputs.append(_output(str(quantity), right))
            else:
                outputs.append(self.output(quantity))
        system = self.factorised.system()
        lower = [self.factorised.lower[i][j] for i, j in system.lower]
        inverse = [self.factorised.inverse[i] for i in range(self.size)]
        return [*outputs, _output("lower", lower), _output("inverse", inverse)], system

    def _negative_unit(self) -> Square:
        return [[self.zero.number(-1 if i == j else 0) for j in range(self.size)] for i in range(self.size)]

    def solves(self, quantity: Quantity) -> bool:
        """Is it a derivative of accelerations that ends in a linear system?"""
        by = self._by(quantity)
        known = quantity.name == "qdd" and by in (DISPLACEMENTS, "v", "tau")
        return known and joints_are_straight(self.at_rest)

    def _by(self, quantity: Quantity) -> str:
        """What a quantity is differentiated by; displacements are coordinates where there are no quaternions."""
        same = len(self.mechanism.layout.positions) == self.size
        return DISPLACEMENTS if quantity.by == "q" and same else quantity.by

    def _symbols(self, quantity: Quantity) -> tuple[list[int], bool]:
        """The symbols a quantity is differentiated by, and whether it is a single one."""
        for group in Variables:
            if quantity.by in group.names(self.mechanism):
                return [self.builder.symbol(group.kind, quantity.by)], True
        if quantity.by not in {group.value for group in Variables}:
            raise DerivationError(
                f"{quantity}: cannot differentiate by {quantity.by!r}; "
                "write q, dq (displacements), v, a, tau, u, p (all parameters), t or the name of one of them"
            )
        return [self.builder.symbol(*symbol) for symbol in Variables(quantity.by).symbols(self.mechanism)], False


def _output(name: str, values: object) -> Output:
    return Output(name, _shape(values), tuple(item.index for item in _flat(values)))


def _shape(values: object) -> tuple[int, ...]:
    return (len(values), *(_shape(values[0]) if values else ())) if isinstance(values, list) else ()


def _flat(values: object) -> list[Scalar]:
    if isinstance(values, list):
        return [item for entry in values for item in _flat(entry)]
    assert isinstance(values, Scalar)
    return [values]


_QUANTITIES: dict[str, Callable[[Derivation, Quantity], object]] = {
    "tau": Derivation.tau,
    "H": Derivation.inertia,
    "C": Derivation.christoffel,
    "coriolis": Derivation.coriolis,
    "gravity": Derivation.gravity,
    "bias": Derivation.bias,
    "qdd": Derivation.accelerations,
    "regressor": Derivation.regressor,
    "base_parameters": Derivation.base_parameter_values,
    "energy": Derivation.energy,
    "momentum": Derivation.momentum,
    "forces": Derivation.forces,
    "power": Derivation.power,
    "pose": Derivation.pose,
    "jacobian": Derivation.jacobian,
}
