"""Joints that move nothing with mass, alone or several of them together: found in numbers, and words for an error."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinegraph.derive.dynamics.forward import Factorised
from kinegraph.derive.tree.coordinates import Square
from kinegraph.derive.tree.quasi_velocities import unit_quaternions
from kinegraph.errors import DerivationError
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Kind, Output, Symbol
from kinegraph.graph.proof.prove import prove
from kinegraph.graph.scalar import Scalar
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.expression import names
from kinegraph.model.mechanism import Mechanism, amounts

#: What is left of an entry of the inertia matrix, beside it, may be rounding below this.
_SMALL = 1e-9
_STATES = 3


def massless_remedy(mechanism: Mechanism, velocity: str) -> str:
    """The bodies that a velocity moves, and what loops have to do with it, as further lines of an error."""
    coordinate = velocity.removesuffix("'")
    moved = [
        body.name
        for body in mechanism.bodies
        if any(coordinate in names(amount) for transform in body.transforms for amount in amounts(transform))
    ]
    text = f"\n  {', '.join(moved)} and what stands on it have none" if moved else ""
    if is_constrained(mechanism):
        text += "\n  without loops the tree of records leaves it free: cut another joint (`cut NAME;`), or give it mass"
    return text


def require_inertia(mechanism: Mechanism, inertia: Square, factors: Factorised) -> None:
    """DerivationError, which names the coordinates, if the inertia matrix is singular at every position.

    A graph does not tell that a pivot is zero where sines and cosines cancel: if one is small at random it is proved.
    """
    own = [row[k] for k, row in enumerate(inertia)]
    if not own:
        return
    pivots = [factors.pivots[k] for k in range(len(own))]
    small = np.all(np.abs(_at_random(mechanism, pivots)) <= _SMALL * np.abs(_at_random(mechanism, own)), axis=0)
    first = next((k for k in reversed(factors.order) if small[k]), None)
    if first is None or not _is_zero(mechanism, pivots[first]):
        return
    (matrix, *_) = _at_random(mechanism, [entry for row in inertia for entry in row])
    size = np.sqrt(np.maximum(np.diag(matrix.reshape(len(own), -1)), 1e-300))
    still = np.linalg.svd(matrix.reshape(len(own), -1) / np.outer(size, size))[2][-1]
    velocities = [name for name, part in zip(mechanism.layout.velocities, still, strict=True) if abs(part) > 1e-6]
    raise DerivationError(
        f"forward dynamics: {', '.join(velocities)} can change together so that nothing with mass moves, wherever "
        f"{mechanism.name} is: its inertia matrix is singular\n  leave one of them out, or give a body that they move "
        "mass or moments of inertia (`Jx`, `Jy`, `Jz`)"
    )


def _is_zero(mechanism: Mechanism, scalar: Scalar) -> bool:
    pivot, nothing = (one.builder.graph([Output("pivot", (1,), (one.index,))]) for one in (scalar, scalar.number(0)))
    return bool(prove(pivot, nothing, quaternions=unit_quaternions(mechanism)))


def _at_random(mechanism: Mechanism, scalars: Sequence[Scalar]) -> np.ndarray:
    """Values at some states, with random values of parameters as well: by state and scalar."""
    graph = scalars[0].builder.graph([Output("values", (len(scalars),), tuple(one.index for one in scalars))])
    random = np.random.default_rng(3)
    symbols = [node for node in graph.nodes if isinstance(node, Symbol)]
    low = {symbol.name: 0.5 if symbol.kind is Kind.PARAMETER else -1.2 for symbol in symbols}
    given = {name: random.uniform(least, 1.3, _STATES) for name, least in low.items()}
    for start in mechanism.layout.quaternions:
        parts = [name for name in mechanism.layout.positions[start : start + 4] if name in given]
        length = np.sqrt(sum(given[name] ** 2 for name in parts)) if len(parts) == 4 else 1.0
        given |= {name: given[name] / length for name in parts}
    return np.broadcast_to(interpret(graph, given)["values"], (_STATES, len(scalars)))
