"""Ways of evaluating one quantity of a mechanism at several states: each takes rows of arguments and gives rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

import kinegraph as kg
from kinegraph.export import ExportOptions, Language
from kinegraph.export.prepare import prepare
from kinegraph.graph.interpret import interpret
from kinegraph.jit.kernel import KernelOptions
from kinegraph.model.mechanism import Mechanism
from kinegraph.store import add, code, evaluate, open_store
from tests.export.languages import build
from tests.interpreted import interpreted
from tests.metamorphic.descriptions import Floats, State

#: One array for each argument of the kernel, one row for each state.
Rows = Sequence[Floats]
Way = Callable[[Mechanism, str, Rows, Path], Floats]


def rows_of(mechanism: Mechanism, quantity: str, states: Sequence[State]) -> Rows:
    arguments = interpreted(mechanism, quantity).arguments
    return [np.array([[state.get(one.name, 0.0) for one in a.symbols] for state in states]) for a in arguments]


def by_instructions(mechanism: Mechanism, quantity: str, rows: Rows, folder: Path) -> Floats:
    kernel = interpreted(mechanism, quantity)
    return np.array([kernel(*row) for row in zip(*rows, strict=True)])


def by_the_graph(mechanism: Mechanism, quantity: str, rows: Rows, folder: Path) -> Floats:
    """The equations as they are printed, interpreted node by node."""
    graph = kg.derive(mechanism, quantity, numeric=True)
    arguments = interpreted(mechanism, quantity).arguments
    values = {
        symbol.name: columns[:, k]
        for one, columns in zip(arguments, rows, strict=True)
        for k, symbol in enumerate(one.symbols)
    }
    found = np.asarray(interpret(graph, values)[quantity])
    return found.reshape(len(rows[0]), -1)


def read_again(mechanism: Mechanism, quantity: str, rows: Rows, folder: Path) -> Floats:
    """The model written and read."""
    return by_instructions(kg.parse(kg.write(mechanism)), quantity, rows, folder)


def compiled(mechanism: Mechanism, quantity: str, rows: Rows, folder: Path) -> Floats:
    kernel = kg.compile(mechanism, quantity)
    return np.array([kernel(*row) for row in zip(*rows, strict=True)])


def batch(mechanism: Mechanism, quantity: str, rows: Rows, folder: Path) -> Floats:
    return np.asarray(kg.compile(mechanism, quantity).batch(*rows))


def lanes(mechanism: Mechanism, quantity: str, rows: Rows, folder: Path) -> Floats:
    options = KernelOptions(lanes=2, cache=False)
    return np.asarray(kg.compile(mechanism, quantity, options=options).batch(*rows))


def over_bodies(mechanism: Mechanism, quantity: str, rows: Rows, folder: Path) -> Floats:
    """Recursions over bodies in place of straight code."""
    return np.asarray(kg.compile(mechanism, quantity, loops=True).batch(*rows))


def exported(language: Language) -> Way:
    def way(mechanism: Mechanism, quantity: str, rows: Rows, folder: Path) -> Floats:
        unit = prepare(mechanism, quantity, ExportOptions())
        built = build(unit, language, folder)
        assert built.selftest() == 0
        return np.array([built.call(unit.routines[0], row)[0] for row in zip(*rows, strict=True)])

    return way


def stored(mechanism: Mechanism, quantity: str, rows: Rows, folder: Path) -> Floats:
    """Numbers computed in a database."""
    store = open_store(str(folder / "models.sqlite"))
    add(store, mechanism, quantity)
    arguments = interpreted(mechanism, quantity).arguments
    values = {s.name: r[:, k] for a, r in zip(arguments, rows, strict=True) for k, s in enumerate(a.symbols)}
    found = evaluate(store, mechanism.name, [quantity], values)[quantity]
    store.close()
    return np.asarray(found)


def stored_code(mechanism: Mechanism, quantity: str, rows: Rows, folder: Path) -> Floats:
    """Program text from a database."""
    store = open_store(str(folder / "models.sqlite"))
    add(store, mechanism, quantity)
    space: dict[str, Callable[..., Floats]] = {}
    exec(code(store, mechanism.name, "python", [quantity]).text, space)
    store.close()
    return space[quantity](*rows)


WAYS: dict[str, Way] = {
    "graph": by_the_graph,
    "read again": read_again,
    "compiled": compiled,
    "batch": batch,
    "lanes": lanes,
    "over bodies": over_bodies,
    "c": exported(Language.C),
    "fortran": exported(Language.FORTRAN),
    "python": exported(Language.PYTHON),
    "store": stored,
    "stored code": stored_code,
}
