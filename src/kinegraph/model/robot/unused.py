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
    """The report of the reader, and what is said about joints that the equations do not have.

    A report that says so already, as that of `kg.load`, is brought up to date.
    """
    others = (one for one in mechanism.report.findings if not is_of_joints(one))
    return Report((*others, *_unused(mechanism)))


def tells_of_joints(report: Report) -> bool:
    """Whether a report names what the equations do not have of joints."""
    return any(map(is_of_joints, report.findings))


def is_of_joints(finding: Finding) -> bool:
    """Whether a finding names what the equations do not have of joints, which is in `extras`, too."""
    return finding.kind is FindingKind.LEFT_OUT and finding.place is None and finding.topic in _TOPICS


def _unused(mechanism: Mechanism) -> Iterator[Finding]:
    joints: dict[str, dict[str, None]] = {}
    for extra in mechanism.extras:
        if not isinstance(extra, Shape):
            for topic in _topics(extra, mechanism):
                joints.setdefault(topic, {})[extra.joint] = None
    for topic, named in joints.items():
        listed = ", ".join(list(named)[:_NAMES]) + (", ..." if len(named) > _NAMES else "")
        yield Finding(FindingKind.LEFT_OUT, f"{topic}: {listed}", topic=topic, count=len(named))


_RANGES, _DAMPING, _FRICTION = "joint ranges", "joint damping", "dry friction in joints"
_SPRINGS, _ARMATURE = "joint springs", "armature"
_TOPICS = frozenset({_RANGES, _DAMPING, _FRICTION, _SPRINGS, _ARMATURE})


def _topics(extra: Extra, mechanism: Mechanism) -> Iterator[str]:
    match extra:
        case JointLimits(displacement=displacement, lower=lower, upper=upper):
            if (lower is not None or upper is not None) and not _targets(mechanism, Limit) & set(displacement):
                yield _RANGES
        case JointFriction(displacement=displacement, damping=damping, dry=dry):
            rates = _rates(displacement, mechanism)
            if damping != ZERO and not rates & _targets(mechanism, Damper, Friction):
                yield _DAMPING
            if dry != ZERO and not rates & _targets(mechanism, Friction):
                yield _FRICTION
        case JointSpring():
            yield _SPRINGS
        case JointArmature():
            yield _ARMATURE


def _targets(mechanism: Mechanism, *kinds: type[Damper | Friction | Limit]) -> set[Target]:
    """What the elements of these kinds work on."""
    return {element.on for element in mechanism.elements if isinstance(element, kinds)}


def _rates(displacement: tuple[Expression, ...], mechanism: Mechanism) -> set[Target]:
    """What friction on a displacement works on: itself, or the angular velocity of a quaternion."""
    names = tuple(item.text for item in displacement if isinstance(item, Name))
    groups = [one for one in mechanism.coordinates if isinstance(one, QuaternionCoordinates) and one.names == names]
    return {Name(velocity) for group in groups for velocity in group.velocities} or set(displacement)
