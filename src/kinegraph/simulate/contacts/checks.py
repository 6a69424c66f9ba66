"""What contacts may not do: create energy."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinegraph.derive.dynamics.state_rate import SIGNS
from kinegraph.simulate.observe import ENERGY, KINETIC
from kinegraph.solve.problem.problem import Floats
from kinegraph.solve.results.solution import Check


def contact_checks(
    columns: Mapping[str, Floats], balances: Mapping[str, Floats], rtol: float | None
) -> tuple[Check, ...]:
    """By how much the energy, less its balances, ever rose above an earlier value."""
    left = columns[ENERGY] - sum((SIGNS[name] * column for name, column in balances.items()), np.zeros(1))
    gained = float(np.max(left - np.minimum.accumulate(left), initial=0.0))
    size = max(float(np.max(np.abs(columns[KINETIC]), initial=0.0)), abs(float(left[0])))
    limit = None if rtol is None else max(1e4 * rtol, 1e-10)
    return (Check("energy gained with contacts", gained / size if size > 0 else gained, limit),)
