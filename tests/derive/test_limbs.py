"""Limbs of equal structure in one form: the same equations, with formulas that differ only in symbols."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from kinegraph.codegen.simd.orbits import share_side_by_side
from kinegraph.compiler.request import bound_parameters
from kinegraph.derive.plan import InertiaMethod, Plan
from kinegraph.derive.quantities.derivation import Derivation, LoweredTrees
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.derive.tree.limbs import LimbsSideBySide
from kinegraph.graph.build import GraphBuilder, bind, flattened
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.graph.proof import prove
from kinegraph.io.language.reader import parse
from kinegraph.model.expressions import Name
from kinegraph.model.mechanism import Coordinate, Mechanism, Rotation, Transform
from tests.effort import SOAK
from tests.mechanisms import Joint, chain, random_limbs, random_state, random_tree

WRENCHES = Plan(inertia=InertiaMethod.WRENCHES)


def _graph(mechanism: Mechanism, words: str, side_by_side: bool) -> tuple[Graph, LimbsSideBySide]:
    derivation = Derivation(mechanism, bound_parameters(mechanism, True, None), WRENCHES, side_by_side)
    outputs = [derivation.output(Quantity.parse(word)) for word in words.split()]
    return derivation.builder.graph(outputs), derivation.limbs


@pytest.mark.parametrize("seed", range(12 if SOAK else 4))
def test_the_equations_are_the_same(seed: int) -> None:
    mechanism = random_limbs(seed, limbs=2 + seed % 3, joints=1 + seed % 4, free=seed % 2 == 0)
    words = "tau H coriolis gravity"
    plain, _ = _graph(mechanism, words, side_by_side=False)
    alike, limbs = _graph(mechanism, words, side_by_side=True)
    assert limbs.exchange
    values = limbs.values()
    assert values is not None
    if all(number.value is not None for number in limbs.numbers.values()):
        assert prove(plain, bind(alike, values))
    q, v, a, _ = random_state(mechanism, seed)
    state = dict(zip(mechanism.layout.positions, q, strict=True)) | dict(
        zip(mechanism.layout.velocities, v, strict=True)
    )
    state |= dict(zip(mechanism.layout.accelerations, a, strict=True))
    expected, found = interpret(plain, state), interpret(alike, state | {n: float(x) for n, x in values.items()})
    for name in expected:
        np.testing.assert_allclose(found[name], expected[name], atol=1e-11 * np.abs(expected[name]).max(initial=1))


@pytest.mark.parametrize(("seed", "limbs"), [(0, 2), (1, 4), (2, 3)])
def test_most_operations_become_those_of_another_limb(seed: int, limbs: int) -> None:
    mechanism = random_limbs(seed, limbs=limbs, joints=3)
    for words in ("tau", "H", "d(tau)/d(dq)"):
        graph, alike = _graph(mechanism, words, side_by_side=True)
        assert share_side_by_side(flattened(graph), alike.exchange) > 0.7


def test_symbols_are_exchanged_in_turn() -> None:
    _, limbs = _graph(random_limbs(4, limbs=3, joints=2), "tau", side_by_side=True)
    for symbol, following in limbs.exchange.items():
        assert symbol.kind is following.kind and symbol != following
        assert limbs.exchange[limbs.exchange[following]] == symbol
    kinds = {symbol.kind for symbol in limbs.exchange}
    assert {Kind.COORDINATE, Kind.VELOCITY, Kind.ACCELERATION, Kind.INPUT} <= kinds


ARMS = """
model arms;
coordinates x, y, z, a_left, b_left, a_right, b_right;
gravity 0, 0, -9.81;
Torso | Sx(x), Sy(y), Sz(z) | m(9), Jx(1), Jy(1), Jz(1);
UpperLeft~Torso | Sy(0.3), Rx(pi/2), Rz(a_left) | m(2), Jx(3), Jy(2), Jz(1.5);
LowerLeft~UpperLeft | Sx(0.5), Ry(pi/2), Rx(b_left) | m(1), Jx(2), Jy(3), Jz(1.5);
UpperRight~Torso | Sy(-0.3), Rx(-pi/2), Rz(-a_right) | m(2), Jx(3), Jy(2), Jz(1.5);
LowerRight~UpperRight | Sx(0.5), Ry(-pi/2), Rx(b_right) | m(1), Jx(2), Jy(3), Jz(1.5);
"""


def test_mirrored_limbs_are_turned_until_their_axes_run_alike() -> None:
    """The right arm is the mirror image of the left one: its axes and its sense of rotation are opposite."""
    limbs = _graph(parse(ARMS), "tau", side_by_side=True)[1]
    for left, right in ((4, 6), (5, 7)):
        first, second = limbs.tree.links[left], limbs.tree.links[right]
        assert first.origin is not None and second.origin is not None
        assert first.origin.rotation == second.origin.rotation


def test_numbers_limbs_share_stay_numbers() -> None:
    mechanism = random_limbs(3, limbs=2, joints=2)
    _, limbs = _graph(mechanism, "tau", side_by_side=True)
    for left, right in limbs.exchange.items():
        if left in limbs.numbers:
            assert limbs.numbers[left] != limbs.numbers[right]
    values = limbs.values()
    assert values and all(isinstance(value, Fraction) for value in values.values())


def test_limbs_may_be_long() -> None:
    """Longer than Python's recursion limit."""
    half = chain(1200)
    other = [replace(body, name=f"C{body.name}", base=body.base and f"C{body.base}") for body in half.bodies]
    turned = [replace(body, transforms=_renamed(body.transforms)) for body in other]
    coordinates = (*half.coordinates, *(Coordinate(f"c{c.name}") for c in half.coordinates))
    both = replace(half, bodies=(*half.bodies, *turned), coordinates=coordinates)
    limbs = Derivation(both, {}, Plan(), side_by_side=True).limbs
    assert limbs.joints == 2400 and limbs.are_most


def _renamed(transforms: tuple[Transform, ...]) -> tuple[Transform, ...]:
    return tuple(
        Rotation(one.axis, Name(f"c{one.angle.text}")) if isinstance(one, Rotation) else one for one in transforms
    )


def test_what_has_no_limbs_is_left_as_it_is() -> None:
    _, limbs = _graph(chain(5), "tau", side_by_side=True)
    assert not limbs.exchange and not limbs.numbers and not limbs.are_most


SIMPLE = (Joint.REVOLUTE, Joint.REVOLUTE, Joint.REVOLUTE, Joint.SPHERICAL, Joint.COUPLED)


@pytest.mark.parametrize("seed", range(20 if SOAK else 8))
def test_random_trees_stay_what_they_are(seed: int) -> None:
    """Joints of several kinds: few branches can be written in one form, and the results do not change."""
    mechanism = random_tree(seed, bodies=10, joints=SIMPLE, branching=1.0, parameters=False)
    plain, alike = (_graph(mechanism, "tau", side_by_side=alike) for alike in (False, True))
    q, v, a, t = random_state(mechanism, seed)
    state = dict(zip(mechanism.layout.positions, q, strict=True)) | dict(
        zip(mechanism.layout.velocities, v, strict=True)
    )
    state |= dict(zip(mechanism.layout.accelerations, a, strict=True)) | {"t": t}
    values = alike[1].values()
    assert values is not None
    numbers = {name: float(value) for name, value in values.items()}
    expected, found = interpret(plain[0], state)["tau"], interpret(alike[0], state | numbers)["tau"]
    np.testing.assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max(initial=1))


def test_some_random_trees_have_limbs() -> None:
    trees = [random_tree(seed, bodies=10, joints=SIMPLE, branching=1.0, parameters=False) for seed in range(20)]
    assert sum(bool(Derivation(tree, {}, Plan(), side_by_side=True).limbs.exchange) for tree in trees) >= 5


def test_unknown_parameters_are_no_numbers() -> None:
    """A limb with a run-time mass cannot have the form of a limb with a numerical mass."""
    unknown = ARMS.replace("coordinates", "parameters heavy = 2;\ncoordinates").replace("Jz(1.5)", "Jz(heavy)", 1)
    mechanism = parse(unknown)
    assert not Derivation(mechanism, {}, Plan(), side_by_side=True).limbs.exchange
    assert Derivation(mechanism, bound_parameters(mechanism, True, None), Plan(), side_by_side=True).limbs.exchange


TURNED = """
coordinates a, b, c, d; gravity 0, 0, -9.81;
Left | Ry(0.3), Rx(0.2), Rz(a) | Sx(0.1), m(1), Jx(0.1), Jy(0.1), Jz(0.1);
Foot1~Left | Rx(0.4), Sx(0.5), Rz(b) | Sx(0.1), m(1), Jx(0.1), Jy(0.1), Jz(0.1);
Right | Ry(0.5), Rx(0.1), Rz(c) | Sx(0.2), m(2), Jx(0.1), Jy(0.2), Jz(0.1);
Foot2~Right | Rx(0.7), Sx(0.4), Rz(d) | Sx(0.1), m(1), Jx(0.2), Jy(0.2), Jz(0.3);
"""


def test_numbers_are_evaluated_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """One graph for all: made of a builder of thousands of nodes, one for each took a third of a compilation."""
    limbs = _graph(parse(TURNED), "qdd", True)[1]
    assert sum(number.value is None for number in limbs.numbers.values()) > 5
    made: list[int] = []
    graph = GraphBuilder.graph
    monkeypatch.setattr(GraphBuilder, "graph", lambda *given: made.append(1) or graph(*given))
    values = limbs.values()
    assert values is not None and len(made) == 1
    for symbol, number in limbs.numbers.items():
        alone = graph(number.builder, [Output("x", (), (number.index,))])
        assert float(values[symbol.name]) == pytest.approx(float(interpret(alone, {})["x"]), rel=1e-15, abs=1e-15)


def test_limbs_are_written_once_for_all_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism, lowered = parse(TURNED), LoweredTrees()
    first, second = (Derivation(mechanism, {}, plan, True, lowered) for plan in (WRENCHES, WRENCHES))
    alone = Derivation(mechanism, {}, WRENCHES, True)
    graphs = [one.builder.graph([one.output(Quantity.parse("qdd"))]) for one in (first, second, alone)]
    assert graphs[0] == graphs[1] == graphs[2]
    monkeypatch.setattr(sys.modules[Derivation.__module__], "limbs_side_by_side", None)
    assert Derivation(mechanism, {}, WRENCHES, True, lowered).limbs.exchange == first.limbs.exchange
