"""What robot files say about joints and the equations do not have: told from the records that no element took up."""

from __future__ import annotations

from collections.abc import Iterator

from kinegraph.model.elements import Damper, Friction, Limit, Target
from kinegraph.model.expression import Expression, Name
from kinegraph.model.mechanism import ZERO, Mechanism, QuaternionCoordinates
from kinegraph.model.report import Finding, FindingKind, Report
from kinegraph.model.robot.data import Extra, JointArmature, JointFriction, JointLimits, JointSpring, Shape

_NAMES = 12  # joints named in one finding


def full_report(mechanism: Mechanism) -> Report:
    """The report of the reader, and what is said about joints that the equations do not have."""
    return mechanism.report.with_more(_unused(mechanism))


def _unused(mechanism: Mechanism) -> Iterator[Finding]:
    joints: dict[str, dict[str, None]] = {}
    for extra in mechanism.extras:
        if not isinstance(extra, Shape):
            for topic in _topics(extra, mechanism):
                joints.setdefault(topic, {})[extra.joint] = None
    for topic, named in joints.items():
        listed = ", ".join(list(named)[:_NAMES]) + (", ..." if len(named) > _NAMES else "")
        yield Finding(FindingKind.LEFT_OUT, f"{topic}: {listed}", topic=topic, count=len(named))


def _topics(extra: Extra, mechanism: Mechanism) -> Iterator[str]:
    match extra:
        case JointLimits(displacement=displacement, lower=lower, upper=upper):
            if (lower is not None or upper is not None) and not _targets(mechanism, Limit) & set(displacement):
                yield "joint ranges"
        case JointFriction(displacement=displacement, damping=damping, dry=dry):
            rates = _rates(displacement, mechanism)
            if damping != ZERO and not rates & _targets(mechanism, Damper, Friction):
                yield "joint damping"
            if dry != ZERO and not rates & _targets(mechanism, Friction):
                yield "dry friction in joints"
        case JointSpring():
            yield "joint springs"
        case JointArmature():
            yield "armature"


def _targets(mechanism: Mechanism, *kinds: type[Damper | Friction | Limit]) -> set[Target]:
    """What the elements of these kinds work on."""
    return {element.on for element in mechanism.elements if isinstance(element, kinds)}


def _rates(displacement: tuple[Expression, ...], mechanism: Mechanism) -> set[Target]:
    """What friction on a displacement works on: itself, or the angular velocity of a quaternion."""
    names = tuple(item.text for item in displacement if isinstance(item, Name))
    groups = [one for one in mechanism.coordinates if isinstance(one, QuaternionCoordinates) and one.names == names]
    return {Name(velocity) for group in groups for velocity in group.velocities} or set(displacement)
