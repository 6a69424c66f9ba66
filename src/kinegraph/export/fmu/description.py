"""modelDescription.xml of FMI 2 and 3, and the buildDescription.xml of FMI 3."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from kinegraph.export.fmu.variables import Variable, Variables
from kinegraph.export.options import Fmi
from kinegraph.export.text import MARK

#: What integrators aim at unless the host says otherwise; also the tolerance of the FMU's own.
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
    """What an FMU is called: `identifier` is its binary's name, `token` ties the binary to the description.

    settles: states have to be brought back by events, to unit quaternions or closed loops.
    """

    title: str
    identifier: str
    token: str
    tool: str
    settles: bool


def model_description(identity: Identity, known: Variables, sources: Sequence[str], fmi: Fmi) -> str:
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
    """A new element; attributes that are None are left out, truth is written as XML does."""
    given = {name: _written(value) for name, value in attributes.items() if value is not None}
    return ElementTree.SubElement(parent, tag, given)


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value) if isinstance(value, float) else str(value)


class _Writer:
    """What both versions have in common: the order of the parts."""

    version: str
    token: str

    def __init__(self, identity: Identity, known: Variables, sources: Sequence[str]) -> None:
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

    def variable(self, parent: ElementTree.Element, reference: int, variable: Variable) -> None:
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

    def variable(self, parent: ElementTree.Element, reference: int, variable: Variable) -> None:
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

    def variable(self, parent: ElementTree.Element, reference: int, variable: Variable) -> None:
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
