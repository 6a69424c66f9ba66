"""`kinegraph models`: the library."""

from __future__ import annotations

from rich.table import Table

import kinegraph as kg
from kinegraph.cli.common import JsonOption, console, print_json


def run(json: JsonOption = False) -> None:
    """List the mechanisms of the library."""
    rows = [_row(name) for name in kg.library.names()]
    if json:
        print_json({"models": rows, "families": {name: one.description for name, one in kg.library.FAMILIES.items()}})
        return
    table = Table("name", "bodies", "coordinates", "description", box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(str(row[key]) for key in ("name", "bodies", "coordinates", "description")))
    for name, family in kg.library.FAMILIES.items():
        table.add_row(name, "N", "N", family.description)
    console().print(table)


def _row(name: str) -> dict[str, str | int]:
    mechanism = kg.library.mechanism(name)
    return {
        "name": name,
        "bodies": len(mechanism.bodies),
        "coordinates": len(mechanism.layout.positions),
        "description": kg.library.description(name),
    }
