"""Bodies, transforms, joints, elements, loops, constraints and definitions of a mechanism as rows of their tables."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlalchemy import Connection, Table, select

from kinegraph.errors import ModelError
from kinegraph.io import parse
from kinegraph.io.records.write import transform_text
from kinegraph.io.records.write_constraints import constraint_text, contact_text, loop_text
from kinegraph.io.records.write_elements import element_text
from kinegraph.model.constraints.records import Frame, row_names
from kinegraph.model.definitions import named_expressions as named
from kinegraph.model.expression import names
from kinegraph.model.expression_text import text
from kinegraph.model.mechanism import Body, Mechanism, Quaternion, Rotation, Transform, amounts
from kinegraph.store.schema import model_tables as schema
from kinegraph.store.schema import tables
from kinegraph.store.schema.bulk import insert_rows

#: A row without the mechanism and its number.
Row = tuple[object, ...]


def write_model_parts(connection: Connection, key: int, model: str, only: Collection[Table] | None = None) -> None:
    """The rows of a mechanism in all tables, or in some; a text that is not of the model language has none."""
    for table, rows in model_parts(model).items():
        if only is None or table in only:
            insert_rows(connection, table, [(key, ordinal, *row) for ordinal, row in enumerate(rows)])


def write_all_model_parts(connection: Connection, only: Collection[Table]) -> None:
    """The rows of every mechanism in the store, for a store that did not have these tables."""
    m = tables.mechanism
    for row in connection.execute(select(m.c.id, m.c.text)).all():
        write_model_parts(connection, row.id, row.text, only)


def model_parts(model: str) -> dict[Table, list[Row]]:
    """The rows of all tables for a model's text."""
    try:
        mechanism = parse(model)
    except ModelError:
        return {table: [] for table in schema.MODEL_PARTS.values()}
    return {
        schema.body: [_body(one) for one in mechanism.bodies],
        schema.transform: [row for one in mechanism.bodies for row in _transforms(one)],
        schema.joint: list(_joints(mechanism)),
        schema.element: [(one.name, type(one).__name__.lower(), element_text(one)) for one in mechanism.elements],
        schema.loop: list(_loops(mechanism)),
        schema.constraint_equation: list(_constraints(mechanism)),
        schema.definition: [(one.name, type(one).__name__.lower(), text(one.value)) for one in named(mechanism)],
    }


def _body(body: Body) -> Row:
    inertia = body.inertia
    moments = (inertia.mass, inertia.Jx, inertia.Jy, inertia.Jz, inertia.Jxy, inertia.Jyz, inertia.Jxz)
    return body.name, body.base, *(text(one) for one in moments)


def _transforms(body: Body) -> Iterator[Row]:
    for place, transforms in (("link", body.transforms), ("central", body.inertia.central)):
        for position, one in enumerate(transforms):
            amount = ", ".join(text(value) for value in amounts(one))
            yield body.name, place, position, type(one).__name__.lower(), _axis(one), amount


def _joints(mechanism: Mechanism) -> Iterator[Row]:
    """Every transform that coordinates move."""
    coordinates = mechanism.layout.positions
    for body in mechanism.bodies:
        for one in body.transforms:
            moved_by = set().union(*(names(value) for value in amounts(one)))
            if moved_by.intersection(coordinates):
                moving = ",".join(name for name in coordinates if name in moved_by)
                yield body.name, body.base, _joint_kind(one), _axis(one), moving


def _joint_kind(transform: Transform) -> str:
    if isinstance(transform, Quaternion):
        return "spherical"
    return "revolute" if isinstance(transform, Rotation) else "prismatic"


def _axis(transform: Transform) -> str | None:
    return None if isinstance(transform, Quaternion) else transform.axis.name.lower()


def _loops(mechanism: Mechanism) -> Iterator[Row]:
    for one in mechanism.loops:
        first, second = (_end(end) for end in (one.first, one.second))
        yield one.name, one.type.value, first, second, len(row_names(one)), loop_text(one, transform_text)


def _end(end: Frame | str) -> str | None:
    """The body of a frame, or the coordinate of a coupling."""
    return end.body if isinstance(end, Frame) else end


def _constraints(mechanism: Mechanism) -> Iterator[Row]:
    yield from ((one.name, "constraint", constraint_text(one)) for one in mechanism.constraints)
    yield from ((one.name, "contact", contact_text(one)) for one in mechanism.contacts)
