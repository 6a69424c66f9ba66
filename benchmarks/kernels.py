"""Speed of generated code, as ratios measured in one run: `python -m benchmarks kernels [--json FILE]`.

Against the same graph as C with the C library's sin and cos, compiled by gcc -O3 -march=native (if there is a gcc);
batches against single calls; and the time to compile a graph of 100,000 nodes.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

import kinegraph as kg
from benchmarks.arm import arm, symbols
from kinegraph.codegen.c import c_source
from kinegraph.codegen.program.binding import Argument, bind
from kinegraph.compiler.request import arguments_of
from kinegraph.graph.count import count
from kinegraph.graph.node import Graph
from kinegraph.jit.kernel import KernelOptions, compile_graph
from kinegraph.reproduce.kernel_timing import KernelCaller


@dataclass(frozen=True)
class Figures:
    """Nanoseconds per state; C figures are NaN without gcc. `ordered`: the same 256 states over and over."""

    operations: str
    scalar: float
    c: float
    scalar_ordered: float
    c_ordered: float
    batch: float
    lanes: int
    python_call: float

    @property
    def against_c(self) -> float:
        """Time of the C compiler's code over ours."""
        return self.c / self.scalar

    @property
    def against_c_ordered(self) -> float:
        """The same for the same 256 states over and over."""
        return self.c_ordered / self.scalar_ordered

    @property
    def batch_against_scalar(self) -> float:
        """Time of a call over time of a state in a batch."""
        return self.scalar / self.batch


def best(work: Callable[[], object], repeats: int) -> float:
    """The shortest time of many: what the machine does when nothing else disturbs it."""
    shortest = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest


def gcc_function(source: str, name: str, folder: str) -> int | None:
    """The address of a C function, or None without gcc."""
    if shutil.which("gcc") is None:
        return None
    path = Path(folder) / "kernel.c"
    path.write_text(source)
    library = path.with_suffix(".so")
    command = ["gcc", "-O3", "-march=native", "-fPIC", "-shared", str(path), "-o", str(library), "-lm"]
    subprocess.run(command, check=True)
    return ctypes.cast(getattr(ctypes.CDLL(str(library)), name), ctypes.c_void_p).value


def measure(graph: Graph, arguments: Sequence[Argument], parameters: Mapping[str, float] | None = None) -> Figures:
    """All figures of one graph."""
    kernel = compile_graph(graph, arguments, parameters, KernelOptions(cache=False))
    driver = KernelCaller(kernel.input_size, kernel.output_size)
    with tempfile.TemporaryDirectory() as folder:
        c = gcc_function(c_source(bind(graph, arguments, parameters or {}), "kernel"), "kernel", folder)
        addresses = [kernel.address] + ([c] if c else [])
        random, ordered = ([*driver.time(addresses, mode), float("nan")] for mode in (False, True))
    generator = np.random.default_rng(2)
    rows = 40_000
    states = [generator.uniform(-np.pi, np.pi, size=(rows, len(one.symbols))) for one in arguments]
    kernel.batch(*states)
    batch = 1e9 * best(lambda: kernel.batch(*states), 200) / rows
    state = [one[0] for one in states]
    call = 1e9 * best(lambda: [kernel(*state) for _ in range(1000)], 30) / 1000
    return Figures(str(count(graph)), random[0], random[1], ordered[0], ordered[1], batch, kernel.lanes, call)


def arm_arguments(joints: int) -> list[Argument]:
    """The arguments q, v, a of an arm's kernel."""
    return [Argument(name, some) for name, some in symbols(joints).items()]


def compile_time(joints: int = 905) -> dict[str, float]:
    """Seconds to compile a graph of some 100,000 nodes without the cache; processor time too, for busy machines."""
    graph = arm(joints)
    start, start_processor = time.perf_counter(), time.process_time()
    kernel = compile_graph(graph, arm_arguments(joints), options=KernelOptions(cache=False))
    scalar, processor = time.perf_counter() - start, time.process_time() - start_processor
    state = np.zeros((3, 1, joints))
    start = time.perf_counter()
    kernel.batch(*state)
    batch = time.perf_counter() - start
    return {"nodes": len(graph), "scalar": scalar, "scalar_processor": processor, "batch": batch}


def report(figures: Figures) -> str:
    """The figures as a table."""
    lines = [
        f"graph                         {figures.operations}",
        f"scalar kernel                 {figures.scalar:8.1f} ns   (in order {figures.scalar_ordered:.1f})",
        f"gcc -O3 -march=native, libm   {figures.c:8.1f} ns   (in order {figures.c_ordered:.1f})",
        f"  ratio to scalar             {figures.against_c:8.2f}      (in order {figures.against_c_ordered:.2f})",
        f"batch, {figures.lanes} lanes, all cores     {figures.batch:8.1f} ns per state",
        f"  ratio to scalar             {figures.batch_against_scalar:8.2f}",
        f"call from Python              {figures.python_call:8.0f} ns",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure all kernels and print or write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    puma = kg.load("puma560")
    figures = measure(kg.derive(puma, "tau", numeric=True), arguments_of(puma, "tau"))
    print("PUMA 560 tau")
    print(report(figures))
    print("six-joint arm, all parameters")
    print(report(measure(arm(6), arm_arguments(6))))
    compiling = compile_time()
    print(f"compiling {compiling['nodes']} nodes       {compiling['scalar']:8.1f} s", end="")
    print(f"    (processor {compiling['scalar_processor']:.1f} s; batch code {compiling['batch']:.1f} s)")
    if options.json:
        options.json.write_text(json.dumps({"kernel": asdict(figures), "compile": compiling}, indent=2))


if __name__ == "__main__":
    main()
