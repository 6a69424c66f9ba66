"""The platforms the document's algorithm is tried on: one for each type of leg, and one whose ring touches another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kinegraph import library
from kinegraph.compiler.compile import compile
from kinegraph.io import parse
from kinegraph.jit.kernel import Kernel
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.platforms.recognise import platform_of
from kinegraph.model.platforms.records import LegType

Floats = npt.NDArray[np.float64]

#: A docking ring of our own numbers that touches the plane of a passive ring with one of its sides.
IN_CONTACT = """
model docking-ring;
parameters s = 1;
coordinates x, y, z = 0.6;
quaternion (e0, e1, e2, e3) velocity (wx, wy, wz);
Ring | Sx(x), Sy(y), Sz(z), Q(e0, e1, e2, e3) | m(80), Jx(9), Jy(9), Jz(17);
platform UPS | Ring | Sz(0.22), m(4.6*s), Jx(0.07*s), Jy(0.07*s), Jz(0.006*s)
  | Sz(-0.24), m(2.7*s), Jx(0.04*s), Jy(0.04*s), Jz(0.001*s) | damping(350)
  | A: Sx(0.42), Sy(-0.5)   > Sx(0.59), Sy(-0.1), Sz(-0.04)
  | B: Sx(0.42), Sy(0.5)    > Sx(0.59), Sy(0.1), Sz(-0.04)
  | C: Sx(0.22), Sy(0.61)   > Sx(-0.2), Sy(0.56), Sz(-0.04)
  | D: Sx(-0.64), Sy(0.11)  > Sx(-0.39), Sy(0.46), Sz(-0.04)
  | E: Sx(-0.64), Sy(-0.11) > Sx(-0.39), Sy(-0.46), Sz(-0.04)
  | F: Sx(0.22), Sy(-0.61)  > Sx(-0.2), Sy(-0.56), Sz(-0.04);
"""


_SIDE = """bumper side{number} | sphere(Ring({x}, {y}, 0), 0.02), plane((0, 0, 0.65), (0, 0, -1)), stiffness(4e4),
  exponent(1), damping(2);
"""
_SIDES = ((0.66, 0.0), (-0.33, 0.57), (-0.33, -0.57))


@dataclass(frozen=True)
class State:
    """A state of a platform whose legs fit the ring, and the forces of elements there by velocity."""

    q: Floats
    v: Floats
    forces: Floats


def in_contact(legs: float = 1.0) -> Mechanism:
    """The ring that touches, with `legs` times the mass in its legs."""
    sides = "".join(_SIDE.format(number=k, x=x, y=y) for k, (x, y) in enumerate(_SIDES, start=1))
    return parse(IN_CONTACT.replace("s = 1", f"s = {legs}") + sides, "docking-ring.kg")


def with_legs(kind: LegType) -> Mechanism:
    """A platform of the library with legs of this type, in space: without gravity."""
    model, word = ("hunt", "RUS") if kind.has_crank else ("stewart", "UPS")
    lines = library.text(model).replace(f"platform {word}", f"platform {kind.value}").splitlines()
    return parse("\n".join(line for line in lines if not line.startswith("gravity")), f"{kind.value}.kg")


def state_of(mechanism: Mechanism, place: dict[str, float], motion: tuple[float, ...]) -> State:
    """The legs reach a ring at this place that moves so: v, then the angular velocity in its own axes."""
    platform = platform_of(mechanism)
    assert platform is not None and platform.ring.quaternion is not None
    ring, turn, own = platform.ring, platform.ring.quaternion, platform.ring.velocities
    names = mechanism.layout.velocities
    q, v = _ring_at(mechanism, ring.position, turn.names, place), np.zeros(len(names))
    given = set(ring.coordinates)
    q[[k for k, name in enumerate(mechanism.layout.positions) if name not in given]] = value(
        mechanism, "leg_positions", q
    )
    v[[names.index(name) for name in own]] = motion
    v[[k for k, name in enumerate(names) if name not in own]] = value(mechanism, "leg_velocities", q, v)
    return State(q, v, value(mechanism, "forces", q, v))


def _ring_at(
    mechanism: Mechanism, position: tuple[str, ...], quaternion: tuple[str, ...], place: dict[str, float]
) -> Floats:
    """The ring's own coordinates, its quaternion of unit length, and zeros for the legs."""
    index = {name: k for k, name in enumerate(mechanism.layout.positions)}
    q = np.zeros(len(index))
    q[[index[name] for name in position]] = [place[name] for name in position]
    e = np.array([place.get(name, float(name == quaternion[0])) for name in quaternion])
    q[[index[name] for name in quaternion]] = e / np.linalg.norm(e)
    return q


def value(mechanism: Mechanism, quantity: str, *arguments: Floats) -> Floats:
    """A quantity by our own kernel."""
    kernel = compile(mechanism, quantity)
    assert isinstance(kernel, Kernel)
    return np.asarray(kernel(*arguments))
