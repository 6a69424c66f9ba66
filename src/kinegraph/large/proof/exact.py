"""The flat form of a mechanism in nodes of a graph, made by the same functions that make it in doubles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from kinegraph.derive.tree.convert import Names, operation
from kinegraph.graph.scalar import Scalar
from kinegraph.large.flat.numbers import Numbers
from kinegraph.large.records import Floats
from kinegraph.model.expression import Call, Compound, Expression, Operation


class ExactNumbers(Numbers):
    """Nodes of a graph where loops that run have doubles; types say double, as everywhere in the loops."""

    def __init__(self, names: Names) -> None:
        super().__init__({})
        self._names = names

    def constant(self, root: Expression) -> float:
        """The node of an expression."""
        return cast(float, self._names.scalar(root))

    def folded(self, here: Compound, parts: Sequence[float]) -> float:
        """An operator or function of nodes."""
        operands = [part if isinstance(part, Scalar) else self._names.number(int(part)) for part in parts]
        return cast(float, operation(cast("Operation | Call", here), operands))

    def cosine_and_sine(self, angle: float) -> tuple[float, float]:
        """Both of a node."""
        node = angle if isinstance(angle, Scalar) else self._names.number(int(angle))
        return cast(float, node.cos()), cast(float, node.sin())

    def array(self, values: Sequence[object]) -> Floats:
        """Nodes, or rows of them, as an array of objects."""
        return cast(Floats, np.array(values, dtype=object))

    def zeros(self, *shape: int) -> Floats:
        """An array of zeros that takes nodes."""
        return cast(Floats, np.zeros(shape, dtype=int).astype(object))
