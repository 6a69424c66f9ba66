"""The base parameters of a mechanism as formulas: what of its masses and moments the joint forces can tell.

`tau` = regressor times base parameters. Which parameters of the model are regrouped into which, and which have no
effect at all, is read off the list.
"""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.compiler.request import Parameters, bound_parameters
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.display import RichDisplay
from kinegraph.graph.build import GraphBuilder, Scalar, moved, transfer
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.notation.text import expressions
from kinegraph.passes.rackovic import ExtractMonomials


@dataclass(frozen=True)
class BaseParameter:
    """One base parameter: what it is of which link, and its formula in the model's parameters.

    `Izz` is a moment of inertia about the joint's axis, `mx` a first moment, `Sxy` a second moment (a sum of m x y, so
    that Ixx = Syy + Szz); all about the link's origin in the link's axes, mass of later links taken in.
    """

    what: str
    link: str
    formula: str

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.what}:{self.link}"

    def __str__(self) -> str:
        return f"{self.name} = {self.formula}"


@dataclass(frozen=True)
class BaseParameters(RichDisplay):
    """All base parameters; `idle` are parameters of the model that the joint forces do not depend on.

    `minimal` says that no smaller set would do, which is checked exactly.
    """

    parameters: tuple[BaseParameter, ...]
    idle: tuple[str, ...]
    minimal: bool

    def __len__(self) -> int:
        return len(self.parameters)

    def __repr__(self) -> str:
        verdict = "" if self.minimal else ", not minimal"
        return f"<BaseParameters: {len(self)}{verdict}; {len(self.idle)} parameters of the model have no effect>"

    def __str__(self) -> str:
        lines = [str(parameter) for parameter in self.parameters]
        if self.idle:
            lines.append(f"no effect: {', '.join(self.idle)}")
        return "\n".join(lines)


def base_parameters(
    model: MechanismSource, *, numeric: bool = False, parameters: Parameters | None = None
) -> BaseParameters:
    """Compute the base parameters: the regrouped inertial parameters that the dynamics depend on.

    model: a Mechanism, a path, or a library name.
    numeric: use the model's parameter values. parameters: values of chosen parameters; others stay symbols.
    """
    mechanism = mechanism_of(model)
    bound = bound_parameters(mechanism, numeric, parameters)
    derivation = Derivation(mechanism, bound, Plan())
    regressor = derivation.base_parameters
    found = []
    for parameter in regressor.parameters:
        what, _, link = parameter.name.partition(":")
        found.append(BaseParameter(what, link, _formula(derivation.builder, parameter.value)))
    entries = [entry.index for row in regressor.matrix for entry in row]
    entries += [parameter.value.index for parameter in regressor.parameters]
    used = derivation.builder.graph([Output("all", (len(entries),), tuple(entries))]).symbols(Kind.PARAMETER)
    names = {symbol.name for symbol in used}
    idle = tuple(p.name for p in mechanism.parameters if p.name not in names and p.name not in bound)
    return BaseParameters(tuple(found), idle, regressor.minimal)


def _formula(builder: GraphBuilder, value: Scalar) -> str:
    """A sum with common factors taken out, as text."""
    graph = builder.graph([Output("value", (), (value.index,))])
    return expressions(ExtractMonomials().apply(_all_moving(graph)))[0]


def _all_moving(graph: Graph) -> Graph:
    """The graph with parameters as inputs: passes shorten what changes, parameters alone would cost nothing."""
    builder = GraphBuilder()

    def symbol(node: Symbol) -> int:
        return builder.symbol(Kind.INPUT if node.kind is Kind.PARAMETER else node.kind, node.name)

    return builder.graph(moved(graph.outputs, transfer(graph, builder, symbol)))
