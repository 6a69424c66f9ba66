"""What is looked at along a docking: forces between the rings and in the legs, energy and momentum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from kinegraph.docking.description import Docking
from kinegraph.docking.latches.joining import Joining
from kinegraph.docking.loads import signed_loads, squared_loads
from kinegraph.docking.modes import Mode, ModeEquations
from kinegraph.docking.peaks import Peak
from kinegraph.docking.result import Phase
from kinegraph.simulate.observe import ENERGY, KINETIC, MOMENTA, energy_error
from kinegraph.solve.problem.problem import Floats


@cache
def formulas(docking: Docking) -> dict[str, str]:
    """Columns by name that hold whatever is joined, as formulas of the state of all bodies."""
    totals = {name: name for name in (ENERGY, KINETIC, *MOMENTA)}
    return totals | {f"length:{leg.name}": leg.length for leg in docking.legs}


def observed(
    free: ModeEquations, mode: ModeEquations, times: Floats, states: Floats, own: Floats, known: Mapping[str, float]
) -> dict[str, Floats]:
    """The columns of one phase. Energy and momentum are those of all bodies and guides, whatever is joined.

    states: of all bodies. own: what the mode integrates.
    """
    whole = mode if mode.mode is Mode.SPRUNG else free
    found = _columns(whole, formulas(free.docking), times, states, known)
    loads = _columns(free, signed_loads(free), times, states, known)
    between = _columns(mode, squared_loads(mode), times, own, known)
    if mode.mode is Mode.HARD:
        between = _columns(free, squared_loads(free), times, states, known) | between
    state = dict(zip(free.equations.names, states.T, strict=True))
    return state | found | loads | {name: np.sqrt(column) for name, column in between.items()}


def _columns(
    mode: ModeEquations, texts: Mapping[str, str], times: Floats, states: Floats, known: Mapping[str, float]
) -> dict[str, Floats]:
    return dict(zip(texts, mode.columns(tuple(texts.values()), times, states, known).T, strict=True))


def peaks_at(phase: Phase) -> dict[str, Peak]:
    """The largest loads at the saved states: for methods that cannot look between them."""
    found = {}
    for name, column in phase.columns.items():
        if name.partition(":")[0] in ("load", "latch", "ring", "interface", "bending"):
            place = int(np.argmax(np.abs(column)))
            found[name] = Peak(float(abs(column[place])), float(phase.times[place]))
    return found


def drift(phases: Sequence[Phase], joinings: Sequence[Joining]) -> tuple[float, float]:
    """By how much momentum and the balance of energy moved, relative to their size; by nothing without a phase."""
    if not phases:
        return 0.0, 0.0
    momenta = np.hstack([[phase.columns[name] for name in MOMENTA] for phase in phases])
    energies = []
    for phase in phases:
        lost = sum(one.lost for one in joinings if one.time <= phase.times[0])
        zero = np.zeros(len(phase.times))
        given = phase.columns.get("supplied", zero) - phase.columns.get("dissipated", zero)
        energies.append(phase.columns[ENERGY] - given + lost)
    energy = np.concatenate(energies)
    kinetic = np.concatenate([phase.columns[KINETIC] for phase in phases])
    potential = np.concatenate([phase.columns[ENERGY] for phase in phases]) - kinetic
    moved = np.abs(momenta - momenta[:, :1]).max() / max(np.abs(momenta).max(), np.finfo(float).tiny)
    left = float(np.abs(energy - energy[0]).max())
    return float(moved), energy_error(left, kinetic, potential, ())
