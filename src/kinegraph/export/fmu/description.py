"""The variables of an FMU, modelDescription.xml of FMI 2 and 3, and buildDescription.xml of FMI 3.

The index of a variable in the list is its value reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from xml.etree import ElementTree

from kinegraph.assembly.assemble import Assembler, Assembly
from kinegraph.export.fmu.equations import CLOSED, DERIVATIVES, OUTPUTS, FmuEquations, dependencies
from kinegraph.export.options import ExportOptions, Fmi
from kinegraph.export.unit import MARK, Units
from kinegraph.graph.node import Kind
from kinegraph.model.constraints import is_constrained
from kinegraph.model.evaluate import Value, initial_positions, initial_states, initial_velocities, parameter_values
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.states import is_force

# Variables. The index of a variable in the list is its value reference.


class Causality(Enum):
    INDEPENDENT = "independent"
    INPUT = "input"
    PARAMETER = "parameter"
    OUTPUT = "output"
    LOCAL = "local"


@dataclass(frozen=True)
class FmuVariable:
    """One variable. `start` None: it is computed. `state` is the value reference of the variable it is the derivative
    of.

    `depends` are the value references of time, states and inputs that an unknown depends on.
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
        """Its variability, in the terms of FMI."""
        return "tunable" if self.causality is Causality.PARAMETER else "continuous"

    @property
    def initial(self) -> str | None:
        """Its `initial` attribute, if FMI requires one."""
        if self.causality in (Causality.INDEPENDENT, Causality.INPUT):
            return None
        return "calculated" if self.start is None else "exact"


@dataclass(frozen=True)
class FmuVariables:
    """All variables in the order of their value references, and which of them are continuous states.

    With loops, `independent` are declared start values that hold, and `note` says which of the others were changed.
    """

    all: tuple[FmuVariable, ...]
    states: range
    independent: tuple[str, ...] = ()
    note: str | None = None

    @property
    def outputs(self) -> list[int]:
        """The variables with the causality `output`."""
        return [index for index, one in enumerate(self.all) if one.causality is Causality.OUTPUT]

    @property
    def derivatives(self) -> list[int]:
        """The derivatives of states."""
        return [index for index, one in enumerate(self.all) if one.state is not None]

    @property
    def initial_unknowns(self) -> list[int]:
        """The variables that follow from the others at the start."""
        wanted = {*self.outputs, *self.derivatives}
        return [index for index, one in enumerate(self.all) if index in wanted and one.initial == "calculated"]

    @property
    def starts(self) -> list[float]:
        """The start values of all knowns: time, states, inputs, parameters."""
        return [0.0, *(one.start for one in self.all if one.start is not None)]


def variables(mechanism: Mechanism, system: FmuEquations, options: ExportOptions) -> FmuVariables:
    """The variables of a system, with the names of the model and of `simulate`."""
    units = Units(mechanism)
    values = parameter_values(mechanism, options.parameters)
    fitting = Assembler(mechanism, options.parameters).assemble().required() if is_constrained(mechanism) else None
    starts = _starts(mechanism, values, fitting)
    found: list[FmuVariable] = []
    for symbol, start in zip(system.states, starts, strict=True):
        name, unit, itself = safe_name(symbol.name), units.of(symbol.name), (len(found) + 1,)
        found.append(FmuVariable(name, Causality.OUTPUT, start, unit, symbol.kind.value, depends=itself))
    for symbol in system.inputs:
        words = "generalized force" if is_force(symbol.name) else "input"
        found.append(FmuVariable(safe_name(symbol.name), Causality.INPUT, 0.0, units.of(symbol.name), words))
    for symbol in system.parameters:
        start = float(values[symbol.name])
        found.append(FmuVariable(safe_name(symbol.name), Causality.PARAMETER, start, None, "parameter"))
    found += _derivatives(mechanism, system, units)
    taken = {one.name for one in found}
    time = FmuVariable(_apart("time", taken), Causality.INDEPENDENT, unit="s", description="time")
    listed = (time, *found, *_outputs(system, taken))
    states = range(1, 1 + len(system.states))
    return FmuVariables(listed, states, fitting.independent, fitting.note) if fitting else FmuVariables(listed, states)


def _starts(mechanism: Mechanism, values: Mapping[str, Value], fitting: Assembly | None) -> tuple[float, ...]:
    """The initial state, with loops closed."""
    states = initial_states(mechanism, values)
    if fitting is None:
        return (*initial_positions(mechanism, values), *initial_velocities(mechanism, values), *states)
    return (*fitting.q.tolist(), *fitting.v.tolist(), *states)


def _derivatives(mechanism: Mechanism, system: FmuEquations, units: Units) -> Iterator[FmuVariable]:
    """Rates of positions and first-order states are local variables; accelerations are outputs."""
    layout = mechanism.layout
    names = [*(f"der({name})" for name in layout.positions), *layout.accelerations]
    names += [f"der({name})" for name in layout.states]
    for index, (name, depends) in enumerate(zip(names, _continuous(system, DERIVATIVES), strict=True)):
        symbol = system.states[index]
        moving = symbol.kind is Kind.VELOCITY
        causality = Causality.OUTPUT if moving else Causality.LOCAL
        unit = units.of(name) if moving else _per_second(units.of(symbol.name))
        words = "acceleration" if moving else f"rate of a {symbol.kind.value}"
        yield FmuVariable(safe_name(name), causality, None, unit, words, index + 1, depends)


def _outputs(system: FmuEquations, taken: set[str]) -> Iterator[FmuVariable]:
    for name, depends in zip(system.outputs, _continuous(system, OUTPUTS), strict=True):
        place = "." in name
        words = "place of an output point" if place else "energy"
        yield FmuVariable(_apart(name, taken), Causality.OUTPUT, None, "m" if place else "J", words, None, depends)


def _continuous(system: FmuEquations, output: str) -> list[tuple[int, ...]]:
    """Dependencies on time, states and inputs; parameters do not count in continuous time.

    With loops everything is computed at closed loops, which depend on all states and possibly on time.
    """
    known = system.known[: 1 + len(system.states) + len(system.inputs)]
    closing: set[int] = set()
    if system.closing is not None:
        closing = {one for found in dependencies(system.closing, CLOSED, known) for one in found}
    return [tuple(sorted({*found, *closing})) for found in dependencies(system.graph, output, known)]


def _per_second(unit: str | None) -> str | None:
    return {"rad": "rad/s", "m": "m/s", "1": "1/s"}.get(unit or "")


def _apart(name: str, taken: set[str]) -> str:
    """A generated name, made different from the model's: a coordinate may also be called `energy`."""
    name = safe_name(name)
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def safe_name(name: str) -> str:
    r"""A name that XML can contain, different for different names: \u{...} for characters that are not printable,
    and for \ itself."""
    letters = [letter if letter.isprintable() and letter != "\\" else f"\\u{{{ord(letter):x}}}" for letter in name]
    for edge in (0, -1):
        if letters and letters[edge] == " ":
            letters[edge] = "\\u{20}"
    return "".join(letters) or "\\u{}"


# modelDescription.xml of FMI 2 and 3, and the buildDescription.xml of FMI 3.

#: The default tolerance of integrators, also of the FMU's own.
TOLERANCE = 1e-6

#: The units of `Units`, by powers of FMI's base units.
_UNITS: Mapping[str, Mapping[str, int]] = {
    "s": {"s": 1},
    "1": {},
    "1/s": {"s": -1},
    "rad": {"rad": 1},
    "rad/s": {"rad": 1, "s": -1},
    "rad/s^2": {"rad": 1, "s": -2},
    "m": {"m": 1},
    "m/s": {"m": 1, "s": -1},
    "m/s^2": {"m": 1, "s": -2},
    "N": {"kg": 1, "m": 1, "s": -2},
    "N m": {"kg": 1, "m": 2, "s": -2},
    "J": {"kg": 1, "m": 2, "s": -2},
}


@dataclass(frozen=True)
class Identity:
    """The names of an FMU: `identifier` is that of its binary, `token` connects the binary to the description.

    settles: events bring states back to unit quaternions or closed loops.
    """

    title: str
    identifier: str
    token: str
    tool: str
    settles: bool


def model_description(identity: Identity, known: FmuVariables, sources: Sequence[str], fmi: Fmi) -> str:
    """modelDescription.xml."""
    writer = _Fmi2(identity, known, sources) if fmi is Fmi.TWO else _Fmi3(identity, known, sources)
    return _text(writer.root())


def build_description(identity: Identity, sources: Iterable[str]) -> str:
    """sources/buildDescription.xml of FMI 3."""
    root = ElementTree.Element("fmiBuildDescription", fmiVersion="3.0")
    configuration = _child(root, "BuildConfiguration", modelIdentifier=identity.identifier)
    files = _child(configuration, "SourceFileSet", language="C99")
    for name in sources:
        _child(files, "SourceFile", name=name)
    return _text(root)


def _text(root: ElementTree.Element) -> str:
    ElementTree.indent(root, "  ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _child(parent: ElementTree.Element, tag: str, **attributes: object) -> ElementTree.Element:
    """A new element; attributes that are None are omitted, booleans are written as in XML."""
    given = {name: _written(value) for name, value in attributes.items() if value is not None}
    return ElementTree.SubElement(parent, tag, given)


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value) if isinstance(value, float) else str(value)


class _Writer:
    """The common part of both versions: the order of the elements."""

    version: str
    token: str

    def __init__(self, identity: Identity, known: FmuVariables, sources: Sequence[str]) -> None:
        self.identity = identity
        self.known = known
        self.sources = sources

    def root(self) -> ElementTree.Element:
        identity = self.identity
        root = ElementTree.Element("fmiModelDescription", {
            "fmiVersion": self.version, "modelName": identity.title, self.token: identity.token,
            "description": f"{MARK}: equations of motion, states are positions and velocities",
            "generationTool": identity.tool, "variableNamingConvention": "flat",
        })  # fmt: skip
        self.interfaces(root)
        self._units(root)
        categories = _child(root, "LogCategories")
        _child(categories, "Category", name="logStatusError")
        _child(root, "DefaultExperiment", startTime="0", stopTime="10", tolerance=TOLERANCE, stepSize="0.01")
        variables = _child(root, "ModelVariables")
        for reference, variable in enumerate(self.known.all):
            self.variable(variables, reference, variable)
        self.structure(_child(root, "ModelStructure"))
        return root

    def _units(self, root: ElementTree.Element) -> None:
        used = {variable.unit for variable in self.known.all}
        units = _child(root, "UnitDefinitions")
        for name, powers in _UNITS.items():
            if name in used:
                _child(_child(units, "Unit", name=name), "BaseUnit", **powers)

    def interfaces(self, root: ElementTree.Element) -> None:
        raise NotImplementedError

    def variable(self, parent: ElementTree.Element, reference: int, variable: FmuVariable) -> None:
        raise NotImplementedError

    def structure(self, parent: ElementTree.Element) -> None:
        raise NotImplementedError


class _Fmi2(_Writer):
    version, token = "2.0", "guid"

    def interfaces(self, root: ElementTree.Element) -> None:
        root.set("numberOfEventIndicators", "0")
        common: dict[str, object] = {
            "modelIdentifier": self.identity.identifier, "canGetAndSetFMUstate": True, "canSerializeFMUstate": True,
            "providesDirectionalDerivative": True, "canNotUseMemoryManagementFunctions": True,
        }  # fmt: skip
        quiet = not self.identity.settles
        exchange = _child(root, "ModelExchange", **common, completedIntegratorStepNotNeeded=quiet)
        simulation = _child(root, "CoSimulation", **common, canHandleVariableCommunicationStepSize=True)
        for interface in (exchange, simulation):
            files = _child(interface, "SourceFiles")
            for name in self.sources:
                _child(files, "File", name=name)

    def variable(self, parent: ElementTree.Element, reference: int, variable: FmuVariable) -> None:
        element = _child(
            parent, "ScalarVariable", name=variable.name, valueReference=reference, description=variable.description,
            causality=variable.causality.value, variability=variable.variability, initial=variable.initial,
        )  # fmt: skip
        derivative = None if variable.state is None else variable.state + 1
        _child(element, "Real", unit=variable.unit, start=variable.start, derivative=derivative)

    def structure(self, parent: ElementTree.Element) -> None:
        for tag, references in (("Outputs", self.known.outputs), ("Derivatives", self.known.derivatives)):
            group = _child(parent, tag)
            for reference in references:
                depends = " ".join(str(one + 1) for one in self.known.all[reference].depends)
                _child(group, "Unknown", index=reference + 1, dependencies=depends)
        group = _child(parent, "InitialUnknowns")
        for reference in self.known.initial_unknowns:
            _child(group, "Unknown", index=reference + 1)


class _Fmi3(_Writer):
    version, token = "3.0", "instantiationToken"

    def interfaces(self, root: ElementTree.Element) -> None:
        common: dict[str, object] = {
            "modelIdentifier": self.identity.identifier, "canGetAndSetFMUState": True, "canSerializeFMUState": True,
            "providesDirectionalDerivatives": True,
        }  # fmt: skip
        _child(root, "ModelExchange", **common, needsCompletedIntegratorStep=self.identity.settles)
        _child(root, "CoSimulation", **common, canHandleVariableCommunicationStepSize=True)

    def variable(self, parent: ElementTree.Element, reference: int, variable: FmuVariable) -> None:
        _child(
            parent, "Float64", name=variable.name, valueReference=reference, description=variable.description,
            causality=variable.causality.value,
            variability=variable.variability, initial=variable.initial, unit=variable.unit, start=variable.start,
            derivative=variable.state,
        )  # fmt: skip

    def structure(self, parent: ElementTree.Element) -> None:
        groups = (("Output", self.known.outputs), ("ContinuousStateDerivative", self.known.derivatives))
        for tag, references in groups:
            for reference in references:
                depends = " ".join(map(str, self.known.all[reference].depends))
                _child(parent, tag, valueReference=reference, dependencies=depends)
        for reference in self.known.initial_unknowns:
            _child(parent, "InitialUnknown", valueReference=reference)
