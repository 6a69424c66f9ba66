"""Every quantity of the table on small mechanisms: the list is built from the table, so that it is complete."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import kinegraph as kg
from kinegraph.derive.quantities.quantity import Quantity, dependencies
from kinegraph.derive.quantities.record import Extent, QuantityRecord, Subject
from kinegraph.derive.quantities.table import CENTROIDAL, TABLE
from kinegraph.derive.quantities.variables import Variables
from kinegraph.model.constraints import is_constrained
from kinegraph.model.elements import CompliantContact
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.platforms.recognition import platform_of
from tests.mechanisms import Floats, random_state

#: Every kind of element on two joints; a free body with a quaternion and a joint; motion prescribed in time; a motor.
TEXTS = {
    "arm": """parameters k = 3, m = 2; coordinates q1, x; gravity 0, -9.81, 0; inputs u;
        A | Rz(q1) | Sx(0.5), m(m), Jz(0.1); B~A | Sx(x) | Rz(0.2), m(1), Jz(0.05); output tip = B(1, 0.2, 0);
        spring S | on(q1) stiffness(k); damper D | on(x) damping(2); friction F | on(q1) coulomb(0.3);
        force N | value(u) on(x); force P | at(tip) world(1, u, 0); moment M | at(A) body(0, 0, u);
        potential V | k*x^2*sin(q1); limit L | on(x) upper(0.1) stiffness(50) damping(3);""",
    "free": """parameters l = 0.7; quaternion (e0, e1, e2, e3) velocity (wx, wy, wz); coordinates q;
        gravity 0, 0, -9.81; A | Q(e0, e1, e2, e3) | m(2), Jx(0.1), Jy(0.2), Jz(0.25), Jxy(0.01);
        B~A | Sx(l), Ry(q) | Sx(0.2), m(1);
        output tip = B(0, 0, 1); spring S | between(tip, (0, 0, 1)) stiffness(4) rest(0.1);
        contact K | sphere(tip, 2), plane((0, 0, 0), (0, 0, 1)) | stiffness(50), damping(0.2), friction(0.3);""",
    "driven": """parameters c = 0.4; coordinates q; gravity 0, 0, -9.81;
        A | Rz(c + 0.3*sin(2*t)) | Sx(1), m(1), Jz(0.2);
        B~A | Sx(1), Ry(q + 0.2*q^2) | Sz(0.5), m(2), Jy(0.3); force E | value(cos(t)) on(q);""",
    "closed": """parameters l = 0.8; coordinates a = 0.9, b = -1.2, x = 1; gravity 0, -9.81, 0;
        A | Rz(a) | Sx(0.3), m(1), Jz(0.1); B~A | Sx(0.6), Rz(b) | Sx(l/2), m(0.7), Jz(0.04);
        C | Sx(x) | m(0.5), Jz(0.02); spring S | on(x) stiffness(3);
        loop pin | revolute | B: Sx(l) | C:; constraint held | x - 0.2*a = 1;""",
    "platform": """parameters c = 3; coordinates x, y, z = 1; quaternion (e0, e1, e2, e3) velocity (wx, wy, wz);
        gravity 0, 0, -9.81; Ring | Sx(x), Sy(y), Sz(z), Q(e0, e1, e2, e3) | m(2), Jx(0.1), Jy(0.2), Jz(0.25);
        platform UPS | Ring | Sz(0.3), m(1), Jx(0.1), Jy(0.1), Jz(0.01) | Sz(-0.2), m(0.5), Jx(0.05), Jy(0.05) |
            damping(c) | A: Sx(0.2), Rz(0.3) > Sx(0.4), Sz(-0.1);""",
    "motor": """parameters R = 2, k = 0.8; coordinates q; inputs u; gravity 0, -9.81, 0;
        A | Rz(q) | Sx(0.3), m(1), Jz(0.3); output tip = A(1, 0, 0);
        state i' = u - R*i - k*q', x' = sin(tip.x) - x*i*cos(t);
        force T | value(k*i), on(q); damper D | on(q), damping(1 + x^2);""",
    "unknown": """parameters l = 0.8; coordinates q, x; inputs u; unknown S, R; gravity 0, -9.81, 0;
        A | Rz(q) | Sx(0.3), m(1), Jz(0.1); B~A | Sx(x), Rz(0.2) | Sx(l/2), m(0.7), Jz(0.04);
        output tip = B(l, 0, 0); force P | at(tip) world(S*cos(q) - u, 0.3*S*u, 0); moment M | at(A) body(0, 0, 2*R);
        force N | value(R + S*q') on(x); damper D | on(q) damping(0.4);""",
}  # fmt: skip
MECHANISMS = {name: kg.parse(text, name) for name, text in TEXTS.items()}

#: Nothing moves: many quantities are empty.
STILL = kg.parse("parameters l = 1, m = 2; gravity 0, 0, -9.81; A | Sx(l), Rz(0.3) | Sx(l), m(m);", "still")


def words(mechanism: Mechanism) -> list[str]:
    """Every quantity of the table for every possible subject, once in another frame."""
    return [word for record in TABLE for word in words_of(record, mechanism)]


def words_of(record: QuantityRecord, mechanism: Mechanism) -> Iterator[str]:
    """One quantity of the table for every possible subject; for constraints and states only if there are any."""
    if Extent.ROWS in record.shape and not is_constrained(mechanism):
        return
    if Extent.STATES in record.shape and not mechanism.states:
        return
    if record.of_unknowns and not mechanism.unknowns:
        return
    if record.of_platforms != (platform_of(mechanism) is not None):
        return  # others are derived of platforms as of all closed loops
    if record in CENTROIDAL and not mechanism.coordinates:
        return  # nothing that moves has mass
    for subject in _subjects(record.subject, mechanism):
        yield f"{record.name}:{subject}" if subject else record.name
    if record.any_frame:
        frames = [body.name for body in mechanism.bodies]
        yield from (f"{record.name}:{subject}@{frames[-1]}" for subject in _subjects(record.subject, mechanism)[-1:])


def _subjects(subject: Subject, mechanism: Mechanism) -> list[str]:
    bodies = [body.name for body in mechanism.bodies]
    joints = [velocity.removesuffix("'") for velocity in mechanism.layout.velocities]
    match subject:
        case Subject.MECHANISM:
            return [""]
        case Subject.BODY:
            return [*bodies, *(point.name for point in mechanism.points)]
        case Subject.JOINT:
            return joints
        case Subject.JOINT_AND_BODY:
            return [f"{joints[0]}:{body}" for body in bodies] if joints else []
        case Subject.ELEMENT:
            return [element.name for element in mechanism.elements]
        case Subject.CONTACT:
            return [element.name for element in mechanism.elements if isinstance(element, CompliantContact)]
        case Subject.LOOP:
            return [loop.name for loop in mechanism.loops]


def derivatives(mechanism: Mechanism) -> list[str]:
    """Each quantity once, differentiated by all its variables; if that is small, twice by the first of them."""
    found = []
    for record in TABLE:
        if record.of_platforms and Variables.FORCES in record.arguments:
            continue  # long, and differentiated node by node as what legs follow from
        for word in list(words_of(record, mechanism))[-1:]:
            quantity = Quantity.parse(word)
            groups = [*dependencies(quantity, mechanism), Variables.PARAMETERS]
            found += [f"d({word})/d({group})" for group in groups]
            if len(mechanism.layout.velocities) <= 2:
                found.append(f"d(d({word})/d({groups[0]}))/d({groups[-1]})")
    return found


def state(mechanism: Mechanism, seed: int = 1) -> dict[str, Floats | float]:
    """A value for every argument a kernel may take."""
    q, v, a, t = random_state(mechanism, seed)
    layout = mechanism.layout
    given = {"q": q, "v": v, "a": a, "tau": a[::-1] - 0.2, "u": np.full(len(layout.inputs), 0.7)}
    return {**given, "z": np.linspace(0.4, 0.9, len(layout.states)), "t": t}


def symbols(mechanism: Mechanism, seed: int = 1) -> dict[str, float]:
    """The same by the names of the symbols."""
    given = state(mechanism, seed)
    found: dict[str, float] = {}
    for group in Variables:
        if group is not Variables.PARAMETERS:
            values = np.atleast_1d(given[group.value]).tolist()
            found |= dict(zip(group.names(mechanism), values, strict=True))
    return found
