"""<mimic>: an axis of a joint that follows an axis of another, as a constraint on their coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from kinegraph.errors import ModelError
from kinegraph.io.robot.attributes import single
from kinegraph.io.robot.joint_motion import JointMotion
from kinegraph.io.robot.naming import NameTable
from kinegraph.io.robot.placement import linear
from kinegraph.io.robot.xml import Element
from kinegraph.io.sdf.joints import SdfJoint
from kinegraph.io.sdf.values import stated
from kinegraph.model.constraints.records import Constraint
from kinegraph.model.expression import Expression, Number
from kinegraph.model.names import did_you_mean
from kinegraph.model.places import Places

Motions = Mapping[str, JointMotion]


def mimic_constraints(
    joints: Mapping[str, SdfJoint], motions: Motions, forbidden: Iterable[str], places: Places
) -> tuple[Constraint, ...]:
    """follower = multiplier (leader - reference) + offset, for every axis with <mimic>; `motions` are those of joints
    in the tree, `forbidden` names that are taken."""
    names = NameTable((), forbidden)
    return tuple(
        places.mark(_constraint(joint, tag, mimic, joints, motions, names), mimic.place)
        for joint in joints.values()
        for tag, mimic in _mimics(joint)
    )


def _mimics(joint: SdfJoint) -> Iterator[tuple[str, Element]]:
    for tag in joint.kind.axes:
        axis = joint.element.first(tag)
        mimic = axis.first("mimic") if axis is not None else None
        if mimic is not None:
            yield tag, mimic


def follows_or_leads(joint: SdfJoint, joints: Iterable[SdfJoint]) -> bool:
    """Whether a joint needs a coordinate, for it mimics another or is mimicked."""
    leaders = {mimic.get("joint") for one in joints for _, mimic in _mimics(one)}
    return joint.name in leaders or any(_mimics(joint))


def _constraint(
    joint: SdfJoint,
    tag: str,
    mimic: Element,
    joints: Mapping[str, SdfJoint],
    motions: Motions,
    names: NameTable,
) -> Constraint:
    leader = mimic.required("joint")
    if leader not in joints:
        message = f"{joint.what} mimics {leader}, which is no joint"
        raise ModelError(message, mimic.place, did_you_mean(leader, joints))
    own = _coordinate(joint, tag, motions, mimic)
    other = _coordinate(joints[leader], mimic.get("axis") or "axis", motions, mimic)
    values = stated(mimic)
    factor, offset, reference = (single(values, word) for word in ("multiplier", "offset", "reference"))
    factor = Fraction(1) if factor is None else factor
    shift = (offset or Fraction(0)) - factor * (reference or Fraction(0))
    return Constraint(names.fresh(f"mimic_{joint.name}"), own, linear(factor, other, Number(shift)))


def _coordinate(joint: SdfJoint, tag: str, motions: Motions, mimic: Element) -> Expression:
    if tag not in joint.kind.axes or joint.name not in motions:
        message = f"<mimic> needs the {tag} of {joint.what}, which has no coordinate of its own"
        raise ModelError(message, mimic.place, "name an axis of a joint that moves and closes no loop")
    (own,) = motions[joint.name].displacements[joint.kind.axes.index(tag)]
    return own
