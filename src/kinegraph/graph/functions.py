"""The functions a graph may contain: how many arguments each takes and what its derivatives are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinegraph.graph.scalar import Scalar


#: guarded(x, r) is x where r >= 0 and no number elsewhere: what means nothing there must not look like a result.
GUARDED = "guarded"


@dataclass(frozen=True)
class FunctionRule:
    """Arity and partial derivatives of one function.

    `derivatives(*arguments)` returns the partial derivative by each argument.
    """

    arity: int
    derivatives: Callable[..., tuple[Scalar | int, ...]]


def _atan2(y: Scalar, x: Scalar) -> tuple[Scalar, Scalar]:
    inverse = (x * x + y * y).reciprocal()
    return x * inverse, -y * inverse


def _select(condition: Scalar, chosen: Scalar, other: Scalar) -> tuple[int, Scalar, Scalar]:
    one, zero = condition.number(1), condition.number(0)
    return 0, condition.apply("select", one, zero), condition.apply("select", zero, one)


def _guarded(value: Scalar, room: Scalar) -> tuple[Scalar, int]:
    return value.number(1).apply("guarded", room), 0


#: select(c, a, b) is a where c >= 0 and b elsewhere; its derivative ignores the jump.
FUNCTIONS: dict[str, FunctionRule] = {
    "sin": FunctionRule(1, lambda x: (x.cos(),)),
    "cos": FunctionRule(1, lambda x: (-x.sin(),)),
    "reciprocal": FunctionRule(1, lambda x: (-(x.reciprocal() ** 2),)),
    "sqrt": FunctionRule(1, lambda x: ((2 * x.apply("sqrt")).reciprocal(),)),
    "exp": FunctionRule(1, lambda x: (x.apply("exp"),)),
    "log": FunctionRule(1, lambda x: (x.reciprocal(),)),
    "asin": FunctionRule(1, lambda x: ((1 - x * x).apply("sqrt").reciprocal(),)),
    "acos": FunctionRule(1, lambda x: (-(1 - x * x).apply("sqrt").reciprocal(),)),
    "atan": FunctionRule(1, lambda x: ((1 + x * x).reciprocal(),)),
    "atan2": FunctionRule(2, _atan2),
    "sinh": FunctionRule(1, lambda x: (x.apply("cosh"),)),
    "cosh": FunctionRule(1, lambda x: (x.apply("sinh"),)),
    "tanh": FunctionRule(1, lambda x: (1 - x.apply("tanh") ** 2,)),
    "abs": FunctionRule(1, lambda x: (x.apply("sign"),)),
    "sign": FunctionRule(1, lambda x: (0,)),
    "select": FunctionRule(3, _select),
    GUARDED: FunctionRule(2, _guarded),
}
