"""Random trees with a handful of random elements of every kind, the same for the same seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from kinegraph.model import validate
from kinegraph.model.axes import Axes
from kinegraph.model.elements import (
    RATE,
    STRETCH,
    Anchor,
    Damper,
    Element,
    EnergyLaw,
    Force,
    ForceLaw,
    Friction,
    Input,
    Limit,
    Linear,
    Moment,
    PointForce,
    Potential,
    Span,
    Spring,
    Target,
    Triple,
)
from kinegraph.model.expressions import Call, Expression, Name, expression
from kinegraph.model.mechanism import Axis, Mechanism, Point, Rotation
from tests.mechanisms import random_tree

T = Name("t")


def random_loaded_tree(seed: int, bodies: int, count: int = 6, kinds: tuple[str, ...] = ()) -> Mechanism:
    """A random tree, two output points, two inputs, and `count` elements (of some kinds only, if given)."""
    random = Random(1000 + seed)
    bare = random_tree(seed, bodies)
    makers = [_MAKERS[kind] for kind in kinds or _MAKERS]
    draw = _Draw(random, bare)
    turned = (Rotation(Axis.Y, expression(0.4)),)  # axes of points bear on no element
    points = (Point("tip", draw.body(), draw.triple()), Point("end", draw.body(), draw.triple(), turned))
    elements = [random.choice(makers)(draw, f"E{index}") for index in range(count)]
    inputs = (Input("u1"), Input("u2", 0.5 * sine(3 * T)))
    mechanism = replace(bare, points=points, elements=tuple(elements), inputs=inputs)
    validate(mechanism)
    return mechanism


def sine(argument: Expression) -> Expression:
    return Call("sin", (argument,))


class _Draw:
    def __init__(self, random: Random, mechanism: Mechanism) -> None:
        self.random = random
        self.mechanism = mechanism

    def number(self, low: float = -1, high: float = 1) -> Expression:
        return expression(round(self.random.uniform(low, high), 3))

    def triple(self) -> Triple:
        return self.number(), self.number(), self.number()

    def body(self) -> str:
        """A body that moves with some coordinate: the last of a chain most likely does."""
        return self.random.choice(self.mechanism.bodies).name

    def anchor(self) -> Anchor:
        return self.random.choice([Anchor("tip"), Anchor("end"), Anchor(self.body(), self.triple())])

    def span(self) -> Span:
        x, y, z = self.triple()
        fixed = Anchor(None, (x + 3, y + 0.3 * sine(T), z))
        return Span(self.anchor(), fixed)

    def position(self) -> Expression:
        """An expression of positions, points and sometimes time."""
        names = [*self.mechanism.layout.positions, "tip.x", "end.y", "tip.z"]
        a, b, c = (Name(self.random.choice(names)) for _ in range(3))
        return self.random.choice([a, a - 0.5 * b, a * b + sine(c), a + 0.2 * b * T])

    def target(self) -> Target:
        return self.random.choice([self.span, self.position])()

    def rate_target(self) -> Target:
        names = [*self.mechanism.layout.velocities, "tip.x'", "end.z'"]
        a, b = (Name(self.random.choice(names)) for _ in range(2))
        position = Name(self.random.choice(self.mechanism.layout.positions))
        rate = self.random.choice([a, a - 2 * b, position * a + 0.1 * b, a + 0.3 * T])
        return self.random.choice([self.target(), rate])

    def value(self) -> Expression:
        """A random expression of positions, velocities and inputs."""
        v = Name(self.random.choice(self.mechanism.layout.velocities))
        q = Name(self.random.choice(self.mechanism.layout.positions))
        return self.random.choice([self.number(), Name("u1") * q, Name("u2") + v, sine(T) * q, Name("tip.y'") - q])

    def axes(self) -> Axes:
        return self.random.choice([Axes.WORLD, Axes.BODY])


def _spring(d: _Draw, name: str) -> Spring:
    k = d.number(0.5, 3)
    laws = [
        Linear(k),
        Linear(k + 0.1 * T),
        ForceLaw(k * STRETCH + 0.3 * STRETCH**3 - 0.1 * (1 + STRETCH) ** 2),
        EnergyLaw(k * Call("cosh", (STRETCH,))),
    ]
    return Spring(name, d.target(), d.random.choice(laws), d.random.choice([d.number(), 0.2 * T]))


def _driven_spring(d: _Draw, name: str) -> Spring:
    law = d.random.choice([ForceLaw(2 * Call("sinh", (STRETCH,))), Linear(Name("u1"))])
    return Spring(name, d.target(), law, d.number())


def _damper(d: _Draw, name: str) -> Damper:
    laws = [Linear(d.number(0.1, 2)), Linear(d.value()), ForceLaw(0.4 * RATE * Call("abs", (RATE,)) + 0.1 * RATE)]
    return Damper(name, d.rate_target(), d.random.choice(laws))


def _point_force(d: _Draw, name: str) -> PointForce:
    return PointForce(name, d.anchor(), (d.value(), d.value(), d.number()), d.axes())


def _limit(d: _Draw, name: str) -> Limit:
    return Limit(name, d.target(), d.number(1, 5), d.number(-0.3, 0), d.number(0, 0.3) + 0.05 * T, d.number(0, 2))


_MAKERS: dict[str, Callable[[_Draw, str], Element]] = {
    "spring": _spring,
    "driven spring": _driven_spring,
    "damper": _damper,
    "friction": lambda d, n: Friction(n, d.rate_target(), d.number(0, 2), d.number(0, 1), d.number(0.1, 1)),
    "force": lambda d, n: Force(n, d.value(), d.rate_target()),
    "point force": _point_force,
    "moment": lambda d, n: Moment(n, d.body(), (d.value(), d.number(), d.value()), d.axes()),
    "potential": lambda d, n: Potential(n, d.number() * d.position() + sine(d.position())),
    "limit": _limit,
}
