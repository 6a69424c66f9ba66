"""One mechanism evaluated in many ways: interpreted, compiled, in batches, exported, from the store, as an FMU."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.export import Fmi
from kinegraph.model.mechanism import Mechanism
from tests.effort import SOAK
from tests.export.fmu.conftest import fmu, host  # noqa: F401
from tests.metamorphic import mechanisms
from tests.metamorphic.evaluations import WAYS, Rows, by_instructions, rows_of
from tests.metamorphic.facts import Floats, initial_state, moving_state
from tests.programs import needs

STATES = 5  # no multiple of any number of lanes


@lru_cache(maxsize=4)
def case(kind: str, seed: int) -> tuple[Mechanism, Rows, Floats]:
    mechanism = mechanisms.KINDS[kind](seed)
    states = [moving_state(mechanism, seed + k) for k in range(STATES)]
    rows = rows_of(mechanism, "qdd", states)
    return mechanism, rows, by_instructions(mechanism, "qdd", rows, Path())


FMUS = [(kind, seed) for kind in ("springs", "loops", "machines") for seed in range(5)] if SOAK else [("machines", 1)]
KINDS = (
    {"tree": 15, "quaternions": 8, "prescribed": 15, "springs": 15, "machines": 15, "loops": 10}
    if SOAK
    else {"tree": 1}
)
#: Recursions over bodies know no elements, and compile for seconds.
ALONE = "over bodies"
CASES = [(kind, seed, way) for kind, count in KINDS.items() for seed in range(count) for way in WAYS if way != ALONE]
if SOAK:
    CASES += [("prescribed", seed, ALONE) for seed in range(15)]
    CASES += [(kind, seed, "graph") for kind in ("closures", "bridges") for seed in range(100)]
else:
    CASES += [("loops", 0, way) for way in ("compiled", "stored code")]
    CASES += [("machines", seed, way) for seed, way in enumerate(("read again", "batch", "c", "stored code"))]


@pytest.mark.parametrize(("kind", "seed", "way"), CASES)
def test_accelerations(kind: str, seed: int, way: str, tmp_path: Path) -> None:
    mechanism, rows, expected = case(kind, seed)
    found = WAYS[way](mechanism, "qdd", rows, tmp_path)
    scale = max(1.0, float(np.max(np.abs(expected[np.isfinite(expected)]), initial=0.0)))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * scale)


@pytest.mark.parametrize("seed", range(10 if SOAK else 1))
def test_derivatives_of_a_run_are_its_differences(seed: int) -> None:
    mechanism = mechanisms.springs(seed)
    name = mechanism.layout.positions[0]
    begin, step = initial_state(mechanism)[name], 1e-4
    options = {"rtol": 1e-11, "atol": 1e-12, "times": 1, "native": False, "progress": False}
    found = kg.sensitivities(mechanism, 0.3, [f"{name}(0)"], **options)  # type: ignore[arg-type]
    ends = []
    for way in (-1, 1):
        run = kg.simulate(mechanism, 0.3, state={name: begin + way * step}, **options)  # type: ignore[arg-type]
        ends.append([run[one][-1] for one in (*mechanism.layout.positions, *mechanism.layout.velocities)])
    slope = (np.array(ends[1]) - ends[0]) / (2 * step)
    np.testing.assert_allclose(found.final[:, 0], slope, rtol=0, atol=1e-5 * max(1.0, float(np.max(np.abs(slope)))))


@needs("cc")
@pytest.mark.parametrize(("kind", "seed"), FMUS)
def test_an_fmu_moves_like_the_model(kind: str, seed: int, host) -> None:  # type: ignore[no-untyped-def]  # noqa: F811
    mechanism = mechanisms.KINDS[kind](seed)
    one = host(mechanism, Fmi.THREE).start(1e-10)
    one.step(0.0, 0.1)
    names = mechanism.layout.initial
    run = kg.simulate(mechanism, 0.1, times=1, rtol=1e-11, native=False, progress=False)
    np.testing.assert_allclose(one.get(*names), [run[name][-1] for name in names], rtol=0, atol=1e-6)
