"""Springs, dampers and other elements: generalized forces, energy, power, and the structure matrix of each element."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property

from kinegraph.derive.dynamics.composite_body import Square
from kinegraph.derive.elements.compliant_contacts import CompliantContacts, ContactPlace, ShapeDistances
from kinegraph.derive.elements.element_values import ElementNames, ElementWork, Storing
from kinegraph.derive.tree import kinematics
from kinegraph.derive.tree.algebra import Vector, dot, minus, vector
from kinegraph.derive.tree.displacements import Motion, velocity_forces
from kinegraph.derive.tree.expressions import Names, operation
from kinegraph.derive.tree.frame_assignment import FrameAssignment
from kinegraph.derive.tree.links import Placement
from kinegraph.graph.build import GraphBuilder, Scalar, substituted
from kinegraph.graph.differentiate import ForwardDerivative, gradient
from kinegraph.graph.node import Kind, Symbol
from kinegraph.model.axes import Axes
from kinegraph.model.elements import (
    RATE,
    STRETCH,
    Capsule,
    CompliantContact,
    Cylinder,
    Damper,
    Element,
    EnergyLaw,
    Force,
    Friction,
    Limit,
    Linear,
    Moment,
    Plane,
    PointForce,
    Potential,
    Span,
    Spring,
    Target,
    is_steered,
)
from kinegraph.model.expressions import Call, Expression, Name, Number, Operation, names, postorder
from kinegraph.model.mechanism import ZERO, Mechanism
from kinegraph.model.names import is_rate

# ---- The energy of a force law: the integral of a polynomial

#: Polynomials of a higher degree are not integrated.
MAX_DEGREE = 50

Coefficients = list[Scalar]  # of the powers of the variable, from zero


def integral(names: Names, law: Expression, variable: str, upper: Scalar) -> Scalar | None:
    """The integral of a force law from zero to `upper`; None if the law is not a polynomial in the variable."""
    coefficients = _coefficients(names, law, variable)
    if coefficients is None:
        return None
    total = names.number(0)
    for power in range(len(coefficients), 0, -1):  # Horner
        total = (total + coefficients[power - 1] * Fraction(1, power)) * upper
    return total


def _coefficients(names: Names, root: Expression, variable: str) -> Coefficients | None:
    done: list[Coefficients] = []
    for node in postorder(root):
        if isinstance(node, Number):
            done.append([names.number(node.value)])
        elif isinstance(node, Name):
            zero, one = names.number(0), names.number(1)
            done.append([zero, one] if node.text == variable else [names[node.text]])
        elif isinstance(node, Operation | Call):
            parts = done[-len(node.parts) :]
            del done[-len(node.parts) :]
            combined = _combined(node, parts)
            if combined is None or len(combined) > MAX_DEGREE + 1:
                return None
            done.append(combined)
    return done[0]


def _combined(node: Operation | Call, parts: list[Coefficients]) -> Coefficients | None:
    if all(len(part) == 1 for part in parts):
        return [operation(node, [part[0] for part in parts])]
    if isinstance(node, Call):
        return None
    match node.operator:
        case "neg":
            return [-item for item in parts[0]]
        case "+":
            return _polynomial_sum(parts[0], parts[1])
        case "-":
            return _polynomial_sum(parts[0], [-item for item in parts[1]])
        case "*":
            return _product(parts[0], parts[1])
        case "/" if len(parts[1]) == 1:
            return [item / parts[1][0] for item in parts[0]]
        case "^" if len(parts[1]) == 1:
            return _power(parts[0], parts[1][0])
    return None


def _polynomial_sum(a: Coefficients, b: Coefficients) -> Coefficients:
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    return [item + shorter[i] if i < len(shorter) else item for i, item in enumerate(longer)]


def _product(a: Coefficients, b: Coefficients) -> Coefficients:
    result = [a[0].number(0)] * (len(a) + len(b) - 1)
    for i, left in enumerate(a):
        for j, right in enumerate(b):
            result[i + j] = result[i + j] + left * right
    return result


def _power(base: Coefficients, exponent: Scalar) -> Coefficients | None:
    value = exponent.value
    if value is None or value.denominator != 1 or not 0 <= value * (len(base) - 1) <= MAX_DEGREE:
        return None
    result = [base[0].number(1)]
    for _ in range(int(value)):
        result = _product(result, base)
    return result


# ---- Generalized forces, potential energy and power of elements
#
# As in KiDyM, an element does work on a target gamma(q, t) with a force f and contributes f dgamma/dq, through its row
# of the structure matrix. A target that is a rate beta(q, v, t), linear in v, contributes f dbeta/dv. All rows together
# are one gradient in reverse mode, with symbols for the forces.
#
# Targets may depend on time explicitly. With gamma_t the partial derivative by time and V the potential of elements:
#
#     dissipated = sum f gamma' over dampers, friction and the damping of limits
#     supplied   = sum f (gamma' - gamma_t) over forces + sum f gamma_t over dampers + dV/dt at fixed q
#     d/dt (kinetic + potential) = supplied - dissipated + v . tau + D
#
# D is `prescribed_power`, the power of prescribed motions: of transforms, gravity or constraints that depend on time.

_HALF = Fraction(1, 2)


class Elements:
    """The elements of one mechanism, in the builder of a frame assignment."""

    def __init__(
        self, mechanism: Mechanism, bound: Mapping[str, Expression], layout: FrameAssignment, motion: Motion
    ) -> None:
        self.mechanism = mechanism
        self.builder: GraphBuilder = layout.tree.like.builder
        self.names = ElementNames(mechanism, bound, layout)
        self.potentials: list[Scalar] = []
        self.storing: list[Storing] = []
        self.resisting: list[ElementWork] = []  # forces opposite to the growth of the target
        self.driving: list[ElementWork] = []
        self.moments: list[list[Scalar]] = []  # generalized forces of each
        self._motion = motion
        self._velocity_names = frozenset(mechanism.layout.velocities)
        for element in mechanism.elements:
            self._add(element)

    # results

    @property
    def conservative(self) -> bool:
        """True if all forces have a potential that does not depend on time explicitly."""
        if self.resisting or self.driving or self.moments:
            return False
        steady = all(self._explicit(one.work).is_zero for one in self.storing)
        return steady and self.names.explicit_rate(self._differentiated).is_zero

    def potential(self) -> Scalar:
        """The energy stored in springs, potentials and compliant contacts."""
        return _sum([*self.potentials, *(one.energy for one in self.storing)], self._zero)

    @property
    def _differentiated(self) -> Scalar:
        """The part of the potential that is differentiated for forces."""
        return _sum(self.potentials, self._zero)

    def forces(self) -> list[Scalar]:
        """The generalized forces of all elements."""
        against = [*self.resisting, *(one.work for one in self.storing)]
        works = [*self.driving, *(ElementWork(-work.force, work.target, work.is_rate) for work in against)]
        totals = self._weighted_rows(works)
        for moment in self.moments:
            totals = [total + item for total, item in zip(totals, moment, strict=True)]
        return totals

    def power(self) -> list[Scalar]:
        """The power (dissipated, supplied); see above for explicit dependence on time."""
        dissipated, supplied = self._zero, self.names.explicit_rate(self._differentiated)
        for stored in self.storing:
            supplied = supplied + stored.work.force * self._explicit(stored.work)
        for work in self.resisting:
            dissipated = dissipated + work.force * self.rate(work)
            supplied = supplied + work.force * self._explicit(work)
        for work in self.driving:
            supplied = supplied + work.force * (self.rate(work) - self._explicit(work))
        for moment in self.moments:
            for name, item in zip(self.mechanism.layout.velocities, moment, strict=True):
                supplied = supplied + item * self.names[name]
        return [dissipated, supplied]

    @property
    def _zero(self) -> Scalar:
        return self.names.number(0)

    def rate(self, work: ElementWork) -> Scalar:
        """The rate of a force's target."""
        return work.target if work.is_rate else self.names.total_rate(work.target)

    def _explicit(self, work: ElementWork) -> Scalar:
        if not work.is_rate:
            return self.names.explicit_rate(work.target)
        at_rest = {Symbol(Kind.VELOCITY, name): self.builder.zero for name in self.mechanism.layout.velocities}
        return self.replaced([work.target.index], at_rest)[0]

    def _weighted_rows(self, works: Sequence[ElementWork]) -> list[Scalar]:
        """sum f dgamma/dq - dV/dq, by velocities, plus sum f dbeta/dv."""
        weights = {Symbol(Kind.INPUT, f"element:{index}"): work.force.index for index, work in enumerate(works)}
        position_work, rate_work = -self._differentiated, self._zero
        for symbol, work in zip(weights, works, strict=True):
            part = Scalar(self.builder, self.builder.symbol(symbol.kind, symbol.name)) * work.target
            if work.is_rate:
                rate_work = rate_work + part
            else:
                position_work = position_work + part
        by_position = self._gradient(position_work, Kind.COORDINATE, self.mechanism.layout.positions)
        by_velocity = self._gradient(rate_work, Kind.VELOCITY, self.mechanism.layout.velocities)
        replaced = self.replaced([*by_position, *by_velocity], weights)
        split = len(by_position)
        along = velocity_forces(self.mechanism, self.builder, replaced[:split])
        return [left + right for left, right in zip(along, replaced[split:], strict=True)]

    def row(self, target: Scalar, is_rate: bool) -> list[Scalar]:
        """dgamma/dq of a target, by velocities; dbeta/dv if the target is a rate."""
        if is_rate:
            by_velocity = self._gradient(target, Kind.VELOCITY, self.mechanism.layout.velocities)
            return [Scalar(self.builder, node) for node in by_velocity]
        by_position = self._gradient(target, Kind.COORDINATE, self.mechanism.layout.positions)
        return velocity_forces(self.mechanism, self.builder, [Scalar(self.builder, node) for node in by_position])

    def _gradient(self, root: Scalar, kind: Kind, symbols: Sequence[str]) -> list[int]:
        return gradient(self.builder, root.index, [self.builder.symbol(kind, name) for name in symbols])

    def replaced(self, nodes: Sequence[int], values: Mapping[Symbol, int]) -> list[Scalar]:
        """The nodes with symbols replaced."""
        return [Scalar(self.builder, node) for node in substituted(self.builder, nodes, values)]

    # elements

    def _add(self, element: Element) -> None:
        match element:
            case Spring():
                self._add_spring(element)
            case Damper():
                self._add_damper(element)
            case Friction():
                self._add_friction(element)
            case Force():
                target, is_rate = self.target(element.on)
                self.driving.append(ElementWork(self.names.scalar(element.value), target, is_rate))
            case PointForce():
                self._add_point_force(element)
            case Moment():
                self._add_moment(element)
            case Potential():
                self.potentials.append(self.names.scalar(element.energy))
            case Limit():
                self._add_limit(element)
            case CompliantContact():
                self._add_compliant_contact(element)

    def target(self, target: Target) -> tuple[Scalar, bool]:
        """The target of an element, and whether it is a rate."""
        if isinstance(target, Span):
            return self._square(target).apply("sqrt"), False
        moves = any(name in self._velocity_names or is_rate(name) for name in names(target))
        return self.names.scalar(target), moves

    def _square(self, span: Span) -> Scalar:
        """The squared distance of two points."""
        line = minus(self.names.points.anchored(span.second), self.names.points.anchored(span.first))
        return dot(line, line)

    def _add_spring(self, spring: Spring) -> None:
        steered = is_steered(spring, self.mechanism)
        if isinstance(spring.on, Span) and isinstance(spring.law, Linear) and spring.rest == ZERO and not steered:
            # Without a root, so that the points may coincide.
            stiffness = self.names.scalar(spring.law.coefficient)
            self.potentials.append(_HALF * (stiffness * self._square(spring.on)))
            return
        target, _ = self.target(spring.on)
        stretch = target - self.names.scalar(spring.rest)
        stored = None if steered else self._stored(spring, stretch)
        if stored is not None:
            self.potentials.append(stored)
        else:
            self.driving.append(ElementWork(-self.law(spring, stretch, STRETCH.text), target))

    def _stored(self, spring: Spring, stretch: Scalar) -> Scalar | None:
        if isinstance(spring.law, Linear):
            return _HALF * (self.names.scalar(spring.law.coefficient) * stretch**2)
        if isinstance(spring.law, EnergyLaw):
            return self.names.scalar(spring.law.energy, {STRETCH.text: stretch})
        return integral(self.names, spring.law.force, STRETCH.text, stretch)

    def law(self, element: Spring | Damper, argument: Scalar, local: str) -> Scalar:
        """The force of a law, opposite to the growth of its argument, whose name in the law is `local`."""
        law = element.law
        assert not isinstance(law, EnergyLaw)  # these are always stored
        if isinstance(law, Linear):
            return self.names.scalar(law.coefficient) * argument
        return self.names.scalar(law.force, {local: argument})

    def _add_damper(self, damper: Damper) -> None:
        target, is_rate = self.target(damper.on)
        rate = self.rate(ElementWork(self._zero, target, is_rate))
        self.resisting.append(ElementWork(self.law(damper, rate, RATE.text), target, is_rate))

    def _add_friction(self, friction: Friction) -> None:
        target, is_rate = self.target(friction.on)
        rate = self.rate(ElementWork(self._zero, target, is_rate))
        self.resisting.append(ElementWork(self.friction_force(friction, rate), target, is_rate))

    def friction_force(self, friction: Friction, rate: Scalar) -> Scalar:
        """Dry and viscous friction at a rate."""
        scalar = self.names.scalar
        dry = scalar(friction.coulomb) * (rate / scalar(friction.width)).apply("tanh")
        return dry + scalar(friction.viscous) * rate

    def _add_point_force(self, force: PointForce) -> None:
        points = self.names.points
        components = self._vector(force.components)
        if force.axes is Axes.BODY:
            components = points.turned_out(points.frame(force.at.of), components)
        for value, coordinate in zip(components, points.anchored(force.at), strict=True):
            if not value.is_zero:
                self.driving.append(ElementWork(value, coordinate))

    def _add_moment(self, moment: Moment) -> None:
        points = self.names.points
        work = points.body_moment if moment.axes is Axes.BODY else points.world_moment
        self.moments.append(work(points.frame(moment.on), self._vector(moment.components), self._motion))

    def _vector(self, components: Sequence[Expression]) -> Vector:
        return vector([self.names.scalar(item) for item in components])

    def _add_limit(self, limit: Limit) -> None:
        stiffness = self.names.scalar(limit.stiffness)
        for depth, _ in self.depths(limit):
            self.potentials.append(_HALF * (stiffness * depth.apply("select", depth**2, self._zero)))
            if not self.names.scalar(limit.damping).is_zero:
                self.resisting.append(ElementWork(self.stop_loss(limit, depth), depth))

    def depths(self, limit: Limit) -> Iterator[tuple[Scalar, int]]:
        """The depth beyond each bound, and the sign of its derivative by the limited quantity."""
        target, _ = self.target(limit.on)
        if limit.upper is not None:
            yield target - self.names.scalar(limit.upper), 1
        if limit.lower is not None:
            yield self.names.scalar(limit.lower) - target, -1

    def stop_loss(self, limit: Limit, depth: Scalar) -> Scalar:
        """The damping force in addition to k d for d >= 0; the total is d max(0, k + c d')."""
        stiffness, damping = self.names.scalar(limit.stiffness), self.names.scalar(limit.damping)
        loss = damping * self.names.total_rate(depth)
        loss = (loss + stiffness).apply("select", loss, -stiffness)
        return depth.apply("select", depth * loss, self._zero)

    def _add_compliant_contact(self, contact: CompliantContact) -> None:
        for place_of_contact in self.contact_places(contact):
            self.storing.append(place_of_contact.storing)
            self.resisting.extend(place_of_contact.resisting)

    def contact_places(self, contact: CompliantContact) -> Iterator[ContactPlace]:
        """Where the shapes of a compliant contact are nearest, and the forces there."""
        return self._compliant_contacts.contact_places(contact, self.names.total_derivative)

    @cached_property
    def _compliant_contacts(self) -> CompliantContacts:
        return CompliantContacts(ShapeDistances(self.names.points, self.names), self._motion)


def _sum(items: Sequence[Scalar], zero: Scalar) -> Scalar:
    total = zero
    for item in items:
        total = total + item
    return total


# ---- Efforts and structure matrix of one element


def efforts(elements: Elements, element: Element) -> list[Scalar]:
    """The components of an element's force, along the rows of its structure matrix."""
    match element:
        case Force():
            return [elements.names.scalar(element.value)]
        case PointForce() | Moment():
            return [elements.names.scalar(item) for item in element.components]
        case Potential():
            return [elements.names.number(-1)]
        case CompliantContact():
            return [-place_of_contact.pressing for place_of_contact in elements.contact_places(element)]
        case Limit():
            return [_limit(elements, element)]
        case Spring():
            return [-_spring(elements, element)]
        case Damper() | Friction():
            return [-_resistance(elements, element)]


def _spring(elements: Elements, spring: Spring) -> Scalar:
    target, _ = elements.target(spring.on)
    stretch = target - elements.names.scalar(spring.rest)
    if not isinstance(spring.law, EnergyLaw):
        return elements.law(spring, stretch, STRETCH.text)
    builder = elements.builder
    symbol = Symbol(Kind.INPUT, f"element:{spring.name}")
    free = Scalar(builder, builder.symbol(symbol.kind, symbol.name))
    energy = elements.names.scalar(spring.law.energy, {STRETCH.text: free})
    slope = ForwardDerivative(builder, {free.index: builder.one})(energy.index)
    return elements.replaced([slope], {symbol: stretch.index})[0]


def _resistance(elements: Elements, element: Damper | Friction) -> Scalar:
    target, is_rate = elements.target(element.on)
    rate = elements.rate(ElementWork(target, target, is_rate))
    if isinstance(element, Damper):
        return elements.law(element, rate, RATE.text)
    return elements.friction_force(element, rate)


def _limit(elements: Elements, limit: Limit) -> Scalar:
    """The force of a limit along the limited quantity."""
    total = elements.names.number(0)
    for depth, sign in elements.depths(limit):
        pressed = depth.apply("select", elements.names.scalar(limit.stiffness) * depth, total.number(0))
        total = total - sign * (pressed + elements.stop_loss(limit, depth))
    return total


def structure_matrix(elements: Elements, element: Element, at_rest: Motion) -> Square:
    """W, with one row for each component of the element's force and one column for each velocity.

    The generalized forces of an element are W^T times its efforts. In KiDyM, the rows are d rho/dq of the points of
    forces, d beta/dq' of dampers and d gamma/dq of springs. A spring, damper, friction, limit or force has one
    component along its target. A point force or a moment has three, along the axes of its definition. The row of a
    potential is its gradient, with the effort -1.
    """
    match element:
        case PointForce():
            return _jacobian(elements, elements.names.points.placed(element.at), element.axes, at_rest)[:3]
        case Moment():
            return _jacobian(elements, elements.names.points.frame(element.on), element.axes, at_rest)[3:]
        case Potential():
            return [elements.row(elements.names.scalar(element.energy), is_rate=False)]
        case Spring() | Damper() | Friction() | Force() | Limit():
            return [elements.row(*elements.target(element.on))]
        case CompliantContact():
            return [
                elements.row(-place_of_contact.place.gap, is_rate=False)
                for place_of_contact in elements.contact_places(element)
            ]


def component_count(element: Element) -> int:
    """The number of components of an element's force: the rows of its structure matrix."""
    if isinstance(element, CompliantContact):
        long = any(isinstance(shape, Capsule | Cylinder) for shape in element.shapes)
        return 2 if long and any(isinstance(shape, Plane) for shape in element.shapes) else 1
    return 3 if isinstance(element, PointForce | Moment) else 1


def _jacobian(elements: Elements, place: Placement, axes: Axes, at_rest: Motion) -> Square:
    """The velocity of a point, then the angular velocity of its body, in fixed axes or those of the body."""
    layout = elements.names.points.layout
    viewer = place if axes is Axes.BODY else kinematics.fixed_frame(layout.tree.like)
    screws = kinematics.point_screws(layout, kinematics.seen_from(layout, viewer), place)
    return kinematics.jacobian(screws, at_rest.columns, len(at_rest.velocities), layout.tree.like.number(0))
