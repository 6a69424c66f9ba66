"""Leg tables: statement, builder and records written by hand are one; drives, moved joints, faults."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.assembly.assemble import Assembler
from kinegraph.derive.constraints.redundancy import moved_positions
from kinegraph.errors import KinegraphError, ModelError
from kinegraph.model.builder import Builder, Sx, Sy, Sz, drive, inertia, leg
from kinegraph.model.evaluate import number
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.platforms.recognition import legs_of, platform_of
from tests.derive.platforms.evaluate import AS_LOOPS, evaluated

RING = """coordinates x, y, z = 0.6; quaternion (e0, e1, e2, e3) velocity (wx, wy, wz); gravity 0, 0, -9.81;
Ring | Sx(x), Sy(y), Sz(z), Q(e0, e1, e2, e3) | m(20), Jx(1), Jy(1.1), Jz(1.9);
"""
PARTS = "Sz(0.2), m(2), Jx(0.02), Jy(0.0205), Jz(0.001) | Sz(-0.2), m(1), Jx(0.01), Jy(0.01)"
ROWS = "| A: Sx(0.5) > Sx(0.3), Sy(0.2) | B: Sx(-0.2), Sy(0.4) > Sx(-0.3), Sy(0.1) | C: Sy(-0.5) > Sy(-0.3), Sz(0.1)"


def table(drive_text: str = "", rows: str = ROWS, kind: str = "UPS", parts: str = PARTS) -> str:
    return f"model small; {RING} platform {kind} | Ring | {parts} | {drive_text} {rows};"


def moving(mechanism: Mechanism, t: float | None = None) -> list[np.ndarray]:
    """A state with closed loops, and forces."""
    random = np.random.default_rng(2)
    at = {"x": 0.02, "y": -0.03, "e1": 0.1, "e2": -0.05}
    at |= dict(zip(("x'", "y'", "z'", "wx", "wy", "wz"), random.normal(size=6), strict=True))
    fitting = Assembler(mechanism).assemble(at, t or 0.0)
    inputs = [random.normal(size=len(mechanism.layout.inputs))] if mechanism.layout.inputs else []
    return [fitting.q, fitting.v, random.normal(scale=5, size=len(fitting.v)), *inputs, *([] if t is None else [t])]


def test_statement_builder_and_records_are_one() -> None:
    read = kg.parse(table("damping(30)"))
    builder = Builder("small", (0, 0, -9.81))
    x, y, z = builder.coordinate("x"), builder.coordinate("y"), builder.coordinate("z", 0.6)
    turn = builder.quaternion(("e0", "e1", "e2", "e3"), ("wx", "wy", "wz"))
    ring = builder.body("Ring", None, [Sx(x), Sy(y), Sz(z), turn], inertia(20, 1, 1.1, 1.9))
    legs = [leg("A", (0.5, 0, 0), (0.3, 0.2, 0)), leg("B", (-0.2, 0.4, 0), (-0.3, 0.1, 0))]
    legs.append(leg("C", (0, -0.5, 0), (0, -0.3, 0.1)))
    lower, upper = inertia(2, 0.02, 0.0205, 0.001, at=[Sz(0.2)]), inertia(1, 0.01, 0.01, at=[Sz(-0.2)])
    builder.platform("UPS", ring, legs, lower, upper, drive=drive(damping=30))
    assert builder.build() == read
    written = kg.write(read)
    assert "platform" not in written and "loop A_joint | spherical | A_upper | Ring: Sx(0.3), Sy(0.2);" in written
    assert kg.parse(written) == read
    assert platform_of(kg.parse(written)) is not None


def test_coordinates_of_drives_come_first() -> None:
    mechanism = kg.parse(table(kind="UCU"))
    assert mechanism.layout.positions[:5] == ("A_l", "B_l", "C_l", "x", "y")
    assert mechanism.layout.positions[-3:] == ("C_alpha", "C_beta", "C_phi")
    assert [one.type.value for one in legs_of(mechanism)] == ["UCU"] * 3


@pytest.mark.parametrize(
    "text",
    [
        "damping(30), stiffness(200), rest(0.7)",
        "coulomb(4), width(0.05), powered",
        "limit(2), stroke(0.1, 0.62), stop(1000)",
        "screw(0.01, 1e-4, 0.8, 0.6), damping(3)",
        "screw(0.01), limit(0.01)",
        "effort(3*(0.6 - l) - 2*l'), screw(0.01, 0, 0.9, 0.8), limit(0.01)",
        "powered, effort(x*l')",
    ],
)
def test_drives_act_as_elements_of_loops(text: str) -> None:
    """Elements on the drives in the platform's coordinates, against the same elements in the loops' coordinates."""
    mechanism = kg.parse(table(text))
    arguments = moving(mechanism)
    (closed,), (loops,) = (evaluated(mechanism, "qdd", plan)(*arguments) for plan in (None, AS_LOOPS))
    np.testing.assert_allclose(closed, loops, rtol=0, atol=1e-10 * np.max(np.abs(loops)))


def test_a_screw_has_inertia_and_losses() -> None:
    """By hand: J (2 pi / lead)^2 in the length; a driven leg gets less force than a back-driven one takes."""
    mechanism = kg.parse(table("screw(0.01, 1e-4, 0.8, 0.6)"))
    assert number(mechanism.coordinates[0].armature, {}) == pytest.approx(1e-4 * (2 * np.pi / 0.01) ** 2)
    q, v, *_ = moving(mechanism)
    forces = evaluated(mechanism, "forces")
    pushes = [forces(q, v, np.array([sign, 0, 0]))[0][0] for sign in (1.0, -1.0)]
    along = v[0] > 0
    driving, driven = (pushes[0], -pushes[1]) if along else (-pushes[1], pushes[0])
    assert driving == pytest.approx(0.8 * 200 * np.pi) and driven == pytest.approx(200 * np.pi / 0.6)


def test_forces_on_parts_of_legs() -> None:
    """A force on a leg's body and a spring to it act through the closed forms as through loops."""
    extra = (
        "force wind | at(A_lower(0, 0, 0.3)), world(1, 2, 3); spring tie | between(B_upper, (1, 1, 1)), stiffness(40);"
    )
    mechanism = kg.parse(table() + extra + " damper d | on(C_alpha), damping(2);")
    arguments = moving(mechanism)
    (closed,), (loops,) = (evaluated(mechanism, "qdd", plan)(*arguments) for plan in (None, AS_LOOPS))
    np.testing.assert_allclose(closed, loops, rtol=0, atol=1e-10 * np.max(np.abs(loops)))


@pytest.mark.parametrize("kind", ["UPS", "RUS(0.2, 0.6)"])
def test_first_joints_moved_by_a_law(kind: str) -> None:
    """Retraction: all accelerations as by loops, and the base's reaction as the change of momentum says."""
    rows = ROWS.replace("A: Sx(0.5)", "A: Sx(0.5 - 0.1*t^2), Sz(0.05*sin(3*t))")
    parts = PARTS if kind == "UPS" else "Sx(0.1), m(2), Jz(0.03) | Sx(0.3), m(1), Jx(0.001), Jy(0.02), Jz(0.0205)"
    if kind != "UPS":
        rows = rows.replace(" >", ", Rx(pi/2) >")
    mechanism = kg.parse(table(rows=rows, kind=kind, parts=parts))
    q, v, tau, t = moving(mechanism, 0.4)
    tau[3:9] = 0
    closed = evaluated(mechanism, "qdd,base_reaction")
    qdd, base = closed(q, v, tau, t)
    (loops,) = evaluated(mechanism, "qdd", AS_LOOPS)(q, v, tau, t)
    np.testing.assert_allclose(qdd, loops, rtol=0, atol=1e-10 * np.max(np.abs(loops)))
    change = momentum_change(mechanism, q, v, qdd, float(t))
    weight = np.array([0, 0, -9.81 * 29])
    np.testing.assert_allclose(base[:3], weight - change[:3], atol=1e-5)


def momentum_change(mechanism: Mechanism, q: np.ndarray, v: np.ndarray, a: np.ndarray, t: float) -> np.ndarray:
    """The change of the bodies' momentum along a motion, by a difference."""
    momentum, h = evaluated(mechanism, "momentum"), 1e-5
    ends = []
    for way in (h, -h):
        place = moved_positions(mechanism, q, way * v + way**2 / 2 * a)
        ends.append(momentum(place, v + way * a, t + way)[0])
    return (ends[0] - ends[1]) / (2 * h)


FAULTS = [
    (table(kind="UUU"), "legs UUU have no closed form"),
    (table(kind="PUS"), "unknown leg type 'PUS'"),
    (table(kind="UPS(1, 2)"), "the leg A of type UPS takes 0 lengths"),
    (table(kind="RUS"), "the leg A of type RUS takes 2 lengths"),
    (table(kind="RUS(0.1, 0.2)"), "the leg A cannot reach the platform"),
    (table(kind="RUS(1e200, 0.2)"), "the leg A cannot reach the platform"),
    (table("dampng(3)"), "did you mean `damping`"),
    (table("screw(1, 2, 3, 4, 5)"), "takes 1 to 4 expressions"),
    (table(rows="| A: Sz(0.6) > Sx(0)"), "the leg A has no direction: its joints on base and platform coincide"),
    (table().replace("platform UPS | Ring", "platform UPS | Rign"), "Rign"),
    (table().replace("| B:", "| B~Ring:"), "the leg B has the platform Ring as its base"),
    (table("effort(3*lenght)"), "unknown name 'lenght' in `value` of the force A_drive"),
]


@pytest.mark.parametrize(("text", "message"), FAULTS, ids=[message[:20] for _, message in FAULTS])
def test_faults_are_named(text: str, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        kg.parse(text)
    assert message in str(caught.value)


def test_a_ring_out_of_reach_is_named() -> None:
    mechanism = kg.parse(
        table(
            kind="RUS(0.2, 0.6)",
            rows=ROWS.replace(" >", ", Rx(pi/2) >"),
            parts="m(1), Jz(0.1) | m(1), Jy(0.1), Jz(0.1)",
        )
    )
    with pytest.raises(KinegraphError, match="the leg A cannot reach the platform"):
        kg.assemble(mechanism, {"z": 3})
    with pytest.raises(KinegraphError, match="is not a platform"):
        kg.derive("four-bar", "base_reaction")


def test_energy_is_kept_by_a_free_ring() -> None:
    mechanism = kg.parse(table())
    run = kg.simulate(mechanism, 0.3, state={"wx": 1, "y'": 0.3}, rtol=1e-10, times=3, native=False)
    kernel = evaluated(mechanism, "energy")
    layout = mechanism.layout
    energies = []
    for row in (0, -1):
        q, v = (np.array([run[name][row] for name in names]) for names in (layout.positions, layout.velocities))
        energies.append(kernel(q, v)[0].sum())
    assert abs(energies[1] - energies[0]) < 1e-8


def test_first_joints_moved_by_a_drive_or_by_a_law() -> None:
    """A carriage held at a constant speed by its drive: the ring moves as on joints that a law moves so, and the force
    of the drive is what the legs take."""
    kind, parts = "RUS(0.2, 0.6)", "Sx(0.1), m(1), Jz(0.02) | Sx(0.3), m(0.5), Jy(0.02), Jz(0.02)"
    rows = (
        "| A{on}: {at}Sx(0.5), Rx(pi/2) > Sx(0.3), Sy(0.2) | B{on}: {at}Sx(-0.2), Sy(0.4), Rx(pi/2) > Sx(-0.3), Sy(0.1)"
    )
    law = kg.parse(table(rows=rows.format(on="", at="Sz(0.05*t), "), kind=kind, parts=parts))
    carriage = RING.replace("coordinates x", "coordinates s; coordinates x") + "Slide | Sz(s) | m(3);"
    driven = kg.parse(f"model slid; {carriage} platform {kind} | Ring | {parts} | {rows.format(on='~Slide', at='')};")
    assert platform_of(law) is not None and platform_of(driven) is not None
    q, v, tau, t = moving(law, 0.4)
    assert isinstance(t, float)
    wanted, forces = evaluated(law, "qdd,base_reaction")(q, v, tau, t)
    names, known = driven.layout, law.layout
    at = {**dict(zip(known.positions, q, strict=True)), "s": 0.05 * t}
    rates = {**dict(zip(known.velocities, v, strict=True)), "s'": 0.05}
    given = dict(zip(known.velocities, tau, strict=True))
    run, place = evaluated(driven, "qdd"), names.velocities.index("s'")
    columns = np.array([at[one] for one in names.positions]), np.array([rates[one] for one in names.velocities])
    found = []
    for force in (0.0, 1.0):
        loads = np.array([given.get(one, force) for one in names.velocities])
        found.append(run(*columns, loads)[0])
    needed = -found[0][place] / (found[1] - found[0])[place]
    held = found[0] + needed * (found[1] - found[0])
    right = [wanted[known.velocities.index(one)] if one != "s'" else 0.0 for one in names.velocities]
    np.testing.assert_allclose(held, right, rtol=0, atol=1e-9 * np.max(np.abs(wanted)))
    assert needed == pytest.approx(3 * 9.81 - forces[2], rel=1e-9)
