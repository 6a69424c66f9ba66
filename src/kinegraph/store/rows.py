"""Rows of the tables: bulk insertion, exact rationals in columns, and the parts of a mechanism as rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from functools import lru_cache
from math import inf
from typing import Any, Protocol, TypeVar, cast

from sqlalchemy import Connection, Select, Table, select

from kinegraph.errors import ModelError
from kinegraph.graph.node import Coefficient
from kinegraph.graph.text import exact_text, read_exact
from kinegraph.io import parse
from kinegraph.io.language.writer import constraint_text, contact_text, element_text, loop_text, transform_text
from kinegraph.model.constraints import Frame, row_names
from kinegraph.model.definitions import named_expressions as named
from kinegraph.model.expressions import names, text
from kinegraph.model.mechanism import Body, Mechanism, Quaternion, Rotation, Transform, amounts
from kinegraph.store import tables as schema

# The type of queries.

#: A query of any columns; their types are written differently for SQLAlchemy 2.0 and 2.1.
Query = TypeVar("Query", bound=Select[Any])


# Bulk insertion, past SQLAlchemy's per-row work: a hundred thousand nodes are half a million rows.


class BulkCopy(Protocol):
    """The methods used of a copy into a table."""

    def write_row(self, row: Sequence[object]) -> None:
        """One row."""
        ...


class Cursor(Protocol):
    """The methods used of a psycopg cursor."""

    @property
    def description(self) -> Sequence[NamedColumn] | None:
        """The columns of the answer."""
        ...

    def copy(self, command: str) -> AbstractContextManager[BulkCopy]:
        """Begin a copy."""
        ...

    def execute(self, statement: str, values: Mapping[str, object]) -> object:
        """Run a statement."""
        ...

    def fetchmany(self, size: int) -> list[tuple[object, ...]]:
        """The next rows."""
        ...


class NamedColumn(Protocol):
    """The attributes used of a column of an answer."""

    name: str


class PostgresDriver(Protocol):
    """The methods used of a psycopg connection, which may not be installed."""

    def cursor(self, name: str = "") -> AbstractContextManager[Cursor]:
        """A cursor; a named one is on the server."""
        ...


def insert_rows(connection: Connection, table: Table, rows: Iterable[Sequence[object]]) -> None:
    """Insert rows given as tuples in the order of the table's columns."""
    if connection.dialect.name == "sqlite":
        places = ", ".join("?" for _ in table.columns)
        collected = rows if isinstance(rows, list) else list(rows)
        if collected:
            connection.exec_driver_sql(f"INSERT INTO {_quoted(table.name)} VALUES ({places})", collected)
    else:
        columns = ", ".join(_quoted(column.name) for column in table.columns)
        driver = cast("PostgresDriver", connection.connection.driver_connection)
        command = f"COPY {_quoted(table.name)} ({columns}) FROM STDIN"
        with driver.cursor() as cursor, cursor.copy(command) as copy:
            for row in rows:
                copy.write_row(row)


def _quoted(name: str) -> str:
    return f'"{name}"'


# Exact rationals in a column of doubles, with their text beside them if a double is not exact.

#: Every integer of at most this size is a double.
_WHOLE = 2**53


@lru_cache(maxsize=65536)
def to_columns(value: Coefficient) -> tuple[float, str | None]:
    """The nearest double, and the rational as text unless the double is exact."""
    try:
        double = float(value)
    except OverflowError:
        return (inf if value > 0 else -inf), exact_text(value)
    denominator = value.denominator
    if denominator & (denominator - 1) == 0 and abs(value.numerator) <= _WHOLE and denominator <= _WHOLE:
        return double, None
    return double, exact_text(value)


@lru_cache(maxsize=65536)
def from_columns(double: float, text: str | None) -> Coefficient:
    """The exact value given to `to_columns`, an integer if possible."""
    if text is None:
        whole = int(double)
        return whole if whole == double else Fraction(double)
    return read_exact(text)


def negated(text: str) -> str:
    """The SQL expression for minus an `exact` column (null stays null)."""
    return f"CASE WHEN {text} LIKE '-%' THEN substr({text}, 2) ELSE '-' || {text} END"


# Bodies, transforms, joints, elements, loops, constraints and definitions of a mechanism as rows.

#: A row without the mechanism and its number.
Row = tuple[object, ...]


def write_model_parts(connection: Connection, key: int, model: str, only: Collection[Table] | None = None) -> None:
    """The rows of a mechanism in all tables, or in some; a text not in the model language has none."""
    for table, rows in model_parts(model).items():
        if only is None or table in only:
            insert_rows(connection, table, [(key, ordinal, *row) for ordinal, row in enumerate(rows)])


def write_all_model_parts(connection: Connection, only: Collection[Table]) -> None:
    """The rows of every mechanism in the store, for a store without these tables."""
    m = schema.mechanism
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
