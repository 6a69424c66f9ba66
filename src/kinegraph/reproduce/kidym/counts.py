"""Outputs and rules of counting beside the printed counts of the walking legs: which is the nearest?

The document says 724, 695, 2 and 28 for the old form of records, 364, 421, 2 and 28 for the new one, and no word on
what is computed or what is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from math import log

from kinegraph.compiler.chain import Chain
from kinegraph.compiler.load import load
from kinegraph.compiler.request import request_of
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.count import Operations, count
from kinegraph.graph.node import Graph, Kind, Symbol
from kinegraph.graph.transfer import moved, transfer
from kinegraph.model.mechanism import Mechanism
from kinegraph.passes.step import Effort
from kinegraph.reproduce.kidym.records import Result, counted

MODELS = {"old": "kidym-biped-old", "new": "kidym-biped-new"}
PRINTED = {"old": Operations(mul=724, add=695, div=2), "new": Operations(mul=364, add=421, div=2)}
FUNCTIONS = 28

#: What may have been computed, by the words of quantities.
OUTPUTS = ("H", "gravity", "bias", "tau", "H,gravity", "H,bias", "qdd", "energy", "momentum", "pose", "jacobian")

#: Those that are equations of motion or part of them.
EQUATIONS = ("H", "gravity", "bias", "tau", "H,gravity", "H,bias", "qdd")

#: The rule of counting that `kinegraph ops` has.
REDUCED = "reduced"

#: How a rule ends that counts operations between parameters alone, too.
COUNTED = "parameters counted"

#: The same by the formulas of the document, record by record.
FORMULAS = (
    (Result.POSITIONS,),
    (Result.STRUCTURE,),
    (Result.POSITIONS, Result.STRUCTURE),
    (Result.VELOCITIES,),
    (Result.ACCELERATIONS,),
    (Result.POSITIONS, Result.VELOCITIES, Result.STRUCTURE),
    (Result.ACCELERATIONS, Result.STRUCTURE),
    (Result.MASS,),
    (Result.FORCES,),
    (Result.MASS, Result.FORCES),
)


@dataclass(frozen=True)
class Tally:
    """Operations of one output by one rule of counting."""

    output: str
    rule: str
    mul: int
    add: int
    functions: int

    def distance(self, printed: Operations) -> float:
        """How far both counts are from the printed ones, in logarithms: 0.1 is about ten per cent."""
        return abs(log(self.mul / printed.mul)) + abs(log(self.add / printed.add))

    def __str__(self) -> str:
        total = self.mul + self.add + self.functions
        return f"{self.mul} + {self.add}, {self.functions} functions, {total} with each function as one"


@dataclass(frozen=True)
class Form:
    """All that was tried for one form of the records."""

    name: str

    @cached_property
    def mechanism(self) -> Mechanism:
        """The legs in this form."""
        return load(MODELS[self.name])

    @property
    def printed(self) -> Operations:
        """What the document says."""
        return PRINTED[self.name]

    @cached_property
    def tallies(self) -> tuple[Tally, ...]:
        """Every output by every rule."""
        return (*self.graphs, *self.formulas)

    @property
    def nearest(self) -> Tally:
        """The one whose counts are nearest to the printed ones."""
        return min(self.tallies, key=lambda one: one.distance(self.printed))

    @cached_property
    def graphs(self) -> tuple[Tally, ...]:
        """By our graphs."""
        return tuple(self._graphs())

    @property
    def equations(self) -> tuple[Tally, ...]:
        """Equations of motion, reduced, without what depends on parameters alone."""
        return tuple(one for one in self.graphs if one.rule == REDUCED and one.output in EQUATIONS)

    @cached_property
    def formulas(self) -> tuple[Tally, ...]:
        """By the formulas of the document."""
        return tuple(self._formulas())

    def _graphs(self) -> Iterator[Tally]:
        for output in OUTPUTS:
            chain = Chain(request_of(self.mechanism, self._words(output), numeric=False, effort=Effort.QUICK))
            for rule, graph in ((REDUCED, chain.reduced.graph), ("as first derived", chain.first)):
                yield _tally(output, rule, count(graph))
                yield _tally(output, f"{rule}, {COUNTED}", count(_moving(graph)))

    def _words(self, output: str) -> str:
        """Poses and Jacobians are of all bodies."""
        if output not in ("pose", "jacobian"):
            return output
        return ",".join(f"{output}:{body.name}" for body in self.mechanism.bodies)

    def _formulas(self) -> Iterator[Tally]:
        for results in FORMULAS:
            for statics in (False, True):
                found = counted(self.mechanism, results, statics)
                rule = "record by record" + (f", {COUNTED}" if statics else "")
                yield Tally(" and ".join(one.value for one in results), rule, found.mul, found.add, found.functions)


@cache
def both_forms() -> Mapping[str, Form]:
    """The old and the new form; what was tried of them is kept."""
    return {name: Form(name) for name in MODELS}


def both_nearest(forms: Mapping[str, Form]) -> tuple[str, str, float]:
    """Output and rule that are nearest to both printed pairs at once, and how far."""
    tables = {name: {(one.output, one.rule): one for one in form.tallies} for name, form in forms.items()}
    old, new = tables["old"], tables["new"]

    def distance(key: tuple[str, str]) -> float:
        return old[key].distance(PRINTED["old"]) + new[key].distance(PRINTED["new"])

    best = min(old.keys() & new.keys(), key=distance)
    return (*best, distance(best))


def _tally(output: str, rule: str, operations: Operations) -> Tally:
    return Tally(output, rule, operations.mul, operations.add, operations.sin + operations.cos)


def _moving(graph: Graph) -> Graph:
    """The graph with parameters as coordinates: then nothing is computed beforehand, and everything counts."""
    builder = GraphBuilder()

    def symbol(one: Symbol) -> int:
        return builder.symbol(Kind.COORDINATE if one.kind is Kind.PARAMETER else one.kind, one.name)

    return builder.graph(moved(graph.outputs, transfer(graph, builder, symbol)))
