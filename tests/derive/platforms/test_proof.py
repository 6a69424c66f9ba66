"""Closed legs and loops with multipliers, proved equal in the field with square roots; roots counted."""

from __future__ import annotations

import pytest

import kinegraph as kg
from kinegraph.derive.plan import Plan
from kinegraph.derive.platforms import platform_state as state
from kinegraph.derive.platforms.platform_dynamics import in_platform_coordinates
from kinegraph.derive.platforms.struts import RoundStrut
from kinegraph.derive.quantities.derivation import Derivation, constraint_graph
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.derive.tree.displacements import unit_quaternions
from kinegraph.graph.build import GraphBuilder, moved, transfer
from kinegraph.graph.count import count
from kinegraph.graph.node import Graph, Output
from kinegraph.graph.proof import prove
from kinegraph.model.mechanism import Mechanism
from tests.derive.platforms.evaluate import derived
from tests.derive.platforms.test_model import RING

#: Square roots of the closed form of a leg, and sines and cosines of a Newton step, as docs/platforms.md says.
ROOTS = {"UPS": (2, 4), "SPU": (3, 6), "UCU": (3, 6), "RUS(0.2, 0.6)": (2, 6), "RSU(0.2, 0.6)": (3, 8)}


def one_leg(kind: str) -> Mechanism:
    parts = "Sx(0.1), Sz(0.2), m(2), Jx(0.1), Jy(0.11), Jz(0.05) | Sx(0.3), Sz(-0.1), m(1), Jx(0.1), Jy(0.11), Jz(0.05)"
    return kg.parse(
        f"model one; {RING} platform {kind} | Ring | {parts} | | A: Sx(0.5), Rx(pi/2) > Sx(0.3), Sy(0.2), Rz(0.3);"
    )


@pytest.mark.parametrize("kind", ROOTS)
def test_closed_legs_are_loops(kind: str) -> None:
    mechanism = one_leg(kind)
    closed = derived(mechanism, "platform_acceleration")
    loops = ring_alone(mechanism, derived(mechanism, "qdd", Plan(in_parent_frame=frozenset(), closed_legs=False)))
    quaternions = unit_quaternions(mechanism)
    assert prove(closed, loops, quaternions=quaternions)
    wrong = derived(mechanism, "platform_acceleration")
    builder = GraphBuilder()
    (output,) = moved(wrong.outputs, transfer(wrong, builder))
    doubled = output._replace(nodes=(builder.scale(2, output.nodes[0]), *output.nodes[1:]))
    assert not prove(builder.graph([doubled]), loops, quaternions=quaternions)


def ring_alone(mechanism: Mechanism, graph: Graph) -> Graph:
    """The ring's accelerations of a graph, with the coordinates of the leg written in those of the ring."""
    derivation = Derivation(mechanism, {}, Plan())
    assert derivation.platform is not None
    first = mechanism.layout.velocities.index("x'")
    wanted = graph.outputs[0].nodes[first : first + 6]
    found = in_platform_coordinates(graph, wanted, derivation.platform.dynamics)
    return derivation.builder.graph([Output("platform_acceleration", (6,), tuple(one.index for one in found))])


@pytest.mark.parametrize("kind", ROOTS)
def test_square_roots_beside_sines_of_a_newton_step(kind: str) -> None:
    mechanism = one_leg(kind)
    newton = count(constraint_graph(mechanism, ()))
    derivation = Derivation(mechanism, {}, Plan())
    closed = count(derivation.builder.graph([derivation.output(Quantity("leg_positions"))]))
    assert (closed.sqrt, newton.sin + newton.cos) == ROOTS[kind]
    assert (closed.sin, closed.cos) == (0, 0)


ROUND = "Sz(0.2), m(2), Jx(0.1), Jy(0.1), Jz(0.05) | Sz(-0.1), m(1), Jx(0.11), Jy(0.11), Jz(0.04)"


def round_leg(drive: str = "", base: str = "Sx(0.5), Rx(pi/2)") -> Mechanism:
    row = f"A: {base} > Sx(0.3), Sy(0.2), Rz(0.3)"
    return kg.parse(f"model one; {RING} platform UPS | Ring | {ROUND} | {drive} | {row};")


@pytest.mark.parametrize("drive", ["", "screw(0.01, 1e-6)"])
def test_round_legs_are_loops(drive: str) -> None:
    """Legs without axes of their own, also by all their accelerations and with forces on every coordinate."""
    mechanism = round_leg(drive)
    derivation = Derivation(mechanism, {}, Plan())
    assert derivation.platform is not None and isinstance(derivation.platform.dynamics.legs[0], RoundStrut)
    closed = derived(mechanism, "platform_acceleration")
    loops = ring_alone(mechanism, derived(mechanism, "qdd", Plan(in_parent_frame=frozenset(), closed_legs=False)))
    assert prove(closed, loops, quaternions=unit_quaternions(mechanism))


def test_round_legs_are_legs_with_axes(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that a leg says by scalar products is what it says by its axes, on a base that time moves."""
    mechanism = round_leg(base="Sx(0.5 + 0.1*sin(t)), Rx(0.4)")
    words = "qdd, leg_velocities, leg_reactions, platform_forces"
    found = derived(mechanism, words)
    monkeypatch.setattr(state, "is_round", lambda numbers: False)
    assert prove(found, derived(mechanism, words), quaternions=unit_quaternions(mechanism))
