"""Reactions of random trees and linkages against Newton-Euler in maximal coordinates; `make soak` runs them all."""

import numpy as np
import pytest

from tests.effort import SOAK
from tests.tasks.maximal_coordinates import kinegraph_reactions, random_tree, reactions


def _compare(linkage):
    wanted = reactions(linkage)
    scale = max(1.0, np.abs(wanted).max())
    np.testing.assert_allclose(kinegraph_reactions(linkage), wanted, atol=1e-11 * scale)


@pytest.mark.parametrize("seed", range(100 if SOAK else 2))
def test_trees(seed):
    _compare(random_tree(seed))


@pytest.mark.parametrize("seed", range(50 if SOAK else 1))
def test_linkages(seed):
    _compare(random_tree(1000 + seed, linkage=True))
