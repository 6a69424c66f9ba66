"""How geoms touch: the attributes of contacts, <contact>, and the flags. MuJoCo's contacts are soft, ours are rigid."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from kinegraph.errors import ModelError
from kinegraph.io.mjcf.settings import Defaults, Settings
from kinegraph.io.robot.findings import Findings
from kinegraph.io.robot.xml import Element, numbers, single
from kinegraph.model.names import did_you_mean
from kinegraph.model.report import FindingKind
from kinegraph.model.robot_data import ContactPair, ContactRules, ShapeContact

_DIMENSIONS = (1, 3, 4, 6)
#: MuJoCo's friction of a geom that states less: sliding, spin, rolling.
_FRICTION = (1.0, 0.005, 0.0001)


def shape_contact(geom: Element) -> ShapeContact:
    """How a geom touches others; its element is completed with its class."""
    return ShapeContact(
        geom.get("name") or "",
        _friction(geom),
        _dimension(geom) or 3,
        _integer(geom, "contype", 1),
        _integer(geom, "conaffinity", 1),
        _integer(geom, "priority", 0),
    )


def _friction(geom: Element) -> tuple[float, float, float]:
    given = [float(one.value) for one in numbers(geom, "friction") or ()]
    if len(given) > 3 or any(value < 0 for value in given):
        raise ModelError("friction of a geom needs one to three numbers, none negative", geom.place)
    sliding, spin, rolling = (*given, *_FRICTION[len(given) :])
    return sliding, spin, rolling


def _dimension(element: Element) -> int | None:
    value = single(element, "condim")
    if value is None:
        return None
    if value not in _DIMENSIONS:
        raise ModelError(f"condim is {value}", element.place, "write 1, 3, 4 or 6")
    return int(value)


def _integer(element: Element, name: str, default: int) -> int:
    value = single(element, name)
    if value is None:
        return default
    if value.denominator != 1:
        raise ModelError(f"{name} is {value}", element.place, "write an integer")
    return int(value)


def paired_geoms(root: Element) -> frozenset[str]:
    """The names of geoms in pairs, which touch whatever their bits say."""
    pairs = [pair for section in root.all("contact") for pair in section.all("pair")]
    return frozenset(pair.required(name) for pair in pairs for name in ("geom1", "geom2"))


def contact_rules(
    root: Element,
    settings: Settings,
    defaults: Defaults,
    bodies: Mapping[str, str | None],
    geoms: Collection[str],
    findings: Findings,
) -> ContactRules:
    """What <contact> and the flags say. bodies: by their names in the file; None is the world. geoms: names."""
    excluded, pairs = [], []
    for section in root.all("contact"):
        excluded += [_excluded(element, bodies) for element in section.all("exclude")]
        pairs += list(_pairs(section, defaults, geoms, findings))
    return ContactRules(settings.flags.contacts, not settings.flags.filter_parents, tuple(excluded), tuple(pairs))


def _excluded(element: Element, bodies: Mapping[str, str | None]) -> tuple[str | None, str | None]:
    names = [element.required(name) for name in ("body1", "body2")]
    for name in names:
        if name not in bodies:
            raise ModelError(f"unknown body '{name}' in <exclude>", element.place, did_you_mean(name, bodies))
    return bodies[names[0]], bodies[names[1]]


def _pairs(section: Element, defaults: Defaults, geoms: Collection[str], findings: Findings) -> Iterator[ContactPair]:
    for element in section.all("pair"):
        for name in (element.required("geom1"), element.required("geom2")):
            if name not in geoms:
                raise ModelError(f"unknown geom '{name}' in <pair>", element.place, did_you_mean(name, geoms))
        whole = defaults.complete(element, None)
        given = [float(one.value) for one in numbers(whole, "friction") or ()]
        friction = None
        if given:  # two of sliding, spin, two of rolling; ours are the same in all directions
            full = (*given, *(1.0, 1.0, 0.005, 0.0001, 0.0001)[len(given) :])
            if full[0] != full[1] or full[3] != full[4]:
                what = "friction of <pair> that is smaller in one direction"
                findings.count(FindingKind.CONTACTS, "contacts", what, element.place)
            friction = (max(full[0], full[1]), full[2], max(full[3], full[4]))
        yield ContactPair(element.required("geom1"), element.required("geom2"), friction, _dimension(whole))
