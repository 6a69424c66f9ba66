"""Memory for contacts whose quantities a test writes itself."""

import numpy as np

from kinegraph.model.mechanism import Impacts
from kinegraph.solve.contacts.memory import ContactObservation, contact_memory
from kinegraph.solve.contacts.mode import ContactSet
from kinegraph.solve.problem import CauchyProblem, RightHandSide

NAMES = ("gaps", "spans", "reaches", "rates", "speeds", "free", "compliance", "responses")


def memory(slips, friction, flags=0):
    count, rows = len(slips), len(slips) + sum(slips)
    shapes = [(count,)] * 3 + [(rows,)] * 3 + [(rows, rows), (rows, 1)]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes]).tolist()
    parts = [(n, slice(a, b), s) for n, a, b, s in zip(NAMES, [0, *ends], ends, shapes, strict=False)]
    contacts = ContactSet(
        tuple(f"c{k}" for k in range(count)), (0.5,) * count, friction, slips, Impacts(), slice(0, 1), 1.0
    )
    problem = CauchyProblem(RightHandSide(1, ("y",), parameters=flags), np.zeros(1), 0.0, 1.0, np.zeros(flags))
    return contact_memory(contacts, ContactObservation(1, parts), problem, 0)
