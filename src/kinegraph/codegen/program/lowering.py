"""From a bound graph to instructions: static values, schedule, uses of values, fused multiply-adds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import nan
from typing import NamedTuple, TypeAlias

import flint

from kinegraph.codegen.program.binding import Bound
from kinegraph.codegen.program.instructions import Instruction, Op, Program
from kinegraph.graph.interpret import BallArithmetic, Evaluation, extended_precision, nearest_double
from kinegraph.graph.node import (
    GUARDED,
    Coefficient,
    Factor,
    Function,
    Graph,
    Output,
    Polynomial,
    Symbol,
    children,
    depends_on_static_alone,
)

# What is known of a graph before its code runs, in extended precision.


def static_values(graph: Graph, parameters: Mapping[str, Fraction], inputs: Mapping[int, int]) -> dict[int, flint.arb]:
    """The values of all live nodes that no input reaches."""
    only = _static_nodes(graph, inputs)
    with extended_precision():
        evaluation = Evaluation(graph, BallArithmetic(parameters), only)
    return {index: evaluation[index] for index, wanted in enumerate(only) if wanted}


def _static_nodes(graph: Graph, inputs: Mapping[int, int]) -> list[bool]:
    """For every node: is it live and does no input reach it?"""
    static: list[bool] = []
    for index, node in enumerate(graph.nodes):
        static.append(index not in inputs and (isinstance(node, Symbol) or depends_on_static_alone(node, static)))
    return [known and live for known, live in zip(static, graph.live, strict=True)]


# The order of computation: children first, near their first use, sines and cosines in groups.
#
# A value should live in a register from its birth to its last use, so what an output needs is computed just before
# it, deepest operands first. Sine and cosine of one angle are computed together; several angles that are ready at the
# same time are put in one group, to be computed side by side in the lanes of a vector.


class AngleGroup(NamedTuple):
    """Angles whose sines and cosines are computed together; `sines` are the nodes wanted of each angle."""

    angles: tuple[int, ...]
    sines: tuple[tuple[int, ...], ...]


#: A node to compute, or a group of angles.
Step: TypeAlias = int | AngleGroup


#: Up to this many nodes code is short: what all angles of inputs give is computed first, for nothing is alive yet that
#: would have to make room, and the long chains of dependences run side by side. In longer code it would only lie in
#: memory; there, of equally deep operands, those made first come first, so that all values together live a bit shorter.
SHORT = 1000


def schedule(binding: Bound, group: int = 1) -> tuple[Step, ...]:
    """All nodes to compute, ordered; at most `group` angles in a group."""
    graph, size = binding.graph, len(binding.graph)
    computed = [live and index not in binding.statics for index, live in enumerate(graph.live)]
    short = sum(computed) <= SHORT
    wants = [_wants(graph, index, short) if wanted else [] for index, wanted in enumerate(computed)]
    roots, order = min(
        ((roots, _ordered(binding, wants, roots)) for roots in _root_orders(graph)),
        key=lambda candidate: _pressure(wants, candidate[1]),
    )
    sines = _sine_nodes(graph, order)
    groups = _groups(graph, wants, order, group)
    for number, angles in enumerate(groups):
        wants.append(angles)
        for angle in angles:
            for index in sines[angle]:
                wants[index] = [size + number]

    def step(item: int) -> Step:
        angles = tuple(wants[item])
        return item if item < size else AngleGroup(angles, tuple(tuple(sines[angle]) for angle in angles))

    early = [number + size for number, angles in enumerate(groups) if not any(graph.levels[a] > 1 for a in angles)]
    return tuple(step(item) for item in _ordered(binding, wants, [*early, *roots] if short else roots))


def _wants(graph: Graph, index: int, short: bool) -> list[int]:
    """What a node waits for, the deepest last, for that is where the ordering's stack looks first."""
    found = children(graph.nodes[index])
    return sorted(found if short else sorted(found, reverse=True), key=graph.levels.__getitem__)


def _root_orders(graph: Graph) -> list[list[int]]:
    """In which order outputs may be computed: matrices by rows, or by columns, where those share more."""
    rows = [node for output in graph.outputs for node in output.nodes]
    columns = [node for output in graph.outputs for node in _by_columns(output)]
    return [rows] if rows == columns else [rows, columns]


def _by_columns(output: Output) -> list[int]:
    width = output.shape[-1] if len(output.shape) > 1 else 1
    return [node for column in range(width) for node in output.nodes[column::width]]


def _pressure(wants: Sequence[Sequence[int]], order: Sequence[int]) -> int:
    """How long all values together have to be kept."""
    last = {}
    for position, index in enumerate(order):
        for child in wants[index]:
            last[child] = position
    return sum(last[index] - position for position, index in enumerate(order) if index in last)


def _ordered(binding: Bound, wants: Sequence[Sequence[int]], roots: Sequence[int]) -> list[int]:
    """Depth first from the roots, without recursion."""
    order: list[int] = []
    done = set(binding.statics)
    for root in roots:
        stack = [root]
        while stack:
            item = stack[-1]
            if item in done:
                stack.pop()
                continue
            waiting = [want for want in wants[item] if want not in done]
            if waiting:
                stack.extend(waiting)
            else:
                done.add(stack.pop())
                order.append(item)
    return order


def _angle(graph: Graph, index: int) -> int | None:
    node = graph.nodes[index]
    return node.arguments[0] if isinstance(node, Function) and node.name in ("sin", "cos") else None


def _groups(graph: Graph, wants: Sequence[Sequence[int]], order: Iterable[int], size: int) -> list[list[int]]:
    """Angles in order of first use; those with equally many sines below them cannot depend on each other."""
    depth: dict[int, int] = {}
    groups: list[list[int]] = []
    unfilled: dict[int, list[int]] = {}
    seen: set[int] = set()
    for index in order:
        angle = _angle(graph, index)
        depth[index] = max([depth.get(child, 0) for child in wants[index]], default=0)
        if angle is None:
            continue
        if angle not in seen:
            seen.add(angle)
            members = unfilled.get(depth[index])
            if members is None or len(members) == size:
                members = unfilled[depth[index]] = []
                groups.append(members)
            members.append(angle)
        depth[index] += 1
    return groups


def _sine_nodes(graph: Graph, order: Iterable[int]) -> dict[int, list[int]]:
    """For every angle, the nodes that are its sine or cosine."""
    nodes: dict[int, list[int]] = {}
    for index in order:
        angle = _angle(graph, index)
        if angle is not None:
            nodes.setdefault(angle, []).append(index)
    return nodes


# How values are used: what decides whether a product or a reciprocal needs a value of its own.


@dataclass(frozen=True)
class Uses:
    """How often every value is used at all, as a term of a sum, and as a plain factor."""

    total: Counter[int] = field(default_factory=Counter)
    summand: Counter[int] = field(default_factory=Counter)
    factor: Counter[int] = field(default_factory=Counter)

    def only_added(self, index: int) -> bool:
        """Is the value only ever a term of sums?"""
        return self.summand[index] == self.total[index]

    def divides_once(self, index: int) -> bool:
        """Is the value used once, as a plain factor?"""
        return self.total[index] == 1 and self.factor[index] > 0

    def add_terms(self, terms: Iterable[tuple[bool, tuple[Factor, ...]]], several: bool) -> None:
        """Count the factors of a sum's terms. With each term goes whether its coefficient is one or minus one."""
        factor = self.factor
        for of_size_one, factors in terms:
            for child, exponent in factors:
                if exponent == 1:
                    factor[child] += 1
            if several and of_size_one and len(factors) == 1 and factors[0][1] == 1:
                self.summand[factors[0][0]] += 1


def uses_of_nodes(binding: Bound) -> Uses:
    """Of the nodes that are computed."""
    uses, graph = Uses(), binding.graph
    used: list[int] = []
    for index, node in enumerate(graph.nodes):
        if not graph.live[index] or index in binding.statics:
            continue
        if isinstance(node, Polynomial):
            used += children(node)
            uses.add_terms([(c == 1 or c == -1, factors) for c, factors in node.terms], len(node.terms) > 1)
        elif isinstance(node, Function):
            used += node.arguments
    for output in graph.outputs:
        used += output.nodes
    uses.total.update(used)  # all at once: counting is compiled, beginning to count is not
    return uses


# From scheduled nodes to instructions: static parts become literals, products flow into fused multiply-adds.

_DEPTH = {Op.DIVIDE: 4, Op.SINCOS: 14, Op.FUNCTION: 20, Op.SIN: 0, Op.COS: 0, Op.STORE: 0}


class Summand(NamedTuple):
    """sign * value, or sign * value * last."""

    sign: int
    value: int
    last: int | None


def lower(binding: Bound, group: int = 1, fuse: bool = True) -> Program:
    """The program of a bound graph.

    `group` is how many angles are put in one SINCOS. With `fuse`, a product that is only ever added is never computed
    by itself: every sum takes it in by a fused multiply-add, which costs what the addition would.
    """
    return lower_with_places(binding, group, fuse)[0]


def lower_with_places(binding: Bound, group: int = 1, fuse: bool = True) -> tuple[Program, Mapping[int, int]]:
    """The same, and by which instruction each node of the graph is computed."""
    lowering = Lowering(binding, fuse, uses_of_nodes(binding))
    with extended_precision():
        for step in schedule(binding, group):
            lowering.step(step)
        lowering.store_rest()
    return Program(tuple(lowering.instructions), binding.input_size, binding.output_size), lowering.values


class Lowering:
    def __init__(self, binding: Bound, fuse: bool, uses: Uses) -> None:
        self.graph = binding.graph
        self.binding = binding
        self.statics = binding.statics
        self.fuse = fuse
        self.uses = uses
        self.instructions: list[Instruction] = []
        self.depth: list[int] = []
        self.values: dict[int, int] = {}
        self.products: dict[int, Summand] = {}
        self.divisors: dict[int, int] = {}
        self.literals: dict[str, int] = {}
        self.powers: dict[tuple[int, int], int] = {}
        self.targets: dict[int, list[int]] = {}
        nodes = (node for output in self.graph.outputs for node in output.nodes)
        for position, node in enumerate(nodes):
            self.targets.setdefault(node, []).append(position)

    # instructions

    def emit(self, op: Op, *operands: int, detail: int | float | str = "") -> int:
        """Append an instruction and return its number."""
        deepest = max([self.depth[operand] for operand in operands], default=0)
        self.depth.append(deepest + _DEPTH.get(op, 1) if operands else 0)
        self.instructions.append(Instruction(op, operands, detail))
        return len(self.instructions) - 1

    def literal(self, value: float) -> int:
        """The instruction of a number, one for each number."""
        key = float(value).hex()
        if key not in self.literals:
            self.literals[key] = self.emit(Op.LITERAL, detail=float(value))
        return self.literals[key]

    def value(self, index: int) -> int:
        """The value of a node that has been scheduled, or is an input or static."""
        if index not in self.values:
            self.values[index] = self.literal(rounded(self.statics[index]))
        return self.values[index]

    # steps

    def step(self, step: Step) -> None:
        """Lower one step of the schedule, and store the outputs it computes."""
        if isinstance(step, AngleGroup):
            self._angles(step)
            return
        self._node(step)
        for position in self.targets.pop(step, ()):
            self.emit(Op.STORE, self.value(step), detail=position)

    def store_rest(self) -> None:
        """The outputs that are known beforehand."""
        for index, positions in self.targets.items():
            for position in positions:
                self.emit(Op.STORE, self.value(index), detail=position)

    def _node(self, index: int) -> None:
        node = self.graph.nodes[index]
        if index in self.values:
            return
        if index in self.binding.inputs:
            self.values[index] = self.emit(Op.INPUT, detail=self.binding.inputs[index])
        elif isinstance(node, Polynomial):
            self._polynomial(index, node)
        elif isinstance(node, Function):
            self._function(index, node)

    def _angles(self, group: AngleGroup) -> None:
        together = self.emit(Op.SINCOS, *(self.value(angle) for angle in group.angles))
        for position, nodes in enumerate(group.sines):
            for index in nodes:
                self.values[index] = self.emit(self._sine_op(index), together, detail=position)

    def _sine_op(self, index: int) -> Op:
        node = self.graph.nodes[index]
        assert isinstance(node, Function)
        return Op.SIN if node.name == "sin" else Op.COS

    def call(self, name: str, arguments: list[int]) -> tuple[str, list[int]]:
        """The function that is emitted, and its arguments: a guard is a selection."""
        if name != GUARDED:
            return name, arguments
        value, room = arguments
        return "select", [room, value, self.literal(nan)]

    def _function(self, index: int, node: Function) -> None:
        if node.name != "reciprocal":
            name, arguments = self.call(node.name, [self.value(argument) for argument in node.arguments])
            self.values[index] = self.emit(Op.FUNCTION, *arguments, detail=name)
        elif self.uses.divides_once(index):
            self.divisors[index] = self.value(node.arguments[0])
        else:
            self.values[index] = self.emit(Op.DIVIDE, self.literal(1.0), self.value(node.arguments[0]))

    # sums of products

    def _polynomial(self, index: int, node: Polynomial) -> None:
        constant: flint.arb | None = None
        summands: list[Summand] = []
        for coefficient, factors in node.terms:
            scale, moving = self._scale(coefficient, factors)
            if scale == 0:
                continue
            if moving:
                summands.append(self._summand(scale, moving))
            else:
                constant = as_ball(scale) if constant is None else constant + as_ball(scale)
        if self.fuse and len(node.terms) == 1 and summands and self.uses.only_added(index):
            self.products[index] = summands[0]
        else:
            self.values[index] = self._sum(summands, None if constant is None else self.literal(rounded(constant)))

    def _scale(
        self, coefficient: Coefficient, factors: tuple[Factor, ...]
    ) -> tuple[flint.arb | Coefficient, list[Factor]]:
        """The static part of a term as one number, and the factors that move."""
        statics = self.statics
        moving = [factor for factor in factors if factor[0] not in statics]
        if len(moving) == len(factors):
            return coefficient, moving
        scale = as_ball(coefficient)
        for child, exponent in factors:
            if child in statics:
                scale = scale * (statics[child] if exponent == 1 else statics[child] ** exponent)
        return scale, moving

    def _summand(self, scale: flint.arb | Coefficient, moving: list[Factor]) -> Summand:
        unit_scale = scale == 1 or scale == -1
        sign = -1 if scale == -1 else 1
        if unit_scale and len(moving) == 1 and moving[0][0] in self.products:
            product = self.products[moving[0][0]]
            return Summand(sign * product.sign, product.value, product.last)
        divisors = [self.divisors[child] for child, _ in moving if child in self.divisors]
        factors = self._factors([(self.value(child), power) for child, power in moving if child not in self.divisors])
        if not unit_scale or not factors:
            factors.insert(0, self.literal(1.0 if unit_scale else rounded(scale)))
        if divisors:
            return Summand(sign, self.emit(Op.DIVIDE, self._product(factors), self._product(divisors)), None)
        if len(factors) == 1:
            return Summand(sign, factors[0], None)
        return Summand(sign, self._product(factors[:-1]), factors[-1])

    def _factors(self, powers: list[tuple[int, int]]) -> list[int]:
        """Values to multiply, those known early first, so that little is left to do when the last one arrives."""
        factors: list[int] = []
        for base, exponent in powers:
            half = exponent // 2 if len(powers) == 1 else 0
            factors.append(self._power(base, exponent - half))
            if half:
                factors.append(self._power(base, half))
        factors.sort(key=self.depth.__getitem__)
        return factors

    def _power(self, base: int, exponent: int) -> int:
        if exponent == 1:
            return base
        if (base, exponent) not in self.powers:
            half = self._power(base, exponent // 2)
            other = self._power(base, exponent - exponent // 2)
            self.powers[base, exponent] = self.emit(Op.MULTIPLY, half, other)
        return self.powers[base, exponent]

    def _product(self, factors: Sequence[int]) -> int:
        total = factors[0]
        for factor in factors[1:]:
            total = self.emit(Op.MULTIPLY, total, factor)
        return total

    def _sum(self, summands: list[Summand], constant: int | None) -> int:
        """Start with what needs no multiplication, then add what is known early first."""
        if not summands:
            return self.literal(0.0) if constant is None else constant
        if constant is not None:
            summands = [Summand(1, constant, None), *summands]
        if len(summands) == 1:
            return self._single(summands[0])
        ordered = sorted(summands, key=lambda one: (one.last is not None, self._ready(one), -one.sign))
        first, *rest = ordered
        rest.sort(key=self._ready)
        total = first.value if first.last is None else self.emit(Op.MULTIPLY, first.value, first.last)
        sign = first.sign
        for one in rest:
            sign, total = self._added(sign, total, one)
        return total if sign > 0 else self.emit(Op.NEGATE, total)

    def _ready(self, one: Summand) -> int:
        return self.depth[one.value] if one.last is None else max(self.depth[one.value], self.depth[one.last])

    def _single(self, one: Summand) -> int:
        value = one.value if one.last is None else self.emit(Op.MULTIPLY, one.value, one.last)
        return value if one.sign > 0 else self.emit(Op.NEGATE, value)

    def _added(self, sign: int, total: int, one: Summand) -> tuple[int, int]:
        """sign * total + one, as a new sign and value; no operation is spent on a sign."""
        same = sign == one.sign
        if one.last is None:
            if same:
                return sign, self.emit(Op.ADD, total, one.value)
            return 1, self.emit(Op.SUBTRACT, *((total, one.value) if sign > 0 else (one.value, total)))
        if same:
            return sign, self.emit(Op.MULTIPLY_ADD, one.value, one.last, total)
        op = Op.NEGATED_MULTIPLY_ADD if sign > 0 else Op.MULTIPLY_SUBTRACT
        return 1, self.emit(op, one.value, one.last, total)


def as_ball(value: flint.arb | Coefficient) -> flint.arb:
    """An exact number as a ball of the current precision."""
    if isinstance(value, flint.arb):
        return value
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def rounded(value: flint.arb | Coefficient) -> float:
    """The nearest double; infinite beyond the largest."""
    if isinstance(value, flint.arb):
        return float(value.mid())
    return nearest_double(value)
