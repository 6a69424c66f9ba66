"""Rust: a crate without the standard library, unsafe code, or dependencies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from kinegraph.export.languages.syntax import (
    Element,
    SinCos,
    SinCosWords,
    Syntax,
    emit,
    indented,
    number_lines,
    number_text,
    numbered,
    sincos_body,
)
from kinegraph.export.options import Precision, Sines
from kinegraph.export.unit import MARK, Field, Routine, Unit, folded, heading, routine_text, self_test_text

# Functions that Rust has only in its standard library, written out for `no_std` crates: doubles, to a few units in the
# last place (roots: one).

_TEXTS: dict[str, str] = {
    "scale": """\
// x 2^n, in two steps so that no factor overflows.
fn scale_(x: f64, n: i32) -> f64 {
    let half = n / 2;
    x * f64::from_bits(((1023 + half) as u64) << 52) * f64::from_bits(((1023 + n - half) as u64) << 52)
}
""",
    "sqrt": """\
// Heron's iteration from a guess that halves the exponent.
fn sqrt_(x: f64) -> f64 {
    if !(x > 0.0) || x == f64::INFINITY {
        return if x < 0.0 { f64::NAN } else { x };
    }
    if x < 1.0e-290 {
        return sqrt_(x * 18014398509481984.0) * 7.450580596923828e-9;
    }
    let mut y = f64::from_bits((x.to_bits() >> 1) + (1023_u64 << 51));
    for _ in 0..5 {
        y = 0.5 * (y + x / y);
    }
    y
}
""",
    "exp": """\
// x = k ln 2 + r, |r| <= 0.35; the remainder by Taylor's series.
fn exp_(x: f64) -> f64 {
    if !(x > -746.0) {
        return if x < 0.0 { 0.0 } else { x };
    }
    if x > 710.0 {
        return f64::INFINITY;
    }
    let turns = x * core::f64::consts::LOG2_E;
    let k = (if turns < 0.0 { turns - 0.5 } else { turns + 0.5 }) as i32;
    let r = (x - k as f64 * 6.93147180369123816490e-01) - k as f64 * 1.90821492927058770002e-10;
    scale_(1.0 + small_exp_(r), k)
}
""",
    "small_exp": """\
// exp(r) - 1 for small r, without losing digits near zero.
fn small_exp_(r: f64) -> f64 {
    let mut sum = 1.0;
    let mut n = 16;
    while n > 1 {
        sum = 1.0 + sum * r / n as f64;
        n -= 1;
    }
    sum * r
}
""",
    "log": """\
// x = 2^k m with m near one; log m = 2 artanh((m - 1)/(m + 1)).
fn log_(x: f64) -> f64 {
    if !(x > 0.0) || x == f64::INFINITY {
        return if x == 0.0 { -f64::INFINITY } else if x < 0.0 { f64::NAN } else { x };
    }
    if x < 1.0e-290 {
        return log_(x * 18014398509481984.0) - 54.0 * core::f64::consts::LN_2;
    }
    let bits = x.to_bits();
    let mut k = (bits >> 52) as i32 - 1023;
    let mut m = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | (1023_u64 << 52));
    if m > core::f64::consts::SQRT_2 {
        m *= 0.5;
        k += 1;
    }
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let mut sum = 0.0;
    let mut n = 23;
    while n > 1 {
        sum = z * (1.0 / n as f64 + sum);
        n -= 2;
    }
    let tail = 2.0 * s * sum + k as f64 * 1.90821492927058770002e-10;
    k as f64 * 6.93147180369123816490e-01 + (2.0 * s + tail)
}
""",
    "atan": """\
// Angles are brought below 1/16 by atan x = atan c + atan((x - c)/(1 + x c)), c = 1/8, 2/8, ..., 1.
fn atan_(x: f64) -> f64 {
    const TABLE: [f64; 9] = [
        0.0, 0.12435499454676144, 0.24497866312686414, 0.35877067027057225, 0.4636476090008061, 0.5585993153435624,
        0.6435011087932844, 0.7188299996216245, 0.7853981633974483,
    ];
    if x != x {
        return x;
    }
    if x < 0.0 {
        return -atan_(-x);
    }
    if x > 1.0 {
        return (core::f64::consts::FRAC_PI_2 - atan_(1.0 / x)) + 6.123233995736766e-17;
    }
    let k = (8.0 * x + 0.5) as usize;
    let c = k as f64 * 0.125;
    let t = (x - c) / (1.0 + x * c);
    let z = t * t;
    let mut sum = 0.0;
    let mut n = 15;
    while n > 1 {
        sum = z * (sum + if n % 4 == 1 { 1.0 } else { -1.0 } / n as f64);
        n -= 2;
    }
    TABLE[k] + (t + t * sum)
}
""",
    "atan2": """\
fn atan2_(y: f64, x: f64) -> f64 {
    let pi = core::f64::consts::PI;
    if x != x || y != y {
        return f64::NAN;
    }
    if x.is_infinite() && y.is_infinite() {
        let angle = if x > 0.0 { 0.25 * pi } else { 0.75 * pi };
        return if y < 0.0 { -angle } else { angle };
    }
    if x == 0.0 && y == 0.0 {
        return if x.is_sign_negative() { if y.is_sign_negative() { -pi } else { pi } } else { y };
    }
    if x == 0.0 {
        return if y < 0.0 { -0.5 * pi } else { 0.5 * pi };
    }
    let angle = atan_(y / x);
    if x > 0.0 {
        angle
    } else if y.is_sign_negative() {
        angle - pi
    } else {
        angle + pi
    }
}
""",
    "asin": """\
fn asin_(x: f64) -> f64 {
    atan2_(x, sqrt_((1.0 - x) * (1.0 + x)))
}
""",
    "acos": """\
fn acos_(x: f64) -> f64 {
    2.0 * atan2_(sqrt_(1.0 - x), sqrt_(1.0 + x))
}
""",
    "sinh": """\
fn sinh_(x: f64) -> f64 {
    if x > -0.3 && x < 0.3 {
        let e = small_exp_(x);
        return 0.5 * (e + e / (e + 1.0));
    }
    let e = exp_(0.5 * x);
    0.5 * e * e - 0.5 / e / e
}
""",
    "cosh": """\
fn cosh_(x: f64) -> f64 {
    let e = exp_(0.5 * x);
    0.5 * e * e + 0.5 / e / e
}
""",
    "tanh": """\
fn tanh_(x: f64) -> f64 {
    if x > -0.15 && x < 0.15 {
        let e = small_exp_(2.0 * x);
        return e / (e + 2.0);
    }
    if x > 20.0 || x < -20.0 {
        return if x > 0.0 { 1.0 } else { -1.0 };
    }
    let e = exp_(2.0 * x);
    1.0 - 2.0 / (e + 1.0)
}
""",
}

_NEEDS: dict[str, tuple[str, ...]] = {
    "exp": ("scale", "small_exp"),
    "atan2": ("atan",),
    "asin": ("atan2", "atan", "sqrt"),
    "acos": ("atan2", "atan", "sqrt"),
    "sinh": ("exp", "scale", "small_exp"),
    "cosh": ("exp", "scale", "small_exp"),
    "tanh": ("exp", "scale", "small_exp"),
}


def math_functions(used: Iterable[str]) -> Iterator[str]:
    """The functions, with those they call themselves."""
    wanted = set(used)
    for name in tuple(wanted):
        wanted |= set(_NEEDS.get(name, ()))
    for name, text in _TEXTS.items():
        if name in wanted:
            yield from text.split("\n")


# Rust: a crate without the standard library, without unsafe code and without dependencies.

_MATH = ("sqrt", "exp", "log", "asin", "acos", "atan", "sinh", "cosh", "tanh")
_STD = {"log": "ln"}
_ALLOW = (
    "non_snake_case, unused_parens, unused_variables, clippy::all, clippy::excessive_precision, clippy::approx_constant"
)


def rust_files(unit: Unit) -> dict[str, str]:
    """The manifest and the library of a crate."""
    return {"Cargo.toml": "\n".join(_manifest(unit)), "src/lib.rs": "\n".join(_Rust(unit).lines())}


def _manifest(unit: Unit) -> Iterator[str]:
    yield from (f"# {MARK} {unit.version}.", "[package]", f'name = "{unit.name}"', 'version = "0.1.0"')
    yield from ('edition = "2021"', "", "[lib]", 'path = "src/lib.rs"', "")


def _nested(name: str, index: tuple[int, ...], shape: tuple[int, ...]) -> str:
    return name + ("".join(f"[{one}]" for one in index) or "[0]")


_LOOKUPS = {
    "interval": """
// How many bounds are not above x.
fn interval_(bounds: &[KIND], x: KIND) -> KIND {
    let mut place = 0;
    let mut length = bounds.len();
    while length > 0 {
        let half = (length + 1) / 2;
        if x >= bounds[place + half - 1] {
            place += half;
        }
        length -= half;
    }
    if x == x { place as KIND } else { x }
}""",
    "entry": """
// The value at an index; NaN if it is negative.
fn entry_(values: &[KIND], x: KIND) -> KIND {
    let last = values.len() - 1;
    if x >= 0.0 { values[if x < last as KIND { x as usize } else { last }] } else { KIND::NAN }
}""",
}


class _Rust:
    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.type = "f32" if unit.options.precision is Precision.FLOAT else "f64"
        self.library = unit.options.sines is Sines.LIBRARY
        self.number = partial(
            number_text,
            infinity=f"{self.type}::INFINITY",
            nan=f"{self.type}::NAN",
            precision=unit.options.precision,
        )
        self.syntax = self._syntax()

    def _syntax(self) -> Syntax:
        nested: Element = _nested
        return Syntax(
            define="let {name} = {value};",
            assign="{target} = {value};",
            literal=self._literal,
            functions=self._functions(),
            input=numbered("{0}[{1}]"),
            output=nested,
            scratch=numbered("{0}[{1}]"),
            pair=SinCos("let {name} = sincos_({value});", "{name}.0", "{name}.1"),
            interval="interval_(&{table}, {value})",
            entry="entry_(&{table}, {value})",
        )

    def _literal(self, value: float) -> str:
        # A bare number has no type yet, and methods and comparisons need one.
        text = self.number(value)
        return text if "::" in text else f"{text[:-1]}_{self.type})" if text.endswith(")") else f"{text}_{self.type}"

    def _functions(self) -> dict[str, str]:
        found = {
            "abs": "(if {0} < 0.0 {{ -{0} }} else {{ {0} }})",
            "sign": "(if {0} > 0.0 {{ 1.0 }} else if {0} < 0.0 {{ -1.0 }} else {{ {0} }})",
            "select": "(if {0} >= 0.0 {{ {1} }} else if {0} < 0.0 {{ {2} }} else {{ {0} }})",
        }
        if self.library:
            found |= {name: f"{{0}}.{_STD.get(name, name)}()" for name in _MATH}
            return found | {"atan2": "{0}.atan2({1})"}
        found |= {name: f"({name}_({{0}} as f64) as {self.type})" for name in _MATH}
        return found | {"atan2": f"(atan2_({{0}} as f64, {{1}} as f64) as {self.type})"}

    def lines(self) -> Iterator[str]:
        unit = self.unit
        yield from _comment(heading(unit), "//!")
        if not self.library:
            yield from ("#![no_std]",)
        yield from ("#![forbid(unsafe_code)]", f"#![allow({_ALLOW})]", "")
        yield from (f'pub const DIGEST: &str = "{unit.digest}";', "")
        if unit.parameter_values:
            size = len(unit.parameter_values)
            yield from _comment(["The model's values of the parameters p."], "///")
            yield from self._table(f"pub const PARAMETERS: [{self.type}; {size}]", unit.parameter_values)
            yield ""
        for routine in unit.routines:
            yield from self._routine(routine)
        if unit.options.self_test:
            yield from self._self_test()
        yield from self._helpers()

    def _helpers(self) -> Iterator[str]:
        for name in sorted(self.unit.lookups):
            yield from _LOOKUPS[name].replace("KIND", self.type).splitlines()[1:]
            yield ""
        for name, values in self.unit.tables.items():
            yield "#[allow(non_upper_case_globals)]"
            yield from (*self._table(f"static {name}: [{self.type}; {len(values)}]", values), "")
        if {"sin", "cos"} & self.unit.functions:
            yield from self._sincos()
        if not self.library:
            yield from math_functions(self.unit.functions)

    def _sincos(self) -> Iterator[str]:
        kind = self.type
        yield from (f"fn sincos_(x: {kind}) -> ({kind}, {kind}) {{",)
        if self.library:
            yield from ("    x.sin_cos()", "}", "")
            return
        words = SinCosWords(
            constant="let",
            variable="let mut",
            number=self.number,
            rounded="round_({})",
            quadrant="let quadrant = (low as i32 as u32) & 3;",
            finish=("(sine, cosine)",),
            not_a_number=(f"return ({kind}::NAN, {kind}::NAN);",),
        )
        yield from (*indented(sincos_body(words, self.unit.options.precision)), "}", "")
        yield from (f"fn round_(x: {kind}) -> {kind} {{",)
        yield from (f"    (if x < 0.0 {{ x - 0.5 }} else {{ x + 0.5 }}) as i32 as {kind}", "}", "")

    # functions

    def _declarations(self, routine: Routine) -> list[str]:
        inputs = [f"{field.name}: &[{self.type}; {field.size}]" for field in routine.inputs]
        return [*inputs, *(f"{field.name}: &mut {self._array(field)}" for field in routine.outputs)]

    def _array(self, field: Field) -> str:
        kind = self.type
        for size in reversed(field.shape or (1,)):
            kind = f"[{kind}; {size}]"
        return kind

    def _routine(self, routine: Routine) -> Iterator[str]:
        declared = self._declarations(routine)
        calls: list[str] = []
        if not routine.split:
            calls = emit(routine, 0, self.syntax)
        else:
            size = max(routine.chunks.scratch_size, 1)
            names = ", ".join([*(field.name for field in routine.fields), "&mut s"])
            calls.append(f"let mut s = [0.0; {size}];")
            for number in range(len(routine.chunks.ranges)):
                part = routine.part_name(number)
                head = f"fn {part}({', '.join([*declared, f's: &mut [{self.type}; {size}]'])}) {{"
                yield from (head, *indented(emit(routine, number, self.syntax)), "}", "")
                calls.append(f"{part}({names});")
        yield from _comment(routine_text(routine), "///")
        yield from (f"pub fn {routine.name}({', '.join(declared)}) {{", *indented(calls), "}", "")

    # the self-test

    def _self_test(self) -> Iterator[str]:
        kind = self.type
        yield from _comment([self_test_text(self.unit)], "///")
        yield "pub fn selftest() -> i32 {"
        for number, routine in enumerate(self.unit.routines, start=1):
            yield from indented(["{", *indented(list(self._routine_test(routine, number))), "}"])
        yield from ("    0", "}", "")
        yield from (
            f"fn differ_(found: {kind}, expected: {kind}, tolerance: {kind}) -> bool {{",
            "    let error = found - expected;",
            "    !(error >= -tolerance && error <= tolerance)",
            "}",
            "",
        )
        yield from ("#[cfg(test)]", "mod tests_ {", "    #[test]", "    fn selftest() {")
        yield from ("        assert_eq!(crate::selftest(), 0);", "    }", "}", "")

    def _routine_test(self, routine: Routine, number: int) -> Iterator[str]:
        test = routine.test
        assert test is not None
        for field, values in zip(routine.inputs, test.inputs, strict=True):
            yield from self._table(f"let {field.name}: [{self.type}; {field.size}]", values)
        for field, values in zip(routine.outputs, test.expected, strict=True):
            yield f"let mut {field.name}: {self._array(field)} = {self._zeros(field)};"
            yield from self._table(f"let {field.name}_expected_: [{self.type}; {field.size}]", values)
        names = [f"&{field.name}" for field in routine.inputs] + [f"&mut {field.name}" for field in routine.outputs]
        yield f"crate::{routine.name}({', '.join(names)});"
        for field, tolerance in zip(routine.outputs, test.tolerances, strict=True):
            yield from self._check(field, self.number(tolerance), number)

    def _check(self, field: Field, tolerance: str, number: int) -> Iterator[str]:
        """One loop for every index of the array."""
        shape = field.shape or (1,)
        entry = "".join(f"[i{level}]" for level in range(len(shape)))
        position = "0"
        for level, size in enumerate(shape):
            yield f"{'    ' * level}for i{level} in 0..{size} {{"
            position = f"i{level}" if level == 0 else f"({position})*{size} + i{level}"
        inner = "    " * len(shape)
        yield f"{inner}if differ_({field.name}{entry}, {field.name}_expected_[{position}], {tolerance}) {{"
        yield from (f"{inner}    return {number};", f"{inner}}}")
        yield from (f"{'    ' * level}}}" for level in reversed(range(len(shape))))

    def _zeros(self, field: Field) -> str:
        text = "0.0"
        for size in reversed(field.shape or (1,)):
            text = f"[{text}; {size}]"
        return text

    def _table(self, declaration: str, values: Sequence[float]) -> list[str]:
        return [f"{declaration} = [", *indented(number_lines(values, self.number)), "];"]


def _comment(lines: Sequence[str], sign: str) -> list[str]:
    return [f"{sign} {line}".rstrip() for line in folded(lines)]
