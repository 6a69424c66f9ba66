"""Inverse dynamics: drive forces of six legs, and forces on a moving base, against loops with multipliers."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.derive.plan import Plan
from kinegraph.derive.platforms.platform_dynamics import in_platform_coordinates
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.variables import Variables
from kinegraph.derive.tree.displacements import unit_quaternions
from kinegraph.graph.build import Scalar
from kinegraph.graph.count import count
from kinegraph.graph.node import Graph, Output
from kinegraph.graph.proof import prove
from kinegraph.model.mechanism import Mechanism
from tests.derive.platforms.evaluate import AS_LOOPS, derived, evaluated
from tests.derive.platforms.test_moving_base import BODIES, CROOKED, STRAIGHT, craft, state
from tests.effort import SOAK

PLACES = [(0.5, 0.1, 0.3, 0.2), (-0.1, 0.5, 0.1, 0.35), (-0.4, 0.3, -0.3, 0.15)]
PLACES += [(-0.4, -0.3, -0.3, -0.2), (0.05, -0.5, -0.05, -0.35), (0.4, -0.25, 0.3, -0.15)]
KINDS = ["UPS"]
KINDS += ["UCU", "RUS(0.3, 0.6)", "SPU", "RSU(0.3, 0.6)"] if SOAK else []  # proofs of a second or two


def rows(base: str = "~Craft", moved: str = "") -> str:
    """Six different legs."""
    found = [
        f"{name}{base}: Sx({x}), Sy({y}){moved}, Rx(pi/2 + {0.05 * k:g}) > Sx({u}), Sy({v}), Rz({0.2 * k:g})"
        for k, (name, (x, y, u, v)) in enumerate(zip("ABCDEF", PLACES, strict=True))
    ]
    return " | ".join(found)


def fits(mechanism: Mechanism, t: float | None = None) -> tuple[list[np.ndarray], np.ndarray]:
    """A state with accelerations that keep the loops closed, and the forces that cause them."""
    q, v, forces, *rest = state(mechanism, t)
    (found,) = evaluated(mechanism, "qdd")(q, v, forces, *rest)
    return [q, v, found, *rest], forces


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["UPS", "RSU(0.3, 0.6)"])
def test_forces_on_a_craft_are_those_of_loops(kind: str) -> None:
    mechanism = craft(kind, rows=rows())
    arguments, _ = fits(mechanism)
    (closed,), (loops,) = (evaluated(mechanism, "tau", plan)(*arguments) for plan in (None, AS_LOOPS))
    np.testing.assert_allclose(closed, loops, rtol=0, atol=1e-11 * np.max(np.abs(loops)))
    own, general = (count(derived(mechanism, "tau", plan)) for plan in (None, AS_LOOPS))
    assert own.mul + own.add < 0.8 * (general.mul + general.add)


@pytest.mark.parametrize("kind", ["UPS", *(["RSU(0.3, 0.6)"] if SOAK else [])])
def test_forward_after_inverse(kind: str) -> None:
    """First joints with prescribed motion, elements and another tree: the forces cause the accelerations."""
    more = "coordinates far; Arm | Rz(far) | Sx(0.3), m(2), Jz(0.1); "
    more += "spring tie | between(Ring(0.1, 0, 0), Arm(0.3, 0, 0)), stiffness(9), rest(0.2);"
    mechanism = craft(kind, STRAIGHT, "damping(3), stiffness(10), rest(0.6)", rows(moved=", Sz(0.1*sin(t))"), more)
    (q, v, accelerations, *rest), _ = fits(mechanism, 0.4)
    (forces,) = evaluated(mechanism, "tau")(q, v, accelerations, *rest)
    (found,) = evaluated(mechanism, "qdd")(q, v, forces, *rest)
    np.testing.assert_allclose(found, accelerations, rtol=0, atol=1e-10 * np.max(np.abs(accelerations)))


def test_forces_in_angles() -> None:
    """A craft by three angles: the torques are those on the angles."""
    text = BODIES.replace("quaternion (c0, c1, c2, c3) velocity (cwx, cwy, cwz);", "coordinates c1, c2 = 0.2, c3;")
    text = text.replace("Q(c0, c1, c2, c3)", "Ry(c1), Rz(c2), Rx(c3)")
    mechanism = kg.parse(f"model craft; {text} platform UPS | Ring | {CROOKED} | | {rows()};")
    arguments, _ = fits(mechanism)
    (closed,), (loops,) = (evaluated(mechanism, "tau", plan)(*arguments) for plan in (None, AS_LOOPS))
    np.testing.assert_allclose(closed, loops, rtol=0, atol=1e-11 * np.max(np.abs(loops)))


@pytest.mark.parametrize("kind", KINDS)
def test_forces_are_proved_to_be_those_of_loops(kind: str) -> None:
    mechanism = craft(kind, rows=rows())
    loops = derived(mechanism, "tau", Plan(in_parent_frame=frozenset(), closed_legs=False))
    assert prove(derived(mechanism, "tau"), in_platform(mechanism, loops), quaternions=unit_quaternions(mechanism))


def in_platform(mechanism: Mechanism, graph: Graph) -> Graph:
    """A graph of forces with the motion of legs replaced by that of platform and base."""
    derivation = Derivation(mechanism, {}, Plan())
    assert derivation.platform is not None
    dynamics, builder = derivation.platform.dynamics, derivation.builder
    symbols = Variables.ACCELERATIONS.symbols(mechanism)
    motion = dynamics.given_motion([Scalar(builder, builder.symbol(*one)) for one in symbols])
    legs = {f"{name}'": item for name, item in dynamics.leg_accelerations(motion).items()}
    (output,) = graph.outputs
    found = in_platform_coordinates(graph, output.nodes, dynamics, legs)
    return builder.graph([Output(output.name, output.shape, tuple(one.index for one in found))])
