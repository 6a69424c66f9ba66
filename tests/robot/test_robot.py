"""`kg.robot` and `kg.order`: the same mechanics in every order, the orders of other programs, configurations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.robot_calls import MJCF, URDF

import kinegraph as kg
from kinegraph.errors import DerivationError, ModelError

pytestmark = pytest.mark.filterwarnings("ignore::kinegraph.errors.LeftOutWarning")


@pytest.fixture(scope="module")
def walker(tmp_path_factory: pytest.TempPathFactory) -> kg.Mechanism:
    path = tmp_path_factory.mktemp("robot") / "walker.urdf"
    path.write_text(URDF)
    return kg.load(path, floating=True)


def test_orders_of_a_urdf(walker: kg.Mechanism) -> None:
    joints = {one: [joint.name for joint in kg.order(walker, one).joints] for one in ("file", "mujoco", "pinocchio")}
    assert joints["file"] == ["base", "z_hip", "knee", "roll", "a_lift"]
    assert joints["pinocchio"] == ["base", "a_lift", "z_hip", "knee", "roll"]  # by name, depth first
    assert kg.order(walker, "pinocchio").positions[-2:] == ("roll:cos", "roll:sin")


@pytest.mark.parametrize("convention", ["file", "mujoco", "pinocchio"])
def test_the_same_motion_in_every_order(walker: kg.Mechanism, convention: str) -> None:
    ours, other = kg.robot(walker), kg.robot(walker, order=convention)
    q, (v, a) = ours.random(4, count=3), np.random.default_rng(2).normal(size=(2, 3, ours.nv))
    there, w = other.order.to_q(q), other.order.to_last(q, v)
    rate = other.order.to_a(q, v, a)
    np.testing.assert_allclose(other.order.from_q(there), q, atol=1e-14)
    np.testing.assert_allclose(other.kinetic_energy(there, w), ours.kinetic_energy(q, v), rtol=1e-13)
    np.testing.assert_allclose(other.com_acceleration(there, w, rate), ours.com_acceleration(q, v, a), atol=1e-12)
    tau = other.inverse_dynamics(there, w, rate)
    np.testing.assert_allclose(np.sum(tau * w, axis=1), np.sum(ours.inverse_dynamics(q, v, a) * v, axis=1), rtol=1e-11)
    np.testing.assert_allclose(other.forward_dynamics(there, w, tau), rate, atol=1e-11)


@pytest.mark.parametrize("convention", ["model", "pinocchio"])
def test_rates_are_derivatives_along_the_motion(walker: kg.Mechanism, convention: str) -> None:
    robot, step = kg.robot(walker, order=convention), 1e-6
    q, (v, a) = robot.random(1), np.random.default_rng(0).normal(size=(2, robot.nv))
    after, before = (robot.integrate(q, sign * step * v) for sign in (1, -1))
    rate = (robot.com(after) - robot.com(before)) / (2 * step)
    np.testing.assert_allclose(robot.com_jacobian(q) @ v, rate, atol=1e-8)
    np.testing.assert_allclose(robot.com_velocity(q, v), rate, atol=1e-8)
    for reference in ("aligned", "local", "world"):
        change = (robot.jacobian("hand", after, reference) - robot.jacobian("hand", before, reference)) / (2 * step)
        np.testing.assert_allclose(robot.jacobian_rate("hand", q, v, reference), change, atol=1e-7)
        jacobian = robot.jacobian("hand", q, reference)
        np.testing.assert_allclose(robot.velocity("hand", q, v, reference), jacobian @ v, atol=1e-12)
    by_q, by_v, by_a = robot.inverse_dynamics_derivatives(q, v, a)
    along = (robot.inverse_dynamics(after, v, a) - robot.inverse_dynamics(before, v, a)) / (2 * step)
    np.testing.assert_allclose(by_q @ v, along, atol=1e-6)
    np.testing.assert_allclose(by_a, robot.mass_matrix(q), atol=1e-12)
    ahead, behind = (robot.inverse_dynamics(q, v + sign * step * a, a) for sign in (1, -1))
    np.testing.assert_allclose(by_v @ a, (ahead - behind) / (2 * step), atol=1e-6)


def test_momentum_and_wrenches(walker: kg.Mechanism) -> None:
    robot = kg.robot(walker)
    q, (v, a) = robot.random(7), np.random.default_rng(1).normal(size=(2, robot.nv))
    momentum = robot.centroidal_momentum(q, v)
    np.testing.assert_allclose(robot.centroidal_matrix(q) @ v, momentum, atol=1e-12)
    np.testing.assert_allclose(momentum[:3], robot.mass * robot.com_velocity(q, v), atol=1e-12)
    np.testing.assert_allclose(robot.inverse_mass_matrix(q) @ robot.mass_matrix(q), np.eye(robot.nv), atol=1e-10)
    wrench = np.arange(6.0)
    tau = robot.inverse_dynamics(q, v, a, wrenches={"hand": wrench})
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau, wrenches={"hand": wrench}), a, atol=1e-10)
    with pytest.raises(ModelError, match="the wrench on hand needs 6 numbers"):
        robot.inverse_dynamics(q, v, a, wrenches={"hand": wrench[:3]})


@pytest.mark.parametrize("convention", ["model", "pinocchio"])
def test_configurations(walker: kg.Mechanism, convention: str) -> None:
    robot = kg.robot(walker, order=convention)
    q, end = robot.random(1, count=4), robot.random(2, count=4)
    np.testing.assert_allclose(robot.difference(q, robot.interpolate(q, end, 1.0)), robot.difference(q, end), atol=1e-9)
    scaled = 2 * q
    robot.normalize(scaled)
    np.testing.assert_array_equal(scaled, 2 * q)  # a caller's array stays as it is
    place, speed = robot.order.joint("knee")
    low, high = robot.position_limits()
    assert (low[place], high[place]) == (-1, 2)
    assert robot.velocity_limits()[speed] == 3
    assert np.isinf(robot.effort_limits()[robot.order.joint("roll")[1]])  # it has no limits


def test_orders_of_an_mjcf(tmp_path: Path) -> None:
    path = tmp_path / "walker.xml"
    path.write_text(MJCF)
    robot = kg.robot(path, order="mujoco")
    assert [one.name for one in robot.order.joints] == ["root", "hip", "knee", "ball", "reach"]
    assert (robot.nq, robot.nv) == (14, 12)


def test_names_that_are_unknown(walker: kg.Mechanism) -> None:
    robot = kg.robot(walker)
    with pytest.raises(DerivationError, match="did you mean `hand`"):
        robot.pose("hnd", robot.neutral())
    with pytest.raises(ModelError, match="did you mean `knee`"):
        robot.order.joint("kne")
    with pytest.raises(ModelError, match="q needs 11 entries"):
        robot.com(np.zeros(3))
    with pytest.raises(ModelError, match="is not the coordinate of a joint of a URDF or MJCF file"):
        kg.order("puma560", "pinocchio")


def test_first_order_states_have_their_initial_values():
    model = kg.parse("coordinates q; state i' = -i; initial i = 3; W | Rz(q) | Jz(2); force f | value(5*i), on(q);")
    robot = kg.robot(model)
    assert robot.forward_dynamics([0.0], [0.0], [1.0]) == pytest.approx([(1 + 15) / 2])
    assert robot.inverse_dynamics([0.0], [0.0], [4.0]) == pytest.approx([8 - 15])
