"""Whether a body's mass and moments of inertia can be those of a real body."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinegraph.errors import ModelError
from kinegraph.model.evaluate import Value, number
from kinegraph.model.expression import PI, Expression, names
from kinegraph.model.mechanism import ZERO, Body
from kinegraph.model.places import Places

MOMENTS = ("Jx", "Jy", "Jz", "Jxy", "Jyz", "Jxz")

_ROUNDING = 1e-9  # relative: a thin plate meets Jz = Jx + Jy with equality


def check_inertia(body: Body, values: Mapping[str, Value], places: Places) -> None:
    """Raise a ModelError for a negative mass, a tensor that is not positive semidefinite, or a broken inequality.

    Only what has a value is judged. The triangle inequality is asked only of a body whose three moments are all
    stated: a wheel that turns about z alone needs no more than Jz. Of a body with `accepted` inertia only the
    mass is judged.
    """
    stated = {letter for letter in ("mass", *MOMENTS) if getattr(body.inertia, letter) != ZERO}
    found = {}
    for letter in stated:
        written = getattr(body.inertia, letter)
        if names(written) <= values.keys() | {PI}:
            found[letter] = _amount(body, letter, written, values, places)
    for letter in ("mass",) if body.inertia.accepted else ("mass", "Jx", "Jy", "Jz"):
        if found.get(letter, 0.0) < 0:
            message = f"{letter} of {body.name} is negative: {found[letter]:g}"
            remedy = "masses and moments of inertia are positive or zero"
            if letter != "mass":
                remedy += f"; `accept inertia {body.name};` takes moments as they are stated"
            raise ModelError(message, places.of(body, letter), remedy)
    if found.keys() == stated and not body.inertia.accepted:
        _check_tensor(body, {letter: found.get(letter, 0.0) for letter in MOMENTS}, stated, places)


def _amount(body: Body, letter: str, written: Expression, values: Mapping[str, Value], places: Places) -> float:
    try:
        return number(written, values)
    except ModelError as error:
        raise ModelError(f"{letter} of {body.name}: {error}", places.of(body, letter)) from None


def _check_tensor(body: Body, J: dict[str, float], stated: set[str], places: Places) -> None:
    tensor = np.array([
        [J["Jx"], -J["Jxy"], -J["Jxz"]],
        [-J["Jxy"], J["Jy"], -J["Jyz"]],
        [-J["Jxz"], -J["Jyz"], J["Jz"]],
    ])  # fmt: skip
    slack = _ROUNDING * float(np.abs(tensor).max())
    principal = sorted(np.linalg.eigvalsh(tensor)) if any(J[p] for p in MOMENTS[3:]) else sorted(tensor.diagonal())
    moments_text = ", ".join(f"{moment:g}" for moment in principal)
    if principal[0] < -slack:
        message = f"the inertia of {body.name} is not positive: its principal moments are {moments_text}"
        remedy = f"make the products of inertia smaller, or write `accept inertia {body.name};` to take them as stated"
        raise ModelError(message, places.of(body, "Jx"), remedy)
    broken = principal[2] > principal[0] + principal[1] + slack
    if broken and {"Jx", "Jy", "Jz"} <= stated:
        message = (
            f"no real body has the inertia of {body.name}: of its principal moments {moments_text} one exceeds the sum"
        )
        remedy = f"correct the moments, or write `accept inertia {body.name};` to take them as stated"
        raise ModelError(f"{message} of the other two", places.of(body, "Jx"), remedy)
