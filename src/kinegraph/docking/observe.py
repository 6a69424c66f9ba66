"""What is looked at along a docking: forces between the rings and in the legs, energy and momentum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from kinegraph.docking.conditions import guide_places, is_ring_first
from kinegraph.docking.description import Docking
from kinegraph.docking.joining import Joining
from kinegraph.docking.modes import Mode, ModeEquations
from kinegraph.docking.result import Phase
from kinegraph.simulate.observe import ENERGY, KINETIC, MOMENTA
from kinegraph.solve.problem.problem import Floats

INTERFACE, BENDING, RING = "interface", "bending", "ring"


@cache
def formulas(docking: Docking) -> dict[str, str]:
    """Columns by name, as formulas of the state of the free bodies."""
    found = {name: name for name in (ENERGY, KINETIC, *MOMENTA)}
    for leg in docking.legs:
        found |= {f"length:{leg.name}": leg.length, f"load:{leg.name}": leg.load}
        found |= {f"along:{leg.name}.{axis}": text for axis, text in zip("xyz", leg.along, strict=True)}
    for one, place in guide_places(docking):
        found |= {f"{one.name}[{place}].{entry}": f"contact:{one.name}[{place},{entry}]" for entry in range(7)}
    found |= {f"origin.{axis}": f"pose:{docking.ring}[{row},3]" for row, axis in enumerate("xyz")}
    return found


def observed(
    free: ModeEquations, mode: ModeEquations, times: Floats, states: Floats, own: Floats, known: Mapping[str, float]
) -> dict[str, Floats]:
    """The columns of one phase. Energy and momentum are those of all bodies and guides, whatever is joined.

    states: of all bodies. own: what the mode integrates.
    """
    docking = free.docking
    texts = formulas(docking)
    table = free.columns(tuple(texts.values()), times, states, known)
    found = dict(zip(texts, table.T, strict=True))
    names = free.equations.names
    state = dict(zip(names, states.T, strict=True))
    pulls = (found[f"load:{leg.name}"] * _vector(found, f"along:{leg.name}") for leg in docking.legs)
    on_ring = sum(pulls, np.zeros((3, len(times))))
    force, moment = _through_guides(docking, found)
    if mode.mode is not Mode.FREE:
        reaction = mode.columns(tuple(f"{mode.reaction}[{entry}]" for entry in range(6)), times, own, known).T
        force, moment = reaction[:3], reaction[3:]
    loads = {INTERFACE: force, BENDING: moment, RING: on_ring}
    kept = {name: column for name, column in found.items() if name.partition(":")[0] in ("length", "load")}
    totals = {name: found[name] for name in (ENERGY, KINETIC, *MOMENTA)}
    return state | kept | totals | {name: np.linalg.norm(one, axis=0) for name, one in loads.items()}


def _vector(found: Mapping[str, Floats], name: str) -> Floats:
    return np.array([found[f"{name}.{axis}"] for axis in "xyz"])


def _through_guides(docking: Docking, found: Mapping[str, Floats]) -> tuple[Floats, Floats]:
    """Force and moment about the ring's origin that the guides exert on the ring."""
    origin = _vector(found, "origin")
    force, moment = np.zeros_like(origin), np.zeros_like(origin)
    for one, place in guide_places(docking):
        entries = np.array([found[f"{one.name}[{place}].{entry}"] for entry in range(1, 7)])
        pushed = entries[:3] if is_ring_first(docking, one) else -entries[:3]
        force = force + pushed
        moment = moment + np.cross((entries[3:] - origin).T, pushed.T).T
    return force, moment


def peaks(phases: Sequence[Phase]) -> dict[str, float]:
    """The largest values along all phases, at the saved states."""
    names = [name for name in phases[0].columns if name.startswith("load:")]
    leg = max(float(np.abs(phase.columns[name]).max()) for phase in phases for name in names)
    others = {name: max(float(phase.columns[name].max()) for phase in phases) for name in (RING, INTERFACE, BENDING)}
    return {"leg": leg, **others}


def drift(phases: Sequence[Phase], joinings: Sequence[Joining]) -> tuple[float, float]:
    """By how much momentum and the balance of energy moved, relative to their size."""
    momenta = np.hstack([[phase.columns[name] for name in MOMENTA] for phase in phases])
    energies = []
    for phase in phases:
        lost = sum(one.lost for one in joinings if one.time <= phase.times[0])
        zero = np.zeros(len(phase.times))
        given = phase.columns.get("supplied", zero) - phase.columns.get("dissipated", zero)
        energies.append(phase.columns[ENERGY] - given + lost)
    energy = np.concatenate(energies)
    size = max(float(phase.columns[KINETIC].max()) for phase in phases)
    moved = np.abs(momenta - momenta[:, :1]).max() / max(np.abs(momenta).max(), np.finfo(float).tiny)
    return float(moved), float(np.abs(energy - energy[0]).max() / max(size, abs(energy[0]), np.finfo(float).tiny))
