"""What contacts may not do: create energy, and let bodies into each other."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinegraph.derive.dynamics.state_rate import SIGNS
from kinegraph.simulate.observe import ENERGY, KINETIC, POTENTIAL, energy_error
from kinegraph.solve.problem.problem import Floats
from kinegraph.solve.results.solution import Check

_ROUNDING = 1e-12


def contact_checks(
    columns: Mapping[str, Floats], balances: Mapping[str, Floats], gaps: Floats, positions: Floats, rtol: float | None
) -> tuple[Check, ...]:
    """By how much the energy, less its balances, ever rose above an earlier value; and how far gaps are below zero."""
    left = columns[ENERGY] - sum((SIGNS[name] * column for name, column in balances.items()), np.zeros(1))
    gained = float(np.max(left - np.minimum.accumulate(left), initial=0.0))
    error = energy_error(gained, columns[KINETIC], columns[POTENTIAL], balances.values())
    limit = None if rtol is None else max(1e4 * rtol, 1e-10)
    energy = Check("energy gained with contacts", error, limit)
    return energy, _penetration(gaps, positions, rtol)


def _penetration(gaps: Floats, positions: Floats, rtol: float | None) -> Check:
    """How far below zero any gap is, at states as they were integrated, beside the sizes of gaps and coordinates."""
    deepest = float(np.max(-gaps, initial=0.0))
    size = max(float(np.max(np.abs(part), initial=0.0)) for part in (gaps, positions))
    limit = (1e-4 if rtol is None else max(1e2 * rtol, 1e-9)) + _ROUNDING / max(size, _ROUNDING)
    return Check("deepest penetration at contacts", deepest / size if size > 0 else deepest, limit)
