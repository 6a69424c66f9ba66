"""Section 7 on two spacecraft that move: the same nine points, what the document leaves to "both spacecraft" included.

The ring's accelerations come from twelve equations, for ring and base together; the document has six, for a base whose
acceleration is known. So every point is held against something else than these equations: against geometry, against
loops with multipliers, and each spacecraft against Newton's and Euler's laws of one body.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kinegraph import library
from kinegraph.assembly.assemble import Assembler
from kinegraph.codegen.program.interpreted import InterpretedKernel
from kinegraph.compiler.request import arguments_of, bound_parameters
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.plan import Plan
from kinegraph.derive.quantities.quantity import parse_list
from kinegraph.io import parse
from kinegraph.model.platforms.recognise import platform_of
from kinegraph.reproduce.docking.model import Floats
from kinegraph.tasks.platforms.legs import LegsInNumbers

#: The pads of the rings touch; everything moves and turns.
_PLACE = {"rx": 0.01, "ry": -0.015, "rz": 0.81, "bz": 0.845, "r1": 0.02, "r2": -0.01, "c3": 0.01, "b1": 0.004}
_MOTION = {"cz'": 0.08, "rz'": 0.07, "rx'": 0.01, "bx'": -0.005, "cwx": 0.003, "rwy": 0.02, "bwz": -0.002}
#: Of chaser and target in `docking-two-spacecraft`: mass, centre of mass on z, moments of inertia about it.
_BODIES = {"c": (8000.0, -2.0, (20000.0, 20000.0, 9000.0)), "b": (25000.0, 3.0, (100000.0, 100000.0, 30000.0))}
#: Where leg A stands on the chaser.
_STAND = np.array([0.65 * np.cos(-np.pi / 18), 0.65 * np.sin(-np.pi / 18), 0.4])


@dataclass(frozen=True)
class Point:
    """One of the points: what is shown, and the same by another way if there is one."""

    name: str
    formula: str
    found: Floats
    wanted: Floats | None = None


class TwoSpacecraft:
    """`docking-two-spacecraft` at a state in which pads of the rings touch."""

    def __init__(self) -> None:
        self.mechanism = parse(library.text("docking-two-spacecraft"), "docking-two-spacecraft.kg")
        found = Assembler(self.mechanism).assemble(_PLACE | _MOTION, 0.0)
        self.q, self.v = found.q, found.v
        self.places = {name: k for k, name in enumerate(self.mechanism.layout.positions)}
        self.rates = {name: k for k, name in enumerate(self.mechanism.layout.velocities)}

    def value(self, quantity: str, closed_legs: bool = True) -> Floats:
        """A quantity at the state, without forces but those of elements; legs as loops on request."""
        mechanism, wanted = self.mechanism, parse_list(quantity)
        derivation = Derivation(mechanism, bound_parameters(mechanism, True, {}), Plan(closed_legs=closed_legs))
        graph = derivation.builder.graph([derivation.output(one) for one in wanted])
        arguments = arguments_of(mechanism, wanted)
        given: dict[str, Floats | float] = {"q": self.q, "v": self.v, "tau": np.zeros(len(self.v)), "t": 0.0}
        return np.asarray(InterpretedKernel(graph, arguments)(*(given[one.name] for one in arguments)))

    def points(self) -> Iterator[Point]:
        """In the document's order; 4 and 6, bias and inertia of legs, show themselves in 7 and 8."""
        forces, qdd, loops = self.value("forces"), self.value("qdd"), self.value("qdd", closed_legs=False)
        yield Point("1. passive ring seen from the active one [m, m/s]", "relative pose", self._relative())
        ring, target = self._about_fixed("r", forces), self._about_fixed("b", forces)
        yield Point("1. contact on the active ring, against that on the passive one", "by the rings", ring, -target)
        yield from self._leg(forces)
        own = [self.rates[name] for name in ("rx'", "ry'", "rz'", "rwx", "rwy", "rwz")]
        yield Point("7. accelerations of the ring, against loops", "A* u' = b* (5.3)", qdd[own], loops[own])
        leg = [self.rates[name] for name in ("A_l'", "A_alpha'", "A_beta'")]
        yield Point("8. accelerations of leg A, against loops", "p'' = H u' + h (4.5)", qdd[leg], loops[leg])
        for name, letter, given in (
            ("8. legs on the chaser, against its motion", "c", self._on_chaser()),
            ("9. contact on the target, against its motion", "b", target),
        ):
            yield Point(f"{name} [N, N m]", "of both spacecraft", given, self._taken(letter, qdd))

    def _pose(self, letter: str) -> tuple[Floats, Floats]:
        """Place and rotation of a body by the first letter of its coordinates."""
        w, x, y, z = (self.q[self.places[f"{letter}{k}"]] for k in range(4))
        skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        turn = np.eye(3) + 2 * w * skew + 2 * skew @ skew
        return np.array([self.q[self.places[letter + one]] for one in "xyz"]), turn

    def _of(self, letter: str, values: Floats) -> tuple[Floats, Floats]:
        """Entries of a body among all velocities: linear in fixed axes, angular in its own turned into fixed axes."""
        linear = values[[self.rates[f"{letter}{one}'"] for one in "xyz"]]
        return linear, self._pose(letter)[1] @ values[[self.rates[f"{letter}w{one}"] for one in "xyz"]]

    def _relative(self) -> Floats:
        (p, turn), (other, _) = self._pose("r"), self._pose("b")
        (v, spin), (far, _) = self._of("r", self.v), self._of("b", self.v)
        return np.array([*(turn.T @ (other - p)), *(turn.T @ (far - v - np.cross(spin, other - p)))])

    def _about_fixed(self, letter: str, forces: Floats) -> Floats:
        """Forces on a free body's coordinates as a force and a moment about the fixed origin."""
        force, torque = self._of(letter, forces)
        return np.array([*force, *(torque + np.cross(self._pose(letter)[0], force))])

    def _leg(self, forces: Floats) -> Iterator[Point]:
        """Leg A: its length, its rate and its spring and damper, from the places of its joints."""
        platform = platform_of(self.mechanism)
        assert platform is not None
        legs = LegsInNumbers(self.mechanism, platform)
        ends = []
        for letter, place in (("c", _STAND), ("r", legs.on_ring[0])):
            (p, turn), (v, spin) = self._pose(letter), self._of(letter, self.v)
            ends.append((p + turn @ place, v + np.cross(spin, turn @ place)))
        line, rate = ends[1][0] - ends[0][0], ends[1][1] - ends[0][1]
        length = np.linalg.norm(line)
        places = np.array([self.q[self.places["A_l"]], self.v[self.rates["A_l'"]]])
        wanted = np.array([length, rate @ line / length])
        yield Point("2., 3. length and rate of leg A, from its joints", "r_C = r_L, p' = H u", places, wanted)
        rest = float(np.sqrt(0.65**2 + 0.6**2 - 2 * 0.65 * 0.6 * np.cos(2 * np.pi / 9) + 0.37**2))
        sprung = np.array([-700 * (wanted[0] - rest) - 250 * wanted[1]])
        yield Point("5. spring and damper of leg A [N]", "-k (l - l_0) - c l'", forces[[self.rates["A_l'"]]], sprung)

    def _on_chaser(self) -> Floats:
        """The sum of all legs, with its moment about the fixed origin."""
        found = self.value("base_reaction")
        return np.array([*found[:3], *(found[3:] + np.cross(self._pose("c")[0], found[:3]))])

    def _taken(self, letter: str, accelerations: Floats) -> Floats:
        """What Newton's and Euler's laws ask of a spacecraft: force, and moment about the fixed origin."""
        mass, height, moments = _BODIES[letter]
        (p, turn), (_, spin), (linear, angular) = (
            self._pose(letter),
            self._of(letter, self.v),
            self._of(letter, accelerations),
        )
        centre = turn[:, 2] * height
        inertia = turn @ np.diag(moments) @ turn.T
        force = mass * (linear + np.cross(angular, centre) + np.cross(spin, np.cross(spin, centre)))
        torque = inertia @ angular + np.cross(spin, inertia @ spin)
        return np.array([*force, *(torque + np.cross(p + centre, force))])
