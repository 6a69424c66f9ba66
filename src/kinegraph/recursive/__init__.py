"""Large systems: `tau`, `qdd` and `energy` by loops over elementary transforms, compiled once for all mechanisms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinegraph.model.expressions import Scalar
    from kinegraph.model.mechanism import Mechanism
    from kinegraph.recursive.systems import RecursiveSystem


def recursive_system(mechanism: Mechanism, parameters: Mapping[str, Scalar] | None = None) -> RecursiveSystem:
    """The mechanism, with numbers for its parameters, as an object with `tau`, `qdd` and `energy`."""
    from kinegraph.recursive.systems import RecursiveSystem

    return RecursiveSystem(mechanism, parameters)
