"""The counterpart of KiDyM's Table 2: the same three examples, without and with native code.

The document gives no time spans, tolerances or numbers of the models, and its machine is unknown: compare ratios only.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from time import perf_counter

from kinegraph.codegen.c import c_source
from kinegraph.codegen.program.binding import bind
from kinegraph.compiler.load import load
from kinegraph.derive.dynamics.state_rate import NO_FORCES
from kinegraph.jit.kernel import Argument, KernelOptions, compile_graph
from kinegraph.reproduce.kidym.rule import Sizes, built
from kinegraph.simulate.equations import VelocityForm, reduced
from kinegraph.simulate.run import simulate


@dataclass(frozen=True)
class Published:
    """A row of KiDyM's table: seconds without native code, KB of source, object file and library, seconds to compile,
    seconds with it."""

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
    """An example and the seconds of motion that are simulated."""

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
    """What was measured: as in `Published`, `deriving` are the seconds from the model to reduced equations.

    `sizes` are of the C source and what gcc makes of it, None without gcc; native runs need none of these.
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
        """The gain where compiling is counted too."""
        return self.without / (self.native + self.compiling)


def measure(example: Example, repeats: int = 3) -> Row:
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
