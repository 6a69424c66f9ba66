"""The answer to harmonic forces: closed form, and a long run of the nonlinear equations."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import TaskError

OSCILLATOR = "coordinates x; Cart | Sx(x) | m(2); spring s | on(x), stiffness(50); damper d | on(x), damping(2);"
#: Two hanging links with strong dampers, so that what they begin with is soon forgotten.
PENDULUM = """
    coordinates q1, q2; gravity 0, 0, -9.81;
    Upper       | Ry(q1)          | Sz(-1/2), m(1), Jy(1/12);
    Lower~Upper | Sz(-1), Ry(q2)  | Sz(-1/2), m(1), Jy(1/12);
    damper one | on(q1), damping(3); damper two | on(q2), damping(1);
"""


def test_an_oscillator():
    frequencies = np.array([0.5, 5.0, 7.0])
    found = kg.response(kg.parse(OSCILLATOR), frequencies=frequencies)
    wanted = 1 / (50 - 2 * frequencies**2 + 2j * frequencies)
    np.testing.assert_allclose(found.transfer[:, 0, 0], wanted, rtol=1e-13)
    np.testing.assert_allclose(found.phase[:, 0, 0], np.angle(wanted), rtol=1e-12)


@pytest.mark.parametrize("frequency", [2.3, 6.1])
def test_a_long_run_of_the_nonlinear_equations_answers_alike(frequency):
    """Small forces: what is nonlinear is of the order of the amplitude squared."""
    pendulum = kg.parse(PENDULUM)
    found = kg.response(pendulum, frequencies=[frequency], inputs=["tau:q1"]).transfer[0, :2, 0]
    force, period = 1e-3, 2 * np.pi / frequency
    slowest = -max(kg.linearize(pendulum).eigenvalues.real)
    begin = period * np.ceil(25 / slowest / period)
    times = begin + np.linspace(0, 2 * period, 41)
    run = kg.simulate(
        pendulum, float(times[-1]), inputs={"q1": f"{force}*cos({frequency}*t)"}, times=times, rtol=1e-11, atol=1e-14,
        native=False, progress=False,
    )  # fmt: skip
    waves = np.column_stack([np.cos(frequency * times), np.sin(frequency * times)])
    for name, wanted in zip(("q1", "q2"), found, strict=True):
        cosine, sine = np.linalg.lstsq(waves, run[name], rcond=None)[0] / force
        assert abs(complex(cosine, -sine) - wanted) < 1e-6 * abs(wanted)


def test_mistakes_are_named():
    with pytest.raises(TaskError, match="unknown name 'tau:y'"):
        kg.response(kg.parse(OSCILLATOR), inputs=["tau:y"])
