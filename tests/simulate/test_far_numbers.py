"""Numbers at the edges of floating point: a run ends with a status and says why, it does not break."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kinegraph as kg
from kinegraph.errors import SolveError
from kinegraph.simulate import Status
from kinegraph.solve.solution import Solution
from tests.cli.run import runner

OSCILLATOR = kg.parse("""model oscillator; parameters k = 1, m = 1; coordinates x = 1; Block | Sx(x) | m(m);
spring coil | on(x), stiffness(k);""")


def run(**given: object) -> Solution:
    return kg.simulate(OSCILLATOR, 1, times=4, progress=False, native=False, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["dop853", "dopri5"])
@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"parameters": {"m": 1e-300}}, Status.NOT_A_NUMBER),
        ({"parameters": {"k": 1e300}}, Status.NOT_A_NUMBER),
        ({"state": {"x": 1e200}}, Status.FINISHED),
        ({"atol": 1e-300}, Status.FINISHED),
    ],
)
def test_slopes_whose_squares_are_infinite(method: str, given: dict[str, object], status: Status) -> None:
    """The first step was found by dividing by a length of zero."""
    assert run(method=method, **given).ending.status is status


def test_json_is_all_that_is_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The integrator's library wrote lines of its own about a first step that is too short."""
    (tmp_path / "block.kg").write_text(kg.write(OSCILLATOR), "utf-8")
    words = "simulate --for 1 --set k=1e300 --method bdf --interpret --json"
    ended = runner(capfd)(words, tmp_path / "block.kg")
    assert json.loads(ended.out)["status"] == "NOT_A_NUMBER"


def test_infinite_energies_fail_their_check_without_warnings() -> None:
    assert [(one.name, one.passed) for one in run(state={"x": 1e200}).checks] == [("energy", False)]


def test_what_cannot_be_squared_is_no_first_integral() -> None:
    names = [one.name for one in run(parameters={"k": 1e300}).checks]
    assert not any("first integral" in name for name in names), names


@pytest.mark.parametrize(("m", "k"), [(1e12, 1.0), (1e-12, 1e-12), (1e20, 1.0)])
def test_a_momentum_that_changes_is_no_first_integral(m: float, k: float) -> None:
    """Rates were compared with the momentum itself, and one: heavy and light bodies seemed to keep theirs."""
    found = kg.simulate(OSCILLATOR, (m / k) ** 0.5, parameters={"m": m, "k": k}, native=False)
    assert [(one.name, one.passed) for one in found.checks] == [("energy", True)]


@pytest.mark.parametrize("speed", [0, 1])
@pytest.mark.parametrize("m", [1e-12, 1, 1e12])
def test_a_momentum_that_stays_is_one_whatever_the_mass(m: float, speed: float) -> None:
    """Of two bodies that set out from rest the sum was rounding, and was compared with itself."""
    pair = kg.parse("""model pair; parameters m = 1; coordinates x, y = 1; initial x' = 1;
    A | Sx(x) | m(m); B | Sx(y) | m(3*m); spring s | on(y - x), stiffness(m);""")
    found = kg.simulate(pair, 1.0, parameters={"m": m}, state={"x'": speed}, native=False)
    assert ("momentum px", True) in [(one.name, one.passed) for one in found.checks]


@pytest.mark.parametrize("duration", [1e-300, 1e-30])
@pytest.mark.parametrize("method", ["dop853", "bdf"])
def test_a_run_that_is_shorter_than_steps_is_refused(method: str, duration: float) -> None:
    """It ended with a step that became too small, and with the advice to try another method."""
    with pytest.raises(SolveError, match="shorter than the shortest step; give at least 1e-24 s"):
        kg.simulate(OSCILLATOR, duration, method=method, native=False)


@pytest.mark.parametrize("method", ["dop853", "dopri5", "bdf", "ida"])
def test_the_shortest_run_has_two_states(method: str) -> None:
    found = kg.simulate(OSCILLATOR, 1e-24, method=method, times=1, native=False)
    assert found.ending.status is Status.FINISHED and found["x"].tolist() == [1.0, 1.0]
