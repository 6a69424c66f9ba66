"""Statements of elements, such as `spring S | on(q1) stiffness(k) rest(l);`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kinegraph.errors import ModelError, Place
from kinegraph.io.language.expressions import VectorCall
from kinegraph.io.language.syntax_errors import COMPLIANT, FORMS
from kinegraph.model.axes import Axes
from kinegraph.model.elements import (
    DEFAULT_WIDTH,
    HERTZ,
    Anchor,
    Arc,
    Capsule,
    CompliantContact,
    Cone,
    ContactShape,
    Cylinder,
    Damper,
    Element,
    EnergyLaw,
    Force,
    ForceLaw,
    Friction,
    Limit,
    Linear,
    Moment,
    Plane,
    PointForce,
    Span,
    Sphere,
    Spring,
    Target,
    Torus,
    Triple,
)
from kinegraph.model.expressions import Call, Expression, Name
from kinegraph.model.mechanism import ZERO
from kinegraph.model.names import did_you_mean
from kinegraph.model.report import Places

Argument = Expression | tuple[Expression, ...]  # a vector is a point of the fixed frame


@dataclass(frozen=True, slots=True)
class Clause:
    """`word(arguments)` of an element."""

    word: str
    arguments: tuple[Argument, ...]
    place: Place


def read_shapes(name: str, shapes: Sequence[Expression | VectorCall], place: Place, places: Places) -> list[Clause]:
    """The shapes of a compliant contact, which the grammar reads as calls."""
    clauses: list[Clause] = []
    for shape in shapes:
        if isinstance(shape, VectorCall):
            clauses.append(Clause(shape.word, shape.arguments, shape.place))
        elif isinstance(shape, Call):
            clauses.append(Clause(shape.function, shape.arguments, places.of(shape) or place))
        else:
            message = f"the contact {name} has neither a gap `... >= 0` nor two shapes"
            raise ModelError(message, place, f"write {FORMS['contact']}")
    return clauses


def read_element(keyword: str, name: str, clauses: Sequence[Clause], place: Place, places: Places) -> Element:
    """The element of one statement, with the places of its clauses."""
    reading = _Clauses(keyword, name, place, places)
    for clause in clauses:
        reading.add(clause)
    element = _READERS[keyword][0](reading)
    reading.check_used()
    places.mark(element, place)
    for clause in clauses:
        places.mark(element, clause.place, clause.word)
    return element


class _Clauses:
    """The clauses of one element by their words."""

    def __init__(self, keyword: str, name: str, place: Place, places: Places) -> None:
        self.what = f"the {keyword} {name}"
        self.name = name
        self.keyword = keyword
        self.place = place
        self.places = places
        self.shapes: list[Clause] = []
        self._found: dict[str, Clause] = {}
        self._used: set[str] = set()

    def add(self, clause: Clause) -> None:
        allowed = _READERS[self.keyword][1]
        if clause.word not in allowed:
            message = f"unknown clause `{clause.word}` of {self.what}"
            raise ModelError(message, clause.place, did_you_mean(clause.word, allowed))
        if clause.word in _SHAPES:
            self.shapes.append(clause)
            return
        if clause.word in self._found:
            raise ModelError(f"{self.what} has `{clause.word}` twice", clause.place, "keep one of the two")
        self._found[clause.word] = clause

    def check_used(self) -> None:
        """Raise a ModelError for clauses that cannot be combined."""
        for word, clause in self._found.items():
            if word not in self._used:
                message = f"`{word}` cannot be combined with the other clauses of {self.what}"
                raise ModelError(message, clause.place, f"write {FORMS[self.keyword]}")

    def has(self, word: str) -> bool:
        return word in self._found

    def chosen(self, *words: str) -> str:
        """The given clause among several; exactly one is required."""
        found = [word for word in words if word in self._found]
        options = " or ".join(f"`{word}(...)`" for word in words)
        if not found:
            raise ModelError(f"{self.what} lacks {options}", self.place, f"write {FORMS[self.keyword]}")
        if len(found) > 1:
            message = f"{self.what} has both `{found[0]}` and `{found[1]}`"
            raise ModelError(message, self._found[found[1]].place, "keep one of the two")
        return found[0]

    def one(self, word: str) -> Expression:
        """The expression of a required clause."""
        self.chosen(word)
        return self.several(word, 1)[0]

    def optional(self, word: str, default: Expression) -> Expression:
        return self.one(word) if self.has(word) else default

    def maybe(self, word: str) -> Expression | None:
        return self.one(word) if self.has(word) else None

    def several(self, word: str, count: int) -> tuple[Expression, ...]:
        """The arguments of a clause, all expressions."""
        clause = self._counted(word, count)
        found = tuple(item for item in clause.arguments if isinstance(item, Expression))
        if len(found) != count:
            message = f"`{word}` of {self.what} has a point instead of an expression"
            raise ModelError(message, clause.place, f"write {FORMS[self.keyword]}")
        return found

    def triple(self, word: str) -> Triple:
        x, y, z = self.several(word, 3)
        return x, y, z

    def target(self) -> Target:
        if self.chosen("on", "between") == "on":
            return self.one("on")
        clause = self._counted("between", 2)
        first, second = (self._anchor(argument, clause) for argument in clause.arguments)
        return Span(first, second)

    def anchor(self, word: str) -> Anchor:
        self.chosen(word)
        clause = self._counted(word, 1)
        return self._anchor(clause.arguments[0], clause)

    def shape(self, clause: Clause) -> ContactShape:
        """`sphere(point, radius)`, `capsule(point, point, radius)`, `plane(point, (normal))`, ..."""
        wanted = _SHAPES[clause.word]
        if len(clause.arguments) != len(wanted):
            remedy = f"write {clause.word}({', '.join(wanted)})"
            raise ModelError(f"`{clause.word}` of {self.what} takes {len(wanted)} arguments", clause.place, remedy)
        parts = [self._part(argument, kind, clause) for argument, kind in zip(clause.arguments, wanted, strict=True)]
        return _SHAPE_TYPES[clause.word](*parts)

    def _part(self, argument: Argument, kind: str, clause: Clause) -> Anchor | Triple | Expression:
        if kind == "point":
            return self._anchor(argument, clause)
        if kind == "(x, y, z)" and isinstance(argument, tuple) and len(argument) == 3:
            return argument[0], argument[1], argument[2]
        if kind in ("radius", "angle", "length") and isinstance(argument, Expression):
            return argument
        message = f"`{clause.word}` of {self.what} has an invalid {kind}"
        raise ModelError(message, clause.place, f"write {clause.word}({', '.join(_SHAPES[clause.word])})")

    def axes(self) -> Axes:
        return Axes(self.chosen("world", "body"))

    def place_of(self, word: str) -> Place:
        return self._found[word].place

    def _counted(self, word: str, count: int) -> Clause:
        clause = self._found[word]
        self._used.add(word)
        if len(clause.arguments) != count:
            message = f"`{word}` of {self.what} takes {count} argument{'s' * (count > 1)}, found"
            remedy = f"write {FORMS[self.keyword]}"
            raise ModelError(f"{message} {len(clause.arguments)}", clause.place, remedy)
        return clause

    def _anchor(self, argument: Argument, clause: Clause) -> Anchor:
        """`tip`, `Arm(x, y, z)` or `(x, y, z)`."""
        position: tuple[Expression, ...] = (ZERO, ZERO, ZERO)
        match argument:
            case Name(name):
                of: str | None = name
            case Call(function, arguments):
                of, position = function, arguments
            case tuple():
                of, position = None, argument
            case _:
                message = f"`{clause.word}` of {self.what} has an expression instead of a point"
                raise ModelError(message, clause.place, "write an output, a body, `Body(x, y, z)` or `(x, y, z)`")
        place = self.places.of(argument) or clause.place
        if len(position) != 3:
            raise ModelError(f"a point has 3 coordinates, found {len(position)}", place, "write `(x, y, z)`")
        return self.places.mark(Anchor(of, (position[0], position[1], position[2])), place)


def _spring(c: _Clauses) -> Spring:
    law: Linear | ForceLaw | EnergyLaw
    match c.chosen("stiffness", "force", "energy"):
        case "stiffness":
            law = Linear(c.one("stiffness"))
        case "force":
            law = ForceLaw(c.one("force"))
        case _:
            law = EnergyLaw(c.one("energy"))
    return Spring(c.name, c.target(), law, c.optional("rest", ZERO))


def _damper(c: _Clauses) -> Damper:
    word = c.chosen("damping", "force")
    return Damper(c.name, c.target(), Linear(c.one(word)) if word == "damping" else ForceLaw(c.one(word)))


def _friction(c: _Clauses) -> Friction:
    if not c.has("viscous"):
        c.chosen("coulomb")
    coulomb, viscous = c.optional("coulomb", ZERO), c.optional("viscous", ZERO)
    return Friction(c.name, c.target(), coulomb, viscous, c.optional("width", DEFAULT_WIDTH))


def _force(c: _Clauses) -> Force | PointForce:
    if c.chosen("value", "world", "body") == "value":
        return Force(c.name, c.one("value"), c.target())
    axes = c.axes()
    return PointForce(c.name, c.anchor("at"), c.triple(axes.value), axes)


def _moment(c: _Clauses) -> Moment:
    axes = c.axes()
    anchor = c.anchor("at")
    if anchor.of is None or anchor.position != (ZERO, ZERO, ZERO):
        raise ModelError(f"{c.what} acts on a body, not on a point", c.place_of("at"), "write `at(Body)`")
    return Moment(c.name, anchor.of, c.triple(axes.value), axes)


def _limit(c: _Clauses) -> Limit:
    bounds = c.maybe("lower"), c.maybe("upper")
    return Limit(c.name, c.target(), c.one("stiffness"), *bounds, c.optional("damping", ZERO))


def _compliant_contact(c: _Clauses) -> CompliantContact:
    if len(c.shapes) != 2:
        count = f"{len(c.shapes)} shape{'s' * (len(c.shapes) != 1)}"
        raise ModelError(f"{c.what} has {count}, expected 2", c.place, f"write {COMPLIANT}")
    if not c.has("stiffness"):
        remedy = f"write {COMPLIANT}; a rigid contact has a gap: `contact {c.name} | Ball.z >= 0;`"
        raise ModelError(f"{c.what} lacks `stiffness(...)`", c.place, remedy)
    first, second = map(c.shape, c.shapes)
    return CompliantContact(
        c.name,
        (first, second),
        c.one("stiffness"),
        c.optional("exponent", HERTZ),
        c.optional("damping", ZERO),
        c.optional("friction", ZERO),
        c.optional("slip", DEFAULT_WIDTH),
    )


#: The arguments of shapes.
_SHAPES = {
    "sphere": ("point", "radius"),
    "capsule": ("point", "point", "radius"),
    "plane": ("point", "(x, y, z)"),
    "torus": ("point", "(x, y, z)", "radius", "radius"),
    "arc": ("point", "(x, y, z)", "(x, y, z)", "radius", "angle", "radius"),
    "cylinder": ("point", "point", "radius"),
    "cone": ("point", "(x, y, z)", "angle", "length"),
}
_SHAPE_TYPES: dict[str, Callable[..., ContactShape]] = {
    "sphere": Sphere, "capsule": Capsule, "plane": Plane, "torus": Torus, "arc": Arc, "cylinder": Cylinder,
    "cone": Cone,
}  # fmt: skip

_READERS: dict[str, tuple[Callable[[_Clauses], Element], tuple[str, ...]]] = {
    "spring": (_spring, ("on", "between", "stiffness", "force", "energy", "rest")),
    "damper": (_damper, ("on", "between", "damping", "force")),
    "friction": (_friction, ("on", "between", "coulomb", "viscous", "width")),
    "force": (_force, ("value", "on", "between", "at", "world", "body")),
    "moment": (_moment, ("at", "world", "body")),
    "limit": (_limit, ("on", "between", "lower", "upper", "stiffness", "damping")),
    "contact": (_compliant_contact, (*_SHAPES, "stiffness", "exponent", "damping", "friction", "slip")),
}
