"""Sine and cosine together for languages that get no library: C and Rust share the text, which differs in few words.

The algorithm is that of the compiled kernels (`backends.llvm.sincos`, without fused multiply-add): the angle is
reduced to |r| <= pi/4 by subtracting a multiple of pi/2 kept in parts (Cody and Waite) so short that their
products with the multiple are exact. Beyond the near bound the multiple is split in two, so that products stay
exact up to the far bound, where neighbouring numbers are 0.1 mrad (double) or 0.06 rad (float) apart; angles beyond
it have no meaningful sine, and give NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kinegraph.export.options import Precision

_TWO_OVER_PI = float.fromhex("0x1.45f306dc9c883p-1")


@dataclass(frozen=True)
class Reduction:
    """Constants of one precision. `split` is how large a multiple may be whose products with `parts` are exact."""

    parts: tuple[float, ...]
    split: float
    near: float
    far: float
    sine: tuple[float, ...]
    cosine: tuple[float, ...]


#: Parts of 33 bits, polynomials of fdlibm (k_sin.c, k_cos.c).
DOUBLE = Reduction(
    parts=tuple(
        map(float.fromhex, ("0x1.921fb544p+0", "0x1.0b4611a6p-34", "0x1.3198a2ep-69", "0x1.b839a252049c1p-104"))
    ),
    split=2.0**20,
    near=2.0**20,
    far=2.0**40,
    sine=(
        -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
        2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
    ),
    cosine=(
        4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
        -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
    ),
)  # fmt: skip

#: Parts of 12 bits, polynomials of Cephes (sinf.c).
FLOAT = Reduction(
    parts=tuple(map(float.fromhex, ("0x1.92p+0", "0x1.fb4p-12", "0x1.444p-24", "0x1.68c234p-39"))),
    split=2.0**12,
    near=2.0**12,
    far=2.0**20,
    sine=(-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4),
    cosine=(4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5),
)

REDUCTIONS = {Precision.DOUBLE: DOUBLE, Precision.FLOAT: FLOAT}


@dataclass(frozen=True)
class Words:
    """The few words in which C and Rust differ inside the function."""

    constant: str
    variable: str
    number: Callable[[float], str]
    rounded: str
    quadrant: str
    finish: tuple[str, ...]
    not_a_number: tuple[str, ...]


def sincos_body(words: Words, precision: Precision) -> list[str]:
    """Statements that compute `sine` and `cosine` of `x`."""
    table, number = REDUCTIONS[precision], words.number
    near, far = number(table.near), number(table.far)
    return [
        f"if (!(x > -{far} && x < {far})) {{", *(f"    {line}" for line in words.not_a_number), "}",
        f"{words.constant} turns = x*{number(_TWO_OVER_PI)};",
        f"{words.variable} high = {number(0.0)};",
        f"if (x <= -{near} || x >= {near}) {{",
        f"    high = {number(table.split)}*{words.rounded.format(f'turns*{number(1 / table.split)}')};",
        "}",
        f"{words.constant} low = {words.rounded.format('turns - high')};",
        f"{words.variable} r = x;",
        f"if (high != {number(0.0)}) {{",
        *(f"    r = (r - high*{number(part)}) - low*{number(part)};" for part in table.parts),
        "} else {",
        *(f"    r = r - low*{number(part)};" for part in table.parts),
        "}",
        f"{words.constant} z = r*r;",
        f"{words.constant} near_sine = r + r*z*{_horner(table.sine, number)};",
        f"{words.constant} near_cosine = {number(1.0)} + z*(z*{_horner(table.cosine, number)} - {number(0.5)});",
        words.quadrant,
        f"{words.variable} sine = near_sine;",
        f"{words.variable} cosine = near_cosine;",
        "if ((quadrant & 1) != 0) {", "    sine = near_cosine;", "    cosine = near_sine;", "}",
        "if ((quadrant & 2) != 0) {", "    sine = -sine;", "}",
        "if (((quadrant + 1) & 2) != 0) {", "    cosine = -cosine;", "}",
        *words.finish,
    ]  # fmt: skip


def _horner(coefficients: Sequence[float], number: Callable[[float], str]) -> str:
    text = number(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        text = f"({number(coefficient)} + z*{text})"
    return text
