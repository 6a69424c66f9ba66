"""Base parameters: mass that moves the same whether it sits on a link or on its parent is moved to the parent.

On a revolute joint, mass spread along the joint's axis stays where it is while the joint turns: m, the first moment
along the axis and the second moment along the axis go to the parent. On a prismatic joint the whole second moment
about the link's origin is constant in the parent. About a ball joint's centre only the mass is.
In the words of Khalil and Gautier these are the regrouping relations; here they hold for any tree of elementary
joints, and energy and momentum are kept as well, because no mass changes its motion.
"""

from __future__ import annotations

from dataclasses import replace

from kinegraph.derive.choices import AxialMoment
from kinegraph.derive.tree.algebra import (
    FOLLOWING,
    Symmetric,
    Vector,
    outer_square,
    plus,
    scaled,
    symmetric_product,
    times,
    transpose,
    zero_symmetric,
    zero_vector,
)
from kinegraph.derive.tree.inertia import MassMoments
from kinegraph.derive.tree.links import JointKind, Link, Placement, Tree


def regrouped(tree: Tree, axial_moments: frozenset[tuple[int, AxialMoment]] = frozenset()) -> Tree:
    """The same tree with the fewest inertial parameters on its links."""
    links = list(tree.links)
    choice = dict(axial_moments)
    for index in range(len(links) - 1, 0, -1):
        retained, moved = _split(links[index], choice.get(index))
        parent = links[links[index].parent]
        links[index] = replace(links[index], moments=retained)
        links[links[index].parent] = replace(parent, moments=parent.moments.plus(moved))
    return replace(tree, links=tuple(links))


def _split(link: Link, axial_moment: AxialMoment | None) -> tuple[MassMoments, MassMoments]:
    """What stays on the link, and what goes to the parent (in the parent's frame)."""
    assert link.joint is not None and link.origin is not None
    if link.joint.kind is JointKind.REVOLUTE:
        return _along_axis(link.moments, link.joint.axis, link.origin, axial_moment)
    zero = link.moments.mass.number(0)
    if link.joint.kind is JointKind.PRISMATIC:
        retained = MassMoments(link.moments.mass, link.moments.first, zero_symmetric(zero))
        only_second = MassMoments(zero, zero_vector(zero), link.moments.second)
        return retained, only_second.turned(link.origin.rotation)
    retained = MassMoments(zero, link.moments.first, link.moments.second)
    point = MassMoments(link.moments.mass, zero_vector(zero), zero_symmetric(zero))
    return retained, point.shifted(link.origin.position)


def _along_axis(
    moments: MassMoments, axis: int, origin: Placement, axial_moment: AxialMoment | None
) -> tuple[MassMoments, MassMoments]:
    zero = moments.mass.number(0)
    first = list(moments.first)
    second = list(moments.second)
    remaining = second[FOLLOWING[axis][axial_moment.value - 1]] if axial_moment else zero
    along_first, along_second = first[axis], second[axis] - remaining
    first[axis], second[axis] = zero, remaining
    retained = MassMoments(zero, (first[0], first[1], first[2]), Symmetric(*second))
    direction: Vector = transpose(origin.rotation)[axis]
    r = origin.position
    moved_first = plus(times(moments.mass, r), times(along_first, direction))
    moved_second = (
        scaled(moments.mass, outer_square(r))
        .plus(scaled(along_first, symmetric_product(r, direction)))
        .plus(scaled(along_second, outer_square(direction)))
    )
    return retained, MassMoments(moments.mass, moved_first, moved_second)
