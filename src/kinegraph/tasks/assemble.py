"""`assemble`: a state that satisfies the constraints of a mechanism with loops."""

from __future__ import annotations

from collections.abc import Mapping

from kinegraph.assembly.assemble import Assembler, Assembly
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.model.expressions import Scalar
from kinegraph.tasks.operating_point import named_values


def assemble(
    mechanism: MechanismSource,
    at: Mapping[str, Scalar] | None = None,
    *,
    parameters: Mapping[str, Scalar] | None = None,
    t: float = 0.0,
) -> Assembly:
    """Positions and velocities that fit the constraints, near the model's initial state with the values of `at`."""
    mechanism = mechanism_of(mechanism)
    return Assembler(mechanism, parameters).assemble(named_values(mechanism, at), t)
