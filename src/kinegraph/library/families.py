"""Families of mechanisms, generated at any size."""

from __future__ import annotations

from fractions import Fraction

from kinegraph.io import parse
from kinegraph.model.builder import Builder, Ry, Rz, Sx, Sz, frame, inertia
from kinegraph.model.expressions import PI, Expression, Name
from kinegraph.model.mechanism import Body, Mechanism, Transform


def pendulum(links: int) -> Mechanism:
    """The n-link planar pendulum: uniform rods of unit length and mass, relative angles about y."""
    builder = Builder(f"pendulum-{links}", gravity=(0, 0, -9.81))
    rod = inertia(mass=1, Jx=Fraction(1, 12), Jy=Fraction(1, 12), at=[Sz(-0.5)])
    base: Body | None = None
    for link in range(1, links + 1):
        angle = builder.coordinate(f"q{link}", position=1 if link == 1 else None)
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


def planar_loop(joints: int) -> Mechanism:
    """A planar loop of N revolute joints, a regular polygon of uniform bars; the first bar is the ground.

    Two chains start at the ends of the ground bar and are closed in the middle.
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
    """A chain of uniform bars of unit length; `first` is the angle of the first bar, `further` that between bars."""
    bar = inertia(mass=1, Jz=Fraction(1, 12), at=[Sx(Fraction(1, 2))])
    angles = [builder.coordinate(f"{letter}{i}", position=further if i > 1 else first) for i in range(1, count + 1)]
    base: Body | None = None
    for i, angle in enumerate(angles, 1):
        base = builder.body(f"{letter.upper()}{i}", base, (*((Sx(1),) if base else shift), Rz(angle)), bar)
    return base
