"""The object users hold: arguments, errors, size."""

import numpy as np
import pytest

from kinegraph.compiler.compile import compile
from kinegraph.errors import KernelError, ModelError
from kinegraph.model.expressions import Call, Name, expression
from kinegraph.model.mechanism import ZERO, Axis, Body, Coordinate, Inertia, Mechanism, Parameter, Rotation, Shift
from kinegraph.recursive.forward import DENSE_LIMIT
from kinegraph.recursive.systems import RecursiveSystem
from tests.effort import SOAK, calls
from tests.mechanisms import Joint, chain, random_state, random_tree

UNIT = Inertia(*(expression(1) for _ in range(4)))


def test_lists_and_integers_are_taken():
    system = RecursiveSystem(chain(2))
    found = system.tau([1, 0], [0, 0], (0, 0))
    np.testing.assert_array_equal(found, system.tau(np.array([1.0, 0.0]), np.zeros(2), np.zeros(2)))
    assert found.dtype == np.float64


def test_arrays_that_none_may_write_to_are_taken():
    mechanism = chain(3)
    kernel = compile(mechanism, "energy", loops=True)
    q, v = np.zeros(3), np.ones(3)
    one = kernel(q, v)
    for array in (q, v):
        array.flags.writeable = False
    np.testing.assert_array_equal(kernel(q, v), one)
    np.testing.assert_array_equal(kernel.batch(np.zeros((2, 3)), v)[1], one)


@pytest.mark.parametrize(
    ("q", "message"),
    [
        ([0.0], r"q has shape \(1,\), but the mechanism has 2 positions: q0, q1"),
        ([[0.0, 0.0]], r"q has shape \(1, 2\)"),
        (["a", "b"], "q holds <U1, not real numbers"),
        ([1j, 0], "q holds complex128"),
        ([None, 0], "q holds object"),
    ],
)
def test_wrong_arguments(q, message):
    with pytest.raises(KernelError, match=message):
        RecursiveSystem(chain(2)).tau(q, [0, 0], [0, 0])


def test_wrong_forces():
    with pytest.raises(KernelError, match=r"tau has shape \(3,\)"):
        RecursiveSystem(chain(2)).qdd([0, 0], [0, 0], [0, 0, 0])


@pytest.mark.parametrize("seed", range(12))
def test_nan_in_gives_nan_out(seed):
    mechanism = random_tree(seed, bodies=4)
    system = RecursiveSystem(mechanism)
    q, v, a, t = random_state(mechanism, seed)
    v[0] = np.nan
    assert np.isnan(system.tau(q, v, a, t)).any()
    assert np.isnan(system.qdd(q, v, a, t)).any()
    assert np.isnan(system.energy(q, v, t)[0])


def test_parameters_must_have_values():
    body = Body(
        "B",
        None,
        (Rotation(Axis.X, Name("q")),),
        Inertia(Name("m"), ZERO, ZERO, ZERO, central=(Shift(Axis.Y, expression(1)),)),
    )
    mechanism = Mechanism("m", (body,), (Coordinate("q"),), (Parameter("m"),))
    with pytest.raises(ModelError, match="the parameter m has no value"):
        RecursiveSystem(mechanism)
    assert RecursiveSystem(mechanism, {"m": 3}).inertia([0.0])[0, 0] == 3


def test_gravity_may_depend_on_time():
    body = Body("B", None, (Shift(Axis.Z, Name("q")),), UNIT)
    gravity = (ZERO, ZERO, -2 * Call("cos", (Name("t"),)))
    system = RecursiveSystem(Mechanism("m", (body,), (Coordinate("q"),), gravity=gravity))
    assert system.tau([0], [0], [0], 0.5)[0] == pytest.approx(2 * np.cos(0.5))


def turning(*transforms, tip=UNIT):
    """Massless bodies, one transform each, and one with inertia at the end."""
    inertias = [Inertia()] * (len(transforms) - 1) + [tip]
    bodies = tuple(
        Body(f"B{i}", f"B{i - 1}" if i else None, (transform,), inertia)
        for i, (transform, inertia) in enumerate(zip(transforms, inertias, strict=True))
    )
    return RecursiveSystem(Mechanism("m", bodies, (Coordinate("q"), Coordinate("r"), Coordinate("s"))))


def gimbal(first, second, third):
    return Rotation(first, Name("q")), Rotation(second, Name("r")), Rotation(third, Name("s"))


def test_a_massless_end_has_no_acceleration():
    system = turning(*gimbal(Axis.X, Axis.Y, Axis.Z), tip=Inertia())
    with pytest.raises(KernelError, match="nothing with inertia moves with s' alone"):
        system.qdd([0.1, 0.2, 0.3], [0, 0, 0], [1, 1, 1])


def test_redundant_coordinates_have_no_acceleration():
    with pytest.raises(KernelError, match="nothing with inertia moves with q' alone"):
        turning(*gimbal(Axis.X, Axis.X, Axis.Y)).qdd([0.1, 0.2, 0.3], [0, 0, 0], [1, 1, 1])


def test_gimbal_lock_has_no_acceleration():
    tip = Inertia(*(expression(x) for x in (1, 0.7, 0.6, 0.5, 0.1)), central=(Shift(Axis.X, expression(0.3)),))
    system = turning(*gimbal(Axis.X, Axis.Y, Axis.Z), tip=tip)
    assert np.isfinite(system.qdd([0.1, np.pi / 2 - 1e-4, 0.3], [1, 1, 1], [1, 1, 1])).all()
    with pytest.raises(KernelError, match="nothing with inertia moves with q' alone"):
        system.qdd([0.1, np.pi / 2, 0.3], [1, 1, 1], [1, 1, 1])


def test_a_dense_matrix_is_refused_when_it_would_fill_the_memory():
    links = chain(DENSE_LIMIT + 1)
    with pytest.raises(KernelError, match="needs a dense matrix"):
        RecursiveSystem(links).inertia(np.zeros(DENSE_LIMIT + 1))


@pytest.mark.parametrize("absolute", [False, True])
def test_twice_the_bodies_are_twice_the_work(absolute):
    short, long = (calls(lambda count=count: RecursiveSystem(chain(count, absolute))) for count in (500, 1000))
    assert long < 2.2 * short


@pytest.mark.parametrize("absolute", [False, True])
def test_a_hundred_thousand_bodies(absolute):
    count = 100_000 if SOAK else 20_000
    mechanism = chain(count, absolute)
    system = RecursiveSystem(mechanism)
    random = np.random.default_rng(1)
    q, v, a = random.uniform(-1e-3, 1e-3, (3, count))
    tau = system.tau(q, v, a)
    found = system.qdd(q, v, tau)
    # The forces gather the weight of all links beyond, so that is what their rounding is relative to.
    assert np.abs(system.tau(q, v, found) - tau).max() <= 1e-10 * np.abs(tau).max()
    assert np.isfinite(system.energy(q, v)).all()


def test_absolute_and_relative_angles_describe_the_same_chain():
    count = 50
    relative, absolute = RecursiveSystem(chain(count)), RecursiveSystem(chain(count, absolute=True))
    random = np.random.default_rng(2)
    q, v, tau = random.uniform(-1, 1, (3, count))
    found = absolute.qdd(np.cumsum(q), np.cumsum(v), tau - np.append(tau[1:], 0))
    np.testing.assert_allclose(found, np.cumsum(relative.qdd(q, v, tau)), rtol=1e-9, atol=1e-9 * np.abs(found).max())


def test_a_deep_tree_of_all_kinds():
    mechanism = random_tree(7, bodies=2000, joints=[j for j in Joint if j is not Joint.NONLINEAR], branching=0.02)
    system = RecursiveSystem(mechanism)
    state = random_state(mechanism, 7)
    assert np.isfinite(system.tau(*state)).all()
