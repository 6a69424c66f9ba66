"""Names in printed equations: of shared nodes, of expressions that the model defines, and of entries of outputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count as counter
from typing import TypeAlias

from kinegraph.derive.elements.element_values import ElementNames
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.derive.quantities.record import Letter
from kinegraph.derive.quantities.variables import DISPLACEMENTS, Variables, group_word
from kinegraph.derive.tree.expressions import Names
from kinegraph.errors import DerivationError, KinegraphError
from kinegraph.graph.angle import linear_form
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import GUARDED, Coefficient, Factor, Function, Graph, Kind, Node, Output, Polynomial, Symbol
from kinegraph.graph.proof import values_at_one_point
from kinegraph.model.definitions import named_expressions
from kinegraph.model.expressions import Expression, names
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import component
from kinegraph.model.states import moved_by


def without_guards(graph: Graph) -> Graph:
    """The equations for readers: without guards, which only turn meaningless values into NaN."""
    unguarded = list(range(len(graph)))
    for index, node in enumerate(graph.nodes):
        if isinstance(node, Function) and node.name == GUARDED:
            unguarded[index] = unguarded[node.arguments[0]]
    if unguarded == list(range(len(graph))):
        return graph
    outputs = tuple(one._replace(nodes=tuple(unguarded[index] for index in one.nodes)) for one in graph.outputs)
    return Graph(tuple(_with_children(node, unguarded) for node in graph.nodes), outputs)


def _with_children(node: Node, new: Sequence[int]) -> Node:
    """A node with new ids of its children, in the same order."""
    if isinstance(node, Function):
        return Function(node.name, tuple(new[argument] for argument in node.arguments))
    if isinstance(node, Polynomial):
        return Polynomial(tuple((c, tuple((new[x], e) for x, e in factors)) for c, factors in node.terms))
    return node


# ---- Nodes that are expressions named in the model (`define`, `quasivelocity`)

#: Definitions are not searched in graphs with more nodes: nobody reads equations of this size.
LARGEST = 20_000


def defined_nodes(graph: Graph, mechanism: Mechanism | None) -> dict[int, tuple[str, bool]]:
    """For each node that equals a definition, up to its sign: the name, and whether the sign is negative.

    Nodes and definitions are compared at a random point of a prime field, as in proofs, so their form does not matter.
    Definitions that the reduction has taken apart are not found.
    """
    if mechanism is None or not named_expressions(mechanism) or len(graph) > LARGEST:
        return {}
    try:
        matching = matching_nodes(graph, _definitions(graph, mechanism))
    except KinegraphError:  # no name is worth a failure
        return {}
    found: dict[int, tuple[str, bool]] = {}
    for place, name, negative in matching:
        found.setdefault(place, (name, negative))
    return found


def matching_nodes(graph: Graph, named: Graph) -> list[tuple[int, str, bool]]:
    """The nodes that equal scalar outputs of another graph, up to the sign: node, output, is it its negative?"""
    values, wanted, prime = values_at_one_point(graph, named)
    places: dict[int, int] = {}
    for index, value in enumerate(values):
        if not isinstance(graph.nodes[index], Symbol) and not graph.static[index]:
            places.setdefault(value, index)
    found: list[tuple[int, str, bool]] = []
    for output in named.outputs:
        value = wanted[output.nodes[0]]
        negative = value not in places
        place = places.get(-value % prime if negative else value)
        if place is not None:
            found.append((place, output.name, negative))
    return found


def _definitions(graph: Graph, mechanism: Mechanism) -> Graph:
    """The definitions as a graph. Parameters that are numbers in the equations are numbers here too."""
    known = _names(mechanism, _bound(graph, mechanism))
    outputs: list[Output] = []
    for one in named_expressions(mechanism):
        try:
            outputs.append(Output(one.name, (), (known.scalar(one.value).index,)))
        except KinegraphError:  # no name is worth a failure
            continue
    return known.builder.graph(outputs)


def _names(mechanism: Mechanism, bound: Mapping[str, Expression]) -> Names:
    """The meaning of names; points of bodies are derived only if a definition uses them."""
    used = {name for one in named_expressions(mechanism) for name in names(one.value)}
    if not any(map(component, used)):
        return Names(GraphBuilder(), mechanism, bound)
    return ElementNames(mechanism, bound, Derivation(mechanism, bound, Plan()).layout)


def _bound(graph: Graph, mechanism: Mechanism) -> Mapping[str, Expression]:
    symbols = {symbol.name for symbol in graph.symbols(Kind.PARAMETER)}
    return {one.name: one.value for one in mechanism.parameters if one.name not in symbols and one.value is not None}


# ---- Abbreviations

#: A longer expression gets a name even if it is used once.
LONGEST = 30
#: So does an expression with more nested parentheses.
DEEPEST = 6

NaturalKey: TypeAlias = tuple[tuple[str, int], ...]

_INDEXED = re.compile(r"([^\W\d_]+)(\d+)$")


@dataclass(frozen=True, slots=True)
class Label:
    """The name of an abbreviation: a stem and a suffix, as in s and 23; of a definition only the stem."""

    stem: str
    suffix: str

    def __str__(self) -> str:
        if not self.suffix:
            return self.stem
        joined = self.suffix.isdigit() or re.fullmatch(r"\d+(_\d+)*|[A-Z]\d*", self.suffix)
        return self.stem + self.suffix if joined else f"{self.stem}_{self.suffix}"


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of an output (indices from one); `same`: the other entries of the same node."""

    output: str
    indices: tuple[int, ...]
    node: int
    same: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """An output: its nonzero entries, and the number of zeros.

    An output that is `symmetric` in its last two indices lists only the entries with the smaller index first.
    """

    output: Output
    entries: tuple[Entry, ...]
    zeros: int
    symmetric: bool


def natural(name: str) -> NaturalKey:
    """A key that sorts q2 before q10."""
    return tuple((text, int(digits or 0)) for text, digits in re.findall(r"(\D*)(\d*)", name))


def is_angle_function(node: Node) -> bool:
    """True for sin and cos."""
    return isinstance(node, Function) and node.name in ("sin", "cos")


class Naming:
    """The names of one graph: `labels` by node, and `order`, the order of their definitions.

    Sines and cosines of variable angles get names (`s23` is the sine of q2 + q3). Nodes used more than once become x1,
    x2, ... All other nodes are written where they are used.
    """

    def __init__(self, graph: Graph, abbreviate: bool = True, mechanism: Mechanism | None = None) -> None:
        """mechanism: the source of names for nodes that equal a definition."""
        self.graph = graph = without_guards(graph)
        #: Nodes whose name denotes their negative.
        self.negative: set[int] = set()
        self._taken = {node.name for node in graph.nodes if isinstance(node, Symbol)}
        self._roots = {index for output in graph.outputs for index in output.nodes}
        self.labels: dict[int, Label] = {}
        if abbreviate:
            self.labels |= self._definition_labels(mechanism)
            self.labels |= self._angle_labels()
            self.labels |= self._shared_labels()

    # parts and uses of nodes

    def parts(self, index: int) -> tuple[int, ...]:
        """The nodes in the expression of a node. An angle is written as a linear form."""
        node = self.graph.nodes[index]
        if isinstance(node, Function):
            if is_angle_function(node):
                return tuple(child for factors, _ in self.angle(index) for child, _ in factors)
            return node.arguments
        if isinstance(node, Polynomial):
            return tuple(child for _, factors in node.terms for child, _ in factors)
        return ()

    def angle(self, index: int) -> tuple[tuple[tuple[Factor, ...], Coefficient], ...]:
        """The argument of a sine or cosine as a linear form."""
        node = self.graph.nodes[index]
        assert isinstance(node, Function)
        return tuple(sorted(linear_form(self.graph.nodes, node.arguments[0]).items()))

    @cached_property
    def uses(self) -> list[int]:
        """How often each node is written. Outputs that repeat a node count once, because they refer to the first."""
        uses = [0] * len(self.graph)
        for index in self._roots:
            uses[index] += 1
        for index in range(len(self.graph) - 1, -1, -1):
            if uses[index]:
                for child in self.parts(index):
                    uses[child] += 1
        return uses

    def _moving(self, index: int) -> bool:
        return is_angle_function(self.graph.nodes[index]) and not self.graph.static[index]

    # definitions

    def _definition_labels(self, mechanism: Mechanism | None) -> Iterator[tuple[int, Label]]:
        for index, (name, negative) in defined_nodes(self.graph, mechanism).items():
            if self.uses[index] and name not in self._taken:
                self._taken.add(name)
                if negative:
                    self.negative.add(index)
                yield index, Label(name, "")

    # sines and cosines

    def _angle_labels(self) -> Iterator[tuple[int, Label]]:
        found = [i for i, used in enumerate(self.uses) if used and self._moving(i) and i not in self.labels]
        prefixes = {match[1] for index in found if (match := self._indexed(index))}
        letters = _letters()
        joint = "" if all(len(match[2]) == 1 for index in found for match in self._numbered(index)) else "_"
        suffixes: dict[object, str] = {}
        for index in found:
            key = self.angle(index)
            if key not in suffixes:
                suffixes[key] = self._angle_suffix(index, len(prefixes) == 1, joint) or next(letters)
            node = self.graph.nodes[index]
            assert isinstance(node, Function)
            yield index, self._free((node.name[0], node.name), suffixes[key])

    def _coordinates(self, index: int) -> list[str] | None:
        """The names of the coordinates if an angle is their sum, otherwise None."""
        names: list[str] = []
        for factors, coefficient in self.angle(index):
            node = self.graph.nodes[factors[0][0]] if len(factors) == 1 else None
            if coefficient != 1 or not isinstance(node, Symbol) or node.kind is not Kind.COORDINATE:
                return None
            names.append(node.name)
        return names

    def _indexed(self, index: int) -> re.Match[str] | None:
        names = self._coordinates(index)
        return _INDEXED.match(names[0]) if names else None

    def _numbered(self, index: int) -> list[re.Match[str]]:
        return [match for name in self._coordinates(index) or () if (match := _INDEXED.match(name))]

    def _angle_suffix(self, index: int, one_prefix: bool, joint: str) -> str | None:
        """23 for q2 + q3; the name of a coordinate if numbers would be ambiguous; None for any other angle."""
        names = self._coordinates(index)
        if names is None:
            return None
        matches = self._numbered(index)
        if one_prefix and len(matches) == len(names) and len({match[1] for match in matches}) == 1:
            return joint.join(sorted((match[2] for match in matches), key=int))
        return names[0] if len(names) == 1 else None

    # shared expressions

    def _shared_labels(self) -> dict[int, Label]:
        shared = self._shared()
        stem = next(stem for stem in ("x", "y", "z", "w", "xx", "xxx") if not self._clashes(stem))
        return {index: Label(stem, str(number)) for number, index in enumerate(shared, start=1)}

    def _clashes(self, stem: str) -> bool:
        return any(re.fullmatch(stem + r"\d+", name) for name in self._taken)

    def _shared(self) -> list[int]:
        """The nodes that get a name, children first."""
        named: list[int] = []
        sizes = [1] * len(self.graph)
        depths = [0] * len(self.graph)
        for index, used in enumerate(self.uses):
            if not used or index in self.labels or isinstance(self.graph.nodes[index], Symbol):
                continue
            parts = self.parts(index)
            size = max(sum(sizes[part] for part in parts), 1)
            depth = 1 + max((depths[part] for part in parts), default=0)
            too_long = (size > LONGEST or depth > DEEPEST) and index not in self._roots
            if (used > 1 and not self._short(index, sizes)) or too_long:
                named.append(index)
            else:
                sizes[index], depths[index] = size, depth
        return named

    def _short(self, index: int, sizes: list[int]) -> bool:
        """Too short for a name: a number, a multiple or power of a name, a product of two names (three if static)."""
        node = self.graph.nodes[index]
        if isinstance(node, Function):
            return node.name == "reciprocal" and sizes[node.arguments[0]] == 1
        if not isinstance(node, Polynomial) or len(node.terms) > 1:
            return False
        factors = node.terms[0][1] if node.terms else ()
        return len(factors) <= (3 if self.graph.static[index] else 2) and all(sizes[child] == 1 for child, _ in factors)

    def _free(self, stems: Iterable[str], suffix: str) -> Label:
        """A label that no symbol and no other label has."""
        candidates = [Label(stem, suffix) for stem in stems]
        more = (Label(candidates[-1].stem, f"{suffix}_{number}") for number in counter(2))
        label = next(c for c in (*candidates, *(next(more) for _ in range(99))) if str(c) not in self._taken)
        self._taken.add(str(label))
        return label

    # lists of definitions and entries

    @cached_property
    def order(self) -> tuple[int, ...]:
        """All labeled nodes: first sines and cosines of symbols, then the others, children first."""
        elementary = {index for index in self.labels if self.is_elementary(index)}
        return (*sorted(elementary, key=self._angle_key), *sorted(self.labels.keys() - elementary))

    def is_elementary(self, index: int) -> bool:
        """True for a sine or cosine of an angle that contains only symbols."""
        return self._moving(index) and all(isinstance(self.graph.nodes[part], Symbol) for part in self.parts(index))

    def _angle_key(self, index: int) -> tuple[int, list[NaturalKey], NaturalKey, bool]:
        names = [node.name for part in self.parts(index) if isinstance(node := self.graph.nodes[part], Symbol)]
        label = self.labels[index]
        return len(names), sorted(map(natural, names)), natural(label.suffix), label.stem.startswith("c")

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The outputs, with entries of the same node collected."""
        return tuple(self._section(output) for output in self.graph.outputs)

    def _section(self, output: Output) -> Section:
        places: dict[int, list[tuple[int, ...]]] = {}
        where = [_indices(position, output.shape) for position in range(len(output.nodes))]
        symmetric = _symmetric(dict(zip(where, output.nodes, strict=True)), output.shape)
        zeros = sum(self._is_zero(node) for node in output.nodes)
        for indices, node in zip(where, output.nodes, strict=True):
            if not self._is_zero(node) and not (symmetric and indices[-2] > indices[-1]):
                places.setdefault(node, []).append(indices)
        entries = tuple(Entry(output.name, same[0], node, tuple(same[1:])) for node, same in places.items())
        return Section(output, entries, zeros, symmetric)

    def _is_zero(self, index: int) -> bool:
        node = self.graph.nodes[index]
        return isinstance(node, Polynomial) and not node.terms


def _symmetric(nodes: dict[tuple[int, ...], int], shape: tuple[int, ...]) -> bool:
    """True if the array is symmetric in its last two indices."""
    if len(shape) < 2 or shape[-1] != shape[-2] or shape[-1] < 2:
        return False
    return all(nodes[(*rest, j, i)] == node for (*rest, i, j), node in nodes.items())


def _indices(position: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    found: list[int] = []
    for size in reversed(shape):
        position, place = divmod(position, size)
        found.append(place + 1)
    return tuple(reversed(found))


def _letters() -> Iterator[str]:
    """A, B, ..., Z, A1, B1, ..."""
    for round_ in counter():
        for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ":
            yield f"{letter}{round_ or ''}"


# ---- Names of the entries of outputs


@dataclass(frozen=True)
class EntryName:
    """The name of an entry of an output.

    It is a `variable` (an acceleration, a generalized force), or the letter of a quantity, or a word. Indices are
    numbers or names. by: the variables of its derivatives.
    """

    word: str
    letter: Letter | None = None
    of: str = ""
    frame: str = ""
    variable: Symbol | None = None
    indices: tuple[str, ...] = ()
    by: tuple[Symbol, ...] = ()


def entry_name(output: str, indices: tuple[int, ...], mechanism: Mechanism | None) -> EntryName:
    """The name of an entry (indices from one) or, without indices, of the output. A mechanism names its variables."""
    try:
        quantity = Quantity.parse(output)
    except DerivationError:  # outputs of a graph may have any name
        return EntryName(output, indices=tuple(map(str, indices)))
    groups = [_Group(word, mechanism) for word in quantity.by]
    inner = len(indices) - sum(group.indexed for group in groups)
    if indices and inner < 0:
        return EntryName(output, indices=tuple(map(str, indices)))
    rest = iter(indices[inner:] if indices else ())
    by = tuple(group.symbol(next(rest, 0) if group.indexed else 0) for group in groups)
    own = indices[:inner] if indices else ()
    variable = _variable(quantity, own, mechanism)
    names = _named_indices(quantity, own, mechanism)
    word = str(quantity.undifferentiated)
    return EntryName(word, quantity.record.letter, quantity.of, quantity.frame, variable, names, by)


def _variable(quantity: Quantity, indices: tuple[int, ...], mechanism: Mechanism | None) -> Symbol | None:
    entries = quantity.record.entries
    if mechanism is None or entries is None or not quantity.record.variables or len(indices) != 1:
        return None
    return entries.symbols(mechanism)[indices[0] - 1]


def _named_indices(quantity: Quantity, indices: tuple[int, ...], mechanism: Mechanism | None) -> tuple[str, ...]:
    entries = quantity.record.entries
    if mechanism is None or entries is None or len(indices) != 1:
        return tuple(map(str, indices))
    name = entries.names(mechanism)[indices[0] - 1]
    return (moved_by(name),) if entries is Variables.FORCES else (name,)


class _Group:
    """The variables of one derivative: a group, or a single variable."""

    def __init__(self, word: str, mechanism: Mechanism | None) -> None:
        group = group_word(word, mechanism)
        self.word = group or word
        self.mechanism = mechanism
        self.indexed = group in (*Variables, DISPLACEMENTS) and group != Variables.TIME

    def symbol(self, index: int) -> Symbol:
        """The variable of an index from one; zero means the whole group, or the single variable."""
        if self.mechanism is not None and self.indexed and index and self.word != DISPLACEMENTS:
            return Variables(self.word).symbols(self.mechanism)[index - 1]
        stem = "q" if self.word == DISPLACEMENTS else self.word
        if not self.indexed or not index:
            return Symbol(Kind.PARAMETER, stem)
        return Symbol(Kind.PARAMETER, f"{stem}{index}")
