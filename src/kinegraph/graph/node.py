"""The graph: a flat list of symbols, sums of products with exact coefficients, and functions, children first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kinegraph.display import RichDisplay
from kinegraph.errors import GraphError

if TYPE_CHECKING:
    from kinegraph.graph.build import Scalar

#: A node is a *variable* of the database; a polynomial holds *terms*, and these hold *factors*.
Coefficient: TypeAlias = int | Fraction
Factor: TypeAlias = tuple[int, int]
Term: TypeAlias = tuple[Coefficient, tuple[Factor, ...]]

#: Doubles represent every integer up to this one.
LARGEST_EXPONENT = 2**53


class Kind(Enum):
    """The kind of a symbol."""

    CONSTANT = "constant"
    PARAMETER = "parameter"
    COORDINATE = "coordinate"
    VELOCITY = "velocity"
    STATE = "state"
    ACCELERATION = "acceleration"
    TIME = "time"
    INPUT = "input"

    @property
    def static(self) -> bool:
        """True if the value is constant while a mechanism moves."""
        return self in (Kind.CONSTANT, Kind.PARAMETER)


class Symbol(NamedTuple):
    """A quantity with a name."""

    kind: Kind
    name: str


class Polynomial(NamedTuple):
    """A sum of terms (coefficient, ((node, exponent), ...)); no terms is zero, a term without factors a number."""

    terms: tuple[Term, ...]


class Function(NamedTuple):
    """A function of `FUNCTIONS` applied to nodes."""

    name: str
    arguments: tuple[int, ...]


Node: TypeAlias = Symbol | Polynomial | Function


class Output(NamedTuple):
    """A named array of nodes in row-major order; shape () is a scalar."""

    name: str
    shape: tuple[int, ...]
    nodes: tuple[int, ...]


def children(node: Node) -> Sequence[int]:
    """The nodes that a node is computed from, repeated as often as they occur."""
    if isinstance(node, Polynomial):
        return [child for _, factors in node.terms for child, _ in factors]
    return node.arguments if isinstance(node, Function) else ()


def depends_on_static_alone(node: Node, static: Sequence[bool]) -> bool:
    """Does a node depend on constants and parameters only? static: the answers for its children."""
    if isinstance(node, Polynomial):
        for _, factors in node.terms:
            for child, _ in factors:
                if not static[child]:
                    return False
        return True
    if isinstance(node, Function):
        return all(map(static.__getitem__, node.arguments))
    return node.kind.static


#: The number of outputs named in the repr of a graph.
_MOST_NAMED = 8


@dataclass(frozen=True)
class Graph(RichDisplay):
    """An immutable computation graph. `law.check` defines a well-formed graph."""

    nodes: tuple[Node, ...]
    outputs: tuple[Output, ...]

    def __post_init__(self) -> None:
        for output in self.outputs:
            if prod(output.shape) != len(output.nodes):
                raise GraphError(f"output {output.name}: shape {output.shape} does not hold {len(output.nodes)} nodes")

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        """Outputs and cost; `kg.formula` writes the equations, `graph.text.dump` every node."""
        from kinegraph.graph.count import count

        names = [f"{one.name}{list(one.shape) or ''}" for one in self.outputs[:_MOST_NAMED]]
        more = ["..."] if len(self.outputs) > _MOST_NAMED else []
        return f"<Graph {', '.join(names + more)}: {count(self)}, {len(self)} nodes>"

    def output(self, name: str) -> Output:
        """The output of this name."""
        for output in self.outputs:
            if output.name == name:
                return output
        raise KeyError(name)

    @cached_property
    def static(self) -> tuple[bool, ...]:
        """For every node: does it depend on constants and parameters only?"""
        flags: list[bool] = []
        for node in self.nodes:
            flags.append(depends_on_static_alone(node, flags))
        return tuple(flags)

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """For every node: the length of the longest path from a symbol or number."""
        levels: list[int] = []
        for node in self.nodes:
            levels.append(max([levels[child] for child in children(node)], default=-1) + 1)
        return tuple(levels)

    @cached_property
    def live(self) -> tuple[bool, ...]:
        """For every node: does any output need it?"""
        flags = [False] * len(self.nodes)
        for output in self.outputs:
            for index in output.nodes:
                flags[index] = True
        for index in range(len(self.nodes) - 1, -1, -1):
            if not flags[index]:
                continue
            node = self.nodes[index]
            if isinstance(node, Polynomial):
                for _, factors in node.terms:
                    for child, _ in factors:
                        flags[child] = True
            elif isinstance(node, Function):
                for child in node.arguments:
                    flags[child] = True
        return tuple(flags)

    @cached_property
    def use_counts(self) -> tuple[int, ...]:
        """For every node: the number of uses in terms, arguments and outputs, counting live users only."""
        counts = [0] * len(self.nodes)
        for node, live in zip(self.nodes, self.live, strict=True):
            if live:
                for child in children(node):
                    counts[child] += 1
        for output in self.outputs:
            for index in output.nodes:
                counts[index] += 1
        return tuple(counts)

    def symbols(self, *kinds: Kind) -> tuple[Symbol, ...]:
        """The live symbols of the given kinds (all kinds if none is given), in order of appearance."""
        return tuple(
            node
            for node, live in zip(self.nodes, self.live, strict=True)
            if live and isinstance(node, Symbol) and (not kinds or node.kind in kinds)
        )


#: guarded(x, r) is x if r >= 0 and NaN otherwise: a meaningless value must not look like a result.
GUARDED = "guarded"


#: Functions with constants of their own, which are part of the name: see `graph/lookup.py`.
INTERVAL, ENTRY = "interval", "entry"


def is_lookup(name: str) -> bool:
    """Does a function have constants of its own?"""
    return name.startswith((f"{INTERVAL}(", f"{ENTRY}("))


@dataclass(frozen=True)
class FunctionRule:
    """Arity and partial derivatives of one function.

    `derivatives(*arguments)` returns the partial derivative by each argument.
    """

    arity: int
    derivatives: Callable[..., tuple[Scalar | int, ...]]


def _atan2(y: Scalar, x: Scalar) -> tuple[Scalar, Scalar]:
    inverse = (x * x + y * y).reciprocal()
    return x * inverse, -y * inverse


def _select(condition: Scalar, chosen: Scalar, other: Scalar) -> tuple[int, Scalar, Scalar]:
    one, zero = condition.number(1), condition.number(0)
    return 0, condition.apply("select", one, zero), condition.apply("select", zero, one)


def _guarded(value: Scalar, room: Scalar) -> tuple[Scalar, int]:
    return value.number(1).apply("guarded", room), 0


#: The functions of a graph. select(c, a, b) is a if c >= 0 and b otherwise; its derivative ignores the jump.
FUNCTIONS: dict[str, FunctionRule] = {
    "sin": FunctionRule(1, lambda x: (x.cos(),)),
    "cos": FunctionRule(1, lambda x: (-x.sin(),)),
    "reciprocal": FunctionRule(1, lambda x: (-(x.reciprocal() ** 2),)),
    "sqrt": FunctionRule(1, lambda x: ((2 * x.apply("sqrt")).reciprocal(),)),
    "exp": FunctionRule(1, lambda x: (x.apply("exp"),)),
    "log": FunctionRule(1, lambda x: (x.reciprocal(),)),
    "asin": FunctionRule(1, lambda x: ((1 - x * x).apply("sqrt").reciprocal(),)),
    "acos": FunctionRule(1, lambda x: (-(1 - x * x).apply("sqrt").reciprocal(),)),
    "atan": FunctionRule(1, lambda x: ((1 + x * x).reciprocal(),)),
    "atan2": FunctionRule(2, _atan2),
    "sinh": FunctionRule(1, lambda x: (x.apply("cosh"),)),
    "cosh": FunctionRule(1, lambda x: (x.apply("sinh"),)),
    "tanh": FunctionRule(1, lambda x: (1 - x.apply("tanh") ** 2,)),
    "abs": FunctionRule(1, lambda x: (x.apply("sign"),)),
    "sign": FunctionRule(1, lambda x: (0,)),
    "select": FunctionRule(3, _select),
    GUARDED: FunctionRule(2, _guarded),
}

#: A function with constants of its own is piecewise constant.
_LOOKUP = FunctionRule(1, lambda x: (0,))


def rule_of(name: str) -> FunctionRule | None:
    """The rule of a function; None if there is no such function."""
    return _LOOKUP if is_lookup(name) else FUNCTIONS.get(name)
