"""Armature: on the diagonal of H, in tau and in the kinetic energy, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.derive.plan import ForwardMethod, Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.derive.tree.displacements import unit_quaternions
from kinegraph.graph.build import Scalar
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.graph.proof import prove
from kinegraph.io.language.reader import parse
from kinegraph.model.mechanism import ZERO, Mechanism

ARM = """
parameters J = 0.3;
coordinates p, q, s;
quaternion (e0, e1, e2, e3) velocity (wx, wy, wz);
gravity 0, 0, -9.81;
A | Rz(2*p) | Sx(0.5), m(1), Jx(0.1), Jy(0.2), Jz(0.2);
B~A | Sx(1), Ry(q) | Sx(0.5), m(2), Jx(0.1), Jy(0.2), Jz(0.3), Jxy(0.01);
C~B | Sx(1), Sz(s) | m(0.5), Jx(0.1), Jy(0.1), Jz(0.1);
D~C | Q(e0, e1, e2, e3) | Sy(0.2), m(0.4), Jx(0.02), Jy(0.01), Jz(0.02);
"""
STATED = "armature p = J, q = 0.7*J^2, s = 0.25, (wx, wy, wz) = 0.05;"


@pytest.fixture(scope="module")
def arm() -> Mechanism:
    return parse(ARM + STATED)


def bare(mechanism: Mechanism) -> Mechanism:
    return replace(mechanism, coordinates=tuple(replace(c, armature=ZERO) for c in mechanism.coordinates))


def equal(mechanism: Mechanism, first: Derivation, left: list[Scalar], second: Derivation, right: list[Scalar]) -> None:
    def graph(derivation: Derivation, values: list[Scalar]) -> Graph:
        return derivation.builder.graph([Output("x", (len(values),), tuple(value.index for value in values))])

    prove(graph(first, left), graph(second, right), quaternions=unit_quaternions(mechanism)).require()


def values(derivation: Derivation, word: str) -> list[Scalar]:
    return [Scalar(derivation.builder, node) for node in derivation.output(Quantity.parse(word)).nodes]


def test_it_is_on_the_diagonal_and_nowhere_else(arm: Mechanism) -> None:
    """Proved: the difference to the bodies alone is J a in tau, J on the diagonal of H, 1/2 J v^2 in the energy."""
    full, plain = Derivation(arm, {}, Plan()), Derivation(bare(arm), {}, Plan())
    inertia = [plain.names.scalar(item) for item in arm.armature]
    a = [Scalar(plain.builder, plain.builder.symbol(Kind.ACCELERATION, name)) for name in arm.layout.accelerations]
    v = [Scalar(plain.builder, plain.builder.symbol(Kind.VELOCITY, name)) for name in arm.layout.velocities]
    size = len(v)

    tau = [force + own * gain for force, own, gain in zip(values(plain, "tau"), inertia, a, strict=True)]
    equal(arm, full, values(full, "tau"), plain, tau)
    entries = values(plain, "H")
    for index, own in enumerate(inertia):
        entries[index * size + index] = entries[index * size + index] + own
    equal(arm, full, values(full, "H"), plain, entries)
    equal(arm, full, values(full, "d(tau)/d(a)"), plain, entries)
    kinetic, potential = values(plain, "energy")
    for own, rate in zip(inertia, v, strict=True):
        kinetic = kinetic + own * rate**2 / 2
    equal(arm, full, values(full, "energy"), plain, [kinetic, potential])
    for word in ("momentum", "bias", "gravity", "C", "coriolis", "forces", "d(tau)/d(dq)", "d(tau)/d(v)"):
        equal(arm, full, values(full, word), plain, values(plain, word))


def test_both_ways_to_accelerations_agree(arm: Mechanism) -> None:
    ways = [Derivation(arm, {}, Plan(forward=way)) for way in ForwardMethod]
    equal(arm, ways[0], values(ways[0], "qdd"), ways[1], values(ways[1], "qdd"))


def test_its_parameters_stand_in_the_regressor(arm: Mechanism) -> None:
    """The first joint cannot tell its armature from its link's moment of inertia, nor can the second, across it."""
    derivation = Derivation(arm, {}, Plan())
    base = derivation.base_parameters
    names = {parameter.name for parameter in base.parameters}
    found = {name for name in names if name.startswith("armature")}
    assert base.minimal and found == {"armature:s", "armature:(wx, wy, wz)"}
    products = [
        sum((entry * one.value for entry, one in zip(row, base.parameters, strict=True)), start=derivation.zero)
        for row in base.matrix
    ]
    equal(arm, derivation, values(derivation, "tau"), derivation, products)


def test_a_joint_without_mass_moves_its_armature_alone() -> None:
    massless = parse("coordinates q; armature q = 2; A | Rz(q);")
    assert kg.compile(massless, "qdd")([0.3], [0.1], [3.0]) == pytest.approx(1.5)
    loops = kg.compile(massless, "qdd", loops=True)
    assert loops([0.3], [0.1], [3.0]) == pytest.approx(1.5)


def test_hamiltons_equations_count_it(arm: Mechanism) -> None:
    start = {"p'": 0.4, "q'": -0.3, "s'": 0.2, "wx": 1.0, "wy": 0.5}
    adaptive = kg.simulate(arm, 0.2, state=start, times=2)
    symplectic = kg.simulate(arm, 0.2, state=start, method="symplectic", step=0.005, times=2)
    first, second = (np.array([run[name][-1] for name in arm.layout.positions]) for run in (adaptive, symplectic))
    assert np.abs(first - second).max() < 1e-6
