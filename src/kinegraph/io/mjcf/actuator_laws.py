"""Attributes of MJCF actuators: the general actuator that each shortcut stands for, and its force as an expression."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from kinegraph.errors import ModelError
from kinegraph.io.mjcf.muscles import MUSCLE_TIMES, MUSCLE_VALUES, MuscleCurves, muscle_rate
from kinegraph.io.robot.placement import linear, plus
from kinegraph.io.robot.xml import Element, numbers, single
from kinegraph.model.expressions import Call, Expression, Number, Operation
from kinegraph.model.mechanism import ZERO

Values = list[Fraction]

_SIZE = 10  # of gainprm, biasprm and dynprm
#: The attributes that all actuators share, with the number of values.
_SHARED = {"ctrlrange": 2, "forcerange": 2, "actrange": 2, "gear": 6, "damping": 3, "lengthrange": 2}
_WORDS = ("ctrllimited", "forcelimited", "actlimited", "input", "group", "delay", "armature", "cranklength", "actearly")
_INPUTS = {"pid": ("pos", "vel", "ff"), "dcmotor": ("pos", "vel", "ff", "voltage")}


def _zeros(*first: int) -> Values:
    return [Fraction(item) for item in (*first, *[0] * (_SIZE - len(first)))]


_GENERAL = "general"
#: What the elements motor, position, velocity, ... set, each in its own way.
_SHORTCUT_WORDS = ("dynamics", "gain", "bias", "shortcut")
_SHORTCUT_VALUES = ("dynamics_values", "gain_values", "bias_values")


@dataclass
class ActuatorLaw:
    """The general actuator that an element and its default classes describe, in the words of MJCF.

    bias[2] above zero is a damping ratio. `own`: attributes of the shortcut itself; the last value of each wins.
    `shortcut`: the element that has set the gains. `outer`: the law of the class around this one.
    """

    dynamics: str = "none"
    dynamics_values: Values = field(default_factory=lambda: _zeros(1))
    gain: str = "fixed"
    gain_values: Values = field(default_factory=lambda: _zeros(1))
    bias: str = "none"
    bias_values: Values = field(default_factory=_zeros)
    shared: dict[str, Values] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    own: dict[str, Values] = field(default_factory=dict)
    inherited: Fraction = Fraction(0)
    shortcut: str = _GENERAL
    outer: ActuatorLaw | None = None

    def in_class(self) -> ActuatorLaw:
        """The law with which a default class inside this one begins."""
        copy = replace(self, outer=self, shared=dict(self.shared), words=dict(self.words), own=dict(self.own))
        for name in _SHORTCUT_VALUES:
            setattr(copy, name, list(getattr(self, name)))
        return copy

    def _take_gains_for(self, tag: str) -> None:
        """Gains that another shortcut has set do not count: those of the nearest class around that fits do."""
        law: ActuatorLaw | None = self
        while law is not None and law.shortcut not in (_GENERAL, tag):
            law = law.outer
        if law is not self:
            fitting = law or ActuatorLaw()
            for name in _SHORTCUT_WORDS:
                setattr(self, name, getattr(fitting, name))
            for name in _SHORTCUT_VALUES:
                setattr(self, name, list(getattr(fitting, name)))

    def apply(self, element: Element) -> None:
        """Take the attributes of an element of a default class, or of the actuator itself."""
        if element.tag != _GENERAL:
            self._take_gains_for(element.tag)
        for name, most in _SHARED.items():
            found = _values(element, name, most)
            if found is not None:
                self.shared[name] = found
        self.words |= {name: word for name in _WORDS if (word := element.get(name)) is not None}
        self.inherited = _number(element, "inheritrange", self.inherited)
        _SHORTCUTS.get(element.tag, ActuatorLaw._other)(self, element)
        self.shortcut = element.tag

    @property
    def gear(self) -> Values:
        """The six entries of gear."""
        return _filled(self.shared.get("gear", []), [Fraction(item) for item in (1, 0, 0, 0, 0, 0)])

    def word(self, name: str) -> str:
        """An attribute that is a word or a number as text; empty if it is not given."""
        return self.words.get(name, "")

    def number(self, name: str) -> Fraction:
        """A shared attribute that is a number; zero if it is not given."""
        text = self.word(name)
        try:
            return Fraction(text) if text else Fraction(0)
        except ValueError:
            raise ModelError(f"{name} of an actuator is `{text}`, not a number") from None

    def limits(self, name: str, switch: str, automatic: bool) -> tuple[Fraction, Fraction] | None:
        """A range that is switched on, or given while limits are automatic."""
        word = self.word(switch) or "auto"
        found = self.shared.get(name)
        if word == "false" or (word == "auto" and (not automatic or found is None)):
            return None
        lower, upper = found or _zeros()[:2]
        return lower, upper

    @property
    def inputs(self) -> tuple[str, ...]:
        """The controls of an actuator with several; empty if it has a single one, without a name of its own."""
        if self.gain not in _INPUTS:
            return ()
        given = self.word("input").split() or (["pos", "vel"] if self.gain == "pid" else ["voltage"])
        return tuple(name for name in _INPUTS[self.gain] if name in given)

    # what each element of MJCF sets

    def _other(self, element: Element) -> None:
        self.gain = self.bias = element.tag

    def _general(self, element: Element) -> None:
        self.dynamics = element.get("dyntype") or self.dynamics
        self.gain = element.get("gaintype") or self.gain
        self.bias = element.get("biastype") or self.bias
        for name, mine in (
            ("dynprm", self.dynamics_values),
            ("gainprm", self.gain_values),
            ("biasprm", self.bias_values),
        ):
            mine[:] = _filled(_values(element, name, 100) or [], mine)[:_SIZE]

    def _motor(self, element: Element) -> None:
        self.dynamics, self.gain, self.bias = "none", "fixed", "none"
        self.gain_values, self.bias_values = _zeros(1), _zeros()

    def _position(self, element: Element) -> None:
        stiffness = _number(element, "kp", self.gain_values[0])
        self.gain, self.bias = "fixed", "affine"
        self.gain_values = [stiffness, *_zeros()[1:]]
        self.bias_values = [Fraction(0), -stiffness, self._damping(element), *_zeros()[3:]]
        time = single(element, "timeconst")
        if time is not None:
            self.dynamics_values[0] = time
            self.dynamics = "filterexact" if time else "none"

    def _damping(self, element: Element) -> Fraction:
        """The third bias value: negative for a coefficient, positive for a damping ratio."""
        rate, ratio = single(element, "kv"), single(element, "dampratio")
        if rate is not None and ratio is not None:
            message = f"<{element.tag}> has both kv and dampratio"
            raise ModelError(message, element.place, "write one of them")
        if rate is not None:
            return -rate
        return self.bias_values[2] if ratio is None else ratio

    def _integrated(self, element: Element) -> None:
        self._position(element)
        self.dynamics = "integrator"
        self.words.setdefault("actlimited", "true")

    def _velocity(self, element: Element) -> None:
        rate = _number(element, "kv", self.gain_values[0])
        self.dynamics, self.gain, self.bias = "none", "fixed", "affine"
        self.gain_values = [rate, *_zeros()[1:]]
        self.bias_values = [Fraction(0), Fraction(0), -rate, *_zeros()[3:]]

    def _damper(self, element: Element) -> None:
        before = -self.gain_values[2] if self.shortcut == "damper" else Fraction(0)
        self.dynamics, self.gain, self.bias = "none", "affine", "none"
        self.gain_values = [Fraction(0), Fraction(0), -_number(element, "kv", before), *_zeros()[3:]]
        self.words["ctrllimited"] = "true"

    def _cylinder(self, element: Element) -> None:
        self.dynamics, self.gain, self.bias = "filter", "fixed", "affine"
        self.dynamics_values[0] = _number(element, "timeconst", self.dynamics_values[0])
        diameter = single(element, "diameter")
        area = _number(element, "area", self.gain_values[0])
        if diameter is not None:
            area = Fraction(repr(math.pi / 4 * float(diameter) ** 2))
        self.gain_values = [area, *_zeros()[1:]]
        self.bias_values = _filled(_values(element, "bias", 3) or [], self.bias_values)

    def _pid(self, element: Element) -> None:
        stiffness = _number(element, "kp", -self.bias_values[1] if self.gain == "pid" else Fraction(1))
        damping = self._damping(element) if self.gain == "pid" or _gives(element, "kv", "dampratio") else Fraction(0)
        self.gain, self.bias = "pid", "affine"
        self.bias_values = [Fraction(0), -stiffness, damping, *_zeros()[3:]]
        self._keep(element, ki=1, slewmax=1, velrange=2, ffrange=2)
        if (first := _values(element, "posrange", 2)) is not None:
            self.shared["ctrlrange"] = first

    def _dc_motor(self, element: Element) -> None:
        self.gain = self.bias = "dcmotor"
        self._keep(element, resistance=1, motorconst=2, nominal=3, saturation=3, inductance=2)
        self._keep(element, cogging=3, controller=6, thermal=6, lugre=5)

    def _adhesion(self, element: Element) -> None:
        self.dynamics, self.gain, self.bias = "none", "fixed", "none"
        self.gain_values = [_number(element, "gain", self.gain_values[0]), *_zeros()[1:]]
        self.words["ctrllimited"] = "true"

    def _muscle(self, element: Element) -> None:
        """What is not stated is that of a muscle, unless a class has set it."""
        if self.gain != "muscle":
            self.dynamics_values = _filled(MUSCLE_TIMES, _zeros())[:_SIZE]
            self.gain_values = _filled(MUSCLE_VALUES, _zeros())[:_SIZE]
        self.dynamics = self.gain = self.bias = "muscle"
        self.dynamics_values[:] = _filled(_values(element, "timeconst", 2) or [], self.dynamics_values)[:_SIZE]
        self.dynamics_values[2] = _number(element, "tausmooth", self.dynamics_values[2])
        self.gain_values[:] = _filled(_values(element, "range", 2) or [], self.gain_values)[:_SIZE]
        for place, name in enumerate(("force", "scale", "lmin", "lmax", "vmax", "fpmax", "fvmax"), start=2):
            self.gain_values[place] = _number(element, name, self.gain_values[place])
        self.bias_values = list(self.gain_values)

    def _keep(self, element: Element, **counts: int) -> None:
        for name, most in counts.items():
            found = _values(element, name, most)
            if found is not None:
                self.own[name] = found

    def value(self, name: str, place: int = 0) -> Fraction:
        """An entry of an attribute of the shortcut; zero if it is not given."""
        found = self.own.get(name, [])
        return found[place] if place < len(found) else Fraction(0)


_SHORTCUTS = {
    "general": ActuatorLaw._general,
    "motor": ActuatorLaw._motor,
    "position": ActuatorLaw._position,
    "intvelocity": ActuatorLaw._integrated,
    "velocity": ActuatorLaw._velocity,
    "damper": ActuatorLaw._damper,
    "cylinder": ActuatorLaw._cylinder,
    "pid": ActuatorLaw._pid,
    "dcmotor": ActuatorLaw._dc_motor,
    "muscle": ActuatorLaw._muscle,
    "adhesion": ActuatorLaw._adhesion,
}


def _values(element: Element, name: str, most: int) -> Values | None:
    found = numbers(element, name)
    if found is not None and len(found) > most:
        message = f"{name} of <{element.tag}> takes up to {most} numbers, found {len(found)}"
        raise ModelError(message, element.place, "remove the others")
    if found is not None and name.endswith("range") and len(found) < most:
        raise ModelError(f"{name} of <{element.tag}> takes two numbers, found {len(found)}", element.place, "give both")
    return None if found is None else [item.value for item in found]


def _number(element: Element, name: str, default: Fraction) -> Fraction:
    found = single(element, name)
    return default if found is None else found


def _gives(element: Element, *names: str) -> bool:
    return any(element.get(name) is not None for name in names)


def _filled(given: Sequence[Fraction], rest: Sequence[Fraction]) -> Values:
    return [*given, *rest[len(given) :]]


# Activations: variables of first order between a control and its force


def activation_rate(
    law: ActuatorLaw, control: Expression, state: Expression, limits: tuple[Fraction, Fraction] | None
) -> Expression:
    """The rate of the activation: the control (integrator), or (control - activation) / time constant (filters and
    muscles).

    At a limit the activation does not move outwards.
    """
    rate = control
    if law.dynamics == "muscle":
        rate = muscle_rate(law.dynamics_values, control, state)
    elif law.dynamics != "integrator":
        rate = Operation("/", (Operation("-", (control, state)), Number(law.dynamics_values[0])))
    if limits is None:
        return rate
    lower, upper = map(Number, limits)
    below = Call("select", (Operation("-", (upper, state)), rate, Call("min", (rate, ZERO))))
    return Call("select", (Operation("-", (state, lower)), below, Call("max", (below, ZERO))))


# Forces as expressions of the controls, the length and its rate


def clamped(item: Expression, limits: tuple[Fraction, Fraction] | None) -> Expression:
    """The expression, held between two limits."""
    if limits is None:
        return item
    lower, upper = map(Number, limits)
    return Call("max", (lower, Call("min", (item, upper))))


def affine(values: Sequence[Fraction], length: Expression, rate: Expression) -> Expression:
    """values[0] + values[1] length + values[2] rate."""
    constant, along, against = values[:3]
    total = plus(linear(along, length), linear(against, rate))
    return plus(total, Number(constant)) if constant else total


def servo_force(
    law: ActuatorLaw,
    control: Expression,
    length: Expression,
    rate: Expression,
    muscle: tuple[MuscleCurves, MuscleCurves] | None = None,
) -> Expression:
    """The force of fixed, affine or muscle gain and bias; `muscle` are the curves of the latter."""
    bias = affine(law.bias_values, length, rate) if law.bias == "affine" else ZERO
    if muscle is not None and law.bias == "muscle":
        bias = muscle[1].passive(length)
    if law.gain == "fixed":
        return plus(linear(law.gain_values[0], control), bias)
    if muscle is not None and law.gain == "muscle":
        return plus(Operation("*", (muscle[0].active(length, rate), control)), bias)
    return plus(Operation("*", (affine(law.gain_values, length, rate), control)), bias)


def pid_force(
    law: ActuatorLaw, controls: dict[str, Expression], length: Expression, rate: Expression, gains: Iterable[Fraction]
) -> Expression:
    """kp (position - length) + kv (velocity - rate) + feedforward; setpoints that are not given are zero."""
    total: Expression = controls.get("ff", ZERO)
    for gain, name, measured in zip(gains, ("pos", "vel"), (length, rate), strict=True):
        wanted = controls.get(name, ZERO)
        error = -measured if wanted == ZERO else Operation("-", (wanted, measured))
        total = plus(linear(gain, error), total) if gain else total
    return total


def motor_force(law: ActuatorLaw, controls: dict[str, Expression], length: Expression, rate: Expression) -> Expression:
    """The torque of a DC motor without states: K/R (voltage - K rate) + cogging."""
    constant, resistance = _motor_constants(law)
    voltage: Expression = controls.get("voltage", ZERO)
    if controls.keys() & {"pos", "vel", "ff"} and constant:
        torque = pid_force(law, controls, length, rate, (law.value("controller"), law.value("controller", 2)))
        drive = plus(linear(_decimal(resistance / constant), torque), linear(_decimal(constant), rate))
        most = law.value("controller", 5)
        voltage = plus(clamped(drive, (-most, most) if most else None), voltage)
    across = plus(voltage, linear(-_decimal(constant), rate))
    total = linear(_decimal(constant / resistance), across)
    amplitude, poles, phase = (law.value("cogging", place) for place in range(3))
    angle = plus(linear(poles, length), Number(phase)) if phase else linear(poles, length)
    return plus(total, linear(amplitude, Call("sin", (angle,)))) if amplitude else total


def torque_limit(law: ActuatorLaw) -> tuple[Fraction, Fraction] | None:
    """The limits of the torque of a DC motor."""
    most = law.value("saturation") or law.value("saturation", 1) * _decimal(_motor_constants(law)[0])
    return (-most, most) if most else None


def _motor_constants(law: ActuatorLaw) -> tuple[float, float]:
    """The motor constant and the resistance."""
    torque, emf = float(law.value("motorconst")), float(law.value("motorconst", 1))
    constant = math.sqrt(torque * emf) if torque and emf else torque + emf
    resistance = float(law.value("resistance"))
    voltage, stall, speed = (float(law.value("nominal", place)) for place in range(3))
    constant = constant or (voltage / speed if speed else 0.0)
    resistance = resistance or (constant * voltage / stall if stall else 0.0)
    if not resistance:
        raise ModelError("a dcmotor has no resistance", remedy="write resistance, or the nominal operating point")
    return constant, resistance


def _decimal(value: float) -> Fraction:
    return Fraction(repr(value))
