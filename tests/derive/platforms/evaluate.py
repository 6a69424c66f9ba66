"""Quantities as functions without machine code, by any plan."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from itertools import count

import numpy as np

from kinegraph.codegen.program.interpreted import InterpretedKernel
from kinegraph.compiler.request import arguments_of, bound_parameters
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.quantity import parse_list
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph
from kinegraph.model.mechanism import Mechanism

#: Legs as ordinary loops, with multipliers.
AS_LOOPS = Plan(closed_legs=False)


def derived(mechanism: Mechanism, quantities: str, plan: Plan | None = None) -> Graph:
    """The graph of quantities, nothing reduced."""
    derivation = Derivation(mechanism, bound_parameters(mechanism, True, {}), plan or Plan())
    return derivation.builder.graph([derivation.output(quantity) for quantity in parse_list(quantities)])


#: From so many calls on it takes less to write instructions first.
_MANY = 20


@lru_cache(maxsize=16)
def evaluated(mechanism: Mechanism, quantities: str, plan: Plan | None = None) -> Callable[..., list[np.ndarray]]:
    """A function of the arguments of kernels that gives every quantity in its shape.

    Most are called once or twice: writing instructions for them would take a hundred times longer.
    """
    graph, taken = derived(mechanism, quantities, plan), arguments_of(mechanism, parse_list(quantities))
    names = [symbol.name for one in taken for symbol in one.symbols]
    kernel = cache(lambda: InterpretedKernel(graph, taken))
    calls = count()

    def call(*arguments: np.ndarray) -> list[np.ndarray]:
        if next(calls) >= _MANY:
            return list(kernel().by_name(kernel()(*arguments)).values())
        values = np.concatenate([np.atleast_1d(np.asarray(one, dtype=float)) for one in arguments])
        found = interpret(graph, dict(zip(names, values, strict=True)))
        return [np.asarray(found[output.name]) for output in graph.outputs]

    return call
