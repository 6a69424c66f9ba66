"""The type of queries."""

from __future__ import annotations

from typing import Any, TypeVar

from sqlalchemy import Select

#: A query of any columns; their types are written differently for SQLAlchemy 2.0 and 2.1.
Query = TypeVar("Query", bound=Select[Any])
