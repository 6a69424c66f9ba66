"""Further first integrals as checks of a run: momenta of cyclic coordinates, Jacobi's integral, combinations with them.

Energy and the components of the whole momentum are looked at for every run (`observe.py`); these for small mechanisms
without constraints, where the search takes milliseconds.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from kinegraph.derive.dynamics.state_rate import DISSIPATED, WORK, along_motion, weighted
from kinegraph.graph.node import Graph
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.state_layout import is_momentum
from kinegraph.simulate.checks.conserved import ENERGY, JACOBI, MOMENTA, candidates, combinations, random_states, rows
from kinegraph.simulate.equations import VelocityForm, row_values, state_symbols
from kinegraph.simulate.observe import Rows, quantities, relative_limit
from kinegraph.solve.results.solution import Check

_LARGEST = 1500  # nodes of a right-hand side
_LARGEST_NUMBER = 1e140  # squares of larger ones are infinite


def momentum_checks(equations: VelocityForm, states: Rows, rtol: float | None) -> tuple[Check, ...]:
    """How far each further first integral moved along the run, relative to the size of its terms and of momenta."""
    mechanism = equations.mechanism
    if is_constrained(mechanism) or equations.runtime or equations.forces.sampled or len(equations.rate) > _LARGEST:
        return ()
    wanted, all_found = _constant_combinations(mechanism, equations.rate, quantities(equations))
    names = [output.name for output in wanted.outputs]
    found = [one for one in all_found if not set(one) <= {ENERGY, *MOMENTA}]
    if not {WORK, DISSIPATED}.isdisjoint(equations.balances):  # what laws of time supply, Jacobi's integral leaves out
        found = [one for one in found if JACOBI not in one]
    if not found:
        return ()
    numbers = row_values(wanted, state_symbols(equations), np.hstack([states.q, states.v, states.times[:, None]]))
    limit = relative_limit(rtol)
    least = max(float(np.max(np.abs(numbers[name]))) for name in names if is_momentum(name) or name in MOMENTA)
    checks = []
    for one in found:
        terms = np.array([factor * np.broadcast_to(numbers[name], states.times.shape) for name, factor in one.items()])
        total, size = terms.sum(axis=0), max(float(np.abs(terms).max()), least)
        drift = float(np.abs(total - total[0]).max())
        checks.append(Check(_label(one), drift / size if size > 0 else drift, limit))
    return tuple(checks)


@lru_cache(maxsize=16)
def _constant_combinations(
    mechanism: Mechanism, rate: Graph, graph: Graph
) -> tuple[Graph, tuple[dict[str, float], ...]]:
    """The candidates and their combinations that stay constant: found once for all runs of the same equations."""
    wanted = candidates(mechanism, graph)
    places = random_states(mechanism)
    values = rows(wanted, places)
    slopes, parts = (rows(along_motion(mechanism, one, wanted), places) for one in (rate, weighted(rate)))
    if not (np.abs(values).max() < _LARGEST_NUMBER and np.abs(slopes).max() < _LARGEST_NUMBER):
        return wanted, ()
    names = [output.name for output in wanted.outputs]
    order = sorted(range(len(names)), key=lambda k: names[k] not in (ENERGY, *MOMENTA))  # those are checked already
    found = combinations([names[k] for k in order], values[:, order], slopes[:, order], parts[:, order])
    return wanted, tuple(found)


def _label(combination: dict[str, float]) -> str:
    terms = [name if factor == 1 else f"{factor:.6g} {name}" for name, factor in combination.items()]
    return f"first integral {' + '.join(terms)}"
