"""Evaluate stored quantities level by level, reading only the variables they need (the dissertation's Alg. 2.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike
from sqlalchemy import Connection, Table, func, select

from kinegraph.graph.interpret import FloatArithmetic, Floating
from kinegraph.graph.node import Function, Node, Output, Symbol
from kinegraph.store import tables as schema
from kinegraph.store.catalog import StoredGraph, entry_codes, graph_row
from kinegraph.store.database import Store
from kinegraph.store.graphs import needed, read_nodes, read_outputs


def evaluate(
    store: Store, reference: str | int, names: Sequence[str] = (), values: Mapping[str, ArrayLike] | None = None
) -> dict[str, np.ndarray]:
    """Outputs (`H`) or entries (`H11`) of a stored graph at a point; all outputs if none is named.

    Parameters have their stored values unless others are given. Values may be arrays of one common shape, which then
    leads the shape of every result. Equal to `graph.interpret` of the loaded graph, bit for bit.
    """
    with store.reading() as connection:
        graph = graph_row(connection, reference)
        wanted = wanted_outputs(connection, graph, names)
        point = {**stored_values(connection, graph.id), **(values or {})}
        with needed(connection, graph.id, {code for output in wanted for code in output.nodes}) as only:
            computed = _by_level(connection, graph.id, only, FloatArithmetic(point))
    batch = np.broadcast_shapes(*(np.shape(value) for value in point.values())) if point else ()
    return {output.name: _array(output, computed, batch) for output in wanted}


def wanted_outputs(connection: Connection, graph: StoredGraph, names: Iterable[str]) -> list[Output]:
    """The outputs of these names; the name of an entry gives a scalar output of that name.

    A variable that is the negative of a named one gives an output whose name has a minus.
    """
    known = {output.name: output for output in read_outputs(connection, graph.id)}
    wanted = []
    for name in names or known:
        if name in known:
            wanted.append(known[name])
        else:
            ((label, code),) = entry_codes(connection, graph, name).items()
            wanted.append(Output(label if label.startswith("-") else name, (), (code,)))
    return wanted


def stored_values(connection: Connection, graph: int) -> dict[str, float]:
    """The stored values of the symbols of a graph."""
    v = schema.variable
    rows = connection.execute(select(v.c.name, v.c.value).where(v.c.graph == graph, v.c.value.is_not(None)))
    return {row.name: row.value for row in rows}


def _by_level(connection: Connection, graph: int, only: Table, arithmetic: FloatArithmetic) -> dict[int, Floating]:
    highest = connection.execute(select(func.max(only.c.level))).scalar() or 0
    computed: dict[int, Floating] = {}
    with np.errstate(all="ignore"):
        for level in range(highest + 1):
            for code, node in read_nodes(connection, graph, level=level, only=only).items():
                computed[code] = _value(node, computed, arithmetic)
    return computed


def _value(node: Node, computed: Mapping[int, Floating], arithmetic: FloatArithmetic) -> Floating:
    if isinstance(node, Symbol):
        return arithmetic.symbol(node)
    if isinstance(node, Function):
        return arithmetic.function(node.name, [computed[child] for child in node.arguments], lambda: ())
    total: Floating | None = None
    for coefficient, factors in node.terms:
        # The order of `graph.interpret`: a coefficient of one is not multiplied, the first term is not added to zero.
        product: Floating | None = arithmetic.number(coefficient) if coefficient != 1 or not factors else None
        for child, exponent in factors:
            value = computed[child] if exponent == 1 else arithmetic.power(computed[child], exponent)
            product = value if product is None else arithmetic.multiply(product, value)
        assert product is not None  # a coefficient of one has factors
        total = product if total is None else arithmetic.add(total, product)
    return arithmetic.number(0) if total is None else total


def _array(output: Output, computed: Mapping[int, Floating], batch: tuple[int, ...]) -> np.ndarray:
    entries = [np.broadcast_to(computed[code], batch) for code in output.nodes]
    stacked = np.stack(entries, axis=-1) if entries else np.empty((*batch, 0))
    return stacked.reshape((*batch, *output.shape))
