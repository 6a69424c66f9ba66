"""Loops, constraints, contacts, unknown forces and named expressions written in Python: methods of the builder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from kinegraph.errors import ModelError, one_of
from kinegraph.model.constraints.impacts import ImpactLaw, ImpactOrder, Impacts
from kinegraph.model.constraints.joint_types import JointType
from kinegraph.model.constraints.records import AnyLoop, Constraint, Contact, Coupling, Cut, Frame, Joint, Loop, Unknown
from kinegraph.model.definitions import Definition, QuasiVelocity
from kinegraph.model.expression import Name, Scalar, expression
from kinegraph.model.mechanism import ZERO, Axis, Body, Transform

#: A frame in Python: `frame(body, transforms...)`, or a body or its name, or None for the fixed frame.
FrameLike: TypeAlias = Frame | Body | str | None


def frame(body: Body | str | None, *transforms: Transform) -> Frame:
    """A frame on a body (on the fixed frame if body is None); the transforms lead from the body's frame to it."""
    return Frame(body.name if isinstance(body, Body) else body, transforms)


class ConstraintBuilder:
    """Collects what ties bodies beyond their records, and names for expressions."""

    def __init__(self) -> None:
        self._definitions: list[Definition] = []
        self._quasivelocities: list[QuasiVelocity] = []
        self._loops: list[AnyLoop] = []
        self._constraints: list[Constraint] = []
        self._contacts: list[Contact] = []
        self._impacts = Impacts()
        self._unknowns: list[Unknown] = []
        self._cuts: list[Cut] = []

    def define(self, name: str, value: Scalar) -> Name:
        """Give an expression a name."""
        self._definitions.append(Definition(name, expression(value)))
        return Name(name)

    def quasivelocity(self, name: str, value: Scalar) -> Name:
        """Give a sum of velocities a name; its integral is an output of every run."""
        self._quasivelocities.append(QuasiVelocity(name, expression(value)))
        return Name(name)

    def unknown(self, name: str) -> Name:
        """Declare a force or moment that is to be found from the motion."""
        self._unknowns.append(Unknown(name))
        return Name(name)

    def loop(
        self,
        name: str,
        joint: JointType | str,
        first: FrameLike,
        second: FrameLike,
        *,
        axes: Sequence[Axis | str] = (),
        length: Scalar | None = None,
    ) -> Loop:
        """Close a loop: a joint ties the first frame to the second. `axes` are `x`, `y` or `z` of both frames (for a
        universal joint one of the first and one of the second); `length` is that of a `distance`."""
        kind = one_of(JointType, joint, f"loop {name}: the joint", ModelError)
        usual = kind.fixes.axes
        chosen = tuple(one_of(Axis, axis, f"loop {name}: an axis", ModelError) for axis in axes) or usual
        if len(chosen) != len(usual):
            raise ModelError(f"a {kind.value} joint takes {len(usual)} axes, found {len(chosen)}")
        if kind.fixes.relation or (length is None) is bool(kind.fixes.amounts):
            remedy = (
                f"write coupling(...) for {kind.value}" if kind.fixes.relation else "only a `distance` has a length"
            )
            raise ModelError(f"the loop {name} cannot be a {kind.value} of these arguments", remedy=remedy)
        made = Joint(kind, chosen, None if length is None else expression(length))
        loop = Loop(name, made, _frame(first), _frame(second))
        self._loops.append(loop)
        return loop

    def coupling(
        self, name: str, first: Name | str, second: Name | str, ratio: Scalar, offset: Scalar = 0, rack: bool = False
    ) -> Coupling:
        """A gear between two coordinates, first = ratio * second + offset; with `rack` the first one travels."""
        kind = JointType.RACK if rack else JointType.GEAR
        ends = [one.text if isinstance(one, Name) else one for one in (first, second)]
        coupling = Coupling(name, kind, ends[0], ends[1], expression(ratio), expression(offset))
        self._loops.append(coupling)
        return coupling

    def constraint(self, name: str, left: Scalar, right: Scalar = ZERO) -> Constraint:
        """Two expressions that stay equal: of positions and time, or linear in the velocities."""
        constraint = Constraint(name, expression(left), expression(right))
        self._constraints.append(constraint)
        return constraint

    def contact(
        self, name: str, gap: Scalar, *, restitution: Scalar = 0, friction: Scalar = 0, slip: Sequence[Scalar] = ()
    ) -> Contact:
        """A gap that never becomes negative; friction works against the one or two velocities `slip`."""
        slip_velocities = tuple(expression(item) for item in slip)
        contact = Contact(name, expression(gap), expression(restitution), expression(friction), slip_velocities)
        self._contacts.append(contact)
        return contact

    def impacts(
        self, law: ImpactLaw | str = ImpactLaw.NEWTON, order: ImpactOrder | str = ImpactOrder.SIMULTANEOUS
    ) -> None:
        """How contacts meet: `newton` or `poisson`; several at once `simultaneous` or `sequential`."""
        self._impacts = Impacts(
            one_of(ImpactLaw, law, "the law of impacts", ModelError),
            one_of(ImpactOrder, order, "the order of impacts", ModelError),
        )

    def cut(self, *joints: str | Loop | Body) -> None:
        """Cut loops at these joints: a loop's own, or the one of a body on its base."""
        self._cuts.extend(Cut(joint if isinstance(joint, str) else joint.name) for joint in joints)


def _frame(given: FrameLike) -> Frame:
    return given if isinstance(given, Frame) else frame(given)
