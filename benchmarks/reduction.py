"""Operation counts of the reduction on the models of the record table, beside what is published.

python -m benchmarks reduction [--effort normal] [--seconds 60] [--seed 0] [rackovic-6r ...]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import kinegraph as kg
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.count import count
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.passes.effort import Effort, PassReport
from kinegraph.passes.pipeline import reduce


def library(name: str, quantities: str) -> Graph:
    """Quantities of a model of the library."""
    return kg.derive(kg.load(name), quantities)


def resultant(m: int, n: int) -> Graph:
    """res(m, n): the resultant of two polynomials with symbols for coefficients, fully expanded."""
    from flint import Ordering, fmpz_mpoly_ctx

    names = [f"a{i}" for i in range(m + 1)] + [f"b{i}" for i in range(n + 1)]
    context = fmpz_mpoly_ctx.get([*names, "x"], Ordering.lex)
    *symbols, x = context.gens()
    first = sum((a * x**i for i, a in enumerate(symbols[: m + 1])), context.constant(0))
    second = sum((b * x**i for i, b in enumerate(symbols[m + 1 :])), context.constant(0))
    builder = GraphBuilder()
    ids = [builder.symbol(Kind.INPUT, name) for name in names]
    terms = (
        (int(c), tuple((ids[i], int(e)) for i, e in enumerate(exponents) if e))
        for exponents, c in first.resultant(second, "x").to_dict().items()
    )
    return builder.graph([Output("resultant", (), (builder.polynomial(terms),))])


#: What is measured: a graph, and the best published or measured elsewhere.
CASES: dict[str, tuple[Callable[[], Graph], str]] = {
    "rackovic-6r": (lambda: library("rackovic-6r", "H,C,gravity"), "140+107 published, 67+50 in an earlier study"),
    "rackovic-14r": (lambda: library("rackovic-14r", "H,C,gravity"), "30607+24008 published"),
    "puma-tau": (lambda: library("puma-full", "tau"), "301+240 SYMORO"),
    "puma-H": (lambda: library("puma-full", "H"), "247+163 SYMORO"),
    "res(7,4)": (lambda: resultant(7, 4), "FORM O2 3969, O3 3458, O4 2936 in all"),
}


def main() -> None:
    """Reduce the cases that were asked for and print counts and seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help=", ".join(CASES))
    parser.add_argument("--effort", choices=[effort.value for effort in Effort], default=Effort.NORMAL.value)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    started = time.process_time()
    for name in chosen.cases or CASES:
        measure(name, Effort(chosen.effort), chosen.seconds, chosen.seed)
    print(f"effort {chosen.effort}, seed {chosen.seed}: {time.process_time() - started:.0f} s of the processor in all")


def measure(name: str, effort: Effort, seconds: float | None, seed: int) -> None:
    """Reduce one case, pass by pass."""
    make, published = CASES[name]
    graph = make()
    started = time.process_time()
    reduction = reduce(graph, effort, seconds, seed, on_pass=show)
    after = count(reduction.graph)
    print(f"{name}: {count(graph)}  ->  {after} = {after.total} in all, proved {reduction.proved},", end=" ")
    print(f"{time.process_time() - started:.1f} s of the processor   ({published})", flush=True)


def show(report: PassReport) -> None:
    """One line after each pass."""
    print(f"  {report.name:14} {report.before} -> {report.after}  {report.seconds:.2f} s", flush=True)


if __name__ == "__main__":
    main()
