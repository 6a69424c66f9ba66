"""Closed forms and published numbers."""

import json
from pathlib import Path

import numpy as np
import pytest

from kinegraph.model.expressions import Name, expression
from kinegraph.model.mechanism import (
    ZERO,
    Axis,
    Body,
    Coordinate,
    Inertia,
    Mechanism,
    Parameter,
    Quaternion,
    QuaternionCoordinates,
    Rotation,
    Shift,
)
from kinegraph.recursive.systems import RecursiveSystem

RBDL = json.loads((Path(__file__).parents[1] / "data" / "rbdl_small_trees.json").read_text())


def shifts(offset):
    return tuple(Shift(axis, expression(x)) for axis, x in zip(Axis, offset, strict=True) if x)


def rbdl_tree(case):
    bodies = []
    for index, body in enumerate(case["bodies"], start=1):
        moments = [expression(moment) for moment in body.get("I", (1, 1, 1))]
        inertia = Inertia(expression(1), *moments, central=shifts(body["com"]))
        hinge = Rotation(Axis[body["axis"].upper()], Name(f"q{index}"))
        base = f"B{body['parent']}" if body["parent"] else None
        bodies.append(Body(f"B{index}", base, (*shifts(body["offset"]), hinge), inertia))
    coordinates = tuple(Coordinate(f"q{index + 1}") for index in range(len(bodies)))
    x, y, z = (expression(g) for g in RBDL["gravity"])
    return Mechanism("rbdl", tuple(bodies), coordinates, gravity=(x, y, z))


@pytest.mark.parametrize("name", RBDL["cases"])
def test_rbdl_trees(name):
    case = RBDL["cases"][name]
    rest = np.zeros(len(case["qdd"]))
    np.testing.assert_allclose(RecursiveSystem(rbdl_tree(case)).qdd(rest, rest, rest), case["qdd"], rtol=0, atol=1e-13)


def double_pendulum():
    """Point masses m1, m2 on massless rods l1, l2, relative angles about y, gravity along -z."""
    bodies = (
        Body("A", None, (Rotation(Axis.Y, Name("a")), Shift(Axis.Z, -Name("l1"))), Inertia(Name("m1"))),
        Body("B", "A", (Rotation(Axis.Y, Name("b")), Shift(Axis.Z, -Name("l2"))), Inertia(Name("m2"))),
    )
    parameters = tuple(Parameter(name) for name in ("m1", "m2", "l1", "l2", "g"))
    coordinates = (Coordinate("a"), Coordinate("b"))
    return Mechanism("double-pendulum", bodies, coordinates, parameters, (ZERO, ZERO, -Name("g")))


def test_double_pendulum_in_closed_form():
    m1, m2, l1, l2, g = 1.3, 0.7, 0.9, 1.1, 9.81
    system = RecursiveSystem(double_pendulum(), {"m1": m1, "m2": m2, "l1": l1, "l2": l2, "g": g})
    a, b, va, vb = 0.7, -0.4, 1.3, 0.9
    c, s = np.cos(b), np.sin(b)
    H = np.array(
        [
            [m1 * l1**2 + m2 * (l1**2 + 2 * l1 * l2 * c + l2**2), m2 * (l1 * l2 * c + l2**2)],
            [m2 * (l1 * l2 * c + l2**2), m2 * l2**2],
        ]
    )
    coriolis = m2 * l1 * l2 * s * np.array([-2 * va * vb - vb**2, va**2])
    outer = m2 * l2 * np.sin(a + b)
    gravity = g * np.array([(m1 + m2) * l1 * np.sin(a) + outer, outer])
    potential = -g * ((m1 + m2) * l1 * np.cos(a) + m2 * l2 * np.cos(a + b))
    q, v, acceleration = np.array([a, b]), np.array([va, vb]), np.array([0.3, -0.8])
    tau = H @ acceleration + coriolis + gravity
    np.testing.assert_allclose(system.tau(q, v, acceleration), tau, rtol=1e-14)
    np.testing.assert_allclose(system.qdd(q, v, tau), acceleration, rtol=1e-13)
    np.testing.assert_allclose(system.energy(q, v), (v @ H @ v / 2, potential), rtol=1e-14)


def free_body():
    quaternion = QuaternionCoordinates(("e0", "e1", "e2", "e3"), ("wx", "wy", "wz"))
    place = tuple(Shift(axis, Name(axis.name.lower())) for axis in Axis)
    turn = Quaternion((Name("e0"), Name("e1"), Name("e2"), Name("e3")))
    body = Body("Body", None, (*place, turn), Inertia(*(expression(value) for value in (2, 1, 2, 3))))
    coordinates = (*(Coordinate(axis.name.lower()) for axis in Axis), quaternion)
    return Mechanism("free", (body,), coordinates, gravity=(ZERO, ZERO, expression(-9.81)))


def test_free_body_obeys_newton_and_euler():
    system, J = RecursiveSystem(free_body()), np.array([1.0, 2.0, 3.0])
    q = np.array([0.3, -0.2, 0.5, 0.1, 0.7, -0.5, 0.5])
    v = np.array([0.4, 1.0, -2.0, 0.01, 1.0, 0.01])
    force, moment, w = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.2, -0.1]), v[3:]
    found = system.qdd(q, v, np.concatenate((force, moment)))
    np.testing.assert_allclose(found[:3], force / 2 + [0, 0, -9.81], rtol=1e-14)
    np.testing.assert_allclose(found[3:], (moment - np.cross(w, J * w)) / J, rtol=1e-14)
    assert system.energy(q, v) == pytest.approx((v[:3] @ v[:3] + J * w @ w / 2, 2 * 9.81 * q[2]), rel=1e-14)


@pytest.mark.soak
def test_dzhanibekov_rotation():
    """Jacobi's closed form at t = 5 and 10 (reference/trees_and_tops/free_rigid_body.json), by Runge-Kutta."""
    system = RecursiveSystem(free_body())
    q, w, h = np.array([0, 0, 0, 1.0, 0, 0, 0]), np.array([0.01, 1.0, 0.01]), 0.005
    none = np.zeros(6)
    rate = lambda w: system.qdd(q, np.concatenate((none[:3], w)), none)[3:]  # noqa: E731
    found = {}
    for step in range(2000):
        k1 = rate(w)
        k2 = rate(w + h / 2 * k1)
        k3 = rate(w + h / 2 * k2)
        w = w + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(w + h * k3))
        found[step + 1] = w
    np.testing.assert_allclose(found[1000], (-0.06482961698688602, 0.997946451850666, 0.03830961253900619), atol=1e-9)
    np.testing.assert_allclose(found[2000], (-0.8745734378910937, 0.4849961873410485, 0.5050012205479133), atol=1e-9)
