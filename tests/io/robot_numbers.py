"""Numbers of a mechanism by the interpreter, to be held against what other engines say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinegraph.compiler.compile import derive
from kinegraph.compiler.request import bound_parameters
from kinegraph.derive.plan import ForwardMethod, Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.graph.interpret import interpret
from kinegraph.model import Mechanism


class Own:
    """Quantities of a mechanism at one state after another; derived once."""

    def __init__(self, mechanism: Mechanism, wanted: list[str]) -> None:
        self.mechanism = mechanism
        self.graph = derive(mechanism, wanted, numeric=True)

    def at(self, state: dict[str, Any]) -> dict[str, np.ndarray]:
        groups = {
            "q": self.mechanism.layout.positions,
            "v": self.mechanism.layout.velocities,
            "a": self.mechanism.layout.accelerations,
            "force": self.mechanism.layout.forces,
        }
        values = {name: x for key, names in groups.items() for name, x in zip(names, state.get(key, ()), strict=False)}
        return interpret(self.graph, values)


def relative_error(found: np.ndarray, expected: Any) -> float:
    """The largest deviation beside the largest entry."""
    return float(np.abs(found - np.array(expected)).max() / np.abs(np.array(expected)).max())


class Derived:
    """Quantities of a mechanism as they are first derived, without a search for the shortest form."""

    def __init__(self, mechanism: Mechanism, wanted: Sequence[str]) -> None:
        self.layout = mechanism.layout
        plan = Plan(forward=ForwardMethod.ARTICULATED)
        derivation = Derivation(mechanism, bound_parameters(mechanism, True, None), plan)
        self.graph = derivation.builder.graph([derivation.output(Quantity(*word.split(":"))) for word in wanted])

    def at(
        self, q: Sequence[float], v: Sequence[float] = (), u: Sequence[float] = (), z: Sequence[float] = ()
    ) -> dict[str, np.ndarray]:
        """The quantities at positions, velocities, inputs and first-order states, without forces."""
        rates = v or [0.0] * len(self.layout.velocities)
        given = dict(zip(self.layout.positions, q, strict=True)) | dict(zip(self.layout.velocities, rates, strict=True))
        given |= dict(zip(self.layout.inputs, u, strict=True)) | dict(zip(self.layout.states, z, strict=True))
        return interpret(self.graph, given | dict.fromkeys(self.layout.forces, 0.0))
