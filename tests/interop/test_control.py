"""Linear systems as objects of python-control."""

import sys

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import MissingPackageError
from kinegraph.interop import to_control


@pytest.fixture(scope="module")
def linear():
    return kg.linearize("cart-double-pendulum", {"th1'": 0}, outputs="pose:tip")


def test_a_state_space_has_the_same_transfer_function_and_names(linear):
    control = pytest.importorskip("control")
    system = to_control(linear)
    assert isinstance(system, control.StateSpace)
    assert tuple(system.state_labels) == linear.states and tuple(system.input_labels) == linear.inputs
    frequency = 3.7
    wanted = linear.C @ np.linalg.solve(1j * frequency * np.eye(6) - linear.A, linear.B) + linear.D
    np.testing.assert_allclose(system(1j * frequency), wanted, rtol=1e-11, atol=1e-13)


def test_a_regulator_of_python_control_holds_the_nonlinear_pendulum(linear):
    """LQR from the linear system, tried on the nonlinear one."""
    control = pytest.importorskip("control")
    system = to_control(kg.linearize("cart-double-pendulum", {"th1'": 0}))
    gains, _, _ = control.lqr(system.A, system.B[:, :1], np.diag([10, 100, 100, 1, 1, 1]), np.eye(1))
    law = " - ".join(["0", *(f"({gain})*{name}" for gain, name in zip(gains[0], linear.states, strict=True))])
    text = kg.library.text("cart-double-pendulum") + f"\nforce motor | value({law}), on(x);\n"
    run = kg.simulate(kg.parse(text), 12, state={"th1": 0.15, "th2": -0.1}, native=False, progress=False)
    assert max(abs(run[name][-1]) for name in ("x", "th1", "th2")) < 1e-2
    assert abs(run["th1"][0]) == 0.15


def test_a_missing_package_is_named(linear, monkeypatch):
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(MissingPackageError, match=r"kinegraph\[control\]"):
        to_control(linear)
