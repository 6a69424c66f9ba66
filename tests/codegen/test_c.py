from __future__ import annotations

import ctypes
import math
import subprocess
from pathlib import Path

import numpy as np
import pytest

from kinegraph.codegen.c import c_source, literal
from kinegraph.codegen.program.binding import Argument, bind
from kinegraph.errors import KernelError
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import FUNCTIONS, Graph, Kind, Output, Symbol
from tests.programs import needs

needs_compiler = needs("cc")

HOSTILE = '"; system("rm -rf /"); //\n*/ %n'


def every_function() -> tuple[Graph, Argument]:
    builder = GraphBuilder()
    names = ("x", HOSTILE, "z")
    x, y, z = (Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in names)
    outputs = [x.apply(name, *(y, z)[: rule.arity - 1]) for name, rule in FUNCTIONS.items()]
    outputs += [x / y - 3 * x * y * z, (x - y) ** 5, -x, x.number(0), x.number(7) / 3]
    graph = builder.graph([Output("all", (len(outputs),), tuple(one.index for one in outputs))])
    return graph, Argument("x", tuple(Symbol(Kind.COORDINATE, name) for name in names))


def run_c(source: str, name: str, x: np.ndarray, size: int, folder: Path) -> np.ndarray:
    (folder / "kernel.c").write_text(source)
    command = ["cc", "-std=c99", "-Wall", "-Werror", "-Wno-unused-function", "-O1", "-fPIC", "-shared"]
    subprocess.run([*command, "kernel.c", "-o", "kernel.so", "-lm"], check=True, cwd=folder)
    function = getattr(ctypes.CDLL(str(folder / "kernel.so")), name)
    y = np.full(size, 99.0)
    function(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data))
    return y


@needs_compiler
@pytest.mark.parametrize("chunk", [2000, 10])
@pytest.mark.parametrize("x", [(0.3, 0.7, -0.2), (-0.5, 0.25, math.nan), (math.nan, 1.0, 2.0)])
def test_c_computes_what_the_graph_means(tmp_path: Path, chunk: int, x: tuple[float, ...]) -> None:
    graph, argument = every_function()
    source = c_source(bind(graph, [argument], {}), "tau", chunk)
    y = run_c(source, "tau", np.array(x), len(graph.outputs[0].nodes), tmp_path)
    values = {symbol.name: value for symbol, value in zip(argument.symbols, x, strict=True)}
    np.testing.assert_allclose(y, interpret(graph, values)["all"], rtol=1e-13, atol=1e-15)


def test_names_never_reach_the_source() -> None:
    graph, argument = every_function()
    assert "system" not in c_source(bind(graph, [argument], {}))


@pytest.mark.parametrize("name", ["", "1f", "a b", "f;g", "naïve", "x" * 64])
def test_a_function_name_must_be_an_identifier(name: str) -> None:
    graph, argument = every_function()
    with pytest.raises(KernelError, match="cannot name a C function"):
        c_source(bind(graph, [argument], {}), name)


@pytest.mark.parametrize("value", [0.1, -0.0, 5e-324, -1.7976931348623157e308, 1 / 3, 1e22])
def test_literals_are_exact(value: float) -> None:
    text = literal(value).strip("()")
    assert float(text) == value and math.copysign(1, float(text)) == math.copysign(1, value)


def test_literals_that_are_no_finite_numbers() -> None:
    assert [literal(value) for value in (math.nan, math.inf, -math.inf)] == ["NAN", "HUGE_VAL", "(-HUGE_VAL)"]
