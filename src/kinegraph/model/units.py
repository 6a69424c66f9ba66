"""Units of numbers in a model: `45 deg`, `1500 rpm`, `3 mm`, and in brackets also products, `2 [kN/m]`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from kinegraph.errors import ModelError

# Everything else in Kinegraph is in SI units and radians: a number with a unit becomes a number in SI units where it is
# read. A factor of pi stays exact.


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its size in SI units is `size * pi^pis`. dimensions: exponents of m, kg, s, A, K and rad."""

    size: Fraction
    dimensions: tuple[int, int, int, int, int, int]
    pis: int = 0

    def power(self, exponent: int) -> Unit:
        """The unit to a power."""
        m, kg, s, a, k, rad = (one * exponent for one in self.dimensions)
        return Unit(self.size**exponent, (m, kg, s, a, k, rad), self.pis * exponent)

    def times(self, other: Unit) -> Unit:
        """The product of two units."""
        m, kg, s, a, k, rad = (one + two for one, two in zip(self.dimensions, other.dimensions, strict=True))
        return Unit(self.size * other.size, (m, kg, s, a, k, rad), self.pis + other.pis)

    @property
    def words(self) -> str:
        """The dimensions in SI units, such as `m s^-1`."""
        symbols = zip(("m", "kg", "s", "A", "K", "rad"), self.dimensions, strict=True)
        return " ".join(name if power == 1 else f"{name}^{power}" for name, power in symbols if power) or "1"


def _unit(size: str, m: int = 0, kg: int = 0, s: int = 0, A: int = 0, K: int = 0, rad: int = 0, pis: int = 0) -> Unit:
    return Unit(Fraction(size), (m, kg, s, A, K, rad), pis)


ANGLE = (0, 0, 0, 0, 0, 1)
LENGTH = (1, 0, 0, 0, 0, 0)
MASS = (0, 1, 0, 0, 0, 0)
INERTIA = (2, 1, 0, 0, 0, 0)

_PREFIXES = {"M": "1e6", "k": "1000", "c": "1/100", "m": "1/1000", "u": "1/1000000", "µ": "1/1000000", "μ": "1/1000000"}


def _with_prefixes(name: str, unit: Unit, prefixes: str) -> dict[str, Unit]:
    scaled = {p + name: Unit(Fraction(_PREFIXES[p]) * unit.size, unit.dimensions, unit.pis) for p in prefixes}
    return {name: unit, **scaled}


#: The units by name.
UNITS: dict[str, Unit] = {
    **_with_prefixes("m", _unit("1", m=1), "kcmuµμ"),
    **_with_prefixes("g", _unit("0.001", kg=1), "Mkm"),
    **_with_prefixes("s", _unit("1", s=1), "muµμ"),
    **_with_prefixes("rad", _unit("1", rad=1), "m"),
    **_with_prefixes("N", _unit("1", m=1, kg=1, s=-2), "Mkm"),
    **_with_prefixes("Nm", _unit("1", m=2, kg=1, s=-2), "Mkm"),
    **_with_prefixes("J", _unit("1", m=2, kg=1, s=-2), "Mkm"),
    **_with_prefixes("W", _unit("1", m=2, kg=1, s=-3), "Mkm"),
    **_with_prefixes("Pa", _unit("1", m=-1, kg=1, s=-2), "Mk"),
    **_with_prefixes("V", _unit("1", m=2, kg=1, s=-3, A=-1), "km"),
    **_with_prefixes("A", _unit("1", A=1), "km"),
    **_with_prefixes("Ohm", _unit("1", m=2, kg=1, s=-3, A=-2), "km"),
    **_with_prefixes("H", _unit("1", m=2, kg=1, s=-2, A=-2), "mu"),
    **_with_prefixes("Hz", _unit("1", s=-1), "k"),
    "K": _unit("1", K=1),
    "deg": _unit("1/180", rad=1, pis=1), "rev": _unit("2", rad=1, pis=1), "rpm": _unit("1/30", rad=1, s=-1, pis=1),
    "min": _unit("60", s=1), "h": _unit("3600", s=1),
    "bar": _unit("100000", m=-1, kg=1, s=-2), "inch": _unit("0.0254", m=1), "ft": _unit("0.3048", m=1),
    "lb": _unit("0.45359237", kg=1), "lbf": _unit("4.4482216152605", m=1, kg=1, s=-2),
    "psi": Unit(Fraction("4.4482216152605") / Fraction("0.0254") ** 2, (-1, 1, -2, 0, 0, 0)),
}  # fmt: skip

#: Other words for units that people write.
_MEANT = {
    **dict.fromkeys(("degree", "degrees", "Deg", "DEG"), "deg"), **dict.fromkeys(("meter", "meters", "metre"), "m"),
    **dict.fromkeys(("sec", "second", "seconds"), "s"), **dict.fromkeys(("RPM", "Rpm"), "rpm"), "radians": "rad",
    **dict.fromkeys(("ton", "tons", "tonne", "tonnes"), "Mg"), **dict.fromkeys(("gram", "grams"), "g"), "newton": "N",
    "Kg": "kg", "KG": "kg", "kn": "kN", "KN": "kN", "inches": "inch", "feet": "ft", "hz": "Hz", "HZ": "Hz",
    "mpa": "MPa", "MPA": "MPa", "Mm": "mm", "MM": "mm", "Ω": "Ohm", "ohm": "Ohm", "turn": "rev", "turns": "rev",
}  # fmt: skip

_FACTOR = re.compile(r"([*·/ ]*)([^\W\d_]+|1)(?:\^(-?[0-9]))?\s*")


def is_unit(word: str) -> bool:
    """Whether a word names a unit, also in another spelling."""
    return word in UNITS or word in _MEANT


def read_unit(text: str) -> Unit:
    """The unit of a word, or of a product in brackets: `kN`, `[kN/m]`, `[m/s^2]`, `[N m]`, `[kg*m^2]`."""
    if not text.startswith("["):
        return _named(text)
    inner = text[1:-1].strip()
    found = _unit("1")
    place = 0
    while place < len(inner):
        factor = _FACTOR.match(inner, place)
        if factor is None or (operator := factor[1].strip()) not in ("", "*", "·", "/"):
            raise ModelError(f"`{text}` is not a unit", remedy="write e.g. `[kN/m]`, `[m/s^2]` or `[N m]`")
        exponent = int(factor[3] or 1) * (-1 if operator == "/" else 1)
        found = found.times(_unit("1") if factor[2] == "1" else _named(factor[2]).power(exponent))
        place = factor.end()
    if not inner:
        raise ModelError(f"`{text}` is not a unit", remedy="write e.g. `[kN/m]`, or no brackets")
    if abs(found.pis) > 1:
        raise ModelError(f"`{text}` has a power of an angle other than 1", remedy="write it in radians")
    return found


def _named(word: str) -> Unit:
    if word in UNITS:
        return UNITS[word]
    if word in _MEANT:
        raise ModelError(f"unknown unit '{word}'", remedy=f"did you mean `{_MEANT[word]}`?")
    listed = ", ".join(UNITS_LISTED)
    raise ModelError(f"'{word}' is not a unit", remedy=f"the units are {listed}, ...; see docs/model-language.md")


#: The most frequent units, for messages.
UNITS_LISTED = ("deg", "rpm", "mm", "m", "g", "kg", "ms", "s", "N", "kN", "Nm", "W", "bar", "Hz")
