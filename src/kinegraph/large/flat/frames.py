"""Constant places: frames fixed to a step, in plain floats (an array per frame would cost ten times as much)."""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.errors import ModelError
from kinegraph.large.flat.numbers import Numbers, vanishes
from kinegraph.model.mechanism import Rotation, Shift

Row = tuple[float, ...]

UNTURNED: Row = (1, 0, 0, 0, 1, 0, 0, 0, 1)
ORIGIN: Row = (0, 0, 0)


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame seen from a step: its axes (columns of a matrix, row by row) and its origin."""

    step: int = 0
    turn: Row = UNTURNED
    origin: Row = ORIGIN

    def moved(self, transform: Rotation | Shift, amount: float, numbers: Numbers) -> Frame:
        """The frame reached by one elementary transform."""
        x, y, z = transform.axis.value, (transform.axis.value + 1) % 3, (transform.axis.value + 2) % 3
        m = self.turn
        if isinstance(transform, Shift):
            a, b, c = self.origin
            return Frame(self.step, m, (a + m[x] * amount, b + m[x + 3] * amount, c + m[x + 6] * amount))
        cosine, sine = numbers.cosine_and_sine(amount)
        turned = list(m)
        for row in (0, 3, 6):
            turned[row + y] = cosine * m[row + y] + sine * m[row + z]
            turned[row + z] = cosine * m[row + z] - sine * m[row + y]
        return Frame(self.step, tuple(turned), self.origin)

    def turned(self, turn: Row) -> Frame:
        """The frame turned by a matrix given in its own axes."""
        m = self.turn
        product = (sum(m[row + k] * turn[3 * k + column] for k in range(3)) for row in (0, 3, 6) for column in range(3))
        return Frame(self.step, tuple(product), self.origin)


def quaternion_matrix(w: float, x: float, y: float, z: float) -> Row:
    """The rotation matrix of a quaternion of any length but zero."""
    square = w * w + x * x + y * y + z * z
    if vanishes(square):
        raise ModelError("a quaternion is zero and gives no direction", remedy="write e.g. `Q(1, 0, 0, 0)`")
    k = 2 / square
    return (
        1 - k * (y * y + z * z), k * (x * y - w * z), k * (x * z + w * y),
        k * (x * y + w * z), 1 - k * (x * x + z * z), k * (y * z - w * x),
        k * (x * z - w * y), k * (y * z + w * x), 1 - k * (x * x + y * y),
    )  # fmt: skip
