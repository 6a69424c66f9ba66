"""Where a run starts: the model's initial values, and what the user says instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.errors import SolveError
from kinegraph.model.evaluate import Value, initial_positions, initial_velocities, number
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.simulate.formula import formula
from kinegraph.solve.problem.problem import Floats


def given_state(
    mechanism: Mechanism, initial: Mapping[str, Scalar], parameters: Mapping[str, Value]
) -> tuple[Floats, Floats]:
    """q and v as given: values of `initial` by name (`q1`, `q1'`, a quasi-velocity), others from the model."""
    known = (*mechanism.layout.positions, *mechanism.layout.velocities)
    for name in initial:
        if name not in known:
            raise SolveError(f"initial: {mechanism.name} has no {name!r}\n  {did_you_mean(name, known)}")
    given = {name: number(formula(value, name), parameters) for name, value in initial.items()}
    q = dict(zip(mechanism.layout.positions, initial_positions(mechanism, parameters), strict=True))
    v = dict(zip(mechanism.layout.velocities, initial_velocities(mechanism, parameters), strict=True))
    positions = np.array([given.get(name, value) for name, value in q.items()], dtype=float)
    velocities = np.array([given.get(name, value) for name, value in v.items()], dtype=float)
    for start in mechanism.layout.quaternions:
        normalise(mechanism, positions, start)
    return positions, velocities


class Start(NamedTuple):
    """q and v at the start of a run; `note` says which declared values loops have moved, if any."""

    q: Floats
    v: Floats
    note: str | None = None


def starting_state(
    mechanism: Mechanism, initial: Mapping[str, Scalar], parameters: Mapping[str, Value], t: float = 0.0
) -> tuple[Floats, Floats]:
    """q and v at the start, see `start_of`."""
    found = start_of(mechanism, initial, parameters, t)
    return found.q, found.v


def start_of(
    mechanism: Mechanism, initial: Mapping[str, Scalar], parameters: Mapping[str, Value], t: float = 0.0
) -> Start:
    """q and v at the start. A mechanism with loops or constraints is assembled at t so that values of `initial` hold,
    then those the model declares; an error if they cannot."""
    positions, velocities = given_state(mechanism, initial, parameters)
    if not (mechanism.loops or mechanism.constraints):
        return Start(positions, velocities)
    assembler = Assembler(mechanism, parameters)
    fitting = assembler.assembled(positions, velocities, tuple(initial), t, mechanism.declared).required()
    if singular := assembler.singular_rows(fitting.q, t):
        raise SolveError(
            f"{mechanism.name} starts in a singular position: {', '.join(singular)} follows from the other rows there\n"
            "  its loops allow more than one way on, and accelerations mean nothing: start a little beside it"
        )
    return Start(fitting.q, fitting.v, fitting.note)


def normalise(mechanism: Mechanism, q: Floats, start: int) -> None:
    """Give a quaternion (of one state or of many rows) unit length."""
    part = q[..., start : start + 4]
    largest = np.max(np.abs(part), axis=-1, keepdims=True)
    part /= np.where(largest > 0, largest, 1.0)  # squares of very large or small numbers would leave the range
    length = np.linalg.norm(part, axis=-1, keepdims=True)
    if not np.all(length > 0):
        names = ", ".join(mechanism.layout.positions[start : start + 4])
        raise SolveError(f"the initial quaternion ({names}) is zero: give it a direction")
    part /= length
