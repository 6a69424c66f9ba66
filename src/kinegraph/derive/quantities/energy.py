"""Energy, momentum, and the power supplied by prescribed motions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from kinegraph.derive.dynamics import composite_body, newton_euler
from kinegraph.derive.dynamics.composite_body import composite_moments
from kinegraph.derive.dynamics.energy import kinetic_energy, potential_energy, total_momentum
from kinegraph.derive.dynamics.state_rate import POWER, PRESCRIBED_POWER, motion_words
from kinegraph.derive.quantities.dynamics import accelerations_of, driving_forces
from kinegraph.derive.tree.algebra import dot, vector
from kinegraph.derive.tree.displacements import Motion
from kinegraph.derive.tree.expressions import output
from kinegraph.graph.build import Scalar, substituted
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.node import Graph, Kind, Symbol
from kinegraph.model.expressions import TIME

if TYPE_CHECKING:
    from kinegraph.derive.constraints.constraint_rows import ConstraintRow
    from kinegraph.derive.quantities.derivation import Derivation
    from kinegraph.derive.quantities.quantity import Quantity


# Energy and momentum of the whole mechanism.


def energy(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """Kinetic and potential energy; the potential is that of gravity and of the elements."""
    motion = derivation.motion(velocities=True)
    kinetic = kinetic_energy(derivation.layout, motion)
    kinetic = kinetic + composite_body.armature_energy(derivation.armature, motion, derivation.zero)
    potential = potential_energy(derivation.layout)
    has_elements = bool(derivation.mechanism.elements)
    return [kinetic, potential + derivation.elements.potential() if has_elements else potential]


def momentum(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """Linear momentum, and angular momentum about the fixed origin, in fixed axes."""
    linear, angular = total_momentum(derivation.layout, derivation.motion(velocities=True))
    return [*linear, *angular]


# The power of prescribed motions, which no force of the model accounts for.
#
# An elementary displacement p(q, t) is moved by the force f along it, and what of its rate is due to time alone costs
# f p_t. A row of constraints r(q, t) = 0 that exerts lambda supplies - lambda r_t, gravity g(t) of the first moment s
# supplies - g_t . s. Forces of elements and constraints along p are part of f, so that the sum is complete:
#
#     d/dt (kinetic + potential) = v . tau + supplied - dissipated + prescribed_power
#
# Where no multipliers are known, velocities w that time alone asks for, J w + r_t = 0, say the same: the rows exert
# what the motion takes beyond the given forces, so that - lambda r_t is f . dp/dq w less the given forces' w . tau.

#: A row and the force along it.
RowForce: TypeAlias = "tuple[ConstraintRow, Scalar]"


def prescribed_power(derivation: Derivation, quantity: Quantity) -> list[Scalar]:
    """The power that prescribed motions supply while given forces act."""
    accelerations, platform = accelerations_of(derivation), derivation.platform
    if platform is not None:
        rates = platform.dynamics.leg_rates()
        named = [rates.get(name, derivation.zero) for name in derivation.mechanism.layout.velocities]
        return [_by_velocities(derivation, accelerations, _at_rest(derivation, named), platform.forces)]
    if not derivation.is_constrained or not derivation.plan.partitioned or derivation.segmented:
        return [power_of_prescribed_motion(derivation, accelerations, _row_forces(derivation))]
    required = [-rate for rate in rates_at_rest(derivation, derivation.constrained.taken)]
    led = derivation.partitioned.offset(required) if required else [derivation.zero] * derivation.size
    return [_by_velocities(derivation, accelerations, led, derivation.given_forces)]


def power_of_prescribed_motion(
    derivation: Derivation, accelerations: Sequence[Scalar], forces: Sequence[RowForce]
) -> Scalar:
    """The same for accelerations that are known, and the forces of all rows."""
    still = [derivation.zero] * derivation.size
    total = _of_displacements(derivation, accelerations, still) - _of_gravity(derivation)
    rates = rates_at_rest(derivation, [row for row, _ in forces])
    for rate, (_, force) in zip(rates, forces, strict=True):
        total = total - rate * force
    return total


def _by_velocities(
    derivation: Derivation, accelerations: Sequence[Scalar], led: Sequence[Scalar], forces: Sequence[Scalar]
) -> Scalar:
    """The same from the velocities that time alone asks for, and all forces that are given."""
    total = _of_displacements(derivation, accelerations, led) - _of_gravity(derivation)
    for velocity, force in zip(led, forces, strict=True):
        total = total - velocity * force
    return total


def motion_graph(derivation: Derivation, accelerations: Sequence[Scalar], forces: Sequence[RowForce]) -> Graph:
    """The quantities of `motion_words` for accelerations that are known, and the forces of all rows."""
    led = power_of_prescribed_motion(derivation, accelerations, forces)
    outputs = [output("qdd", (derivation.size,), list(accelerations))]
    if POWER in motion_words(derivation.mechanism):
        outputs.append(output(POWER, (2,), derivation.elements.power()))
    if not led.is_zero:
        outputs.append(output(PRESCRIBED_POWER, (1,), [led]))
    return derivation.builder.graph(outputs)


def rates_at_rest(derivation: Derivation, rows: Sequence[ConstraintRow]) -> list[Scalar]:
    """How fast each row changes while all velocities are zero: what time alone does to it."""
    return _at_rest(derivation, [row.rate for row in rows])


def _at_rest(derivation: Derivation, rates: Sequence[Scalar]) -> list[Scalar]:
    builder = derivation.builder
    still = {Symbol(Kind.VELOCITY, name): builder.zero for name in derivation.mechanism.layout.velocities}
    return [Scalar(builder, node) for node in substituted(builder, [rate.index for rate in rates], still)]


def _of_displacements(derivation: Derivation, accelerations: Sequence[Scalar], led: Sequence[Scalar]) -> Scalar:
    """The force along every elementary displacement times its rate by time and by the velocities time asks for."""
    rates, total = _displacement_rates(derivation.motion(), led), derivation.zero
    if all(rate.is_zero for joint in rates for rate in joint):
        return total
    motion = derivation.motion(velocities=True, accelerations=accelerations)
    forces = newton_euler.joint_forces(derivation.layout, motion, derivation.euler, derivation.plan.propagated)
    for components, joint in zip(forces, rates, strict=True):
        for force, rate in zip(components, joint, strict=True):
            total = total if rate.is_zero else total + force * rate
    for rotor, acceleration, velocity in zip(derivation.armature, accelerations, led, strict=True):
        total = total + rotor * acceleration * velocity
    return total


def _displacement_rates(motion: Motion, led: Sequence[Scalar]) -> list[list[Scalar]]:
    found = []
    for rates, columns in zip(motion.rates, motion.columns, strict=True):
        found.append([
            sum((factor * led[index] for index, factor in column.items()), rate)
            for rate, column in zip(rates.velocity, columns, strict=True)
        ])  # fmt: skip
    return found


def _of_gravity(derivation: Derivation) -> Scalar:
    """How fast gravity's potential falls by time alone."""
    builder, gravity = derivation.builder, derivation.layout.tree.gravity
    by_time = ForwardDerivative(builder, {builder.symbol(Kind.TIME, TIME): builder.one})
    change = vector([Scalar(builder, by_time(one.index)) for one in gravity])
    if all(one.is_zero for one in change):
        return derivation.zero
    return dot(change, composite_moments(derivation.layout)[0].first)


def _row_forces(derivation: Derivation) -> list[RowForce]:
    """The rows, with their multipliers, if time moves any."""
    if not derivation.is_constrained:
        return []
    constrained, segmented = derivation.constrained, derivation.segmented
    if all(rate.is_zero for rate in rates_at_rest(derivation, constrained.taken)):
        return []
    if segmented:
        return list(zip(constrained.taken, segmented.multipliers(), strict=True))
    found = constrained.system.multipliers(driving_forces(derivation), constrained.gamma)
    return list(zip(constrained.taken, found, strict=True))
