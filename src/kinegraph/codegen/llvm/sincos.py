"""Sine and cosine together, written out in LLVM for any number of lanes.

The angle is reduced to |r| <= pi/4 by subtracting a multiple of pi/2 kept in three parts (Cody and Waite). With a fused
multiply-add the first subtraction is exact and the second correctly rounded, for multiples up to 2^30; without, the
parts have 33 bits, so that their products with multiples below 2^20 are exact. Polynomials are those of Sun's fdlibm
(k_sin.c, k_cos.c; error below 2^-58). The worst error seen is 1.5 units in the last place, 2.2 without fused
multiply-add. Angles beyond the bound go to the C library lane by lane. NaN and infinities
give NaN on either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

from kinegraph.codegen.llvm.assembly import Lanes, Writer, library_function

_TWO_OVER_PI = float.fromhex("0x1.45f306dc9c883p-1")
# Adding 1.5 * 2^52 rounds to an integer and leaves it in the low bits.
_ROUNDER = 1.5 * 2.0**52

_FUSED_PARTS = tuple(map(float.fromhex, ("0x1.921fb54442d18p+0", "0x1.1a62633145c07p-54", "-0x1.f1976b7ed8fbcp-110")))
_FUSED_BOUND = 2.0**30
_SPLIT_PARTS = tuple(
    map(float.fromhex, ("0x1.921fb544p+0", "0x1.0b4611a6p-34", "0x1.3198a2ep-69", "0x1.b839a252049c1p-104"))
)
_SPLIT_BOUND = 2.0**20

_SINE = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
    2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
_COSINE = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
    -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip


def pair_type(lanes: Lanes) -> str:
    """The type of a sine and a cosine."""
    return f"{{ {lanes.type}, {lanes.type} }}"


def sincos_function(lanes: Lanes, fused: bool, inline: bool) -> str:
    """Define `@sincosN`, from N angles to their sines and cosines, and its slow way for huge angles.

    `fused` says that the processor has fused multiply-add.
    """
    return _slow(lanes) + _Fast(lanes, fused).text("alwaysinline" if inline else "noinline")


def sign_of_sine_function(lanes: Lanes, fused: bool) -> str:
    """Define `@sign_of_sineN`: numbers with the signs of the sines of N angles; NaN for huge angles."""
    return _Sign(lanes, fused).function()


def _slow(lanes: Lanes) -> str:
    writer = Writer()
    sine, cosine = (
        writer.define(f"call {lanes.type} @{name}{lanes.count}({lanes.type} %x)") for name in ("sin", "cos")
    )
    _return(writer, lanes, sine, cosine)
    head = f"define internal {pair_type(lanes)} @sincos_slow{lanes.count}({lanes.type} %x) #1"
    return library_function("sin", lanes) + library_function("cos", lanes) + writer.function(head)


def _return(writer: Writer, lanes: Lanes, sine: str, cosine: str) -> None:
    pair = writer.define(f"insertvalue {pair_type(lanes)} poison, {lanes.type} {sine}, 0")
    pair = writer.define(f"insertvalue {pair_type(lanes)} {pair}, {lanes.type} {cosine}, 1")
    writer.do(f"ret {pair_type(lanes)} {pair}")


class _Fast:
    def __init__(self, lanes: Lanes, fused: bool) -> None:
        self.lanes = lanes
        self.fused = fused
        self.writer = Writer()

    def text(self, inlining: str) -> str:
        lanes, writer = self.lanes, self.writer
        size = writer.define(f"call {lanes.type} @llvm.fabs.{lanes.suffix}({lanes.type} %x)")
        bound = lanes.literal(_FUSED_BOUND if self.fused else _SPLIT_BOUND)
        huge = writer.define(f"fcmp ogt {lanes.type} {size}, {bound}")
        bits = writer.define(f"bitcast {lanes.condition} {huge} to i{lanes.count}")
        some = writer.define(f"icmp ne i{lanes.count} {bits}, 0")
        writer.do(f"br i1 {some}, label %slow, label %fast, !prof !0")
        writer.begin("slow")
        pair = writer.define(f"call {pair_type(lanes)} @sincos_slow{lanes.count}({lanes.type} %x) #1")
        writer.do(f"ret {pair_type(lanes)} {pair}")
        writer.begin("fast")
        coarse, rest, quadrant = self._reduce()
        _return(writer, lanes, *self._turned(*self._polynomials(coarse, rest), quadrant))
        return writer.function(
            f"define internal {pair_type(lanes)} @sincos{lanes.count}({lanes.type} %x) {inlining} #0"
        )

    # arithmetic

    def multiply(self, left: str, right: str) -> str:
        return self.writer.define(f"fmul {self.lanes.type} {left}, {right}")

    def subtract(self, left: str, right: str) -> str:
        return self.writer.define(f"fsub {self.lanes.type} {left}, {right}")

    def fma(self, left: str, right: str, addend: str) -> str:
        kind = self.lanes.type
        if self.fused:
            arguments = f"{kind} {left}, {kind} {right}, {kind} {addend}"
            return self.writer.define(f"call {kind} @llvm.fma.{self.lanes.suffix}({arguments})")
        return self.writer.define(f"fadd {kind} {self.multiply(left, right)}, {addend}")

    # steps

    def _reduce(self) -> tuple[str, str, str]:
        """r = x - k pi/2, first without the last part of pi/2, then with it, and the bits of k."""
        literal, writer = self.lanes.literal, self.writer
        shifted = self.fma("%x", literal(_TWO_OVER_PI), literal(_ROUNDER))
        multiple = self.subtract(shifted, literal(_ROUNDER))
        *parts, last = _FUSED_PARTS if self.fused else _SPLIT_PARTS
        rest = "%x"
        for part in parts:
            rest = self.fma(multiple, literal(-part), rest)
        quadrant = writer.define(f"bitcast {self.lanes.type} {shifted} to {self.lanes.integer}")
        return rest, self.fma(multiple, literal(-last), rest), quadrant

    def _polynomials(self, coarse: str, rest: str) -> tuple[str, str]:
        """sin r = r + r z S(z), cos r = 1 + z (z C(z) - 1/2), z = r^2.

        The last part of pi/2 matters only where r is tiny, and there z does not: z need not wait for it.
        """
        literal = self.lanes.literal
        square = self.multiply(coarse, coarse)
        fourth = self.multiply(square, square)
        sine = self._estrin(_SINE, square, fourth)
        cosine = self._estrin(_COSINE, square, fourth)
        sine = self.fma(self.multiply(rest, square), sine, rest)
        cosine = self.fma(square, self.fma(square, cosine, literal(-0.5)), literal(1.0))
        return self._with_sign_of(sine, coarse), cosine

    def _with_sign_of(self, value: str, sign: str) -> str:
        """Changes nothing but the sine of -0, which would lose its sign in the last addition."""
        kind = self.lanes.type
        return self.writer.define(f"call {kind} @llvm.copysign.{self.lanes.suffix}({kind} {value}, {kind} {sign})")

    def _estrin(self, coefficients: Sequence[float], square: str, fourth: str) -> str:
        """Pairs first: a shorter chain of dependences than Horner's for one multiplication more."""
        literal = self.lanes.literal
        c = [literal(value) for value in coefficients]
        pairs = [self.fma(c[k + 1], square, c[k]) for k in (0, 2, 4)]
        return self.fma(self.fma(pairs[2], fourth, pairs[1]), fourth, pairs[0])

    def _turned(self, sine: str, cosine: str, quadrant: str) -> tuple[str, str]:
        """Exchange and change signs by quadrant, without branches."""
        define, integer = self.writer.define, self.lanes.integer
        odd = define(f"trunc {integer} {quadrant} to {self.lanes.condition}")
        kinds = f"{self.lanes.condition} {odd}, {self.lanes.type}"
        turned_sine = define(f"select {kinds} {cosine}, {self.lanes.type} {sine}")
        turned_cosine = define(f"select {kinds} {sine}, {self.lanes.type} {cosine}")
        next_quadrant = define(f"add {integer} {quadrant}, {self.lanes.integer_literal(1)}")
        return self._signed(turned_sine, quadrant), self._signed(turned_cosine, next_quadrant)

    def _signed(self, value: str, quadrant: str) -> str:
        define, lanes = self.writer.define, self.lanes
        half_turn = define(f"and {lanes.integer} {quadrant}, {lanes.integer_literal(2)}")
        sign = define(f"shl {lanes.integer} {half_turn}, {lanes.integer_literal(62)}")
        bits = define(f"bitcast {lanes.type} {value} to {lanes.integer}")
        bits = define(f"xor {lanes.integer} {bits}, {sign}")
        return define(f"bitcast {lanes.integer} {bits} to {lanes.type}")


class _Sign(_Fast):
    """The sign of a sine: with x = k pi + r, |r| <= pi/2, it is that of r, changed if k is odd."""

    def function(self) -> str:
        lanes, literal, define = self.lanes, self.lanes.literal, self.writer.define
        shifted = self.fma("%x", literal(_TWO_OVER_PI / 2), literal(_ROUNDER))
        multiple = self.subtract(shifted, literal(_ROUNDER))
        rest = "%x"
        for part in _FUSED_PARTS if self.fused else _SPLIT_PARTS:
            rest = self.fma(multiple, literal(-2 * part), rest)
        bits = define(f"bitcast {lanes.type} {shifted} to {lanes.integer}")
        odd = define(f"shl {lanes.integer} {bits}, {lanes.integer_literal(63)}")
        bits = define(f"bitcast {lanes.type} {rest} to {lanes.integer}")
        bits = define(f"xor {lanes.integer} {bits}, {odd}")
        sign = define(f"bitcast {lanes.integer} {bits} to {lanes.type}")
        size = define(f"call {lanes.type} @llvm.fabs.{lanes.suffix}({lanes.type} %x)")
        known = define(f"fcmp ole {lanes.type} {size}, {literal(_FUSED_BOUND if self.fused else _SPLIT_BOUND)}")
        kinds = f"{lanes.condition} {known}, {lanes.type}"
        self.writer.do(f"ret {lanes.type} {define(f'select {kinds} {sign}, {lanes.type} {literal(nan)}')}")
        return self.writer.function(
            f"define internal {lanes.type} @sign_of_sine{lanes.count}({lanes.type} %x) alwaysinline #0"
        )
