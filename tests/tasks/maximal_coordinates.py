"""Random trees and linkages, and their reactions by Newton-Euler in maximal coordinates, written apart from Kinegraph.

Unknown are, for every body, the accelerations of its frame, the joint's own acceleration, and the force and moment in
its joint; one dense system holds Newton's and Euler's equations, the kinematics of the joints and their drives.
"""

from dataclasses import dataclass

import numpy as np

import kinegraph as kg
from kinegraph.graph.interpret import interpret

GRAVITY = np.array([0.3, -0.7, -9.81])
AXES = np.eye(3)


@dataclass
class RandomBody:
    """A body: its base (-1 is the ground), numbers of its fixed transforms, its joint and its inertia."""

    base: int
    turn: tuple[int, float]
    shift: np.ndarray
    axis: int
    revolute: bool
    mass: float
    center: np.ndarray
    inertia: np.ndarray


@dataclass
class RandomLinkage:
    """Bodies, a state, drives, and perhaps a ball joint between points of two bodies."""

    bodies: list
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    ball: tuple | None = None

    @property
    def text(self):
        lines = [f"coordinates {', '.join(f'q{k}' for k in range(len(self.bodies)))};"]
        lines.append(f"gravity {', '.join(map(repr, GRAVITY.tolist()))};")
        for k, body in enumerate(self.bodies):
            lines.append(_record(k, body))
        if self.ball:
            (a, first), (b, second) = self.ball
            frames = [_frame(*end) for end in ((a, first), (b, second))]
            lines.append(f"loop ball | spherical | {' | '.join(frames)};")
        return "\n".join(lines)


def _frame(body, point):
    shifts = ", ".join(f"S{axis}({value!r})" for axis, value in zip("xyz", point.tolist(), strict=True))
    return shifts if body < 0 else f"B{body}: {shifts}"


def _record(k, body):
    angle_axis, angle = body.turn
    base = f"~B{body.base}" if body.base >= 0 else ""
    shifts = ", ".join(f"S{n}({v!r})" for n, v in zip("xyz", body.shift.tolist(), strict=True))
    joint = f"{'R' if body.revolute else 'S'}{'xyz'[body.axis]}(q{k})"
    center = ", ".join(f"S{n}({v!r})" for n, v in zip("xyz", body.center.tolist(), strict=True))
    entries = {"x": (0, 0), "y": (1, 1), "z": (2, 2), "xy": (0, 1), "yz": (1, 2), "xz": (0, 2)}
    signs = {word: 1 if len(word) == 1 else -1 for word in entries}  # Jxy is the integral of x y
    moments = ", ".join(f"J{word}({signs[word] * float(body.inertia[at])!r})" for word, at in entries.items())
    return f"B{k}{base} | {shifts}, R{'xyz'[angle_axis]}({angle!r}), {joint} | {center}, m({body.mass!r}), {moments};"


def random_tree(seed, linkage=False):
    """A tree of two to six bodies (four to seven with a ball joint that closes a loop) at a random state."""
    random = np.random.default_rng(seed)
    count = int(random.integers(4, 8) if linkage else random.integers(2, 7))
    bodies = [_random_body(random, k, linkage) for k in range(count)]
    q, v, tau = random.uniform(-1, 1, (3, count)).round(6)
    found = RandomLinkage(bodies, q, v, tau)
    if linkage:
        ends = sorted({*range(count)} - {body.base for body in bodies})
        a, b = (ends[0], ends[-1]) if len(ends) > 1 else (-1, ends[0])
        turns, places, _, _ = placed(found)
        point = random.uniform(-0.5, 0.5, 3).round(3)
        world = point if a < 0 else places[a] + turns[a] @ point
        found.ball = ((a, point), (b, turns[b].T @ (world - places[b])))
        rows = _ball_rows(found)
        if np.linalg.svd(rows, compute_uv=False)[-1] < 1e-2:  # redundant: then reactions are not determined
            return random_tree(seed + 10_000, linkage)
        found.v = v - np.linalg.pinv(rows) @ (rows @ v)
    return found


def _random_body(random, k, linkage):
    base = int(random.integers(-1, k)) if k else -1
    if linkage:
        base = k - 1 if random.random() < 0.8 and k else base
    spread = random.uniform(-0.3, 0.3, (6, 3))
    inertia = sum(0.1 * (np.eye(3) * (r @ r) - np.outer(r, r)) for r in spread).round(6)
    return RandomBody(
        base, (int(random.integers(3)), round(random.uniform(-3, 3), 4)), random.uniform(-0.6, 0.6, 3).round(4),
        int(random.integers(3)), bool(random.random() < 0.75), round(random.uniform(0.5, 3), 4),
        random.uniform(-0.3, 0.3, 3).round(4), inertia,
    )  # fmt: skip


def turn_matrix(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    x, y = (axis + 1) % 3, (axis + 2) % 3
    found = np.eye(3)
    found[[x, y], [x, y]] = c
    found[y, x], found[x, y] = s, -s
    return found


def placed(linkage):
    """Rotations and places of the bodies' frames, and axes and points (on the body's side) of their joints, in the
    fixed frame."""
    turns, places, axes, points = [], [], [], []
    for body, q in zip(linkage.bodies, linkage.q, strict=True):
        turn, place = (np.eye(3), np.zeros(3)) if body.base < 0 else (turns[body.base], places[body.base])
        point = place + turn @ body.shift
        fixed = turn @ turn_matrix(*body.turn)
        axes.append(fixed @ AXES[body.axis])
        turns.append(fixed @ turn_matrix(body.axis, q) if body.revolute else fixed)
        places.append(point if body.revolute else point + axes[-1] * q)
        points.append(places[-1])
    return turns, places, axes, points


def rates(linkage):
    """Angular velocities and velocities of the bodies' frames, and accelerations without joint accelerations."""
    _, places, axes, _ = placed(linkage)
    found = []
    for k, (body, v) in enumerate(zip(linkage.bodies, linkage.v, strict=True)):
        w, u, place, e, c = (
            (np.zeros(3),) * 5 if body.base < 0 else (*found[body.base][:2], places[body.base], *found[body.base][2:])
        )
        arm = places[k] - place
        turn, slide = (axes[k] * v, np.zeros(3)) if body.revolute else (np.zeros(3), axes[k] * v)
        omega = w + turn
        velocity = u + np.cross(w, arm) + slide
        alpha = e + np.cross(w, turn)
        acceleration = c + np.cross(e, arm) + np.cross(w, np.cross(w, arm)) + 2 * np.cross(w, slide)
        found.append((omega, velocity, alpha, acceleration))
    return found


def _ball_rows(linkage):
    """Derivative of the gap of the ball joint by v, column by column."""
    columns = []
    for k in range(len(linkage.bodies)):
        moved = RandomLinkage(linkage.bodies, linkage.q, np.eye(len(linkage.bodies))[k], linkage.tau)
        turns, _, _, _ = placed(moved)
        speeds = rates(moved)
        ends = []
        for body, point in linkage.ball:
            w, u = speeds[body][:2] if body >= 0 else (np.zeros(3), np.zeros(3))
            ends.append(u + np.cross(w, turns[body] @ point) if body >= 0 else u)
        columns.append(ends[0] - ends[1])
    return np.array(columns).T


def skew(a):
    x, y, z = a
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def reactions(linkage):
    """Force and moment of every joint on its body, at the joint's point, in world axes: rows of six numbers."""
    bodies, count = linkage.bodies, len(linkage.bodies)
    turns, places, axes, points = placed(linkage)
    speeds = rates(linkage)
    size = 13 * count + (3 if linkage.ball else 0)
    matrix, right = np.zeros((size, size)), np.zeros(size)
    # of body k: alpha 0..2, a 3..5 (of its frame), own acceleration 6, force 7..9, moment 10..12
    at = lambda k, part: slice(13 * k + part, 13 * k + part + (1 if part == 6 else 3))  # noqa: E731
    row = 0

    def block(k, part, values):
        if k >= 0:
            matrix[row : row + 3, at(k, part)] += np.reshape(values, (3, -1))

    for k, body in enumerate(bodies):
        w = speeds[k][0]
        parent = body.base
        base_place = places[parent] if parent >= 0 else np.zeros(3)
        base_w = speeds[parent][0] if parent >= 0 else np.zeros(3)
        arm = places[k] - base_place
        turn, slide = (axes[k] * linkage.v[k], np.zeros(3)) if body.revolute else (np.zeros(3), axes[k] * linkage.v[k])
        # kinematics: alpha_k - alpha_p - axis qdd = w_p x turn
        block(k, 0, np.eye(3)), block(parent, 0, -np.eye(3))
        if body.revolute:
            block(k, 6, -axes[k])
        right[row : row + 3] = np.cross(base_w, turn)
        row += 3
        block(k, 3, np.eye(3)), block(parent, 3, -np.eye(3)), block(parent, 0, skew(arm))
        if not body.revolute:
            block(k, 6, -axes[k])
        right[row : row + 3] = np.cross(base_w, np.cross(base_w, arm)) + 2 * np.cross(base_w, slide)
        row += 3
        # Newton: m (a + alpha x c + w x (w x c)) = m g + F_k - sum over children of F
        center = turns[k] @ body.center
        spin = turns[k] @ body.inertia @ turns[k].T
        children = [j for j in range(count) if bodies[j].base == k]
        block(k, 3, body.mass * np.eye(3)), block(k, 0, -body.mass * skew(center))
        block(k, 7, -np.eye(3))
        for j in children:
            block(j, 7, np.eye(3))
        right[row : row + 3] = body.mass * (GRAVITY - np.cross(w, np.cross(w, center)))
        newton = row
        row += 3
        # Euler about the center of mass
        block(k, 0, spin)
        block(k, 10, -np.eye(3)), block(k, 7, -skew(points[k] - places[k] - center))
        for j in children:
            block(j, 10, np.eye(3)), block(j, 7, skew(points[j] - places[k] - center))
        right[row : row + 3] = -np.cross(w, spin @ w)
        if linkage.ball:
            for (end, point), sign in zip(linkage.ball, (1, -1), strict=True):
                if end == k:  # the ball pulls the first body with its force, the second against it
                    matrix[newton : newton + 3, -3:] -= sign * np.eye(3)
                    matrix[row : row + 3, -3:] -= sign * skew(turns[k] @ point - center)
        row += 3
        matrix[row, at(k, 10 if body.revolute else 7)] = axes[k]
        right[row] = linkage.tau[k]
        row += 1
    if linkage.ball:
        for (end, point), sign in zip(linkage.ball, (1, -1), strict=True):
            if end >= 0:
                w, arm = speeds[end][0], turns[end] @ point
                matrix[row : row + 3, at(end, 3)] += sign * np.eye(3)
                matrix[row : row + 3, at(end, 0)] -= sign * skew(arm)
                right[row : row + 3] -= sign * np.cross(w, np.cross(w, arm))
    found = np.linalg.solve(matrix, right)
    return np.array([found[13 * k + 7 : 13 * k + 13] for k in range(count)])


def kinegraph_reactions(linkage):
    """The same by Kinegraph's quantities, from the exact graph."""
    mechanism = kg.parse(linkage.text)
    words = [f"reaction:B{k}" for k in range(len(linkage.bodies))]
    layout = mechanism.layout
    values = dict(zip(layout.positions, linkage.q, strict=True)) | dict(zip(layout.velocities, linkage.v, strict=True))
    values |= dict(zip(layout.forces, linkage.tau, strict=True))
    found = interpret(kg.derive(mechanism, words, numeric=True), values)
    return np.array([np.ravel(found[word]) for word in words])
