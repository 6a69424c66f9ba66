"""What the names of a formula along a run stand for: the state, points, energies, momenta, entries of any quantity.

`q1'^2`, `tip.z`, `tip.z'`, `energy`, `forces[2]`, `pose:hand[0,3]`, `effort:coil[0]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import ClassVar

from kinegraph.derive.dynamics.state_rate import input_meanings
from kinegraph.derive.tree.convert import Names
from kinegraph.errors import DerivationError, KinegraphError, SolveError
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Kind, Output, Symbol
from kinegraph.graph.scalar import Scalar
from kinegraph.graph.transfer import moved, transfer
from kinegraph.model.expression import Expression, names
from kinegraph.model.names import component, did_you_mean
from kinegraph.simulate.equations import Equations
from kinegraph.simulate.formula import ENTRY
from kinegraph.simulate.observe import ENERGY, KINETIC, MOMENTA, POTENTIAL


class StateNames(Names):
    """Names of the state and of points, energies and momenta as columns of a run have them, entries of quantities."""

    error: ClassVar[type[KinegraphError]] = SolveError

    def __init__(self, builder: GraphBuilder, equations: Equations) -> None:
        super().__init__(builder, equations.mechanism, equations.bound)
        self._equations = equations
        self._made: dict[str, Output] = {}
        self._given = input_meanings(equations.mechanism, self, equations.forces)
        self._given |= equations.solved(builder)
        declared = [given.name for given in equations.mechanism.inputs]
        self.replace({name: self._given[name] for name in declared if name in self._given})

    def read(self, formulas: Sequence[Expression]) -> list[Scalar]:
        """What formulas stand for; the quantities they name are derived together."""
        used = dict.fromkeys(word for one in formulas for name in sorted(names(one)) for word in _words(name))
        if len(missing := [word for word in used if word not in self._made]) > 1:
            with suppress(KinegraphError):  # what is wrong is said where it is read
                self._derive(missing)
        return [self.scalar(one) for one in formulas]

    def __getitem__(self, name: str) -> Scalar:
        if found := ENTRY.fullmatch(name):
            return self._entry(found[1], tuple(int(part) for part in found[2].split(",") if part.strip()))
        if "." in name:
            return self._of_point(name)
        try:
            return super().__getitem__(name)
        except DerivationError:
            return self._column(name)

    def _of_point(self, name: str) -> Scalar:
        point, _, axis = name.partition(".")
        known = [one.name for one in self._equations.mechanism.points]
        if point not in known:
            raise self.error(f"{name}: there is no output point {point!r}\n  {did_you_mean(point, known)}")
        found = component(name)
        if found is None or not found.exists:
            raise self.error(f"{name}: a point has the coordinates x, y and z, no {axis!r}")
        row = "xyz".index(found.axis)
        return self._entry(f"velocity:{point}", (row,)) if found.rate else self._entry(f"pose:{point}", (row, 3))

    def _column(self, name: str) -> Scalar:
        if name in (KINETIC, POTENTIAL):
            return self._entry("energy", (int(name == POTENTIAL),))
        if name == ENERGY:
            return self._entry("energy", (0,)) + self._entry("energy", (1,))
        if name in MOMENTA:
            return self._entry("momentum", (MOMENTA.index(name),))
        if name in self._equations.balances:
            return Scalar(self.builder, self.builder.symbol(Kind.INPUT, name))
        layout = self._equations.mechanism.layout
        parameters = [parameter.name for parameter in self._equations.mechanism.parameters]
        columns = (KINETIC, POTENTIAL, ENERGY, *MOMENTA, *self._equations.balances)
        known = (*layout.positions, *layout.velocities, *parameters, *columns)
        raise self.error(f"there is no {name!r} in the model\n  {did_you_mean(name, known)}")

    def _entry(self, quantity: str, places: tuple[int, ...]) -> Scalar:
        output = self._quantity(quantity)
        shape = output.shape
        if len(places) != len(shape) or any(place >= size for place, size in zip(places, shape, strict=False)):
            raise self.error(f"{quantity}{list(places)}: {quantity} has the shape {shape}, counted from 0")
        flat = 0
        for place, size in zip(places, shape, strict=True):
            flat = flat * size + place
        return Scalar(self.builder, output.nodes[flat])

    def _quantity(self, word: str) -> Output:
        if word not in self._made:
            self._derive([word])
        return self._made[word]

    def _derive(self, words: Sequence[str]) -> None:
        graph = self._equations.derived(words)
        outputs = moved(graph.outputs, transfer(graph, self.builder, self._symbol))
        self._made |= zip(words, outputs, strict=True)

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


def _words(name: str) -> Iterator[str]:
    """The quantity a name is an entry of."""
    if found := ENTRY.fullmatch(name):
        yield found[1]
    elif part := component(name):
        yield f"{'velocity' if part.rate else 'pose'}:{part.point}"
    elif name in (ENERGY, KINETIC, POTENTIAL):
        yield "energy"
    elif name in MOMENTA:
        yield "momentum"
