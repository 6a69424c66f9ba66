"""Events of the user that set states anew, beside contacts: each acts once, by every method."""

from __future__ import annotations

import pytest

import kinegraph as kg
from kinegraph.solve.problem import Event

MODEL = kg.parse("""
model beside;
gravity 0, 0, -9.81;
coordinates z = 1.2, s = 0;
initial s' = 1, z' = 0.4;
Ball  | Sz(z) | m(1);
Other | Sx(s) | m(1);
output bottom = Ball (0, 0, 0);
contact floor | bottom.z >= 0 | restitution(0.5);
""")


@pytest.mark.parametrize("method", ["dop853", "bdf", "adams"])
@pytest.mark.parametrize(
    ("condition", "reset", "end"),
    [
        ("s - 0.3", {"s'": "-s'"}, -0.4),  # turns back at its own surface
        ("z - 0.5", {"s'": "s' + 1"}, 1.0 + (1.0 - 0.4207416)),  # goes on through it
        ("s - 0.3", {"s": "s - 0.5"}, 0.5),  # comes to it again, 0.5 s later
    ],
)
def test_a_reset_in_both_directions_acts_once(method, condition, reset, end):
    run = kg.simulate(
        MODEL, 1.0, method=method, native=False, progress=False, events=[Event("turn", condition, reset=reset)]
    )
    times = [one.time for one in run.events if one.name == "turn"]
    assert len(times) == (2 if "s" in reset else 1)
    assert len([one for one in run.events if "impact" in one.name]) == 1
    assert run["s"][-1] == pytest.approx(end - (0.5 if "s" in reset else 0.0), abs=1e-6)
