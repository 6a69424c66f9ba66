"""Poses, velocities and Jacobians of bodies and points, relative to the fixed frame or to any link."""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.derive.dynamics.composite_body import Column, Screw
from kinegraph.derive.tree.algebra import (
    Matrix,
    Vector,
    apply,
    cross,
    identity,
    minus,
    negative,
    plus,
    product,
    transpose,
    zero_vector,
)
from kinegraph.derive.tree.frame_assignment import FrameAssignment
from kinegraph.derive.tree.links import JointKind, Placement
from kinegraph.graph.build import Scalar


@dataclass(frozen=True)
class View:
    """The poses of all links relative to a viewer's frame: `rotations` from the frames of computation to the viewer's
    axes, and `origins` of the links in the viewer's frame."""

    viewer: Placement
    rotations: tuple[Matrix, ...]
    origins: tuple[Vector, ...]


def fixed_frame(like: Scalar) -> Placement:
    """The frame of the ground: no rotation, origin at zero."""
    return Placement(0, identity(like), zero_vector(like))


def seen_from(layout: FrameAssignment, viewer: Placement) -> View:
    """All links relative to a frame on one of them: from there inward to the fixed frame, then outward."""
    x, y, z = (layout.link_frames[viewer.link].place(axis) for axis in transpose(viewer.rotation))
    rotations: dict[int, Matrix] = {viewer.link: (x, y, z)}
    position = layout.link_frames[viewer.link].place(viewer.position)
    origins = {viewer.link: negative(apply(rotations[viewer.link], position))}
    index = viewer.link
    while index > 0:
        parent = layout.tree.links[index].parent
        x, y, z = (layout.inward(index, row) for row in rotations[index])
        rotations[parent] = (x, y, z)
        origins[parent] = minus(origins[index], apply(rotations[parent], layout.offsets[index]))
        index = parent
    for index, link in enumerate(layout.tree.links):
        if index not in rotations:
            x, y, z = (layout.outward(index, row) for row in rotations[link.parent])
            rotations[index] = (x, y, z)
            origins[index] = plus(origins[link.parent], apply(rotations[link.parent], layout.offsets[index]))
    order = range(len(layout.tree.links))
    return View(viewer, tuple(rotations[index] for index in order), tuple(origins[index] for index in order))


def pose(layout: FrameAssignment, view: View, place: Placement) -> list[list[Scalar]]:
    """The homogeneous 4 x 4 matrix of a frame on a link, relative to the viewer."""
    rotation = view.rotations[place.link]
    columns = [layout.link_frames[place.link].place(column) for column in transpose(place.rotation)]
    turned = product(rotation, transpose((columns[0], columns[1], columns[2])))
    if place.link == view.viewer.link:  # both are on the same link
        turned = product(transpose(view.viewer.rotation), place.rotation)
    origin = position(layout, view, place)
    nil, one = layout.tree.like.number(0), layout.tree.like.number(1)
    return [[*row, origin[i]] for i, row in enumerate(turned)] + [[nil, nil, nil, one]]


def position(layout: FrameAssignment, view: View, place: Placement) -> Vector:
    """The origin of a frame on a link, relative to the viewer."""
    if place.link == view.viewer.link:
        return apply(transpose(view.viewer.rotation), minus(place.position, view.viewer.position))
    offset = layout.link_frames[place.link].place(place.position)
    return plus(view.origins[place.link], apply(view.rotations[place.link], offset))


def point_screws(layout: FrameAssignment, view: View, place: Placement) -> dict[Column, Screw]:
    """For every joint component between the fixed frame and the point's link: velocity of the point and angular
    velocity for a unit rate, in the viewer's axes."""
    return screws_at(layout, view, place.link, position(layout, view, place))


def screws_at(layout: FrameAssignment, view: View, link: int, target: Vector) -> dict[Column, Screw]:
    """The same for the point of a link that is at `target`, in the viewer's frame."""
    found: dict[Column, Screw] = {}
    index = link
    while index > 0:
        lever = minus(target, view.origins[index])
        for component, (angular, linear) in enumerate(joint_screws(layout, view, index)):
            found[Column(index, component)] = Screw(angular, plus(linear, cross(angular, lever)))
        index = layout.tree.links[index].parent
    return found


def joint_screws(layout: FrameAssignment, view: View, index: int) -> list[Screw]:
    """The unit motions of a link's joint, at the link's origin, in the viewer's axes."""
    rotation = view.rotations[index]
    joint = layout.tree.links[index].joint
    assert joint is not None
    zero = zero_vector(layout.tree.like)
    if joint.kind is JointKind.SPHERICAL:
        return [Screw(axis, zero) for axis in transpose(rotation)]
    local = layout.link_frames[index].joint_axis
    assert local is not None
    axis = apply(rotation, local)
    return [Screw(zero, axis) if joint.kind is JointKind.PRISMATIC else Screw(axis, zero)]


def jacobian(
    screws: dict[Column, Screw], columns: tuple[tuple[dict[int, Scalar], ...], ...], size: int, zero: Scalar
) -> list[list[Scalar]]:
    """The 6 x n Jacobian (velocity, then angular velocity) by velocity coordinate."""
    rows = [[zero] * size for _ in range(6)]
    for column, screw in screws.items():
        for index, factor in columns[column.link][column.component].items():
            for row, item in enumerate((*screw.linear, *screw.angular)):
                rows[row][index] = rows[row][index] + factor * item
    return rows
