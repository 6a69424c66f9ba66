"""Formulas along a run: the text a user types, and the quantities its names refer to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import ClassVar, TypeAlias

import numpy as np
from lark.exceptions import UnexpectedInput, VisitError

from kinegraph.derive.dynamics.state_rate import input_meanings
from kinegraph.derive.tree.expressions import Names
from kinegraph.errors import DerivationError, KinegraphError, ModelError, SolveError
from kinegraph.graph.build import GraphBuilder, moved, transfer
from kinegraph.graph.build import Scalar as GraphScalar
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Kind, Output, Symbol
from kinegraph.io.language.expressions import ExpressionReader, as_expression, expression_tree
from kinegraph.model.expressions import TIME, Call, Expression, Name, Operation, Scalar, expression, names, postorder
from kinegraph.model.names import CHOICE_REMEDY, component, did_you_mean
from kinegraph.model.report import Places
from kinegraph.simulate.checks.first_integrals import ENERGY, MOMENTA
from kinegraph.simulate.equations import Equations
from kinegraph.simulate.observation import KINETIC, POTENTIAL, Rows
from kinegraph.solve.problem import Floats, Signals

# Formulas for inputs, events and initial values: the model language, with velocities and points. `q1'` is a velocity,
# `tip.z` a coordinate of an output point, and `forces[2]`, `reaction:pin[0]` an entry of a quantity. Nothing is ever
# executed.

# In the grammar of models a name has letters, digits, _ and $ only: special characters are spelled with $ while
# parsing.
_PRIME, _DOT = "$prime", "$dot$"
_PRIMED = re.compile(r"([^\W\d_][\w$]*)'")
_POINT = re.compile(r"([^\W\d_][\w$]*)\.(w?[xyz])\b")
_LONGEST = 10_000

#: An entry of a quantity: `forces[2]`, `pose:hand[0,3]`, `jacobian:hand@base[0,1]`.
ENTRY = re.compile(r"([^\W\d_][\w$]*(?::[\w$]+(?:@[\w$]+)?)?)\[([\d,\s]+)\]")
_ENTRY = "entry$"


def formula(given: Scalar, name: str = "") -> Expression:
    """The expression of a formula: text is parsed, anything else is returned unchanged. `name`: the variable it is
    for."""
    return _parsed(given) if isinstance(given, str) else expression(given, name)


@lru_cache(maxsize=4096)
def _parsed(given: str) -> Expression:
    if len(given) > _LONGEST:
        raise SolveError(f"the formula has {len(given)} characters; the limit is {_LONGEST}")
    spelled = ENTRY.sub(lambda found: _ENTRY + found[0].encode().hex(), given)
    spelled = _POINT.sub(rf"\1{_DOT}\2", _PRIMED.sub(rf"\1{_PRIME}", spelled))
    reader = ExpressionReader("", Places())
    try:
        read = reader.transform(expression_tree(spelled))
    except (ModelError, UnexpectedInput, VisitError) as error:
        cause = error.orig_exc if isinstance(error, VisitError) else error
        if isinstance(cause, ModelError):
            remedy = f"\n  {cause.remedy}" if cause.remedy else ""
            raise SolveError(f"cannot parse the formula {given!r}: {cause.problem}{remedy}") from None
        remedy = CHOICE_REMEDY if set("<>?&") & set(str(given)) else "write e.g. 2*sin(3*t) - 0.1*q1'"
        raise SolveError(f"cannot parse the formula {given!r}: {remedy}") from None
    for number, unit in reader.units:
        if len(unit) == 1:  # the model may have a parameter of this name
            message = f"`{number} {unit}` in the formula {given!r} could be a unit or a product"
            raise SolveError(f"{message}: write {number} [{unit}] or {number}*{unit}")
    return _respelled(as_expression(read))


def _respelled(root: Expression) -> Expression:
    """The expression with primes, points and indices restored in its names."""
    done: list[Expression] = []
    for node in postorder(root):
        if isinstance(node, Name):
            done.append(Name(_respelled_name(node.text)))
        elif isinstance(node, Operation | Call):
            parts = tuple(done[-len(node.parts) :])
            del done[-len(node.parts) :]
            done.append(node.with_parts(parts))
        else:
            done.append(node)
    return done[0]


def _respelled_name(text: str) -> str:
    if text.startswith(_ENTRY):
        return "".join(bytes.fromhex(text.removeprefix(_ENTRY)).decode().split())
    return text.replace(_PRIME, "'").replace(_DOT, ".")


# Names in a formula along a run: the state, points, energies, momenta, entries of any quantity, as in `q1'^2`, `tip.z`,
# `tip.z'`, `energy`, `forces[2]`, `pose:hand[0,3]`, `effort:coil[0]`.


class StateNames(Names):
    """Names of the state, of points, energies and momenta as in the columns of a run, and of entries of quantities."""

    error: ClassVar[type[KinegraphError]] = SolveError

    def __init__(self, builder: GraphBuilder, equations: Equations, accelerations: bool = False) -> None:
        super().__init__(builder, equations.mechanism, equations.bound)
        self._accelerations = equations.mechanism.layout.accelerations if accelerations else ()
        self._equations = equations
        self._made: dict[str, Output] = {}
        self._given = input_meanings(equations.mechanism, self, equations.forces)
        self._given |= equations.solved(builder)
        declared = equations.mechanism.input_names
        self.replace({name: self._given[name] for name in declared if name in self._given})

    def read(self, formulas: Sequence[Expression]) -> list[GraphScalar]:
        """The values of formulas. The quantities they name are derived together."""
        used = dict.fromkeys(word for one in formulas for name in sorted(names(one)) for word in _words(name))
        if len(missing := [word for word in used if word not in self._made]) > 1:
            with suppress(KinegraphError):  # errors are raised where the formula is evaluated
                self._derive(missing)
        return [self.scalar(one) for one in formulas]

    def __getitem__(self, name: str) -> GraphScalar:
        if name in self._scalars:
            return self._scalars[name]
        if found := ENTRY.fullmatch(name):
            return self._entry(found[1], tuple(int(part) for part in found[2].split(",") if part.strip()))
        if "." in name:
            return self._of_point(name)
        try:
            return super().__getitem__(name)
        except DerivationError:
            return self._column(name)

    def _of_point(self, name: str) -> GraphScalar:
        point, _, axis = name.partition(".")
        mechanism = self._equations.mechanism
        known = [*mechanism.body_by_name, *(one.name for one in mechanism.points)]
        if point not in known:
            raise self.error(f"{name}: unknown body or output point {point!r}\n  {did_you_mean(point, known)}")
        found = component(name)
        if found is None or not found.exists:
            raise self.error(f"{name}: a point has x, y, z, their rates, and wx, wy, wz, not {axis!r}")
        rows = (found.row,) if found.rate else (found.row, 3)
        return self._entry(f"{'velocity' if found.rate else 'pose'}:{point}", rows)

    def _column(self, name: str) -> GraphScalar:
        if name in self._accelerations:
            place = len(self._equations.mechanism.layout.positions) + self._accelerations.index(name)
            return GraphScalar(self.builder, self._rate().nodes[place])
        if name in (KINETIC, POTENTIAL):
            return self._entry("energy", (int(name == POTENTIAL),))
        if name == ENERGY:
            return self._entry("energy", (0,)) + self._entry("energy", (1,))
        if name in MOMENTA:
            return self._entry("momentum", (MOMENTA.index(name),))
        if name in self._equations.balances:
            return GraphScalar(self.builder, self.builder.symbol(Kind.INPUT, name))
        layout = self._equations.mechanism.layout
        parameters = [parameter.name for parameter in self._equations.mechanism.parameters]
        columns = (KINETIC, POTENTIAL, ENERGY, *MOMENTA, *self._equations.balances)
        known = (*layout.positions, *layout.velocities, *parameters, *columns)
        raise self.error(f"the model has no variable {name!r}\n  {did_you_mean(name, known)}")

    def _entry(self, quantity: str, places: tuple[int, ...]) -> GraphScalar:
        output = self._quantity(quantity)
        shape = output.shape
        if len(places) != len(shape) or any(place >= size for place, size in zip(places, shape, strict=False)):
            raise self.error(
                f"{quantity}{list(places)}: index out of range, {quantity} has shape {shape} and indices start at 0"
            )
        flat = 0
        for place, size in zip(places, shape, strict=True):
            flat = flat * size + place
        return GraphScalar(self.builder, output.nodes[flat])

    def _quantity(self, word: str) -> Output:
        if word not in self._made:
            self._derive([word])
        return self._made[word]

    def _derive(self, words: Sequence[str]) -> None:
        graph = self._equations.derived(words)
        outputs = moved(graph.outputs, transfer(graph, self.builder, self._symbol))
        self._made |= zip(words, outputs, strict=True)

    def _symbol(self, node: Symbol) -> int:
        """A symbol of a derived quantity along the motion: inputs as given, accelerations solved."""
        if node.kind is Kind.INPUT and node.name in self._given:
            return self._given[node.name].index
        accelerations = self._equations.mechanism.layout.accelerations
        if node.kind is Kind.ACCELERATION and node.name in accelerations:
            rate = self._rate()
            return rate.nodes[len(self._equations.mechanism.layout.positions) + accelerations.index(node.name)]
        return self.builder.symbol(node.kind, node.name)

    @property
    def uses_accelerations(self) -> bool:
        """Whether a formula that was read depends on accelerations."""
        return "" in self._made

    def _rate(self) -> Output:
        if "" not in self._made:
            graph = self._equations.rate
            self._made[""] = moved(graph.outputs, transfer(graph, self.builder))[0]
        return self._made[""]


#: Formulas by the name of their column; a sequence names each after its text.
Outputs: TypeAlias = "Mapping[str, Scalar] | Sequence[str]"


def read_outputs(outputs: Outputs) -> dict[str, Expression]:
    """Formulas to observe along a run, by the name of their column."""
    if isinstance(outputs, str):
        raise SolveError(f"outputs is {outputs!r}: give a list of formulas, or {{name: formula}}")
    named = outputs if isinstance(outputs, Mapping) else {text: text for text in outputs}
    return {name: formula(value, name) for name, value in named.items()}


def output_columns(
    equations: Equations, formulas: Mapping[str, Expression], rows: Rows, signals: Signals, with_contacts: bool
) -> dict[str, Floats]:
    """The values of formulas at the states of a run: of the state, time, inputs, points and entries of quantities.

    with_contacts: rigid contacts may be closed, so the equations do not give accelerations.
    """
    if not formulas:
        return {}
    if equations.by_loops:
        raise SolveError("outputs are not supported with recursive algorithms: use loops=False")
    builder = GraphBuilder()
    scope = StateNames(builder, equations.in_velocities, accelerations=True)
    values = scope.read(list(formulas.values()))
    if with_contacts and scope.uses_accelerations:
        raise SolveError("outputs that depend on accelerations are not supported in runs with rigid contacts")
    graph = builder.graph([Output(name, (), (one.index,)) for name, one in zip(formulas, values, strict=True)])
    layout, sampled = equations.mechanism.layout, equations.forces.sampled
    known: dict[str, Floats] = {TIME: rows.times, **rows.balances}
    known |= zip(layout.positions, rows.q.T, strict=True)
    known |= zip(layout.velocities, rows.v.T, strict=True)
    known |= zip(layout.states, rows.z.T, strict=True)
    if sampled:
        known |= zip(sampled, signals.values(rows.times).T, strict=True)
    found = interpret(graph, known)
    return {name: np.broadcast_to(found[name], rows.times.shape) for name in formulas}


def _words(name: str) -> Iterator[str]:
    """The quantity that a name is an entry of."""
    if found := ENTRY.fullmatch(name):
        yield found[1]
    elif part := component(name):
        yield f"{'velocity' if part.rate else 'pose'}:{part.point}"
    elif name in (ENERGY, KINETIC, POTENTIAL):
        yield "energy"
    elif name in MOMENTA:
        yield "momentum"
