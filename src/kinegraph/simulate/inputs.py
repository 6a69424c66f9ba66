"""What acts on a mechanism from outside, as a user gives it: formulas, samples, and functions in Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from numpy.typing import ArrayLike

from kinegraph.derive.dynamics.state_rate import Forces, input_symbol
from kinegraph.derive.quantities.variables import depends_on_time
from kinegraph.errors import SolveError
from kinegraph.model.changes.rewrite import expressions
from kinegraph.model.expression import PI, TIME, Expression, Scalar, names
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.formula import formula
from kinegraph.solve.methods.feedback import Samples
from kinegraph.solve.problem.events import Event
from kinegraph.solve.problem.problem import Feedback, Sampled, Signals, signals

Input: TypeAlias = "Scalar | Sampled | Feedback | tuple[ArrayLike, ArrayLike]"


def read_inputs(mechanism: Mechanism, inputs: Mapping[str, Input]) -> tuple[Forces, Signals]:
    """Forces in joints and inputs of the model, from what a user gives."""
    formulas: dict[str, Expression] = {}
    sampled: dict[str, Sampled] = {}
    for called, given in inputs.items():
        name = input_symbol(mechanism, called)
        if name in formulas or name in sampled:
            raise SolveError(f"inputs: {called!r} is given twice, under two names")
        if isinstance(given, Sampled):
            sampled[name] = given
        elif isinstance(given, Feedback):
            sampled[name] = Sampled((0.0, 1.0), (0.0, 0.0))  # until the function is asked
        elif isinstance(given, tuple):
            sampled[name] = Sampled(*given)
        else:
            formulas[name] = formula(given)
    return Forces(formulas, tuple(sampled)), signals(list(sampled.values()))


def controllers_of(
    mechanism: Mechanism, inputs: Mapping[str, Input], forces: Forces, signal: Signals
) -> tuple[tuple[Feedback, ...], Samples]:
    """The Python functions among the inputs, and memory for what they will say."""
    functions = {input_symbol(mechanism, name): one for name, one in inputs.items() if isinstance(one, Feedback)}
    if functions and mechanism.contacts:
        raise SolveError("runs with contacts take no Python functions as inputs: give formulas or samples")
    return tuple(functions.values()), Samples(signal, tuple(forces.sampled.index(name) for name in functions))


def with_given_inputs(mechanism: Mechanism, forces: Forces) -> Mechanism:
    """The mechanism without its own expressions for inputs that are given from outside; those that lead constraints
    are replaced by what is given."""
    leading = {name for one in expressions(mechanism.constraints) for name in names(one)}
    given = {*forces.formulas, *forces.sampled}
    inputs = tuple(
        replace(one, value=_law(mechanism, one.name, forces) if one.name in leading else None)
        if one.name in given
        else one
        for one in mechanism.inputs
    )
    return replace(mechanism, inputs=inputs) if inputs != mechanism.inputs else mechanism


def _law(mechanism: Mechanism, name: str, forces: Forces) -> Expression:
    """The law of an input that leads a constraint, which is differentiated: a formula of time and parameters."""
    found = forces.formulas.get(name)
    if found is None or names(found) - {TIME, PI, *(one.name for one in mechanism.parameters)}:
        raise SolveError(f"inputs: {name!r} leads a constraint: give a formula of t and parameters, which has a rate")
    return found


def is_autonomous(mechanism: Mechanism, forces: Forces, events: Sequence[Event]) -> bool:
    """Whether neither the model, nor what acts on it from outside, nor an event names time."""
    formulas = [*forces.formulas.values()]
    for event in events:
        formulas += [one for one in (event.condition, *event.reset.values()) if isinstance(one, Expression)]
    timed = any(TIME in names(one) for one in formulas)
    return not (timed or forces.sampled or depends_on_time(mechanism))
