"""`first_integrals`: find and prove quantities that stay constant along the motion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement

import flint
import numpy as np

from kinegraph.compiler.compile import derive
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.compiler.request import bound_parameters
from kinegraph.derive.constraints.redundancy import row_names_of
from kinegraph.derive.dynamics.state_rate import STATE_RATES, Forces, along_motion, quantity_entries, state_rate
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.tree.displacements import unit_quaternions
from kinegraph.derive.tree.expressions import Names
from kinegraph.display import RichDisplay
from kinegraph.errors import TaskError
from kinegraph.graph.angle import linear_form
from kinegraph.graph.build import GraphBuilder, moved, transfer
from kinegraph.graph.build import Scalar as Node
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Function, Graph, Kind, Output, Symbol
from kinegraph.graph.proof import prove, relations
from kinegraph.model.constraints import is_constrained
from kinegraph.model.expressions import TIME, Expression, Scalar, expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.notation.text import formula as formula_of
from kinegraph.simulate.checks.first_integrals import (
    ENERGY,
    JACOBI,
    IndependentFunctions,
    candidates,
    random_states,
    rows,
)
from kinegraph.simulate.formulas import formula
from kinegraph.simulate.inputs import read_inputs, with_given_inputs
from kinegraph.tasks.operating_point import Floats

# Rates along the motion of a mechanism with constraints, for arbitrary constraint forces. The tree without constraints
# moves under J^T lambda with lambda free. A rate that vanishes for every state and every lambda vanishes along the
# motion; so does a combination of the constraint rates, which are zero along it. The power lambda . (J v) is subtracted
# from energies. Coincident points are compared in axes that do not rotate with them, because forces at such a point
# have no moment about it. Quantities that are constant only because positions satisfy the constraints are not found.

_VALUE, _RATE, _SLOPE = "value", "rate", "slope"


def multiplier_names(mechanism: Mechanism) -> list[str]:
    """The symbols of lambda."""
    return [f"lambda:{name}" for name in row_names_of(mechanism)]


@dataclass(frozen=True)
class ConstraintRows:
    """The rows as one graph: `value:NAME` of holonomic rows, `rate:NAME` and `slope:NAME` of all."""

    mechanism: Mechanism
    graph: Graph

    @classmethod
    def of(cls, mechanism: Mechanism, bound: Mapping[str, Expression]) -> ConstraintRows:
        """Derive them."""
        derivation = Derivation(mechanism, bound, Plan())
        outputs = []
        for row in derivation.constraint_equations.rows():
            if row.value is not None:
                outputs.append(Output(f"{_VALUE}:{row.name}", (), (row.value.index,)))
            outputs.append(Output(f"{_RATE}:{row.name}", (), (row.rate.index,)))
            slopes = tuple(one.index for one in row.jacobian)
            outputs.append(Output(f"{_SLOPE}:{row.name}", (len(slopes),), slopes))
        return cls(mechanism, derivation.builder.graph(outputs))

    @property
    def values(self) -> tuple[Output, ...]:
        """The constraint values by position."""
        return tuple(one for one in self.graph.outputs if one.name.startswith(f"{_VALUE}:"))

    @property
    def rates(self) -> tuple[Output, ...]:
        """The constraint rates, row by row."""
        return tuple(one for one in self.graph.outputs if one.name.startswith(f"{_RATE}:"))

    @property
    def slopes(self) -> tuple[Output, ...]:
        """J, row by row."""
        return tuple(one for one in self.graph.outputs if one.name.startswith(f"{_SLOPE}:"))


def constrained_rates(
    rows: ConstraintRows, bound: Mapping[str, Expression], quantities: Graph, forces: Forces
) -> Graph:
    """The rates of a graph's outputs, in q, v, t and lambda."""
    mechanism = rows.mechanism
    tree = replace(mechanism, loops=(), constraints=())
    inputs = {name: law for name, law in forces.formulas.items() if name not in mechanism.layout.forces}
    acting = Forces(inputs, mechanism.layout.forces, forces.quantities)
    free = along_motion(tree, _state_rate(tree, bound, acting), quantities)
    builder = GraphBuilder()
    place = transfer(rows.graph, builder)
    multipliers = [Node(builder, builder.symbol(Kind.INPUT, name)) for name in multiplier_names(mechanism)]
    names = Names(builder, mechanism, bound)
    if forces.quantities is not None:
        names.replace(quantity_entries(forces.quantities, names))
    held = {}
    for column, name in enumerate(mechanism.layout.forces):
        total = names.scalar(forces.formulas.get(name, expression(0)))
        for row, multiplier in zip(moved(rows.slopes, place), multipliers, strict=True):
            total = total + Node(builder, row.nodes[column]) * multiplier
        held[name] = total.index

    def replaced(symbol: Symbol) -> int:
        known = symbol.kind is Kind.INPUT and symbol.name in held
        return held[symbol.name] if known else builder.symbol(*symbol)

    outputs = moved(free.outputs, transfer(free, builder, replaced))
    power = Node(builder, builder.zero)
    for row, multiplier in zip(moved(rows.rates, place), multipliers, strict=True):
        power = power + Node(builder, row.nodes[0]) * multiplier
    return builder.graph([_without(builder, one, power) if _is_energy(one.name) else one for one in outputs])


def _state_rate(mechanism: Mechanism, bound: Mapping[str, Expression], forces: Forces) -> Graph:
    """The rates of positions, velocities and first-order states."""
    words = ["qdd", STATE_RATES] if mechanism.states else ["qdd"]
    return state_rate(mechanism, derive(mechanism, words, parameters=bound), bound, forces, balances=())


def _is_energy(name: str) -> bool:
    return name in (ENERGY, JACOBI)


def _without(builder: GraphBuilder, output: Output, power: Node) -> Output:
    return output._replace(nodes=((Node(builder, output.nodes[0]) - power).index,))


# Search and proof. Candidates are the energy, Jacobi's integral, the momentum of every coordinate, the components of
# linear and angular momentum, spins of bodies about their own axes, coordinates and time (p + b x is a first integral
# of a cart with ground damping b), and first-order states and their products (the energy of a coil). If the rate of a
# candidate is a sum of velocities times functions of the position, as for a charge in a magnetic field, or a function
# of time, then products of coordinates, sines and cosines are added. The rates along the motion are exact graphs.
# Linear algebra in a prime field finds vanishing combinations with exact rational coefficients. Each is then proved
# separately, and only proved ones are reported. Combinations with irrational coefficients, such as momenta along
# rotated axes, are not found.

Combination = Mapping[str, Fraction]
_CONSTANT = "1"
#: Spins of more bodies, products of more states, and more products of coordinates, are not searched.
_MOST_BODIES, _MOST_STATES, _MOST_PRODUCTS = 12, 8, 120
_HIGHEST_DEGREE = 4
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Integral:
    """One first integral: its name, its combination of candidates, and its graph."""

    name: str
    coefficients: Combination
    graph: Graph

    @property
    def combination(self) -> str:
        """`p:x - 1/5 x`."""
        text = ""
        for name, factor in self.coefficients.items():
            sign = ("-" if factor < 0 else "") if not text else (" - " if factor < 0 else " + ")
            text += f"{sign}{name}" if abs(factor) == 1 else f"{sign}{abs(factor)} {name}"
        return text

    @property
    def formula(self) -> str:
        """The integral as a formula of the state and time."""
        return formula_of(self.graph)

    def to_dict(self) -> dict[str, object]:
        """The combination with exact coefficients, and the formula."""
        coefficients = {name: str(factor) for name, factor in self.coefficients.items()}
        words = {"name": self.name, "combination": self.combination, "formula": self.formula}
        return {**words, "coefficients": coefficients, "proved": True}


@dataclass(frozen=True)
class Integrals(RichDisplay):
    """All first integrals found; each is proved."""

    integrals: tuple[Integral, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the first integrals."""
        return tuple(one.name for one in self.integrals)

    def __str__(self) -> str:
        lines = [f"  {one.combination} (proved)" for one in self.integrals]
        return "\n".join(["first integrals:", *lines] if lines else ["no first integral found"])

    def to_dict(self) -> dict[str, object]:
        """The integrals as combinations with exact coefficients, and as formulas."""
        return {"integrals": [one.to_dict() for one in self.integrals]}


def first_integrals(
    model: MechanismSource,
    *,
    inputs: Mapping[str, Scalar] | None = None,
    parameters: Mapping[str, Scalar] | None = None,
) -> Integrals:
    """Find and prove first integrals: energy, momenta, and their combinations.

    inputs: values of inputs and of forces on coordinates (`tau:q1`) as formulas of time and state; zero by default.
    """
    given = mechanism_of(model)
    forces = _forces(given, inputs or {})
    given = with_given_inputs(given, forces)
    forces.check(given)
    motion = _Motion(given, bound_parameters(given, True, parameters), forces)
    usual = motion.candidates()
    rates = motion.rates(usual)
    known = motion.identities(usual)
    found = _integrals(motion, usual, rates, known)
    further = motion.with_products(usual, rates)
    if further is not None:
        known = [*known, *motion.identities(further), *(one.coefficients for one in found)]
        found += _integrals(motion, further, motion.rates(further), known)
    return Integrals(tuple(motion.independent(found)))


def _forces(mechanism: Mechanism, inputs: Mapping[str, Scalar]) -> Forces:
    for name, value in inputs.items():
        if not isinstance(value, str | int | float | Fraction | Expression):
            raise TaskError(f"inputs: {name!r} is {value!r:.60}: first_integrals takes formulas of time and state")
    return read_inputs(mechanism, {name: formula(value) for name, value in inputs.items()})[0]


def _integrals(motion: _Motion, wanted: Graph, rates: Graph, known: Sequence[Combination]) -> list[Integral]:
    """Constant combinations of a graph's outputs that are independent of the known ones."""
    own = [output.name for output in wanted.outputs]
    # Jacobi's integral may be a combination of energy and momentum
    names = dict.fromkeys([*own, *(name for one in known for name in one)])
    independent = _Independent(list(names), known)
    new = []
    for whole in sorted(relations(rates, motion.quaternions), key=len):
        combination = {name: whole[name] for name in own if name in whole}
        if combination and independent.take(combination):
            new.append((whole, combination))
    proved = _proved(motion, rates, [whole for whole, _ in new])
    found = [
        Integral(_name(one), one, _combined(wanted, [one]))
        for (_, one), holds in zip(new, proved, strict=True)
        if holds
    ]
    return sorted(found, key=lambda one: own.index(next(iter(one.coefficients))))


class _Independent:
    """Linearly independent combinations."""

    def __init__(self, names: Sequence[str], known: Sequence[Combination]) -> None:
        self._names = list(names)
        self._rows: list[list[flint.fmpq]] = []
        for one in known:
            self.take(one)

    def take(self, combination: Combination) -> bool:
        """Add a combination; False if it depends linearly on earlier ones."""
        fractions = [combination.get(name, Fraction(0)) for name in self._names]
        rows = [*self._rows, [flint.fmpq(one.numerator, one.denominator) for one in fractions]]
        matrix = flint.fmpq_mat(len(rows), len(self._names), [entry for row in rows for entry in row])
        if matrix.rank() < len(rows):
            return False
        self._rows = rows
        return True


@dataclass(frozen=True)
class _Motion:
    """A mechanism in motion under given forces: candidates, their rates, and identities between them."""

    mechanism: Mechanism
    bound: Mapping[str, Expression]
    forces: Forces

    @cached_property
    def rows(self) -> ConstraintRows | None:
        """Loops and constraints; None for a tree."""
        return ConstraintRows.of(self.mechanism, self.bound) if is_constrained(self.mechanism) else None

    @property
    def quaternions(self) -> list[tuple[Symbol, ...]]:
        """Symbols whose squares add up to one."""
        return unit_quaternions(self.mechanism)

    def candidates(self) -> Graph:
        """Energy, momenta, coordinates, time, spins: outputs with one entry."""
        graph = candidates(self.mechanism, derive(self.mechanism, "energy,momentum", parameters=self.bound))
        bodies = [one.name for one in self.mechanism.bodies] if len(self.mechanism.bodies) <= _MOST_BODIES else []
        builder = GraphBuilder()
        words = [f"velocity:{name}@{name}" for name in bodies]
        motions = derive(self.mechanism, words, parameters=self.bound) if words else builder.graph([])
        spins = []
        for name, one in zip(bodies, moved(motions.outputs, transfer(motions, builder)), strict=True):
            spins += [Output(f"spin:{name}.{axis}", (), (one.nodes[3 + k],)) for k, axis in enumerate("xyz")]
        states = [*self._state_products(builder)]
        simple = (*self.mechanism.layout.positions, TIME)  # last: the first integral is named after the others
        outputs = moved(graph.outputs, transfer(graph, builder))
        groups = [[one for one in outputs if (one.name in simple) is last] for last in (False, True)]
        return builder.graph([*groups[0], *spins, *states, *groups[1]])

    def _state_products(self, builder: GraphBuilder) -> Iterator[Output]:
        """The first-order states; and of some their products by two."""
        names = self.mechanism.layout.states
        nodes = {name: Node(builder, builder.symbol(Kind.STATE, name)) for name in names}
        yield from (Output(name, (), (node.index,)) for name, node in nodes.items())
        for pair in combinations_with_replacement(names[:_MOST_STATES], 2):
            yield Output(_product_name(pair), (), ((nodes[pair[0]] * nodes[pair[1]]).index,))

    def rates(self, wanted: Graph) -> Graph:
        """Rates of candidates along the motion, and rates of constraints under their own names."""
        if self.rows is None:
            return along_motion(self.mechanism, _state_rate(self.mechanism, self.bound, self.forces), wanted)
        rates = constrained_rates(self.rows, self.bound, wanted, self.forces)
        return _side_by_side((rates, rates.outputs), (self.rows.graph, self.rows.rates))

    def identities(self, wanted: Graph) -> list[Combination]:
        """Combinations that are constant at every position, in motion or not."""
        builder = GraphBuilder()
        one = builder.graph([Output(_CONSTANT, (), (builder.one,))])
        parts = [(wanted, wanted.outputs), (one, one.outputs)]
        if self.rows is not None:
            parts.append((self.rows.graph, self.rows.values))
        own = {output.name for output in wanted.outputs}
        found = relations(_side_by_side(*parts), self.quaternions)
        return [{name: factor for name, factor in one.items() if name in own} for one in found]

    def independent(self, found: Sequence[Integral]) -> list[Integral]:
        """The candidates that are not combinations of earlier ones and of constraint values, with any
        coefficients: decided numerically."""
        states = random_states(self.mechanism)
        functions = IndependentFunctions(len(states[TIME]))
        if self.rows is not None and self.rows.values:
            for column in rows(_side_by_side((self.rows.graph, self.rows.values)), states).T:
                functions.take(column, float(np.linalg.norm(column)))
        table = [rows(one.graph, states)[:, 0] for one in found]
        return [
            one
            for one, column in zip(found, table, strict=True)
            if functions.take(column, float(np.linalg.norm(column)))
        ]

    def with_products(self, wanted: Graph, rates: Graph) -> Graph | None:
        """Candidates whose rates may be those of functions of position and time, with such functions; None if
        there are none."""
        names = self._of_functions(rates, [output.name for output in wanted.outputs])
        if not names:
            return None
        builder = GraphBuilder()
        outputs = [one for one in moved(wanted.outputs, transfer(wanted, builder)) if one.name in names]
        functions = dict(_functions(self.mechanism, rates, builder))
        fitting = [d for d in range(1, _HIGHEST_DEGREE + 1) if _products(len(functions), d) <= _MOST_PRODUCTS]
        for degree in range(max(fitting, default=1), 0, -1):  # the simplest last: the others are expressed by them
            for some in combinations_with_replacement(functions, degree):
                product = Node(builder, builder.one)
                for name in some:
                    product = product * functions[name]
                outputs.append(Output(_product_name(some), (), (product.index,)))
        return builder.graph(outputs)

    def _of_functions(self, rates: Graph, names: Sequence[str]) -> list[str]:
        """Candidates whose rates are linear in velocities and, at rest, functions of time alone; without zero
        rates and without coordinates and time themselves."""
        layout = self.mechanism.layout
        first, other = (self._states(seed) for seed in (1, 2))
        moving = {**first, **{name: first[name] for name in layout.velocities}}
        faster = {**other, **{name: first[name] for name in (*layout.positions, TIME)}}
        faster |= {name: 2 * first[name] for name in layout.velocities}
        rest = {**first, **{name: 0 * first[name] for name in layout.velocities}}
        elsewhere = {**other, TIME: first[TIME], **{name: 0 * first[name] for name in layout.velocities}}
        table = [interpret(rates, states) for states in (moving, faster, rest, elsewhere)]
        found = []
        for name in names:
            if name in (*layout.positions, TIME):
                continue
            v, twice, still, there = (np.broadcast_to(one[name], len(first[TIME])) for one in table)
            size = _ROUNDING * float(np.max(np.abs([v, twice, still, there])))
            if size > 0 and np.all(np.abs(twice - 2 * v + still) <= size) and np.all(np.abs(still - there) <= size):
                found.append(name)
        return found

    def _states(self, seed: int) -> dict[str, Floats]:
        others = multiplier_names(self.mechanism) if self.rows is not None else []
        states = random_states(self.mechanism, others)
        order = np.random.default_rng(seed).permutation(len(states[TIME]))
        return {name: values[np.roll(order, k)] for k, (name, values) in enumerate(states.items())}


def _side_by_side(*parts: tuple[Graph, Sequence[Output]]) -> Graph:
    builder = GraphBuilder()
    return builder.graph([one for graph, some in parts for one in moved(some, transfer(graph, builder))])


def _functions(mechanism: Mechanism, rates: Graph, builder: GraphBuilder) -> Iterator[tuple[str, Node]]:
    """Coordinates and time, and their sines and cosines in the rates, by printed name."""
    angles = _angles(rates)
    symbols = [Symbol(Kind.COORDINATE, name) for name in mechanism.layout.positions]
    for symbol in (*symbols, Symbol(Kind.TIME, TIME)):
        node = Node(builder, builder.symbol(*symbol))
        yield symbol.name, node
        for factor, phase in sorted(angles.get(symbol, ())):
            argument = symbol.name if factor == 1 else f"{factor}*{symbol.name}"
            argument += f" {'+' if phase > 0 else '-'} {abs(phase)}" if phase else ""
            yield f"sin({argument})", (node * factor + phase).sin()
            yield f"cos({argument})", (node * factor + phase).cos()


def _angles(graph: Graph) -> dict[Symbol, set[tuple[Fraction, Fraction]]]:
    """For coordinates and time: the factors and phases inside sines and cosines."""
    found: dict[Symbol, set[tuple[Fraction, Fraction]]] = {}
    for node, live in zip(graph.nodes, graph.live, strict=True):
        if not (live and isinstance(node, Function) and node.name in ("sin", "cos")):
            continue
        form = linear_form(graph.nodes, node.arguments[0])
        phase = Fraction(form.pop((), 0))
        for monomial, number in form.items():
            symbol = graph.nodes[monomial[0][0]] if len(monomial) == 1 and monomial[0][1] == 1 else None
            if isinstance(symbol, Symbol) and symbol.kind in (Kind.COORDINATE, Kind.TIME):
                sign = 1 if number > 0 else -1  # a sum of angles follows from its single angles
                found.setdefault(symbol, set()).add(
                    (abs(Fraction(number)), sign * phase if len(form) == 1 else Fraction(0))
                )
    return found


def _products(count: int, degree: int) -> int:
    """The number of products of so many factors, up to a degree."""
    total, term = 0, 1
    for k in range(1, degree + 1):
        term = term * (count + k - 1) // k
        total += term
    return total


def _product_name(factors: Sequence[str]) -> str:
    powers = {name: factors.count(name) for name in factors}
    return "*".join(name if power == 1 else f"{name}^{power}" for name, power in powers.items())


def _combined(graph: Graph, combinations: Sequence[Combination]) -> Graph:
    """Combinations of a graph's outputs: `integral`, or several in one array."""
    builder = GraphBuilder()
    place = {output.name: output for output in moved(graph.outputs, transfer(graph, builder))}
    totals = []
    for combination in combinations:
        total = Node(builder, builder.zero)
        for name, factor in combination.items():
            total = total + Node(builder, place[name].nodes[0]) * factor
        totals.append(total.index)
    shape = () if len(totals) == 1 else (len(totals),)
    return builder.graph([Output("integral", shape, tuple(totals))])


def _proved(motion: _Motion, rates: Graph, combinations: Sequence[Combination]) -> list[bool]:
    """Which combinations of rates are zero."""
    if not combinations:
        return []
    sums, builder = _combined(rates, combinations), GraphBuilder()
    zeros = builder.graph([sums.output("integral")._replace(nodes=(builder.zero,) * len(combinations))])
    wrong = {place for _, place in prove(sums, zeros, quaternions=motion.quaternions).differences}
    return [place not in wrong for place in range(len(combinations))]


def _name(combination: Combination) -> str:
    return next(iter(combination)) if len(combination) == 1 else " + ".join(combination)
