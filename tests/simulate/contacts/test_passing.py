"""Nothing passes through anything: gaps are watched all through a step, and so are contacts that others hold."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.simulate import Status
from tests.effort import SOAK

BALLS = """
model balls; coordinates x1 = -{far}, y1 = {offset}, x2 = {far}, y2 = 0; initial x1' = {speed}/2, x2' = -{speed}/2;
A | Sx(x1), Sy(y1) | m(1); B | Sx(x2), Sy(y2) | m(2);
contact hit | sqrt((x1-x2)^2 + (y1-y2)^2) - 0.1 >= 0 | restitution(0.5);
"""

SLED = """
model sled; coordinates x, y, p; initial x' = 1; gravity 0, -9.81, 0;
Sled | Sx(x), Sy(y), Rz(p) | Sx(0.05), Sy(0.2), m(1), Jz(0.1);
"""


def sled(feet: list[float], surface: str) -> kg.Mechanism:
    """A sled on feet; the surface is an expression of X."""
    points = " ".join(f"output P{k} = Sled ({place}, 0, 0);" for k, place in enumerate(feet))
    meet = [f"contact c{k} | P{k}.y - ({surface.replace('X', f'P{k}.x')}) >= 0;" for k in range(len(feet))]
    return kg.parse(SLED + points + " ".join(meet))


def run(model, duration, **options):
    found = kg.simulate(model, duration, native=False, progress=False, **options)
    lowest = min(float(found[f"{one.name}.gap"].min()) for one in model.contacts)
    assert found.status is Status.FINISHED and lowest > -1e-9
    assert all(check.passed for check in found.checks)
    return found


@pytest.mark.parametrize("speed", [3, 3e5])
@pytest.mark.parametrize(("far", "offset"), [(1.5, 0.02), (1.5, 0.0999999), (1e4, 0)])
def test_balls_meet_however_fast_they_are(speed, far, offset):
    found = run(kg.parse(BALLS.format(far=far, offset=offset, speed=speed)), 8 * far / speed, times=300)
    assert [event.name for event in found.events] == ["hit: impact"]
    assert found.events[0].time == pytest.approx((2 * far - np.sqrt(0.01 - offset**2)) / speed, rel=1e-9)


def test_a_near_miss_is_a_miss():
    found = run(kg.parse(BALLS.format(far=1.5, offset=0.1000001, speed=3)), 10, times=300)
    assert not found.events and found.statistics.steps < 10


@pytest.mark.parametrize("method", ["dopri5", "bdf"] if SOAK else ["dopri5"])
def test_the_first_of_many_walls_is_hit(method):
    """A body flies over ridges that grow: it hits the first that is higher than its way, one of hundreds in a step."""
    model = kg.parse("""
        coordinates x, z = 1; initial x' = 50; Body | Sx(x), Sz(z) | m(1);
        contact ridges | z - 0.004*x*sin(3*x)^8 >= 0;
    """)
    found = kg.simulate(model, 20, method=method, native=False, times=2000, progress=False)
    first = np.linspace(249.9, 260, 2_000_001)
    wanted = first[np.argmax(0.004 * first * np.sin(3 * first) ** 8 >= 1)] / 50
    assert found.events[0].time == pytest.approx(wanted, abs=1e-6)
    assert found["ridges.gap"].min() > -1e-7


@pytest.mark.soak
def test_a_contact_that_others_hold_is_watched():
    """A bump lifts feet one after the other; two of three carry, and the third must not sink into the bump."""
    found = run(sled([0.5, -0.2, -0.5], "2*max(0, (X-1)*(2-X))^3"), 3.2, times=400)
    assert {"c1: release", "c2: release", "c2: held"} <= {event.name for event in found.events}
    away = [found[f"c{k}.gap"] > 1e-4 for k in range(3)]
    assert all(np.all(found[f"c{k}.mode"][away[k]] == 0) for k in range(3)) and sum(map(np.any, away)) >= 2


def test_a_closed_contact_does_not_step_over_a_bump():
    """On a plane nothing limits steps; both feet go over the bump all the same, and its slope brakes the sled."""
    surface = "64*max(0, (X-5)*(5.1-X))^2*1e3*max(0, (X-5)*(5.1-X))"
    found = run(sled([0.5, -0.5], surface), 7, times=2000)
    assert 0.009 < np.max(np.abs(found["x'"] - 1)) < 0.011
    assert found["x'"][-1] == pytest.approx(1, abs=1e-7)
    rear = np.abs(found["x"] - 5.55) < 0.02
    assert np.min(found["x'"][rear]) < 0.995


def random_balls(seed: int) -> tuple[str, float]:
    """Balls that fly toward each other, past a peg and over a wavy floor, and how long."""
    random = np.random.default_rng(seed)
    count, speed, far = int(random.integers(2, 4)), 10.0 ** random.uniform(-1, 3), random.uniform(1, 5)
    angles = random.uniform(0, 6.28) + np.arange(count) * 2 * np.pi / count + random.uniform(-0.3, 0.3, count)
    radii, law = random.uniform(0.02, 0.2, count), random.choice([0, 0.5, 1])
    places = far * np.c_[np.cos(angles), np.sin(angles)]
    aims = random.uniform(-0.8, 0.8, (count, 2)) * radii.mean()
    speeds = -speed * random.uniform(0.7, 1.3, (count, 1)) * (places - aims) / far
    start = ", ".join(f"x{k} = {float(x)}, y{k} = {float(y)}" for k, (x, y) in enumerate(places))
    going = ", ".join(f"x{k}' = {float(x)}, y{k}' = {float(y)}" for k, (x, y) in enumerate(speeds))
    text = f"model balls; coordinates {start}; initial {going}; gravity 0, {random.choice([0, -9.81])}, 0; "
    text += " ".join(f"B{k} | Sx(x{k}), Sy(y{k}) | m({float(random.uniform(0.2, 3))});" for k in range(count))
    gaps = [
        f"sqrt((x{i}-x{j})^2 + (y{i}-y{j})^2) - {float(radii[i] + radii[j])}" for i in range(count) for j in range(i)
    ]
    if random.random() < 0.5:
        x, y = (float(one) for one in random.uniform(-0.5, 0.5, 2))
        gaps += [f"sqrt((x{k}-({x}))^2 + (y{k}-({y}))^2) - {float(radii[k]) + 0.05}" for k in range(count)]
    if random.random() < 0.5:
        high, often = random.uniform(0.01, 0.3), random.uniform(1, 20)
        gaps += [f"y{k} + {far + 1} - {high}*sin({often}*x{k}) - {float(radii[k])}" for k in range(count)]
    meet = [f"contact c{k} | {gap} >= 0 | restitution({law});" for k, gap in enumerate(gaps)]
    return text + " ".join(meet), 4 * far / speed


def random_sled(seed: int) -> tuple[str, float]:
    """A sled on two to four feet that goes over a bump, and how long."""
    random = np.random.default_rng(seed)
    feet = [-0.5, *np.sort(random.uniform(-0.4, 0.4, int(random.integers(0, 3)))), 0.5]
    wide, high, begin = random.uniform(0.1, 1), random.uniform(0.001, 0.03), random.uniform(0.7, 1.5)
    law = f"restitution({random.choice([0, 0.3])})"
    friction = random.choice([0, 0.1])
    text = SLED.replace("y, p", f"y = {random.choice([0, 0.1])}, p").replace("x' = 1", f"x' = {random.uniform(0.5, 5)}")
    for k, place in enumerate(feet):
        bump = f"{high / (wide / 2) ** 6}*max(0, (P{k}.x - {begin})*({begin + wide} - P{k}.x))^3"
        slip = f", friction({friction}), slip(P{k}.x')" if friction else ""
        text += f"output P{k} = Sled ({float(place)}, 0, 0); contact c{k} | P{k}.y - {bump} >= 0 | {law}{slip}; "
    return text, 4.0 / float(text.split("x' = ")[1].split(";")[0])


@pytest.mark.parametrize("seed", range(60 if SOAK else 1))
@pytest.mark.parametrize("scene", [random_balls, random_sled])
def test_random_scenes(scene, seed):
    text, duration = scene(seed)
    run(kg.parse(text), duration, times=1000)
