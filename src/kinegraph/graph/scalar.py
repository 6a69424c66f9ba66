"""A node with arithmetic operators, so that mechanics can be written as it stands in a book."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from kinegraph.errors import GraphError
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Coefficient, Kind

Number: TypeAlias = int | Fraction


class Scalar:
    """A node of a builder. Immutable; equal only to the same node."""

    __slots__ = ("builder", "index")

    def __init__(self, builder: GraphBuilder, index: int) -> None:
        self.builder = builder
        self.index = index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scalar) and other.index == self.index and other.builder is self.builder

    def __hash__(self) -> int:
        return hash(self.index)

    def __repr__(self) -> str:
        return f"%{self.index}"

    def number(self, value: Coefficient) -> Scalar:
        """A number in the same builder."""
        return Scalar(self.builder, self.builder.number(value))

    def symbol(self, kind: Kind, name: str) -> Scalar:
        """A symbol in the same builder."""
        return Scalar(self.builder, self.builder.symbol(kind, name))

    @property
    def value(self) -> Coefficient | None:
        """The exact number this is, or None."""
        return self.builder.value_of(self.index)

    @property
    def is_zero(self) -> bool:
        """Whether it is the number zero."""
        return self.index == self.builder.zero

    @property
    def static(self) -> bool:
        """True if it depends on constants and parameters only."""
        return self.builder.static[self.index]

    def __add__(self, other: Scalar | Number) -> Scalar:
        builder = self.builder
        index = other.index if isinstance(other, Scalar) and other.builder is builder else self._index(other)
        if index == builder.zero:
            return self
        if self.index == builder.zero:
            return Scalar(builder, index)
        return Scalar(builder, builder.sum_of_two(self.index, index))

    __radd__ = __add__

    def __sub__(self, other: Scalar | Number) -> Scalar:
        builder = self.builder
        index = other.index if isinstance(other, Scalar) and other.builder is builder else self._index(other)
        if index == builder.zero:
            return self
        return Scalar(builder, builder.difference(self.index, index))

    def __rsub__(self, other: Scalar | Number) -> Scalar:
        return -self + other

    def __neg__(self) -> Scalar:
        return Scalar(self.builder, self.builder.negative(self.index))

    def __mul__(self, other: Scalar | Number) -> Scalar:
        if not isinstance(other, Scalar):
            return Scalar(self.builder, self.builder.scale(other, self.index))
        builder, first, second = self.builder, self.index, other.index
        if other.builder is not builder:
            self._require_same_builder(other)
        if first == builder.zero or second == builder.one:
            return self
        if second == builder.zero or first == builder.one:
            return other
        return Scalar(builder, builder.product_of_two(first, second))

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar | Number) -> Scalar:
        if not isinstance(other, Scalar):
            other = self.number(other)
        return self * other.reciprocal()

    def __rtruediv__(self, other: Scalar | Number) -> Scalar:
        return self.reciprocal() * other

    def __pow__(self, exponent: int) -> Scalar:
        return Scalar(self.builder, self.builder.power(self.index, exponent))

    def apply(self, function: str, *more: Scalar) -> Scalar:
        """A function of this and further scalars."""
        return Scalar(self.builder, self.builder.apply(function, self.index, *(self._index(s) for s in more)))

    def sin(self) -> Scalar:
        """Its sine."""
        return self.apply("sin")

    def cos(self) -> Scalar:
        """Its cosine."""
        return self.apply("cos")

    def reciprocal(self) -> Scalar:
        """One over it."""
        return self.apply("reciprocal")

    def _index(self, other: Scalar | Number) -> int:
        if not isinstance(other, Scalar):
            return self.builder.number(other)
        self._require_same_builder(other)
        return other.index

    def _require_same_builder(self, other: Scalar) -> None:
        if other.builder is not self.builder:
            raise GraphError("scalars of two builders cannot be combined: carry one over with transfer")
