"""Platforms on a moving body: closed forms against loops with multipliers, proved for one leg, in numbers for more.

Some legs are on carriages that slide on rails of that body.
"""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.assembly.assemble import Assembler
from kinegraph.derive.plan import Plan
from kinegraph.derive.platforms import platform_state
from kinegraph.derive.platforms.platform_dynamics import in_platform_coordinates
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.tree.displacements import unit_quaternions
from kinegraph.graph.node import Graph, Output
from kinegraph.graph.proof import prove
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.platforms.recognition import platform_of
from kinegraph.tasks.platforms.workspace import PlatformLegs, platform_in
from tests.derive.platforms.evaluate import AS_LOOPS, derived, evaluated
from tests.derive.platforms.turning_struts import TurningStrut

BODIES = """coordinates cx, cy, cz; quaternion (c0, c1, c2, c3) velocity (cwx, cwy, cwz);
coordinates x, y, z = 0.6; quaternion (e0, e1, e2, e3) velocity (wx, wy, wz); gravity 0.3, -0.2, -1;
Craft | Sx(cx), Sy(cy), Sz(cz), Q(c0, c1, c2, c3) | Sx(0.1), Sz(-0.4), m(30), Jx(4), Jy(5), Jz(6), Jxy(0.5);
Ring | Sx(x), Sy(y), Sz(z), Q(e0, e1, e2, e3) | Sy(0.05), m(20), Jx(1), Jy(1.1), Jz(1.9);
"""
CROOKED = (
    "Sx(0.1), Sz(0.2), m(2), Jx(0.1), Jy(0.11), Jz(0.05), Jxz(0.01) "
    "| Sx(0.3), Sz(-0.1), m(1), Jx(0.1), Jy(0.11), Jz(0.05)"
)
STRAIGHT = "Sz(0.2), m(2), Jx(0.02), Jy(0.02), Jz(0.001) | Sz(-0.2), m(1), Jx(0.01), Jy(0.01)"
A, B = (
    "A~Craft: Sx(0.5), Rx(pi/2) > Sx(0.3), Sy(0.2), Rz(0.3)",
    "B~Craft: Sx(-0.2), Sy(0.4), Ry(0.2) > Sx(-0.3), Sy(0.1)",
)
KINDS = ["UPS", "SPU", "UCU", "RUS(0.2, 0.6)", "RSU(0.2, 0.6)"]
#: A carriage with a rail that is turned, and one with two rails on a mount of the craft and a plate fastened to it.
CARRIAGES = """coordinates s = 0.05, p, r; armature s = 0.7;
Slide~Craft | Sx(0.1), Rz(0.3), Sx(s) | Sy(0.2), m(3), Jx(0.1), Jy(0.2), Jz(0.15), Jxy(0.03);
Mount~Craft | Sx(-0.1), Rx(0.1) | m(9);
Stage~Mount | Sz(p), Sy(r), Sx(0.12) | Sz(0.1), m(2), Jx(0.05);
Plate~Stage | Ry(0.2), Sy(0.1) | m(0.5);
spring buffer | on(s), stiffness(400); damper brake | on(p), damping(7);
"""
ON_CARRIAGES = f"{A.replace('Craft', 'Slide')} | {B.replace('Craft', 'Plate')}"
MORE = """ | C~Craft: Sy(-0.5), Rx(pi/2) > Sy(-0.3), Sz(0.1) | D~Slide: Sx(0.2), Sy(-0.3), Rx(pi/2) > Sx(0.2), Sy(-0.2)
| E~Craft: Sx(-0.4), Rx(pi/2) > Sx(-0.1), Sy(-0.3) | F~Stage: Sy(0.4), Sx(0.1), Rx(pi/2) > Sx(0.1), Sy(0.4)"""


def craft(
    kind: str = "UPS", parts: str = CROOKED, drive: str = "", rows: str = A, more: str = "", rails: str = ""
) -> Mechanism:
    return kg.parse(f"model craft; {BODIES} {rails} platform {kind} | Ring | {parts} | {drive} | {rows}; {more}")


def state(mechanism: Mechanism, t: float | None = None, size: float = 1.0) -> list[np.ndarray]:
    """A state with closed loops, and forces."""
    random = np.random.default_rng(3)
    at = {"x": 0.02, "y": -0.03, "e1": 0.1, "e2": -0.05, "cx": 0.02, "c1": 0.1, "c3": -0.1}
    at = {name: size * value for name, value in at.items()}
    free = [name for name in mechanism.layout.velocities if name[1] != "_"]
    at |= dict(zip(free, random.normal(size=len(free)), strict=True))
    fitting = Assembler(mechanism).assemble(at, t or 0.0)
    inputs = [random.normal(size=len(mechanism.layout.inputs))] if mechanism.layout.inputs else []
    return [fitting.q, fitting.v, random.normal(scale=5, size=len(fitting.v)), *inputs, *([] if t is None else [t])]


def assert_as_loops(mechanism: Mechanism, t: float | None = None, size: float = 1.0) -> None:
    assert platform_of(mechanism) is not None
    arguments = state(mechanism, t, size)
    (closed,), (loops,) = (evaluated(mechanism, "qdd", plan)(*arguments) for plan in (None, AS_LOOPS))
    np.testing.assert_allclose(closed, loops, rtol=0, atol=1e-10 * np.max(np.abs(loops)))


@pytest.mark.parametrize("kind", KINDS)
def test_legs_of_any_type_and_shape(kind: str) -> None:
    assert_as_loops(craft(kind, rows=f"{A} | {B}"))


def test_carriages_on_the_craft() -> None:
    mechanism = craft("SPU", drive="damping(30)", rows=ON_CARRIAGES, rails=CARRIAGES)
    platform = platform_of(mechanism)
    assert platform is not None and platform.base is not None and len(platform.carriages) == 2
    assert_as_loops(mechanism)


@pytest.mark.soak
@pytest.mark.parametrize(("kind", "parts"), [*((kind, CROOKED) for kind in KINDS), ("UPS", STRAIGHT)])
def test_efforts_of_drives_and_carriages_on_the_craft(kind: str, parts: str) -> None:
    """The efforts of drives, rails and craft cause the accelerations they are computed from."""
    mechanism = craft(kind, parts, "damping(30)", ON_CARRIAGES + MORE, rails=CARRIAGES)
    assert_as_loops(mechanism)
    q, v, forces = state(mechanism)
    (wanted,) = evaluated(mechanism, "qdd")(q, v, forces)
    (tau,) = evaluated(mechanism, "tau")(q, v, wanted)
    assert np.count_nonzero(tau) == 6 + 3 + 6
    (found,) = evaluated(mechanism, "qdd")(q, v, tau)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9 * np.max(np.abs(wanted)))


def test_mixed_legs_on_a_mount_of_the_craft() -> None:
    """Two tables, a leg on a body fixed to the craft, a platform with rotation angles, and a tank on the platform."""
    text = (
        f"model craft; {BODIES} Mount~Craft | Sz(0.1), Rx(0.2) | m(3), Jx(0.1);\nTank~Ring | Sx(0.1) | m(4), Jy(0.2);"
    )
    text = text.replace("quaternion (e0, e1, e2, e3) velocity (wx, wy, wz);", "coordinates e1, e2, e3;")
    text = text.replace("Q(e0, e1, e2, e3)", "Ry(e1), Rz(e2), Rx(e3)")
    first = f"platform UPS | Ring | {CROOKED} | | {A};"
    second = f"platform RSU(0.2, 0.6) | Ring | {CROOKED} | | {B.replace('Craft', 'Mount')};"
    assert_as_loops(kg.parse(f"{text} {first} {second}"))


@pytest.mark.parametrize("kind", ["UPS", "RSU(0.2, 0.6)"])
def test_first_joints_moved_by_time(kind: str) -> None:
    assert_as_loops(
        craft(kind, rows=f"A~Craft: Sx(0.5 - 0.1*t^2), Rx(pi/2), Sy(0.1*sin(t)) > Sx(0.3), Sy(0.2) | {B}"), 0.4
    )


def test_elements_and_what_moves_beside() -> None:
    """A target with its own wheel, connected to platform and craft by elements only."""
    target = "coordinates bx, by, bz = 1, turn, wheel; inputs u;"
    bodies = (
        "Target | Sx(bx), Sy(by), Sz(bz), Rz(turn) | m(9), Jz(2); Wheel~Target | Rx(wheel) | m(1), Jx(0.1), Jy(0.2);"
    )
    table = f"platform UCU | Ring | {CROOKED} | stiffness(30), rest(0.5), damping(4), powered | {A} | {B};"
    elements = """spring pull | between(Ring(0.1, 0, 0), Target), stiffness(40), rest(0.3);
        damper d | on(A_beta), damping(2); force engine | on(cx), value(u*A_l);
        spring held | between(A_upper(0, 0, -0.1), Craft(0.2, 0, 0)), stiffness(9);
        contact touch | sphere(Ring(0, 0, 0.1), 0.3), plane(Target(0, 0, -0.1), (0, 0, -1)) | stiffness(100);"""
    assert_as_loops(kg.parse(f"model craft; {target} {BODIES} {bodies} {table} {elements}"))


@pytest.mark.parametrize("kind", ["UPS", "RSU(0.2, 0.6)"])
def test_springs_on_angles_count_turns(kind: str) -> None:
    """A pose of the platform does not determine full turns; springs and limits follow the coordinates."""
    driven = "A_theta" if kind.startswith("R") else "A_alpha"
    more = f"spring wound | on({driven}), stiffness(20), rest(0.4); limit stop | on(A_beta), upper(1), stiffness(50);"
    mechanism = craft(kind, rows=f"{A} | {B}", more=more)
    q, *rest = state(mechanism)
    turned = [mechanism.layout.positions.index(name) for name in (driven, "A_beta")]
    for turns in ((0, 0), (-1, 0), (3, 1)):
        moved = q.copy()
        moved[turned] += 2 * np.pi * np.array(turns)
        (closed,), (loops,) = (evaluated(mechanism, "qdd", plan)(moved, *rest) for plan in (None, AS_LOOPS))
        np.testing.assert_allclose(closed, loops, rtol=0, atol=1e-10 * np.max(np.abs(loops)))


@pytest.mark.parametrize(
    ("kind", "rails"),
    [("UPS", ""), ("RUS(0.2, 0.6)", ""), pytest.param("UPS", "coordinates s; ", marks=pytest.mark.soak)],
)
def test_closed_legs_are_loops(kind: str, rails: str) -> None:
    """Proved: all accelerations of platform and craft, at states with a closed leg."""
    rails, on = (rails + "Slide~Craft | Rz(0.3), Sx(s) | m(3), Jy(2);", "Slide") if rails else ("", "Craft")
    mechanism = craft(kind, rows=A.replace("Craft", on), rails=rails)
    closed = bodies_alone(mechanism, derived(mechanism, "qdd"))
    loops = bodies_alone(mechanism, derived(mechanism, "qdd", Plan(in_parent_frame=frozenset(), closed_legs=False)))
    quaternions = unit_quaternions(mechanism)
    assert prove(closed, loops, quaternions=quaternions)
    assert not prove(closed, bodies_alone(mechanism, derived(mechanism, "bias")), quaternions=quaternions)


def bodies_alone(mechanism: Mechanism, graph: Graph) -> Graph:
    """The entries of platform and craft, with the leg's coordinates replaced by theirs."""
    derivation = Derivation(mechanism, {}, Plan())
    platform = derivation.platform
    assert platform is not None and platform.platform.base is not None
    names = (*platform.platform.moving.velocities, *platform.platform.base.velocities)
    wanted = [graph.outputs[0].nodes[mechanism.layout.velocities.index(name)] for name in names]
    found = in_platform_coordinates(graph, wanted, platform.dynamics)
    return derivation.builder.graph([Output("bodies", (12,), tuple(one.index for one in found))])


@pytest.mark.parametrize(
    ("kind", "rails"), [*((kind, "") for kind in KINDS), pytest.param("UPS", CARRIAGES, marks=pytest.mark.soak)]
)
def test_legs_act_on_the_craft_as_its_motion_says(kind: str, rails: str) -> None:
    """Newton and Euler for the craft alone, with the forces of all legs and carriages on it."""
    mechanism = craft(kind, rows=ON_CARRIAGES if rails else f"{A} | {B}", rails=rails.replace("m(9)", "m(0)"))
    q, v, tau = state(mechanism)
    tau[:] = [0 if name.startswith("c") else item for name, item in zip(mechanism.layout.velocities, tau, strict=True)]
    qdd, reaction, legs = evaluated(mechanism, "qdd,base_reaction,leg_reactions")(q, v, tau)
    alone = kg.parse(f"model alone; {BODIES}")
    names, positions = alone.layout.velocities, mechanism.layout.positions
    own = [mechanism.layout.velocities.index(name) for name in names]
    at = [positions.index(name) for name in alone.layout.positions]
    needed, pose = evaluated(alone, "tau,pose:Craft")(q[at], v[own], qdd[own])
    first = names.index("cx'")
    force, moment = needed[first : first + 3], pose[:3, :3] @ needed[names.index("cwx") :][:3]
    np.testing.assert_allclose(np.concatenate([force, moment]), reaction, rtol=0, atol=1e-9 * np.max(np.abs(reaction)))
    if not rails:
        np.testing.assert_allclose(legs.sum(axis=0), reaction, rtol=0, atol=1e-12 * np.max(np.abs(legs)))


def test_what_closed_forms_do_not_cover_is_loops() -> None:
    """A body that moves on the craft, a craft that is not free, legs on two bodies."""
    panel = f"model craft; coordinates p; {BODIES} Panel~Craft | Rx(p) | m(1), Jx(1);"
    table = f"platform UPS | Ring | {STRAIGHT} | | {A} | {B};"
    swing = BODIES.replace("Sx(cx), Sy(cy), Sz(cz), Q(c0, c1, c2, c3)", "Rx(cx)").replace(
        "coordinates cx, cy, cz; quaternion (c0, c1, c2, c3) velocity (cwx, cwy, cwz)", "coordinates cx"
    )
    two = table.replace("B~Craft", "B")
    for text in (f"{panel} {table}", f"model swing; {swing} {table}", f"model two; {BODIES} {two}"):
        assert platform_of(kg.parse(text)) is None


def test_legs_in_numbers_reach_from_where_the_craft_is() -> None:
    mechanism = kg.parse(
        kg.write(craft("UPS", STRAIGHT, rows=f"{A} | {B}")).replace("coordinates cx;", "coordinates cx = 0.2;")
    )
    legs = PlatformLegs(*platform_in(mechanism))
    starts, ends = legs.segments(legs.start[None])
    np.testing.assert_allclose(np.linalg.norm(ends - starts, axis=2), legs.drives(legs.start[None]), rtol=1e-12)
    assert legs.start[mechanism.layout.positions.index("cx")] == 0.2


def test_momentum_and_energy_are_kept() -> None:
    weightless = kg.parse(
        f"model craft; {BODIES.replace('0.3, -0.2, -1', '0, 0, 0')} platform SPU | Ring | {CROOKED} | stiffness(400), "
        f"rest(0.6) | {A} | {B};"
    )
    initial = {"wx": 2.0, "x'": 0.3, "cwz": -0.7}
    run = kg.simulate(weightless, 0.15, state=initial, times=15, rtol=1e-10, native=False, progress=False)
    for name in ("px", "py", "pz", "Lx", "Ly", "Lz"):
        assert np.ptp(run[name]) < 1e-8, name
    assert all(check.passed for check in run.checks) and np.ptp(run["energy"]) < 1e-7
    assert np.ptp(run["cx"]) > 1e-4


@pytest.mark.parametrize(("model", "t"), [("stewart-docking", 0.0), ("hunt-docking", 1.3)])
def test_docking_rings_of_the_library(model: str, t: float | None) -> None:
    """Screws with losses, stops and formulas; drives that are drawn in."""
    assert_as_loops(kg.load(model), t, 0.2)


def test_a_pendulum_beside_a_platform_on_the_ground() -> None:
    """Other bodies may have prescribed motion, and legs may be on a body fixed to the ground."""
    bodies = BODIES.split("\n")[1:]
    text = "model ground; coordinates p = 0.3; " + "\n".join(line for line in bodies if not line.startswith("Craft"))
    text += "Plate | Sz(0.1), Rx(0.2) | ; Bob | Sx(0.1*sin(t)), Ry(p) | Sz(-1), m(1), Jy(0.1);"
    text += f"platform SPU | Ring | {CROOKED} | | {A} | {B}; spring tie | between(Bob, Ring), stiffness(20);"
    mechanism = kg.parse(text.replace("~Craft", "~Plate"))
    found = platform_of(mechanism)
    assert found is not None and found.base is None and found.others == ("p'",)
    random, layout = np.random.default_rng(1), mechanism.layout
    fitting = Assembler(mechanism).assemble({"x": 0.05, "e1": 0.1, "wx": 0.7, "y'": -0.4, "p'": 0.6}, 0.3)
    tau = random.normal(size=len(layout.velocities))
    closed, loops = (evaluated(mechanism, "qdd", plan)(fitting.q, fitting.v, tau, 0.3)[0] for plan in (None, AS_LOOPS))
    np.testing.assert_allclose(closed, loops, rtol=0, atol=1e-10 * np.max(np.abs(loops)))


@pytest.mark.parametrize("words", ["qdd, leg_velocities", "leg_reactions, platform_forces"])
def test_round_legs_on_a_base_that_turns(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Proved equal: legs computed with axes, and without axes from the moment of their spin."""
    mechanism = craft("UPS", STRAIGHT)
    by_axes = derived(mechanism, words)
    monkeypatch.setattr(platform_state, "Strut", lambda kind, *rest: TurningStrut(*rest))
    assert prove(derived(mechanism, words), by_axes, quaternions=unit_quaternions(mechanism))
    monkeypatch.setattr(TurningStrut, "_spin", property(lambda self: self._spin_row * self._turn))
    assert not prove(derived(mechanism, words), by_axes, quaternions=unit_quaternions(mechanism))
