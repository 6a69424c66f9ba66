"""Controllers that are Python functions, from the inputs a user gives: which inputs each gives, and what it sees.

A run alone takes their values as sampled signals (`controllers_of`). Many runs at once take them as run-time
parameters, a column for each input, so that every run has its own values (`HeldInputs`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kinegraph.derive.dynamics.state_rate import Forces, input_symbol
from kinegraph.errors import SolveError
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
    return lambda time, state: tuple(state[part] for part in places)


def _by_name(names: Sequence[str]) -> View:
    """What the controller of one input sees: the state by name."""
    return lambda time, state: (dict(zip(names, state.tolist(), strict=True)),)


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
