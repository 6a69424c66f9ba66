"""The state a task looks at: positions, velocities, forces, inputs and time as arrays in the layout's order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kinegraph.assembly.assemble import Assembler
from kinegraph.errors import TaskError
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.evaluate import (
    Value,
    initial_positions,
    initial_velocities,
    number,
    parameter_values,
    unit_quaternion,
)
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.simulate.formula import formula

Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class OperatingPoint:
    """One state of a mechanism with what drives it; `given` are parameters that kernels take when they run."""

    q: Floats
    v: Floats
    tau: Floats
    u: Floats
    t: float = 0.0
    given: tuple[tuple[str, float], ...] = ()

    @property
    def runtime(self) -> tuple[str, ...]:
        """The names of the parameters that the point gives."""
        return tuple(name for name, _ in self.given)

    def arguments(self, accelerations: Floats | None = None) -> dict[str, Floats | float]:
        """Everything a kernel may take, by the name of the argument."""
        a = np.zeros_like(self.v) if accelerations is None else accelerations
        p = np.array([value for _, value in self.given], dtype=float)
        return {"q": self.q, "v": self.v, "a": a, "tau": self.tau, "u": self.u, "t": self.t, "p": p}

    def at(self, q: Floats) -> OperatingPoint:
        """The same with other positions."""
        return replace(self, q=q)


def operating_point(
    mechanism: Mechanism,
    at: Mapping[str, Scalar] | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    guess: bool = False,
) -> OperatingPoint:
    """The model's initial state with the values of `at` instead: `q1`, `q1'`, `tau:q1`, an input's name, `t`.

    With loops, values that contradict them are refused; a `guess`, where a search begins, is taken to the nearest fit.
    """
    values = parameter_values(mechanism, parameters)
    state = _starting_values(mechanism, values)
    for name, value in named_values(mechanism, at).items():
        if name not in state:
            raise TaskError(f"{mechanism.name} has no {name!r}\n  {did_you_mean(name, state)}")
        state[name] = number(formula(value, name), values)
    layout = mechanism.layout
    q, v, tau, u = (
        np.array([state[name] for name in group], dtype=float)
        for group in (layout.positions, layout.velocities, layout.forces, layout.inputs)
    )
    point = OperatingPoint(_unit_quaternions(mechanism, q), v, tau, u, state["t"])
    if not is_constrained(mechanism):
        return point
    return fitting(mechanism, point, tuple(at or ()), parameters, mechanism.declared, guess)


def named_values(mechanism: Mechanism, at: Mapping[str, Scalar] | None) -> Mapping[str, Scalar]:
    """What a user gives as a state, if it has names."""
    if at is None or isinstance(at, Mapping):
        return at or {}
    first = next(iter(mechanism.layout.positions), "q")
    raise TaskError(f"at: a state is given by name, such as {{{first!r}: 0.1}}; this is a {type(at).__name__}")


def fitting(
    mechanism: Mechanism,
    point: OperatingPoint,
    held: tuple[str, ...],
    parameters: Mapping[str, Scalar] | None,
    declared: tuple[str, ...] = (),
    guess: bool = False,
) -> OperatingPoint:
    """The point with positions and velocities that fit the constraints; those that are held stay, or it is refused."""
    known = (*mechanism.layout.positions, *mechanism.layout.velocities)
    named = tuple(name for name in held if name in known)
    assembler = Assembler(mechanism, parameters)
    found = assembler.assembled(point.q, point.v, named, point.t, declared)
    found = found if guess else found.required()
    return replace(point, q=found.q, v=found.v)


def _starting_values(mechanism: Mechanism, values: Mapping[str, Value]) -> dict[str, float]:
    layout = mechanism.layout
    state = dict(zip(layout.positions, initial_positions(mechanism, values), strict=True))
    state |= zip(layout.velocities, initial_velocities(mechanism, values), strict=True)
    return state | dict.fromkeys((*layout.forces, *layout.inputs, "t"), 0.0)


def _unit_quaternions(mechanism: Mechanism, q: Floats) -> Floats:
    for start in mechanism.layout.quaternions:
        part = slice(start, start + 4)
        q[part] = unit_quaternion(mechanism.layout.positions[part], q[part].tolist())
    return q
