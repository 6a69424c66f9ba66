"""States that fit loops and constraints, beside those of a run: what holds there as well holds for every motion.

A bicycle that runs straight keeps momenta that no other ride keeps. So states of the run are moved at random, in all
directions, and taken back onto the constraints.
"""

from __future__ import annotations

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.derive.constraints.projection import MISSED, PROJECTED
from kinegraph.simulate.equations import Equations, row_values, state_symbols
from kinegraph.solve.problem.problem import Floats

_MOVED = (0.05, 5e-3, 5e-4)  # by how much, in turn: metres and radians, and parts of the largest velocity
_STEPS = 8  # of Newton's method
_FITS = 1e-9  # what a state may still miss by position, and by velocity in parts of the largest


def states_beside(equations: Equations, times: Floats, q: Floats, v: Floats) -> tuple[Floats, Floats, Floats]:
    """Times, positions and velocities that fit, near rows of given ones; as many as Newton's method finds."""
    assert equations.projection is not None
    random, speed = np.random.default_rng(3), max(float(np.max(np.abs(v), initial=0.0)), 1.0)
    size = np.resize(_MOVED, (len(times), 1))
    q = q + size * random.uniform(-1, 1, q.shape)
    v = v + size * speed * random.uniform(-1, 1, v.shape)
    parameters = np.zeros((len(times), len(equations.runtime)))
    with np.errstate(all="ignore"):  # a state may be singular: then it does not fit
        for _ in range(_STEPS):
            _bring_to_unit_length(equations, q)
            rows = np.hstack([q, v, times[:, None], parameters])
            found = row_values(equations.projection, state_symbols(equations), rows)
            fits = _fitting(found[MISSED], speed, _FITS)
            q, v = found[PROJECTED][:, : q.shape[1]].copy(), found[PROJECTED][:, q.shape[1] :]
    if not fits.any():  # rounded numbers may contradict each other
        fits = _fitting(found[MISSED], speed, Assembler(equations.mechanism, equations.values).closing_limit)
    return times[fits], q[fits], v[fits]


def _bring_to_unit_length(equations: Equations, q: Floats) -> None:
    for start in equations.mechanism.layout.quaternions:
        part = q[:, start : start + 4]
        part /= np.linalg.norm(part, axis=1, keepdims=True)


def _fitting(missed: Floats, speed: float, limit: float) -> Floats:
    position, velocity = np.split(np.abs(missed), [missed.shape[1] // 2], axis=1)
    close = np.max(position, axis=1, initial=0.0) <= limit
    return np.asarray(close & (np.max(velocity, axis=1, initial=0.0) <= limit * speed))
