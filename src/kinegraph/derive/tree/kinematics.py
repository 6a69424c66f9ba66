"""Poses, velocities and Jacobians of bodies and points, in the axes of the fixed frame."""

from __future__ import annotations

from kinegraph.derive.dynamics.composite_body import Column, Screw
from kinegraph.derive.tree.algebra import Matrix, Vector, apply, cross, identity, plus, product, transpose, zero_vector
from kinegraph.derive.tree.frame_assignment import Layout
from kinegraph.derive.tree.links import JointKind, Placement
from kinegraph.graph.scalar import Scalar


def frame_rotations(layout: Layout) -> list[Matrix]:
    """For every link: the rotation from its frame of computation to the fixed frame."""
    found = [identity(layout.tree.like)]
    for index in range(1, len(layout.tree.links)):
        parent = found[layout.tree.links[index].parent]
        rows = [layout.outward(index, row) for row in parent]
        found.append((rows[0], rows[1], rows[2]))
    return found


def origins(layout: Layout, rotations: list[Matrix]) -> list[Vector]:
    """For every link: its origin in the fixed frame."""
    found = [zero_vector(layout.tree.like)]
    for index in range(1, len(layout.tree.links)):
        parent = layout.tree.links[index].parent
        found.append(plus(found[parent], apply(rotations[parent], layout.offsets[index])))
    return found


def pose(layout: Layout, place: Placement) -> list[list[Scalar]]:
    """The homogeneous 4 x 4 matrix of a frame placed on a link."""
    rotations = frame_rotations(layout)
    seat = layout.seats[place.link]
    columns = [seat.place(column) for column in transpose(place.rotation)]
    turned = product(rotations[place.link], transpose((columns[0], columns[1], columns[2])))
    origin = origins(layout, rotations)[place.link]
    position = plus(origin, apply(rotations[place.link], seat.place(place.position)))
    nil, one = layout.tree.like.number(0), layout.tree.like.number(1)
    return [[*row, position[i]] for i, row in enumerate(turned)] + [[nil, nil, nil, one]]


def point_screws(layout: Layout, place: Placement) -> dict[Column, Screw]:
    """For every joint component the point's link stands on: velocity of the point and angular velocity, fixed axes."""
    rotations = frame_rotations(layout)
    points = origins(layout, rotations)
    target = plus(points[place.link], apply(rotations[place.link], layout.seats[place.link].place(place.position)))
    found: dict[Column, Screw] = {}
    index = place.link
    while index > 0:
        arm = tuple(target[i] - points[index][i] for i in range(3))
        for component, (angular, linear) in enumerate(_fixed_axes(layout, index, rotations[index])):
            velocity = plus(linear, cross(angular, (arm[0], arm[1], arm[2])))
            found[Column(index, component)] = Screw(angular, velocity)
        index = layout.tree.links[index].parent
    return found


def _fixed_axes(layout: Layout, index: int, rotation: Matrix) -> list[Screw]:
    joint = layout.tree.links[index].joint
    assert joint is not None
    zero = zero_vector(layout.tree.like)
    if joint.kind is JointKind.SPHERICAL:
        return [Screw(axis, zero) for axis in transpose(rotation)]
    local = layout.seats[index].joint_axis
    assert local is not None
    axis = apply(rotation, local)
    return [Screw(zero, axis) if joint.kind is JointKind.PRISMATIC else Screw(axis, zero)]


def jacobian(
    screws: dict[Column, Screw], columns: tuple[tuple[dict[int, Scalar], ...], ...], size: int, zero: Scalar
) -> list[list[Scalar]]:
    """The 6 x n matrix (velocity above angular velocity) by velocity coordinate."""
    rows = [[zero] * size for _ in range(6)]
    for column, screw in screws.items():
        for index, factor in columns[column.link][column.component].items():
            for row, item in enumerate((*screw.linear, *screw.angular)):
                rows[row][index] = rows[row][index] + factor * item
    return rows
