"""Mechanisms: what they are, how to write them in Python, when they are well described, what their numbers are."""

from kinegraph.model.builder import Builder, Q, Rx, Ry, Rz, Sx, Sy, Sz, inertia
from kinegraph.model.evaluate import initial_positions, initial_velocities, number, parameter_values, value
from kinegraph.model.expression import Call, Expression, Name, Number, Operation, Scalar, expression
from kinegraph.model.mechanism import (
    Axis,
    Body,
    Coordinate,
    Inertia,
    Mechanism,
    Parameter,
    Point,
    Quaternion,
    QuaternionCoordinates,
    Rotation,
    Shift,
    Transform,
)
from kinegraph.model.validate import validate

__all__ = [
    "Axis",
    "Body",
    "Builder",
    "Call",
    "Coordinate",
    "Expression",
    "Inertia",
    "Mechanism",
    "Name",
    "Number",
    "Operation",
    "Parameter",
    "Point",
    "Q",
    "Quaternion",
    "QuaternionCoordinates",
    "Rotation",
    "Rx",
    "Ry",
    "Rz",
    "Scalar",
    "Shift",
    "Sx",
    "Sy",
    "Sz",
    "Transform",
    "expression",
    "inertia",
    "initial_positions",
    "initial_velocities",
    "number",
    "parameter_values",
    "validate",
    "value",
]
