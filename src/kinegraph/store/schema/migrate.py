"""Bringing the tables of an older store up to date: one change, or none."""

from __future__ import annotations

from sqlalchemy import Connection, update

from kinegraph.store.schema import model_tables
from kinegraph.store.schema import tables as schema
from kinegraph.store.schema.model_rows import write_all_model_parts


def migrate(connection: Connection, found: int) -> None:
    """Lead tables of version `found` to the present version."""
    if found < 2:
        _add_model_parts(connection)
    connection.execute(update(schema.identity).values(schema_version=schema.SCHEMA_VERSION))


def _add_model_parts(connection: Connection) -> None:
    """Version 2: tables of a mechanism's parts, filled from the texts of all mechanisms, and of reductions."""
    new = [*model_tables.MODEL_PARTS.values(), model_tables.reduction]
    schema.metadata.create_all(connection, tables=new)
    write_all_model_parts(connection)
