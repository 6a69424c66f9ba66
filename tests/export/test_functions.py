"""Every function a graph may hold, in every language; and the sines that are written into the code."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import flint
import numpy as np
import pytest

from kinegraph.codegen.llvm import sincos as kernel_sincos
from kinegraph.export import ExportOptions, Language, Precision
from kinegraph.export.languages.syntax import DOUBLE, FLOAT, AngleReduction
from kinegraph.export.prepare import prepare
from kinegraph.export.unit import Unit
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.interpret import interpret
from kinegraph.graph.lookup import lookup_name
from kinegraph.graph.node import FUNCTIONS, Graph, Kind, Output
from tests.export.languages import build
from tests.export.test_numbers import COMPILED, LANGUAGES


def every_function() -> Graph:
    builder = GraphBuilder()
    x, y, z = (Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in "xyz")
    entries = [x.apply(name, *(y, z)[: rule.arity - 1]) for name, rule in FUNCTIONS.items()]
    entries += [x / y - 3 * x * y * z, (x - y) ** 5, -x, x.number(0), x.number(7) / 3]
    entries += [x.apply("atan2", y), y.apply("atan2", x), (10 * x).apply("exp"), (x / 50).apply("sinh"), z.apply("log")]
    entries += [(5 * x).apply("atan"), (3 * x).apply("tanh"), (x / 99).apply("tanh"), (1000 * z).apply("sqrt")]
    bounds, values = lookup_name("interval", [-1, 0, Fraction(1, 3)]), lookup_name("entry", [5, Fraction(-7, 2), 9, 1])
    entries += [one.apply(bounds) for one in (x, y, z, 1 / x)] + [x.apply(bounds).apply(values), y.apply(values)]
    outputs = [Output("all", (len(entries),), tuple(one.index for one in entries))]
    return builder.graph([*outputs, Output("one", (), (x.sin().index,)), Output("two", (1, 2), (x.index, y.index))])


STATES = [(0.3, 0.7, 0.2), (-0.5, 0.25, 3e-5), (0.999, -0.01, 7.5), (-1.0, 2.0, 1e-300), (1e-9, -3.0, 1e300)]


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda one: one.value)
def test_every_function(language: Language, tmp_path: Path) -> None:
    graph = every_function()
    unit = prepare(graph, "", ExportOptions())
    code = build(unit, language, tmp_path)
    assert code.selftest() == 0
    for state in STATES if language in (*COMPILED, Language.PYTHON) else STATES[:1]:
        # NaN as a condition selects nothing; as an argument it stays.
        for values in (state, (math.nan, *state[1:])):
            expected = interpret(graph, dict(zip("xyz", values, strict=True)))
            with np.errstate(all="ignore"):
                for routine in unit.routines:
                    (found,) = code.call(routine, [np.array(values)])
                    want = expected[routine.title]
                    assert found.shape in (want.shape, (1,))
                    np.testing.assert_allclose(found.reshape(want.shape), want, rtol=4e-15, atol=1e-300)


def sine_unit(precision: Precision) -> Unit:
    builder = GraphBuilder()
    x = Scalar(builder, builder.symbol(Kind.COORDINATE, "x"))
    graph = builder.graph([Output("both", (2,), (x.sin().index, x.cos().index))])
    return prepare(graph, "", ExportOptions(precision=precision))


def true_sines(x: float) -> tuple[float, float]:
    with flint.ctx.workprec(300):
        angle = flint.arb(x)
        return float(angle.sin().mid()), float(angle.cos().mid())


def angles(table: AngleReduction, dtype: type) -> list[float]:
    """Random angles of all sizes, and those next to multiples of a right angle, where digits are lost."""
    random = np.random.default_rng(5)
    found = list(random.uniform(-7, 7, 400))
    found += list(random.choice((-1, 1), 400) * 2.0 ** random.uniform(-30, math.log2(table.far) - 1e-6, 400))
    found += [k * math.pi / 2 for k in (0, 1, -1, 2, 3, 5, 17, -1000, 12345, 2**19, -(2**19))]
    found += [sign * bound * (1 + step) for sign in (-1, 1) for bound in (table.near, 1) for step in (-1e-7, 0, 1e-7)]
    limit = table.far * (1 - 1e-6)
    return [float(dtype(x)) for x in found if abs(x) < limit]


@pytest.mark.parametrize("language", [Language.C, Language.RUST], ids=lambda one: one.value)
@pytest.mark.parametrize(
    ("precision", "table", "dtype", "error"),
    [(Precision.DOUBLE, DOUBLE, np.float64, 3e-16), (Precision.FLOAT, FLOAT, np.float32, 1.5e-7)],
)
def test_sines_are_right_at_every_size(
    language: Language, precision: Precision, table: AngleReduction, dtype: type, error: float, tmp_path: Path
) -> None:
    unit = sine_unit(precision)
    code = build(unit, language, tmp_path)
    worst = 0.0
    for x in angles(table, dtype):
        (found,) = code.call(unit.routines[0], [np.array([x])])
        worst = max(worst, *(abs(a - b) for a, b in zip(found, true_sines(x), strict=True)))
    assert worst < error
    for x in (table.far * 2, -math.inf, math.nan):
        (found,) = code.call(unit.routines[0], [np.array([x])])
        assert np.isnan(found).all()


def test_the_constants_are_those_of_the_kernels() -> None:
    assert DOUBLE.parts == kernel_sincos._SPLIT_PARTS
    assert (DOUBLE.sine, DOUBLE.cosine) == (kernel_sincos._SINE, kernel_sincos._COSINE)


def test_products_of_the_parts_are_exact() -> None:
    for table, bits, mantissa in ((DOUBLE, 33, 53), (FLOAT, 12, 24)):
        assert bits + math.log2(table.split) <= mantissa
        with flint.ctx.workprec(300):
            rest = flint.arb.pi() / 2
            for part in table.parts[:-1]:
                numerator = part.as_integer_ratio()[0]
                assert numerator.bit_length() <= bits
                rest -= flint.arb(part)
            assert abs(float((rest - flint.arb(table.parts[-1])).mid())) < 2.0 ** -(2 * mantissa)
