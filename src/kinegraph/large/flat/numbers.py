"""What the constants of a mechanism are: doubles for the loops that run, nodes of a graph where loops are proved."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from kinegraph.graph.scalar import Scalar
from kinegraph.large.records import Floats
from kinegraph.model.evaluate import number
from kinegraph.model.expression import Call, Compound, Expression, Number, Operation
from kinegraph.model.mechanism import ZERO


class Numbers:
    """Doubles; `proof.exact` has nodes of a graph in their place."""

    def __init__(self, parameters: Mapping[str, float]) -> None:
        self.parameters = parameters

    def constant(self, root: Expression) -> float:
        """The value of an expression in parameters. Most are plain numbers, and there may be a million of them."""
        if root is ZERO:
            return 0.0
        if isinstance(root, Number):
            try:
                return root.value.numerator / root.value.denominator
            except OverflowError:
                pass  # said in words below
        return number(root, self.parameters)

    def folded(self, here: Compound, parts: Sequence[float]) -> float:
        """An operator or function of known values."""
        operands = tuple(Number(Fraction(part)) for part in parts)
        return number(Operation(here.head, operands) if isinstance(here, Operation) else Call(here.head, operands), {})

    def cosine_and_sine(self, angle: float) -> tuple[float, float]:
        """Both of a constant angle."""
        return math.cos(angle), math.sin(angle)

    def array(self, values: Sequence[object]) -> Floats:
        """Values, or rows of them, as an array."""
        return np.array(values, dtype=np.float64)

    def zeros(self, *shape: int) -> Floats:
        """An array of zeros."""
        return np.zeros(shape)


def vanishes(value: float | Scalar) -> bool:
    """Whether a constant is zero."""
    return value.is_zero if isinstance(value, Scalar) else not value
