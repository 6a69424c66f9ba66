"""From scheduled values to instructions: one formula for all lanes, with the numbers of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import flint

from kinegraph.codegen.program.binding import Bound
from kinegraph.codegen.program.instructions import Op, Program
from kinegraph.codegen.program.lowering import AngleGroup, Lowering, Summand, Uses, as_ball, rounded, schedule
from kinegraph.codegen.simd.orbits import Exchanged, Signed, exchanged_nodes, orbits, without_sign
from kinegraph.graph.interpret import extended_precision
from kinegraph.graph.node import Coefficient, Factor, Function, Graph, Node, Output, Polynomial, Symbol, children

# The nodes that are one value of several lanes.


class LaneOfClass(NamedTuple):
    """A node is sign times this lane of the value whose formula is that of `first`."""

    first: int
    lane: int
    sign: int


class Classes:
    """The nodes that are computed side by side."""

    def __init__(self, binding: Bound, exchange: Mapping[Exchanged, Exchanged]) -> None:
        self.binding = binding
        self.graph = binding.graph
        self.orbits = orbits(binding.graph, exchange)
        #: Nodes with formulas of their own: single numbers, joined where they are used.
        self.single = frozenset(exchanged_nodes(binding.graph.nodes, exchange))
        #: The lanes of every value of several, by the node that is its first.
        self.lanes: dict[int, tuple[Signed, ...]] = {}
        self.places: dict[int, LaneOfClass] = {}
        for index in range(len(self.graph)):
            if index in self.orbits and index not in binding.statics and index not in self.places:
                self._add(index)

    def _add(self, index: int) -> None:
        orbit = self.orbits[index][:-1]
        node = self.graph.nodes[index]
        if len(orbit) == 1 or isinstance(node, Symbol) or index in self.single:
            return  # what arrives as single numbers is joined where it is used
        first = max((one.node for one in orbit), key=self._aligned)
        self.lanes[first] = self.orbits[first][:-1]
        for lane, one in enumerate(self.lanes[first]):
            self.places[one.node] = LaneOfClass(first, lane, one.sign)

    def _aligned(self, index: int) -> tuple[int, int]:
        """How many operands are first lanes themselves; then they need not be moved from lane to lane."""
        count = sum(self.places[child].lane == 0 for child in children(self.graph.nodes[index]) if child in self.places)
        return count, -index

    def width(self, index: int) -> int:
        """How many lanes the value has that a node is computed in."""
        return len(self.members(self.first(index)))

    def lanes_of(self, index: int, width: int) -> list[int]:
        """The nodes that a value of so many lanes is made of, where one of its operands is this node in the first."""
        if width == 1 or index not in self.orbits:
            return [index]
        return list(dict.fromkeys(self.exchanged(index, lane).node for lane in range(width)))

    def members(self, first: int) -> tuple[Signed, ...]:
        """What the lanes of a value are."""
        return self.lanes.get(first, (Signed(1, first),))

    def first(self, index: int) -> int:
        """The node whose formula computes this one."""
        place = self.places.get(index)
        return place.first if place else index

    def without_sign(self, index: int) -> Signed:
        """A node without the signs in front of it."""
        return without_sign(self.graph.nodes, index)

    def exchanged(self, index: int, times: int) -> Signed:
        """What a node becomes by so many exchanges."""
        *orbit, again = self.orbits[index]
        rounds, rest = divmod(times, len(orbit))
        return Signed(orbit[rest].sign * again.sign**rounds, orbit[rest].node)


# What waits for what, with one node for every value, and how values are used.


class Folded:
    """A graph with one node for every value, which says what waits for what; `binding.graph` is only for scheduling."""

    def __init__(self, classes: Classes) -> None:
        self.classes = classes
        binding, graph = classes.binding, classes.graph
        self.nodes: list[int] = []
        self.number: dict[int, int] = {}
        self.outputs = tuple(
            output._replace(nodes=tuple(classes.first(classes.without_sign(node).node) for node in output.nodes))
            for output in graph.outputs
        )
        for output in self.outputs:
            for root in output.nodes:
                self._visit(root)
        nodes = tuple(self._folded(index) for index in self.nodes)
        moved = tuple(Output(o.name, o.shape, tuple(self.number[node] for node in o.nodes)) for o in self.outputs)
        statics = {self.number[index]: binding.statics[index] for index in self.nodes if index in binding.statics}
        inputs = {self.number[index]: binding.inputs[index] for index in self.nodes if index in binding.inputs}
        self.binding = replace(binding, graph=Graph(nodes, moved), known=statics, inputs=inputs)

    def needs(self, index: int) -> Iterator[int]:
        """The nodes whose lanes a node reads."""
        if index not in self.classes.binding.statics:
            width = self.classes.width(index)
            for child in children(self.classes.graph.nodes[index]):
                lanes = self.classes.lanes_of(self.classes.without_sign(child).node, width)
                yield from dict.fromkeys(self.classes.first(node) for node in lanes)

    def _visit(self, root: int) -> None:
        stack = [root]
        while stack:
            index = stack[-1]
            waiting = [] if index in self.number else [n for n in self.needs(index) if n not in self.number]
            if waiting:
                stack.extend(waiting)
                continue
            stack.pop()
            if index not in self.number:
                self.number[index] = len(self.nodes)
                self.nodes.append(index)

    def _folded(self, index: int) -> Node:
        node = self.classes.graph.nodes[index]
        needed = [self.number[child] for child in self.needs(index)]
        if isinstance(node, Symbol):
            return node
        if isinstance(node, Function) and needed:
            return Function(node.name, tuple(needed))
        return Polynomial(tuple((1, ((child, 1),)) for child in needed))


def uses_of_values(folded: Folded) -> Uses:
    """How values are used; as terms and factors only where lane meets lane."""
    uses, classes = Uses(), folded.classes
    for index in folded.nodes:
        node = classes.graph.nodes[index]
        if index in classes.binding.statics or isinstance(node, Symbol):
            continue
        uses.total.update(folded.needs(index))
        if isinstance(node, Polynomial):
            width = classes.width(index)
            terms = ((abs(c) == 1, _fitting(classes, width, factors)) for c, factors in node.terms)
            uses.add_terms(terms, len(node.terms) > 1)
    for output in folded.outputs:
        uses.total.update(output.nodes)
    return uses


def _fitting(classes: Classes, width: int, factors: tuple[Factor, ...]) -> tuple[Factor, ...]:
    """The factors of a term without their signs, if all are used lane by lane as they are computed."""
    unsigned = tuple((classes.without_sign(child).node, exponent) for child, exponent in factors)
    return unsigned if all(classes.first(i) == i and classes.width(i) == width for i, _ in unsigned) else ()


# From scheduled values to instructions: one formula for all lanes, with the numbers of each.

#: Functions that vectors have instructions for.
_IN_LANES = ("sqrt",)


def lower_side_by_side(
    binding: Bound, exchange: Mapping[Exchanged, Exchanged], group: int = 1, fuse: bool = True
) -> Program:
    """The program of a bound graph with limbs side by side; otherwise like `lower`, at most `group` angles together."""
    classes = Classes(binding, exchange)
    folded = Folded(classes)
    lowering = _SideBySide(binding, fuse, classes, folded)
    widest = max((len(lanes) for first, lanes in classes.lanes.items() if _is_sine(binding, first)), default=1)
    with extended_precision():
        for step in schedule(folded.binding, max(1, group // widest)):
            lowering.fold_step(step)
        lowering.store_rest()
    widths = tuple(lowering.widths)
    return Program(tuple(lowering.instructions), binding.input_size, binding.output_size, widths)


def _is_sine(binding: Bound, index: int) -> bool:
    node = binding.graph.nodes[index]
    return isinstance(node, Function) and node.name in ("sin", "cos")


class _SideBySide(Lowering):
    """Lowers one formula for all lanes; `width` is how many lanes the value has that is being computed."""

    def __init__(self, binding: Bound, fuse: bool, classes: Classes, folded: Folded) -> None:
        self.width = 1
        self.widths: list[int] = []
        super().__init__(binding, fuse, uses_of_values(folded))
        self.classes = classes
        self.folded = folded
        self.vectors: dict[tuple[Signed, ...], int] = {}
        self.picked: dict[tuple[int, int], int] = {}
        self.negatives: dict[int, int] = {}
        self.rest = {node: places for node, places in self.targets.items() if node in self.statics}
        self.stores: dict[int, list[tuple[int, int]]] = {}
        for node, positions in self.targets.items():
            if node not in self.statics:
                sign, unsigned = classes.without_sign(node)
                self.stores.setdefault(unsigned, []).extend((position, sign) for position in positions)

    # instructions

    def emit(self, op: Op, *operands: int, detail: int | float | str = "", width: int | None = None) -> int:
        self.widths.append(self.width if width is None else width)
        return super().emit(op, *operands, detail=detail)

    def literal(self, value: float) -> int:
        key = f"{self.width} {float(value).hex()}"
        if key not in self.literals:
            self.literals[key] = self.emit(Op.LITERAL, detail=float(value))
        return self.literals[key]

    def lane_literals(self, values: Sequence[float]) -> int:
        """A number of its own for every lane."""
        if all(value == values[0] for value in values):
            return self.literal(values[0])
        key = " ".join(value.hex() for value in values)
        if key not in self.literals:
            numbers = [self.emit(Op.LITERAL, detail=value, width=1) for value in values]
            self.literals[key] = self.emit(Op.LITERALS, *numbers)
        return self.literals[key]

    # steps

    def fold_step(self, step: int | AngleGroup) -> None:
        if isinstance(step, AngleGroup):
            self._angle_lanes(step)
            firsts = [self.folded.nodes[number] for numbers in step.sines for number in numbers]
        else:
            firsts = [self.folded.nodes[step]]
            self._value(firsts[0])
        for first in firsts:
            self._store(first)

    def _store(self, first: int) -> None:
        for one in self.classes.members(first):
            for position, sign in self.stores.pop(one.node, ()):
                self.emit(Op.STORE, self._single_number(Signed(sign, one.node)), detail=position, width=1)

    def store_rest(self) -> None:
        self.width, self.targets = 1, self.rest
        super().store_rest()

    def _value(self, first: int) -> None:
        node = self.graph.nodes[first]
        if first in self.values:
            return
        self.width = self.classes.width(first)
        if isinstance(node, Polynomial):
            self._sum_of_lanes(first, node)
        elif isinstance(node, Function):
            self._function_of_lanes(first, node)

    # operands

    def _operand(self, child: int) -> tuple[int, int]:
        """Sign and value of an operand, as wide as what is being computed."""
        sign, index = self.classes.without_sign(child)
        if self.width == 1:
            place = self.classes.places.get(index)
            if place is None:
                return sign, self._number(index)
            return sign * place.sign, self._pick(place)
        lanes = tuple(self.classes.exchanged(index, lane) for lane in range(self.width))
        aligned = self._aligned(lanes)
        return (sign * aligned, self.values[self.classes.first(index)]) if aligned else (sign, self._joined(lanes))

    def _number(self, index: int) -> int:
        """The value of a node that is not a lane; inputs are loaded where they are first needed."""
        if index in self.binding.inputs and index not in self.values:
            self.values[index] = self.emit(Op.INPUT, detail=self.binding.inputs[index])
        return self.value(index)

    def _aligned(self, lanes: Sequence[Signed]) -> int:
        """The common sign, if these are the lanes of one value in their order; else 0."""
        places = [self.classes.places.get(one.node) for one in lanes]
        known = [place for place in places if place is not None]
        if len(known) < len(lanes) or self.classes.width(known[0].first) != self.width:
            return 0
        if any(place.first != known[0].first or place.lane != lane for lane, place in enumerate(known)):
            return 0
        signs = {one.sign * place.sign for one, place in zip(lanes, known, strict=True)}
        return signs.pop() if len(signs) == 1 else 0

    def _joined(self, lanes: tuple[Signed, ...]) -> int:
        """A vector of values that are no vector yet."""
        if lanes not in self.vectors:
            width = self.width
            numbers = [self._single_number(one) for one in lanes]
            self.width = width
            self.vectors[lanes] = self.emit(Op.JOIN, *numbers)
        return self.vectors[lanes]

    def _single_number(self, one: Signed) -> int:
        """A node or its negative as a single number; leaves `width` at one."""
        self.width = 1
        sign, value = self._operand(one.node)
        return value if sign * one.sign > 0 else self._negative(value)

    def _negative(self, value: int) -> int:
        """The negative of a single number."""
        if value not in self.negatives:
            self.negatives[value] = self.emit(Op.NEGATE, value, width=1)
        return self.negatives[value]

    def _pick(self, place: LaneOfClass) -> int:
        key = self.values[place.first], place.lane
        if key not in self.picked:
            self.picked[key] = self.emit(Op.PICK, key[0], detail=place.lane, width=1)
        return self.picked[key]

    # functions

    def _angle_lanes(self, group: AngleGroup) -> None:
        """Angles are single numbers; their sines become lanes again."""
        sines = [self.folded.nodes[number] for numbers in group.sines for number in numbers]
        lanes = {first: self._angles_of(first) for first in sines}
        angles = list(dict.fromkeys(one.node for one in chain.from_iterable(lanes.values())))
        together = self.emit(Op.SINCOS, *(self._single_number(Signed(1, angle)) for angle in angles), width=1)
        # Nothing comes between the group and its sines: they stay in one function.
        single = {
            first: [
                self.emit(self._sine_op(first), together, detail=angles.index(one.node), width=1)
                for one in lanes[first]
            ]
            for first in sines
        }
        for first in sines:
            self.values[first] = self._sine_lanes(first, single[first], [one.sign for one in lanes[first]])

    def _angles_of(self, first: int) -> list[Signed]:
        node = self.graph.nodes[first]
        assert isinstance(node, Function)
        return self._lanes_of(node.arguments[0], self.classes.width(first))

    def _sine_lanes(self, first: int, values: list[int], signs: list[int]) -> int:
        if self._sine_op(first) is Op.SIN:
            values = [self._negative(value) if sign < 0 else value for value, sign in zip(values, signs, strict=True)]
        return values[0] if len(values) == 1 else self.emit(Op.JOIN, *values, width=len(values))

    def _lanes_of(self, child: int, width: int) -> list[Signed]:
        """What an operand is in every lane."""
        sign, index = self.classes.without_sign(child)
        if width == 1:
            return [Signed(sign, index)]
        lanes = (self.classes.exchanged(index, lane) for lane in range(width))
        return [Signed(sign * one.sign, one.node) for one in lanes]

    def _function_of_lanes(self, first: int, node: Function) -> None:
        if node.name == "reciprocal":
            sign, value = self._operand(node.arguments[0])
            if sign > 0 and self.uses.divides_once(first):
                self.divisors[first] = value
            else:
                self.values[first] = self.emit(Op.DIVIDE, self.literal(float(sign)), value)
            return
        width = self.width
        if node.name in _IN_LANES and width > 1:
            sign, value = self._operand(node.arguments[0])
            value = value if sign > 0 else self.emit(Op.NEGATE, value)
            self.values[first] = self.emit(Op.FUNCTION, value, detail=node.name)
            return
        columns = [self._lanes_of(argument, width) for argument in node.arguments]
        values = []
        for lanes in zip(*columns, strict=True):
            arguments = [self._single_number(one) for one in lanes]
            self.width = 1
            name, arguments = self.call(node.name, arguments)
            self.width = width
            values.append(self.emit(Op.FUNCTION, *arguments, detail=name, width=1))
        self.values[first] = values[0] if width == 1 else self.emit(Op.JOIN, *values, width=width)

    # sums of products

    def _sum_of_lanes(self, first: int, node: Polynomial) -> None:
        constants: list[flint.arb] = []
        summands: list[Summand] = []
        for coefficient, factors in node.terms:
            scales, moving = self._scales(coefficient, factors)
            if all(scale == 0 for scale in scales):
                continue
            if moving:
                summands.append(self._summand_of_lanes(scales, moving))
            else:
                balls = [as_ball(scale) for scale in scales]
                constants = [a + b for a, b in zip(constants, balls, strict=True)] if constants else balls
        if self.fuse and len(node.terms) == 1 and summands and self.uses.only_added(first):
            self.products[first] = summands[0]
            return
        constant = self.lane_literals([rounded(ball) for ball in constants]) if constants else None
        self.values[first] = self._sum(summands, constant)

    def _scales(
        self, coefficient: Coefficient, factors: tuple[Factor, ...]
    ) -> tuple[list[flint.arb | Coefficient], list[Factor]]:
        """The static part of a term in every lane, and the factors that move."""
        moving = [factor for factor in factors if factor[0] not in self.statics]
        scales: list[flint.arb | Coefficient] = [coefficient] * self.width
        for child, exponent in factors:
            if child in self.statics:
                for lane, one in enumerate(self._lanes_of(child, self.width)):
                    static = self.statics[one.node] * one.sign
                    scales[lane] = as_ball(scales[lane]) * (static if exponent == 1 else static**exponent)
        return scales, moving

    def _summand_of_lanes(self, scales: Sequence[flint.arb | Coefficient], moving: list[Factor]) -> Summand:
        unit_scale = all(scale == 1 for scale in scales) or all(scale == -1 for scale in scales)
        sign = -1 if unit_scale and scales[0] == -1 else 1
        signed = [(self.classes.without_sign(child), exponent) for child, exponent in moving]
        if unit_scale and len(moving) == 1 and signed[0][0].node in self.products:
            product = self.products[signed[0][0].node]
            return product._replace(sign=sign * signed[0][0].sign * product.sign)
        divisors: list[int] = []
        powers: list[tuple[int, int]] = []
        for one, exponent in signed:
            if one.node in self.divisors:
                divisors.append(self.divisors[one.node])
                sign *= one.sign
            else:
                negative, value = self._operand(one.node)
                powers.append((value, exponent))
                sign *= (one.sign * negative) ** exponent
        factors = self._factors(powers)
        if not unit_scale or not factors:
            factors.insert(0, self.literal(1.0) if unit_scale else self.lane_literals([rounded(one) for one in scales]))
        if divisors:
            return Summand(sign, self.emit(Op.DIVIDE, self._product(factors), self._product(divisors)), None)
        if len(factors) == 1:
            return Summand(sign, factors[0], None)
        return Summand(sign, self._product(factors[:-1]), factors[-1])
