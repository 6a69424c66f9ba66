"""Actuators of MJCF as inputs of the mechanism, and forces on joints, tendons and sites that follow from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from kinegraph.errors import ModelError
from kinegraph.io.mjcf.actuator_laws import (
    ActuatorLaw,
    activation_rate,
    clamped,
    motor_force,
    pid_force,
    servo_force,
    torque_limit,
)
from kinegraph.io.mjcf.equality import Parts, found_part
from kinegraph.io.mjcf.joints import SCALAR_JOINTS, MjcfJoint, MjcfJointKind, force_range
from kinegraph.io.mjcf.muscles import MuscleCurves
from kinegraph.io.mjcf.settings import ACTUATORS, Defaults, Settings, switched_range
from kinegraph.io.mjcf.tendon_paths import Extent, Sites, linear_form, scalar_product
from kinegraph.io.mjcf.tendons import Tendon
from kinegraph.io.mjcf.transforms import cleaned
from kinegraph.io.robot.findings import Findings
from kinegraph.io.robot.joint_motion import JointMotion, NameTable
from kinegraph.io.robot.placement import linear, plus
from kinegraph.io.robot.xml import Element
from kinegraph.model.axes import Axes
from kinegraph.model.constraints import Frame
from kinegraph.model.elements import Anchor, Force, Input, Moment, PointForce, Triple
from kinegraph.model.elements import Element as ForceElement
from kinegraph.model.evaluate import number
from kinegraph.model.expressions import Call, Expression, Name, Number, Operation, expression
from kinegraph.model.joint_models import length
from kinegraph.model.mechanism import ZERO, Coordinate, FirstOrderState, QuaternionCoordinates
from kinegraph.model.poses import Floats, pose
from kinegraph.model.report import FindingKind
from kinegraph.model.robot_data import ActuatorData, Extra, JointArmature, JointFriction

_TOPIC = "actuators"
_TARGETS = ("joint", "jointinparent", "tendon", "site", "cranksite", "body")
#: Gains, biases and activation dynamics whose forces are known as expressions.
_GAINS = frozenset({"fixed", "affine", "pid", "dcmotor", "muscle"})
_BIASES = frozenset({"none", "affine", "dcmotor", "muscle"})
_ACTIVATIONS = frozenset({"integrator", "filter", "filterexact", "muscle"})


class UnsupportedActuatorError(Exception):
    """Why an actuator does not drive anything; the report says it."""


@dataclass(frozen=True)
class Transmission:
    """How a force acts: its length and rate (None: not known as an expression), and the elements it becomes.

    shares: the factors of coordinates if it acts on coordinates alone. turn: the length is an angle, known up to
    multiples of 2 pi times this number (0: no angle).
    """

    extent: Extent
    elements: Callable[[str, Expression], Iterator[ForceElement]]
    has_length: bool = True
    has_rate: bool = True
    turn: float = 0.0
    tendon: str = ""


@dataclass(frozen=True)
class Drive:
    """An actuator that is read: its transmission, and its force before limits of tendons and joints."""

    name: str
    law: ActuatorLaw
    transmission: Transmission
    force: Expression


@dataclass
class ActuatorReader:
    """Reads the actuators of a model.

    `mobility` gives the inverse of the mass matrix at the start and the names of its rows, with the armature given.
    """

    parts: Parts
    sites: Sites
    tendons: Mapping[str, Tendon]
    names: NameTable
    settings: Settings
    defaults: Defaults
    findings: Findings
    mobility: Callable[[Sequence[JointArmature]], tuple[tuple[str, ...], Floats]]
    inputs: list[Input] = field(default_factory=list)
    states: list[FirstOrderState] = field(default_factory=list)
    extras: list[Extra] = field(default_factory=list)

    def elements(self, root: Element) -> list[ForceElement]:
        """The forces of all actuators; their inputs, activations and other data are in `inputs`, `states`, `extras`."""
        drives: list[Drive] = []
        listed = list(self._laws(root))
        for name, _, law, element in listed:
            self._add_passive(name, law, element)
        for name, legal, law, element in listed:
            try:
                drives.append(self._drive(legal, law, element))
            except UnsupportedActuatorError as reason:
                message = f"<{element.tag}> {name}: {reason}"
                self.findings.add(FindingKind.LEFT_OUT, message, element.place, _TOPIC)
        return list(self._forces(drives))

    def _laws(self, root: Element) -> Iterator[tuple[str, str, ActuatorLaw, Element]]:
        """Name in the file, legal name, law and element of each actuator in force."""
        disabled = _groups(root)
        for group in root.all("actuator"):
            for element in (one for one in group.children if one.tag in ACTUATORS):
                law = self._law(element)
                name = element.get("name") or "_".join((*_targets(element), element.tag))
                if not self.settings.flags.actuation or law.word("group") in disabled:
                    what = f"<{element.tag}> of <actuator> that is disabled"
                    self.findings.count(FindingKind.NOT_USED, _TOPIC, what, element.place, name)
                    continue
                yield name, self._legal(name), law, element

    def _law(self, element: Element) -> ActuatorLaw:
        law = ActuatorLaw()
        for elements in self.defaults.actuators(element):
            law = law.in_class()
            for one in elements:
                law.apply(one)
        law.apply(element)
        return law

    def _legal(self, name: str) -> str:
        """A name for the input; that of a joint gets an ending."""
        taken = {one.text for _, motion in self.parts.joints.values() for group in motion.displacements
                 for one in group if isinstance(one, Name)}  # fmt: skip
        return self.names.fresh(f"{name}_ctrl" if name in taken else name)

    def _add_passive(self, name: str, law: ActuatorLaw, element: Element) -> None:
        """Armature and damping that an actuator adds to its joint, behind its gear."""
        square = law.gear[0] ** 2
        damping = [square * item for item in law.shared.get("damping", []) if self.settings.flags.dampers]
        inertia = square * law.number("armature")
        if not any(damping) and not inertia:
            return
        word = element.get("joint") or element.get("jointinparent")
        if word is None or word not in self.parts.joints:
            what = "armature and damping of an actuator that drives no joint"
            self.findings.count(FindingKind.LEFT_OUT, _TOPIC, what, element.place, name)
            return
        _, motion = self.parts.joints[word]
        for moved in motion.displacements:
            if any(damping):
                while not damping[-1]:
                    damping.pop()
                first, *higher = map(Number, damping)
                self.extras.append(JointFriction(word, moved, first, higher=tuple(higher)))
            if inertia:
                self.extras.append(JointArmature(word, moved, Number(inertia)))

    # one actuator

    def _drive(self, legal: str, law: ActuatorLaw, element: Element) -> Drive:
        unknown = ({law.gain} - _GAINS) | ({law.bias} - _BIASES)
        if law.dynamics not in ("none", *_ACTIVATIONS):
            unknown |= {law.dynamics}
        if unknown:
            raise UnsupportedActuatorError(f"{' and '.join(sorted(unknown))} actuators are not supported")
        if law.dynamics in ("filter", "filterexact") and law.dynamics_values[0] <= 0:
            raise UnsupportedActuatorError("the time constant of its activation is not positive")
        if law.word("actearly") == "true" and law.dynamics != "none":
            raise UnsupportedActuatorError('actearly uses the activation of the next step; write actearly="false"')
        states = [name for name in ("ki", "slewmax", "inductance", "thermal", "lugre") if any(law.own.get(name, ()))]
        if any(law.value("controller", place) for place in (1, 3)):
            states.append("ki or slewmax of controller")
        if states:
            raise UnsupportedActuatorError(f"{', '.join(states)} needs states of its own; set it to zero")
        if "muscle" in (law.gain, law.bias):
            lower, upper = law.shared.get("lengthrange", [Fraction(0), Fraction(0)])
            if lower >= upper:
                remedy = "MuJoCo finds it by a simulation and writes it into the file that mj_saveLastXML saves"
                raise UnsupportedActuatorError(f"it has no lengthrange; {remedy}")
        transmission = self._transmission(element, law)
        _check_measured(law, transmission)
        if single_delay := law.number("delay"):
            message = f"the delay of {float(single_delay):g} s of <{element.tag}> {legal}: its input acts at once"
            self.findings.add(FindingKind.LEFT_OUT, message, element.place, _TOPIC)
        force = self._force(legal, law, transmission, element)
        return Drive(legal, law, transmission, force)

    def _force(self, legal: str, law: ActuatorLaw, transmission: Transmission, element: Element) -> Expression:
        along, rate = transmission.extent.value, transmission.extent.rate
        muscle = self._muscle(law, transmission) if "muscle" in (law.gain, law.bias) else None
        controls = self._controls(legal, law, element)
        self._resolve_damping_ratio(law, transmission, element)
        if law.gain == "pid":
            return pid_force(law, controls, along, rate, (-law.bias_values[1], -law.bias_values[2]))
        if law.gain == "dcmotor":
            return motor_force(law, controls, along, rate)
        if transmission.turn and _is_position_servo(law):
            stiffness, turn = law.gain_values[0], Fraction(repr(transmission.turn))
            error = linear(1 / turn, Operation("-", (controls[""], along)))
            nearest = Call("atan2", (Call("sin", (error,)), Call("cos", (error,))))
            return plus(linear(stiffness * turn, nearest), linear(law.bias_values[2], rate))
        return servo_force(law, controls[""], along, rate, muscle)

    def _muscle(self, law: ActuatorLaw, transmission: Transmission) -> tuple[MuscleCurves, MuscleCurves]:
        """The curves of the active and of the passive force. A force that is not stated follows from the acceleration
        that a unit force gives at the start."""
        lower, upper = law.shared["lengthrange"]
        found = []
        for values in (law.gain_values, law.bias_values):
            force = values[2]
            if force < 0:
                force = values[3] / max(self._unit_acceleration(transmission), Fraction(1, 10**15))
            found.append(MuscleCurves(values, lower, upper, force))
        return found[0], found[1]

    def _unit_acceleration(self, transmission: Transmission) -> Fraction:
        """The length of the acceleration of all coordinates that a unit force gives at the start."""
        rows, inverse = self.mobility([one for one in self.extras if isinstance(one, JointArmature)])
        shares = transmission.extent.shares
        if shares is None:
            raise UnsupportedActuatorError("its force follows from the masses it moves; write force")
        row = np.zeros(len(rows))
        for name, share in shares:
            row[rows.index(f"{name}'")] = float(share)
        return Fraction(repr(float(np.linalg.norm(inverse @ row))))

    def _controls(self, legal: str, law: ActuatorLaw, element: Element) -> dict[str, Expression]:
        """The clamped controls; the activation stands for the control of an actuator that has one."""
        found: dict[str, Expression] = {}
        named = law.inputs if law.gain in ("pid", "dcmotor") else ("",)
        ranges: list[tuple[Expression, Expression] | None] = []
        labels: list[str] = []
        for place, word in enumerate(named):
            several = f"_{word}" if len(named) > 1 else ""
            label = self.names.fresh(legal + several) if several else legal
            within = self._control_range(law, word, place, element)
            found[word] = clamped(Name(label), within if self.settings.flags.control_limits else None)
            ranges.append(None if within is None else (Number(within[0]), Number(within[1])))
            labels.append(label)
            self.inputs.append(Input(label))
        state = ""
        if law.dynamics in _ACTIVATIONS:
            state = self.names.fresh(f"{legal}_act")
            rate = activation_rate(law, found[""], Name(state), self._activation_range(law, element))
            self.states.append(FirstOrderState(state, rate))
            found[""] = Name(state)
        self.extras.append(ActuatorData(element.get("name") or legal, tuple(labels), tuple(ranges), state))
        return found

    def _activation_range(self, law: ActuatorLaw, element: Element) -> tuple[Fraction, Fraction] | None:
        if law.inherited and law.dynamics == "integrator":
            return self._inherited(law, element)
        return law.limits("actrange", "actlimited", self.settings.automatic_limits)

    def _control_range(
        self, law: ActuatorLaw, word: str, place: int, element: Element
    ) -> tuple[Fraction, Fraction] | None:
        if place and f"{word}range" in law.own:
            return law.value(f"{word}range"), law.value(f"{word}range", 1)
        if place and law.gain == "pid":
            return None
        servo = law.gain == "pid" or _is_position_servo(law)
        if law.inherited and servo and law.dynamics != "integrator":
            return self._inherited(law, element)
        return law.limits("ctrlrange", "ctrllimited", self.settings.automatic_limits)

    def _inherited(self, law: ActuatorLaw, element: Element) -> tuple[Fraction, Fraction]:
        """The range of the joint or tendon, widened by a factor about its middle."""
        joint, tendon = element.get("joint") or "", element.get("tendon") or ""
        ends: list[float] | None = None
        if joint in self.parts.ranges:
            ends = [float(number(item, {})) for item in self.parts.ranges[joint]]
        elif tendon in self.tendons:
            written = switched_range(self.tendons[tendon].element, "limited", "range", self.settings)
            ends = [float(item.value) for item in written] if written else None
        if ends is None:
            message = f"<{element.tag}> inherits a range from a target without one"
            raise ModelError(message, element.place, "give the joint or tendon a range, or write ctrlrange")
        middle, half = (ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2 * float(law.inherited)
        return Fraction(repr(middle - half)), Fraction(repr(middle + half))

    def _resolve_damping_ratio(self, law: ActuatorLaw, transmission: Transmission, element: Element) -> None:
        """Replace a damping ratio by the damping of the mass that the actuator moves at the start."""
        stiffness, ratio = -law.bias_values[1], law.bias_values[2]
        if ratio <= 0 or not (law.gain == "pid" or _is_position_servo(law)):
            return
        shares = transmission.extent.shares
        if not shares:
            raise UnsupportedActuatorError("dampratio is supported for joints and fixed tendons; write kv")
        rows, inverse = self.mobility([one for one in self.extras if isinstance(one, JointArmature)])
        row = np.zeros(len(rows))
        for name, share in shares:
            row[rows.index(f"{name}'")] = float(share)
        mass = 1 / float(row @ inverse @ row)
        law.bias_values[2] = -Fraction(repr(2 * float(ratio) * math.sqrt(float(stiffness) * mass)))

    # transmissions

    def _transmission(self, element: Element, law: ActuatorLaw) -> Transmission:
        given = [word for word in _TARGETS if element.get(word)]
        if len(given) != 1:
            message = f"<{element.tag}> needs one target: {', '.join(_TARGETS)}"
            raise ModelError(message, element.place, "name one of them")
        match given[0]:
            case "tendon":
                return self._along_tendon(element, law)
            case "site":
                return self._at_site(element, law)
            case "cranksite":
                return self._slider_crank(element, law)
            case "body":
                message = f"<{element.tag}> {element.get('name') or ''} acts on contacts only, which have no such force"
                self.findings.add(FindingKind.CONTACTS, message, element.place, "adhesion")
                return Transmission(Extent(ZERO, ZERO), _no_elements)
        joint, motion = found_part(self.parts.joints, element, given[0])
        if joint.kind in SCALAR_JOINTS:
            ((own,),) = motion.displacements
            assert isinstance(own, Name)
            return _on_extent(linear_form([(own.text, law.gear[0])]))
        return _on_rotation(joint, motion, law.gear, given[0] == "jointinparent")

    def _along_tendon(self, element: Element, law: ActuatorLaw) -> Transmission:
        tendon = found_part(self.tendons, element, "tendon")
        if tendon.extent is None:
            raise UnsupportedActuatorError(f"the path of its tendon {tendon.name} is not supported")
        return _on_extent(tendon.extent.scaled(law.gear[0]), tendon.name)

    def _slider_crank(self, element: Element, law: ActuatorLaw) -> Transmission:
        """The position of a slider that a rod connects to a crank: a.v - sqrt((a.v)^2 + r^2 - v.v)."""
        for word in ("cranksite", "slidersite"):
            found_part(self.sites.frames, element, word)
        crank, slider = element.required("cranksite"), element.required("slidersite")
        rod = law.number("cranklength")
        axis, axis_rate = self.sites.axis(slider)
        steps, rates = (
            [Operation("-", pair) for pair in zip(read(crank), read(slider), strict=True)]
            for read in (self.sites.position, self.sites.velocity)
        )
        along = scalar_product(axis, steps)
        along_rate = plus(scalar_product(axis, rates), scalar_product(axis_rate, steps))
        inside = along * along + Number(rod * rod) - scalar_product(steps, steps)
        root = Call("sqrt", (Call("max", (inside, Number(Fraction(1, 10**200)))),))
        slope = (along * along_rate - scalar_product(steps, rates)) / root
        reachable = Call("select", (inside, Number(Fraction(1)), ZERO))
        value, rate = along - reachable * root, along_rate - reachable * slope
        return _on_extent(Extent(value, rate).scaled(law.gear[0]))

    def _at_site(self, element: Element, law: ActuatorLaw) -> Transmission:
        """A force and a moment in the axes of a site, or of a reference site of the fixed frame."""
        frame = found_part(self.sites.frames, element, "site")
        gear = [float(item) for item in law.gear]
        if frame.body is None:
            raise UnsupportedActuatorError("its site is fixed, so it moves nothing")
        if not element.get("refsite"):
            return _wrench(frame, gear, pose(frame.transforms)[0], Axes.BODY, _NOWHERE, known=False)
        reference = found_part(self.sites.frames, element, "refsite")
        if reference.body is not None:
            raise UnsupportedActuatorError("its refsite moves; only reference sites of the world are supported")
        turned, origin = pose(reference.transforms)
        along = _numbers(turned @ gear[:3])
        site = element.required("site")
        here = self.sites.position(site)
        steps = [plus(item, expression(-float(start))) for item, start in zip(here, origin, strict=True)]
        extent = Extent(scalar_product(along, steps), scalar_product(along, self.sites.velocity(site)))
        return _wrench(frame, gear, turned, Axes.WORLD, extent, known=not any(gear[3:]))

    # forces with the limits of tendons and joints

    def _forces(self, drives: Sequence[Drive]) -> Iterator[ForceElement]:
        limits = {
            name: force_range(joint, self.settings)
            for joint, motion in self.parts.joints.values()
            if force_range(joint, self.settings) is not None
            for name in _scalar_name(motion)
        }
        totals: dict[str, Expression] = {}
        for drive in drives:
            force = clamped(self._tendon_limited(drive, drives), self._force_limits(drive.law))
            shares = drive.transmission.extent.shares
            if shares is None or not any(name in limits for name, _ in shares):
                self._report_unlimited(drive, shares, bool(limits))
                yield from drive.transmission.elements(f"drive_{drive.name}", force)
                continue
            for name, share in shares:
                part = linear(share, force)
                if name in limits:
                    totals[name] = plus(totals[name], part) if name in totals else part
                else:
                    yield Force(f"drive_{drive.name}_on_{name}", part, Name(name))
        for name, total in totals.items():
            ends = limits[name]
            assert ends is not None
            yield Force(f"drive_on_{name}", clamped(total, (ends[0].value, ends[1].value)), Name(name))

    def _report_unlimited(self, drive: Drive, shares: object, any_limits: bool) -> None:
        if shares is None and any_limits:
            what = "actuatorfrcrange of joints, for actuators on sites and spatial tendons"
            self.findings.count(FindingKind.LEFT_OUT, _TOPIC, what, None, drive.name)

    def _force_limits(self, law: ActuatorLaw) -> tuple[Fraction, Fraction] | None:
        if law.gain == "dcmotor":
            return torque_limit(law)
        return law.limits("forcerange", "forcelimited", self.settings.automatic_limits)

    def _tendon_limited(self, drive: Drive, drives: Iterable[Drive]) -> Expression:
        """The force, scaled down if all forces on its tendon together exceed the limits of the tendon."""
        tendon = self.tendons.get(drive.transmission.tendon)
        if tendon is None:
            return drive.force
        ends = switched_range(tendon.element, "actuatorfrclimited", "actuatorfrcrange", self.settings)
        if ends is None:
            return drive.force
        low, high = ends[0].value, ends[1].value
        others = [one.force for one in drives if one.transmission.tendon == tendon.name]
        if len(others) == 1:
            return clamped(drive.force, (low, high))
        total = others[0]
        for one in others[1:]:
            total = plus(total, one)
        above, below = (Operation("-", pair) for pair in ((total, Number(high)), (Number(low), total)))
        shrunk = [Operation("/", (Operation("*", (Number(end), drive.force)), total)) for end in (high, low)]
        return Call("select", (above, shrunk[0], Call("select", (below, shrunk[1], drive.force))))


_NOWHERE = Extent(ZERO, ZERO)


def _check_measured(law: ActuatorLaw, transmission: Transmission) -> None:
    """Raise UnsupportedActuatorError if a law needs a length or rate that its transmission does not have."""
    values = [*law.bias_values[1:3]] if law.bias == "affine" else []
    values += [*law.gain_values[1:3]] if law.gain == "affine" else []
    uses_length, uses_rate = any(values[::2]), any(values[1::2])
    if law.gain == "dcmotor" or "muscle" in (law.gain, law.bias):
        uses_length = uses_rate = True
    if (uses_rate and not transmission.has_rate) or (uses_length and not transmission.has_length):
        raise UnsupportedActuatorError("feedback of the motion of a rotating site is not supported")


def _is_position_servo(law: ActuatorLaw) -> bool:
    return law.gain == "fixed" and law.bias == "affine" and law.gain_values[0] == -law.bias_values[1] != 0


def _on_extent(extent: Extent, tendon: str = "") -> Transmission:
    """A force along a length; it moves nothing if the length does not change."""

    def elements(name: str, force: Expression) -> Iterator[ForceElement]:
        if extent.rate != ZERO:
            yield Force(name, force, extent.value)

    return Transmission(extent, elements, tendon=tendon)


def _on_rotation(joint: MjcfJoint, motion: JointMotion, gear: Sequence[Fraction], in_parent: bool) -> Transmission:
    """A moment on a ball joint; a force and a moment on a free joint, whose length is zero."""
    group = motion.coordinates[-1]
    assert isinstance(group, QuaternionCoordinates)
    free = joint.kind is MjcfJointKind.FREE
    axis = [Number(item) for item in (gear[3:] if free else gear[:3])]
    turned: Sequence[Expression] = _rotated_back(group, axis) if in_parent else axis
    rate = scalar_product(turned, [Name(name) for name in group.velocities])
    if free:
        moves = [one for one in motion.coordinates if isinstance(one, Coordinate)]
        for factor, one in zip(gear[:3], moves, strict=True):
            rate = plus(rate, linear(factor, Name(one.name + "'"))) if factor else rate
    value = ZERO if free else scalar_product(turned, rotation_vector(group))

    def elements(name: str, force: Expression) -> Iterator[ForceElement]:
        if rate != ZERO:
            yield Force(name, force, rate)

    turn = 0.0 if free else math.sqrt(sum(float(item) ** 2 for item in gear[:3]))
    return Transmission(Extent(value, rate), elements, turn=turn)


def rotation_vector(group: QuaternionCoordinates) -> list[Expression]:
    """The axis of a quaternion times its angle, from -pi to pi."""
    e0, *e = (Name(name) for name in group.names)
    size = length(e)
    angle = Call("select", (e0, Number(Fraction(2)), Number(Fraction(-2)))) * Call("atan2", (size, Call("abs", (e0,))))
    return [angle * item / size for item in e]


def _rotated_back(group: QuaternionCoordinates, axis: Sequence[Expression]) -> list[Expression]:
    """A vector before a rotation, in the axes after it: R^T a = (2 e0^2 - 1) a + 2 e (e.a) - 2 e0 e x a."""
    e0, *e = (Name(name) for name in group.names)
    two = Number(Fraction(2))
    along = scalar_product(e, axis)
    found: list[Expression] = []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        cross = e[j] * axis[k] - e[k] * axis[j]
        found.append((two * e0 * e0 - 1) * axis[i] + two * e[i] * along - two * e0 * cross)
    return found


def _wrench(
    frame: Frame, gear: Sequence[float], rotation: Floats, axes: Axes, extent: Extent, known: bool
) -> Transmission:
    """A force and a moment at a point of a body; `rotation` turns gear into the axes."""
    assert frame.body is not None
    body, place = frame.body, _numbers(pose(frame.transforms)[1])
    push, twist = _numbers(rotation @ gear[:3]), _numbers(rotation @ gear[3:])

    def elements(name: str, force: Expression) -> Iterator[ForceElement]:
        if any(item != ZERO for item in push):
            yield PointForce(name, Anchor(body, place), _times(force, push), axes)
        if any(item != ZERO for item in twist):
            yield Moment(f"{name}_moment", body, _times(force, twist), axes)

    length_known = known or axes is Axes.BODY
    return Transmission(extent, elements, has_length=length_known, has_rate=known)


def _no_elements(name: str, force: Expression) -> Iterator[ForceElement]:
    return iter(())


def _numbers(values: Floats) -> Triple:
    x, y, z = cleaned(values)
    return x, y, z


def _times(force: Expression, factors: Triple) -> Triple:
    x, y, z = (linear(item.value, force) if isinstance(item, Number) else item for item in factors)
    return x, y, z


def _scalar_name(motion: JointMotion) -> Iterator[str]:
    ((own,),) = motion.displacements
    assert isinstance(own, Name)
    yield own.text


def _targets(element: Element) -> Iterator[str]:
    return (name for word in _TARGETS if (name := element.get(word)))


def _groups(root: Element) -> frozenset[str]:
    """The groups of actuators that <option> disables."""
    return frozenset(word for one in root.all("option") for word in (one.get("actuatorgroupdisable") or "").split())
