"""Periodic motions through impacts and jumps of forces, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq, fsolve

import kinegraph as kg
from kinegraph.errors import TaskError

G, E, T = 9.81, 0.8, 1 / 30
W = 2 * np.pi / T
#: The acceleration of the plate that throws the ball, and its second part at which bounces of one period double.
THROWN, LIMIT = G * T * W * (1 - E) / (2 * (1 + E)), 2 * G * (1 + E**2) / (1 + E) ** 2
BALL = """model bounces; parameters e = 0.8, w = 60*pi, A = 3e-4; coordinates z; gravity 0, 0, -9.81;
Ball | Sz(z) | m(0.01); contact plate | z - A*sin(w*t) >= 0 | restitution(e);"""


def bounce(A: float) -> dict[str, float]:
    """The state at t = 0 of the ball that bounces once per period, from its impacts at A w cos(phi) = THROWN/w."""
    phase = np.arccos(THROWN / (A * W**2))
    flight = T - phase / W
    return {"z": A * np.sin(phase) + G * T / 2 * flight - G * flight**2 / 2, "z'": G * (T / 2 - flight)}


@pytest.mark.parametrize("A", [2.5e-4, 4e-4])
def test_a_bouncing_ball(A: float) -> None:
    """State and multipliers: their product is e^2, their sum 1 + e^2 - (1 + e)^2 A w^2 sin(phi)/g."""
    exact = bounce(A)
    start = {"z": 1.01 * exact["z"], "z'": 0.99 * exact["z'"]}
    found = kg.periodic_motion(kg.parse(BALL), state=start, parameters={"A": A}, by="A")
    assert found.driven and found.period == pytest.approx(T)
    assert found.state == pytest.approx(exact, rel=1e-11)
    sine = np.sin(np.arccos(THROWN / (A * W**2)))
    np.testing.assert_allclose(np.prod(found.multipliers).real, E**2, rtol=1e-10)
    np.testing.assert_allclose(np.sum(found.multipliers).real, 1 + E**2 - (1 + E) ** 2 * A * W**2 * sine / G, rtol=1e-9)
    assert found.stable == (np.hypot(THROWN, LIMIT) > A * W**2)
    step = 1e-6 * A
    slope = (mean_height(A + step) - mean_height(A - step)) / (2 * step)
    assert found.over_cycle("z").derivatives["A"][0] == pytest.approx(slope, rel=1e-6)


def mean_height(A: float) -> float:
    """Of a flight from the plate back to the plate."""
    return float(A * np.sin(np.arccos(THROWN / (A * W**2))) + G * T**2 / 12)


def test_bounces_double_where_the_closed_form_says() -> None:
    A = float(np.hypot(THROWN, LIMIT)) / W**2
    found = kg.periodic_motion(kg.parse(BALL), state=bounce(A), parameters={"A": A})
    np.testing.assert_allclose(np.sort(found.multipliers.real), [-1, -(E**2)], atol=1e-9)


def test_an_impact_oscillator() -> None:
    """One impact per period: free and forced vibrations, put together by hand; the slope by the stop's place."""
    source = """model stop; parameters w = 2.8, e = 0.6, d = 0.05; coordinates x;
    Mass | Sx(x) | m(1); spring s | on(x), stiffness(1); force f | on(x), value(cos(w*t));
    contact wall | d - x >= 0 | restitution(e);"""
    w, e, period = 2.8, 0.6, 2 * np.pi / 2.8

    def impact(d: float) -> np.ndarray:
        """Amplitudes of free vibration and the time of the impact, of the flight that ends there."""

        def missing(y: np.ndarray) -> list[float]:
            a, b, end = y
            first = end - period
            place = [a * np.cos(t) + b * np.sin(t) + np.cos(w * t) / (1 - w**2) for t in (first, end)]
            speed = [-a * np.sin(t) + b * np.cos(t) - w * np.sin(w * t) / (1 - w**2) for t in (first, end)]
            return [place[0] - d, place[1] - d, speed[0] + e * speed[1]]

        return np.asarray(fsolve(missing, guess, xtol=1e-14))

    settled = kg.simulate(kg.parse(source), 60 * period, times=[60 * period], rtol=1e-9, atol=1e-12)
    start = {name: float(settled[name][-1]) for name in ("x", "x'")}
    found = kg.periodic_motion(kg.parse(source), state=start, by="d")
    x, v = found.state["x"], found.state["x'"]
    a, b = x - 1 / (1 - w**2), v
    values = found["x"]
    guess = np.array([a, b, float(found.times[int(np.argmax(values))])])
    exact = impact(0.05)
    np.testing.assert_allclose([a, b], exact[:2], atol=1e-9)

    def mean(y: np.ndarray) -> float:
        a, b, end = y
        free = [a * np.sin(t) - b * np.cos(t) + np.sin(w * t) / w / (1 - w**2) for t in (end - period, end)]
        return float((free[1] - free[0]) / period)

    slope = (mean(impact(0.05 + 1e-6)) - mean(impact(0.05 - 1e-6))) / 2e-6
    assert found.over_cycle("x").mean == pytest.approx(mean(exact), rel=1e-9)
    assert found.over_cycle("x").derivatives["d"][0] == pytest.approx(slope, rel=1e-6)
    assert np.prod(found.multipliers).real == pytest.approx(e**2, rel=1e-9)  # no losses but the impact


def test_dry_friction_as_den_hartog_found_it() -> None:
    """The amplitude of an oscillator that does not stick, Den Hartog 1931, and its slope by the friction."""
    source = """model dry; parameters F = 0.2; coordinates x;
    Mass | Sx(x) | m(1); spring s | on(x), stiffness(1); force f | on(x), value(cos(0.7*t) - F*sign(x'));"""
    found = kg.periodic_motion(kg.parse(source), state={"x": 1.5, "x'": 0.1}, by="F")
    own = 1 / (1 - 0.7**2)
    dry = np.sin(np.pi / 0.7) / (0.7 * (1 + np.cos(np.pi / 0.7)))
    amplitude = np.sqrt(own**2 - (0.2 * dry) ** 2)
    assert found.over_cycle("x").high == pytest.approx(amplitude, rel=1e-9)
    assert found.over_cycle("x").derivatives["F"][3] == pytest.approx(-0.2 * dry**2 / amplitude, rel=1e-4)
    assert found.stable
    kicked = [found.state["x"] + 1e-4, found.state["x'"]]
    run = kg.simulate(kg.parse(source), found.period, state=kicked, times=[found.period], rtol=1e-10, atol=1e-12)
    moved = np.hypot(run["x"][-1] - found.state["x"], run["x'"][-1] - found.state["x'"]) / 1e-4
    assert moved < 2 * max(abs(found.multipliers))


def test_a_square_wave_jumps_in_time() -> None:
    """x'' + x = sign(cos(w t)): the switching times are known, so the monodromy is that of the free vibration."""
    source = """model wave; parameters w = 2.5; coordinates x; Mass | Sx(x) | m(1); spring s | on(x), stiffness(1);
    force f | on(x), value(sign(cos(w*t)));"""
    found = kg.periodic_motion(kg.parse(source))
    quarter = np.pi / 5
    amplitude = 1 - 1 / np.cos(quarter)  # at t = 0, between two jumps
    assert found.state == pytest.approx({"x": amplitude, "x'": 0.0}, abs=1e-10)
    np.testing.assert_allclose(
        np.sort_complex(found.multipliers), np.exp([-8j * quarter / 2, 8j * quarter / 2]), atol=1e-9
    )


def test_smooth_kinks_stay_smooth() -> None:
    """Where only slopes jump, as of `abs` and `max`, no piece ends."""
    source = """model kink; coordinates x = 0.3; Mass | Sx(x) | m(1); damper c | on(x), damping(0.4);
    force f | on(x), value(cos(2*t) - 3*max(x, 0) - abs(x)*x - 2*min(x, 0));"""
    found = kg.periodic_motion(kg.parse(source))
    run = kg.simulate(kg.parse(source), found.period, state=found.state, times=[found.period], rtol=1e-10)
    assert found.state == pytest.approx({name: run[name][-1] for name in ("x", "x'")}, abs=1e-7)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("restitution(e)", "restitution(0)"), "comes to rest on the contact plate"),
        (("restitution(e)", "restitution(e), friction(0.3), slip(z')"), "has friction"),
        (("coordinates z;", "coordinates z = -1;"), "penetrated at the start"),
    ],
)
def test_what_impacts_cannot_do_is_said(change: tuple[str, str], message: str) -> None:
    with pytest.raises(TaskError, match=message):
        kg.periodic_motion(kg.parse(BALL.replace(*change)), state=None if "-1" in change[1] else bounce(3e-4))


def test_a_ball_on_a_lever() -> None:
    """An impact of a loop: the same motion by coordinates of a lever that a rod couples."""
    source = """model lever; parameters e = 0.8, w = 60*pi, A = 3e-4; coordinates z, y; gravity 0, 0, -9.81;
    Ball | Sz(z) | m(0.004); Twin | Sx(1), Sz(y) | m(0.006); constraint rod | y = z;
    contact plate | z - A*sin(w*t) >= 0 | restitution(e);"""
    found = kg.periodic_motion(kg.parse(source), state=bounce(3e-4))
    single = kg.periodic_motion(kg.parse(BALL), state=bounce(3e-4))
    assert found.state["z"] == pytest.approx(single.state["z"], rel=1e-9)
    np.testing.assert_allclose(np.sort_complex(found.multipliers), np.sort_complex(single.multipliers), atol=1e-8)


@pytest.mark.soak
def test_limits_of_stability_by_a_search() -> None:
    """The amplitude at which a multiplier passes -1, found by bisection on the multipliers."""

    def largest(A: float) -> float:
        found = kg.periodic_motion(kg.parse(BALL), state=bounce(A), parameters={"A": A})
        return float(np.min(found.multipliers.real)) + 1

    exact = float(np.hypot(THROWN, LIMIT)) / W**2
    assert brentq(largest, 0.99 * exact, 1.01 * exact, xtol=1e-12) == pytest.approx(exact, rel=1e-7)
