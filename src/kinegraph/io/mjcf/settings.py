"""Compiler settings, options and default classes of an MJCF file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from kinegraph.errors import ModelError
from kinegraph.io.robot.xml import Element, Written, single, vector
from kinegraph.model.expressions import Expression, Number
from kinegraph.model.mechanism import ZERO
from kinegraph.model.names import did_you_mean

# <compiler> and <option>


class InertiaFromGeoms(Enum):
    """When the inertia of a body comes from its geoms."""

    AUTO = "auto"
    ALWAYS = "true"
    NEVER = "false"


@dataclass(frozen=True)
class InertiaBounds:
    """The minimum mass and principal moment of a body; `balance` makes impossible moments equal."""

    mass: Fraction = Fraction(0)
    moment: Fraction = Fraction(0)
    balance: bool = False

    @property
    def any(self) -> bool:
        """Whether any bound is set."""
        return bool(self.mass or self.moment or self.balance)


_FLAGS = ("gravity", "passive", "spring", "damper", "constraint", "frictionloss", "limit", "contact", "equality",
          "actuation", "clampctrl", "filterparent")  # fmt: skip


@dataclass(frozen=True)
class Flags:
    """What <flag> leaves enabled."""

    gravity: bool = True
    springs: bool = True
    dampers: bool = True
    dry_friction: bool = True
    limits: bool = True
    contacts: bool = True
    equality: bool = True
    actuation: bool = True
    control_limits: bool = True
    passive: bool = True
    filter_parents: bool = True


@dataclass(frozen=True)
class FluidSettings:
    """The fluid around all bodies."""

    density: float = 0.0
    viscosity: float = 0.0
    wind: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def acts(self) -> bool:
        """Whether the fluid exerts forces."""
        return self.density > 0 or self.viscosity > 0


@dataclass(frozen=True)
class Settings:
    """The settings of a model."""

    degrees: bool
    euler_sequence: str
    automatic_limits: bool
    inertia_from_geoms: InertiaFromGeoms
    geom_groups: tuple[int, int]
    inertia_bounds: InertiaBounds
    mesh_folder: str
    strip_paths: bool
    exact_meshes: bool
    fit_box: bool
    total_mass: Fraction | None
    gravity: tuple[Expression, Expression, Expression]
    flags: Flags
    align_free: bool
    fluid: FluidSettings
    changes_bodies: tuple[str, ...]


def read_settings(root: Element) -> Settings:
    """The settings of a model; the last of several <compiler> or <option> elements wins."""
    compiler = _merged(root.all("compiler"), root)
    option = _merged(root.all("option"), root)
    flags = _flags(root)
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
        inertia_bounds=_inertia_bounds(compiler),
        strip_paths=compiler.get("strippath") == "true",
        exact_meshes=compiler.get("exactmeshinertia") == "true",
        fit_box=compiler.get("fitaabb") == "true",
        mesh_folder=compiler.get("meshdir") or compiler.get("assetdir") or "",
        total_mass=_positive(single(compiler, "settotalmass")),
        gravity=_gravity(option) if flags.gravity else (ZERO, ZERO, ZERO),
        flags=flags,
        align_free=compiler.get("alignfree") == "true",
        fluid=_fluid(option),
        changes_bodies=tuple(word for word in ("fusestatic", "discardvisual") if compiler.get(word) == "true"),
    )


def switched_range(element: Element, switch: str, name: str, settings: Settings) -> tuple[Written, ...] | None:
    """A range if it is active: by its switch, or automatically if it is given."""
    word = element.get(switch) or "auto"
    if word == "false" or (word == "auto" and not settings.automatic_limits):
        return None
    return vector(element, name, 2)


def _merged(elements: Iterable[Element], root: Element) -> Element:
    """One element with the attributes of several; the last value of each wins."""
    together, last = dict[str, str](), root
    for last in elements:
        together.update(last.attributes)
    return Element(last.tag, together, last.place)


def _flags(root: Element) -> Flags:
    flag = _merged((flag for option in root.all("option") for flag in option.all("flag")), root)
    for name in _FLAGS:
        if flag.get(name) not in (None, "enable", "disable"):
            message = f"invalid value `{flag.get(name)}` of the flag {name}"
            raise ModelError(message, flag.place, "write enable or disable")
    disabled = {name for name in _FLAGS if flag.get(name) == "disable"}
    return Flags(
        gravity="gravity" not in disabled,
        springs=not {"passive", "spring"} & disabled,
        dampers=not {"passive", "damper"} & disabled,
        dry_friction=not {"constraint", "frictionloss"} & disabled,
        limits=not {"constraint", "limit"} & disabled,
        contacts=not {"constraint", "contact"} & disabled,
        equality=not {"constraint", "equality"} & disabled,
        actuation="actuation" not in disabled,
        control_limits="clampctrl" not in disabled,
        filter_parents="filterparent" not in disabled,
        passive="passive" not in disabled and not {"spring", "damper"} <= disabled,
    )


def _inertia_from_geoms(compiler: Element) -> InertiaFromGeoms:
    word = compiler.get("inertiafromgeom") or "auto"
    try:
        return InertiaFromGeoms(word)
    except ValueError:
        message = f"invalid value `{word}` of inertiafromgeom"
        raise ModelError(message, compiler.place, "write auto, true or false") from None


def _positive(value: Fraction | None) -> Fraction | None:
    return value if value is not None and value > 0 else None


def _euler_sequence(compiler: Element) -> str:
    sequence = compiler.get("eulerseq") or "xyz"
    if len(sequence) != 3 or set(sequence.lower()) - set("xyz"):
        message = f"invalid value `{sequence}` of eulerseq"
        raise ModelError(message, compiler.place, "write three of x y z X Y Z, e.g. xyz")
    return sequence


def _gravity(option: Element) -> tuple[Expression, Expression, Expression]:
    written = vector(option, "gravity", 3)
    x, y, z = (item.value for item in written) if written else (Fraction(0), Fraction(0), Fraction("-9.81"))
    return Number(x), Number(y), Number(z)


def _fluid(option: Element) -> FluidSettings:
    density, viscosity = (float(single(option, name) or 0) for name in ("density", "viscosity"))
    x, y, z = (float(item.value) for item in vector(option, "wind", 3) or [Written(Fraction(0))] * 3)
    return FluidSettings(density, viscosity, (x, y, z))


def _inertia_bounds(compiler: Element) -> InertiaBounds:
    least = [max(single(compiler, name) or Fraction(0), Fraction(0)) for name in ("boundmass", "boundinertia")]
    return InertiaBounds(least[0], least[1], compiler.get("balanceinertia") == "true")


# <default> classes

_MAIN = "main"
#: Attributes of orientation: one in the element replaces any other in its class.
ORIENTATIONS = frozenset({"quat", "axisangle", "xyaxes", "zaxis", "euler"})

#: The elements of <actuator>.
ACTUATORS = frozenset({
    "general", "motor", "position", "velocity", "intvelocity", "orientation", "pid", "damper", "cylinder", "muscle",
    "adhesion", "dcmotor", "plugin",
})  # fmt: skip

#: The tag of the classes of an attached model; no file can contain an element of this name.
ATTACHED_DEFAULT = "default of an attached model"
_NOTHING = ""

_Attributes = dict[str, dict[str, str]]


class Defaults:
    """The default classes of a model, each completed with its inherited attributes."""

    def __init__(self, root: Element) -> None:
        self._classes: dict[str, _Attributes] = {_MAIN: {}}
        self._actuators: dict[str, tuple[tuple[Element, ...], ...]] = {_MAIN: ()}
        for element in root.all("default"):
            self._enter_main(element)
        self._classes[_NOTHING], self._actuators[_NOTHING] = {}, ()
        for element in root.all(ATTACHED_DEFAULT):
            self._enter(element, element.required("class"), _NOTHING)

    def _enter_main(self, top: Element) -> None:
        if (top.get("class") or _MAIN) != _MAIN:
            remedy = f'remove the attribute, and put <default class="{top.get("class")}"> inside'
            raise ModelError("the outermost <default> must be the class main", top.place, remedy)
        self._enter(top, _MAIN, _MAIN)

    def _enter(self, top: Element, first: str, around_first: str) -> None:
        pending: list[tuple[Element, str, str]] = [(top, first, around_first)]
        while pending:
            element, name, parent = pending.pop()
            if name != _MAIN and name in self._classes:
                message = f"two default classes have the name {name}"
                raise ModelError(message, element.place, "rename one of them")
            own = {tag: dict(attributes) for tag, attributes in self._classes[parent].items()}
            self._classes[name] = own
            drives = tuple(child for child in element.children if child.tag in ACTUATORS)
            around = self._actuators[parent]  # several outermost elements are one class
            self._actuators[name] = (sum(around, ()) + drives,) if name == _MAIN else (*around, drives)
            for child in element.children:
                if child.tag == "default":
                    pending.append((child, child.required("class"), name))
                else:
                    own[child.tag] = _combined(own.get(child.tag, {}), child.attributes)

    def complete(self, element: Element, inherited_class: str | None, tag: str | None = None) -> Element:
        """The element, completed with the attributes of its class (its own, or the nearest `childclass` around it);
        `tag` is the tag of such elements in classes, if it differs."""
        name = self._class_of(element, inherited_class)
        filled = _combined(self._classes[name].get(tag or element.tag, {}), element.attributes)
        return Element(element.tag, filled, element.place, element.children)

    def actuators(self, element: Element) -> tuple[tuple[Element, ...], ...]:
        """The elements of its classes that set attributes of an actuator, class by class, outermost first."""
        return self._actuators[self._class_of(element, None)]

    def _class_of(self, element: Element, inherited_class: str | None) -> str:
        name = element.get("class") or inherited_class or _MAIN
        if name not in self._classes:
            raise ModelError(f"unknown default class '{name}'", element.place, did_you_mean(name, self._classes))
        return name


def _combined(general: dict[str, str], special: dict[str, str]) -> dict[str, str]:
    if ORIENTATIONS & special.keys():
        general = {name: value for name, value in general.items() if name not in ORIENTATIONS}
    return {**general, **special}
