"""Versions of a text in the user's store: list them, compare one with the text of the page, keep the text as a new one.

A version holds the text as it was written, with its comments. Files of robots are kept in the model language, which is
what the store reads.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

from sqlalchemy import select

from kinegraph.errors import StoreError
from kinegraph.io import write
from kinegraph.store import tables as schema
from kinegraph.store.catalog import ModelRecord, mechanism_row
from kinegraph.store.database import Store, default_target, open_store
from kinegraph.store.models import default_values
from kinegraph.store.saving import save
from kinegraph.studio.folder import NEW_SUFFIXES
from kinegraph.studio.model_text import read_model
from kinegraph.studio.requests import Arguments, Channel

#: Lines shown before and after a change, and versions listed, the newest ones.
_CONTEXT = 2
_MOST = 100


def _target(arguments: Arguments) -> str:
    return str(arguments.get("store") or default_target())


def _store(arguments: Arguments, create: bool = False) -> Store | None:
    """The store; None if it does not exist yet and is not to be created."""
    target = _target(arguments)
    if not create and "://" not in target and not Path(target).expanduser().exists():
        return None
    return open_store(target, create=create)


def versions(arguments: Arguments, channel: Channel) -> dict[str, object]:
    """The versions of the model of the page, newest first, and which of them has its text."""
    text, name = _text_and_name(arguments)
    found = {"name": name, "store": _target(arguments)}
    store = _store(arguments)
    if store is None:
        return {**found, "versions": []}
    table = schema.mechanism
    wanted = select(table.c.version, table.c.created, table.c.text).where(table.c.name == name)
    with closing(store), store.reading() as connection:
        rows = connection.execute(wanted.order_by(table.c.version.desc()).limit(_MOST)).all()
    return {
        **found,
        "versions": [{"version": row.version, "created": row.created, "same": row.text == text} for row in rows],
    }


def version(arguments: Arguments, channel: Channel) -> dict[str, object]:
    """One version: its text, and the lines in which the text of the page differs from it."""
    text, name = _text_and_name(arguments)
    store = _store(arguments)
    if store is None:
        raise StoreError(f"store {_target(arguments)}: there are no versions yet")
    with closing(store), store.reading() as connection:
        row = mechanism_row(connection, name, int(str(arguments.get("version"))))
    old = str(row._mapping["text"])
    lines = list(changed_lines(old, text))
    return {
        "name": name, "version": row._mapping["version"], "created": row._mapping["created"], "text": old,
        "lines": lines, "added": sum(one["kind"] == "added" for one in lines),
        "removed": sum(one["kind"] == "removed" for one in lines),
    }  # fmt: skip


def keep_version(arguments: Arguments, channel: Channel) -> dict[str, object]:
    """Keep the text of the page as a new version; an unchanged text keeps its number."""
    text, name = _text_and_name(arguments)
    store = _store(arguments, create=True)
    assert store is not None
    with closing(store):
        save(store, ModelRecord(name, text, (), default_values(read_model(arguments))))
    return versions(arguments, channel)


def _text_and_name(arguments: Arguments) -> tuple[str, str]:
    """The text as the store keeps it, and the name of its mechanism."""
    mechanism = read_model(arguments)
    written = Path(str(arguments.get("file") or "model.kg")).suffix.lower() in NEW_SUFFIXES
    text = str(arguments["text"])
    return text if written and not text.lstrip().startswith("<") else write(mechanism), mechanism.name


def changed_lines(old: str, new: str) -> Iterator[Mapping[str, object]]:
    """The lines that were removed and added, with some lines round them; `gap` where lines are left out."""
    before, after = old.splitlines(), new.splitlines()
    groups = difflib.SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(_CONTEXT)
    for k, group in enumerate(groups):
        if k:
            yield {"kind": "gap"}
        for tag, i, j, m, n in group:
            if tag == "equal":
                for line in range(m, n):
                    yield {"kind": "same", "line": line + 1, "text": after[line]}
                continue
            for line in range(i, j):
                yield {"kind": "removed", "line": line + 1, "text": before[line]}
            for line in range(m, n):
                yield {"kind": "added", "line": line + 1, "text": after[line]}
