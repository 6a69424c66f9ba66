"""What may be called what in a model, and what the user probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple

from kinegraph.model.expression import RESERVED

#: Words that begin a statement of the model language; no body may be called so.
STATEMENTS = (
    "model", "parameters", "coordinates", "quaternion", "gravity", "initial", "output", "accept", "inputs",
    "spring", "damper", "friction", "force", "moment", "potential", "limit", "bumper", "shape", "armature",
    "define", "quasivelocity", "unknown", "loop", "constraint", "contact", "impacts", "cut", "platform",
)  # fmt: skip

#: Longest name of anything.
MAX_NAME = 200

_NAME = re.compile(r"[^\W\d_][\w$]*")
_COMPONENT = re.compile(r"([^.']*)\.([^.']*)('?)")
_MODEL_NAME = re.compile(r"[\w$.-]+")


def name_fault(name: str) -> str | None:
    """Why this cannot name a parameter, coordinate, velocity, point or body; None if it can."""
    if len(name) > MAX_NAME:
        return f"is longer than {MAX_NAME} characters"
    if not _NAME.fullmatch(name):
        return "is not a name: a letter comes first, then letters, digits, _ and $"
    return "has a fixed meaning in every model" if name in RESERVED else None


class Component(NamedTuple):
    """A coordinate of a point in the fixed frame, or its rate: `tip.x`, `tip.x'`."""

    point: str
    axis: str
    rate: bool

    @property
    def exists(self) -> bool:
        """Whether points have such a coordinate."""
        return self.axis in ("x", "y", "z")


def component(name: str) -> Component | None:
    """A name with a dot taken apart; None if it is an ordinary name."""
    found = _COMPONENT.fullmatch(name)
    return Component(found[1], found[2], bool(found[3])) if found else None


def model_name_fault(name: str) -> str | None:
    """Why this cannot name a mechanism; None if it can."""
    if len(name) <= MAX_NAME and _MODEL_NAME.fullmatch(name):
        return None
    return f"is not a model name: up to {MAX_NAME} letters, digits, _ $ . -"


def model_name_from(stem: str) -> str:
    """A legal model name from a file's name without its ending."""
    return re.sub(r"[^\w$.-]+", "-", stem)[:MAX_NAME].strip("-") or "mechanism"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A remedy naming the closest known name, or listing what there is; empty if there is nothing."""
    options = sorted(set(known))
    close = get_close_matches(name, [o for o in options if abs(len(o) - len(name)) <= 3][:5000], n=1)
    if not close:
        close = [option for option in options if option.casefold() == name.casefold()][:1]
    if close:
        return f"did you mean `{close[0]}`?"
    listed = ", ".join(options[:12]) + (", ..." if len(options) > 12 else "")
    return f"known here: {listed}" if options else ""
