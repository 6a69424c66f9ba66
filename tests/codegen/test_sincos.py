"""The sine and cosine written out in LLVM, against Arb."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache

import flint
import numpy as np
import pytest

from kinegraph.codegen.llvm.assembly import Lanes, Writer, library_declarations
from kinegraph.codegen.llvm.module import _ATTRIBUTES
from kinegraph.codegen.llvm.sincos import pair_type, sign_of_sine_function, sincos_function
from kinegraph.jit.engine import LoadedCode, host, object_code

LANES = Lanes(4)
GENERATOR = np.random.default_rng(7)


@cache
def compiled(fused: bool) -> tuple[LoadedCode, Callable[..., None]]:
    writer = Writer()
    x = writer.define(f"load {LANES.type}, ptr %x, align 8")
    pair = writer.define(f"call {pair_type(LANES)} @sincos4({LANES.type} {x})")
    values = [writer.define(f"extractvalue {pair_type(LANES)} {pair}, {part}") for part in (0, 1)]
    values.append(writer.define(f"call {LANES.type} @sign_of_sine4({LANES.type} {x})"))
    for part, value in enumerate(values):
        writer.do(f"store {LANES.type} {value}, ptr {writer.element('%y', part, LANES.type)}, align 8")
    writer.do("ret void")
    function = writer.function("define void @all(ptr %x, ptr %y) #0")
    sines = sincos_function(LANES, fused, inline=True) + sign_of_sine_function(LANES, fused)
    text = library_declarations() + sines + function + _ATTRIBUTES
    code = LoadedCode(object_code(text, host()), "all")
    return code, ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(code.address("all"))


def computed(x: np.ndarray, fused: bool) -> np.ndarray:
    """Sines, cosines, and numbers with the signs of the sines."""
    _, function = compiled(fused)
    padded = np.concatenate([x, np.zeros(-len(x) % 4)])
    results = np.empty((len(padded) // 4, 3, 4))
    for block, result in zip(padded.reshape(-1, 4), results, strict=True):
        function(block.ctypes.data, result.ctypes.data)
    return results.transpose(1, 0, 2).reshape(3, -1)[:, : len(x)]


def sincos(x: np.ndarray, fused: bool) -> tuple[np.ndarray, np.ndarray]:
    sines, cosines, _ = computed(x, fused)
    return sines, cosines


def ulps(value: float, exact: flint.arb) -> float:
    return abs(float((flint.arb(value) - exact).mid())) / math.ulp(float(exact.mid()))


def worst(x: np.ndarray, fused: bool) -> float:
    sines, cosines = sincos(x, fused)
    errors = []
    with flint.ctx.workprec(1400):
        for angle, sine, cosine in zip(x.tolist(), sines.tolist(), cosines.tolist(), strict=True):
            ball = flint.arb(angle)
            errors.append(max(ulps(sine, ball.sin()), ulps(cosine, ball.cos())))
    return max(errors)


RANGES = {
    "small": GENERATOR.uniform(-4, 4, 4000),
    "to a million": GENERATOR.uniform(-1e6, 1e6, 4000),
    "near multiples of a right angle": GENERATOR.integers(1, 636_000, 3000) * (math.pi / 2),
    "neighbors of pi": np.array([math.pi, math.nextafter(math.pi, 4), math.nextafter(math.pi, 3), 355.0, 710.0]),
    "all sizes": np.exp(GENERATOR.uniform(-700, 13.8, 2000)),
}


@pytest.mark.parametrize("name", RANGES)
def test_error_below_one_and_a_half_units_in_the_last_place(name: str) -> None:
    assert worst(RANGES[name], fused=True) < 1.5


@pytest.mark.parametrize("name", RANGES)
def test_without_fused_multiply_add(name: str) -> None:
    assert worst(RANGES[name], fused=False) < 2.3


@pytest.mark.parametrize("fused", [True, False])
def test_huge_angles(fused: bool) -> None:
    huge = np.concatenate([np.exp(GENERATOR.uniform(14, 709, 500)), [2.0**1023]])
    assert worst(np.concatenate([huge, -huge]), fused) < (1.5 if fused else 2.3)


def test_the_double_nearest_to_a_multiple_of_a_right_angle() -> None:
    # The C library itself is eight units off here.
    assert worst(np.array([6381956970095103.0 * 2.0**797]), fused=True) < 10


@pytest.mark.parametrize("fused", [True, False])
def test_a_huge_angle_does_not_disturb_its_neighbors(fused: bool) -> None:
    x = np.array([0.5, 1e300, -2.0, math.inf])
    sines, cosines = sincos(x, fused)
    np.testing.assert_allclose(sines[:3], np.sin(x[:3]), rtol=4e-16)
    np.testing.assert_allclose(cosines[:3], np.cos(x[:3]), rtol=4e-16)
    assert math.isnan(sines[3]) and math.isnan(cosines[3])


@pytest.mark.parametrize("fused", [True, False])
def test_special_values(fused: bool) -> None:
    x = np.array([0.0, -0.0, 5e-324, -5e-324, 1e-310, math.nan, math.inf, -math.inf])
    sines, cosines = sincos(x, fused)
    assert sines[:5].tolist() == x[:5].tolist()
    assert np.signbit(sines[:5]).tolist() == np.signbit(x[:5]).tolist()
    assert cosines[:5].tolist() == [1.0] * 5
    assert np.isnan(sines[5:]).all() and np.isnan(cosines[5:]).all()


@pytest.mark.parametrize("fused", [True, False])
def test_signs_of_sines(fused: bool) -> None:
    multiples = np.arange(-60, 60) * (np.pi / 2)
    near = [multiples, np.nextafter(multiples, np.inf), np.nextafter(multiples, -np.inf)]
    x = np.concatenate([*near, *(GENERATOR.normal(size=400) * scale for scale in (1e-300, 1.0, 1e4, 1e5))])
    sines, _, signs = computed(x, fused)
    np.testing.assert_array_equal(np.sign(signs), np.sign(sines))
    assert np.isnan(computed(np.array([1e10, -1e300, np.inf, np.nan]), fused)[2]).all()
