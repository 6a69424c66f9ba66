"""Outputs: formulas of the state along a run, with points, energies and any quantity of the model, as one graph.

`q1'^2`, `tip.z`, `energy`, `forces[2]`, `pose:hand[0,3]`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kinegraph.compiler.compile import derive
from kinegraph.derive.dynamics.state_rate import input_meanings
from kinegraph.errors import DerivationError, StudyError
from kinegraph.graph.build import Builder
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.graph.scalar import Scalar
from kinegraph.graph.transfer import moved, transfer
from kinegraph.model.names import did_you_mean
from kinegraph.simulate.equations import Equations
from kinegraph.simulate.event_kernels import PointNames
from kinegraph.simulate.formula import formula
from kinegraph.simulate.observe import ENERGY, KINETIC, MOMENTA, POTENTIAL

_QUANTITY = re.compile(r"([^\W\d_][\w$]*(?::[\w$]+)?)\[([\d,\s]+)\]")
_PLACE = "quantity$"


class OutputNames(PointNames):
    """Names of the state and of points, energies and momenta as columns of a run have them, entries of quantities."""

    def __init__(self, builder: Builder, equations: Equations) -> None:
        super().__init__(builder, equations)
        self._made: dict[str, Output] = {}
        self._entries: list[tuple[str, tuple[int, ...]]] = []
        self._given = input_meanings(equations.mechanism, self, equations.forces)
        declared = [given.name for given in equations.mechanism.inputs]
        self.replace({name: self._given[name] for name in declared if name in self._given})

    def read(self, text: str) -> Scalar:
        """The scalar a formula stands for."""
        return self.scalar(formula(_QUANTITY.sub(self._mark, text)))

    def __getitem__(self, name: str) -> Scalar:
        if name.startswith(_PLACE):
            return self._entry(*self._entries[int(name.removeprefix(_PLACE))])
        try:
            return super().__getitem__(name)
        except DerivationError:
            return self._column(name)

    def _mark(self, found: re.Match[str]) -> str:
        places = tuple(int(part) for part in found[2].split(",") if part.strip())
        self._entries.append((found[1], places))
        return f"{_PLACE}{len(self._entries) - 1}"

    def _column(self, name: str) -> Scalar:
        if name in (KINETIC, POTENTIAL):
            return self._entry("energy", (int(name == POTENTIAL),))
        if name == ENERGY:
            return self._entry("energy", (0,)) + self._entry("energy", (1,))
        if name in MOMENTA:
            return self._entry("momentum", (MOMENTA.index(name),))
        layout = self._equations.mechanism.layout
        parameters = [parameter.name for parameter in self._equations.mechanism.parameters]
        known = (*layout.positions, *layout.velocities, *parameters, KINETIC, POTENTIAL, ENERGY, *MOMENTA)
        raise StudyError(f"there is no {name!r} in the model\n  {did_you_mean(name, known)}")

    def _entry(self, quantity: str, places: tuple[int, ...]) -> Scalar:
        output = self._quantity(quantity)
        shape = output.shape
        if len(places) != len(shape) or any(place >= size for place, size in zip(places, shape, strict=False)):
            raise StudyError(f"{quantity}{list(places)}: {quantity} has the shape {shape}, counted from 0")
        flat = 0
        for place, size in zip(places, shape, strict=True):
            flat = flat * size + place
        return Scalar(self.builder, output.nodes[flat])

    def _quantity(self, word: str) -> Output:
        if word not in self._made:
            graph = derive(self._equations.mechanism, word, parameters=self._equations.bound)
            self._made[word] = moved(graph.outputs, transfer(graph, self.builder, self._symbol))[0]
        return self._made[word]

    def _symbol(self, node: Symbol) -> int:
        """What a symbol of a derived quantity is along the motion: inputs as they are given, accelerations solved."""
        if node.kind is Kind.INPUT and node.name in self._given:
            return self._given[node.name].index
        accelerations = self._equations.mechanism.layout.accelerations
        if node.kind is Kind.ACCELERATION and node.name in accelerations:
            rate = self._rate()
            return rate.nodes[len(self._equations.mechanism.layout.positions) + accelerations.index(node.name)]
        return self.builder.symbol(node.kind, node.name)

    def _rate(self) -> Output:
        if "" not in self._made:
            graph = self._equations.rate
            self._made[""] = moved(graph.outputs, transfer(graph, self.builder))[0]
        return self._made[""]


def output_graph(equations: Equations, texts: Sequence[str]) -> Graph:
    """All outputs as one graph in q, v, t, inputs and parameters."""
    builder = Builder()
    names = OutputNames(builder, equations)
    nodes = tuple(names.read(text).index for text in texts)
    return builder.graph([Output("outputs", (len(nodes),), nodes)])
