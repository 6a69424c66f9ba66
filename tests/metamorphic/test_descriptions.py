"""One mechanism described in ten ways: the same accelerations, reactions, modes, equilibria, integrals, runs, tables.

`make soak` takes every kind of mechanism through every description with many seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from random import Random

import pytest

from kinegraph.model.mechanism import Coordinate, Mechanism
from tests.effort import SOAK
from tests.metamorphic import answers, mechanisms
from tests.metamorphic.descriptions import (
    Description,
    as_it_is,
    in_other_units,
    mirrored,
    other_lengths,
    other_masses,
    other_times,
    renamed_all,
    reordered,
    split,
    turned,
)
from tests.metamorphic.facts import Facts, differences, instant, moving_state, singular_start
from tests.metamorphic.spanning import CannotBeSpanned, other_base, other_cut

WAYS: dict[str, Callable[[Mechanism, Random], Description]] = {
    "turned": turned, "mirrored": mirrored, "masses": other_masses, "lengths": other_lengths, "times": other_times,
    "units": in_other_units, "renamed": renamed_all, "reordered": reordered, "split": split, "base": other_base,
    "cut": other_cut,
}  # fmt: skip
UNITS = ("masses", "lengths", "times", "units")
#: Ways in which coordinates are left out, and forces on them with them.
SPANNED = ("base", "cut")


def instants(first: Mechanism, other: Description, seed: int, spanned: bool) -> Facts:
    state = moving_state(first, seed)
    return instant(first, other, state | dict.fromkeys(first.layout.forces, 0.0) if spanned else state)


#: What is asked, and how near answers must be beside the largest number of their kind.
QUESTIONS: dict[str, tuple[Callable[[Mechanism, Description, int, bool], Facts], float]] = {
    "instant": (instants, 1e-9),
    "run": (lambda first, other, seed, spanned: answers.run(first, other, 1.0 if first.contacts else 0.2), 1e-6),
    "modes": (lambda first, other, seed, spanned: answers.modes(first, other, answers.held(first)), 1e-7),
    "free modes": (lambda first, other, seed, spanned: answers.modes(first, other, answers.resting(first)), 1e-6),
    "equilibria": (lambda first, other, seed, spanned: answers.equilibria(first, other), 1e-5),
    "integrals": (lambda first, other, seed, spanned: answers.integrals(first, other), 0.0),
    "study": (lambda first, other, seed, spanned: answers.study(first, other, _varied(first)), 1e-6),
}


def _varied(mechanism: Mechanism) -> str:
    return next(one.name for one in mechanism.coordinates if isinstance(one, Coordinate))


@lru_cache(maxsize=4)
def first(kind: str, seed: int) -> Mechanism:
    return mechanisms.KINDS[kind](seed)


@lru_cache(maxsize=8)
def expected(question: str, kind: str, seed: int, spanned: bool) -> Facts:
    mechanism = first(kind, seed)
    return QUESTIONS[question][0](mechanism, as_it_is(mechanism), seed, spanned)


#: Every question, kind and way at least once.
QUICK = [
    *(("instant", "tree", way, 0) for way in ("turned", "mirrored", "units", "split", "cut")),
    *(("instant", "quaternions", way, 2) for way in ("mirrored", "base")),
    *(("instant", "prescribed", way, 0) for way in ("turned", "times", "renamed", "base")),
    ("instant", "closures", "turned", 2),
    ("instant", "bridges", "reordered", 0),
    *(("instant", "machines", way, seed) for seed, way in enumerate(("renamed", "reordered", "turned"))),
    *(("instant", "loops", way, 0) for way in ("base", "cut")),
    ("instant", "constrained", "times", 0),
    ("instant", "platforms", "renamed", 0),
    ("run", "contacts", "lengths", 0),
    ("run", "loops", "base", 0),
    ("run", "constrained", "reordered", 3),
    *(("modes", "springs", way, 0) for way in ("masses", "mirrored")),
    ("free modes", "loops", "cut", 0),
    ("equilibria", "springs", "reordered", 0),
    ("integrals", "drifting", "turned", 0),
    *(("study", "springs", way, 0) for way in ("renamed", "lengths")),
    ("study", "loops", "lengths", 3),
]

#: The kinds of mechanisms a question is asked of, and how many seeds of each.
ALL = {
    "instant": {
        "tree": 40,
        "quaternions": 20,
        "prescribed": 40,
        "springs": 20,
        "machines": 20,
        "loops": 30,
        "closures": 60,
        "bridges": 40,
        "constrained": 30,
        "library": 18,
        "platforms": 3,
    },
    "run": {
        "tree": 5,
        "quaternions": 5,
        "prescribed": 10,
        "springs": 10,
        "machines": 10,
        "loops": 10,
        "constrained": 10,
        "contacts": 20,
    },
    "modes": {"springs": 40, "loops": 10},
    "free modes": {"loops": 10},
    "equilibria": {"springs": 20},
    "integrals": {"drifting": 5, "springs": 5},
    "study": {"springs": 10, "loops": 5},
}
EVERY = [
    (question, kind, way, seed)
    for question, kinds in ALL.items()
    for kind, count in kinds.items()
    for seed in range(count)
    for place, way in enumerate(WAYS)
    if count <= 10 or (seed + place) % 3 == 0  # each way with every third seed
    if not (question in ("modes", "equilibria", "study") and way in SPANNED)  # forces or columns of other coordinates
    if not (kind == "machines" and way in UNITS)  # rates of states and tables are numbers without units
    # Of declared values that loops cannot keep together, those of coordinates that are named first hold.
    if not (question == "study" and kind == "loops" and way == "reordered")
]


@pytest.mark.parametrize(("question", "kind", "way", "seed"), EVERY if SOAK else QUICK)
def test_another_description_gives_the_same_answer(question: str, kind: str, way: str, seed: int) -> None:
    mechanism = first(kind, seed)
    try:
        other = WAYS[way](mechanism, Random(seed))
    except CannotBeSpanned:
        pytest.skip("its joints are needed as they are")
    ask, tolerance = QUESTIONS[question]
    found = ask(mechanism, other, seed, way in SPANNED)
    wanted = expected(question, kind, seed, way in SPANNED)
    assert found.keys() & wanted.keys()
    singular = question == "instant" and singular_start(mechanism)
    assert differences(found, wanted, tolerance, singular) == []
    assert not singular or singular_start(other.mechanism)
