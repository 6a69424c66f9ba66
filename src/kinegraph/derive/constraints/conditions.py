"""What assembly asks of a mechanism's constraints: values, Jacobian and rates at a state, as plain functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]

#: Cosines of frames that fit are 1, or 0 and less.
_PARALLEL = 0.5


@dataclass(frozen=True)
class Conditions:
    """The constraints of one mechanism with numbers for its parameters, at one time.

    `value(q)` is zero where the positions are consistent, `jacobian(q)` is its derivative by displacements (one for
    every velocity), `rate(q, v)` is zero where the velocities are consistent. Rows that restrict velocities only come
    last and have no value; `by_position` are the others, by index. `names` says what each row is, e.g. `pin: x`.
    """

    names: tuple[str, ...]
    by_position: list[int]
    value: Callable[[Floats], Floats]
    jacobian: Callable[[Floats], Floats]
    rate: Callable[[Floats, Floats], Floats]
    moved: Callable[[Floats, Floats], Floats]
    """`moved(q, d)`: positions after a small displacement d; quaternions keep unit length."""
    facing: Callable[[Floats], Floats]
    """`facing(q)`: cosines between axes of frames that stay parallel; not one where these are turned away."""

    def turned_round(self, q: Floats) -> bool:
        """Whether frames that should be parallel are turned by half a turn or a third: rows alone do not tell."""
        return bool(np.any(self.facing(q) < _PARALLEL))
