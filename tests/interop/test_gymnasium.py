"""Environments of Gymnasium: its own checker, rows beside single environments, and the simulator underneath."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import SolveError

pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env

from kinegraph.interop import environment

CART = kg.parse("""
    model cart-pole; parameters m = 0.1, l = 0.5; coordinates x, q;
    gravity 0, -9.81, 0;
    Cart | Sx(x) | m(1);
    Pole~Cart | Rz(q), Sy(l) | m(m);
    output tip = Pole (0, 0, 0);
""")
SETTINGS = {
    "reward": "tip.y - 0.01*x^2", "terminated": "abs(q) - 0.3", "duration": 0.5, "dt": 0.005, "steps": 4,
    "vary": {"q": "uniform(-0.1, 0.1)", "m": "uniform(0.05, 0.2)"}, "controls": ["x"], "limits": {"x": 10},
}  # fmt: skip
ACTIONS = np.random.default_rng(5).uniform(-10, 10, size=(30, 1))


def episode(env, seed: int) -> list[tuple]:
    """All that an episode returns."""
    found = [(env.reset(seed=seed)[0],)]
    for action in ACTIONS:
        found.append(env.step(action))
        if found[-1][2] or found[-1][3]:
            break
    return found


def test_the_checker_of_gymnasium_accepts_an_environment() -> None:
    env = environment(CART, **SETTINGS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # advice on spaces
        check_env(env, skip_render_check=True)
    assert env.observation_space.shape == (4,) and env.action_space.high == [10]


def test_an_episode_is_the_simulator_with_its_reward() -> None:
    env = environment(CART, **SETTINGS)
    (start,), *rest = episode(env, 3)
    sim = kg.simulator(CART, dt=0.005, controls=["x"], runtime=["m"], state=start)
    sim.parameters[:] = env.sim.parameters[0]
    assert 0.05 < sim.parameters[0] < 0.2 and abs(start[1]) < 0.1
    for action, (observed, reward, terminated, truncated, info) in zip(ACTIONS, rest, strict=False):
        sim.step(action, steps=4)
        np.testing.assert_allclose(observed, sim.state, rtol=0, atol=1e-13)
        assert reward == pytest.approx(0.5 * np.cos(sim["q"]) - 0.01 * sim["x"] ** 2)
        assert terminated == (abs(sim["q"]) > 0.3) and truncated == (round(sim.t, 9) >= 0.5) and not info
    assert terminated or truncated
    again = episode(env, 3)
    assert all(np.array_equal(one[0], other[0]) for one, other in zip([(start,), *rest], again, strict=True))


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_rows_are_single_environments(mode: str) -> None:
    """Row k with seed s is an environment with seed s + k; after an episode it starts again as the mode says."""
    many = environment(CART, count=3, autoreset=mode, **SETTINGS)
    alone = [episode(environment(CART, **SETTINGS), 7 + row) for row in range(3)]
    observed, _ = many.reset(seed=7)
    assert [np.array_equal(observed[row], alone[row][0][0]) for row in range(3)] == [True] * 3
    over = np.zeros(3, dtype=bool)
    for k, action in enumerate(ACTIONS, 1):
        observed, rewards, terminated, truncated, info = many.step(np.tile(action, (3, 1)))
        for row in np.flatnonzero(~over):
            known = alone[row][k]
            here = info["final_obs"][row] if mode == "SameStep" and (terminated | truncated)[row] else observed[row]
            np.testing.assert_allclose(here, known[0], rtol=0, atol=1e-13)
            assert (terminated[row], truncated[row]) == known[2:4] and rewards[row] == pytest.approx(known[1])
        ended = terminated | truncated
        if mode == "NextStep" and (over & ~ended).any():
            assert (rewards[over] == 0).all()
            break
        over |= ended
        if mode == "SameStep" and ended.any():
            assert (abs(observed[ended, 1]) < 0.1).all() and (observed[ended, 2:] == 0).all()
            break
        if mode == "Disabled" and ended.any():
            with pytest.raises(SolveError, match="are over"):
                many.step(np.tile(action, (3, 1)))
            kept = observed.copy()
            observed, _ = many.reset(options={"reset_mask": ended})
            assert np.array_equal(observed[~ended], kept[~ended]) and (observed[ended, 2:] == 0).all()
            many.step(np.tile(action, (3, 1)))
            break
    else:
        raise AssertionError("no episode ended")


def test_functions_see_rows_and_failures_end_an_episode() -> None:
    env = environment(
        CART, reward=lambda q, v, u: -(q[..., 0] ** 2) - 0.1 * u[..., 0] ** 2, terminated=lambda q, v, u: q[..., 0] > 1,
        observation=lambda q, v, u: np.concatenate([np.sin(q), v], axis=-1), controls=["x"], limits=5, count=2,
    )  # fmt: skip
    env.reset(seed=1)
    observed, rewards, *_ = env.step(np.array([[9.0], [-1.0]]))
    np.testing.assert_allclose(rewards, [-2.5, -0.1], rtol=1e-6)  # 9 is clipped to 5
    assert observed.shape == (2, 4)
    stiff = kg.parse("model stiff; coordinates x = 1; A | Sx(x) | m(1); spring s | on(x), stiffness(1e9);")
    env = environment(stiff, reward="-x^2", limits=1, dt=1.0, steps=60)
    env.reset(seed=0)
    observed, reward, terminated, _, info = env.step(np.zeros(1))
    assert terminated and info == {"failed": True} and np.isfinite(observed).all() and np.isfinite(reward)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"limits": {}}, "no limits of the control 'x'.*\n*.*give limits"),
        ({"limits": {"q": 1}}, "'q' is not a control"),
        ({"limits": {"x": (1, -1)}}, "the lower one first"),
        ({"vary": {"mass": "uniform(0, 1)"}}, "no initial value or parameter 'mass'"),
        ({"reward": lambda q, v, u: q[0]}, r"function of reward returned shape \(2,\).*\[..., 0\]"),
        ({"reward": lambda q, v, u: q[..., 0] * np.nan}, "the reward is nan in row 0"),
    ],
)
def test_what_is_wrong_is_said(changed: dict[str, object], words: str) -> None:
    with pytest.raises(SolveError, match=words):
        env = environment(CART, **{**SETTINGS, "count": 3, **changed})
        env.reset(seed=0)
        env.step(np.zeros((3, 1)))


def test_an_observer_reads_formulas_at_the_current_state() -> None:
    sim = kg.simulator(CART, controls=["x"], state={"q": 0.4})
    observed = sim.observer(["tip.y", "q'", "2*t"])
    sim.step([1.0], steps=20)
    np.testing.assert_allclose(observed(), [0.5 * np.cos(sim["q"]), sim["q'"], 0.04], rtol=1e-13)
