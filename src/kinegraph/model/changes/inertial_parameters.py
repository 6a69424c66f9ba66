"""Inertias as parameters: mass, center of mass and moments of every body, with their numbers as values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from kinegraph.errors import ModelError
from kinegraph.model.elements import PointForce
from kinegraph.model.evaluate import number
from kinegraph.model.expressions import Expression, Name, Number, Operation, expression, names
from kinegraph.model.mechanism import ZERO, Axis, Body, Inertia, Mechanism, Parameter, Shift, Transform, amounts
from kinegraph.model.poses import pose
from kinegraph.model.report import Finding, FindingKind, Report
from kinegraph.model.robot_data import FLUID, GRAVITY_COMPENSATION, Extra, JointArmature, PassiveElement

#: The parameters of a body, each with the name of the body behind it: `m_hand`.
MASS = "m"
CENTER = ("cx", "cy", "cz")
MOMENTS = ("Jx", "Jy", "Jz", "Jxy", "Jyz", "Jxz")
#: The parameter of a joint with armature: `Ia_elbow`.
ARMATURE = "Ia"


def with_inertial_parameters(mechanism: Mechanism) -> Mechanism:
    """The mechanism with parameters in place of all numbers in its inertias; their values are these numbers.

    A body `hand` gets its mass m_hand, its center of mass cx_hand, cy_hand, cz_hand in its own frame, and its moments
    about the center of mass along its own axes, Jx_hand ... Jxz_hand (products of inertia enter the tensor with a
    minus sign); a joint `elbow` with armature gets Ia_elbow. Bodies without inertia, and bodies whose inertia already
    has parameters, stay as they are. Gravity compensation follows the parameters; fluid forces do not, as the report
    says.
    """
    return _Conversion(mechanism).converted()


@dataclass
class _Conversion:
    mechanism: Mechanism
    parameters: list[Parameter] = field(default_factory=list)
    _taken: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        layout = self.mechanism.layout
        own = (*layout.positions, *layout.inputs, *layout.states, *(one.name for one in self.mechanism.parameters))
        self._taken.update(own, (one.name for one in self.mechanism.definitions))

    def converted(self) -> Mechanism:
        found = self.mechanism
        bodies = tuple(self._body(body) for body in found.bodies)
        by_name = {body.name: body for body in bodies}
        extras = tuple(self._extra(one, by_name) for one in found.extras)
        full = replace(found, bodies=bodies, extras=extras, parameters=(*found.parameters, *self.parameters))
        fluid = [one for one in found.extras if isinstance(one, PassiveElement) and one.topic == FLUID]
        if not fluid:
            return full
        message = f"fluid forces keep the inertias of the file, on {len({one.owner for one in fluid})} bodies"
        finding = Finding(FindingKind.ASSUMED, message, None, FLUID)
        return replace(full, report=Report((*full.report.findings, finding)))

    def _parameter(self, word: str, owner: str, value: Expression) -> Expression:
        """The name of a new parameter."""
        name = f"{word}_{owner}"
        if name in self._taken:
            message = f"the parameter {name} for the inertia of {owner} has a name that the model uses already"
            raise ModelError(message, remedy="rename it in the model, or leave out parameters='inertial'")
        self._taken.add(name)
        self.parameters.append(Parameter(name, value))
        return Name(name)

    def _body(self, body: Body) -> Body:
        if not _has_numbers_alone(body.inertia):
            return body
        center, moments = _in_body_axes(body.inertia)
        mass = self._parameter(MASS, body.name, body.inertia.mass)
        place = [self._parameter(word, body.name, item) for word, item in zip(CENTER, center, strict=True)]
        given = {word: self._parameter(word, body.name, item) for word, item in zip(MOMENTS, moments, strict=True)}
        shifts = tuple(Shift(axis, item) for axis, item in zip(Axis, place, strict=True))
        return replace(body, inertia=Inertia(mass, **given, central=shifts, accepted=body.inertia.accepted))

    def _extra(self, extra: Extra, bodies: dict[str, Body]) -> Extra:
        if isinstance(extra, JointArmature) and isinstance(extra.inertia, Number):
            name = next((one.text for one in extra.displacement if isinstance(one, Name)), extra.joint)
            return replace(extra, inertia=self._parameter(ARMATURE, name, extra.inertia))
        if isinstance(extra, PassiveElement) and extra.topic == GRAVITY_COMPENSATION:
            return self._compensation(extra, bodies[extra.owner].inertia)
        return extra

    def _compensation(self, extra: PassiveElement, inertia: Inertia) -> PassiveElement:
        """The force against the weight, times the mass over its number, at the center of mass that is a parameter."""
        force = extra.element
        if not isinstance(inertia.mass, Name) or not isinstance(force, PointForce):
            return extra
        values = {one.name: one.value for one in self.parameters}
        whole = values[inertia.mass.text]
        assert whole is not None
        scale = Operation("/", (inertia.mass, whole))
        x, y, z = (item if item == ZERO else Operation("*", (scale, item)) for item in force.components)
        place = [amount for one in inertia.central for amount in amounts(one)]
        at = replace(force.at, position=(place[0], place[1], place[2]))
        return replace(extra, element=replace(force, at=at, components=(x, y, z)))


def _has_numbers_alone(inertia: Inertia) -> bool:
    """Whether a body has inertia, and no parameters in it."""
    entries = (inertia.mass, *(getattr(inertia, word) for word in MOMENTS))
    placed = (amount for one in inertia.central for amount in amounts(one))
    return any(item != ZERO for item in entries) and not any(map(_named, (*entries, *placed)))


def _named(item: Expression) -> bool:
    return bool(names(item) - {"pi"})


def _in_body_axes(inertia: Inertia) -> tuple[list[Expression], list[Expression]]:
    """The center of mass in the frame of the body, and the moments about it along the axes of the body.

    They are exact unless the central frame is rotated.
    """
    moments = [getattr(inertia, word) for word in MOMENTS]
    if all(isinstance(one, Shift) for one in inertia.central):
        return _center(inertia.central), moments
    rotation, position = pose(inertia.central)
    x, y, z, xy, yz, xz = (number(item, {}) for item in moments)
    turned = rotation @ np.array([[x, -xy, -xz], [-xy, y, -yz], [-xz, -yz, z]]) @ rotation.T
    found = [turned[0, 0], turned[1, 1], turned[2, 2], -turned[0, 1], -turned[1, 2], -turned[0, 2]]
    return [expression(float(item)) for item in position], list(_without_rounding(found))


def _center(central: tuple[Transform, ...]) -> list[Expression]:
    center: list[Expression] = [ZERO, ZERO, ZERO]
    for one in central:
        assert isinstance(one, Shift)
        before = center[one.axis.value]
        center[one.axis.value] = one.distance if before == ZERO else before + one.distance
    return center


def _without_rounding(values: list[float]) -> Iterator[Expression]:
    least = 1e-15 * max(map(abs, values))
    return (expression(float(value)) if abs(value) > least else ZERO for value in values)
