"""First joints of legs on carriages that drives move along rails: closed forms beside loops, forces on the base."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.assembly.assemble import Assembler
from kinegraph.derive.plan import Plan
from kinegraph.derive.platforms.moving_base import RailPlatform
from kinegraph.derive.platforms.platform_dynamics import in_platform_coordinates
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.tree.displacements import unit_quaternions
from kinegraph.graph.node import Graph, Output
from kinegraph.graph.proof import prove
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.platforms.recognition import platform_of
from kinegraph.tasks.platforms.workspace import Verdict
from tests.derive.platforms.evaluate import AS_LOOPS, derived, evaluated
from tests.derive.platforms.test_model import RING, momentum_change
from tests.effort import SOAK

STRUTS = "Sx(0.02), Sz(0.2), m(2), Jx(0.02), Jy(0.0205), Jz(0.001) | Sz(-0.2), m(1), Jx(0.01), Jy(0.01), Jz(0.002)"
ROUND = "Sz(0.2), m(2), Jx(0.02), Jy(0.02), Jz(0.001) | Sz(-0.2), m(1), Jx(0.01), Jy(0.01)"
CRANKS = "Sx(0.1), m(2), Jz(0.03) | Sx(0.3), m(1), Jx(0.001), Jy(0.02), Jz(0.0205)"
KINDS = {"UPS": STRUTS, "SPU": STRUTS, "UCU": STRUTS, "RUS(0.2, 0.6)": CRANKS, "RSU(0.2, 0.6)": CRANKS}
#: A carriage with two legs whose rail is turned, a stage with two rails on a fixed block, and what is fastened to one.
CARRIAGES = """coordinates s = 0.05, p, r; armature s = 0.7;
Slide | Sx(0.1), Rz(0.3), Sx(s) | Sy(0.2), m(3), Jx(0.1), Jy(0.2), Jz(0.15);
Block | Sx(-0.1) | m(9);
Stage~Block | Rx(0.1), Sz(p), Sy(r), Sx(0.12) | Sz(0.1), m(2);
Plate~Stage | Ry(0.2), Sy(0.1) | m(0.5);
"""
ROWS = """| A~Slide: Sx(0.4){0} > Sx(0.3), Sy(0.2) | B~Plate: Sx(-0.2), Sy(0.3){0} > Sx(-0.3), Sy(0.1)
| C: Sy(-0.5 + 0.02*t^2){0} > Sy(-0.3), Sz(0.1) | D~Slide: Sx(0.2), Sy(-0.3){0} > Sx(0.2), Sy(-0.2)"""
MORE = "| E: Sx(-0.4){0} > Sx(-0.1), Sy(-0.3) | F~Stage: Sy(0.4), Sx(0.1){0} > Sx(0.1), Sy(0.4)"


def on_rails(kind: str, parts: str = "", rows: str = ROWS, drive: str = "damping(30)") -> Mechanism:
    turned = ", Rx(pi/2)" if kind.startswith("R") else ""
    spring = "spring buffer | on(s), stiffness(400); damper brake | on(p), damping(7);"
    table = f"platform {kind} | Ring | {parts or KINDS[kind]} | {drive} {rows.format(turned)};"
    return kg.parse(f"model railed; {RING} {CARRIAGES} {table} {spring}")


def state_of(mechanism: Mechanism, seed: int = 2) -> list[np.ndarray]:
    random = np.random.default_rng(seed)
    names = ("x'", "y'", "z'", "wx", "wy", "wz", "s'", "p'", "r'")
    at = {"x": 0.02, "y": -0.03, "e1": 0.1, "s": 0.07, "p": -0.03, "r": 0.02}
    fitting = Assembler(mechanism).assemble(at | dict(zip(names, random.normal(size=9), strict=True)), 0.4)
    return [fitting.q, fitting.v, random.normal(scale=5, size=len(fitting.v)), np.array(0.4)]


@pytest.mark.parametrize("kind", [*KINDS, "round"])
def test_rails_in_closed_form_are_loops(kind: str) -> None:
    """All accelerations: ring, carriages and legs, under forces on every coordinate."""
    mechanism = on_rails("UPS", ROUND) if kind == "round" else on_rails(kind)
    platform = platform_of(mechanism)
    assert platform is not None and len(platform.carriages) == 2
    arguments = state_of(mechanism)
    (closed,), (loops,) = (evaluated(mechanism, "qdd", plan)(*arguments) for plan in (None, AS_LOOPS))
    np.testing.assert_allclose(closed, loops, rtol=0, atol=1e-9 * np.max(np.abs(loops)))


@pytest.mark.parametrize("kind", KINDS)
def test_efforts_of_drives_and_rails(kind: str) -> None:
    """Six drives and three rails that cause given accelerations: what they cause is just these."""
    mechanism = on_rails(kind, rows=ROWS + MORE)
    q, v, forces, t = state_of(mechanism)
    (wanted,) = evaluated(mechanism, "qdd")(q, v, forces, t)
    (tau,) = evaluated(mechanism, "tau")(q, v, wanted, t)
    names = mechanism.layout.velocities
    driven = [name for name in names if name.endswith(("_l'", "_theta'"))]
    assert {name for name, item in zip(names, tau, strict=True) if item} == {*driven, "s'", "p'", "r'"}
    (found,) = evaluated(mechanism, "qdd")(q, v, tau, t)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9 * np.max(np.abs(wanted)))


@pytest.mark.parametrize(
    ("kind", "gravity"),
    [(kind, gravity) for kind in KINDS for gravity in (0.0, 9.81) if SOAK or not gravity or kind == "UPS"],
)
def test_forces_on_the_base(kind: str, gravity: float) -> None:
    """Legs and carriages together exert what weight and the momentum of all bodies say; without weight moments, too."""
    mechanism = kg.parse(kg.write(on_rails(kind)).replace("-9.81", f"{-gravity}"))
    q, v, tau, t = state_of(mechanism)
    ring = mechanism.layout.velocities.index("x'")
    tau[ring : ring + 6] = 0
    qdd, base, legs = evaluated(mechanism, "qdd,base_reaction,leg_reactions")(q, v, tau, t)
    change = momentum_change(mechanism, q, v, qdd, float(t))
    moving = 20 + 3 + 2.5 + 4 * 3
    scale = np.max(np.abs(base))
    np.testing.assert_allclose(base[:3], [0, 0, -gravity * moving] - change[:3], rtol=0, atol=1e-7 * scale)
    if not gravity:
        np.testing.assert_allclose(base[3:], -change[3:], rtol=0, atol=1e-7 * scale)
    assert np.max(np.abs(np.sum(legs, axis=0) - base)) > 0.1  # carriages have mass


def ring_and_rails(mechanism: Mechanism, graph: Graph) -> Graph:
    """Accelerations of platform and rails, with leg coordinates replaced by those of platform and rails."""
    derivation = Derivation(mechanism, {}, Plan())
    assert derivation.platform is not None
    assert isinstance(derivation.platform.dynamics, RailPlatform)
    names = [*derivation.platform.platform.moving.velocities, "s'"]
    wanted = [graph.outputs[0].nodes[mechanism.layout.velocities.index(name)] for name in names]
    found = in_platform_coordinates(graph, wanted, derivation.platform.dynamics)
    return derivation.builder.graph([Output("some", (7,), tuple(one.index for one in found))])


@pytest.mark.parametrize("kind", KINDS)
def test_rails_are_proved(kind: str) -> None:
    """Proof with square roots: one leg on a carriage by its closed form and by its loop."""
    row = "| A~Slide: Sx(0.5), Rx(pi/2) > Sx(0.3), Sy(0.2), Rz(0.3)"
    carriage = "coordinates s; Slide | Rz(0.3), Sx(s) | m(3);"
    mechanism = kg.parse(f"model one; {RING} {carriage} platform {kind} | Ring | {KINDS[kind]} | {row};")
    closed = derived(mechanism, "qdd")
    loops = derived(mechanism, "qdd", Plan(in_parent_frame=frozenset(), closed_legs=False))
    graphs = [ring_and_rails(mechanism, graph) for graph in (closed, loops)]
    assert prove(*graphs, quaternions=unit_quaternions(mechanism))


def test_energy_is_kept_on_rails() -> None:
    """A simulation by closed forms conserves energy."""
    extension_rate = "coordinates s; Slide | Rz(0.3), Rx(0.4), Sx(s) | m(3); spring k | on(s), stiffness(300);"
    rows = ROWS.replace(" + 0.02*t^2", "").replace("~Plate", "").format("")
    table = f"platform UPS | Ring | {ROUND} | stiffness(900), rest(0.7) {rows};"
    mechanism = kg.parse(f"model free; {RING} {extension_rate} {table}")
    run = kg.simulate(mechanism, 0.3, rtol=1e-10, atol=1e-11, native=False)
    assert run.drift["energy"] < 1e-8 and np.ptp(run["s"]) > 1e-3


@pytest.mark.parametrize(
    "carriages",
    [
        "coordinates s; Slide | Rz(s) | m(3), Jz(1);",  # it turns
        "coordinates s; Slide | Sx(2*s) | m(3);",  # a gear
        "coordinates s; Slide | Sx(s), Rz(t) | m(3), Jz(1);",
        "coordinates s, u; Low | Rz(u) | m(1), Jz(1); Slide~Low | Sx(s) | m(3);",  # on what turns
    ],
)
def test_what_is_no_rail_goes_through_loops(carriages: str) -> None:
    rows = "| A~Slide: Sx(0.5) > Sx(0.3), Sy(0.2) | B: Sy(0.5) > Sy(0.3)"
    mechanism = kg.parse(f"model other; {RING} {carriages} platform UPS | Ring | {STRUTS} | {rows};")
    assert platform_of(mechanism) is None
    with pytest.raises(kg.KinegraphError, match="on carriages that slide on it"):
        kg.derive(mechanism, "platform_acceleration")


def test_a_workspace_where_the_carriage_is() -> None:
    """Legs on a carriage moved down by 0.4 with the platform: the same workspace, also for collisions and angles."""
    text = f"model down; {RING} coordinates s; Slide | Sz(s) | m(3); platform UPS | Ring | {ROUND} |"
    rows = "".join(f"| L{k}~Slide: Rz({k} + {k % 2}/3), Sx(0.6) > Rz({k} - {k % 2}/3), Sx(0.3)" for k in range(6))
    mechanism = kg.parse(f"{text} {rows};")
    span = {"x": (-0.5, 0.5, 9), "y": (-0.5, 0.5, 9)}
    limits = {"radius": 0.12, "stroke": (0.3, 0.95), "tilt": 0.5}
    found = [kg.workspace(mechanism, span, state={"s": s, "z": 0.6 + s}, **limits) for s in (0.0, -0.4)]
    np.testing.assert_array_equal(found[0].verdict, found[1].verdict)
    np.testing.assert_array_equal(found[0].at_fault, found[1].at_fault)
    assert set(found[0].counts()) == {one.meaning for one in (Verdict.STROKE, Verdict.TILT, Verdict.COLLISION)}
