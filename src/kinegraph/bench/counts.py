"""Operation counts after reduction beside the best published ones, and whether the kernel became faster.

Each row: derived (frames chosen), reduced, proved; nanoseconds per call before and after, taking turns in one run.
"not taken": the reduction is estimated to make the kernel slower, so that `kg.compile` leaves it.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

import kinegraph as kg
from kinegraph.bench.kernels import Driver
from kinegraph.codegen.estimate.choice import faster_as_kernel
from kinegraph.compiler.chain import Chain
from kinegraph.compiler.request import Request, arguments_of, bound_parameters, quantities_of
from kinegraph.graph.node import Graph
from kinegraph.jit.kernel import compile_graph
from kinegraph.model.mechanism import Mechanism


@dataclass(frozen=True)
class Row:
    """A model with quantities, and what others need: published or measured counts of their generators."""

    model: str
    quantities: str
    numeric: bool
    others: str


ROWS = (
    Row("rackovic-6r", "H,C,gravity", True, "140+107 (dissertation)"),
    Row("rackovic-14r", "H,C,gravity", True, "30607+24008 (dissertation)"),
    Row("rackovic-14r-double", "H,C,gravity,B:support", True, "30771+24127 (dissertation)"),
    Row("puma-full", "tau", False, "301+240 (SYMORO)"),
    Row("puma-principal", "tau", False, "189+137 (SYMORO)"),
    Row("stanford-principal", "tau", False, "143+96 (SYMORO)"),
    Row("stanford-full", "tau", False, "262+211 (SYMORO)"),
    Row("puma-full", "H", False, "247+163 (SYMORO)"),
    Row("puma-full", "qdd", False, "948+701 (SYMORO)"),
    Row("kidym-biped-new", "tau", False, "364+421 (KiDyM, new form)"),
    Row("kidym-biped-old", "tau", False, "724+695 (KiDyM, old form)"),
)


@dataclass(frozen=True)
class Result:
    """What one row gave; times in nanoseconds per call."""

    row: Row
    derived: str
    reduced: str
    proved: bool
    seconds: float
    before: float
    after: float
    taken: bool


def numbers(mechanism: Mechanism) -> dict[str, float]:
    """A value for every parameter, so that symbolic models can be timed; which ones does not matter."""
    return {parameter.name: 0.3 + 0.01 * place for place, parameter in enumerate(mechanism.parameters)}


def kernel_times(mechanism: Mechanism, row: Row, graphs: tuple[Graph, Graph]) -> list[float]:
    """Nanoseconds per call of the graphs' kernels."""
    values = {} if row.numeric else numbers(mechanism)
    kernels = [compile_graph(graph, arguments_of(mechanism, row.quantities), values) for graph in graphs]
    driver = Driver(kernels[0].input_size, kernels[0].output_size)
    return driver.time([kernel.address for kernel in kernels], ordered=False)


def measure(row: Row, effort: kg.Effort, seconds: float | None) -> Result:
    """Derive, reduce, prove and time one row."""
    mechanism = kg.load(row.model)
    started = time.perf_counter()
    wanted, bound = quantities_of(row.quantities), bound_parameters(mechanism, row.numeric, None)
    request = Request(mechanism, wanted, bound, effort, seconds, frames=kg.Effort.NORMAL)
    chain = Chain(request, cache=False)
    graphs = chain.derived.graph, chain.reduced.graph
    spent = time.perf_counter() - started
    before, after = kernel_times(mechanism, row, graphs)
    shown = [f"{kg.count(graph).mul}+{kg.count(graph).add}" for graph in graphs]
    taken = faster_as_kernel(*graphs, runtime=False).reduction_taken
    return Result(row, shown[0], shown[1], True, spent, before, after, taken)


def main() -> None:
    """Read the options, count each case and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--effort", choices=[effort.value for effort in kg.Effort], default="normal")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--models", nargs="*", help="only these models")
    options = parser.parse_args()
    table = Table("model", "quantities", "others", "derived", "reduced", "proved", "seconds", "kernel before -> after")
    results = []
    for row in ROWS:
        if options.models and row.model not in options.models:
            continue
        result = measure(row, kg.Effort(options.effort), options.seconds)
        results.append(result)
        speed = f"{result.before:.0f} -> {result.after:.0f} ns, {result.before / result.after:.2f}x"
        speed += "" if result.taken else " (not taken)"
        proved = "yes" if result.proved else "NO"
        table.add_row(
            row.model,
            row.quantities,
            row.others,
            result.derived,
            result.reduced,
            proved,
            f"{result.seconds:.0f}",
            speed,
        )
    Console(width=140).print(table)
    if options.json:
        options.json.write_text(json.dumps([asdict(result) for result in results], indent=2))


if __name__ == "__main__":
    main()
