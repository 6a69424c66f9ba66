"""The statements of what ties bodies: `loop pin | revolute | Coupler: Sx(l) | Sx(d);`, constraints, contacts, cuts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lark import Token

from kinegraph.errors import ModelError, Place
from kinegraph.io.records.element_items import Clause
from kinegraph.io.records.expression_reader import Children, ExpressionReader, as_expression
from kinegraph.io.records.items import Item, read_transforms
from kinegraph.model.constraints.impacts import ImpactLaw, ImpactOrder, Impacts
from kinegraph.model.constraints.joint_types import SYNONYMS, JointType
from kinegraph.model.constraints.records import AnyLoop, Constraint, Contact, Coupling, Cut, Frame, Joint, Loop, Unknown
from kinegraph.model.expression import Expression, Name
from kinegraph.model.mechanism import ZERO, Axis
from kinegraph.model.names import did_you_mean
from kinegraph.model.places import Places


@dataclass(frozen=True, slots=True)
class Section:
    """An end of a loop as it is written: `Body: transforms`, transforms alone, or a single name."""

    name: Token | None
    items: tuple[Item, ...]


class ConstraintReader(ExpressionReader):
    """The rules of the grammar that make loops, constraints, contacts, unknown forces and cuts."""

    def __init__(self, source: str, places: Places) -> None:
        super().__init__(source, places)
        self._loops: list[AnyLoop] = []
        self._constraints: list[Constraint] = []
        self._contacts: list[Contact] = []
        self._impacts: Impacts | None = None
        self._unknowns: list[Unknown] = []
        self._cuts: list[Cut] = []

    def frame(self, children: Children) -> Section:
        """A body and the transforms that lead from it to a frame."""
        *name, items = children
        return Section(name[0] if name else None, tuple(items))

    def loop(self, children: Children) -> None:
        """A joint that closes a loop between two frames."""
        name, joint, first, second = children
        loop = read_loop(str(name), joint, (first, second), self.place(name), self.places)
        self._loops.append(loop)

    def constraint(self, children: Children) -> None:
        """An equation that always holds."""
        name, left, right = children
        constraint = Constraint(str(name), as_expression(left), as_expression(right))
        self._constraints.append(self.places.mark(constraint, self.place(name)))

    def contact(self, children: Children) -> None:
        """A gap that cannot become negative, and the laws that act when it is closed."""
        name, gap, _, bound, clauses = children
        left, right = as_expression(gap), as_expression(bound)
        contact = read_contact(str(name), left if right == ZERO else left - right, clauses or ())
        self.places.mark(contact, self.place(name))
        for clause in clauses or ():
            self.places.mark(contact, clause.place, clause.word)
        self._contacts.append(contact)

    def impacts(self, children: Children) -> None:
        """The law of all impacts, stated once."""
        keyword, *words = children
        if self._impacts is not None:
            raise ModelError("impacts are stated a second time", self.place(keyword), "keep one `impacts` statement")
        self._impacts = read_impacts([(str(word), self.place(word)) for word in words])

    def unknown(self, children: Children) -> None:
        """Names of forces that are asked for."""
        self._unknowns.extend(self.places.mark(Unknown(str(name)), self.place(name)) for name in children)

    def cut(self, children: Children) -> None:
        """Joints where the loops are to be cut."""
        self._cuts.extend(self.places.mark(Cut(str(name)), self.place(name)) for name in children)


def read_loop(name: str, joint: Item, ends: tuple[Section, Section], place: Place, places: Places) -> AnyLoop:
    """The loop of one statement."""
    kind = _joint_type(joint)
    loop: AnyLoop
    if kind.fixes.relation:
        first, second = (_coordinate(name, kind, section, place) for section in ends)
        loop = Coupling(name, kind, first, second, *_amounts(joint, kind))
    else:
        axes, length = _axes(joint, kind), None
        if kind.fixes.amounts:
            (length,) = _amounts(joint, kind)
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
    raise ModelError(f"{item.word} is no joint that closes a loop", item.place, remedy)


def _axes(item: Item, kind: JointType) -> tuple[Axis, ...]:
    """The axes a joint is told, or its usual ones."""
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
    return "an axis of the first frame and one of the second, each x, y or z"


def _amounts(item: Item, kind: JointType) -> tuple[Expression, ...]:
    found, known = item.arguments or (), kind.fixes.amounts
    if not 1 <= len(found) <= len(known):
        message = f"{item.word} takes {' and perhaps '.join(known)}, found {len(found)} arguments"
        raise ModelError(message, item.place, f"write `{_example(kind)}`")
    return found


def _example(kind: JointType) -> str:
    fixes = kind.fixes
    words = [axis.name.lower() for axis in fixes.axes] or list(fixes.amounts[:1])
    return f"{kind.value}({', '.join(words)})" if words else kind.value


def _frame(section: Section, places: Places, place: Place) -> Frame:
    """`Body: transforms`, `Body`, or transforms of the fixed frame; nothing is the fixed frame itself."""
    name, items = section.name, section.items
    if name is None and items and items[0].arguments is None:
        body, items = items[0].word, items[1:]
        if items:
            message = f"found {items[0].word} after {body}"
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
    raise ModelError(f"the {kind.value} {loop} ties two coordinates, not frames", where, remedy)


def read_impacts(words: Sequence[tuple[str, Place]]) -> Impacts:
    """The law and the order of impacts, each at most once."""
    laws, orders = {law.value: law for law in ImpactLaw}, {order.value: order for order in ImpactOrder}
    found = Impacts()
    for kind in (laws, orders):
        named = [(word, place) for word, place in words if word in kind]
        if len(named) > 1:
            message = f"`impacts` names {named[0][0]} and {named[1][0]}"
            raise ModelError(message, named[1][1], "keep one of them")
    for word, place in words:
        if word in laws:
            found = replace(found, law=laws[word])
        elif word in orders:
            found = replace(found, order=orders[word])
        else:
            message = f"`impacts` takes no {word}"
            raise ModelError(message, place, did_you_mean(word, (*laws, *orders)))
    return found


_CONTACT_WORDS = ("restitution", "friction", "slip")
_CONTACT = "`contact floor | tip.z >= 0 | restitution(0.5), friction(0.3), slip(tip.x', tip.y');`"


def read_contact(name: str, gap: Expression, clauses: Sequence[Clause]) -> Contact:
    """The contact of one statement."""
    found: dict[str, tuple[Expression, ...]] = {}
    for clause in clauses:
        if clause.word not in _CONTACT_WORDS:
            remedy = did_you_mean(clause.word, _CONTACT_WORDS)
            raise ModelError(f"the contact {name} takes no `{clause.word}`", clause.place, remedy)
        if clause.word in found:
            message = f"the contact {name} has `{clause.word}` a second time"
            raise ModelError(message, clause.place, "keep one of the two")
        values = tuple(part for part in clause.arguments if isinstance(part, Expression))
        most = 2 if clause.word == "slip" else 1
        if len(values) != len(clause.arguments) or len(values) > most:
            message = f"`{clause.word}` of the contact {name} takes {'one or two expressions' if most > 1 else 'one'}"
            raise ModelError(message, clause.place, f"write {_CONTACT}")
        found[clause.word] = values
    once = {word: found[word][0] for word in ("restitution", "friction") if word in found}
    return Contact(name, gap, slip=found.get("slip", ()), **once)
