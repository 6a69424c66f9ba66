"""A platform on a free spacecraft: the reference's states, to 1e-9."""

from __future__ import annotations

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.model.builder import Builder, Sx, Sy, Sz
from kinegraph.model.element_builder import at
from kinegraph.model.mechanism import Mechanism, Transform
from kinegraph.model.platforms.leg_table import LegRow
from kinegraph.model.platforms.recognition import legs_of, platform_of
from tests.derive.platforms.evaluate import evaluated
from tests.derive.platforms.reference import Case, data, part, rows, turns


def free(builder: Builder, letter: str, position: list[float], quaternion: list[float]) -> list[Transform]:
    shifts = zip((Sx, Sy, Sz), "xyz", position, strict=True)
    place: list[Transform] = [turn(builder.coordinate(letter + axis, start)) for turn, axis, start in shifts]
    names = [f"{letter}e{k}" for k in range(4)], [f"{letter}w{axis}" for axis in "xyz"]
    return [*place, builder.quaternion(*names, quaternion)]


def spacecraft() -> Mechanism:
    """The spacecraft, the free platform, and legs between both."""
    reference = data("free_floating_UPS")
    model, craft = reference["model"], reference["spacecraft"]
    builder = Builder("free-floating")
    start = reference["motion"]["start"]
    bus = builder.body("Bus", None, free(builder, "s", [0, 0, 0], [1, 0, 0, 0]), part(craft))
    pose = free(builder, "r", start["ring_position"], start["ring_quaternion_unnormalised"])
    ring = builder.body("Ring", None, pose, part(model["ring"]))
    x, y, z = craft["mount_r"]
    mount = (Sx(x), Sy(y), Sz(z), *turns(craft["mount_R"]))
    legs = [LegRow(one.name, (*mount, *one.at_base), one.at_platform, bus.name) for one in rows(model)]
    builder.platform("UPS", ring, legs, part(model["lower"]), part(model["upper"]))
    push = [builder.input(f"f{axis}") for axis in "xyz"]
    builder.point_force("strike", at(ring, reference["struck_point_in_ring_axes"]), push)
    return builder.build()


def test_states() -> None:
    mechanism, reference = spacecraft(), data("free_floating_UPS")
    assert len(legs_of(mechanism)) == 6 and platform_of(mechanism) is not None
    one, run, layout = Case(mechanism, 6), evaluated(mechanism, "qdd,leg_reactions,base_reaction"), mechanism.layout
    assembler = Assembler(mechanism)
    for state in reference["states"]:
        q, v = np.zeros(len(layout.positions)), np.zeros(len(layout.velocities))
        for k, body in enumerate(("spacecraft", "ring")):
            e = np.array(state[f"{body}_quaternion_unnormalised"])
            q[6 + 7 * k : 13 + 7 * k] = [*state[f"{body}_position"], *(e / np.linalg.norm(e))]
            v[6 + 6 * k : 12 + 6 * k] = [*state[f"{body}_velocity"], *state[f"{body}_angular_velocity_body"]]
        fitting = assembler.assembled(q, v)  # both bodies stay, the legs reach the ring
        assert not fitting.changed
        tau = np.zeros(len(v))
        tau[:6] = state["actuator_efforts"]
        qdd, reactions, together = run(fitting.q, fitting.v, tau, np.array(state["force_on_ring"]))
        wanted = state["result"]
        for k, body in enumerate(("spacecraft", "ring")):
            found = qdd[6 + 6 * k : 12 + 6 * k]
            right = [*wanted[f"{body}_acceleration"], *wanted[f"{body}_angular_acceleration_body"]]
            np.testing.assert_allclose(found, right, rtol=0, atol=1e-9)
        legs = np.concatenate([qdd[:6], qdd[18:]])
        np.testing.assert_allclose(legs, one.in_legs(wanted["joint_accelerations"]), rtol=0, atol=1e-9)
        of_legs = [wanted["leg_force_on_spacecraft"], wanted["leg_moment_on_spacecraft_about_its_mass_centre"]]
        np.testing.assert_allclose(reactions, np.hstack(of_legs), rtol=0, atol=1e-9)
        both = wanted["total_force_on_spacecraft"], wanted["total_moment_on_spacecraft_about_its_mass_centre"]
        np.testing.assert_allclose(together, np.concatenate(both), rtol=0, atol=1e-9)
