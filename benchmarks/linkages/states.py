"""States of closed loops to measure with."""

from __future__ import annotations

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.model.mechanism import Mechanism
from kinegraph.solve.problem import Floats


def moving_states(mechanism: Mechanism, count: int, forced: bool = False) -> Floats:
    """Assembled states that move: q, v and tau, one row each; forced: under random forces, else under none."""
    assembler = Assembler(mechanism)
    random = np.random.default_rng(1)
    q, v = assembler.start({})
    found = []
    for _ in range(count):
        place = assembler.assembled(q + random.normal(scale=0.05, size=len(q)), v + random.normal(size=len(v)))
        found.append(np.concatenate([place.q, place.v, random.normal(size=len(v)) if forced else np.zeros(len(v))]))
    return np.array(found)
