"""Operation counts after reduction beside the best published ones, and whether the kernel became faster.

Each row: derived (frames chosen), reduced, proved; nanoseconds per call before and after, taking turns in one run.
"not taken": the reduction is estimated to make the kernel slower, so that `kg.compile` leaves it.

`--json FILE` keeps the results, `--against FILE` shows those of another state beside the new ones and says which are
higher. tests/data/counts_1b4bd57.json holds those of the commit of that name, the last before the plan of the house.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

import kinegraph as kg
from kinegraph.codegen.estimate import faster_as_kernel
from kinegraph.compiler.derive import Derivations, derived
from kinegraph.compiler.reduce import reduced
from kinegraph.compiler.request import Request, arguments_of, bound_parameters, quantities_of
from kinegraph.graph.node import Graph
from kinegraph.jit.kernel import compile_graph
from kinegraph.model.mechanism import Mechanism
from kinegraph.reproduce.kernel_timing import KernelCaller


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
    """What one row gave; seconds are the processor's, times of kernels in nanoseconds per call."""

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
    driver = KernelCaller(kernels[0].input_size, kernels[0].output_size)
    return driver.time([kernel.address for kernel in kernels], ordered=False)


def measure(row: Row, effort: kg.Effort, seconds: float | None) -> Result:
    """Derive, reduce, prove and time one row."""
    mechanism = kg.load(row.model)
    started = time.process_time()
    wanted, bound = quantities_of(row.quantities), bound_parameters(mechanism, row.numeric, None)
    request = Request(mechanism, wanted, bound, effort, seconds, frames=kg.Effort.NORMAL)
    derivations = Derivations(request, cache=False)
    graphs = derived(derivations).graph, reduced(derivations).graph
    spent = time.process_time() - started
    before, after = kernel_times(mechanism, row, graphs)
    counts_text = [f"{kg.count(graph).mul}+{kg.count(graph).add}" for graph in graphs]
    taken = faster_as_kernel(*graphs, runtime=False).reduction_taken
    return Result(row, counts_text[0], counts_text[1], True, spent, before, after, taken)


@dataclass(frozen=True)
class Earlier:
    """The counts of another state, by model and quantities: multiplications and additions after reduction."""

    reduced: Mapping[tuple[str, str], tuple[int, int]]

    @classmethod
    def read(cls, path: Path) -> Earlier:
        """What `--json` wrote."""
        rows = json.loads(path.read_text("utf-8"))
        return cls({(one["row"]["model"], one["row"]["quantities"]): operations(one["reduced"]) for one in rows})

    def beside(self, result: Result) -> str:
        """The earlier count, and whether the new one is higher."""
        before = self.reduced.get((result.row.model, result.row.quantities))
        if before is None:
            return "none"
        return f"{before[0]}+{before[1]}" + (" HIGHER NOW" if self.is_lower(result) else "")

    def is_lower(self, result: Result) -> bool:
        """Whether the earlier count was lower."""
        before = self.reduced.get((result.row.model, result.row.quantities))
        return before is not None and sum(before) < sum(operations(result.reduced))

    def verdict(self, results: Sequence[Result]) -> str:
        """How many counts became higher, and which."""
        higher = [f"{one.row.model} {one.row.quantities}" for one in results if self.is_lower(one)]
        known = sum((one.row.model, one.row.quantities) in self.reduced for one in results)
        return f"{len(higher)} of {known} counts higher than before" + (f": {', '.join(higher)}" if higher else "")


def operations(text: str) -> tuple[int, int]:
    """Multiplications and additions of `73+49`."""
    mul, add = text.split("+")
    return int(mul), int(add)


def told(result: Result) -> Result:
    """Say a row as soon as it is done: all of them take minutes."""
    row = result.row
    print(f"{row.model} {row.quantities}: {result.reduced}, {result.seconds:.0f} s", file=sys.stderr, flush=True)
    return result


def table(results: Sequence[Result], earlier: Earlier | None) -> Table:
    """One line for each row."""
    columns = [
        "model",
        "quantities",
        "others",
        "derived",
        "reduced",
        "proved",
        "seconds",
        "kernel unreduced -> reduced",
    ]
    columns[4:4] = ["earlier"] if earlier else []
    printed = Table(*columns)
    for result in results:
        row = result.row
        speed = f"{result.before:.0f} -> {result.after:.0f} ns, {result.before / result.after:.2f}x"
        cells = [row.model, row.quantities, row.others, result.derived, result.reduced]
        cells[4:4] = [earlier.beside(result)] if earlier else []
        cells += ["yes" if result.proved else "NO", f"{result.seconds:.0f}"]
        printed.add_row(*cells, speed + ("" if result.taken else " (not taken)"))
    return printed


def main(words: Sequence[str] | None = None) -> None:
    """Read the options, count each case and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--effort", choices=[effort.value for effort in kg.Effort], default="normal")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    parser.add_argument("--against", type=Path, help="results of another state, written by --json")
    parser.add_argument("--models", nargs="*", help="only these models")
    options = parser.parse_args(words)
    earlier = Earlier.read(options.against) if options.against else None
    chosen = [row for row in ROWS if not options.models or row.model in options.models]
    results = [told(measure(row, kg.Effort(options.effort), options.seconds)) for row in chosen]
    Console(width=150).print(table(results, earlier))
    total = sum(result.seconds for result in results)
    print(f"effort {options.effort}, multiplications + additions, {total:.0f} s of the processor in all")
    if earlier:
        print(earlier.verdict(results))
    if options.json:
        options.json.write_text(json.dumps([asdict(result) for result in results], indent=2))


if __name__ == "__main__":
    main()
