"""Controllers that are Python functions, from the inputs a user gives: which inputs each gives, and what it sees.

A run alone takes their values as sampled signals (`controllers_of`). Many runs at once take them as run-time
parameters, a column for each input, so that every run has its own values (`HeldInputs`). A simulator keeps them beside
the controls that it is given (`SimulatorControllers`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from numpy.typing import NDArray

from kinegraph.arrays import Floats, Integers
from kinegraph.derive.dynamics.state_rate import Forces, input_symbol
from kinegraph.errors import ControllerError, SolveError
from kinegraph.model.expressions import Name, expression
from kinegraph.model.mechanism import Mechanism, Parameter
from kinegraph.simulate.array_formulas import JOINTS
from kinegraph.simulate.inputs import Input, are_together
from kinegraph.solve.methods.feedback import Controller, Controllers, Samples, View
from kinegraph.solve.problem import Feedback, Signals

_HELD = "held$"


def feedback_of(mechanism: Mechanism, inputs: Mapping[str, Input]) -> dict[str, tuple[Feedback, tuple[str, ...]]]:
    """The Python functions among the inputs by the name the user gave, with the symbols of what they give."""
    return {
        name: (given, mechanism.layout.forces if are_together(mechanism, name) else (input_symbol(mechanism, name),))
        for name, given in inputs.items()
        if isinstance(given, Feedback)
    }


def controllers_of(
    mechanism: Mechanism, inputs: Mapping[str, Input], forces: Forces, signal: Signals, names: Sequence[str]
) -> Controllers:
    """The controllers of a run whose state has these entries, with memory for their values."""
    given = {name: one for name, one in inputs.items() if isinstance(one, Feedback)}
    functions = read_controllers(mechanism, given, names)
    symbols = [symbol for _, found in feedback_of(mechanism, given).values() for symbol in found]
    return Controllers(functions, Samples(signal, tuple(map(forces.sampled.index, symbols))))


def read_controllers(
    mechanism: Mechanism, given: Mapping[str, Feedback], names: Sequence[str]
) -> tuple[Controller, ...]:
    """The controllers, which give their inputs one after the other. names: the entries of the state."""
    found: list[Controller] = []
    first = 0
    for name, (function, symbols) in feedback_of(mechanism, given).items():
        together = are_together(mechanism, name)
        view = _arrays(mechanism, names) if together else _by_name(names)
        entries = symbols if together else (name,)
        found.append(Controller(name, function, tuple(range(first, first + len(symbols))), entries, view))
        first += len(symbols)
    return tuple(found)


def _arrays(mechanism: Mechanism, names: Sequence[str]) -> View:
    """What a controller of all joints sees: q and v."""
    layout = mechanism.layout
    if not {*layout.positions, *layout.velocities} <= {*names}:
        raise SolveError(
            f"inputs: the method integrates {', '.join(names[:4])}, ..., but a controller of {JOINTS} needs velocities"
            "\n  choose another method, e.g. dop853"
        )
    places = [np.array([names.index(name) for name in part]) for part in (layout.positions, layout.velocities)]
    return lambda time, state: tuple(state[..., part] for part in places)


def _by_name(names: Sequence[str]) -> View:
    """What the controller of one input sees: the state by name."""
    return lambda time, state: (dict(zip(names, state.T if state.ndim > 1 else state.tolist(), strict=True)),)


# Many runs: every run has values of its own, which are columns of run-time parameters.


@dataclass(frozen=True)
class HeldInputs:
    """Inputs that Python functions give in many runs, as run-time parameters of the equations.

    given: the functions by the name of their input. parameters: the names of the columns.
    """

    given: Mapping[str, Feedback]
    parameters: tuple[str, ...] = ()

    def controllers(self, mechanism: Mechanism, names: Sequence[str]) -> tuple[Controller, ...]:
        """The controllers; each gives columns of `parameters`, in order."""
        return read_controllers(mechanism, self.given, names)


NOTHING_HELD = HeldInputs({})


def held_inputs(mechanism: Mechanism, inputs: Mapping[str, Input]) -> tuple[Mechanism, dict[str, Input], HeldInputs]:
    """The mechanism with a parameter for every input that a Python function gives, the inputs with the names of these
    parameters instead, and the functions."""
    functions = feedback_of(mechanism, inputs)
    if not functions:
        return mechanism, dict(inputs), NOTHING_HELD
    symbols = [symbol for _, found in functions.values() for symbol in found]
    columns = {symbol: _HELD + symbol.replace(":", "$").replace("'", "$") for symbol in symbols}
    others = {name: one for name, one in inputs.items() if name not in functions}
    for name in others:
        if input_symbol(mechanism, name) in columns:
            raise SolveError(f"inputs: {name!r} is also given by the controller of {', '.join(functions)}: give one")
    made: dict[str, Input] = {**others, **{symbol: Name(column) for symbol, column in columns.items()}}
    parameters = tuple(Parameter(column, expression(0)) for column in columns.values())
    held = HeldInputs({name: function for name, (function, _) in functions.items()}, tuple(columns.values()))
    return replace(mechanism, parameters=(*mechanism.parameters, *parameters)), made, held


# Simulators: controllers are called between two steps, with all rows at once.

_EARLY = 1e-9  # of a step: a call is due so much before its time, which is only rounding


class SimulatorControllers:
    """The controllers of a simulator, and when each is due. `calls` is the start, then how often each was called.

    held: where their values go, a row for each trajectory, or one row. state: the state, with as many rows.
    """

    def __init__(self, controllers: Sequence[Controller], held: Floats, state: Floats, t: float, dt: float) -> None:
        self._controllers, self._held, self._state = controllers, held, state
        self.calls = np.array([t, *(0.0 for _ in controllers)])
        self._stale: NDArray[np.bool_] = np.zeros(held.shape[:-1], dtype=bool)
        for one in controllers:
            steps = one.given.period / dt
            if abs(steps - round(steps)) > 1e-6 * steps:
                raise SolveError(
                    f"the period of {one.name} is {one.given.period:g} s, which is {steps:.6g} steps of dt = {dt:g} s: "
                    "give a whole number of steps"
                )

    def restart(self, t: float) -> None:
        """Call every function before the next step, and count periods from there."""
        self.calls[:] = 0.0
        self.calls[0] = t

    def refresh(self, rows: Integers) -> None:
        """Some rows start again: they get values before the next step, at which others keep theirs."""
        self._stale[rows] = True

    def steps(self, call: Callable[[int], int], clock: Floats, time: int, step: int, steps: int) -> int:
        """Take steps, with a call where one is due; clock[time] and clock[step] are the time and the step size."""
        while steps:
            self._sample(float(clock[time]), float(clock[step]))
            wait = min(self._due(k) for k in range(len(self._controllers))) - float(clock[time])
            part = min(steps, max(ceil(wait / float(clock[step]) - _EARLY), 1))
            if ending := call(part):
                return ending
            steps -= part
        return 0

    def _due(self, k: int) -> float:
        return float(self.calls[0] + self.calls[1 + k] * self._controllers[k].given.period)

    def _sample(self, t: float, dt: float) -> None:
        """Call what is due, and for rows that start again everything."""
        some = np.flatnonzero(self._stale)
        for k, one in enumerate(self._controllers):
            due = self._due(k) <= t + _EARLY * dt
            if due or len(some):
                found, places = self._values(one, t), np.array(one.places)
                if due:
                    self._held[..., places] = found
                else:
                    self._held[some[:, None], places] = found[some]
                self.calls[1 + k] += due
        self._stale[...] = False

    def _values(self, one: Controller, t: float) -> Floats:
        """The values of all rows; ControllerError with the time."""
        try:
            found = np.asarray(one.values(t, self._state, self._state.shape[:-1]))
        except ControllerError as error:
            raise ControllerError(f"a controller failed at t = {t:.6g} ({error})") from error.__cause__
        return found.reshape(*self._state.shape[:-1], len(one.places))
