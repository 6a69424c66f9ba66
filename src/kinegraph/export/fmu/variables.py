"""What an FMU is known by outside: its variables. The place of a variable in the list is its value reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from kinegraph.assembly.assemble import Assembler, Assembly
from kinegraph.export.describe import Units
from kinegraph.export.fmu.equations import CLOSED, DERIVATIVES, OUTPUTS, FmuEquations, dependencies
from kinegraph.export.options import ExportOptions
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.evaluate import Value, initial_positions, initial_velocities, parameter_values
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.state_layout import is_force


class Causality(Enum):
    INDEPENDENT = "independent"
    INPUT = "input"
    PARAMETER = "parameter"
    OUTPUT = "output"
    LOCAL = "local"


@dataclass(frozen=True)
class Variable:
    """One variable. `start` None: it is computed. `state` is the value reference of what it is the derivative of.

    `depends` are the value references of time, states and inputs an unknown is computed from.
    """

    name: str
    causality: Causality
    start: float | None = None
    unit: str | None = None
    description: str = ""
    state: int | None = None
    depends: tuple[int, ...] = ()

    @property
    def variability(self) -> str:
        """How it may change, in the words of FMI."""
        return "tunable" if self.causality is Causality.PARAMETER else "continuous"

    @property
    def initial(self) -> str | None:
        """How it starts, where FMI wants that stated."""
        if self.causality in (Causality.INDEPENDENT, Causality.INPUT):
            return None
        return "calculated" if self.start is None else "exact"


@dataclass(frozen=True)
class Variables:
    """All variables in the order of their value references, and which of them are continuous states.

    With loops, `independent` are declared start values that hold, and `note` says which of the others have moved.
    """

    all: tuple[Variable, ...]
    states: range
    independent: tuple[str, ...] = ()
    note: str | None = None

    @property
    def outputs(self) -> list[int]:
        """Those that are outputs."""
        return [index for index, one in enumerate(self.all) if one.causality is Causality.OUTPUT]

    @property
    def derivatives(self) -> list[int]:
        """Those that are derivatives of states."""
        return [index for index, one in enumerate(self.all) if one.state is not None]

    @property
    def initial_unknowns(self) -> list[int]:
        """Those that follow from the others at the start."""
        wanted = {*self.outputs, *self.derivatives}
        return [index for index, one in enumerate(self.all) if index in wanted and one.initial == "calculated"]

    @property
    def starts(self) -> list[float]:
        """The first values of everything known: time, states, inputs, parameters."""
        return [0.0, *(one.start for one in self.all if one.start is not None)]


def variables(mechanism: Mechanism, system: FmuEquations, options: ExportOptions) -> Variables:
    """The variables of a system, named as the model and `simulate` name them."""
    units = Units(mechanism)
    values = parameter_values(mechanism, options.parameters)
    fitting = Assembler(mechanism, options.parameters).assemble().required() if is_constrained(mechanism) else None
    starts = _starts(mechanism, values, fitting)
    found: list[Variable] = []
    for symbol, start in zip(system.states, starts, strict=True):
        name, unit, itself = safe_name(symbol.name), units.of(symbol.name), (len(found) + 1,)
        found.append(Variable(name, Causality.OUTPUT, start, unit, symbol.kind.value, depends=itself))
    for symbol in system.inputs:
        words = "generalized force" if is_force(symbol.name) else "input"
        found.append(Variable(safe_name(symbol.name), Causality.INPUT, 0.0, units.of(symbol.name), words))
    for symbol in system.parameters:
        start = float(values[symbol.name])
        found.append(Variable(safe_name(symbol.name), Causality.PARAMETER, start, None, "parameter"))
    found += _derivatives(mechanism, system, units)
    taken = {one.name for one in found}
    time = Variable(_apart("time", taken), Causality.INDEPENDENT, unit="s", description="time")
    listed = (time, *found, *_outputs(system, taken))
    states = range(1, 1 + len(system.states))
    return Variables(listed, states, fitting.independent, fitting.note) if fitting else Variables(listed, states)


def _starts(mechanism: Mechanism, values: Mapping[str, Value], fitting: Assembly | None) -> tuple[float, ...]:
    """The initial state, with loops closed."""
    if fitting is None:
        return (*initial_positions(mechanism, values), *initial_velocities(mechanism, values))
    return (*fitting.q.tolist(), *fitting.v.tolist())


def _derivatives(mechanism: Mechanism, system: FmuEquations, units: Units) -> Iterator[Variable]:
    """Rates of positions are seen inside only; those of velocities are the accelerations, which everyone wants."""
    names = [f"der({name})" for name in mechanism.layout.positions] + list(mechanism.layout.accelerations)
    positions = len(mechanism.layout.positions)
    for index, (name, depends) in enumerate(zip(names, _continuous(system, DERIVATIVES), strict=True)):
        state, inside = index + 1, index < positions
        causality = Causality.LOCAL if inside else Causality.OUTPUT
        unit = _per_second(units.of(mechanism.layout.positions[index])) if inside else units.of(name)
        words = "rate of a coordinate" if inside else "acceleration"
        yield Variable(safe_name(name), causality, None, unit, words, state, depends)


def _outputs(system: FmuEquations, taken: set[str]) -> Iterator[Variable]:
    for name, depends in zip(system.outputs, _continuous(system, OUTPUTS), strict=True):
        place = "." in name
        words = "place of an output point" if place else "energy"
        yield Variable(_apart(name, taken), Causality.OUTPUT, None, "m" if place else "J", words, None, depends)


def _continuous(system: FmuEquations, output: str) -> list[tuple[int, ...]]:
    """Dependencies on time, states and inputs; parameters do not count while time goes on.

    With loops all is computed where they are closed, which depends on all states and perhaps on time.
    """
    known = system.known[: 1 + len(system.states) + len(system.inputs)]
    closing: set[int] = set()
    if system.closing is not None:
        closing = {one for found in dependencies(system.closing, CLOSED, known) for one in found}
    return [tuple(sorted({*found, *closing})) for found in dependencies(system.graph, output, known)]


def _per_second(unit: str | None) -> str | None:
    return {"rad": "rad/s", "m": "m/s", "1": "1/s"}.get(unit or "")


def _apart(name: str, taken: set[str]) -> str:
    """A name of ours, told apart from the model's: a coordinate may be called `energy` too."""
    name = safe_name(name)
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def safe_name(name: str) -> str:
    r"""A name XML can hold, different for different names: \u{...} for what is not printable, and for \ itself."""
    letters = [letter if letter.isprintable() and letter != "\\" else f"\\u{{{ord(letter):x}}}" for letter in name]
    for edge in (0, -1):
        if letters and letters[edge] == " ":
            letters[edge] = "\\u{20}"
    return "".join(letters) or "\\u{}"
