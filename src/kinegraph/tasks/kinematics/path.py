"""A path as constraints of the mechanism that follows it: of points, coordinates, or poses of bodies over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kinegraph.errors import ModelError, TaskError
from kinegraph.io import parse
from kinegraph.model.constraints.joint_types import JointType
from kinegraph.model.constraints.records import Constraint, Frame, Joint, Loop
from kinegraph.model.expression import TIME, Expression, Scalar, names
from kinegraph.model.mechanism import Body, Mechanism, Transform
from kinegraph.model.names import component, did_you_mean
from kinegraph.simulate.formula import formula
from kinegraph.tasks.forces.coordinates_alone import refuse_quaternions

_PATH = "path "
_LEADER = "leader of "


def led(mechanism: Mechanism, path: Mapping[str, Scalar]) -> Mechanism:
    """The mechanism without forces that is led along a path.

    path: what is led and how: `{"tip.x": "0.4*cos(t)"}` for a coordinate of a point, `{"q4": "0"}` for a coordinate of
    the mechanism, `{"L6": "Sx(0.4), Rz(t)"}` for the pose of a body.
    """
    if not isinstance(path, Mapping) or not path:
        raise TaskError(f"the path is {path!r:.60}: give laws of time, e.g. {{'tip.x': '0.4*cos(t)', 'tip.z': '0.2'}}")
    refuse_quaternions(mechanism, "a path leads")
    bodies, loops, constraints = [*mechanism.bodies], [*mechanism.loops], [*mechanism.constraints]
    for subject, law in path.items():
        if subject in mechanism.body_by_name:
            leader = Body(_LEADER + subject, None, _transforms(mechanism, subject, law))
            bodies.append(leader)
            loops.append(Loop(_PATH + subject, Joint(JointType.FIXED), Frame(leader.name), Frame(subject)))
        else:
            constraints.append(Constraint(_PATH + subject, _subject(mechanism, subject), _law(mechanism, subject, law)))
    ties = replace(mechanism, bodies=tuple(bodies), loops=tuple(loops), constraints=tuple(constraints))
    return replace(ties, unknowns=(), elements=(), contacts=())


def leaders(mechanism: Mechanism) -> dict[str, str]:
    """The bodies that are led, and what leads them."""
    return {name.removeprefix(_LEADER): name for name in mechanism.body_by_name if name.startswith(_LEADER)}


def _subject(mechanism: Mechanism, subject: str) -> Expression:
    found = formula(subject)
    points = {*mechanism.body_by_name, *(point.name for point in mechanism.points)}
    known = {*mechanism.layout.positions, *(parameter.name for parameter in mechanism.parameters)}
    for name in names(found):
        part = component(name)
        if (part is None and name not in known) or (part and not (part.exists and part.point in points)):
            hint = did_you_mean(name.partition(".")[0], (*points, *known))
            raise TaskError(f"the path leads {subject!r}, but {mechanism.name} has no {name!r}\n  {hint}")
    return found


def _law(mechanism: Mechanism, subject: str, law: Scalar) -> Expression:
    found = formula(law)
    known = {parameter.name for parameter in mechanism.parameters} | {TIME, "pi"}
    for name in names(found):
        if name not in known:
            hint = did_you_mean(name, known)
            raise TaskError(f"the path of {subject} uses {name!r}; it may use t and parameters\n  {hint}")
    return found


def _transforms(mechanism: Mechanism, subject: str, law: Scalar) -> tuple[Transform, ...]:
    """The pose of a body, written as the transforms of a record."""
    if not isinstance(law, str):
        raise TaskError(f"the pose of {subject} is {law!r:.60}: write transforms of time, e.g. 'Sx(0.4), Rz(t)'")
    declared = ", ".join(parameter.name for parameter in mechanism.parameters)
    head = f"parameters {declared}; " if declared else ""
    try:
        (body,) = parse(f"{head}Body | {law} |;").bodies
    except (ModelError, ValueError) as error:
        raise TaskError(f"cannot read the pose of {subject}, {law!r}: write e.g. 'Sx(0.4), Rz(t)'\n  {error}") from None
    return body.transforms
