"""Docking mechanisms as parallel manipulators."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from kinegraph.compiler.compile import derive
from kinegraph.compiler.request import request_of
from kinegraph.compiler.stored import reduced
from kinegraph.errors import ModelError
from kinegraph.graph.count import Operations, count
from kinegraph.model.platforms.leg_table import LegType, leg_type
from kinegraph.passes.effort import Effort
from kinegraph.reproduce.docking_step import Floats, State, Step, TwoSpacecraft, in_contact, state_of, value, with_legs
from kinegraph.reproduce.document import Chapter, Document, Entry, fewer, held, measured

_PLACE = {"x": 0.01, "y": -0.02, "z": 0.628, "e1": 0.02, "e2": -0.03}
_MOTION = (0.02, -0.01, 0.08, 0.03, -0.02, 0.01)
_PLACES = {
    False: {"x": -1.45, "y": 0.1, "z": 1.05, "e1": 0.1, "e2": -0.05},
    True: {"x": 0.02, "y": 0.03, "z": 0.62, "e1": 0.1, "e2": -0.05},
}
_FAST = (0.4, -0.3, 0.6, 0.9, -0.5, 0.7)
#: kg, of the chaser and the target in the library's `docking-two-spacecraft`.
_ACTIVE, _PASSIVE = 8000.0, 25000.0
_CLOSE = 1e-10


@cache
def _in_contact() -> tuple[Step, State]:
    mechanism = in_contact()
    return Step(mechanism), state_of(mechanism, _PLACE, _MOTION)


def one_step() -> tuple[Entry, ...]:
    """The nine points of section 7 in their order, at one state of a ring that touches."""
    step, state = _in_contact()
    return tuple(_entries_of_step(step, state))


def _entries_of_step(step: Step, state: State) -> Iterator[Entry]:
    mechanism, legs, none = step.mechanism, step.legs, np.zeros(len(state.v))
    ours = {
        word: value(mechanism, word, state.q, state.v, none)
        for word in ("qdd", "platform_acceleration", "platform_forces")
    }
    index = {name: k for k, name in enumerate(mechanism.layout.velocities)}
    contact = state.forces[[index[f"{name}'"] for name in "xyz"]]
    yield measured("1. place of the ring, contact force", "by the rings", f"{_number_list(contact)} N", _NO_NUMBERS)
    place = np.array([state.q[mechanism.layout.positions.index(name)] for name in legs[0].chain.names])
    found = step.numbers(state, end=legs[0].motion.place, ring=_joint_on_ring(step))
    yield _both("2. joints of leg A from its loop", "r_C = r_L (4.1)", place, found["end"], found["ring"])
    rates = step.numbers(state, p=step.rates(legs[0]))["p"]
    speeds = state.v[[index[f"{name}'"] for name in legs[0].chain.names]]
    yield _both("3. rates of leg A", "p' = H u (4.4)", rates, rates, speeds)
    bias = step.numbers(state, h=legs[0].loop.h)["h"]
    yield measured("4. h of leg A", "(4.5)", _number_list(bias), "no independent value of ours; 8. uses it")
    drives = state.forces[[index[f"{name}'"] for name in legs[0].chain.names]]
    yield _both("5. damper of leg A [N]", "-c p'", drives, drives[-1:], -350 * rates[-1:])
    yield from _forms(step, state)
    u = step.numbers(state, u=step.ring_accelerations)["u"]
    yield _both("7. accelerations of the ring", "A* u' = b* (5.3)", u, u, ours["platform_acceleration"])
    own = step.numbers(state, p=step.leg_accelerations(legs[0]), l=step.multipliers(legs[0]))
    wanted = ours["qdd"][[index[f"{name}'"] for name in legs[0].chain.names]]
    yield _both("8. accelerations of leg A", "p'' = H u' + h (4.5)", own["p"], own["p"], wanted)
    yield _both(
        "8. force in leg A's joint at the ring [N]", "lambda (6.1)", own["l"], own["l"], -ours["platform_forces"][0, :3]
    )
    base = _on_base(step, state)
    wanted = value(mechanism, "base_reaction", state.q, state.v, none)
    yield _both("8. force on the base [N], moment [N m]", "f_0, m_0", base, base, wanted)
    active, passive = base[:3] / _ACTIVE, -contact / _PASSIVE
    text = f"{_number_list(active)} and {_number_list(passive)} m/s^2"
    yield measured("9. accelerations of 8 t and 25 t", "of both spacecraft", text, _NO_NUMBERS)


def both_spacecraft() -> tuple[Entry, ...]:
    """The same step with a moving base of the legs, with both spacecraft."""
    return tuple(
        measured(one.name, one.formula, _number_list(one.found), _NO_NUMBERS)
        if one.wanted is None
        else _both(one.name, one.formula, one.found, one.found, one.wanted)
        for one in TwoSpacecraft().points()
    )


_NO_NUMBERS = "the document prints formulas and no numbers; masses, lengths and contact forces are ours"


def _forms(step: Step, state: State) -> Iterator[Entry]:
    """A_k and b_k: symmetric and positive; 7 and 8 depend on A p'' = b with lambda."""
    found = step.numbers(state, A=step.legs[0].inertia, b=step.legs[0].forces)
    smallest = float(np.linalg.eigvalsh(found["A"]).min())
    yield held("6. inertia matrix of leg A", "A, b (5.1)", f"least eigenvalue {smallest:.3g}", smallest > 0)


def _joint_on_ring(step: Step) -> np.ndarray:
    """The joint of leg A on the ring."""
    ring = step.ring
    return np.array(np.array(ring.motion.position, dtype=object) + ring.rotation @ step.legs[0].chain.ring)


def _both(name: str, formula: str, published: Floats, found: Floats, wanted: Floats) -> Entry:
    """The document's method and ours."""
    difference = float(np.abs(found - wanted).max() / max(np.abs(wanted).max(), 1e-300))
    return held(name, formula, f"{_number_list(published)}; both methods to {difference:.0e}", difference < _CLOSE)


def _number_list(values: Floats) -> str:
    return ", ".join(f"{item:.4g}" for item in values)


def five_types() -> tuple[Entry, ...]:
    """The document's algorithm for each type of leg beside ours, in numbers and in operations."""
    return tuple(entry for kind in LegType for entry in _type_entries(kind))


def _type_entries(kind: LegType) -> Iterator[Entry]:
    mechanism = with_legs(kind)
    step, state = Step(mechanism), state_of(mechanism, _PLACES[kind.has_crank], _FAST)
    yield from _scalar_code(kind, step)
    u = step.numbers(state, u=step.ring_accelerations)["u"]
    ours = value(mechanism, "platform_acceleration", state.q, state.v, np.zeros(len(state.v)))
    yield _both(f"{kind.value}: accelerations of the ring", "A* u' = b*", u, u, ours)
    theirs, mine = count(step.graph(u=step.ring_accelerations)), _ours(kind)
    yield fewer(f"{kind.value}: mul of u', six legs; the document's scalar code", theirs.mul, mine.mul)
    yield fewer(f"{kind.value}: add of u', six legs; the document's scalar code", theirs.add, mine.add)
    yield fewer(
        f"{kind.value}: sin and cos, ours square roots", theirs.sin + theirs.cos, mine.sqrt + mine.sin + mine.cos
    )


def _scalar_code(kind: LegType, step: Step) -> Iterator[Entry]:
    """One leg, from its coordinates to its contribution to A* and b*: all written operations, and those with an
    effect."""
    leg = step.leg(0)
    matrix, right = step.reduced(leg)
    written = [*vars(leg.motion).values(), *vars(leg.loop).values(), leg.inertia, leg.forces, *sum(leg.loads, ())]
    arrays = {f"part {k}": one for k, one in enumerate(one for one in written if one is not None)}
    whole, used = count(step.graph(A=matrix, b=right, **arrays)), count(step.graph(A=matrix, b=right))
    text = f"{whole.mul} mul, {whole.add} add; {used.mul} mul, {used.add} add are used"
    yield held(f"{kind.value}: one leg to A*, b*", "dead assignments are removed", text, used.total < whole.total)


def _ours(kind: LegType) -> Operations:
    request = request_of(with_legs(kind), "platform_acceleration", numeric=True, effort=Effort.QUICK)
    return count(reduced(request).graph)


def roots() -> tuple[Entry, ...]:
    """The end of section 4: square roots of the closed forms against sines and cosines of one Newton iteration."""
    return tuple(_root_entry(kind) for kind in LegType)


def _root_entry(kind: LegType) -> Entry:
    mechanism = with_legs(kind)
    step = Step(mechanism)
    leg = step.leg(0)
    newton = count(step.graph(C=leg.loop.dependent, f=leg.motion.place))
    closed = count(derive(mechanism, "leg_positions")).sqrt // len(step.platform.legs)
    text = f"{closed} roots, {newton.sin} sines and {newton.cos} cosines"
    return held(f"{kind.value}: one leg", "as many roots as sines and cosines", text, closed <= newton.sin + newton.cos)


def claims() -> tuple[Entry, ...]:
    """Claims of the document beside its formulas."""
    return (*_excluded(), _printed_bias(), _printed_reaction(), *_along_the_link())


def _excluded() -> Iterator[Entry]:
    words = ", ".join(kind.value for kind in LegType)
    yield held("types of legs", "five", words, len(LegType) == 5)
    try:
        leg_type("UUU")
    except ModelError as error:
        yield held("UUU", "excluded", f"refused: {str(error).splitlines()[0]}", True)


def _printed_bias() -> Entry:
    """w_j of section 4 as printed lacks epsilon x r."""
    step, state = _in_contact()
    printed = Step(step.mechanism, complete=False)
    found = printed.numbers(state, u=printed.ring_accelerations)["u"]
    wanted = step.numbers(state, u=step.ring_accelerations)["u"]
    difference = float(np.abs(found - wanted).max() / np.abs(wanted).max())
    reason = (
        "the printed recursion of w_j lacks epsilon_{j-1} x r_{j-1,j}, which section 5 has; with it both methods agree"
    )
    return held(
        "w_j of section 4 as printed: u'", "exact", f"wrong by {difference:.0e} of u'", difference < _CLOSE, reason
    )


def _printed_reaction() -> Entry:
    """(6.3) begins without a force at the ring's joint."""
    step, state = _in_contact()
    sums = [_on_base(step, state, printed) for printed in (True, False)]
    difference = float(np.abs(sums[0] - sums[1]).max() / np.abs(sums[1]).max())
    reason = "(6.3) begins with f = 0 at the ring's joint: the part of lambda across the link is omitted (light links)"
    return held("f_0, m_0 by (6.3) as printed", "exact", f"wrong by {difference:.1e}", difference < _CLOSE, reason)


def _on_base(step: Step, state: State, printed: bool = False) -> Floats:
    """Force and moment of all legs on the base."""
    found = [step.numbers(state, r=step.reaction(leg, printed))["r"] for leg in step.legs]
    return np.asarray(np.sum(found, axis=0))


def _along_the_link() -> Iterator[Entry]:
    """lambda is along the link: for light links."""
    for word, legs in (("legs with mass", 1.0), ("a thousandth of it", 0.001)):
        mechanism = in_contact(legs)
        step, state = Step(mechanism), state_of(mechanism, _PLACE, _MOTION)
        leg = step.leg(0)
        found = step.numbers(state, l=step.multipliers(leg), axis=leg.motion.axes[:, 2])
        across = found["l"] - found["axis"] * (found["axis"] @ found["l"])
        part = float(np.linalg.norm(across) / np.linalg.norm(found["l"]))
        reason = "true of massless links only; these have 7 kg on a ring of 80 kg"
        yield held(f"lambda is along the link: {word}", "yes", f"{part:.1e} of it is across", part < 1e-2, reason)


DOCKING = Document(
    "docking",
    "Docking mechanisms as parallel manipulators",
    "Rings on six legs of five types: loop equations of each leg, composite bodies, six equations for the ring",
    (
        Chapter(
            "Section 7: one step of docking",
            "The algorithm of sections 4 to 6 as in the document (`kinegraph.reproduce.docking_legs`), "
            "beside our closed forms. A ring on six legs UPS touches the plane of a passive ring; leg A is "
            "shown.",
            "kinegraph eval stewart -q platform_acceleration,leg_velocities,platform_forces,base_reaction",
            one_step,
        ),
        Chapter(
            "Section 7: the same step on two moving spacecraft",
            "`docking-two-spacecraft` with pads of the rings in contact: chaser, ring and target move "
            "freely. Ring and chaser are solved together, twelve equations instead of six; every line is "
            "checked independently: by geometry, loops with multipliers, or the laws of one rigid body.",
            "kinegraph eval docking-two-spacecraft -q qdd,base_reaction",
            both_spacecraft,
        ),
        Chapter(
            "Sections 4, 5 and 7: five types of legs as scalar code",
            "Every matrix operation as scalar assignments, zeros, ones and constants folded, assignments "
            "without effect removed. Names are in the order of joints: the extract has some reversed.",
            "python -m benchmarks platforms --counts",
            five_types,
        ),
        Chapter(
            "Section 4: square roots of the closed forms",
            "The claim at the end of section 4.",
            "kinegraph count stewart -q leg_positions --effort quick",
            roots,
        ),
        Chapter(
            "Claims",
            "Statements of the document, tested.",
            "kinegraph eval stewart -q platform_forces,leg_reactions",
            claims,
        ),
    ),
)
