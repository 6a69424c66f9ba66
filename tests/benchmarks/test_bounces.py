"""The bench of bounces: both ways count the same bounces, at the right times."""

import pytest
from benchmarks.bounces import measure


@pytest.mark.parametrize("way", ["contact", "event"])
def test_bounces_are_counted(way):
    row = measure(way, 20, native=False, repeats=1)
    assert row.bounces == 20 and row.error < 1e-10 and row.evaluations >= 12 * row.steps > 0
