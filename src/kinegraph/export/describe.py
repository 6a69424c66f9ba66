"""What arguments and results are, in words for comments: order, units (SI), shape."""

from __future__ import annotations

from collections.abc import Iterable

from kinegraph.codegen.program.binding import Argument
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.derive.quantities.record import Frame
from kinegraph.derive.quantities.variables import Variables
from kinegraph.export.identifiers import comment
from kinegraph.graph.node import Kind
from kinegraph.model.expression import names
from kinegraph.model.mechanism import Coordinate, Mechanism, Quaternion, Rotation
from kinegraph.model.state_layout import force_on

_ARGUMENTS = {
    Kind.COORDINATE: "positions",
    Kind.VELOCITY: "velocities",
    Kind.ACCELERATION: "accelerations",
    Kind.INPUT: "generalized forces",
    Kind.TIME: "time",
    Kind.PARAMETER: "parameters, in the units of the model",
}


class Units:
    """The units of a mechanism's variables, told from where a coordinate stands: in rotations or in shifts."""

    def __init__(self, mechanism: Mechanism | None) -> None:
        self._of: dict[str, str] = {}
        if mechanism is not None:
            self._add(mechanism)

    def _add(self, mechanism: Mechanism) -> None:
        turns, shifts = _driven_names(mechanism)
        for coordinate in mechanism.coordinates:
            if not isinstance(coordinate, Coordinate):
                self._of |= dict.fromkeys(coordinate.names, "1")
                for name in coordinate.velocities:
                    self._of |= {name: "rad/s", f"{name}'": "rad/s^2", force_on(name): "N m"}
            elif (coordinate.name in turns) != (coordinate.name in shifts):
                unit, force = ("rad", "N m") if coordinate.name in turns else ("m", "N")
                name = coordinate.name
                self._of |= {name: unit, f"{name}'": f"{unit}/s", f"{name}''": f"{unit}/s^2", force_on(name): force}

    def of(self, name: str) -> str | None:
        """The unit of a name, if it is known."""
        return self._of.get(name)

    def named(self, name: str) -> str:
        """A name with its unit, safe for comments."""
        unit = self._of.get(name)
        return f"{comment(name, 60)} [{unit}]" if unit else comment(name, 60)


def _driven_names(mechanism: Mechanism) -> tuple[set[str], set[str]]:
    turns: set[str] = set()
    shifts: set[str] = set()
    for body in mechanism.bodies:
        for transform in body.transforms:
            if isinstance(transform, Rotation):
                turns |= names(transform.angle)
            elif not isinstance(transform, Quaternion):
                shifts |= names(transform.distance)
    return turns, shifts


def argument_meaning(argument: Argument) -> str:
    """What an argument is."""
    kinds = {symbol.kind for symbol in argument.symbols}
    if argument.name == Variables.INPUTS and kinds == {Kind.INPUT}:
        return "inputs of the model"
    return _ARGUMENTS.get(kinds.pop(), "constants") if len(kinds) == 1 else "inputs"


def argument_entries(argument: Argument, units: Units) -> tuple[str, ...]:
    """The entries of an argument in their order."""
    if [symbol.kind for symbol in argument.symbols] == [Kind.TIME]:
        return ("t [s]",)
    return tuple(units.named(symbol.name) for symbol in argument.symbols)


def quantity_meaning(quantity: Quantity) -> str:
    """What a result is: its meaning, unit and axes."""
    record = quantity.record
    text = f"{record.meaning}, {record.unit}" if not record.entries else record.meaning
    if record.frame is Frame.FIXED:
        text += f"; axes of {comment(quantity.frame)}" if quantity.frame else f"; {record.frame.value}"
    if quantity.of:
        text += f" (of {comment(quantity.of)})"
    for variable in quantity.by:
        text = f"derivative by {comment(variable)}, which is the last index, of: {text}"
    return text


def quantity_entries(quantity: Quantity, mechanism: Mechanism, units: Units) -> tuple[str, ...]:
    """The entries of a result that has one for every velocity; none for other results."""
    entries = quantity.record.entries
    return tuple(map(units.named, entries.names(mechanism))) if entries and not quantity.by else ()


def listed(entries: Iterable[str], first: int, width: int = 96) -> list[str]:
    """Entries in numbered lines of a comment; `first` is the number of the first."""
    lines = [""]
    for number, entry in enumerate(entries, start=first):
        text = f"{number} {entry}"
        if lines[-1] and len(lines[-1]) + len(text) + 2 > width:
            lines[-1] += ","
            lines.append(text)
        else:
            lines[-1] += f", {text}" if lines[-1] else text
    return lines
