"""`assemble`: a state that fits the constraints of a mechanism with loops."""

from __future__ import annotations

from collections.abc import Mapping

from kinegraph.assembly.assemble import Assembler, Assembly
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.model.expressions import Scalar
from kinegraph.tasks.operating_point import named_values


def assemble(
    model: MechanismSource,
    state: Mapping[str, Scalar] | None = None,
    *,
    parameters: Mapping[str, Scalar] | None = None,
    t: float = 0.0,
) -> Assembly:
    """Positions and velocities that fit the constraints, near the model's initial state with the values of `at`."""
    mechanism = mechanism_of(model)
    return Assembler(mechanism, parameters).assemble(named_values(mechanism, state), t)
