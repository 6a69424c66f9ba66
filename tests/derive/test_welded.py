"""Many welded bodies with rotated frames: exact numbers would grow with every body until they are too long."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from operator import mul

import numpy as np

import kinegraph as kg
from kinegraph.compiler.derive import Derivations
from kinegraph.compiler.reduce import reduced
from kinegraph.compiler.request import request_of
from kinegraph.derive.tree.expressions import Names
from kinegraph.derive.tree.links import build_tree
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.proof import prove
from kinegraph.io.mjcf.transforms import exact_quaternion, placed
from kinegraph.model import expression, number
from kinegraph.model.mechanism import Axis, Body, Inertia, Mechanism, Shift, Transform
from kinegraph.model.poses import pose
from tests.interpreted import interpreted

STATE = [0.4, -0.7]


def six(values: np.ndarray) -> str:
    return ", ".join(f"{value:.6g}" for value in values)


def welded(count: int, seed: int = 0) -> Mechanism:
    """Two hinges; on the first link so many bodies, the first half one on another, the others side by side."""
    random = np.random.default_rng(seed)
    text = "coordinates q1, q2; gravity 0, 1, -9.81; A | Ry(q1) | m(1), Jx(1), Jy(1), Jz(1);"
    for k in range(count):
        base = f"W{k - 1}" if 0 < k <= count // 2 else "A"
        places = [f"Sx({a:.6g}), Sy({b:.6g}), Sz({c:.6g})" for a, b, c in random.normal(0, 0.1, (2, 3))]
        turns = [f"Q({six(turn)})" for turn in random.normal(size=(2, 4))]
        inertia = f"m({random.uniform(0.1, 1):.6g}), Jx(0.0123457), Jy(0.0134568), Jz(0.0145679)"
        text += f"W{k}~{base} | {places[0]}, {turns[0]} | {places[1]}, {turns[1]}, {inertia};"
    return kg.parse(f"{text} B~W{count // 2} | Rx(q2) | Sy(0.3), m(1), Jx(1), Jy(1), Jz(1);")


def as_one_body(mechanism: Mechanism) -> Mechanism:
    """The same with the welded bodies added up in floating point, as one body on the first link."""
    frames: dict[str, tuple[Transform, ...]] = {"A": ()}
    for body in mechanism.bodies[1:-1]:
        frames[body.name] = (*frames[body.base or ""], *body.transforms)
    parts = [(body.inertia, *pose((*frames[body.name], *body.inertia.central))) for body in mechanism.bodies[1:-1]]
    masses = np.array([float(number(inertia.mass, {})) for inertia, _, _ in parts])
    center = masses @ np.array([place for _, _, place in parts]) / masses.sum()
    tensor = np.zeros((3, 3))
    for mass, (inertia, turn, place) in zip(masses, parts, strict=True):
        own = np.diag([float(number(item, {})) for item in (inertia.Jx, inertia.Jy, inertia.Jz)])
        r = place - center
        tensor += turn @ own @ turn.T + mass * (r @ r * np.eye(3) - np.outer(r, r))
    x, y, z = map(expression, center)
    diagonal = map(expression, np.diag(tensor))
    products = map(expression, (-tensor[0, 1], -tensor[1, 2], -tensor[0, 2]))
    total = Inertia(
        expression(masses.sum()), *diagonal, *products, (Shift(Axis.X, x), Shift(Axis.Y, y), Shift(Axis.Z, z))
    )
    first, *_, last = mechanism.bodies
    turn, place = pose(frames[last.base or ""])
    way = placed(place, [float(item.value) for item in exact_quaternion(turn)])
    one, moved = Body("W", "A", (), total), replace(last, base="A", transforms=(*way, *last.transforms))
    return replace(mechanism, bodies=(first, one, moved))


def test_a_hundred_welded_bodies() -> None:
    """They ended in a NumberSizeError."""
    mechanism = welded(100)
    found, expected = (interpreted(one, ["H", "gravity"])(STATE) for one in (mechanism, as_one_body(mechanism)))
    for name in ("H", "gravity"):
        assert np.allclose(found[name], expected[name], rtol=1e-12), name


def test_rounding_is_far_below_double_precision() -> None:
    """Places and moments against exact fractions; rotations are exactly rotations, so that plans are proved equal."""
    mechanism = welded(40)
    names = Names(GraphBuilder(), mechanism, {})
    rounded, exact = build_tree(mechanism, names), build_tree(mechanism, names, exact=True)
    for body, place in rounded.bodies.items():
        other = exact.bodies[body]
        pairs = zip(entries(place.rotation, place.position), entries(other.rotation, other.position), strict=True)
        assert all(abs(a - b) < Fraction(1, 10**27) for a, b in pairs), body
        rows = [[Fraction(entry.value or 0) for entry in row] for row in place.rotation]
        assert all(sum(map(mul, rows[i], rows[j])) == (i == j) for i in range(3) for j in range(3)), body
    for link, other_link in zip(rounded.links, exact.links, strict=True):
        pairs = zip(entries(link.moments[1:]), entries(other_link.moments[1:]), strict=True)
        assert all(abs(a - b) < Fraction(1, 10**26) for a, b in pairs)
    assert rounded.bodies["W20"] != exact.bodies["W20"] and rounded.bodies["W1"] == exact.bodies["W1"]
    derivations = Derivations(request_of(mechanism, "tau", numeric=True), cache=False)
    prove(derivations.at_once, reduced(derivations).graph).require()


def entries(*parts: Iterable) -> list[Fraction]:
    """The numbers of vectors and matrices."""
    flat = [item for part in parts for row in part for item in (row if isinstance(row, tuple) else (row,))]
    return [Fraction(item.value) for item in flat]
