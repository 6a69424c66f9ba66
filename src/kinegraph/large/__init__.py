"""Large systems: `tau`, `qdd` and `energy` by loops over elementary transforms, compiled once for all mechanisms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinegraph.large.system import LoopedSystem
    from kinegraph.model.expression import Scalar
    from kinegraph.model.mechanism import Mechanism


def looped(mechanism: Mechanism, parameters: Mapping[str, Scalar] | None = None) -> LoopedSystem:
    """The mechanism, with numbers for its parameters, as an object with `tau`, `qdd` and `energy`."""
    from kinegraph.large.system import LoopedSystem

    return LoopedSystem(mechanism, parameters)
