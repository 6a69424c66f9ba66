"""Forces of the surrounding fluid on MJCF bodies: MuJoCo's inertia-box model and its ellipsoid model.

MuJoCo's documentation describes both under "Passive forces, fluid". Forces depend on the velocity of the body relative
to the wind, in the axes of its inertia or of its geom. Added mass acts through velocities only, as in MuJoCo.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from kinegraph.io.mjcf.geoms import Geom
from kinegraph.io.mjcf.moments import along_principal_axes
from kinegraph.io.mjcf.settings import FluidSettings
from kinegraph.io.mjcf.tendon_paths import scalar_product
from kinegraph.io.mjcf.transforms import cleaned
from kinegraph.io.robot.xml import numbers
from kinegraph.model.axes import Axes
from kinegraph.model.constraints import Frame
from kinegraph.model.elements import Anchor, Moment, PointForce, Triple
from kinegraph.model.evaluate import number
from kinegraph.model.expressions import Call, Expression, Name, Number
from kinegraph.model.joint_models import length
from kinegraph.model.mechanism import ONE, ZERO, Axis, Inertia, Shift
from kinegraph.model.poses import pose
from kinegraph.model.robot_data import FLUID, PassiveElement

_LEAST = 1e-15  # MuJoCo's smallest divisor, and the smallest mass on which the fluid acts
_SMALLEST = 1e-14  # of divisors in the coefficients of virtual inertia
_COEFFICIENTS = (0.5, 0.25, 1.5, 1.0, 1.0)  # the default of fluidcoef

Vector = tuple[Expression, Expression, Expression]
Three = Sequence[float]


@dataclass(frozen=True)
class FluidForces:
    """Forces of the fluid; `point` gives a frame the name of an output point."""

    fluid: FluidSettings
    point: Callable[[str, Frame], str]

    def on_box(self, body: str, inertia: Inertia) -> Iterator[PassiveElement]:
        """The forces on a body as a box with the same inertia."""
        principal = along_principal_axes(inertia)
        mass = number(principal.mass, {})
        if mass < _LEAST:
            return
        moments = np.array([number(item, {}) for item in (principal.Jx, principal.Jy, principal.Jz)])
        box = np.sqrt(np.maximum(_LEAST, moments.sum() - 2 * moments) / mass * 6)
        frame = Frame(body, principal.central)
        omega, velocity = self._motion(body, frame)
        yield from _wrench(frame, *self._box(box.tolist(), omega, velocity))

    def _box(self, box: Three, omega: Vector, velocity: Vector) -> tuple[Vector, Vector]:
        """Moment and force: Stokes drag of a sphere, and quadratic drag of each face."""
        diameter, density, viscosity = sum(box) / 3, self.fluid.density, self.fluid.viscosity
        moment, force = [], []
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            around = density * box[i] * (box[j] ** 4 + box[k] ** 4) / 64
            across = density * box[j] * box[k] / 2
            moment.append(_drag(omega[i], math.pi * diameter**3 * viscosity, around))
            force.append(_drag(velocity[i], 3 * math.pi * diameter * viscosity, across))
        return _vector(moment), _vector(force)

    def on_ellipsoid(self, label: str, frame: Frame, geom: Geom) -> Iterator[PassiveElement]:
        """The forces on a geom as an ellipsoid."""
        axes = _half_axes(geom.kind, geom.primitive.sizes)
        omega, velocity = self._motion(label, frame)
        written = [float(item.value) for item in numbers(geom.element, "fluidcoef") or ()]
        coefficients = (*written, *_COEFFICIENTS[len(written) :])
        moment, force = self._added_mass(axes, omega, velocity)
        twist, push = self._ellipsoid(axes, coefficients, omega, velocity)
        yield from _wrench(frame, _plus(moment, twist), _plus(force, push))

    def _added_mass(self, axes: Three, omega: Vector, velocity: Vector) -> tuple[Vector, Vector]:
        masses, inertias = virtual_inertia(axes)
        momentum = _vector(
            [_scaled(self.fluid.density * one, item) for one, item in zip(masses, velocity, strict=True)]
        )
        spin = _vector([_scaled(self.fluid.density * one, item) for one, item in zip(inertias, omega, strict=True)])
        return _plus(_cross(momentum, velocity), _cross(spin, omega)), _cross(momentum, omega)

    def _ellipsoid(self, axes: Three, coefficients: Three, omega: Vector, velocity: Vector) -> tuple[Vector, Vector]:
        """Moment and force of drag, of Magnus lift and of Kutta lift."""
        blunt, slender, angular, kutta, magnus = coefficients
        density, viscosity = self.fluid.density, self.fluid.viscosity
        small, middle, large = sorted(axes)
        speed = length(velocity)
        faces = [axes[(i + 1) % 3] * axes[(i + 2) % 3] for i in range(3)]
        squares = [item * item for item in velocity]
        normal = _vector([_scaled(face**2, item) for face, item in zip(faces, velocity, strict=True)])
        along = _sum([_scaled(face**2, item) for face, item in zip(faces, squares, strict=True)])
        across = _sum([_scaled(face**4, item) for face, item in zip(faces, squares, strict=True)])
        area = _scaled(math.pi, Call("sqrt", (across / _at_least(along) + Number(Fraction(1, 10**200)),)))
        cosine = along / _at_least(speed * across)
        lift = _scaled(kutta * density, cosine * area)
        circulation = _vector([lift * item for item in _cross(normal, velocity)])
        volume = 4 / 3 * math.pi * small * middle * large
        spun = _vector([_scaled(magnus * density * volume, item) for item in _cross(omega, velocity)])
        lifted = _plus(_cross(circulation, velocity), spun)
        sphere = 2 / 3 * sum(axes)
        widest = math.pi * large * middle
        drag = _scaled(density, speed * (_scaled(blunt - slender, area) + _number(slender * widest)))
        drag = drag + _number(viscosity * 3 * math.pi * sphere)
        most = _disk(middle, large)
        own = [_disk(axes[i], max(axes[(i + 1) % 3], axes[(i + 2) % 3])) for i in range(3)]
        resisted = [_scaled(angular * one + slender * (most - one), item) for one, item in zip(own, omega, strict=True)]
        twist = _scaled(density, length(resisted)) + _number(viscosity * math.pi * sphere**3)
        moment = _vector([-(twist * item) for item in omega])
        return moment, _vector([up - drag * item for up, item in zip(lifted, velocity, strict=True)])

    def _motion(self, label: str, frame: Frame) -> tuple[Vector, Vector]:
        """Angular velocity, and velocity relative to the wind, in the axes of a frame.

        With the axes a, b, c of the frame in space, the angular velocity about a is b'.c.
        """
        origin = self.point(f"{label}_fluid", frame)
        ends = [
            self.point(f"{label}_fluid_{axis.name.lower()}", Frame(frame.body, (*frame.transforms, Shift(axis, ONE))))
            for axis in Axis
        ]
        axes = [_difference(end, origin, "") for end in ends]
        rates = [_difference(end, origin, "'") for end in ends]
        speed = [
            Name(f"{origin}.{letter}'") - _number(wind) if wind else Name(f"{origin}.{letter}'")
            for letter, wind in zip("xyz", self.fluid.wind, strict=True)
        ]
        omega = [scalar_product(rates[(i + 1) % 3], axes[(i + 2) % 3]) for i in range(3)]
        return _vector(omega), _vector([scalar_product(axis, speed) for axis in axes])


def virtual_inertia(axes: Three) -> tuple[list[float], list[float]]:
    """The virtual mass and moment of inertia of an ellipsoid in a fluid of density one, along and about each axis."""
    volume = 4 / 3 * math.pi * math.prod(axes)
    kappa = [_kappa(axes[i], axes[(i + 1) % 3], axes[(i + 2) % 3]) for i in range(3)]
    masses, inertias = [], []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        apart, together = axes[j] ** 2 - axes[k] ** 2, axes[j] ** 2 + axes[k] ** 2
        below = abs(2 * apart + together * (kappa[j] - kappa[k]))
        inertias.append(volume * apart**2 * abs(kappa[k] - kappa[j]) / max(_SMALLEST, below) / 5)
        masses.append(volume * kappa[i] / max(_SMALLEST, 2 - kappa[i]))
    return masses, inertias


#: Nodes and weights of Kronrod's rule with 15 points on (-1, 1), the outermost first.
_NODES = (0.991455371120812639, 0.949107912342758525, 0.864864423359769073, 0.741531185599394440,
          0.586087235467691130, 0.405845151377397167, 0.207784955007898468, 0.0)  # fmt: skip
_WEIGHTS = (0.022935322010529225, 0.063092092629978553, 0.104790010322250184, 0.140653259715525919,
            0.169004726639267903, 0.190350578064785410, 0.204432940075298892, 0.209482141084727828)  # fmt: skip


def _kappa(a: float, b: float, c: float) -> float:
    """Lamb's integral of an ellipsoid along its half axis a, by Kronrod's rule.

    MuJoCo substitutes l = s x^3/(1 - x)^2 and rounds nodes and weights to eight digits, which forces show.
    """
    scale = (a**3 * b * c) ** 0.4
    total = 0.0
    for node, weight in zip((*_NODES, *(-item for item in _NODES[:-1])), (*_WEIGHTS, *_WEIGHTS[:-1]), strict=True):
        x = round((1 - node) / 2, 8)
        grown, slope = x**3 / (1 - x) ** 2, x**2 * (3 - x) / (1 - x) ** 3
        p, q, r = (1 + scale * grown / item**2 for item in (a, b, c))
        total += round(weight / 2, 8) * scale * slope / (p * math.sqrt(p * q * r))
    return total / a**2


def _half_axes(kind: str, sizes: Three) -> tuple[float, float, float]:
    """The half axes of the ellipsoid that a geom stands for."""
    match kind:
        case "sphere":
            return sizes[0], sizes[0], sizes[0]
        case "capsule":
            return sizes[0], sizes[0], sizes[0] + sizes[1]
        case "cylinder":
            return sizes[0], sizes[0], sizes[1]
    return sizes[0], sizes[1], sizes[2]


def _disk(thin: float, wide: float) -> float:
    return 8 / 15 * math.pi * thin * wide**4


def _wrench(frame: Frame, moment: Vector, force: Vector) -> Iterator[PassiveElement]:
    """A moment and a force at the origin of a frame, in its axes."""
    assert frame.body is not None
    rotation, position = pose(frame.transforms)
    x, y, z = cleaned(position)
    turned = [_rotated(rotation.tolist(), item) for item in (force, moment)]
    yield PassiveElement(frame.body, FLUID, PointForce("", Anchor(frame.body, (x, y, z)), turned[0], Axes.BODY))
    yield PassiveElement(frame.body, FLUID, Moment("", frame.body, turned[1], Axes.BODY))


def _rotated(rotation: Sequence[Three], vector: Vector) -> Triple:
    return _vector([scalar_product(cleaned(row), vector) for row in rotation])


def _difference(end: str, start: str, prime: str) -> list[Expression]:
    return [Name(f"{end}.{letter}{prime}") - Name(f"{start}.{letter}{prime}") for letter in "xyz"]


def _drag(rate: Expression, viscous: float, quadratic: float) -> Expression:
    """The force against a rate, linear and quadratic."""
    parts = ([_number(viscous)] if viscous else []) + ([_scaled(quadratic, Call("abs", (rate,)))] if quadratic else [])
    return -(_sum(parts) * rate) if parts else ZERO


def _number(value: float) -> Number:
    return Number(Fraction(repr(float(value))))


def _scaled(factor: float, item: Expression) -> Expression:
    return _number(factor) * item if factor and item != ZERO else ZERO


def _at_least(item: Expression) -> Expression:
    return Call("max", (item, _number(_LEAST)))


def _sum(items: Sequence[Expression]) -> Expression:
    return sum(items[1:], start=items[0])


def _plus(first: Vector, second: Vector) -> Vector:
    return _vector([one + other for one, other in zip(first, second, strict=True)])


def _cross(first: Vector, second: Vector) -> Vector:
    pairs = (((i + 1) % 3, (i + 2) % 3) for i in range(3))
    return _vector([first[j] * second[k] - first[k] * second[j] for j, k in pairs])


def _vector(items: Sequence[Expression]) -> Vector:
    x, y, z = items
    return x, y, z
