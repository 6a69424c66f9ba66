"""`robot`: the everyday object: dynamics, kinematics and configurations of a robot, compiled at first use."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.arrays import Floats
from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler.compile import compile as compile_quantities
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.derive.quantities.variables import Variables, depends_on_time
from kinegraph.errors import ModelError, TaskError, one_of
from kinegraph.model.constraints import is_constrained, tell_of_unknowns
from kinegraph.model.evaluate import initial_states, number, parameter_values
from kinegraph.model.expressions import Expression, Scalar, names
from kinegraph.model.mechanism import Body, Mechanism, Quaternion, Rotation, Shift, Transform
from kinegraph.robot.configurations import Configurations, skew
from kinegraph.robot.joint_order import Convention, JointOrder, order
from kinegraph.seeds import generator

if TYPE_CHECKING:
    from kinegraph.simulate.simulator import Simulator, Simulators
    from kinegraph.tasks.inverse_kinematics import PoseSolutions


class Reference(Enum):
    """The point and the axes of a frame's velocity.

    ALIGNED: the frame's origin, fixed axes. LOCAL: its origin, its own axes. WORLD: the point at the fixed origin.
    """

    ALIGNED = "aligned"
    LOCAL = "local"
    WORLD = "world"

    def word(self, quantity: str, frame: str) -> str:
        """The quantity of a frame in this reference."""
        if self is Reference.WORLD:
            return f"spatial_{quantity}:{frame}"
        return f"{quantity}:{frame}@{frame}" if self is Reference.LOCAL else f"{quantity}:{frame}"


#: Force and moment by the name of the body or point they act on.
Wrenches = Mapping[str, ArrayLike]


def robot(
    model: MechanismSource,
    *,
    order: Convention | str = Convention.MODEL,
    parameters: Mapping[str, Scalar] | None = None,
) -> Robot:
    """A robot to call: `robot.inverse_dynamics(q, v, a)`, `robot.pose("hand", q)`, `robot.com(q)`, ...

    order: of all arrays: "model", "file", "mujoco" or "pinocchio", each with its quaternions and velocities of free
        joints. parameters: values that replace the model's.
    Everything takes one state, or rows of states, and is compiled at its first use. Inputs of the model are zero,
    and first-order states have their initial values.
    """
    return Robot(model, order, parameters)


class Robot:
    """A robot with arrays in one order; `robot.order` converts, `robot.model` is the mechanism."""

    def __init__(
        self, model: MechanismSource, convention: Convention | str, parameters: Mapping[str, Scalar] | None
    ) -> None:
        self.model = mechanism_of(model)
        if depends_on_time(self.model):
            what = f"{self.model.name} depends on time, which the calls of a robot do not take"
            raise ModelError(what, remedy="compile its quantities with kg.compile")
        self.order: JointOrder = order(self.model, convention)
        self._parameters = dict(parameters or {})
        values = dict(parameter_values(self.model, self._parameters))
        self._configurations = Configurations(self.model, self.order, values)
        #: The mass of all bodies that move, as for `com`.
        self.mass = float(sum(number(body.inertia.mass, values) for body in _moving_bodies(self.model)))
        self._still = np.zeros(self.nv)
        self._usual = dict(zip(self.model.layout.states, initial_states(self.model, values), strict=True))
        self._kernels: dict[str, Kernel] = {}
        self._arguments: dict[str, tuple[tuple[str, Floats], ...]] = {}

    def __repr__(self) -> str:
        return (
            f"<Robot {self.model.name}: {self.nq} positions, {self.nv} velocities, order {self.order.convention.value}>"
        )

    @property
    def nq(self) -> int:
        """The number of entries of q."""
        return len(self.order.positions)

    @property
    def nv(self) -> int:
        """The number of entries of v and tau."""
        return len(self.order.velocities)

    # any quantity, by its word

    def kernel(self, quantities: str) -> Kernel:
        """The compiled code of quantities; its arrays are in the order of the model."""
        if quantities not in self._kernels:
            self._kernels[quantities] = compile_quantities(self.model, quantities, parameters=self._parameters)
        return self._kernels[quantities]

    def _own(self, word: str, **given: Floats) -> Floats:
        """A quantity of arrays in the order of the model; inputs are zero, first-order states as the model says."""
        kernel = self.kernel(word)
        if word not in self._arguments:
            if any(one.name == Variables.INPUTS for one in kernel.arguments):
                tell_of_unknowns(self.model)
            self._arguments[word] = tuple(
                (one.name, np.array([self._usual.get(symbol.name, 0.0) for symbol in one.symbols]))
                for one in kernel.arguments
            )
        values = [given.get(name, zero) for name, zero in self._arguments[word]]
        many = max((value.ndim for value in values), default=1) == 2
        found: Floats = kernel.batch(*values) if many else kernel(*values)
        return found

    def _state(self, q: ArrayLike, v: ArrayLike | None = None) -> dict[str, Floats]:
        own = {"q": self.order.from_q(q)}
        return own if v is None else {**own, "v": self.order.from_last(own["q"], v)}

    def _motion(self, q: ArrayLike, v: ArrayLike, a: ArrayLike | None = None) -> dict[str, Floats]:
        state = self._state(q, v)
        return {**state, "a": self.order.from_a(state["q"], v, self._still if a is None else a)}

    # dynamics

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, wrenches: Wrenches | None = None) -> Floats:
        """tau that causes the accelerations, while wrenches act: force and moment at a frame's origin, fixed axes."""
        motion = self._motion(q, v, a)
        return self.order.to_last(motion["q"], self._own("tau", **motion) - self._forces(motion["q"], wrenches))

    def forward_dynamics(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, wrenches: Wrenches | None = None
    ) -> Floats:
        """The accelerations that tau and wrenches cause."""
        state = self._state(q, v)
        force = self.order.from_last(state["q"], tau) + self._forces(state["q"], wrenches)
        return self.order.to_a(state["q"], state["v"], self._own("qdd", **state, tau=force))

    def mass_matrix(self, q: ArrayLike) -> Floats:
        """The inertia matrix."""
        own = self._state(q)
        return self.order.to_both(own["q"], self._own("H", **own))

    def inverse_mass_matrix(self, q: ArrayLike) -> Floats:
        """The inverse of the inertia matrix; with constraints, on what these allow."""
        own = self._state(q)
        return self.order.to_both(own["q"], self._own("d(qdd)/d(tau)", **own))

    def gravity(self, q: ArrayLike, *, wrenches: Wrenches | None = None) -> Floats:
        """The forces that hold the robot at rest against gravity and wrenches."""
        own = self._state(q)
        return self.order.to_last(own["q"], self._own("gravity", **own) - self._forces(own["q"], wrenches))

    def bias(self, q: ArrayLike, v: ArrayLike) -> Floats:
        """tau at zero acceleration: velocity forces, gravity and elements."""
        motion = self._motion(q, v)
        return self.order.to_last(motion["q"], self._own("tau", **motion))

    def coriolis(self, q: ArrayLike, v: ArrayLike) -> Floats:
        """A matrix that gives the velocity forces when multiplied by v."""
        state = self._state(q, v)
        found = self.order.to_both(state["q"], self._own("coriolis", **state))
        return found + self.mass_matrix(q) @ self._axes_turn(np.asarray(v, dtype=float)) if self.order.free else found

    def _forces(self, q: Floats, wrenches: Wrenches | None) -> Floats:
        """The generalized forces of wrenches, in the order of the model."""
        total = self._still
        for frame, wrench in (wrenches or {}).items():
            given = np.asarray(wrench, dtype=float)
            if given.shape[-1:] != (6,):
                what = f"the wrench on {frame} needs 6 numbers, found an array of shape {given.shape}"
                raise ModelError(what, remedy="give the force, then the moment, in fixed axes")
            total = total + np.einsum("...ij,...i->...j", self._own(f"jacobian:{frame}", q=q), given)
        return total

    def _axes_turn(self, v: Floats) -> Floats:
        """K with K v = w x v for velocities in body axes, zero elsewhere."""
        found = np.zeros((*v.shape, v.shape[-1]))
        for one in self.order.free:
            linear = slice(one.velocity, one.velocity + 3)
            found[..., linear, linear] = skew(v[..., one.velocity + 3 : one.velocity + 6])
        return found

    # derivatives

    def inverse_dynamics_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> tuple[Floats, Floats, Floats]:
        """The derivatives of tau by displacements, by v and by a."""
        motion = self._motion(q, v, a)
        by_q, by_v, by_a = (
            self.order.to_both(motion["q"], self._own(f"d(tau)/d({by})", **motion)) for by in ("dq", "v", "a")
        )
        speed, rate = np.asarray(v, dtype=float), np.asarray(a, dtype=float)
        tau = self.order.to_last(motion["q"], self._own("tau", **motion)) if self.order.free else by_q[..., 0]
        for one in self.order.free:
            linear, angular = slice(one.velocity, one.velocity + 3), slice(one.velocity + 3, one.velocity + 6)
            transport = skew(speed[..., angular])
            total = rate[..., linear] + np.cross(speed[..., angular], speed[..., linear])
            by_q[..., :, angular] -= by_v[..., :, linear] @ skew(speed[..., linear]) + by_a[..., :, linear] @ skew(
                total
            )
            by_q[..., linear, angular] += skew(tau[..., linear])
            change = by_a[..., :, linear].copy()
            by_v[..., :, linear] += change @ transport
            by_v[..., :, angular] -= change @ skew(speed[..., linear])
        return by_q, by_v, by_a

    def forward_dynamics_derivatives(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> tuple[Floats, Floats, Floats]:
        """The derivatives of the accelerations by displacements, by v and by tau."""
        if is_constrained(self.model):
            what = f"{self.model.name} has loops or constraints"
            raise TaskError(f"{what}: compile d(qdd)/d(dq), d(qdd)/d(v) and d(qdd)/d(tau) with kg.compile")
        by_q, by_v, _ = self.inverse_dynamics_derivatives(q, v, self.forward_dynamics(q, v, tau))
        inverse = self.inverse_mass_matrix(q)
        return -inverse @ by_q, -inverse @ by_v, inverse

    # energy, center of mass, momentum

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike) -> Floats:
        """Of all bodies, and of armature."""
        return self._own("energy", **self._state(q, v))[..., 0]

    def potential_energy(self, q: ArrayLike) -> Floats:
        """Of gravity and of elements; zero with all mass at the fixed origin."""
        return self._own("energy", **self._state(q))[..., 1]

    def com(self, q: ArrayLike) -> Floats:
        """The center of mass of all bodies that move."""
        return self._own("com", **self._state(q))

    def com_jacobian(self, q: ArrayLike) -> Floats:
        """The 3 x n matrix from v to the velocity of the center of mass."""
        own = self._state(q)
        return self._columns(own["q"], self._own("com_jacobian", **own))

    def com_velocity(self, q: ArrayLike, v: ArrayLike) -> Floats:
        """The velocity of the center of mass."""
        return self._own("com_velocity", **self._state(q, v))

    def com_acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike | None = None) -> Floats:
        """The acceleration of the center of mass; without a, its bias: that at a = 0."""
        return self._own("com_acceleration", **self._motion(q, v, a))

    def centroidal_momentum(self, q: ArrayLike, v: ArrayLike) -> Floats:
        """Linear momentum, then angular momentum about the center of mass."""
        return self._own("centroidal_momentum", **self._state(q, v))

    def centroidal_matrix(self, q: ArrayLike) -> Floats:
        """The 6 x n matrix from v to the centroidal momentum."""
        own = self._state(q)
        return self._columns(own["q"], self._own("centroidal_matrix", **own))

    def centroidal_rate(self, q: ArrayLike, v: ArrayLike, a: ArrayLike | None = None) -> Floats:
        """The rate of the centroidal momentum; without a, its bias: that at a = 0."""
        motion = self._motion(q, v, a)
        matrix = self._own("centroidal_matrix", q=motion["q"])
        return self._own("centroidal_bias", **motion) + (matrix @ motion["a"][..., None])[..., 0]

    def _columns(self, q: Floats, matrix: Floats) -> Floats:
        return self.order.to_last(q, matrix)

    # frames

    def pose(self, frame: str, q: ArrayLike) -> Floats:
        """The 4 x 4 matrix of a body or output point."""
        return self._own(f"pose:{frame}", **self._state(q))

    def jacobian(self, frame: str, q: ArrayLike, reference: Reference | str = Reference.ALIGNED) -> Floats:
        """The 6 x n matrix from v to velocity and angular velocity; reference: "aligned", "local" or "world"."""
        own = self._state(q)
        return self._columns(own["q"], self._own(_reference(reference).word("jacobian", frame), **own))

    def jacobian_rate(
        self, frame: str, q: ArrayLike, v: ArrayLike, reference: Reference | str = Reference.ALIGNED
    ) -> Floats:
        """The derivative of the Jacobian by time."""
        state = self._state(q, v)
        found = self._columns(state["q"], self._own(_reference(reference).word("jacobian_rate", frame), **state))
        transport = self._axes_turn(np.asarray(v, dtype=float))
        return found + self.jacobian(frame, q, reference) @ transport if self.order.free else found

    def velocity(
        self, frame: str, q: ArrayLike, v: ArrayLike, reference: Reference | str = Reference.ALIGNED
    ) -> Floats:
        """Velocity and angular velocity of a frame."""
        return self._own(_reference(reference).word("velocity", frame), **self._state(q, v))

    def acceleration(
        self, frame: str, q: ArrayLike, v: ArrayLike, a: ArrayLike | None = None,
        reference: Reference | str = Reference.ALIGNED,
    ) -> Floats:  # fmt: skip
        """Acceleration and angular acceleration of a frame; in "world" the spatial one. Without a, that at a = 0."""
        return self._own(_reference(reference).word("acceleration", frame), **self._motion(q, v, a))

    def spatial_acceleration(self, frame: str, q: ArrayLike, v: ArrayLike, a: ArrayLike | None = None) -> Floats:
        """The spatial acceleration in the axes of the frame, at its origin."""
        return self._own(f"spatial_acceleration:{frame}@{frame}", **self._motion(q, v, a))

    def operational_inertia(self, frame: str, q: ArrayLike) -> Floats:
        """The 6 x 6 inertia that a wrench on a frame meets; TaskError where the frame cannot move in all directions."""
        mobility = self._own(f"operational_mobility:{frame}", **self._state(q))
        if np.any(np.linalg.cond(mobility) > _SINGULAR):
            raise TaskError(
                f"{frame} cannot move in all six directions there, so it has no operational-space inertia\n"
                "  take the quantity operational_mobility, its inverse, which exists in every position"
            )
        found: Floats = np.linalg.inv(mobility).astype(np.float64, copy=False)
        return found

    # configurations

    def neutral(self) -> Floats:
        """All coordinates zero, all quaternions without rotation."""
        return self._configurations.neutral

    def random(self, seed: int = 0, count: int | None = None) -> Floats:
        """Random positions within the limits; `count` rows of them."""
        return self._configurations.random(generator(seed), count)

    def integrate(self, q: ArrayLike, displacement: ArrayLike) -> Floats:
        """The positions after a displacement, such as a velocity times a time step."""
        return self._configurations.integrate(np.asarray(q, dtype=float), np.asarray(displacement, dtype=float))

    def difference(self, start: ArrayLike, end: ArrayLike) -> Floats:
        """The displacement from start to end."""
        return self._configurations.difference(np.asarray(start, dtype=float), np.asarray(end, dtype=float))

    def interpolate(self, start: ArrayLike, end: ArrayLike, fraction: float) -> Floats:
        """The positions at a fraction (0 to 1) of the way from start to end."""
        return self.integrate(start, fraction * self.difference(start, end))

    def distance(self, start: ArrayLike, end: ArrayLike) -> Floats:
        """The length of the displacement from start to end."""
        found: Floats = np.sqrt(np.sum(self.difference(start, end) ** 2, axis=-1))
        return found

    def normalize(self, q: ArrayLike) -> Floats:
        """Positions with quaternions of unit length."""
        return self._configurations.normalized(np.asarray(q, dtype=float))

    def position_limits(self) -> tuple[Floats, Floats]:
        """Lower and upper limits of q, infinite where there are none."""
        return self._configurations.position_limits()

    def velocity_limits(self) -> Floats:
        """The largest magnitude of each velocity."""
        return self._configurations.drive_limits("velocity")

    def effort_limits(self) -> Floats:
        """The largest magnitude of each entry of tau."""
        return self._configurations.drive_limits("effort")

    # tasks

    def ik(self, frame: str, pose: ArrayLike, **options: Option) -> PoseSolutions:
        """All positions with a pose, within the file's limits; q of the solutions is in the order of the model."""
        from kinegraph.tasks.inverse_kinematics import inverse_kinematics

        wanted = np.asarray(pose, dtype=float)
        return inverse_kinematics(self.model, frame, wanted, parameters=self._parameters or None, **options)

    def simulator(self, **options: Option) -> Simulator | Simulators:
        """`kg.simulator` of this robot; its arrays are in the order of the model."""
        from kinegraph.simulate.simulator import simulator

        return simulator(self.model, parameters=self._parameters or None, **options)

    def view(self, path: str | Path | None = None) -> Path:
        """A page with a slider for each coordinate."""
        from kinegraph.view.view import view

        return view(self.model, path, self._parameters or None)


#: What is handed on to a function that gives it a type.
Option: TypeAlias = Any

#: The condition number beyond which a matrix is called singular.
_SINGULAR = 1e12


def _moving_bodies(mechanism: Mechanism) -> list[Body]:
    """The bodies that a coordinate moves."""
    positions, bodies = set(mechanism.layout.positions), {body.name: body for body in mechanism.bodies}

    def moves(body: Body | None) -> bool:
        while body is not None:
            if any(positions & names(one) for transform in body.transforms for one in _expressions(transform)):
                return True
            body = bodies.get(body.base or "")
        return False

    return [body for body in mechanism.bodies if moves(body)]


def _expressions(transform: Transform) -> tuple[Expression, ...]:
    match transform:
        case Rotation(_, angle):
            return (angle,)
        case Shift(_, distance):
            return (distance,)
        case Quaternion(components):
            return components


def _reference(reference: Reference | str) -> Reference:
    return one_of(Reference, reference, "reference", ModelError)
