"""One instance of an FMU at a time: derivatives, states kept and restored, tolerances, misuse."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.export import Fmi
from tests.export.fmu.hosting import (
    KINDS,
    LOADED,
    VERSIONS,
    Host,
    Maker,
    fmpy,
    needs_compiler,
    panda,
    run,
)
from tests.interpreted import interpreted


@needs_compiler
@VERSIONS
def test_directional_derivatives(host: Callable[..., Host], fmi: Fmi) -> None:
    mechanism = kg.parse(LOADED)
    point = {"q1": 0.3, "s": -0.1, "q1'": 0.7, "s'": -0.4, "tau:q1": 0.2, "tau:s": 0.1, "u": 0.5, "m": 2.5, "k": 30.0}
    one = host(mechanism, fmi).start(**point)
    unknowns = ["der(q1)", "der(s)", "q1''", "s''", "kinetic", "potential", "energy", "hand.x", "q1"]
    for known, value in point.items():
        found = one.slope(unknowns, known)
        sides = []
        for change in (1e-6, -1e-6):
            shifted = host(mechanism, fmi).start(**{**point, known: value + change})
            sides.append(shifted.get(*unknowns))
        np.testing.assert_allclose(found, (sides[0] - sides[1]) / 2e-6, rtol=1e-6, atol=1e-7, err_msg=known)


@needs_compiler
def test_the_jacobian_of_the_kernels(host: Callable[..., Host]) -> None:
    """The matrix d(qdd)/d(q, tau) of a robot, column by column, against another derivation of it."""
    mechanism = panda()
    random = np.random.default_rng(3)
    q, v, tau = random.uniform(-1, 1, (3, len(mechanism.layout.positions)))
    inputs = tuple(f"tau:{name}" for name in mechanism.layout.positions)
    names = (*mechanism.layout.positions, *inputs, *mechanism.layout.velocities)
    one = host(mechanism, Fmi.TWO).start(**dict(zip(names, np.concatenate([q, tau, v]).tolist(), strict=True)))
    expected = interpreted(mechanism, "d(qdd)/d(q),d(qdd)/d(tau)")(q, v, tau)
    accelerations = list(mechanism.layout.accelerations)
    found = np.array([one.slope(accelerations, name) for name in names[: -len(v)]]).T
    for block, wanted in zip(np.split(found, 2, axis=1), expected.values(), strict=True):
        np.testing.assert_allclose(block, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())


@needs_compiler
def test_the_length_of_a_quaternion_has_no_influence(host: Callable[..., Host]) -> None:
    mechanism = kg.load("free-body")
    one = host(mechanism, Fmi.TWO, "ModelExchange").start()
    one.fmu.newDiscreteStates()
    one.fmu.enterContinuousTimeMode()
    size = len(mechanism.layout.positions) + len(mechanism.layout.velocities)
    (start,) = mechanism.layout.quaternions
    random = np.random.default_rng(2)
    names = list(mechanism.layout.positions) + list(mechanism.layout.velocities)

    def slopes(states: np.ndarray) -> np.ndarray:
        found = np.zeros(size)
        pointers = [values.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for values in (states, found)]
        one.fmu.setContinuousStates(pointers[0], size)
        one.fmu.getDerivatives(pointers[1], size)
        return found

    states = random.uniform(-1, 1, size)
    states[start : start + 4] /= np.linalg.norm(states[start : start + 4])
    longer = states.copy()
    longer[start : start + 4] *= 1.7
    scale = np.ones(size)
    scale[start : start + 4] = 1.7
    at_unit_length = slopes(states)
    np.testing.assert_allclose(slopes(longer), at_unit_length * scale, rtol=1e-14, atol=1e-14)
    unknowns = [f"der({name})" for name in mechanism.layout.positions] + list(mechanism.layout.accelerations)
    for index in range(start, start + 4):
        shift = np.eye(size)[index] * 1e-6
        expected = (slopes(longer + shift) - slopes(longer - shift)) / 2e-6
        slopes(longer)
        np.testing.assert_allclose(one.slope(unknowns, names[index]), expected, rtol=1e-7, atol=1e-8)


@needs_compiler
@VERSIONS
def test_state_kept_and_restored(host: Callable[..., Host], fmi: Fmi) -> None:
    one = host(kg.load("double-pendulum"), fmi).start()
    one.step(0.0, 0.5)
    state = one.snapshot()
    before = one.get("q1", "q2", "time")
    one.step(0.5, 0.5)
    after = one.get("q1", "q2'", "energy")
    one.restore(state)
    np.testing.assert_array_equal(one.get("q1", "q2", "time"), before)
    one.step(0.5, 0.5)
    np.testing.assert_array_equal(one.get("q1", "q2'", "energy"), after)  # to the last bit
    other = host(kg.load("double-pendulum"), fmi)
    other.restore(other.thawed(one.frozen(state)))
    other.step(0.5, 0.5)
    np.testing.assert_array_equal(other.get("q1", "q2'", "energy"), after)
    with pytest.raises(Exception, match=r"(?i)error|failed"):
        other.thawed(b"x" * len(one.frozen(state)))


@needs_compiler
@VERSIONS
def test_instances_do_not_interfere(host: Callable[..., Host], fmu: Maker, fmi: Fmi, tmp_path: Path) -> None:
    mechanism = kg.load("double-pendulum")
    alone = host(mechanism, fmi).start(q1=0.2)
    path = fmu(mechanism, fmi)
    folder = Path(fmpy.extract(path, unzipdir=tmp_path / "shared"))  # two instances of one library
    first, second = Host(path, "CoSimulation", folder).start(q1=0.2), Host(path, "CoSimulation", folder)
    second.start(q1=-1.0, m1=7.0)
    for number in range(5):
        for one in (alone, first, second):
            one.step(number * 0.1, 0.1)
    np.testing.assert_array_equal(alone.get("q1", "q2", "q1''"), first.get("q1", "q2", "q1''"))
    assert abs(first.get("q1")[0] - second.get("q1")[0]) > 0.05
    first.fmu.reset()
    np.testing.assert_array_equal(first.get("q1", "m1"), [0.1, 1.0])
    assert second.get("m1")[0] == 7.0
    second.fmu.freeInstance()


@needs_compiler
def test_the_tolerance_is_honored(host: Callable[..., Host]) -> None:
    mechanism = kg.load("double-pendulum")
    expected = kg.simulate(mechanism, 2.0, times=1, rtol=1e-12, progress=False)
    errors = []
    for tolerance in (1e-4, 1e-7, 1e-10):
        one = host(mechanism, Fmi.THREE).start(tolerance)
        one.step(0.0, 2.0)
        errors.append(np.abs(one.get("q1", "q2", "q1'") - [expected[name][-1] for name in ("q1", "q2", "q1'")]).max())
    assert errors[0] > 30 * errors[1] > 900 * errors[2] and errors[2] < 1e-8


@needs_compiler
@VERSIONS
@pytest.mark.parametrize("kind", KINDS)
def test_quaternions_keep_their_length(fmu: Maker, fmi: Fmi, kind: str) -> None:
    mechanism = kg.load("free-body")
    names = next(one.names for one in mechanism.coordinates if hasattr(one, "names"))
    found = run(fmu(mechanism, fmi), kind, 2.0, start_values={names[0]: 3.0, names[1]: 4.0})
    lengths = np.sqrt(sum(found[name] ** 2 for name in names))
    np.testing.assert_allclose(found[names[1]][0], 0.8, rtol=1e-12)  # 3, 4 became unit length
    np.testing.assert_allclose(lengths, 1.0, atol=2e-3 if kind == "ModelExchange" else 1e-13)


@needs_compiler
@VERSIONS
def test_misuse_is_an_error_and_no_crash(host: Callable[..., Host], fmi: Fmi) -> None:
    mechanism = kg.load("double-pendulum")
    one = host(mechanism, fmi)
    with pytest.raises(Exception, match=r"(?i)error|failed"):
        one.step(0.0, 0.1)  # not initialized yet
    one.start()
    for wrong in ({"q1": 1.0}, {"energy": 1.0}, {"time": 1.0}):
        with pytest.raises(Exception, match=r"(?i)error|failed"):
            one.set(wrong)
    with pytest.raises(Exception, match=r"(?i)error|failed"):
        one.step(0.3, 0.1)  # begins elsewhere
    with pytest.raises(Exception, match=r"(?i)error|failed"):
        one.step(0.0, -0.1)
    one.references["nothing"] = 10_000
    with pytest.raises(Exception, match=r"(?i)error|failed"):
        one.get("nothing")
    one.set({"m1": 0.0, "m2": 0.0})  # no mass: no acceleration
    with pytest.raises(Exception, match=r"(?i)discard|error|failed"):
        one.step(0.0, 0.1)
    assert one.get("time")[0] == 0.0
