"""Example mechanisms that come with Kinegraph: model files by name, and families generated to any size."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from importlib.resources import files

from kinegraph.errors import ModelError
from kinegraph.io import parse, write
from kinegraph.model.builder import Builder, Ry, Sz, inertia
from kinegraph.model.mechanism import Body, Mechanism, Transform
from kinegraph.model.names import did_you_mean

#: Families of mechanisms: `pendulum-6` is the member of `pendulum-N` with six links.
FAMILIES: dict[str, str] = {"pendulum-N": "Planar pendulum of N uniform rods of unit length and mass, relative angles"}

_LARGEST = 100_000
_MODELS = files("kinegraph.library").joinpath("models")


def names() -> tuple[str, ...]:
    """Names of the stored models, sorted; families have members besides (see FAMILIES)."""
    return tuple(sorted(entry.name.removesuffix(".kg") for entry in _MODELS.iterdir() if entry.name.endswith(".kg")))


def text(name: str) -> str:
    """The model in the model language."""
    if member := _member(name):
        return write(member())
    if name not in names():
        remedy = did_you_mean(name, (*names(), *FAMILIES))
        raise ModelError(f"the library has no model {name}", remedy=remedy)
    return _MODELS.joinpath(f"{name}.kg").read_text(encoding="utf-8")


def mechanism(name: str) -> Mechanism:
    """The mechanism of this name, e.g. `puma560` or `pendulum-6`."""
    member = _member(name)
    return member() if member else parse(text(name), f"{name}.kg")


def description(name: str) -> str:
    """One line on the model: the first comment of its file."""
    if _member(name) or name in FAMILIES:
        return FAMILIES["pendulum-N"].replace("N", name.removeprefix("pendulum-"), 1)
    return text(name).partition("\n")[0].removeprefix("#").strip()


def pendulum(links: int) -> Mechanism:
    """The n-link planar pendulum: uniform rods of unit length and mass, relative angles about y."""
    builder = Builder(f"pendulum-{links}", gravity=(0, 0, -9.81))
    rod = inertia(mass=1, Jx=Fraction(1, 12), Jy=Fraction(1, 12), at=[Sz(-0.5)])
    base: Body | None = None
    for link in range(1, links + 1):
        angle = builder.coordinate(f"q{link}", position=1 if link == 1 else 0)
        hinge: tuple[Transform, ...] = (Ry(angle),) if base is None else (Sz(-1), Ry(angle))
        base = builder.body(f"rod{link}", base, hinge, rod)
    builder.point("tip", base, (0, 0, -1))
    return builder.build()


def _member(name: str) -> Callable[[], Mechanism] | None:
    """How to build a member of a family; None if the name is not one."""
    match = re.fullmatch(r"pendulum-([0-9]{1,9})", name)
    if match is None:
        return None
    links = int(match[1])
    if not 1 <= links <= _LARGEST:
        raise ModelError(f"there is no pendulum of {links} links", remedy=f"choose 1 to {_LARGEST}")
    return lambda: pendulum(links)
