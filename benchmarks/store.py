"""The store in figures: 100,000 nodes, and the 14R walker complete. `python -m benchmarks store [POSTGRES-URL]`"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import kinegraph as kg
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.store import (
    Form,
    GraphRecord,
    ModelRecord,
    Store,
    add,
    check,
    eliminate,
    evaluate,
    form_expressions,
    kernel,
    load,
    open_store,
    save,
)

T = TypeVar("T")


def timed(what: str, run: Callable[[], T]) -> T:
    """Run, and print how long it took, on the clock and of the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    result = run()
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    print(f"  {what:<56} {clock:8.3f} s ({processor:.3f} s busy)", flush=True)
    return result


def large_graph(nodes: int) -> Graph:
    """A random graph of sums of products."""
    generator = random.Random(0)
    builder = GraphBuilder()
    for number in range(20):
        builder.symbol(Kind.COORDINATE, f"q{number}")
    while len(builder.nodes) < nodes:
        size = len(builder.nodes)
        low = max(0, size - 500)
        pairs = [
            tuple((generator.randrange(low, size), 1) for _ in range(2)) for _ in range(generator.choice((1, 2, 3)))
        ]
        builder.polynomial((generator.choice((1, -1, 2)), pair) for pair in pairs)
    return Graph(tuple(builder.nodes[:nodes]), (Output("y", (3,), (nodes - 1, nodes - 2, nodes - 3)),))


def size(store: Store) -> str:
    """How large the database is, where it is a file."""
    return f"{store.path.stat().st_size / 1e6:.1f} MB" if store.path else "on the server"


def large(store: Store, nodes: int = 100_000) -> None:
    """Save and load many nodes."""
    graph = large_graph(nodes)
    print(f"{nodes} nodes")
    record = ModelRecord("large", "model large;", (GraphRecord("initial", ("y",), graph),))
    timed("save (to be under 5 s)", lambda: save(store, record))
    loaded = timed("load (to be under 3 s)", lambda: load(store, "large"))
    print(f"  equal to what was saved: {loaded == graph}; {size(store)}")


def walker(store: Store) -> None:
    """The 14R walker with everything there is about it."""
    print("rackovic-14r: H, C, gravity")
    name = "rackovic-14r"
    saved = timed("derive, reduce, prove, save both graphs", lambda: add(store, kg.load(name), "H,C,gravity"))
    graphs = timed("load both graphs", lambda: [load(store, graph) for graph in saved.graphs])
    form = Form(numeric=True, sums=True)
    found = timed("form and keep the analytic expressions of H", lambda: form_expressions(store, name, "H", form, True))
    print(f"  {sum(len(e.terms) for e in found)} terms; nodes {', '.join(str(len(graph)) for graph in graphs)}")
    timed("read these expressions", lambda: form_expressions(store, name, "H", form))
    values = {symbol.name: 0.1 * number for number, symbol in enumerate(graphs[-1].symbols())}
    numbers = timed("evaluate all outputs by level", lambda: evaluate(store, name, values=values))
    expected = interpret(graphs[-1], values)
    print(f"  equal to the interpreter: {all((numbers[key] == expected[key]).all() for key in expected)}")
    timed("eliminate neutral elements and identical expressions", lambda: eliminate(store, f"{name}:initial"))
    kernel(store, name)
    timed("from the store to a running kernel, code in the cache", lambda: kernel(store, name))
    report = timed("check the whole store", lambda: check(store))
    print(f"  whole: {bool(report)}; {size(store)}")


def main() -> None:
    """Time writing, reading and asking in a database that is thrown away."""
    with tempfile.TemporaryDirectory() as directory:
        for part in (large, walker):
            target = sys.argv[1] if len(sys.argv) > 1 else str(Path(directory) / f"{part.__name__}.sqlite")
            store = open_store(target)
            part(store)
            store.close()


if __name__ == "__main__":
    main()
