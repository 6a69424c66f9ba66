"""KiDyM's gain by native code: its Table 2 and its cube-root rule, measured."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from kinegraph.codegen.c import c_source
from kinegraph.codegen.program.binding import Argument, bind
from kinegraph.codegen.program.interpreted import InterpretedKernel
from kinegraph.compiler.mechanism_source import load
from kinegraph.derive.dynamics.state_rate import NO_FORCES
from kinegraph.errors import KinegraphError
from kinegraph.graph.node import Graph
from kinegraph.jit.kernel import KernelOptions, compile_graph
from kinegraph.reproduce.kernel_timing import KernelCaller, cpu_model
from kinegraph.simulate.equations import VelocityForm, reduced
from kinegraph.simulate.run import simulate

# The cube-root rule: the gain by native code grows as the cube root of the size of its source (python -m benchmarks
# kidym-rule [--json]). Right-hand sides as C, compiled by gcc: sizes of source, object and library as in KiDyM's Table
# 2, and the speedup over our interpreter. The exponent is fitted over all models; the rule says 1/3.

MODELS = (
    "double-pendulum", "wing-nut", "kidym-biped-new", "free-body", "heavy-top", "five-link-tree", "pendulum-3",
    "pendulum-6", "pendulum-12", "puma560", "stanford", "ur5", "rackovic-6r", "rackovic-14r",
)  # fmt: skip


@dataclass(frozen=True)
class Sizes:
    """Sizes of the C source, its object file and its shared library in KB, and the seconds of gcc."""

    source: float
    object: float
    library: float
    compiling: float


@dataclass(frozen=True)
class Measured:
    """A model: sizes, and microseconds of one right-hand side interpreted and compiled."""

    model: str
    sizes: Sizes
    interpreted: float
    native: float

    @property
    def ratio(self) -> float:
        """How many times faster compiled code runs."""
        return self.interpreted / self.native


def measure_gain(model: str) -> Measured:
    """Derive, write as C, compile, time."""
    mechanism = load(model)
    equations = VelocityForm(mechanism, {}, NO_FORCES)
    graph = reduced(equations.rate)
    arguments = [Argument("x", equations.symbols)]
    return Measured(model, built(c_source(bind(graph, arguments, {}))), *_times(graph, arguments))


def _times(graph: Graph, arguments: list[Argument]) -> tuple[float, float]:
    interpreter, kernel = InterpretedKernel(graph, arguments), compile_graph(graph, arguments)
    driver = KernelCaller(kernel.input_size, kernel.output_size)
    x = np.linspace(0.1, 0.9, kernel.input_size)
    interpreted = min(_seconds(lambda: interpreter.flat(x)) for _ in range(30))
    return 1e6 * interpreted, driver.time([kernel.address], ordered=False)[0] / 1000


def _seconds(call: Callable[[], object]) -> float:
    begun = perf_counter()
    call()
    return perf_counter() - begun


def built(source: str) -> Sizes:
    """Compile C as KiDyM does: to an object, and to a library that is loaded at run time."""
    if shutil.which("gcc") is None:
        raise KinegraphError("this benchmark compiles C: install gcc")
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "rhs.c").write_text(source)
        begun = perf_counter()
        subprocess.run(["gcc", "-O1", "-fPIC", "-c", "rhs.c"], cwd=here, check=True)
        subprocess.run(["gcc", "-shared", "rhs.o", "-o", "rhs.so", "-lm"], cwd=here, check=True)
        seconds = perf_counter() - begun
        sizes = [(here / name).stat().st_size / 1000 for name in ("rhs.c", "rhs.o", "rhs.so")]
    return Sizes(sizes[0], sizes[1], sizes[2], seconds)


def exponent(rows: list[Measured]) -> float:
    """The exponent of the ratio as a power of the size of the source, by least squares of the logarithms."""
    sizes, ratios = [row.sizes.source for row in rows], [row.ratio for row in rows]
    return float(np.polyfit(np.log(sizes), np.log(ratios), 1)[0])


def main() -> None:
    """Print the table, or JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks kidym-rule", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print only machine-readable JSON")
    as_json = parser.parse_args().json
    rows = [measure_gain(model) for model in MODELS]
    fitted = exponent(rows)
    if as_json:
        data = [asdict(row) | {"ratio": row.ratio} for row in rows]
        print(json.dumps({"processor": cpu_model(), "models": data, "exponent": fitted}))
        return
    print(cpu_model())
    print(f"{'model':18}{'C, KB':>8}{'object':>8}{'library':>9}{'gcc, s':>8}{'us':>9}{'ns':>8}{'ratio':>7}")
    for row in rows:
        sizes = f"{row.sizes.source:8.1f}{row.sizes.object:8.1f}{row.sizes.library:9.1f}{row.sizes.compiling:8.2f}"
        print(f"{row.model:18}{sizes}{row.interpreted:9.1f}{1000 * row.native:8.1f}{row.ratio:7.0f}")
    print(f"ratio grows as size^{fitted:.2f}; KiDyM's rule says size^0.33")


# Table 2: the same three examples, without and with native code. The document gives no time spans, tolerances or
# numbers of the models, and its machine is unknown: compare ratios only.


@dataclass(frozen=True)
class Published:
    """A row of KiDyM's table: seconds without native code, KB of source, object file and library, seconds to
    compile, seconds with it."""

    without: float
    source: float
    object: float
    library: float
    compiling: float
    native: float

    @property
    def ratio(self) -> float:
        """The published gain by compiled code."""
        return self.without / self.native


@dataclass(frozen=True)
class Example:
    """An example and its simulated duration in seconds."""

    title: str
    model: str
    duration: float
    published: Published


EXAMPLES = (
    Example("double pendulum, second mode", "double-pendulum", 300.0, Published(3.6, 5.0, 9.5, 59.4, 0.47, 3.27)),
    Example("wing nut", "wing-nut", 1000.0, Published(37.3, 11.4, 12.6, 63.0, 0.41, 25.13)),
    Example("walking legs", "kidym-biped-new", 60.0, Published(130.0, 81.3, 27.7, 77.3, 0.80, 48.59)),
)


@dataclass(frozen=True)
class Row:
    """The measurements: as in `Published`, `deriving` are the seconds from the model to reduced equations.

    `sizes` are of the C source and its binaries by gcc, None without gcc; native runs need none of these.
    """

    example: Example
    deriving: float
    without: float
    source: float
    sizes: Sizes | None
    compiling: float
    native: float

    @property
    def ratio(self) -> float:
        """The gain by compiled code, measured."""
        return self.without / self.native

    @property
    def ratio_with_compiling(self) -> float:
        """The gain including the time of compiling."""
        return self.without / (self.native + self.compiling)


def measure_table_2(example: Example, repeats: int = 3) -> Row:
    """Derive, simulate on the interpreter, compile without any cache, simulate in machine code (loops loaded)."""
    mechanism = load(example.model)
    begun = perf_counter()
    equations = VelocityForm(mechanism, {}, NO_FORCES)
    graph = reduced(equations.rate)
    deriving = perf_counter() - begun
    arguments = [Argument("x", equations.symbols)]
    source = c_source(bind(graph, arguments, {}))
    sizes = built(source) if shutil.which("gcc") else None
    compiling = compile_graph(graph, arguments, options=KernelOptions(cache=False)).seconds
    interpreted = simulate(mechanism, example.duration, native=False, progress=False).statistics.seconds
    simulate(mechanism, example.duration / 100, native=True, progress=False)
    runs = [simulate(mechanism, example.duration, native=True, progress=False) for _ in range(repeats)]
    native = min(run.statistics.seconds - run.statistics.loading for run in runs)
    return Row(example, deriving, interpreted, len(source) / 1000, sizes, compiling, native)


if __name__ == "__main__":
    main()
