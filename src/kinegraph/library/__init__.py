"""Example mechanisms that come with Kinegraph: model files by name, and families generated to any size."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files

from kinegraph.errors import ModelError
from kinegraph.io import parse, write
from kinegraph.model.builder import Builder, Ry, Rz, Sx, Sz, inertia
from kinegraph.model.constraints.builder import frame
from kinegraph.model.expression import PI, Expression, Name
from kinegraph.model.mechanism import Body, Mechanism, Transform
from kinegraph.model.names import did_you_mean


@dataclass(frozen=True)
class Family:
    """Mechanisms of any size: `pendulum-6` is the member of `pendulum-N` with six links."""

    description: str
    build: Callable[[int], Mechanism]
    smallest: int
    largest: int


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
    return member() if member else _stored(name)


@cache
def _stored(name: str) -> Mechanism:
    """Read once: a mechanism does not change."""
    return parse(text(name), f"{name}.kg")


def description(name: str) -> str:
    """One line on the model: the first comment of its file."""
    stem, _, size = name.rpartition("-")
    if f"{stem}-N" in FAMILIES and (size == "N" or size.isdecimal()):
        return FAMILIES[f"{stem}-N"].description.replace("N", size, 1)
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


def four_bars(count: int) -> Mechanism:
    """N four-bars in a row (IFToMM benchmark A02): N + 1 uprights on the ground, joined by couplers at their tops."""
    names = [f"u{i}" for i in range(count + 1)] + [f"c{i}" for i in range(1, count + 1)]
    lines = [f"model n-four-bar-{count};", "gravity 0, -9.81, 0;", f"coordinates {', '.join(names)};"]
    lines.append("initial " + ", ".join(f"u{i}' = -1" for i in range(count + 1)) + ";")
    for i in range(count + 1):
        lines.append(f"Upright{i} | Sx({i}), Rz(u{i}) | Sy(1/2), m(1), Jz(1/12);")
    for i in range(1, count + 1):
        lines.append(f"Coupler{i}~Upright{i - 1} | Sy(1), Rz(c{i} - u{i - 1}) | Sx(1/2), m(1), Jz(1/12);")
        lines.append(f"loop pin{i} | revolute | Coupler{i}: Sx(1) | Upright{i}: Sy(1);")
    lines.append("output B0 = Upright0 (0, 1, 0);")
    return parse("\n".join(lines))


def ring(joints: int) -> Mechanism:
    """A planar loop of N revolute joints, a regular polygon of uniform bars; the first bar is the ground.

    Two chains of equal length start at the ends of the ground bar and are closed in the middle.
    """
    left, right = joints // 2, joints - 1 - joints // 2
    builder = Builder(f"loop-{joints}", gravity=(0, -9.81, 0))
    half = Name(PI)
    turn = Fraction(2, joints) * half
    ends = _bars(builder, "a", left, (), half - turn, -turn), _bars(builder, "b", right, (Sx(1),), turn, turn)
    builder.loop("middle", "revolute", frame(ends[0], Sx(1)), frame(ends[1], Sx(1)))
    return builder.build()


def _bars(
    builder: Builder, letter: str, count: int, shift: tuple[Transform, ...], first: Expression, further: Expression
) -> Body | None:
    """A chain of uniform bars of unit length, the first at an angle, each further one turned against the one before."""
    bar = inertia(mass=1, Jz=Fraction(1, 12), at=[Sx(Fraction(1, 2))])
    angles = [builder.coordinate(f"{letter}{i}", position=further if i > 1 else first) for i in range(1, count + 1)]
    base: Body | None = None
    for i, angle in enumerate(angles, 1):
        base = builder.body(f"{letter.upper()}{i}", base, (*((Sx(1),) if base else shift), Rz(angle)), bar)
    return base


#: The families by their names.
FAMILIES: dict[str, Family] = {
    "pendulum-N": Family(
        "Planar pendulum of N uniform rods of unit length and mass, relative angles", pendulum, 1, 100_000
    ),
    "n-four-bar-N": Family("Row of N four-bars with singular positions (IFToMM benchmark A02)", four_bars, 1, 1000),
    "loop-N": Family("Planar loop of N revolute joints, a regular polygon of uniform bars", ring, 4, 100_000),
}


def _member(name: str) -> Callable[[], Mechanism] | None:
    """How to build a member of a family; None if the name is not one."""
    stem, _, size = name.rpartition("-")
    family = FAMILIES.get(f"{stem}-N")
    if family is None or not re.fullmatch(r"[0-9]{1,9}", size):
        return None
    if not family.smallest <= int(size) <= family.largest:
        remedy = f"choose {family.smallest} to {family.largest}"
        raise ModelError(f"there is no {stem} of size {int(size)}", remedy=remedy)
    return lambda: family.build(int(size))
