"""`kinegraph eval`: numbers at one state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, TypeAlias

import numpy as np
import typer
from numpy.typing import NDArray

import kinegraph as kg
from kinegraph import assembly
from kinegraph.cli.common import (
    ClosureOption,
    JsonOption,
    PassesOption,
    QuantityOption,
    SetOption,
    assignments,
    parameter_settings,
    parse_value,
    print_json,
    say_assembled,
    show_error,
)
from kinegraph.cli.options import ModelSource, reads_model
from kinegraph.compiler.request import arguments_of, quantities_of
from kinegraph.derive.plan import Closure
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.errors import ModelError
from kinegraph.model.changes.coordinates import with_start
from kinegraph.model.constraints import is_constrained, tell_of_unknowns
from kinegraph.model.evaluate import (
    Value,
    initial_positions,
    initial_states,
    initial_velocities,
    number,
    parameter_values,
    unit_quaternion,
)
from kinegraph.model.expressions import Expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.model.platforms.recognition import legs_beyond_closed_form


@reads_model
def run(
    source: ModelSource,
    quantity: QuantityOption = "H,C,gravity",
    state: Annotated[
        list[str] | None,
        typer.Option("--state", metavar="NAME=VALUE,...", help="The state: q1=0.1,q1'=2,q1''=0,tau:q1=3,t=1."),
    ] = None,
    as_given: Annotated[
        bool, typer.Option("--as-given", help="Use the state as given; do not assemble loops first.")
    ] = False,
    closure: ClosureOption = Closure.MULTIPLIERS,
    passes: PassesOption = "",
    settings: SetOption = None,
    json: JsonOption = False,
) -> None:
    """Compile quantities and evaluate them at one state.

    Positions and velocities default to the model's initial values; accelerations, forces and time default to zero.
    With loops, dependent coordinates follow from the others. The exit code is 1 if a result is not a finite number.

    Example: kinegraph eval double-pendulum -q H,energy --state q1=0.1,q2=pi/3 --set m1=2
    """
    mechanism = source.mechanism()
    values = parameter_settings(mechanism, settings)
    given = assignments(state or (), "--state")
    point = state_of(mechanism, given, parameter_values(mechanism, values))
    singular: str | None = None
    solved = ", ".join(str(one) for one in quantities_of(quantity) if one.record.solves_rows)
    if is_constrained(mechanism):
        assembler = assembly.Assembler(mechanism, values)
        point = point if as_given else _assembled(assembler, point, tuple(given))
        q = np.array([point[name] for name in mechanism.layout.positions])
        singular = assembler.singular_message(solved, q, point["t"])
        if not singular:
            mechanism = _with_other_chart(mechanism, quantity, assembler, point)
        if not singular and not as_given and any(one.name == "a" for one in arguments_of(mechanism, quantity)):
            point = _accelerated(assembly.Assembler(mechanism, values), point, tuple(given))
    records = [one.record for one in quantities_of(quantity)]
    if any(one.driven and not one.of_unknowns for one in records):
        tell_of_unknowns(mechanism, given)
    closed = mechanism.loops and any(one.closed_legs for one in records)
    crossed = legs_beyond_closed_form(mechanism, point) if closed else ()
    general = bool(crossed) and not any(one.of_platforms for one in records)
    results = evaluate(mechanism, quantity, values, point, closure, passes, not general)
    if crossed:
        _tell_of_cranks(quantity, crossed, general)
    if accelerating := [one for one in quantities_of(quantity) if one.name in _ACCELERATING]:
        singular = singular or _singular_coordinates(mechanism, accelerating, results, values, point)
    if json:
        print_json({name: array.tolist() for name, array in results.items()})
    else:
        typer.echo("\n\n".join("\n".join(written(name, array)) for name, array in results.items()))
    if singular and solved:
        show_error(singular)
        raise typer.Exit(NO_VALUE)
    _refuse_infinite(results)


def _singular_coordinates(
    mechanism: Mechanism,
    quantities: Sequence[Quantity],
    results: dict[str, Doubles],
    values: Mapping[str, Expression],
    state: State,
) -> str | None:
    """Why accelerations of a tree have no value here, in words; what was computed for them becomes NaN."""
    from kinegraph.simulate.checks.singular_coordinates import singular_coordinates, singular_words

    layout = mechanism.layout
    q, u = (np.array([state[name] for name in names]) for names in (layout.positions, layout.inputs))
    lost = singular_coordinates(mechanism, q, state["t"], u, values)
    if not lost:
        return None
    for one in map(str, quantities):
        results[one] = np.full_like(results[one], np.nan)
    return f"{', '.join(map(str, quantities))}: {singular_words(mechanism, lost)}"


def _tell_of_cranks(quantity: str, legs: Sequence[str], general: bool) -> None:
    """Say on stderr which legs have no closed form here, and what is done about it."""
    instead = "general loops instead" if general else "no numbers; qdd and tau are computed by general loops there"
    crossed = f"crank and rod of {', '.join(legs)} are in line, or on the other side than the closed form of legs knows"
    typer.echo(f"{quantity}: {crossed}: {instead}", err=True)


def _refuse_infinite(results: Mapping[str, Doubles]) -> None:
    """Say on stderr which results have no value here, and fail: nobody should take them for numbers."""
    infinite = [name for name, array in results.items() if not np.isfinite(array).all()]
    if infinite:
        show_error(
            f"{', '.join(infinite)}: not every entry is a finite number at this state\n"
            "  the inertia matrix is singular there, or a function has no value: try a state beside it"
        )
        raise typer.Exit(NO_VALUE)


def _with_other_chart(mechanism: Mechanism, quantity: str, assembler: assembly.Assembler, state: State) -> Mechanism:
    """The mechanism, as if it started here if its choice of dependent coordinates fails here; says so on stderr."""
    q = np.array([state[name] for name in mechanism.layout.positions])
    partitioned = [str(one) for one in quantities_of(quantity) if one.record.partitioned]
    if not partitioned or not assembler.loses_chart(q, state["t"]):
        return mechanism
    started = with_start(mechanism, q.tolist())
    chosen = ", ".join(assembly.Assembler(started, assembler.parameters).independent())
    named = ", ".join(partitioned)
    typer.echo(f"{named}: the usual independent coordinates fail here, {chosen} instead", err=True)
    return started


State = dict[str, float]
Doubles: TypeAlias = NDArray[np.float64]

#: What H is solved for.
_ACCELERATING = "qdd", "prescribed_power"
#: The exit code of a state at which something has no value.
NO_VALUE = 1


def _accelerated(assembler: assembly.Assembler, state: State, held: tuple[str, ...]) -> State:
    """The state with accelerations that fit loops and constraints; what was given stays, or is refused."""
    layout = assembler.mechanism.layout
    groups = layout.positions, layout.velocities, layout.accelerations
    q, v, a = (np.array([state[name] for name in names]) for names in groups)
    found = assembler.accelerations(q, v, a, [name for name in held if name in layout.accelerations], state["t"])
    return state | dict(zip(layout.accelerations, found.tolist(), strict=True))


def _assembled(assembler: assembly.Assembler, state: State, held: tuple[str, ...]) -> State:
    """The state that fits loops and constraints near the given one; what was given stays, or is refused."""
    layout = assembler.mechanism.layout
    q, v = (np.array([state[name] for name in names]) for names in (layout.positions, layout.velocities))
    names = (*layout.positions, *layout.velocities)
    declared = assembler.mechanism.declared
    found = assembler.assembled(q, v, [name for name in held if name in names], state["t"], declared).required()
    say_assembled(found.note)
    return state | dict(zip(names, (*found.q.tolist(), *found.v.tolist()), strict=True))


def state_of(mechanism: Mechanism, given: Mapping[str, str], parameters: Mapping[str, Value]) -> State:
    """A value for everything that moves, by name; quaternions are normalized."""
    layout = mechanism.layout
    state = dict(zip(layout.positions, initial_positions(mechanism, parameters), strict=True))
    state |= zip(layout.velocities, initial_velocities(mechanism, parameters), strict=True)
    state |= zip(layout.states, initial_states(mechanism, parameters), strict=True)
    state |= dict.fromkeys((*layout.accelerations, *layout.forces, *layout.inputs, "t"), 0.0)
    for name, text in given.items():
        if name not in state:
            raise ModelError(f"--state: {mechanism.name} has no {name!r}", remedy=did_you_mean(name, state))
        state[name] = number(parse_value(text, "--state", parameters), parameters)
    for start in layout.quaternions:
        names = layout.positions[start : start + 4]
        unit = unit_quaternion(names, [state[name] for name in names], "--state: the quaternion")
        state |= zip(names, unit, strict=True)
    return state


def evaluate(
    mechanism: Mechanism, quantity: str, values: Mapping[str, Expression], state: State, closure: Closure, passes: str,
    closed_legs: bool = True,
) -> dict[str, Doubles]:  # fmt: skip
    """The quantities as arrays, by name."""
    kernel = kg.compile(mechanism, quantity, parameters=values, closure=closure, passes=passes, closed_legs=closed_legs)
    arguments: dict[str, Doubles | float] = {}
    for one in arguments_of(mechanism, quantity):
        numbers = [state[symbol.name] for symbol in one.symbols]
        arguments[one.name] = numbers[0] if one.name == "t" else np.array(numbers)
    return dict(kernel.by_name(kernel(**arguments)))


def written(name: str, array: Doubles) -> Iterator[str]:
    """An array as aligned numbers; three indices as one matrix after another."""
    if array.ndim > 2:
        for place, part in enumerate(array, start=1):
            if place > 1:
                yield ""
            yield from written(f"{name}[{place}]", part)
        return
    yield name
    if not array.size:
        yield f"  no entries: {' x '.join(map(str, array.shape))}"
        return
    table = array.reshape(-1, 1 if array.ndim < 2 else array.shape[1]) + 0.0  # no minus zero on the page
    rows = [[f"{entry:.10g}" for entry in row] for row in table]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  " + "  ".join(entry.rjust(width) for entry, width in zip(row, widths, strict=True))
