"""Contacts in loops: forces by two methods, flags by their names, and how seldom Python decides."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.derive.contact_flags import ALONG, CLOSED, CONE, DRAG, MARGIN, SLIP_MARGIN, SLIPS, STICKS, ContactFlags
from kinegraph.simulate.contacts.runs import ContactSystem
from kinegraph.solve.contacts.memory import mode_flags, mode_of, numbers_of
from kinegraph.solve.contacts.mode import ContactMode, Watched
from kinegraph.solve.loops import contact_forces as laws
from kinegraph.solve.loops.contact_cones import ActingContact, solve_cones
from kinegraph.solve.loops.contact_memory import write_flags
from tests.solve.contacts.memory import memory


@pytest.mark.parametrize("seed", range(40))
def test_forces_are_those_of_the_method_for_cones(seed):
    random = np.random.default_rng(seed)
    slips = tuple(int(one) for one in random.integers(0, 2, size=random.integers(1, 5)))
    friction = tuple(float(random.choice([0.2, 0.7])) * slip for slip in slips)
    contacts = memory(slips, friction)
    rows = len(contacts.forces)
    root = random.normal(size=(rows, rows))
    compliance, q = root @ root.T + 0.1 * np.eye(rows), random.normal(size=rows)
    who = np.ones(len(slips), dtype=np.int64)
    taken = []
    for k, slip in enumerate(slips):
        sliding = bool(slip and random.integers(0, 2))
        drag = (float(random.choice([-1.0, 1.0])) * friction[k],) if sliding else None
        contacts.known[k], contacts.drag[k, 0] = sliding, drag[0] if drag else 0.0
        normal = int(contacts.normals[k])
        taken.append(ActingContact(normal, tuple(range(normal + 1, normal + 1 + slip)), friction[k], drag))
    contacts.right[:] = q
    expected = solve_cones(compliance, q, taken)
    assert laws.respond(contacts, compliance, who) is (expected is not None)
    if expected is not None:
        np.testing.assert_allclose(contacts.forces, expected.forces, atol=1e-12 * max(1.0, np.abs(q).max()), rtol=1e-9)
        assert tuple(contacts.acts.astype(bool)) == expected.acts


def flags_by_name(one, directions):
    values = {CLOSED: float(one.closed), MARGIN: one.margin, STICKS: float(one.sticks)}
    values |= {CONE: float(one.watched is Watched.CONE), SLIPS: 0.0, DRAG: 0.0}
    values[SLIP_MARGIN] = 1.0 if one.watched is Watched.NOTHING else one.slip_margin
    if directions == 1 and one.drag:
        values[DRAG] = one.drag[0]
        values[SLIPS] = -float(np.sign(one.drag[0])) if one.watched is Watched.SLIP else 0.0
    if directions == 2:
        length = float(np.linalg.norm(one.drag)) if one.drag else 0.0
        along = [-part / length for part in one.drag] if length > 0.0 else [0.0, 0.0]
        values |= dict(zip(ALONG, along, strict=True))
        values[DRAG] = -length
        values[SLIPS] = float(one.watched is Watched.SLIP)
    return values


def test_flags_have_the_order_of_the_equations():
    modes = (
        ContactMode(closed=True, margin=0.1),
        ContactMode(closed=True, drag=(-0.3,), watched=Watched.SLIP, margin=0.2, slip_margin=0.4),
        ContactMode(closed=True, sticks=True, watched=Watched.CONE, margin=0.2, slip_margin=0.5),
        ContactMode(closed=True, drag=(0.3, -0.4), watched=Watched.SLIP, margin=0.2, slip_margin=0.4),
        ContactMode(held=True, margin=1.0),
    )
    slips = (0, 1, 1, 2, 1)
    text = "model m; coordinates x = 0, y = 0, z = 0; B | Sx(x), Sy(y), Sz(z) | m(1);"
    for k, count in enumerate(slips):
        slip = (
            f"friction(0.5), slip({', '.join(['x' + chr(39), 'y' + chr(39)][:count])})" if count else "restitution(0)"
        )
        text += f" contact c{k} | z + {k} >= 0 | {slip};"
    model = kg.parse(text)
    named = [(flags_by_name(one, len(own.slip)), own) for own, one in zip(model.contacts, modes, strict=True)]
    expected = [values[word] for values, own in named for word in ContactFlags(own).words]
    np.testing.assert_array_equal(mode_flags(modes, slips), expected)
    contacts = memory(slips, (0.5,) * 5, len(expected))
    contacts.modes[:] = numbers_of(modes)
    x = np.zeros(2 + len(expected))
    write_flags(contacts.modes, contacts.slips, contacts.flags, x)
    np.testing.assert_array_equal(x[2:], expected)
    assert mode_of(contacts.modes, slips) == modes


def test_python_is_asked_for_the_first_mode_and_for_rest(monkeypatch):
    asked = []
    decide = ContactSystem.decide_mode
    monkeypatch.setattr(ContactSystem, "decide_mode", lambda *given: asked.append(given[1]) or decide(*given))
    found = kg.simulate("bouncing-ball", 3.2, native=False, times=2)
    assert len(asked) == 1 and sum(event.name.endswith("impact") for event in found.events) == 8
    found = kg.simulate("bouncing-ball", 4, native=False, times=2)
    assert found.events[-1].name.endswith("rest") and len(asked) <= 4


def test_user_events_act_between_contacts():
    model = kg.parse(
        "model ball; coordinates z = 1, s = 0; initial s' = 1; gravity 0, 0, -9.81; "
        "Ball | Sz(z), Sx(s) | m(1); contact floor | z >= 0 | restitution(0.5);"
    )
    events = [kg.Event("wall", "s - 0.3", reset={"s'": "-s'"}), kg.Event("top", "z'")]
    found = kg.simulate(model, 1.5, events=events, native=False, times=3)
    names = [event.name for event in found.events]
    assert names[:3] == ["wall", "floor: impact", "top"] and abs(found["s"][-1] - (0.3 - 1.2)) < 1e-9
