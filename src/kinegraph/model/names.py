"""Legal names in a model, and suggestions for misspelled names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple

from kinegraph.model.expressions import RESERVED

#: Words that begin a statement of the model language; bodies cannot have these names.
STATEMENTS = (
    "model", "parameters", "coordinates", "quaternion", "gravity", "initial", "output", "accept", "inputs",
    "spring", "damper", "friction", "force", "moment", "potential", "limit", "shape", "armature",
    "define", "quasivelocity", "unknown", "state", "loop", "constraint", "contact", "impacts", "cut", "platform",
)  # fmt: skip

#: Maximum length of a name.
MAX_NAME = 200

_NAME = re.compile(r"[^\W\d_][\w$]*")
_COMPONENT = re.compile(r"([^.']*)\.([^.']*)('?)")
_MODEL_NAME = re.compile(r"[\w$.-]+")


def name_fault(name: str) -> str | None:
    """Why this cannot name a parameter, coordinate, velocity, point or body; None if it can."""
    if len(name) > MAX_NAME:
        return f"is longer than {MAX_NAME} characters"
    if not _NAME.fullmatch(name):
        return "is not a valid name: start with a letter, then use letters, digits, _ and $"
    return "is a reserved name" if name in RESERVED else None


#: Components of a point, and of the angular velocity of its body, in the fixed frame.
AXES = ("x", "y", "z")
SPINS = ("wx", "wy", "wz")


class Component(NamedTuple):
    """A coordinate of a point in the fixed frame, its rate, or an angular velocity: `tip.x`, `tip.x'`, `tip.wz`."""

    point: str
    axis: str
    primed: bool

    @property
    def exists(self) -> bool:
        """Whether points have such a component."""
        return self.axis in AXES or (self.axis in SPINS and not self.primed)

    @property
    def rate(self) -> bool:
        """Whether it is a velocity."""
        return self.primed or self.spin

    @property
    def spin(self) -> bool:
        """Whether it is an angular velocity."""
        return self.axis in SPINS

    @property
    def row(self) -> int:
        """Its entry in the position of a point, or in the six velocities of `velocity:POINT`."""
        return 3 + SPINS.index(self.axis) if self.spin else AXES.index(self.axis)


def component(name: str) -> Component | None:
    """The parts of a name with a dot; None for an ordinary name."""
    found = _COMPONENT.fullmatch(name)
    return Component(found[1], found[2], bool(found[3])) if found else None


def is_rate(name: str) -> bool:
    """Whether a name is a velocity by its form: `q1'`, `tip.x'`, `Body.wz`."""
    found = component(name)
    return name.endswith("'") or (found is not None and found.spin)


def model_name_fault(name: str) -> str | None:
    """Why this cannot name a mechanism; None if it can."""
    if len(name) <= MAX_NAME and _MODEL_NAME.fullmatch(name):
        return None
    return f"is not a valid model name: use up to {MAX_NAME} letters, digits, _ $ . -"


def model_name_from(stem: str) -> str:
    """A legal model name from the stem of a file name."""
    return re.sub(r"[^\w$.-]+", "-", stem)[:MAX_NAME].strip("-") or "mechanism"


_RATE = re.compile(r"(?:d_?(?P<behind>.+)|(?P<before>.+?)_?d(?:ot)?)(?:_?dt)?")


def velocity_meant(name: str, coordinates: Iterable[str]) -> str:
    """The velocity that `qdot`, `q_dot`, `qd` or `dq` probably means; empty if there is no such coordinate."""
    found = _RATE.fullmatch(name)
    known = set(coordinates)
    for meant in (found["before"], found["behind"]) if found else ():
        if meant in known:
            return f"{meant}'"
    return ""


#: Names of conditional expressions in other languages.
CHOICES = frozenset({"if", "iif", "ifelse", "ite", "cond", "where", "when", "piecewise", "case", "heaviside", "step"})
CHOICE_REMEDY = "for a conditional expression write `select(c, a, b)`: a if c >= 0, else b"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A remedy with the closest known name, or with a list of the known names; empty if there are none."""
    options = sorted(set(known))
    close = get_close_matches(name, [o for o in options if abs(len(o) - len(name)) <= 3][:5000], n=1)
    if not close:
        close = [option for option in options if option.casefold() == name.casefold()][:1]
    if close:
        return f"did you mean `{close[0]}`?"
    listed = ", ".join(options[:12]) + (", ..." if len(options) > 12 else "")
    return f"available: {listed}" if options else ""
