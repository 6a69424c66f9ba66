"""Answers of tasks, runs and studies, in the names, units and axes of the first description."""

from __future__ import annotations

import numpy as np

import kinegraph as kg
from kinegraph.model.mechanism import Mechanism
from tests.metamorphic.descriptions import Description, State
from tests.metamorphic.facts import Facts, evaluated, initial_state

#: Tolerances of runs; units change what the absolute one means, so it is small.
_RUN = {"rtol": 1e-10, "atol": 1e-12, "native": False, "progress": False}


def run(first: Mechanism, other: Description, duration: float) -> Facts:
    """Where all bodies are in the middle and at the end of a run, and how fast."""
    mechanism, time = other.mechanism, float(other.units.time)
    inputs = dict.fromkeys(mechanism.layout.inputs, "0.3")
    found = kg.simulate(mechanism, duration * time, times=2, inputs=inputs, **_RUN)  # type: ignore[arg-type]
    assert found.status.name == "FINISHED", found.ending
    facts: Facts = {}
    for row in (1, 2):
        names = (*mechanism.layout.positions, *mechanism.layout.velocities)
        state = {name: float(found[name][row]) for name in names} | {"t": float(found.t[row])}
        facts |= {f"{what} at {row}": value for what, value in _motion(first, other, state).items()}
    return facts


def _motion(first: Mechanism, other: Description, here: State) -> Facts:
    length, time, sign = float(other.units.length), float(other.units.time), np.linalg.det(other.world)
    names = [other.name(body.name) for body in first.bodies]
    values = evaluated(other.mechanism, [f"{word}:{name}" for word in ("pose", "velocity") for name in names], here)
    facts: Facts = {}
    for body, name in zip(first.bodies, names, strict=True):
        facts[f"place of {body.name}"] = other.world.T @ values[f"pose:{name}"][:3, 3] / length
        facts[f"speed of {body.name}"] = other.world.T @ values[f"velocity:{name}"][:3] * time / length
        facts[f"spin of {body.name}"] = sign * other.world.T @ values[f"velocity:{name}"][3:] * time
    return facts


def modes(first: Mechanism, other: Description, state: State) -> Facts:
    """Sizes and real parts of all eigenvalues about a state of the first description."""
    found = kg.modes(other.mechanism, other.state(state))
    values = np.asarray(found.linearization.eigenvalues) * float(other.units.time)
    return {"sizes": np.sort(np.abs(values)), "growth": np.sort(values.real)}


def held(mechanism: Mechanism) -> dict[str, float]:
    """The initial position at rest, with the forces that hold it there."""
    rest = initial_state(mechanism) | dict.fromkeys(mechanism.layout.velocities, 0.0)
    tau = evaluated(mechanism, ["tau"], rest, np.zeros(len(mechanism.layout.velocities)))["tau"]
    return rest | dict(zip(mechanism.layout.forces, tau.tolist(), strict=True))


def resting(mechanism: Mechanism) -> dict[str, float]:
    """An equilibrium without forces from outside, which any tree can describe."""
    found = kg.equilibria(mechanism, starts=60)[0]
    return dict(zip(mechanism.layout.positions, found.q.tolist(), strict=True)) | dict.fromkeys(
        mechanism.layout.velocities, 0.0
    )


def equilibria(first: Mechanism, other: Description) -> Facts:
    """Potential energies and unstable directions of all equilibria, sorted."""
    found = kg.equilibria(other.mechanism, starts=200)
    rows = []
    for one in found:
        state = dict(zip(other.mechanism.layout.positions, one.q.tolist(), strict=True))
        energy = evaluated(other.mechanism, ["energy"], state)["energy"][1] / float(other.units.energy)
        rows.append((round(float(energy), 6), one.unstable))
    return {"equilibria": np.array(sorted(rows))}


def integrals(first: Mechanism, other: Description) -> Facts:
    """How many first integrals there are."""
    return {"integrals": np.array([len(kg.first_integrals(other.mechanism).names)])}


def study(first: Mechanism, other: Description, varied: str) -> Facts:
    """The table of a small study in which one initial position varies."""
    time, middle = float(other.units.time), initial_state(other.mechanism)[other.renamed(varied)]
    low, high = (middle + step * other.scale(varied) for step in (-0.1, 0.1))
    found = kg.study(
        other.mechanism, 0.2 * time, vary={other.renamed(varied): f"uniform({low!r}, {high!r})"}, cases=2, seed=3,
        threads=1, **_RUN,  # type: ignore[arg-type]
    )  # fmt: skip
    assert not found.failures
    names = (*first.layout.positions, *first.layout.velocities)
    return {f"end of {name}": np.asarray(found[f"final({other.renamed(name)})"]) / other.scale(name) for name in names}
