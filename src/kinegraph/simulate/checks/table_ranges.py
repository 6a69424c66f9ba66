"""Which table was asked beyond its points at a state: the usual cause of a value that is not a number."""

from __future__ import annotations

import numpy as np

from kinegraph.errors import KinegraphError
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Output
from kinegraph.model.expressions import expressions, postorder, text
from kinegraph.model.tables import Lookup, Outside
from kinegraph.simulate.equations import Equations, row_values
from kinegraph.simulate.formulas import StateNames
from kinegraph.solve.problem import Floats

#: An argument this near an end, relative to the range, has left it in the step that failed.
_NEAR = 0.02


def left_table(equations: Equations, state: Floats) -> str:
    """What to do about the table whose argument is at an end of its points, or beyond; empty if none is.

    state: a complete state, with t, inputs and parameters.
    """
    found: dict[Lookup, None] = {}
    if any(table.outside is Outside.REFUSE for table in equations.mechanism.tables):
        for root in expressions(equations.mechanism):
            lookups = (part for part in postorder(root) if isinstance(part, Lookup))
            found |= dict.fromkeys(part for part in lookups if part.table.outside is Outside.REFUSE)
    said = [words for lookup in found if (words := _left(equations, lookup, state))]
    return said[0] if said else ""


def _left(equations: Equations, lookup: Lookup, state: Floats) -> str:
    builder = GraphBuilder()
    try:
        scalars = StateNames(builder, equations).read(lookup.arguments)
    except KinegraphError:  # names of one element only, such as its stretch
        return ""
    graph = builder.graph([Output("arguments", (len(scalars),), tuple(scalar.index for scalar in scalars))])
    values = row_values(graph, equations.symbols, state[None])["arguments"][0]
    for axis, written, value in zip(lookup.table.axes, lookup.arguments, values, strict=True):
        first, last = float(axis[0]), float(axis[-1])
        room = _NEAR * (last - first)
        if np.isfinite(value) and not first + room <= value <= last - room:
            end, word = (last, "ends") if value > (first + last) / 2 else (first, "begins")
            return (
                f"the table {lookup.function} {word} at {end:g}, and {text(written)} is {value:.6g} there: give it "
                "more points, or write `hold`, `extrapolate` or `periodic` instead of `refuse`"
            )
    return ""
