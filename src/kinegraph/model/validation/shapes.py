"""Whether the shapes of a mechanism are well described."""

from __future__ import annotations

from collections.abc import Iterator

from kinegraph.errors import ModelError
from kinegraph.model.evaluate import known_parameter_values, number
from kinegraph.model.expression import PI, names
from kinegraph.model.mechanism import Mechanism, amounts
from kinegraph.model.names import did_you_mean
from kinegraph.model.places import Places
from kinegraph.model.robot.data import FORMS, Shape
from kinegraph.model.validation.expressions import Site
from kinegraph.model.validation.kinds import PARAMETERS


def shape_sites(mechanism: Mechanism, places: Places) -> Iterator[Site]:
    """Every expression of the shapes: only parameters and numbers may be used."""
    for shape in _shapes(mechanism):
        what = f"a {shape.kind.value} on {shape.body or 'the fixed frame'}"
        placed = (amount for transform in shape.place for amount in amounts(transform))
        for item in (*shape.sizes, *placed):
            yield Site(item, what, PARAMETERS, places.of(shape))


def check_shapes(mechanism: Mechanism, places: Places) -> None:
    """Shapes stand on bodies that exist, and none has a negative size."""
    known = {body.name for body in mechanism.bodies}
    values = known_parameter_values(mechanism, places)
    for shape in _shapes(mechanism):
        if shape.body is not None and shape.body not in known:
            message = f"a {shape.kind.value} belongs to {shape.body}, which is no body"
            raise ModelError(message, places.of(shape), did_you_mean(shape.body, known))
        for size in shape.sizes if shape.kind in FORMS else ():
            if names(size) <= values.keys() | {PI} and number(size, values) < 0:
                message = f"a {shape.kind.value} on {shape.body or 'the fixed frame'} has a negative size"
                raise ModelError(message, places.of(shape), "write lengths that are not below zero")


def _shapes(mechanism: Mechanism) -> Iterator[Shape]:
    return (extra for extra in mechanism.extras if isinstance(extra, Shape))
