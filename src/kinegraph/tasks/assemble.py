"""`assemble`: a state that satisfies the constraints of a mechanism with loops."""

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
    """Find positions and velocities that satisfy all loops and constraints, near the model's initial state.

    state: values to keep where possible. t: the time.
    """
    mechanism = mechanism_of(model)
    return Assembler(mechanism, parameters).assemble(named_values(mechanism, state), t)
