"""Motion from samples: error bands that hold, noise that is found, forces known as well as they say."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import TaskError
from kinegraph.tasks.prescribed_motion import Measured

TIMES = np.linspace(0, 4, 120)
INSIDE = np.linspace(0, 4, 81)


def motion(t):
    return 7 + 0.5 * np.sin(2 * t) + 0.2 * np.cos(3 * t), -2 * np.sin(2 * t) - 1.8 * np.cos(3 * t)


def samples(sigma, seed, noise=None):
    values = motion(TIMES)[0] + sigma * np.random.default_rng(seed).normal(size=len(TIMES))
    return Measured(TIMES, values, noise)


@pytest.mark.parametrize("sigma", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("given", [True, False])
def test_accelerations_lie_in_their_bands_and_noise_is_found(sigma, given):
    inside, noises, misses, squares = [], [], [], []
    for seed in range(12):
        found = samples(sigma, seed, sigma if given else None).smoothed()
        acceleration, error = found.derivatives(INSIDE)[:, 2], found.standard_errors(INSIDE)[:, 2]
        inside.append(np.abs(acceleration - motion(INSIDE)[1]) < 1.96 * error)
        noises.append(found.noise)
        misses.append(np.sqrt(np.mean((acceleration - motion(INSIDE)[1]) ** 2)) / np.sqrt(np.mean(error**2)))
        squares.append(((acceleration - motion(INSIDE)[1])[10:-10] ** 2, error[10:-10] ** 2))
    assert np.mean(inside) > 0.9
    missed, told = np.mean(squares, axis=(0, 2))
    assert 0.7 < np.sqrt(missed / told) < 1.2  # bands of the Gaussian process are 1.6 times too wide: 0.6
    assert np.mean(noises) == pytest.approx(sigma, rel=0.1)
    assert 0.1 < np.mean(misses) < 1.3  # the bands are not merely wide


@pytest.mark.parametrize(("model", "seeds"), [("crane", 5), ("crane-linkage", 1)])
def test_forces_of_a_measured_motion_lie_in_their_bands(model, seeds):
    law = "(7.1 + 2.26 + (7.1 - 2.26)*cos(pi*t/40))/2"
    times = np.linspace(0, 40, 60)
    exact = kg.unknown_forces("crane", {"s": law}, times[::4], unknown=["S"])
    inside = []
    for seed in range(seeds):
        values = (7.1 + 2.26 + (7.1 - 2.26) * np.cos(np.pi * times / 40)) / 2
        noisy = Measured(times, values + 1e-3 * np.random.default_rng(seed).normal(size=60))
        found = kg.unknown_forces(model, {"s": noisy}, times[::4], unknown=["S"])
        inside.append(np.abs(found["S"] - exact["S"]) < 2.5 * found.error("S"))
        assert found.acceleration_errors["s"].shape == (15,) and "one sigma" in str(found)
    assert np.mean(inside) > 0.85


def test_samples_and_laws_may_stand_side_by_side():
    laws = {"q1": "sin(t)", "q2": Measured(TIMES, 0.5 * TIMES, 1e-6)}
    found = kg.unknown_forces("double-pendulum", laws, [1.0, 2.0], unknown=["tau:q1", "tau:q2"])
    exact = kg.unknown_forces(
        "double-pendulum", {"q1": "sin(t)", "q2": "0.5*t"}, [1.0, 2.0], unknown=["tau:q1", "tau:q2"]
    )
    np.testing.assert_allclose(found.values, exact.values, atol=1e-4)
    whole = kg.unknown_forces("double-pendulum", laws, unknown=["tau:q1", "tau:q2"])
    np.testing.assert_array_equal(whole.times, TIMES)


@pytest.mark.parametrize(
    ("measured", "message"),
    [
        (Measured([0, 1], [1, 2]), "at least 12"),
        (Measured("early", "late"), "are not numbers"),
        (Measured(TIMES, TIMES[:-1]), "equal length"),
        (Measured(TIMES[::-1], TIMES), "must increase"),
        (Measured(TIMES, TIMES, 0.0), "positive standard deviation"),
        (Measured(TIMES, np.where(TIMES > 1, np.nan, 1.0)), "finite"),
    ],
)
def test_bad_samples_are_refused(measured, message):
    with pytest.raises(TaskError, match=message):
        kg.unknown_forces("crane", {"s": measured}, [0.5], unknown=["S"])


def test_times_outside_the_samples_are_refused():
    with pytest.raises(TaskError, match="measured only from t = 0 to 4"):
        kg.unknown_forces("crane", {"s": samples(1e-3, 0)}, [4.5], unknown=["S"])
