"""Read a model: text to syntax tree to a validated mechanism. Nothing in a model is executed."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TypeVar

from lark import Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, VisitError

from kinegraph.errors import ModelError, Place
from kinegraph.files import read_input_text
from kinegraph.io.language.body_statements import Item, read_inertia, read_rotations, read_shape, read_transforms
from kinegraph.io.language.constraint_statements import ConstraintReader, PlatformReader
from kinegraph.io.language.element_statements import Clause, read_element, read_shapes
from kinegraph.io.language.expressions import Children, as_expression, check_meaning
from kinegraph.io.language.grammar import Start, parser
from kinegraph.io.language.syntax_errors import at_character, at_token
from kinegraph.io.language.table_statements import Axes, Points, TableFile, read_table
from kinegraph.model import changes, platforms
from kinegraph.model.definitions import Definition, QuasiVelocity, resolved
from kinegraph.model.elements import Element, Input, Potential
from kinegraph.model.expressions import Expression, Name
from kinegraph.model.mechanism import (
    ONE,
    ZERO,
    Body,
    Coordinate,
    FirstOrderState,
    Impacts,
    Mechanism,
    Parameter,
    Point,
    QuaternionCoordinates,
)
from kinegraph.model.names import did_you_mean, model_name_from
from kinegraph.model.report import Places
from kinegraph.model.robot_data import Shape
from kinegraph.model.tables import Table
from kinegraph.model.units import ANGLE, INERTIA, LENGTH, MASS, Unit
from kinegraph.model.validation.expressions import MAX_NESTING, MAX_SIZE
from kinegraph.model.validation.mechanism import validate

T = TypeVar("T")

#: The dimensions of the arguments of transforms and moments, by their first letter or word.
_DIMENSIONS = {"R": ANGLE, "S": LENGTH, "m": MASS, "J": INERTIA}

_NO_TURN = (ONE, ZERO, ZERO, ZERO)


class Reader(ConstraintReader, PlatformReader):
    """Collects the statements of a model, with their places; `mechanism` combines them."""

    def __init__(self, source: str, places: Places) -> None:
        super().__init__(source, places)
        self._name: str | None = None
        self._gravity: tuple[Expression, ...] | None = None
        self._parameters: list[Parameter] = []
        self._coordinates: list[Coordinate | QuaternionCoordinates] = []
        self.principal: set[tuple[str, ...]] = set()  # quaternions with velocities about principal axes
        self._positioned: set[str] = set()  # coordinates whose declaration gave a position
        self._initial: dict[str, tuple[Expression, Token]] = {}
        self._armature: dict[tuple[str, ...], tuple[Expression, Token]] = {}
        self._points: list[Point] = []
        self._bodies: list[Body] = []
        self._accepted: dict[str, Token] = {}
        self._elements: list[Element] = []
        self._inputs: list[Input] = []
        self._shapes: list[Shape] = []
        self._definitions: list[Definition] = []
        self._quasivelocities: list[QuasiVelocity] = []
        self._states: list[FirstOrderState] = []
        self._tables: list[Table] = []

    def mechanism(self, default_name: str) -> Mechanism:
        """The mechanism as written, before validation."""
        gravity = (ZERO, ZERO, ZERO)
        if self._gravity is not None:
            x, y, z = self._gravity
            gravity = self.places.renew(self._gravity, (x, y, z))
        written = Mechanism(
            self._name or default_name,
            tuple(self._bodies),
            tuple(self._coordinates),
            tuple(self._parameters),
            gravity,
            tuple(self._points),
            tuple(self._shapes),
            elements=tuple(self._elements),
            inputs=tuple(self._inputs),
            definitions=tuple(self._definitions),
            quasivelocities=tuple(self._quasivelocities),
            loops=tuple(self._loops),
            constraints=tuple(self._constraints),
            contacts=tuple(self._contacts),
            impacts=self._impacts or Impacts(),
            unknowns=tuple(self._unknowns),
            cuts=tuple(self._cuts),
            states=tuple(self._states),
            tables=tuple(self._tables),
        )
        if self._legs:
            written = platforms.with_legs(written, tuple(self._legs))
        coordinates = tuple(self._with_armature(self._with_initial(one)) for one in written.coordinates)
        states = tuple(self._started(state) for state in written.states)
        self._check_initial_used(written)
        self._check_armature_used(written)
        self._check_units(written)
        bodies = self._with_acceptance(written)
        return resolved(replace(written, coordinates=coordinates, states=states, bodies=bodies), self.places)

    @property
    def has_leg_tables(self) -> bool:
        """Whether the model has leg tables; their initial coordinates follow from the platform's pose."""
        return bool(self._legs)

    def model(self, children: Children) -> None:
        """The name of the model, given once."""
        keyword, name = children
        if self._name is not None:
            raise ModelError("`model` is given twice", self.place(keyword), "keep one `model` statement")
        self._name = str(name)

    def definition(self, children: Children) -> tuple[Token, Expression | None]:
        """A name with an optional value."""
        name, value = children
        return name, None if value is None else as_expression(value)

    def parameters(self, children: Children) -> None:
        """Parameters, with or without values."""
        for name, value in children:
            self._parameters.append(self.places.mark(Parameter(str(name), value), self.place(name)))

    def coordinates(self, children: Children) -> None:
        """Coordinates with optional initial positions."""
        for name, position in children:
            if position is not None:
                self._positioned.add(str(name))
            start = ZERO if position is None else position
            coordinate = Coordinate(str(name), start, zeros=(position == ZERO, False))
            self._coordinates.append(self.places.mark(coordinate, self.place(name)))

    def names(self, children: Children) -> tuple[Token, ...]:
        """A list of names."""
        return tuple(children)

    def quaternion(self, children: Children) -> None:
        """Four components, three velocities, and optionally the initial values."""
        keyword, own, principal, velocities, position = children
        e0, e1, e2, e3 = (str(name) for name in self._exactly(own, 4, "a quaternion", "names", keyword))
        wx, wy, wz = (str(name) for name in self._exactly(velocities, 3, "its velocity", "names", keyword))
        group = QuaternionCoordinates((e0, e1, e2, e3), (wx, wy, wz))
        if position is not None:
            p0, p1, p2, p3 = self._exactly(position, 4, "a quaternion", "components", keyword)
            group = replace(group, position=(p0, p1, p2, p3))
            group = replace(group, zeros=(group.position == _NO_TURN, False, False, False))
            self._positioned.update(group.names)
        self.places.mark(group, self.place(keyword))
        for name in (*own, *velocities):
            self.places.mark(group, self.place(name), str(name))
        self._coordinates.append(group)
        if principal is not None:
            self.principal.add(group.names)

    def gravity(self, children: Children) -> None:
        """The gravitational acceleration, given once."""
        keyword, components = children
        if self._gravity is not None:
            raise ModelError("`gravity` is given twice", self.place(keyword), "keep one `gravity` statement")
        self._gravity = self._exactly(components, 3, "gravity", "components", keyword)
        self.places.mark(self._gravity, self.place(keyword))

    def setting(self, children: Children) -> None:
        """An initial value of a coordinate, velocity or state, given once."""
        name, prime, value = children
        key = f"{name}'" if prime else str(name)
        if key in self._initial:
            raise ModelError(f"{key} has two initial values", self.place(name), "keep one of them")
        self._initial[key] = as_expression(value), name

    def share(self, children: Children) -> None:
        """The armature of a coordinate or of a quaternion's three velocities."""
        owner, value = children
        tokens = owner if isinstance(owner, tuple) else (owner,)
        key = tuple(str(token) for token in tokens)
        if key in self._armature:
            raise ModelError(f"{', '.join(key)} has two values of armature", self.place(tokens[0]), "keep one of them")
        self._armature[key] = as_expression(value), tokens[0]

    def output(self, children: Children) -> None:
        """An output point of a body, optionally with its own axes."""
        name, body, position, turns = children
        x, y, z = self._exactly(position, 3, f"the output {name}", "components", name)
        orientation = read_rotations(turns or (), f"the output {name}", self.places)
        point = Point(str(name), None if body is None else str(body), (x, y, z), orientation)
        self.places.mark(point, self.place(name))
        if body is not None:
            self.places.mark(point, self.place(body), "body")
        self._points.append(point)

    def accept(self, children: Children) -> None:
        """Bodies whose physically impossible inertia is accepted."""
        self._accepted.update((str(name), name) for name in children)

    def inputs(self, children: Children) -> None:
        """Inputs, with or without expressions."""
        for name, value in children:
            self._inputs.append(self.places.mark(Input(str(name), value), self.place(name)))

    def meaning(self, children: Children) -> tuple[Token, Expression]:
        """A defined name and its expression."""
        name, value = children
        return name, as_expression(value)

    def define(self, children: Children) -> None:
        """Names for expressions."""
        for name, value in children:
            self._definitions.append(self.places.mark(Definition(str(name), value), self.place(name)))

    def quasivelocity(self, children: Children) -> None:
        """Quasi-velocities as linear forms of velocities."""
        for name, value in children:
            self._quasivelocities.append(self.places.mark(QuasiVelocity(str(name), value), self.place(name)))

    def rate_of(self, children: Children) -> None:
        """A first-order state and its rate."""
        name, _, rate = children
        self._states.append(self.places.mark(FirstOrderState(str(name), as_expression(rate)), self.place(name)))

    def clause(self, children: Children) -> Clause:
        """A clause of an element or a contact."""
        word, arguments = children
        return Clause(str(word), arguments, self.place(word))

    def drive_clause(self, children: Children) -> Clause:
        """A clause of a platform, with or without arguments."""
        word, arguments = children
        return self.clause([word, arguments or ()])

    def drive_clauses(self, children: Children) -> list[Clause]:
        """All clauses of a platform."""
        return children

    def clauses(self, children: Children) -> list[Clause]:
        """All clauses of an element."""
        return children

    def element(self, children: Children) -> None:
        """A spring, damper or another element."""
        keyword, name, clauses = children
        self._elements.append(read_element(str(keyword), str(name), clauses, self.place(name), self.places))

    def compliant_contact(self, children: Children) -> None:
        """A compliant contact between two shapes."""
        name, *shapes, clauses = children
        place = self.place(name)
        read = [*read_shapes(str(name), shapes, place, self.places), *(clauses or ())]
        self._elements.append(read_element("contact", str(name), read, place, self.places))

    def working_force(self, children: Children) -> None:
        """A force in KiDyM's notation: `P.xC = -S*cos(theta)` acts on xC, `P.C.x = ...` on a component of a point."""
        letter, target, coordinate, value = children
        if letter != "P":
            remedy = "write `P.x = value;` for a force on x; springs and dampers have their own statements"
            raise ModelError(f"unknown statement `{letter}.{target} = ...`", self.place(letter), remedy)
        on = Name(str(target) if coordinate is None else f"{target}.{coordinate}")
        place, name = self.place(target), f"P_{on.text.replace('.', '_')}"
        clauses = [Clause("value", (as_expression(value),), place), Clause("on", (on,), place)]
        self._elements.append(read_element("force", name, clauses, place, self.places))

    def potential(self, children: Children) -> None:
        """A potential energy."""
        name, energy = children
        self._elements.append(self.places.mark(Potential(str(name), as_expression(energy)), self.place(name)))

    def table(self, children: Children) -> None:
        """A table of values."""
        _, name, data, *words = children
        self._tables.append(read_table(name, data, words, self))

    def points(self, children: Children) -> Points:
        """The points of a table, as vectors."""
        return Points(tuple(children))

    def axes(self, children: Children) -> Axes:
        """The axes and values of a table."""
        return Axes(tuple(children))

    def file(self, children: Children) -> TableFile:
        """The file of a table, and its columns."""
        _, path, *columns = children
        return TableFile(path, tuple(columns))

    def item(self, children: Children) -> Item:
        """A transform, a moment of inertia or a shape, as written."""
        word, arguments = children
        for argument in arguments or ():
            self._check_dimension(word, argument)
        return Item(str(word), arguments, self.place(word))

    def _check_dimension(self, word: Token, argument: Expression) -> None:
        """Refuse a number whose unit does not fit: a mass in millimeters."""
        unit, wanted = self.unit_of(argument), _DIMENSIONS.get(str(word)[: 1 if word[:1] in "RSJ" else None])
        if unit is not None and wanted is not None and unit.dimensions != wanted:
            words = Unit(unit.size, wanted).words
            message = f"{word}(...) is in {words}, but this number is in {unit.words}"
            raise ModelError(message, self.place(word), f"use a unit of {words}")

    def items(self, children: Children) -> list[Item]:
        """All items of one section of a record."""
        return children

    def body(self, children: Children) -> None:
        """A body with its base, transforms and inertia."""
        name, base, transforms, inertia = children
        read, places_of_inertia = read_inertia(inertia or (), self.places)
        body = Body(str(name), None if base is None else str(base), read_transforms(transforms, self.places), read)
        self.places.mark(body, self.place(name))
        if base is not None:
            self.places.mark(body, self.place(base), "base")
        for field, place in places_of_inertia.items():
            self.places.mark(body, place, field)
        self._bodies.append(body)

    def shape(self, children: Children) -> None:
        """A shape of a body."""
        keyword, body, transforms, items = children
        place = self.place(keyword if body is None else body)
        self._shapes.append(read_shape(None if body is None else str(body), transforms, items, place, self.places))

    def _exactly(self, found: Sequence[T], count: int, what: str, unit: str, token: Token) -> tuple[T, ...]:
        if len(found) != count:
            message = f"{what} has {count} {unit}, found {len(found)}"
            raise ModelError(message, self.place(token), f"write {count} {unit}, separated by commas")
        return tuple(found)

    def _with_initial(self, coordinate: Coordinate | QuaternionCoordinates) -> Coordinate | QuaternionCoordinates:
        new: Coordinate | QuaternionCoordinates
        if isinstance(coordinate, Coordinate):
            given = coordinate.name in self._initial, coordinate.name + "'" in self._initial
            position = self._take(coordinate.name, coordinate.position)
            velocity = self._take(coordinate.name + "'", coordinate.velocity)
            zeros = coordinate.zeros[0] or (given[0] and position == ZERO), given[1] and velocity == ZERO
            new = replace(coordinate, position=position, velocity=velocity, zeros=zeros)
        else:
            turned = any(name in self._initial for name in coordinate.names)
            rates = [name in self._initial for name in coordinate.velocities]
            e = [self._take(n, start) for n, start in zip(coordinate.names, coordinate.position, strict=True)]
            w = [self._take(n, start) for n, start in zip(coordinate.velocities, coordinate.velocity, strict=True)]
            x, y, z = (given and rate == ZERO for given, rate in zip(rates, w, strict=True))
            still = coordinate.zeros[0] or (turned and tuple(e) == _NO_TURN)
            start, velocities = (e[0], e[1], e[2], e[3]), (w[0], w[1], w[2])
            new = replace(coordinate, position=start, velocity=velocities, zeros=(still, x, y, z))
        return self.places.renew(coordinate, new)

    def _started(self, state: FirstOrderState) -> FirstOrderState:
        return self.places.renew(state, replace(state, initial=self._take(state.name, state.initial)))

    def _take(self, key: str, given: Expression) -> Expression:
        """The value of a position or velocity from an `initial` statement, or else from its declaration."""
        if key not in self._initial:
            return given
        value, token = self._initial.pop(key)
        if key in self._positioned:
            message = f"{key} has two initial values, one in its declaration"
            raise ModelError(message, self.place(token), "keep one of them")
        return value

    def _check_initial_used(self, written: Mechanism) -> None:
        if not self._initial:
            return
        key, (_, token) = next(iter(self._initial.items()))
        known: list[str] = []
        for coordinate in written.coordinates:
            own = (coordinate.name, coordinate.name + "'") if isinstance(coordinate, Coordinate) else coordinate.names
            known += own if isinstance(coordinate, Coordinate) else (*own, *coordinate.velocities)
        states = [state.name for state in written.states]
        if key.removesuffix("'") in states:
            remedy = f"its rate follows from the `state` statement: write `initial {key.removesuffix(chr(39))} = ...;`"
            raise ModelError(f"a state has no initial rate: '{key}'", self.place(token), remedy)
        remedy = did_you_mean(key, (*known, *states)) or "declare it as a coordinate"
        raise ModelError(f"unknown coordinate or velocity '{key}'", self.place(token), remedy)

    def _with_armature(self, coordinate: Coordinate | QuaternionCoordinates) -> Coordinate | QuaternionCoordinates:
        key = (coordinate.name,) if isinstance(coordinate, Coordinate) else coordinate.velocities
        if key not in self._armature:
            return coordinate
        value, token = self._armature.pop(key)
        new = self.places.renew(coordinate, replace(coordinate, armature=value))
        return self.places.mark(new, self.place(token), "armature")

    def _check_armature_used(self, written: Mechanism) -> None:
        if not self._armature:
            return
        key, (_, token) = next(iter(self._armature.items()))
        singles = [one.name for one in written.coordinates if isinstance(one, Coordinate)]
        groups = [f"({', '.join(c.velocities)})" for c in written.coordinates if isinstance(c, QuaternionCoordinates)]
        wanted = key[0] if len(key) == 1 else f"({', '.join(key)})"
        remedy = did_you_mean(wanted, (*singles, *groups)) or "declare it as a coordinate"
        message = f"unknown coordinate or quaternion velocity '{wanted}' in `armature`"
        raise ModelError(message, self.place(token), remedy)

    def _check_units(self, written: Mechanism) -> None:
        """A unit that is also a declared name has two meanings."""
        declared = {"t", *(one.name for one in written.parameters), *written.layout.initial}
        declared |= {*(one.name for one in written.inputs), *(one.name for one in written.definitions)}
        for number, unit in self.units:
            if unit in declared:
                remedy = f"write `{number}*{unit}` for the product, or `{number} [{unit}]` for the unit"
                raise ModelError(f"`{unit}` is a unit and also a name of this model", self.place(unit), remedy)

    def _with_acceptance(self, written: Mechanism) -> tuple[Body, ...]:
        known = {body.name for body in written.bodies}
        for name, token in self._accepted.items():
            if name not in known:
                raise ModelError(f"unknown body '{name}' in `accept`", self.place(token), did_you_mean(name, known))
        return tuple(self._accepting(body) if body.name in self._accepted else body for body in written.bodies)

    def _accepting(self, body: Body) -> Body:
        return self.places.renew(body, replace(body, inertia=replace(body.inertia, accepted=True)))


#: Maximum length of a model, in characters (bytes, for a file).
MAX_LENGTH = 5_000_000

#: Tokens that may follow an operator, or a number.
_MEASURED = frozenset({"NAME", "UNIT", "NUMBER", "LPAR", "MINUS", "PLUS"})
_BREAKS = frozenset({"COMMA", "SEMICOLON", "VBAR"})  # tokens that end an expression


def load(path: str | PathLike[str]) -> Mechanism:
    """Read a model file (UTF-8). A model without a `model` statement is named after the file."""
    text = read_input_text(path, MAX_LENGTH)
    return parse(text, str(path), Path(path).parent)


def parse(text: str, source: str = "", folder: str | PathLike[str] | None = None) -> Mechanism:
    """Read a model from its text and validate it; `source` names the text in error messages.

    folder: where the files of its tables are; a text without a folder reads no files.
    """
    if len(text) > MAX_LENGTH:
        named = f"{source}: " if source else ""
        remedy = "build a model of this size in Python, with kinegraph.Builder"
        message = f"{named}the model has {len(text)} characters; the limit is {MAX_LENGTH}"
        raise ModelError(message, remedy=remedy)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not source and _is_file_name(text):
        remedy = "`parse` takes the text of a model; use `kinegraph.load` for a file or a library name"
        raise ModelError(f"{text!r} is not the text of a model", remedy=remedy)
    places = Places()
    reader = Reader(source, places)
    reader.folder = None if folder is None else Path(folder)
    tree = _tree(text, source)
    try:
        reader.transform(tree)
    except VisitError as error:  # lark wraps the exceptions of rules
        raise error.orig_exc from None
    mechanism = reader.mechanism(model_name_from(Path(source).stem) if source else "mechanism")
    validate(mechanism, places)
    if reader.principal:
        mechanism = changes.declared_principal(mechanism, reader.principal)
    return platforms.fitted(mechanism) if reader.has_leg_tables else mechanism


def _is_file_name(text: str) -> bool:
    """Whether a text looks like a path or a library name: a single word without characters of a statement."""
    return re.fullmatch(r"[\w./\\:~-]*\w", text) is not None


def _tree(text: str, source: str) -> Tree[Token]:
    """The syntax tree, built token by token, to limit the nesting and to know the previous token in errors."""
    parsed = parser(Start.MODEL).parse_interactive(text)
    last: Token | None = None
    previous: Token | None = None
    first: Token | None = None  # of the statement
    depth = length = 0
    recent: deque[Token] = deque(maxlen=4)
    try:
        for token in parsed.iter_parse():
            recent.append(token)
            check_meaning(tuple(recent) if token.type in _MEASURED else (), source)
            first = token if last is None or last.type == "SEMICOLON" else first
            previous, last = last, token
            depth += (token.type == "LPAR") - (token.type == "RPAR")
            if depth > MAX_NESTING + 1:  # one more for the parentheses of a transform
                raise _over_limit(token, source, f"parentheses nest deeper than {MAX_NESTING}")
            length = 0 if token.type in _BREAKS else length + 1
            if length > 3 * MAX_SIZE:  # parentheses do not count in the size of an expression
                raise _over_limit(token, source, f"an expression has more than {MAX_SIZE} parts")
        end = Token.new_borrow_pos("$END", "", last) if last else Token("$END", "", 0, 1, 1)
        tree: Tree[Token] = parsed.feed_token(end)
        return tree
    except UnexpectedCharacters as error:
        raise at_character(text, error, source, first) from None
    except UnexpectedInput as error:
        before = previous if getattr(error, "token", None) is last else last
        raise at_token(text, error, before, source, first) from None


def _over_limit(token: Token, source: str, message: str) -> ModelError:
    place = Place(token.line or 1, token.column or 1, source)
    return ModelError(message, place, "split it with `define`")
