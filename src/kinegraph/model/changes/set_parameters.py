"""Other values for the parameters of a mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kinegraph.errors import ModelError
from kinegraph.model.expression import Scalar, expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.model.validation.mechanism import validate


def with_parameters(mechanism: Mechanism, values: Mapping[str, Scalar]) -> Mechanism:
    """The mechanism whose parameters have these values: numbers, or expressions of other parameters."""
    known = {parameter.name for parameter in mechanism.parameters}
    for name in values:
        if name not in known:
            raise ModelError(f"{mechanism.name} has no parameter {name!r}", remedy=did_you_mean(name, known))
    given = {name: expression(value, name) for name, value in values.items()}
    changed = replace(
        mechanism,
        parameters=tuple(replace(one, value=given.get(one.name, one.value)) for one in mechanism.parameters),
    )
    validate(changed)
    return changed
