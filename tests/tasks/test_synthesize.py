"""Dimensions for wanted results: closed forms, paths that a known mechanism draws, and bounds."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import KinegraphError
from kinegraph.solve.problem import Sampled
from kinegraph.tasks.synthesize import synthesize

MASS = """
    model mass;
    parameters m = 2, k = 3;
    coordinates x = 1;
    Mass | Sx(x) | m(m);
    spring s | on(x), stiffness(k);
"""


def test_the_stiffness_that_brings_a_mass_to_zero_in_a_second():
    found = synthesize(kg.parse(MASS), 1, {"x": 0}, {"k": (0.1, 10)}, times=[1], native=False)
    assert found["k"] == pytest.approx(2 * (np.pi / 2) ** 2, rel=1e-7)
    assert found.largest_deviation("x") < 1e-8 and found.at_bounds == ()


def test_bounds_hold_and_what_is_missed_is_said():
    found = synthesize(kg.parse(MASS), 1, {"x": 0}, {"k": (0.1, 2)}, times=[1], native=False)
    assert found["k"] == pytest.approx(2) and found.at_bounds == ("k",)
    assert found.largest_deviation("x") == pytest.approx(np.cos(1), rel=1e-7)
    assert "at its bound" in str(found) and "off by 0.54" in str(found)


def test_an_integral_is_a_result_too():
    """The integral of x over the first second is sin(w)/w."""
    found = synthesize(
        kg.parse(MASS), 1, {"area": "sin(1)"}, {"k": (0.5, 9)}, integrals={"area": "x"}, times=[1], native=False
    )
    assert found["k"] == pytest.approx(2, rel=1e-7)


def test_a_path_is_found_from_several_starts():
    times = np.linspace(0, 1, 11)
    drawn = kg.simulate(
        "double-pendulum", 1, parameters={"l1": 0.8, "amplitude": 0.6}, times=10, rtol=1e-10, progress=False
    )
    path = Sampled(times, drawn["tip.x"])
    pendulum = kg.parse(kg.library.text("double-pendulum") + "\ninputs path;\n")
    found = synthesize(
        pendulum, 1, {"tip.x": "path"}, {"l1": (0.3, 2), "amplitude": (0, 1)}, inputs={"path": path}, times=10,
        starts=3, native=False,
    )  # fmt: skip
    np.testing.assert_allclose(found.values, [0.8, 0.6], rtol=1e-5)


MISTAKES = [
    ({"wanted": {}}, "wanted is"),
    ({"bounds": {}}, "bounds is"),
    ({"bounds": {"kk": (0, 1)}}, "has no parameter or initial value 'kk'"),
    ({"bounds": {"k": (1, 0)}}, "smaller than the second"),
    ({"wanted": {"y": 0}}, "has no variable 'y'"),
    ({"wanted": {"x": "z"}}, "has no variable 'z'"),
    ({"starts": 0}, "at least 1"),
    ({"starts": 2, "bounds": {"k": (0, float("inf"))}}, "finite"),
    ({"times": None}, "times is None"),
    ({"parameters": {"m": 0}}, "the search cannot start"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES, ids=str)
def test_mistakes_are_named(arguments, message):
    usual = {"duration": 1, "wanted": {"x": 0}, "bounds": {"k": (0.1, 10)}, "times": 2, "native": False}
    with pytest.raises(KinegraphError, match=message):
        synthesize(kg.parse(MASS), **usual | arguments)
