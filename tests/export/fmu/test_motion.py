"""FMUs as a host sees them: fmpy validates and simulates them, and the numbers are those of `simulate`."""

from __future__ import annotations

import pytest

import kinegraph as kg
from kinegraph.export import Fmi
from tests.effort import SOAK
from tests.export.fmu.hosting import (
    KINDS,
    LOADED,
    VERSIONS,
    Maker,
    assert_same_motion,
    fmpy,
    needs_compiler,
    panda,
    run,
    validate_fmu,
)


@needs_compiler
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("model", "fmi", "duration"),
    [
        ("double-pendulum", Fmi.TWO, 2.0),
        ("double-pendulum", Fmi.THREE, 2.0),
        ("kidym-biped-new", Fmi.THREE, 0.4),
        *([("panda", Fmi.TWO, 0.3)] if SOAK else []),
        ("free-body", Fmi.TWO, 1.0),
        ("free-body", Fmi.THREE, 1.0),
    ],
)
def test_the_motion_of_simulate(fmu: Maker, model: str, fmi: Fmi, duration: float, kind: str) -> None:
    mechanism = panda() if model == "panda" else kg.load(model)
    path = fmu(mechanism, fmi, symbolic_parameters=False if len(mechanism.parameters) > 50 else None)
    assert validate_fmu(path) == []
    found = run(path, kind, duration)
    expected = kg.simulate(mechanism, duration, times=20, rtol=1e-11, progress=False)
    points = tuple(f"{point.name}.{axis}" for point in mechanism.points for axis in "xyz")
    names = (*mechanism.layout.positions, *mechanism.layout.velocities, "kinetic", "energy", *points)
    # fmpy gives its CVODE an absolute tolerance of its own
    assert_same_motion(found, expected, names, 2e-4 if kind == "ModelExchange" else 2e-6)


@needs_compiler
@VERSIONS
@pytest.mark.parametrize("kind", KINDS)
def test_inputs_parameters_and_elements(fmu: Maker, fmi: Fmi, kind: str) -> None:
    mechanism = kg.parse(LOADED)
    path = fmu(mechanism, fmi)
    assert validate_fmu(path) == []
    described = fmpy.read_model_description(path)
    assert [v.name for v in described.modelVariables if v.causality == "parameter"] == ["m", "l", "k"]
    assert [v.name for v in described.modelVariables if v.causality == "input"] == ["tau:q1", "tau:s", "u"]
    changed = {"m": 3.0, "l": 0.7, "k": 35.0}
    start = {"q1": -0.2, "s'": 0.1}
    held = {"tau:q1": 1.5, "tau:s": -0.4, "u": 0.25}
    found = run(path, kind, 1.0, start_values={**changed, **start, **held})
    fixed = kg.parse(LOADED.replace("inputs u;", "inputs u = 0.25;"))
    expected = kg.simulate(
        fixed, 1.0, parameters=changed, state=start, inputs={"q1": 1.5, "s": -0.4}, times=20, rtol=1e-11,
        progress=False,
    )  # fmt: skip
    assert_same_motion(found, expected, ("q1", "s", "q1'", "s'", "energy", "hand.x"), 2e-5)


@needs_compiler
def test_numeric_parameters(fmu: Maker) -> None:
    mechanism = kg.load("double-pendulum")
    path = fmu(mechanism, Fmi.THREE, symbolic_parameters=False, parameters={"m1": 4})
    described = fmpy.read_model_description(path)
    assert not [v for v in described.modelVariables if v.causality == "parameter"]
    expected = kg.simulate(mechanism, 1.0, parameters={"m1": 4}, times=20, rtol=1e-11, progress=False)
    assert_same_motion(run(path, "CoSimulation", 1.0), expected, ("q1", "q2'"), 1e-6)
    other = fmpy.read_model_description(fmu(mechanism, Fmi.THREE)).instantiationToken
    assert described.instantiationToken != other
