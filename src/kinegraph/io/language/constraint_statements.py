"""Statements of loops, constraints, contacts, cuts and leg tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lark import Token

from kinegraph.errors import ModelError, Place
from kinegraph.io.language.body_statements import Item, read_inertia, read_transforms
from kinegraph.io.language.element_statements import Clause
from kinegraph.io.language.expressions import Children, ExpressionReader, as_expression
from kinegraph.io.language.syntax_errors import COMPLIANT
from kinegraph.model.constraints import (
    SYNONYMS,
    AnyLoop,
    Constraint,
    Contact,
    Coupling,
    Cut,
    Frame,
    Joint,
    JointType,
    Loop,
    Unknown,
)
from kinegraph.model.expressions import Expression, Name
from kinegraph.model.mechanism import ZERO, Axis, ImpactLaw, ImpactOrder, Impacts
from kinegraph.model.names import did_you_mean
from kinegraph.model.platforms.leg_table import Drive, LegKind, LegRow, Screw, leg_type
from kinegraph.model.report import Places


@dataclass(frozen=True, slots=True)
class Section:
    """An end of a loop as written: `Body: transforms`, only transforms, or a single name."""

    name: Token | None
    items: tuple[Item, ...]


class ConstraintReader(ExpressionReader):
    """The grammar rules of loops, constraints, rigid contacts, unknown forces and cuts."""

    def __init__(self, source: str, places: Places) -> None:
        super().__init__(source, places)
        self._loops: list[AnyLoop] = []
        self._constraints: list[Constraint] = []
        self._contacts: list[Contact] = []
        self._impacts: Impacts | None = None
        self._unknowns: list[Unknown] = []
        self._cuts: list[Cut] = []

    def frame(self, children: Children) -> Section:
        """A frame: a body and transforms from it."""
        *name, items = children
        return Section(name[0] if name else None, tuple(items))

    def loop(self, children: Children) -> None:
        """A joint between two frames that closes a loop."""
        name, joint, first, second = children
        loop = read_loop(str(name), joint, (first, second), self.place(name), self.places)
        self._loops.append(loop)

    def constraint(self, children: Children) -> None:
        """A constraint equation."""
        name, left, right = children
        constraint = Constraint(str(name), as_expression(left), as_expression(right))
        self._constraints.append(self.places.mark(constraint, self.place(name)))

    def rigid_contact(self, children: Children) -> None:
        """A gap that cannot become negative, with restitution and friction."""
        name, gap, _, bound, clauses = children
        left, right = as_expression(gap), as_expression(bound)
        contact = read_contact(str(name), left if right == ZERO else left - right, clauses or ())
        self.places.mark(contact, self.place(name))
        for clause in clauses or ():
            self.places.mark(contact, clause.place, clause.word)
        self._contacts.append(contact)

    def impacts(self, children: Children) -> None:
        """The impact model, given once."""
        keyword, *words = children
        if self._impacts is not None:
            raise ModelError("`impacts` is given twice", self.place(keyword), "keep one `impacts` statement")
        self._impacts = read_impacts([(str(word), self.place(word)) for word in words])

    def unknown(self, children: Children) -> None:
        """Names of unknown forces."""
        self._unknowns.extend(self.places.mark(Unknown(str(name)), self.place(name)) for name in children)

    def cut(self, children: Children) -> None:
        """Joints at which loops are to be cut."""
        self._cuts.extend(self.places.mark(Cut(str(name)), self.place(name)) for name in children)


def read_loop(name: str, joint: Item, ends: tuple[Section, Section], place: Place, places: Places) -> AnyLoop:
    """The loop of one statement."""
    kind = _joint_type(joint)
    loop: AnyLoop
    if kind.fixes.relation:
        first, second = (_coordinate(name, kind, section, place) for section in ends)
        loop = Coupling(name, kind, first, second, *_joint_amounts(joint, kind))
    else:
        axes, length = _axes(joint, kind), None
        if kind.fixes.amounts:
            (length,) = _joint_amounts(joint, kind)
        frames = [_frame(section, places, place) for section in ends]
        loop = Loop(name, Joint(kind, axes, length), frames[0], frames[1])
    places.mark(loop, place)
    return places.mark(loop, joint.place, "joint")


def _joint_type(item: Item) -> JointType:
    words = [kind.value for kind in JointType]
    if item.word in words:
        return JointType(item.word)
    meant = SYNONYMS.get(item.word.lower())
    remedy = f"did you mean `{meant}`?" if meant else did_you_mean(item.word, words)
    raise ModelError(f"unknown joint type '{item.word}'", item.place, remedy)


def _axes(item: Item, kind: JointType) -> tuple[Axis, ...]:
    """The given axes of a joint, or its default axes."""
    usual = kind.fixes.axes
    if item.arguments is None or kind.fixes.amounts:
        return usual
    words = [part.text if isinstance(part, Name) else "" for part in item.arguments]
    if len(words) != len(usual) or not set(words) <= {"x", "y", "z"}:
        raise ModelError(f"{item.word} takes {_axes_in_words(kind)}", item.place, f"write `{_example(kind)}`")
    return tuple(Axis[word.upper()] for word in words)


def _axes_in_words(kind: JointType) -> str:
    match len(kind.fixes.axes):
        case 0:
            return "no axis"
        case 1:
            return "one axis of both frames: x, y or z"
    return "two axes, of the first and of the second frame, each x, y or z"


def _joint_amounts(item: Item, kind: JointType) -> tuple[Expression, ...]:
    found, known = item.arguments or (), kind.fixes.amounts
    if not 1 <= len(found) <= len(known):
        message = f"{item.word} takes {' and optionally '.join(known)}, found {len(found)} arguments"
        raise ModelError(message, item.place, f"write `{_example(kind)}`")
    return found


def _example(kind: JointType) -> str:
    fixes = kind.fixes
    words = [axis.name.lower() for axis in fixes.axes] or list(fixes.amounts[:1])
    return f"{kind.value}({', '.join(words)})" if words else kind.value


def _frame(section: Section, places: Places, place: Place) -> Frame:
    """`Body: transforms`, `Body`, or transforms of the fixed frame; an empty section is the fixed frame itself."""
    name, items = section.name, section.items
    if name is None and items and items[0].arguments is None:
        body, items = items[0].word, items[1:]
        if items:
            message = f"unexpected `{items[0].word}` after {body}"
            raise ModelError(message, items[0].place, f"write `{body}: {items[0].word}(...)` for a frame on {body}")
        return places.mark(Frame(body), section.items[0].place)
    frame = Frame(None if name is None else str(name), read_transforms(items, places))
    where = items[0].place if items else place
    return places.mark(frame, Place(name.line or 1, name.column or 1, place.source) if name is not None else where)


def _coordinate(loop: str, kind: JointType, section: Section, place: Place) -> str:
    if section.name is None and len(section.items) == 1 and section.items[0].arguments is None:
        return section.items[0].word
    where = section.items[0].place if section.items else place
    remedy = f"write `loop {loop} | {_example(kind)} | q1 | q2;`, or a `constraint` for any other relation"
    raise ModelError(f"the {kind.value} {loop} needs two coordinates, not frames", where, remedy)


def read_impacts(words: Sequence[tuple[str, Place]]) -> Impacts:
    """The impact law and order, each at most once."""
    laws, orders = {law.value: law for law in ImpactLaw}, {order.value: order for order in ImpactOrder}
    found = Impacts()
    for kind in (laws, orders):
        named = [(word, place) for word, place in words if word in kind]
        if len(named) > 1:
            message = f"`impacts` has both {named[0][0]} and {named[1][0]}"
            raise ModelError(message, named[1][1], "keep one of them")
    for word, place in words:
        if word in laws:
            found = replace(found, law=laws[word])
        elif word in orders:
            found = replace(found, order=orders[word])
        else:
            message = f"unknown word '{word}' in `impacts`"
            raise ModelError(message, place, did_you_mean(word, (*laws, *orders)))
    return found


_CONTACT_WORDS = ("restitution", "friction", "slip")
_CONTACT = "`contact floor | tip.z >= 0 | restitution(0.5), friction(0.3), slip(tip.x', tip.y');`"


def read_contact(name: str, gap: Expression, clauses: Sequence[Clause]) -> Contact:
    """The rigid contact of one statement."""
    found: dict[str, tuple[Expression, ...]] = {}
    for clause in clauses:
        if clause.word == "stiffness":
            remedy = f"write two shapes: {COMPLIANT}, or `limit {name} | on(gap) lower(0) stiffness(k);`"
            raise ModelError(f"the compliant contact {name} has a gap instead of two shapes", clause.place, remedy)
        if clause.word not in _CONTACT_WORDS:
            remedy = did_you_mean(clause.word, _CONTACT_WORDS)
            raise ModelError(f"unknown clause `{clause.word}` of the contact {name}", clause.place, remedy)
        if clause.word in found:
            message = f"the contact {name} has `{clause.word}` twice"
            raise ModelError(message, clause.place, "keep one of the two")
        values = tuple(part for part in clause.arguments if isinstance(part, Expression))
        most = 2 if clause.word == "slip" else 1
        if len(values) != len(clause.arguments) or len(values) > most:
            count = "1 or 2 expressions" if most > 1 else "1 expression"
            message = f"`{clause.word}` of the contact {name} takes {count}"
            raise ModelError(message, clause.place, f"write {_CONTACT}")
        found[clause.word] = values
    once = {word: found[word][0] for word in ("restitution", "friction") if word in found}
    return Contact(name, gap, slip=found.get("slip", ()), **once)


#: The clauses of a drive in a leg table, with the minimum and maximum number of expressions.
_DRIVE_WORDS = {
    "damping": (1, 1), "stiffness": (1, 1), "rest": (1, 1), "coulomb": (1, 1), "width": (1, 1), "limit": (1, 1),
    "screw": (1, 4), "stroke": (2, 2), "stop": (1, 1), "effort": (1, 1),
}  # fmt: skip
_EXAMPLE = "`platform UPS | Plate | Sz(0.2), m(4) | Sz(-0.2), m(2) | damping(300) | A: Sx(0.6) > Sx(0.4) | ...;`"


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a leg table as written."""

    name: Token
    base: Token | None
    at_base: Sequence[Item]
    at_platform: Sequence[Item]


class PlatformReader(ExpressionReader):
    """The grammar rules of leg tables."""

    def __init__(self, source: str, places: Places) -> None:
        super().__init__(source, places)
        self._legs: list[tuple[LegKind, tuple[LegRow, ...]]] = []

    def leg(self, children: Children) -> _Row:
        """One leg: its name and its two ends."""
        name, base, at_base, at_platform = children
        return _Row(name, base, at_base, at_platform)

    def platform(self, children: Children) -> None:
        """A platform on legs of one kind."""
        item, platform, first, second, clauses, *rows = children
        try:
            kind = leg_type(item.word)
        except ModelError as error:
            raise error.at(item.place) from None
        lower, upper = (read_inertia(part, self.places)[0] for part in (first, second))
        table = LegKind(kind, str(platform), lower, upper, tuple(item.arguments or ()), read_drive(clauses or ()))
        self._legs.append((table, tuple(self._row(row) for row in rows)))

    def _row(self, row: _Row) -> LegRow:
        base, platform = (read_transforms(items, self.places) for items in (row.at_base, row.at_platform))
        made = LegRow(str(row.name), base, platform, None if row.base is None else str(row.base))
        return self.places.mark(made, self.place(row.name))


def read_drive(clauses: Sequence[Clause]) -> Drive:
    """The drive of a table; `powered`, or a limit or screw without a formula, gives each leg an input."""
    found: dict[str, tuple[Expression, ...]] = {}
    powered = False
    for clause in clauses:
        if clause.word == "powered":
            powered = True
            continue
        if clause.word not in _DRIVE_WORDS:
            remedy = did_you_mean(clause.word, (*_DRIVE_WORDS, "powered"))
            raise ModelError(f"unknown clause `{clause.word}` of a drive", clause.place, remedy)
        if clause.word in found:
            raise ModelError(f"a drive has `{clause.word}` twice", clause.place, "keep one of the two")
        found[clause.word] = _drive_amounts(clause)
    return _drive(found, powered)


def _drive(found: Mapping[str, tuple[Expression, ...]], powered: bool) -> Drive:
    usual = Drive()
    ends = found.get("stroke", (None, None))
    return Drive(
        damping=found.get("damping", (usual.damping,))[0],
        stiffness=found.get("stiffness", (usual.stiffness,))[0],
        rest=found.get("rest", (usual.rest,))[0],
        coulomb=found.get("coulomb", (usual.coulomb,))[0],
        width=found.get("width", (usual.width,))[0],
        powered=powered or ("effort" not in found and ("limit" in found or "screw" in found)),
        effort=found.get("effort", (usual.effort,))[0],
        limit=found["limit"][0] if "limit" in found else None,
        screw=Screw(*found["screw"]) if "screw" in found else None,
        shortest=ends[0],
        longest=ends[1],
        stop=found.get("stop", (usual.stop,))[0],
    )


def _drive_amounts(clause: Clause) -> tuple[Expression, ...]:
    least, most = _DRIVE_WORDS[clause.word]
    values = tuple(part for part in clause.arguments if isinstance(part, Expression))
    if len(values) != len(clause.arguments) or not least <= len(values) <= most:
        count = str(least) if least == most else f"{least} to {most}"
        raise ModelError(f"`{clause.word}` of a drive takes {count} expressions", clause.place, f"write {_EXAMPLE}")
    return values
