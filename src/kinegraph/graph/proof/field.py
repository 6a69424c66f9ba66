"""Large prime fields in which trigonometry is exact, drawn at random.

The primes are of one family: p + 1 is divisible by `CIRCLE_DIVISOR`. Then p = 3 modulo 4, so -1 is no square and the
circle x^2 + y^2 = 1 is a cyclic group of order p + 1, which holds true points for all rational multiples of pi with a
denominator dividing half of `CIRCLE_DIVISOR`: sin(pi/4) and the like obey every addition formula too. Which prime of
the family it is must not be known beforehand: p x = 0 and x^p = x hold in the field of p alone.
"""

from __future__ import annotations

import random
from functools import cached_property

import flint

CIRCLE_DIVISOR = 2**8 * 3**4 * 5**3 * 7 * 11 * 13
_CIRCLE_PRIMES = (2, 3, 5, 7, 11, 13)

#: Primes have at least so many bits.
LEAST_BITS = 127

#: The cosine and sine of an angle.
Point = tuple[int, int]


class PrimeField:
    """The field of one prime of the family, and its circle."""

    def __init__(self, prime: int) -> None:
        self.prime = prime

    @classmethod
    def drawn(cls, seed: int, bits: int = LEAST_BITS) -> PrimeField:
        """The field of a random prime with so many bits; the same for the same seed."""
        chance = random.Random(f"prime {seed} {bits}")
        least, most = (1 << (bits - 1)) // CIRCLE_DIVISOR + 1, (1 << bits) // CIRCLE_DIVISOR
        while True:
            prime = chance.randint(least, most) * CIRCLE_DIVISOR - 1
            if flint.fmpz(prime).is_probable_prime():  # no composite number is known that passes
                return cls(prime)

    def rotate(self, first: Point, second: Point) -> Point:
        """The addition formulas: (cos a, sin a) and (cos b, sin b) give (cos(a+b), sin(a+b))."""
        p = self.prime
        (c, s), (d, t) = first, second
        return (c * d - s * t) % p, (s * d + c * t) % p

    def multiple(self, point: Point, times: int) -> Point:
        """The point of `times` the angle."""
        if times < 0:
            point, times = (point[0], -point[1]), -times
        result = (1, 0)
        while times:
            if times & 1:
                result = self.rotate(result, point)
            point = self.rotate(point, point)
            times >>= 1
        return result

    def circle_point(self, parameter: int) -> Point:
        """The rational parametrisation ((1-t^2)/(1+t^2), 2t/(1+t^2)); 1 + t^2 is never zero here."""
        p = self.prime
        inverse = pow(1 + parameter * parameter, -1, p)
        return (1 - parameter * parameter) * inverse % p, 2 * parameter * inverse % p

    @cached_property
    def unit_angle(self) -> Point:
        """The point of the angle 2 pi / CIRCLE_DIVISOR: of exactly that order, a right angle having sine one."""
        parameter = 1
        while True:
            parameter += 1
            point = self.multiple(self.circle_point(parameter), (self.prime + 1) // CIRCLE_DIVISOR)
            if all(self.multiple(point, CIRCLE_DIVISOR // prime) != (1, 0) for prime in _CIRCLE_PRIMES):
                right = self.multiple(point, CIRCLE_DIVISOR // 4)
                return point if right == (0, 1) else (point[0], -point[1])

    def root(self, value: int) -> int | None:
        """A root of a number of the field, which its negative is too; None if it has none."""
        root = pow(value, (self.prime + 1) // 4, self.prime)  # p = 3 modulo 4 makes it a power
        return root if root * root % self.prime == value else None
