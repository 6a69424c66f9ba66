"""<compiler> and <option>: how the rest of the file is to be understood."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from kinegraph.errors import ModelError
from kinegraph.io.robot.attributes import single, vector
from kinegraph.io.robot.xml import Element
from kinegraph.model.expression import Expression, Number


class InertiaFromGeoms(Enum):
    """When the inertia of a body comes from its geoms."""

    AUTO = "auto"
    ALWAYS = "true"
    NEVER = "false"


@dataclass(frozen=True)
class Settings:
    """What holds for the whole model."""

    degrees: bool
    euler_sequence: str
    automatic_limits: bool
    inertia_from_geoms: InertiaFromGeoms
    geom_groups: tuple[int, int]
    mesh_folder: str
    total_mass: Fraction | None
    gravity: tuple[Expression, Expression, Expression]
    contacts: bool


def read_settings(root: Element) -> Settings:
    """The settings of a model; of several <compiler> or <option> elements the last word counts."""
    compiler = _merged(root, "compiler")
    option = _merged(root, "option")
    if compiler.get("coordinate") == "global":
        remedy = "save the model with MuJoCo 2.1 or later, which writes local coordinates"
        raise ModelError("global coordinates are not supported", compiler.place, remedy)
    groups = vector(compiler, "inertiagrouprange", 2)
    first, last = (int(item.value) for item in groups) if groups else (0, 5)
    return Settings(
        degrees=(compiler.get("angle") or "degree") == "degree",
        euler_sequence=_euler_sequence(compiler),
        automatic_limits=compiler.get("autolimits") != "false",
        inertia_from_geoms=_inertia_from_geoms(compiler),
        geom_groups=(first, last),
        mesh_folder=compiler.get("meshdir") or compiler.get("assetdir") or "",
        total_mass=_positive(single(compiler, "settotalmass")),
        gravity=_gravity(root, option),
        contacts=not _switched_off(root, "contact"),
    )


def _merged(root: Element, tag: str) -> Element:
    found = list(root.all(tag))
    together: dict[str, str] = {}
    for element in found:
        together.update(element.attributes)
    return Element(tag, together, (found[-1] if found else root).place)


def _inertia_from_geoms(compiler: Element) -> InertiaFromGeoms:
    word = compiler.get("inertiafromgeom") or "auto"
    try:
        return InertiaFromGeoms(word)
    except ValueError:
        raise ModelError(f"inertiafromgeom is `{word}`", compiler.place, "write auto, true or false") from None


def _positive(value: Fraction | None) -> Fraction | None:
    return value if value is not None and value > 0 else None


def _euler_sequence(compiler: Element) -> str:
    sequence = compiler.get("eulerseq") or "xyz"
    if len(sequence) != 3 or set(sequence.lower()) - set("xyz"):
        raise ModelError(f"eulerseq is `{sequence}`", compiler.place, "write three of x y z X Y Z, e.g. xyz")
    return sequence


def _gravity(root: Element, option: Element) -> tuple[Expression, Expression, Expression]:
    off = _switched_off(root, "gravity")
    written = vector(option, "gravity", 3)
    x, y, z = (item.value for item in written) if written else (Fraction(0), Fraction(0), Fraction("-9.81"))
    return (Number(x), Number(y), Number(z)) if not off else (Number(Fraction(0)),) * 3


def _switched_off(root: Element, flag: str) -> bool:
    flags = (found for option in root.all("option") for found in option.all("flag"))
    return any(found.get(flag) == "disable" for found in flags)
