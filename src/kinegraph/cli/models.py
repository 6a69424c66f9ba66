"""`kinegraph models`: the library."""

from __future__ import annotations

from rich.table import Table

import kinegraph as kg
from kinegraph.cli.common import JsonOption, console, print_json
from kinegraph.library import Family


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
        table.add_row(name, *_sizes(family), family.description)
    console().print(table)


def _sizes(family: Family) -> tuple[str, str]:
    """How many bodies and coordinates the member N of a family has: two members tell."""
    first, second = (family.build(size) for size in (family.smallest, family.smallest + 1))
    pairs = (len(first.bodies), len(second.bodies)), (len(first.layout.positions), len(second.layout.positions))
    bodies, coordinates = (_linear(after - before, before, family.smallest) for before, after in pairs)
    return bodies, coordinates


def _linear(slope: int, count: int, size: int) -> str:
    rest = count - slope * size
    head = "N" if slope == 1 else f"{slope} N"
    return head if not rest else f"{head} {'+' if rest > 0 else '-'} {abs(rest)}"


def _row(name: str) -> dict[str, str | int]:
    mechanism = kg.library.mechanism(name)
    return {
        "name": name,
        "bodies": len(mechanism.bodies),
        "coordinates": len(mechanism.layout.positions),
        "description": kg.library.description(name),
    }
