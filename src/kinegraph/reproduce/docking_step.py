"""The docking document's section 7: one step, quantity by quantity, on one platform and on two moving spacecraft."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kinegraph import library
from kinegraph.assembly.assemble import Assembler
from kinegraph.codegen.kernel import Kernel
from kinegraph.codegen.program.interpreted import InterpretedKernel
from kinegraph.compiler.compile import compile
from kinegraph.compiler.request import arguments_of, bound_parameters
from kinegraph.derive.dynamics.inertia_factorization import Factorized
from kinegraph.derive.plan import Plan
from kinegraph.derive.platforms.free_motion import free_motion
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.quantity import parse_list
from kinegraph.derive.quantities.variables import Variables
from kinegraph.derive.tree.expressions import Names
from kinegraph.derive.tree.links import build_tree
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.node import Graph, Output
from kinegraph.io import parse
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.platforms.leg_table import LegType
from kinegraph.model.platforms.recognition import platform_of
from kinegraph.model.states import force_on
from kinegraph.reproduce.docking_legs import (
    Array,
    Chain,
    LegMotion,
    LoopEquations,
    Ring,
    array,
    bias_loads,
    chain_of,
    cross,
    generalized_forces,
    inertia_matrix,
    loop_equations,
    moved,
    on_base,
    zeros,
)
from kinegraph.tasks.platforms.workspace import PlatformLegs

# The platforms for the document's algorithm: one for each type of leg, and one whose ring touches another.

Floats = npt.NDArray[np.float64]

#: A docking ring with our own numbers that touches the plane of a passive ring with one of its sides.
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


_SIDE = """contact side{number} | sphere(Ring({x}, {y}, 0), 0.02), plane((0, 0, 0.65), (0, 0, -1)) | stiffness(4e4),
  exponent(1), damping(2);
"""
_SIDES = ((0.66, 0.0), (-0.33, 0.57), (-0.33, -0.57))


@dataclass(frozen=True)
class State:
    """A state of a platform with closed legs, and the forces of elements there by velocity."""

    q: Floats
    v: Floats
    forces: Floats


def in_contact(legs: float = 1.0) -> Mechanism:
    """The touching ring, with the mass of its legs scaled by `legs`."""
    sides = "".join(_SIDE.format(number=k, x=x, y=y) for k, (x, y) in enumerate(_SIDES, start=1))
    return parse(IN_CONTACT.replace("s = 1", f"s = {legs}") + sides, "docking-ring.kg")


def with_legs(kind: LegType) -> Mechanism:
    """A library platform with legs of this type, in space: without gravity."""
    model, word = ("hunt", "RUS") if kind.has_crank else ("stewart", "UPS")
    lines = library.text(model).replace(f"platform {word}", f"platform {kind.value}").splitlines()
    return parse("\n".join(line for line in lines if not line.startswith("gravity")), f"{kind.value}.kg")


def state_of(mechanism: Mechanism, place: dict[str, float], motion: tuple[float, ...]) -> State:
    """The state of a ring with this pose and velocity: v, then the angular velocity in its own axes."""
    platform = platform_of(mechanism)
    assert platform is not None and platform.moving.quaternion is not None
    ring, turn, own = platform.moving, platform.moving.quaternion, platform.moving.velocities
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


# Section 7: one step of docking, quantity by quantity in the document's order.


@dataclass(frozen=True)
class Leg:
    """Everything of leg k that does not depend on accelerations."""

    chain: Chain
    motion: LegMotion
    loop: LoopEquations
    inertia: Array
    loads: list[tuple[Array, Array]]
    forces: Array


class Step:
    """The document's algorithm for a platform, in one builder; forces are the symbols `tau` of all coordinates."""

    def __init__(self, mechanism: Mechanism, complete: bool = True) -> None:
        platform = platform_of(mechanism)
        assert platform is not None and platform.moving.quaternion is not None
        self.mechanism, self.platform = mechanism, platform
        self.builder = GraphBuilder()
        self.names = Names(self.builder, mechanism, bound_parameters(mechanism, True, {}))
        self._give_forces(mechanism)
        self.tree = build_tree(mechanism, self.names)
        self.complete = complete

    def _give_forces(self, mechanism: Mechanism) -> None:
        symbols = Variables.FORCES.symbols(mechanism)
        scalars = [Scalar(self.builder, self.builder.symbol(one.kind, one.name)) for one in symbols]
        self.names.replace(dict(zip(mechanism.layout.forces, scalars, strict=True)))

    @cached_property
    def ring(self) -> Ring:
        """The ring, with contact forces on it."""
        motion = free_motion(self.platform.moving, self.names)
        moments = self.tree.links[self.tree.bodies[self.platform.moving.body.name].link].moments
        assert all(item.is_zero for item in moments.first), "the document takes the ring's center of mass as its origin"
        second = moments.second
        trace = second.xx + second.yy + second.zz
        inertia = array([[trace * int(i == j) - second.entry(i, j) for j in range(3)] for i in range(3)])
        assert self.platform.moving.quaternion is not None
        force = array([self.names[force_on(name)] for name in self.platform.moving.position])
        moment = array([self.names[force_on(name)] for name in self.platform.moving.quaternion.velocities])
        return Ring(motion, array(motion.rotation), array(motion.spin), moments.mass, inertia, force, moment)

    @cached_property
    def legs(self) -> list[Leg]:
        """All legs."""
        return [self.leg(k) for k in range(len(self.platform.legs))]

    def leg(self, k: int) -> Leg:
        """Leg k alone."""
        chain = chain_of(self.platform.legs[k], self.tree, self.names)
        motion = moved(chain, self.complete)
        loads = bias_loads(chain)
        loop = loop_equations(chain, self.ring, motion)
        return Leg(chain, motion, loop, inertia_matrix(chain), loads, generalized_forces(chain, loads))

    @cached_property
    def velocities(self) -> Array:
        """u."""
        return np.concatenate([array(self.ring.motion.velocity), self.ring.spin])

    def rates(self, leg: Leg) -> Array:
        """p' = H u."""
        return array(leg.loop.H @ self.velocities)

    @cached_property
    def matrix(self) -> Array:
        """A* (5.4)."""
        ring = self.ring
        own = zeros(ring.mass, 6, 6)
        own[:3, :3] = array([[ring.mass * int(i == j) for j in range(3)] for i in range(3)])
        own[3:, 3:] = ring.inertia
        return array(sum((self.reduced(leg)[0] for leg in self.legs), own))

    @cached_property
    def right(self) -> Array:
        """b* (5.4)."""
        ring = self.ring
        own = np.concatenate([ring.force, ring.moment - cross(ring.spin, ring.inertia @ ring.spin)])
        return array(sum((self.reduced(leg)[1] for leg in self.legs), own))

    @cached_property
    def ring_accelerations(self) -> Array:
        """u' (5.3)."""
        solved = Factorized([list(row) for row in self.matrix], range(6), [f"u{i}" for i in range(6)])
        return array(solved.solve(list(self.right)))

    def leg_accelerations(self, leg: Leg) -> Array:
        """p'' = H u' + h."""
        return array(leg.loop.H @ self.ring_accelerations + leg.loop.h)

    def multipliers(self, leg: Leg) -> Array:
        """lambda (6.1): the load of the ring on the leg at the cut joint."""
        return array(leg.loop.dependent_inverse.T @ (leg.inertia @ self.leg_accelerations(leg) - leg.forces))

    def reaction(self, leg: Leg, printed: bool = False) -> Array:
        """Force and moment of a leg on the base; `printed` omits the ring's force on the leg, as (6.3) does."""
        none = zeros(leg.chain.end[0], 3)
        at_end = none, none
        if not printed:
            multipliers = self.multipliers(leg)
            force = leg.motion.axes.T @ multipliers[:3]
            moment = cross(leg.chain.end, force)
            if leg.loop.reaction_axis is not None:
                moment = moment + leg.motion.axes.T @ (leg.loop.reaction_axis * multipliers[3])
            at_end = force, moment
        return np.concatenate(on_base(leg.chain, leg.loads, self.leg_accelerations(leg), at_end))

    def reduced(self, leg: Leg) -> tuple[Array, Array]:
        """The contribution of a leg to A* and b* (5.4)."""
        H = leg.loop.H
        return array(H.T @ leg.inertia @ H), array(H.T @ (leg.forces - leg.inertia @ leg.loop.h))

    def graph(self, **outputs: Array) -> Graph:
        """These arrays as outputs of a graph."""
        found = [Output(name, one.shape, tuple(item.index for item in one.ravel())) for name, one in outputs.items()]
        return self.builder.graph(found)

    def numbers(self, state: State, **outputs: Array) -> dict[str, Floats]:
        """These arrays at a state, without machine code."""
        arguments = arguments_of(self.mechanism, "qdd")
        found = InterpretedKernel(self.graph(**outputs), arguments).flat(
            np.concatenate([state.q, state.v, state.forces])
        )
        ends = np.cumsum([one.size for one in outputs.values()])
        parts = np.split(np.asarray(found), ends[:-1])
        return {name: part.reshape(one.shape) for (name, one), part in zip(outputs.items(), parts, strict=True)}


# Section 7 on two moving spacecraft: the same nine points, including what the document leaves to "both spacecraft". The
# ring's accelerations come from twelve equations, for ring and base together; the document has six, for a base whose
# acceleration is known. So every point is checked independently: against geometry, against loops with multipliers, and
# each spacecraft against Newton's and Euler's laws of one body.

#: The pads of the rings touch; everything moves and rotates.
_PLACE = {"rx": 0.01, "ry": -0.015, "rz": 0.81, "bz": 0.845, "r1": 0.02, "r2": -0.01, "c3": 0.01, "b1": 0.004}
_MOTION = {"cz'": 0.08, "rz'": 0.07, "rx'": 0.01, "bx'": -0.005, "cwx": 0.003, "rwy": 0.02, "bwz": -0.002}
#: Chaser and target in `docking-two-spacecraft`: mass, center of mass on z, moments of inertia about it.
_BODIES = {"c": (8000.0, -2.0, (20000.0, 20000.0, 9000.0)), "b": (25000.0, 3.0, (100000.0, 100000.0, 30000.0))}
#: The foot of leg A on the chaser.
_STAND = np.array([0.65 * np.cos(-np.pi / 18), 0.65 * np.sin(-np.pi / 18), 0.4])


@dataclass(frozen=True)
class Point:
    """One of the points: the value shown, and an independent value if there is one."""

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
        """A quantity at the state, with forces of elements only; legs as loops on request."""
        mechanism, wanted = self.mechanism, parse_list(quantity)
        derivation = Derivation(mechanism, bound_parameters(mechanism, True, {}), Plan(closed_legs=closed_legs))
        graph = derivation.builder.graph([derivation.output(one) for one in wanted])
        arguments = arguments_of(mechanism, wanted)
        given: dict[str, Floats | float] = {"q": self.q, "v": self.v, "tau": np.zeros(len(self.v)), "t": 0.0}
        return np.asarray(InterpretedKernel(graph, arguments)(*(given[one.name] for one in arguments)))

    def points(self) -> Iterator[Point]:
        """In the document's order; 4 and 6, bias and inertia of legs, are checked in 7 and 8."""
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
        """Position and rotation of a body by the first letter of its coordinates."""
        w, x, y, z = (self.q[self.places[f"{letter}{k}"]] for k in range(4))
        skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        turn = np.eye(3) + 2 * w * skew + 2 * skew @ skew
        return np.array([self.q[self.places[letter + one]] for one in "xyz"]), turn

    def _of(self, letter: str, values: Floats) -> tuple[Floats, Floats]:
        """Entries of a body among all velocities: linear in fixed axes, angular in its own rotated into fixed axes."""
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
        """Leg A: its length, its rate and its spring and damper, from the positions of its joints."""
        platform = platform_of(self.mechanism)
        assert platform is not None
        legs = PlatformLegs(self.mechanism, platform)
        ends = []
        for letter, place in (("c", _STAND), ("r", legs.on_platform[0])):
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
        """Force, and moment about the fixed origin, of a spacecraft by Newton's and Euler's laws."""
        mass, height, moments = _BODIES[letter]
        (p, turn), (_, spin), (linear, angular) = (
            self._pose(letter),
            self._of(letter, self.v),
            self._of(letter, accelerations),
        )
        center = turn[:, 2] * height
        inertia = turn @ np.diag(moments) @ turn.T
        force = mass * (linear + np.cross(angular, center) + np.cross(spin, np.cross(spin, center)))
        torque = inertia @ angular + np.cross(spin, inertia @ spin)
        return np.array([*force, *(torque + np.cross(p + center, force))])
