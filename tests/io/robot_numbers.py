"""Numbers of a mechanism by the interpreter, to be held against what other engines say."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinegraph.compiler.compile import derive
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
