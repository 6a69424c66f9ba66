"""Dynamics of a platform: six equations of motion, accelerations, drive forces, and leg coordinates in closed form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from kinegraph.derive.dynamics.composite_body import Square
from kinegraph.derive.dynamics.inertia_factorization import Factorized
from kinegraph.derive.platforms.free_motion import FreeMotion, curled, total, totals
from kinegraph.derive.platforms.leg_parameters import RigidPart
from kinegraph.derive.platforms.legs import LegInertia, LegLoad, LegMomenta, SpinInertia
from kinegraph.derive.platforms.platform_state import PlatformAccelerations, PlatformState
from kinegraph.derive.tree.algebra import (
    Matrix,
    Symmetric,
    Vector,
    apply,
    cross,
    minus,
    plus,
    times,
    transpose,
    vector,
    zero_vector,
)
from kinegraph.graph.build import Scalar
from kinegraph.graph.node import Function, Graph, Kind, Output, Symbol
from kinegraph.model.platforms.recognition import FreeBody


def solved_by_orthogonalization(columns: Sequence[Sequence[Scalar]], right: Sequence[Scalar]) -> list[Scalar]:
    """The solution of a square system by modified Gram-Schmidt, without square roots.

    With the right-hand side as an additional column this is backward stable. Elimination without pivoting lost four
    digits at some states of a platform.
    """
    rest = [list(column) for column in columns]
    wanted = list(right)
    count = len(rest)
    ratios: dict[tuple[int, int], Scalar] = {}
    parts: list[Scalar] = []
    for j in range(count):
        own = rest[j]
        inverse = _product(own, own).reciprocal()
        for k in range(j + 1, count):
            ratios[j, k] = _product(own, rest[k]) * inverse
            rest[k] = [a - ratios[j, k] * b for a, b in zip(rest[k], own, strict=True)]
        part = _product(own, wanted) * inverse
        wanted = [a - part * b for a, b in zip(wanted, own, strict=True)]
        parts.append(part)
    for j in range(count - 2, -1, -1):
        for k in range(j + 1, count):
            parts[j] = parts[j] - ratios[j, k] * parts[k]
    return parts


def _product(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    return total([x * y for x, y in zip(a, b, strict=True)])


# ---- Six equations of the platform: its inertia and that of all legs, each at its joint
#
# For joints at (x, y, z) and (x, -y, z), terms that are even in y contain the sum of both legs, and odd terms the
# difference. So each product with a coordinate is computed once for two legs.

#: A vector or a symmetric matrix, entry by entry.
Entries: TypeAlias = tuple[Scalar, ...]


def equation_matrix(platform: RigidPart, legs: Sequence[tuple[LegInertia, Vector]]) -> Square:
    """The 6 x 6 matrix for the accelerations (reference point, then angular), in platform axes."""
    round_about = [(leg.at_joint, place) for leg, place in legs if leg.spin is None]
    pairs = mirrored(round_about)
    blocks = [rigid_block(platform), *(_even_block(Symmetric(*even), Symmetric(*odd), at) for even, odd, at in pairs)]
    blocks += [_spun_block(leg, place, leg.spin) for leg, place in legs if leg.spin is not None]
    entries = [[total([block[i][j] for block in blocks]) for j in range(i + 1)] for i in range(6)]
    return [[entries[max(i, j)][min(i, j)] for j in range(6)] for i in range(6)]


def coupling_block(platform: RigidPart, legs: Sequence[tuple[LegMomenta, Vector]]) -> Square:
    """Momentum and angular momentum about the reference point (rows) for velocities relative to the base (columns)."""
    blocks = [rigid_block(platform), *(_momentum_block(*leg) for leg in legs)]
    return [[total([block[i][j] for block in blocks]) for j in range(6)] for i in range(6)]


def _momentum_block(momenta: LegMomenta, place: Vector) -> Square:
    lever = transpose(_lever_columns(momenta, place))
    rows = [[*row, *cross(place, row)] for row in (*momenta.linear, *lever)]
    spin = momenta.spin
    if spin is None:
        return rows
    by = [*spin.linear, *plus(spin.angular, cross(place, spin.linear))]
    return [
        [*row[:3], *(a + one * b for a, b in zip(row[3:], spin.reach, strict=True))]
        for row, one in zip(rows, by, strict=True)
    ]


def _lever_columns(momenta: LegMomenta, place: Vector) -> Matrix:
    """The columns of the angular momentum about the reference point."""
    pairs = zip(transpose(momenta.linear), transpose(momenta.angular), strict=True)
    x, y, z = (plus(angular, cross(place, linear)) for linear, angular in pairs)
    return x, y, z


def moment_in(part: RigidPart, field: Matrix) -> Vector:
    """The moment about the origin of a part in an acceleration field U: axial(U S) with the second moments S."""
    x, y, z = (part.second.apply(row) for row in field)
    return z[1] - y[2], x[2] - z[0], y[0] - x[1]


def platform_loads(legs: Sequence[tuple[LegLoad, Vector]]) -> list[Scalar]:
    """The sum of all loads: force, and moment about the reference point."""
    found = mirrored([(load.force, place) for load, place in legs])
    moments = [_even_cross(place, vector(even), vector(odd)) for even, odd, place in found]
    moments += [load.moment for load, _ in legs if load.moment is not None]
    return [total([one[i] for one in group]) for group in ([even for even, _, _ in found], moments) for i in range(3)]


def rigid_block(part: RigidPart) -> Square:
    """[[m 1, -s x], [s x, I]]."""
    zero = part.mass.number(0)
    x, y, z = part.first
    turned = ((zero, z, -y), (-z, zero, x), (y, -x, zero))  # - [s] x
    upper = [[part.mass if i == j else zero for j in range(3)] + list(turned[i]) for i in range(3)]
    lower = [[turned[j][i] for j in range(3)] + list(part.inertia.column(i)) for i in range(3)]
    return upper + lower


def _spun_block(leg: LegInertia, place: Vector, spin: SpinInertia) -> Square:
    return _with_spin(_even_block(leg.at_joint, leg.at_joint, place), spin, place)


def _even_block(even: Symmetric, odd: Symmetric, place: Vector) -> Square:
    """The inertia K at a point r: [[K, -K r x], [r x K, -r x K r x]]."""
    columns = [_even_cross(place, even.column(i), odd.column(i)) for i in range(3)]  # r x K, column by column
    turned = [_even_cross(place, odd.column(i), even.column(i)) for i in range(3)]  # the same, odd in y
    rows, odd_rows = ([vector([one[i] for one in some]) for i in range(3)] for some in (columns, turned))
    # Row i of - r x K r x is r x (row i of r x K).
    lower = [[*rows[i], *_even_cross(place, rows[i], odd_rows[i])] for i in range(3)]
    upper = [[*even.column(i), *columns[i]] for i in range(3)]
    return upper + lower


def _even_cross(place: Vector, even: Vector, odd: Vector) -> Vector:
    """place x a; products with the y of the place use the odd vector."""
    x, y, z = place
    return y * odd[2] - z * even[1], z * even[0] - x * even[2], x * even[1] - y * odd[0]


def mirrored(items: Sequence[tuple[Entries, Vector]]) -> list[tuple[Entries, Entries, Vector]]:
    """Sum and difference of entries at places that are mirror images in y; twice the same for a single place."""
    rest, found = list(items), []
    while rest:
        own, place = rest.pop(0)
        image = (place[0], -place[1], place[2])
        twin = next((k for k, (_, other) in enumerate(rest) if other == image), None)
        if twin is None:
            found.append((own, own, place))
            continue
        pairs = list(zip(own, rest.pop(twin)[0], strict=True))
        found.append((tuple(a + b for a, b in pairs), tuple(a - b for a, b in pairs), place))
    return found


def _with_spin(block: Square, spin: SpinInertia, place: Vector) -> Square:
    """Add the inertia of a leg's spin due to the platform."""
    row = [*spin.coupling, *cross(place, spin.coupling)]
    reach = [row[0].number(0)] * 3 + list(spin.reach)
    own = [spin.itself * item for item in reach]
    return [
        [block[i][j] + row[i] * reach[j] + reach[i] * row[j] + reach[i] * own[j] for j in range(6)] for i in range(6)
    ]


# ---- Dynamics


class PlatformDynamics(PlatformState):
    """A platform on a fixed base; see `moving_base` for other bases."""

    # accelerations

    def motion(self, forces: Sequence[Scalar]) -> PlatformAccelerations:
        """The accelerations of the platform under `forces` on all velocities."""
        return self._found(Factorized(self._matrix(), self._order(), self._unknowns()).solve(self._right(forces)))

    def _right(self, forces: Sequence[Scalar]) -> list[Scalar]:
        """What the trial motion lacks, for each unknown."""
        return [-item for item in self._trial_needs(forces)]

    def _order(self) -> Sequence[int]:
        """The unknowns, the last of which is eliminated first."""
        return range(6)

    def _found(self, x: Sequence[Scalar]) -> PlatformAccelerations:
        """The motion by the differences of all unknowns from the trial motion."""
        return self.trial.changed(vector(x[:3]), vector(x[3:]))

    def _trial_needs(self, forces: Sequence[Scalar]) -> list[Scalar]:
        """Force and moment about the reference point that the trial motion lacks."""
        needed = platform_loads(self._trial_loads(forces))
        return [a + b for a, b in zip(self._platform_needs(self.trial, forces), needed, strict=True)]

    def _matrix(self) -> list[list[Scalar]]:
        """The matrix for all unknowns."""
        inertia = [
            (leg.inertia(), numbers.platform_point) for leg, numbers in zip(self.legs, self.numbers, strict=True)
        ]
        return equation_matrix(self.part, inertia)

    def _unknowns(self) -> list[str]:
        """The names of all unknowns."""
        return [*self.platform.moving.position, *["the platform's rotation"] * 3]

    def _trial_loads(self, forces: Sequence[Scalar]) -> list[tuple[LegLoad, Vector]]:
        """The loads of legs in the trial motion."""
        found = zip(self.legs, self.at_joints(self.trial), self.leg_forces(forces), strict=True)
        return self._placed([leg.load(joint, own) for leg, joint, own in found])

    def _placed(self, found: Sequence[LegLoad]) -> list[tuple[LegLoad, Vector]]:
        return [(load, numbers.platform_point) for load, numbers in zip(found, self.numbers, strict=True)]

    def _on_platform(self, forces: Sequence[Scalar]) -> tuple[Vector, Vector]:
        """Force, and moment about the reference point, of gravity and forces on the platform, in platform axes."""
        force, torque = self._on_body(self.platform.moving, self.platform_motion, forces)
        force = self.platform_motion.into(plus(force, times(self.part.mass, self.frame_gravity)))
        first = plus(self.part.first, times(self.part.mass, self.origin))
        weight = cross(first, self.platform_motion.into(self.frame_gravity))
        return force, plus(minus(torque, cross(self.origin, force)), weight)

    def _on_body(self, body: FreeBody, motion: FreeMotion, forces: Sequence[Scalar]) -> tuple[Vector, Vector]:
        """Forces on a free body's coordinates, as a force in fixed axes and a torque in its axes."""
        given = [forces[self.index[name]] for name in body.velocities]
        return vector(given[:3]), motion.torque(vector(given[3:]))

    def accelerations(self, forces: Sequence[Scalar]) -> dict[str, Scalar]:
        """Accelerations of platform, base and legs by the name of the velocity, from the forces on all velocities."""
        motion = self.motion(forces)
        return self._of_bodies(motion) | self.leg_accelerations(motion)

    def leg_accelerations(self, motion: PlatformAccelerations) -> dict[str, Scalar]:
        """Accelerations of the legs' coordinates, by the name of the velocity."""
        found: dict[str, Scalar] = {}
        for leg, names, one in zip(self.legs, self.platform.legs, self.at_joints(motion), strict=True):
            found |= {f"{name}'": item for name, item in zip(names.coordinates, leg.accelerations(one), strict=True)}
        return found

    def _of_bodies(self, motion: PlatformAccelerations) -> dict[str, Scalar]:
        return dict(zip(self.platform.moving.velocities, self._platform_out(motion), strict=True))

    def platform_acceleration(self, forces: Sequence[Scalar]) -> list[Scalar]:
        """The six accelerations of the platform: of its position, then of its rotation."""
        return self._platform_out(self.motion(forces))

    def _platform_out(self, motion: PlatformAccelerations) -> list[Scalar]:
        """The accelerations of the platform's coordinates from those of the reference point."""
        own = minus(motion.point, apply(self.field(motion), self.origin))
        linear = plus(self.platform_motion.out(own), self.fallen)
        return [*linear, *self.platform_motion.angle_accelerations(motion.angular)]

    # given motion

    def given_motion(self, accelerations: Sequence[Scalar]) -> PlatformAccelerations:
        """The result of `motion` for given accelerations of the coordinates of platform and base."""
        return PlatformAccelerations(
            *self._of_body(self.platform.moving, self.platform_motion, self.origin, accelerations)
        )

    def _of_body(
        self, body: FreeBody, motion: FreeMotion, place: Vector, accelerations: Sequence[Scalar]
    ) -> tuple[Vector, Vector]:
        """The acceleration of a free body's point at `place`, and its angular acceleration, in its axes."""
        given = [accelerations[self.index[name]] for name in body.velocities]
        angular = motion.angular(vector(given[3:]))
        own = motion.into(minus(vector(given[:3]), self.fallen))
        return plus(own, plus(cross(angular, place), curled(motion, place))), angular

    def efforts(self, accelerations: Sequence[Scalar], forces: Sequence[Scalar]) -> dict[str, Scalar]:
        """The forces of six drives, and those on a moving base, that cause a motion in addition to other forces.

        They are returned by the name of the velocity.
        """
        motion = self.given_motion(accelerations)
        found = zip(self.legs, self.at_joints(motion), self.leg_forces(forces), strict=True)
        needed = platform_loads(self._placed([leg.load(joint, own) for leg, joint, own in found]))
        own = self._platform_needs(motion, forces)
        columns = [
            [*leg.effort(), *cross(numbers.platform_point, leg.effort())]
            for leg, numbers in zip(self.legs, self.numbers, strict=True)
        ]
        efforts = solved_by_orthogonalization(columns, [a + b for a, b in zip(own, needed, strict=True)])
        drives = [leg.drive + "'" for leg in self.platform.legs]
        return dict(zip(drives, efforts, strict=True)) | self._base_efforts(motion, own, forces)

    def _base_efforts(
        self, motion: PlatformAccelerations, platform: Sequence[Scalar], forces: Sequence[Scalar]
    ) -> dict[str, Scalar]:
        """The forces on the coordinates of the base. platform: the force and moment that the platform takes."""
        return {}

    def _platform_needs(self, motion: PlatformAccelerations, forces: Sequence[Scalar]) -> list[Scalar]:
        """Force and moment about the reference point that the platform takes in addition to `forces`."""
        part, point, field = self.part, motion.point, self.field(motion)
        force = plus(times(part.mass, point), apply(field, part.first))
        moment = plus(moment_in(part, field), cross(part.first, point))
        given = self._on_platform(forces)
        return [*minus(force, given[0]), *minus(moment, given[1])]

    # forces of legs

    def on_platform(self, motion: PlatformAccelerations, forces: Sequence[Scalar]) -> list[list[Scalar]]:
        """Force and moment of each leg on the platform at its joint, in fixed axes."""
        return [
            [*self.platform_motion.out(force), *self.platform_motion.out(moment)]
            for force, moment in self._pairs(motion, forces)
        ]

    def _pairs(self, motion: PlatformAccelerations, forces: Sequence[Scalar]) -> list[tuple[Vector, Vector]]:
        found = []
        zipped = zip(self.legs, self.numbers, self.at_joints(motion), self.leg_forces(forces), strict=True)
        for leg, numbers, joint, own in zipped:
            load = leg.load(joint, own)
            force = plus(load.force, times(numbers.on_platform, joint.joint))
            moment = zero_vector(force[0]) if load.moment is None else load.moment
            found.append((times(-1, force), times(-1, moment)))
        return found

    def on_base(self, motion: PlatformAccelerations, forces: Sequence[Scalar]) -> list[list[Scalar]]:
        """Force, and moment about the base's origin, of each leg on the base, in fixed axes."""
        found = []
        zipped = zip(self.legs, self.numbers, self.joints, self.at_joints(motion), self.leg_forces(forces), strict=True)
        for leg, numbers, base, joint, own in zipped:
            force, moment = leg.on_base(joint, leg.load(joint, own))
            moment = plus(moment, cross(self.base.into(self.base_joint_position(numbers, base)), force))
            found.append([*self.platform_motion.out(force), *self.platform_motion.out(moment)])
        return found

    def sum_on_base(self, rows: Sequence[Sequence[Scalar]], motion: PlatformAccelerations) -> list[Scalar]:
        """The sum of force and moment of all legs; one row for each."""
        force = totals([vector(row[:3]) for row in rows])
        return [*force, *totals([vector(row[3:]) for row in rows])]


# ---- Leg coordinates as functions of the platform's coordinates
#
# A pose of the platform determines the angles of legs up to full turns, which are taken from the leg coordinates.

#: Kinds of symbols of leg coordinates, their rates and accelerations.
_KINDS = (Kind.COORDINATE, Kind.VELOCITY, Kind.ACCELERATION)


def without_leg_coordinates(items: Sequence[Scalar], dynamics: PlatformDynamics) -> list[Scalar]:
    """Scalars with the coordinates and velocities of legs replaced by functions of those of platform and base."""
    if not items:
        return []
    output = Output("items", (len(items),), tuple(item.index for item in items))
    graph = items[0].builder.graph([output])
    return in_platform_coordinates(graph, graph.outputs[0].nodes, dynamics)


def in_platform_coordinates(
    graph: Graph, wanted: Sequence[int], dynamics: PlatformDynamics, accelerations: Mapping[str, Scalar] | None = None
) -> list[Scalar]:
    """Nodes of a graph in the builder of a platform, with leg coordinates replaced; sines and cosines of a leg's angles
    are replaced directly, without the angles.

    accelerations: those of legs by the name of their symbols, replaced as well.
    """
    return _Replacing(dynamics, accelerations or {}).nodes(graph, wanted)


class _Replacing:
    def __init__(self, dynamics: PlatformDynamics, accelerations: Mapping[str, Scalar]) -> None:
        self.builder = dynamics.platform_motion.position[0].builder
        self.turns = dynamics.leg_turns()
        followed = {name: turn.near(dynamics.names[name]) for name, turn in self.turns.items()}
        self.meanings = dynamics.leg_positions() | followed | dynamics.leg_rates() | dict(accelerations)

    def nodes(self, graph: Graph, wanted: Sequence[int]) -> list[Scalar]:
        place: dict[int, int] = {}
        for index, node in enumerate(graph.nodes):
            if isinstance(node, Symbol):
                place[index] = self._symbol(node)
            elif isinstance(node, Function):
                place[index] = self._function(graph, node, place)
            else:
                terms = ((c, tuple((place[child], e) for child, e in factors)) for c, factors in node.terms)
                place[index] = self.builder.polynomial(terms)
        return [Scalar(self.builder, place[index]) for index in wanted]

    def _symbol(self, node: Symbol) -> int:
        known = node.kind in _KINDS and node.name in self.meanings
        return self.meanings[node.name].index if known else self.builder.symbol(node.kind, node.name)

    def _function(self, graph: Graph, node: Function, place: dict[int, int]) -> int:
        angle = graph.nodes[node.arguments[0]]
        if node.name in ("sin", "cos") and isinstance(angle, Symbol) and angle.name in self.turns:
            turn = self.turns[angle.name]
            return (turn.sine if node.name == "sin" else turn.cosine).index
        return self.builder.apply(node.name, *(place[argument] for argument in node.arguments))


def put_back(
    dynamics: PlatformDynamics, symbols: Mapping[str, Scalar]
) -> tuple[dict[str, Scalar], list[Scalar], list[Scalar]]:
    """Project the legs onto the pose of the platform: their positions and velocities by name, residuals, and pivots.

    Angles are corrected by less than half a turn, so that a crank may make any number of turns.
    """
    positions, rates = dynamics.leg_positions(), dynamics.leg_rates()
    lengths = {leg.drive for leg in dynamics.platform.legs if not leg.type.has_crank}
    found: dict[str, Scalar] = {}
    missed: list[Scalar] = []
    for name, place in positions.items():
        miss = place - symbols[name]
        miss = miss if name in lengths else miss.sin().apply("atan2", miss.cos())
        found[name] = symbols[name] + miss
        missed.append(miss)
    for name, rate in rates.items():
        found[name] = rate
        missed.append(rate - symbols[name])
    return found, missed, [item for leg in dynamics.legs for item in leg.pivots()]
