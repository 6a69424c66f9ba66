"""The library of example mechanisms: model files by name, and families of any size."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from kinegraph import io
from kinegraph.errors import ModelError
from kinegraph.lazy_imports import Functions
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean

if TYPE_CHECKING:
    from kinegraph.library import families
else:
    families = Functions("kinegraph.library.families")


@dataclass(frozen=True)
class Family:
    """A family of mechanisms of any size: `pendulum-6` is the member of `pendulum-N` with six links."""

    description: str
    build: Callable[[int], Mechanism]
    smallest: int
    largest: int


#: A table of a stored model from a file of two columns.
_FILE = re.compile(r'file\("([\w-]+\.csv)"(?:, *\w+, *\w+)?\)')
_MODELS = files("kinegraph.library").joinpath("models")


def names() -> tuple[str, ...]:
    """The names of the stored models, sorted, without members of families (see FAMILIES)."""
    return tuple(sorted(entry.name.removesuffix(".kg") for entry in _MODELS.iterdir() if entry.name.endswith(".kg")))


def text(name: str) -> str:
    """The text of a model in the model language."""
    if member := _member(name):
        return io.write(member())
    if name not in names():
        remedy = did_you_mean(name, (*names(), *FAMILIES))
        raise ModelError(f"unknown library model '{name}'", remedy=remedy)
    written = _MODELS.joinpath(f"{name}.kg").read_text(encoding="utf-8")
    return _FILE.sub(_points, written)


def _points(found: re.Match[str]) -> str:
    """The points of a file of a table: the text of a model stands for itself, without files beside it."""
    rows = _MODELS.joinpath(found[1]).read_text(encoding="utf-8").splitlines()
    pairs = [row.split(",") for row in rows if row[:1].isdecimal()]
    return ", ".join(f"({x}, {y})" for x, y in pairs)


def mechanism(name: str) -> Mechanism:
    """The mechanism of this name, e.g. `puma560` or `pendulum-6`."""
    member = _member(name)
    return member() if member else _stored(name)


@cache
def _stored(name: str) -> Mechanism:
    """The stored mechanism; read once, because mechanisms are immutable."""
    return io.parse(text(name), f"{name}.kg")


def description(name: str) -> str:
    """A one-line description: the first comment of the model file."""
    stem, _, size = name.rpartition("-")
    if f"{stem}-N" in FAMILIES and (size == "N" or size.isdecimal()):
        return FAMILIES[f"{stem}-N"].description.replace("N", size, 1)
    return text(name).partition("\n")[0].removeprefix("#").strip()


#: The families by name.
FAMILIES: dict[str, Family] = {
    "pendulum-N": Family(
        "Planar pendulum of N uniform rods of unit length and mass, relative angles", families.pendulum, 1, 100_000
    ),
    "n-four-bar-N": Family(
        "Row of N four-bars with singular positions (IFToMM benchmark A02)", families.four_bars, 1, 1000
    ),
    "loop-N": Family(
        "Planar loop of N revolute joints, a regular polygon of uniform bars", families.planar_loop, 4, 100_000
    ),
}


def _member(name: str) -> Callable[[], Mechanism] | None:
    """A function that builds a member of a family; None if the name is not a member."""
    stem, _, size = name.rpartition("-")
    family = FAMILIES.get(f"{stem}-N")
    if family is None or not re.fullmatch(r"[0-9]{1,9}", size):
        return None
    if not family.smallest <= int(size) <= family.largest:
        remedy = f"choose a size from {family.smallest} to {family.largest}"
        raise ModelError(f"{stem} of size {int(size)} is not available", remedy=remedy)
    return lambda: family.build(int(size))
