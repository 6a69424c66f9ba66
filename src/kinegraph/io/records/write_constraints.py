"""Definitions, loops, constraints, contacts, unknown forces and cuts back into the model language."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kinegraph.model.constraints.impacts import Impacts
from kinegraph.model.constraints.records import AnyLoop, Constraint, Contact, Coupling, Frame, Joint
from kinegraph.model.expression import Expression
from kinegraph.model.expression_text import text
from kinegraph.model.mechanism import ZERO, Mechanism, Transform


def name_statements(mechanism: Mechanism) -> Iterator[str]:
    """The statements of named expressions and unknown forces."""
    yield from (f"define {one.name} = {text(one.value)};" for one in mechanism.definitions)
    yield from (f"quasivelocity {one.name} = {text(one.value)};" for one in mechanism.quasivelocities)
    if mechanism.unknowns:
        yield f"unknown {', '.join(one.name for one in mechanism.unknowns)};"


def constraint_statements(mechanism: Mechanism, transform: Callable[[Transform], str]) -> Iterator[str]:
    """The statements of what ties the bodies; `transform` writes one transform."""
    yield from (loop_text(loop, transform) for loop in mechanism.loops)
    yield from (constraint_text(one) for one in mechanism.constraints)
    yield from (contact_text(contact) for contact in mechanism.contacts)
    if mechanism.impacts != Impacts():
        yield f"impacts {mechanism.impacts.law.value}, {mechanism.impacts.order.value};"
    if mechanism.cuts:
        yield f"cut {', '.join(cut.joint for cut in mechanism.cuts)};"


def loop_text(loop: AnyLoop, transform: Callable[[Transform], str]) -> str:
    """The statement of a loop."""
    return f"loop {loop.name} | {' | '.join(_sections(loop, transform))};"


def constraint_text(constraint: Constraint) -> str:
    """The statement of a constraint."""
    return f"constraint {constraint.name} | {text(constraint.left)} = {text(constraint.right)};"


def _sections(loop: AnyLoop, transform: Callable[[Transform], str]) -> tuple[str, str, str]:
    if isinstance(loop, Coupling):
        amounts = (loop.ratio,) if loop.offset == ZERO else (loop.ratio, loop.offset)
        return _called(loop.type.value, amounts), loop.first, loop.second
    return _joint(loop.joint), _frame(loop.first, transform), _frame(loop.second, transform)


def _joint(joint: Joint) -> str:
    if joint.length is not None:
        return _called(joint.type.value, (joint.length,))
    usual = joint.axes == joint.type.fixes.axes
    axes = "" if usual else f"({', '.join(axis.name.lower() for axis in joint.axes)})"
    return f"{joint.type.value}{axes}"


def _frame(frame: Frame, transform: Callable[[Transform], str]) -> str:
    transforms = ", ".join(transform(one) for one in frame.transforms)
    if frame.body is None:
        return transforms
    return f"{frame.body}: {transforms}" if transforms else frame.body


def contact_text(contact: Contact) -> str:
    """The statement of a contact."""
    clauses = []
    if contact.restitution != ZERO:
        clauses.append(_called("restitution", (contact.restitution,)))
    if contact.friction != ZERO:
        clauses.append(_called("friction", (contact.friction,)))
    if contact.slip:
        clauses.append(_called("slip", contact.slip))
    return f"contact {contact.name} | {text(contact.gap)} >= 0{' | ' + ', '.join(clauses) if clauses else ''};"


def _called(word: str, arguments: tuple[Expression, ...]) -> str:
    return f"{word}({', '.join(text(item) for item in arguments)})"
