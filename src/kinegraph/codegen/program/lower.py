"""From scheduled nodes to instructions: static parts become literals, products flow into fused multiply-adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from typing import NamedTuple

import flint

from kinegraph.codegen.program.binding import Bound
from kinegraph.codegen.program.program import Instruction, Op, Program
from kinegraph.codegen.program.schedule import AngleGroup, Step, schedule
from kinegraph.codegen.program.uses import Uses, uses_of_nodes
from kinegraph.graph.functions import GUARDED
from kinegraph.graph.interpret import extended_precision, nearest_double
from kinegraph.graph.node import Coefficient, Factor, Function, Polynomial

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
