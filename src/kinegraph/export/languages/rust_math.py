"""Functions Rust has only in its standard library, written out for crates that go without: doubles, a few units in
the last place (roots: one)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
