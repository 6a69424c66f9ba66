"""The bench beside AUTO-07p, where it is installed."""

import shutil

import pytest
from benchmarks.tasks import continuation

from tests.effort import SOAK

#: `make soak` takes all; two kinds of points are enough otherwise.
EXAMPLES = [
    one
    for one in continuation.EXAMPLES
    if SOAK or (one.model, one.over) in (("bead-on-hoop", "omega"), ("column", "follower"))
]
installed = continuation._AUTO.is_dir() and shutil.which("gcc") and shutil.which("gfortran")


@pytest.mark.skipif(not installed, reason="AUTO-07p, gcc or gfortran is not installed")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: f"{one.model}-{one.over}")
def test_both_find_the_same_points(example):
    mine, other = continuation.ours(example).points, continuation.auto(example).points
    assert [kind for kind, _ in mine] == [kind for kind, _ in other] != []
    for (_, one), (_, two) in zip(mine, other, strict=True):
        assert one == pytest.approx(two, rel=1e-9)
