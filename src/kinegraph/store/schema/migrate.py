"""Bringing the tables of an older store up to date: one change, or none."""

from __future__ import annotations

from sqlalchemy import Connection, Table, update

from kinegraph.store.schema import model_tables
from kinegraph.store.schema import tables as schema
from kinegraph.store.schema.model_rows import write_all_model_parts


def migrate(connection: Connection, found: int) -> None:
    """Lead tables of version `found` to the present version."""
    definition = model_tables.definition
    if found < 2:
        _add_model_parts(connection, [one for one in model_tables.MODEL_PARTS.values() if one is not definition])
        schema.metadata.create_all(connection, tables=[model_tables.reduction])
    if found < 3:
        _add_model_parts(connection, [definition])
    from kinegraph.store.write.defined import write_all_defined  # writing stands on this package

    schema.metadata.create_all(connection, tables=[schema.defined])
    write_all_defined(connection)
    connection.execute(update(schema.identity).values(schema_version=schema.SCHEMA_VERSION))


def _add_model_parts(connection: Connection, new: list[Table]) -> None:
    """Tables of mechanisms' parts, filled from the texts of all mechanisms."""
    schema.metadata.create_all(connection, tables=new)
    write_all_model_parts(connection, new)
