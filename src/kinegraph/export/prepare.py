"""From a mechanism or a graph to a unit: derive, reduce, bind, lower, chunk, and add a test vector for each routine."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from kinegraph.codegen.program.binding import Argument, Bound, ParameterValue, bind
from kinegraph.codegen.program.instructions import cut
from kinegraph.codegen.program.lowering import lower_with_places
from kinegraph.compiler.choose import chosen
from kinegraph.compiler.derive import Derivations
from kinegraph.compiler.reduce import reduced
from kinegraph.compiler.request import Quantities, arguments_of, read_quantities, request_of
from kinegraph.compiler.stored import resolve_closure
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.derive.quantities.variables import ALL
from kinegraph.errors import DerivationError, KernelError
from kinegraph.export.identifiers import Scope, comment, prefix
from kinegraph.export.options import ExportOptions, FunctionLayout
from kinegraph.export.self_test import make_vector
from kinegraph.export.transliteration import transliterated
from kinegraph.export.unit import (
    Field,
    Routine,
    Unit,
    Units,
    argument_entries,
    argument_meaning,
    kinegraph_version,
    operations_of,
    quantity_entries,
    quantity_meaning,
    with_tables,
)
from kinegraph.graph.angle import PI
from kinegraph.graph.build import GraphBuilder, transfer
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.graph.text import dump
from kinegraph.io.language.writer import write
from kinegraph.jit.cache import digest
from kinegraph.model.evaluate import float_values, known_parameter_values, parameter_values
from kinegraph.model.expressions import Scalar, expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.notation.naming import LARGEST, Naming, defined_nodes, is_angle_function
from kinegraph.passes.pipeline import read_passes, reduce

# Names of shared terms in code: as `kinegraph derive` prints them, x1, x2, ...

#: Names of unnamed values in code, which no definition may use.
_NUMBERED = re.compile(r"[xt]\d+", re.IGNORECASE)


def shared_terms(printed: Graph, coded: Graph, mechanism: Mechanism | None = None) -> Mapping[int, str]:
    """The names of terms in code, by the nodes of the graph `coded`: those that equations of `printed` use for them.

    Sines and cosines are named elsewhere. Definitions of the mechanism, and their negatives, keep their own names.

    If a symbol is called x1, terms are printed as y1, y2, ...; in code they are x1, x2, ... all the same. Both
    graphs are of the same equations; code may be made of the derived graph where the reduced one is printed. Equal
    expressions are one node in a builder, which identifies them.
    """
    if len(printed) > LARGEST:
        return {}
    naming = Naming(printed, mechanism=mechanism)
    builder = GraphBuilder()
    places = transfer(naming.graph, builder)
    nodes = naming.graph.nodes
    shared = {i: label for i, label in naming.labels.items() if not is_angle_function(nodes[i])}
    names = {places[i]: f"x{label.suffix}" for i, label in shared.items() if label.suffix}
    found = {node: names[place] for node, place in transfer(coded, builder).items() if place in names}
    defined = {
        node: f"minus_{name}" if negative else name
        for node, (name, negative) in defined_nodes(coded, mechanism).items()
    }
    return found | {node: name for node, name in defined.items() if not _NUMBERED.fullmatch(name)}


# From a mechanism or a graph to a unit.

#: Names of generated code's own variables: t1, t2, ..., shared terms x1, x2, ... and the scratch array s.
_TEMPORARY = re.compile(r"[xXtT]\d+")
_TAKEN = ("s", "T", "batch", "failed")

#: The argument for each kind of symbol.
_ARGUMENT_NAMES = {
    Kind.COORDINATE: "q", Kind.VELOCITY: "v", Kind.STATE: "z", Kind.ACCELERATION: "a", Kind.INPUT: "tau",
    Kind.TIME: "t", Kind.PARAMETER: "p", Kind.CONSTANT: "c",
}  # fmt: skip


@dataclass(frozen=True)
class NamedGraph:
    """A bound graph with the names of its arguments and results in code."""

    name: str
    title: str
    binding: Bound
    inputs: tuple[Field, ...]
    outputs: tuple[Field, ...]
    #: The printed graph of the same equations.
    printed: Graph


@dataclass(frozen=True)
class Origin:
    """The origin of a graph: its mechanism, if known, and the arguments of each output, by name."""

    mechanism: Mechanism | None
    arguments: Mapping[str, tuple[Argument, ...]]


def prepare(source: Mechanism | Graph, quantities: Quantities, options: ExportOptions) -> Unit:
    """All data that a language needs. For a graph, `quantities` name its outputs; none means all."""
    return _maker(source, options).unit(quantities)


def prepare_as_it_is(graph: Graph, origin: Origin, options: ExportOptions) -> Unit:
    """A unit of all outputs of a graph that is already reduced."""
    return _OfGraph(graph, options, origin).unit(())


@dataclass(frozen=True)
class ExportPart:
    """A routine given as a graph: its arguments, and the meanings of its outputs, by name."""

    name: str
    graph: Graph
    arguments: tuple[Argument, ...]
    meanings: Mapping[str, str]


def prepare_parts(mechanism: Mechanism, parts: Sequence[ExportPart], options: ExportOptions) -> Unit:
    """A unit of routines derived elsewhere from a mechanism; parameters are among their arguments."""
    return _OfParts(mechanism, parts, options).unit([part.name for part in parts])


def prepare_graphs(source: Mechanism | Graph, quantities: Quantities, options: ExportOptions) -> list[NamedGraph]:
    """The bound graphs alone, for formats written from graphs (LaTeX, SymPy, CasADi)."""
    return _maker(source, options).bounds(quantities)


def _maker(source: Mechanism | Graph, options: ExportOptions) -> _Maker:
    return _OfMechanism(source, options) if isinstance(source, Mechanism) else _OfGraph(source, options)


def digest_of(text: str, titles: Iterable[str], values: Mapping[str, Scalar]) -> str:
    """The hash in generated code: of the model's text, the quantities, and values that replace the model's."""
    return digest(text, tuple(titles), {name: expression(value, name) for name, value in values.items()})


class _Maker:
    """The common part of mechanisms and graphs."""

    title: str
    text: str
    units: Units
    known: dict[str, float]
    parameters: tuple[str, ...]
    #: The mechanism whose definitions keep their names in code.
    definitions: Mechanism | None = None

    def __init__(self, options: ExportOptions) -> None:
        self.options = options

    @property
    def name(self) -> str:
        return self.options.name or self.title

    def groups(self, quantities: Quantities) -> list[tuple[str, ...]]:
        """The outputs each routine computes."""
        names = self.outputs(quantities)
        if not names:
            raise KernelError("nothing to export: name at least one quantity, such as tau")
        if len(set(names)) < len(names):
            raise KernelError(f"a quantity is given twice: {', '.join(names)}")
        return [names] if self.options.layout is FunctionLayout.COMBINED else [(name,) for name in names]

    def outputs(self, quantities: Quantities) -> tuple[str, ...]:
        raise NotImplementedError

    def graph(self, group: tuple[str, ...]) -> Graph:
        raise NotImplementedError

    def printed(self, group: tuple[str, ...], coded: Graph) -> Graph:
        """The equations of the code, as `kinegraph derive` prints them."""
        return coded

    def reduced(self, graph: Graph) -> Graph:
        """A graph reduced by the requested passes."""
        passes = read_passes(self.options.passes) if self.options.passes else ()
        return reduce(graph, effort=self.options.effort, passes=passes).graph

    def arguments(self, group: tuple[str, ...]) -> tuple[Argument, ...]:
        raise NotImplementedError

    def bind(self, graph: Graph, arguments: tuple[Argument, ...]) -> Bound:
        return bind(graph, arguments, {})

    def meaning(self, output: Output) -> tuple[str, tuple[str, ...]]:
        """The meaning of a result, and its entries if they have names."""
        return "result", ()

    def empty(self) -> str:
        """Why a result has no entries."""
        return f"its shape says so in {self.title}"

    def bounds(self, quantities: Quantities) -> list[NamedGraph]:
        """The bound graphs to export, function by function."""
        scope = Scope(("selftest", "parameters", "digest", prefix(self.name)))
        return [self._bound(group, scope) for group in self.groups(quantities)]

    def _bound(self, group: tuple[str, ...], scope: Scope) -> NamedGraph:
        graph = self.graph(group)
        for output in graph.outputs:
            if not output.nodes:
                raise KernelError(f"{output.name} is empty: {self.empty()}; it cannot be exported")
        arguments = tuple(argument for argument in self.arguments(group) if argument.symbols)
        binding = self.bind(graph, arguments)
        name = scope.take(_readable(group[0]) if len(group) == 1 else "evaluate", group[0])
        title = ", ".join(comment(one) for one in group)
        return NamedGraph(name, title, binding, *self._fields(binding), self.printed(group, graph))

    def unit(self, quantities: Quantities) -> Unit:
        bounds = self.bounds(quantities)
        titles = [output.name for bound in bounds for output in bound.binding.graph.outputs]
        values = tuple(self.known[name] for name in self.parameters if name in self.known)
        return Unit(
            name=prefix(self.name),
            title=comment(self.title),
            digest=digest_of(self.text, titles, self.options.parameters),
            version=kinegraph_version(),
            routines=with_tables([self.routine(bound) for bound in bounds]),
            parameter_names=tuple(self.units.named(name) for name in self.parameters),
            parameter_values=values if len(values) == len(self.parameters) else (),
            options=self.options,
        )

    def routine(self, bound: NamedGraph) -> Routine:
        program, places = lower_with_places(bound.binding, group=1, fuse=False)
        names = shared_terms(bound.printed, bound.binding.graph, self.definitions)
        options = self.options
        vector = make_vector(bound.binding, program, self.known, options.precision) if options.self_test else None
        return Routine(
            name=bound.name,
            title=bound.title,
            inputs=bound.inputs,
            outputs=bound.outputs,
            program=program,
            chunks=cut(program, options.chunk),
            operations=operations_of(program),
            test=vector,
            shared={places[node]: name for node, name in names.items() if node in places},
        )

    def _fields(self, binding: Bound) -> tuple[tuple[Field, ...], tuple[Field, ...]]:
        scope = Scope(_TAKEN)
        inputs = tuple(
            Field(
                scope.take(argument.name),
                (len(argument.symbols),),
                argument_meaning(argument),
                argument_entries(argument, self.units),
            )
            for argument in binding.arguments
        )
        outputs = tuple(
            Field(self._output_name(scope, output.name), output.shape, *self.meaning(output))
            for output in binding.graph.outputs
        )
        return inputs, outputs

    @staticmethod
    def _output_name(scope: Scope, name: str) -> str:
        readable = _readable(name)
        if _TEMPORARY.fullmatch(readable):
            return scope.take(f"{readable}_out", name)
        return scope.take(readable, f"{readable}_out", name)


def _readable(name: str) -> str:
    """A quantity's name as an identifier if possible: `pose:hand` is pose_hand, `d(tau)/d(q)` d_tau_by_q."""
    try:
        quantity = Quantity.parse(name)
    except DerivationError:  # the outputs of a graph may have any name
        return name
    by = [variable.replace(ALL, "all_") for variable in quantity.by]
    words = [quantity.name, *(part for part in quantity.of.split(":") if part), quantity.frame, *by]
    if not all(map(transliterated, filter(None, words))):
        return name
    text = "_".join([quantity.name, *map(transliterated, filter(None, quantity.of.split(":")))])
    text += f"_in_{transliterated(quantity.frame)}" if quantity.frame else ""
    for variable in map(transliterated, by):
        text = f"d_{text}_by_{variable}"
    return text


class _OfMechanism(_Maker):
    def __init__(self, mechanism: Mechanism, options: ExportOptions) -> None:
        super().__init__(options)
        self.mechanism = self.definitions = mechanism
        self.title = mechanism.name
        self.text = write(mechanism)
        self.units = Units(mechanism)
        symbolic = bool(options.symbolic_parameters)
        self.parameters = tuple(one.name for one in mechanism.parameters) if symbolic else ()
        self.known = self._known() if symbolic else {}
        self._groups: dict[tuple[str, ...], Derivations] = {}

    def _known(self) -> dict[str, float]:
        """The values of parameters; those without one stay symbols without a default."""
        if any(one.value is None and one.name not in self.options.parameters for one in self.mechanism.parameters):
            values = known_parameter_values(self.mechanism)
        else:
            values = parameter_values(self.mechanism, self.options.parameters)
        return float_values(values)

    def empty(self) -> str:
        return f"{self.title} has no {'inertial parameters' if self.mechanism.coordinates else 'coordinates'}"

    def outputs(self, quantities: Quantities) -> tuple[str, ...]:
        return tuple(str(quantity) for quantity in read_quantities(quantities))

    def graph(self, group: tuple[str, ...]) -> Graph:
        return chosen(self._derivations(group)).graph

    def printed(self, group: tuple[str, ...], coded: Graph) -> Graph:
        return reduced(self._derivations(group)).graph

    def _derivations(self, group: tuple[str, ...]) -> Derivations:
        if group not in self._groups:
            numeric = not self.options.symbolic_parameters
            given = self.options.parameters if numeric else None
            effort, passes = self.options.effort, self.options.passes
            request = request_of(self.mechanism, group, numeric=numeric, parameters=given, effort=effort, passes=passes)
            self._groups[group] = Derivations(resolve_closure(request))
        return self._groups[group]

    def arguments(self, group: tuple[str, ...]) -> tuple[Argument, ...]:
        return arguments_of(self.mechanism, group, self.parameters)

    def meaning(self, output: Output) -> tuple[str, tuple[str, ...]]:
        quantity = Quantity.parse(output.name)
        return quantity_meaning(quantity), quantity_entries(quantity, self.mechanism, self.units)


class _OfParts(_OfMechanism):
    def __init__(self, mechanism: Mechanism, parts: Sequence[ExportPart], options: ExportOptions) -> None:
        super().__init__(mechanism, replace(options, symbolic_parameters=False))
        self.known = self._known()
        self.parts = {part.name: part for part in parts}

    def outputs(self, quantities: Quantities) -> tuple[str, ...]:
        return tuple(self.parts)

    def graph(self, group: tuple[str, ...]) -> Graph:
        return self.reduced(self.parts[group[0]].graph)

    def printed(self, group: tuple[str, ...], coded: Graph) -> Graph:
        return coded

    def arguments(self, group: tuple[str, ...]) -> tuple[Argument, ...]:
        return self.parts[group[0]].arguments

    def meaning(self, output: Output) -> tuple[str, tuple[str, ...]]:
        return next(part.meanings[output.name] for part in self.parts.values() if output.name in part.meanings), ()


class _OfGraph(_Maker):
    def __init__(self, graph: Graph, options: ExportOptions, origin: Origin | None = None) -> None:
        super().__init__(options)
        self.source = graph
        self.origin = origin
        self.definitions = origin.mechanism if origin else None
        self.title = options.name or "model"
        self.text = dump(graph)
        self.units = Units(self.definitions)
        self.known = {}
        taken = {name: self.arguments((name,)) for name in self.outputs(())}
        symbols = (one for arguments in taken.values() for argument in arguments for one in argument.symbols)
        self.parameters = tuple(dict.fromkeys(one.name for one in symbols if one.kind is Kind.PARAMETER))

    def outputs(self, quantities: Quantities) -> tuple[str, ...]:
        names = [output.name for output in self.source.outputs]
        if isinstance(quantities, str):
            quantities = [part for part in (quantities,) if part]
        wanted = tuple(str(one) for one in ((quantities,) if isinstance(quantities, Quantity) else quantities))
        for name in wanted:
            if name not in names:
                raise KernelError(f"the graph has no output {name!r}; outputs are {', '.join(names)}")
        return wanted or tuple(names)

    def graph(self, group: tuple[str, ...]) -> Graph:
        chosen = Graph(self.source.nodes, tuple(self.source.output(name) for name in group))
        return chosen if self.origin else self.reduced(chosen)

    def arguments(self, group: tuple[str, ...]) -> tuple[Argument, ...]:
        if not self.origin:
            live = (symbol for kind in Kind for symbol in self.source.symbols(kind))
            return symbol_arguments(live, self.options.parameters)
        return tuple(dict.fromkeys(argument for name in group for argument in self.origin.arguments[name]))

    def meaning(self, output: Output) -> tuple[str, tuple[str, ...]]:
        if self.definitions is None:
            return super().meaning(output)
        try:
            quantity = Quantity.parse(output.name)
        except DerivationError:  # one entry of a quantity
            return super().meaning(output)
        return quantity_meaning(quantity), quantity_entries(quantity, self.definitions, self.units)

    def bind(self, graph: Graph, arguments: tuple[Argument, ...]) -> Bound:
        return bind(graph, arguments, cast(Mapping[str, ParameterValue], self.options.parameters))


def symbol_arguments(symbols: Iterable[Symbol], bound: Iterable[str] = ()) -> tuple[Argument, ...]:
    """One argument for each kind of symbol, entries in the given order: for graphs without a known model."""
    taken = set(bound)
    free = [one for one in symbols if one != PI and one.name not in taken]
    groups = {name: tuple(one for one in free if one.kind is kind) for kind, name in _ARGUMENT_NAMES.items()}
    return tuple(Argument(name, entries) for name, entries in groups.items() if entries)
