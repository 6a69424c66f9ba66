"""Destroy and repair: simulated annealing over factorings, the alternatives it may choose, and sums that vanish."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations_with_replacement, islice
from typing import NamedTuple, TypeAlias

from kinegraph.interrupt import Interrupt
from kinegraph.passes.factoring.convert import Translation
from kinegraph.passes.factoring.extract import greedy, inline, inlined_size
from kinegraph.passes.factoring.polynomials import MINUS_ONE, ONE, System

# Other ways to write the roots of a system.


@dataclass(frozen=True)
class Alternatives:
    """For roots the ways to write them, cheapest first, and the sums of the angles these may need, by literal.

    `relations` are sums that vanish, whatever the coordinates are.
    """

    roots: Mapping[int, Sequence[Mapping[int, int]]] = field(default_factory=dict)
    angles: Mapping[int, Mapping[int, int]] = field(default_factory=dict)
    relations: Sequence[Mapping[int, int]] = ()


# Sums of sines and cosines that vanish: sin^2 + cos^2 - 1, and addition theorems of angles side by side.

#: An angle as a sum of monomials with numbers, sorted.
Angle: TypeAlias = tuple[tuple[int, Fraction], ...]
Terms: TypeAlias = Mapping[int, int]

#: More relations are not looked for: a search tries few of them.
MOST = 400


class Pair(NamedTuple):
    """The literals of an angle's sine and cosine, and the sign the sine has."""

    sine: int
    cosine: int
    sign: int


def relations(translation: Translation, sums: Mapping[int, Terms] | None = None) -> list[dict[int, int]]:
    """Equations between a system's sines and cosines, each a sum that is zero; `sums` are angles not written yet."""
    system = translation.system
    pairs = _pairs(translation, {**(sums or {}), **system.expressions})
    return [_collected(system, terms) for terms in islice(_sums(pairs), MOST)]


def _pairs(translation: Translation, sums: Mapping[int, Terms]) -> dict[Angle, Pair]:
    """Angles of which both sine and cosine are there."""
    found: dict[Angle, dict[str, tuple[int, int]]] = {}
    for literal, (name, arguments) in translation.functions.items():
        kind, argument = arguments[0]
        if name in ("sin", "cos") and kind == "literal":
            sign, angle = _positive(_angle(translation.system, sums, argument))
            found.setdefault(angle, {}).setdefault(name, (literal, sign))
    return {
        angle: Pair(here["sin"][0], here["cos"][0], here["sin"][1]) for angle, here in found.items() if len(here) == 2
    }


def _angle(system: System, sums: Mapping[int, Terms], literal: int) -> Angle:
    """A literal with sums inside it written out; what has other factors than numbers is one quantity."""
    total: dict[int, Fraction] = {}
    pending = [(literal, Fraction(1))]
    while pending:
        top, factor = pending.pop()
        terms = sums.get(top)
        numbers = {m: system.coefficients.rational(c) for m, c in terms.items()} if terms else {}
        if not numbers or None in numbers.values():
            monomial = system.monomials.intern((top,))
            total[monomial] = total.get(monomial, Fraction(0)) + factor
            continue
        for monomial, number in numbers.items():
            literals, scaled = system.monomials.literals[monomial], factor * Fraction(number or 0)
            if len(literals) == 1:
                pending.append((literals[0], scaled))
            else:
                total[monomial] = total.get(monomial, Fraction(0)) + scaled
    return tuple(sorted((m, c) for m, c in total.items() if c))


def _positive(angle: Angle) -> tuple[int, Angle]:
    """The sign and the angle whose first number is positive."""
    if angle and angle[0][1] < 0:
        return -1, tuple((m, -c) for m, c in angle)
    return 1, angle


def _with(left: Angle, right: Angle, sign: int) -> Angle:
    """One angle plus or minus another."""
    total = dict(left)
    for monomial, number in right:
        total[monomial] = total.get(monomial, Fraction(0)) + sign * number
    return tuple(sorted((m, c) for m, c in total.items() if c))


#: Terms of a relation: a number that is a sign, and literals.
_Sum: TypeAlias = list[tuple[int, tuple[int, ...]]]


def _sums(pairs: Mapping[Angle, Pair]) -> Iterator[_Sum]:
    """The circles first, then the addition theorems."""
    for sine, cosine, _ in pairs.values():
        yield [(1, (sine, sine)), (1, (cosine, cosine)), (-1, ())]
    for (first, a), (second, b) in combinations_with_replacement(pairs.items(), 2):
        for sign in (1, -1):
            turned, angle = _positive(_with(first, second, sign))
            if angle in pairs:
                yield from _addition(a, b, pairs[angle], sign, turned)


def _addition(a: Pair, b: Pair, whole: Pair, sign: int, turned: int) -> Iterable[_Sum]:
    """cos(a + sign b) and sin(a + sign b), written in those of a and b."""
    ab = a.sign * b.sign * sign
    yield [(-1, (whole.cosine,)), (1, (a.cosine, b.cosine)), (-ab, (a.sine, b.sine))]
    sine = whole.sign * turned
    yield [(-sine, (whole.sine,)), (a.sign, (a.sine, b.cosine)), (b.sign * sign, (a.cosine, b.sine))]


def _collected(system: System, terms: _Sum) -> dict[int, int]:
    total: dict[int, int] = {}
    for sign, literals in terms:
        monomial = system.monomials.intern(tuple(sorted(literals)))
        coefficient = ONE if sign > 0 else MINUS_ONE
        total[monomial] = system.coefficients.add(total.get(monomial, 0), coefficient)
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


# Destroy and repair: write a few shared expressions out again, factor anew with a little chance, keep what is better.
#
# Simulated annealing over factorings. Everything random comes from one seed, and one iteration depends on nothing but
# the state and the seed, so that the same number of iterations gives the same result on every machine.

#: Replaces one root by another way to write it; None if the choice leaves everything as it is.
Switch = Callable[[random.Random], bool]


@dataclass(frozen=True)
class Annealing:
    """The schedule: temperatures in operations, iterations of one cooling, after which it starts anew from the best."""

    start: float = 0.5
    end: float = 0.2
    cycle: int = 10000
    noise: float = 1.5
    largest: int = 120
    switch: float = 0.25
    rewrite: float = 0.6
    function_weight: float = 0.25


@dataclass(frozen=True)
class Budget:
    """How long a search goes on: work counts changed terms with their neighbours, the same on every machine.

    It ends early, with the best it has, once an interrupt is requested; Ctrl-C is such a request.
    """

    work: int | None = None
    seconds: float | None = None
    compiled: bool = False
    interrupt: Interrupt = field(default_factory=Interrupt, compare=False, repr=False)

    def part(self, number: int) -> Budget:
        """One of so many equal parts."""
        work = None if self.work is None else max(1, self.work // number)
        return replace(self, work=work, seconds=None if self.seconds is None else self.seconds / number)


class Repair:
    """A search over one system; `best` is the cheapest state met so far."""

    def __init__(
        self, system: System, seed: int, annealing: Annealing | None = None, switch: Switch | None = None
    ) -> None:
        self.system, self.annealing, self.switch = system, annealing or Annealing(), switch
        self.chance = random.Random(seed)
        system.build_index()
        greedy(system)
        system.journal.clear()
        self.present = self.objective()
        self.best_value = self.present
        self.best = self._snapshot()
        self.iteration = 0

    def objective(self) -> float:
        """Operations, with a small price on every sine and cosine."""
        system = self.system
        return system.cost + self.annealing.function_weight * sum(map(system.used, system.priced))

    def _snapshot(self) -> dict[int, dict[int, int]]:
        return {literal: dict(terms) for literal, terms in self.system.expressions.items()}

    def restore(self) -> None:
        """Return to the best state."""
        system = self.system
        for literal in [x for x in system.expressions if x not in self.best]:
            system.delete(literal)
        for literal, terms in self.best.items():
            if literal not in system.expressions:
                system.create(literal)
            for monomial in [m for m in system.expressions[literal] if m not in terms]:
                system.set_term(literal, monomial, 0)
            for monomial, coefficient in terms.items():
                system.set_term(literal, monomial, coefficient)
        system.journal.clear()
        system.touched.clear()
        self.present = self.best_value

    def settle(self) -> None:
        """Leave the system in its best state for reading only; works even if a step was interrupted half way."""
        self.system.expressions = self.best

    def run(self, budget: Budget) -> None:
        """Iterate until the budget is used up or an interrupt is requested; then settle."""
        started, first = time.monotonic(), self.system.work
        with budget.interrupt.catching():
            while (
                not budget.interrupt.requested
                and (budget.work is None or self.system.work - first < budget.work)
                and (budget.seconds is None or time.monotonic() - started < budget.seconds)
            ):
                self.step()
        self.settle()

    @property
    def has_choices(self) -> bool:
        """Whether anything can be written out again: else, and without ways to switch, no step changes a thing."""
        return any(self.system.uses.get(literal) for literal in self.system.expressions)

    def temperature(self) -> float:
        """How readily a worse system is accepted now; it falls within each cycle."""
        a = self.annealing
        phase = (self.iteration % a.cycle) / a.cycle
        return float(a.start * (a.end / a.start) ** phase)

    def step(self) -> None:
        """One iteration."""
        a = self.annealing
        if self.iteration and self.iteration % a.cycle == 0:
            self.restore()
        temperature = self.temperature()
        self.iteration += 1
        self.system.work += 1
        system, chance = self.system, self.chance
        switched = self.switch is not None and chance.random() < a.switch and self.switch(chance)
        if not switched:
            self._destroy(chance)
        greedy(system, chance, a.noise)
        value = self.objective()
        worse = value - self.present
        if worse <= 0 or chance.random() < math.exp(-worse / temperature):
            system.journal.clear()
            self.present = value
            if value < self.best_value:
                self.best_value = value
                self.best = self._snapshot()
        else:
            system.undo(0)
            system.touched.clear()
            system.dirty.clear()

    def _destroy(self, chance: random.Random) -> None:
        system = self.system
        candidates = [x for x in system.expressions if system.uses.get(x)]
        if not candidates:
            return
        target = chance.choice(candidates)
        for _ in range(chance.choice((1, 1, 2, 2, 3, 4, 5))):
            if target in system.expressions and inlined_size(system, target) <= self.annealing.largest:
                neighbours = self._neighbours(target)
                inline(system, target)
                if not neighbours:
                    return
                target = chance.choice(neighbours)

    def _neighbours(self, literal: int) -> list[int]:
        """Expressions used beside, inside or around this one."""
        system = self.system
        found: dict[int, None] = {}
        users = [*(user for user, _ in system.uses.get(literal, ())), literal]
        for user in users:
            if user != literal and system.uses.get(user):
                found[user] = None
            for monomial in system.expressions[user]:
                for factor in system.monomials.literals[monomial]:
                    if factor != literal and factor in system.expressions:
                        found[factor] = None
        return sorted(found)
