"""Complete analytic expressions: outputs as polynomials in sines, cosines and symbols, in any basis of angles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice, product
from math import comb, lcm
from typing import TypeAlias

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from kinegraph.graph.angle import linear_form
from kinegraph.graph.canonical import exact
from kinegraph.graph.node import Coefficient, Factor, Function, Graph, Polynomial, Symbol, children
from kinegraph.passes.factoring.convert import STATIC_TERMS

# Angles as whole-number vectors, and bases that express all of them.

Form = tuple[int, ...]


class AngleSpace:
    """The arguments of all live sines and cosines, as whole multiples of atoms over a common denominator."""

    def __init__(self, graph: Graph) -> None:
        linear = {
            index: linear_form(graph.nodes, node.arguments[0])
            for index, node in enumerate(graph.nodes)
            if graph.live[index]
            and not graph.static[index]
            and isinstance(node, Function)
            and node.name in ("sin", "cos")
        }
        self.atoms: list[tuple[Factor, ...]] = sorted({monomial for form in linear.values() for monomial in form})
        self.denominators = [
            lcm(*(Fraction(form[atom]).denominator for form in linear.values() if atom in form)) for atom in self.atoms
        ]
        self.forms: dict[int, Form] = {index: self._vector(form) for index, form in linear.items()}

    def _vector(self, form: dict[tuple[Factor, ...], int | Fraction]) -> Form:
        return tuple(int(form.get(atom, 0) * d) for atom, d in zip(self.atoms, self.denominators, strict=True))

    def parts(self, form: Form) -> Iterator[int]:
        """The nodes an angle is a sum of products of."""
        for atom, times in zip(self.atoms, form, strict=True):
            if times:
                yield from (child for child, _ in atom)

    def own(self) -> list[Form]:
        """The graph's own angles up to sign, simple ones first."""
        return sorted({positive(f)[1] for f in self.forms.values()}, key=lambda f: (_weight(f), f))

    def basis(self) -> list[Form]:
        """Independent angles that give all others as whole combinations: the graph's own where they suffice."""
        chosen: list[Form] = []
        span = _Span()
        for form in self.own():
            if span.grows(form):
                chosen.append(form)
        others = {positive(form)[1] for form in self.forms.values()}.difference(chosen)
        if all(combination(chosen, form) is not None for form in others):
            return chosen
        return [tuple(int(i == j) for j in range(len(self.atoms))) for i in range(len(self.atoms))]


def _weight(form: Form) -> int:
    return sum(map(abs, form))


def positive(form: Form) -> tuple[int, Form]:
    """The sign and the form whose first entry is positive."""
    for entry in form:
        if entry:
            return (1, form) if entry > 0 else (-1, tuple(-x for x in form))
    return 1, form


def minus(left: Form, right: Form) -> Form:
    """The difference of two linear forms."""
    return tuple(a - b for a, b in zip(left, right, strict=True))


def plus(left: Form, right: Form) -> Form:
    """The sum of two linear forms."""
    return tuple(a + b for a, b in zip(left, right, strict=True))


class _Span:
    """The space spanned by forms: rows in echelon form by their first entry, zeros left out."""

    def __init__(self) -> None:
        self._rows: dict[int, dict[int, Fraction]] = {}

    def grows(self, form: Form) -> bool:
        """Add a form; was it independent of those before it?"""
        rest = {place: Fraction(entry) for place, entry in enumerate(form) if entry}
        while rest:
            pivot = min(rest)
            row = self._rows.get(pivot)
            if row is None:
                self._rows[pivot] = rest
                return True
            factor = rest[pivot] / row[pivot]
            for place, entry in row.items():
                rest[place] = rest.get(place, Fraction(0)) - factor * entry
            rest = {place: entry for place, entry in rest.items() if entry}
        return False


def combination(basis: Sequence[Form], form: Form) -> list[int] | None:
    """Whole numbers n with sum n_j basis_j = form, or None."""
    if not basis:
        return None if any(form) else []
    rows = [[Fraction(b[i]) for b in basis] + [Fraction(x)] for i, x in enumerate(form)]
    pivots: list[int] = []
    for column in range(len(basis)):
        place = next((i for i in range(len(pivots), len(rows)) if rows[i][column]), None)
        if place is None:
            continue
        rank = len(pivots)
        rows[rank], rows[place] = rows[place], rows[rank]
        rows[rank] = [x / rows[rank][column] for x in rows[rank]]
        for i, row in enumerate(rows):
            if i != rank and row[column]:
                factor = row[column]
                rows[i] = [a - factor * b for a, b in zip(row, rows[rank], strict=True)]
        pivots.append(column)
    if any(row[-1] for row in rows[len(pivots) :]):
        return None
    solution = [Fraction(0)] * len(basis)
    for rank, column in enumerate(pivots):
        solution[column] = rows[rank][-1]
    return [int(x) for x in solution] if all(x.denominator == 1 for x in solution) else None


def blocks(forms: Sequence[Form]) -> list[list[int]]:
    """Positions of forms, grouped so that forms in different groups share no atom."""
    groups: list[tuple[set[int], list[int]]] = []
    for position, form in enumerate(forms):
        atoms = {i for i, x in enumerate(form) if x}
        members = [position]
        rest = []
        for group in groups:
            if group[0] & atoms:
                atoms |= group[0]
                members = group[1] + members
            else:
                rest.append(group)
        groups = [*rest, (atoms, members)]
    return [members for _, members in groups]


def trees(size: int) -> Iterator[tuple[int, ...]]:
    """Rooted trees on 0..size as parents of 1..size: all of them for small sizes, stars and paths for larger ones."""
    if size <= 3:
        yield from _all_trees(size)
        return
    yield (0,) * size
    yield tuple(range(size))
    for hub in range(1, size + 1):
        yield tuple(0 if node == hub else hub for node in range(1, size + 1))


def _all_trees(size: int) -> Iterator[tuple[int, ...]]:
    for number in range((size + 1) ** size):
        parents = tuple(number // (size + 1) ** i % (size + 1) for i in range(size))
        if all(_reaches_root(parents, node) for node in range(1, size + 1)):
            yield parents


def _reaches_root(parents: tuple[int, ...], node: int) -> bool:
    for _ in range(len(parents) + 1):
        if node == 0:
            return True
        node = parents[node - 1]
    return False


# The complete analytic expression of every root, modulo sin^2 + cos^2 = 1, by python-flint.

#: What a variable of the polynomials stands for: the sine or cosine of an angle, or a node.
Generator: TypeAlias = tuple[str, Form | int]


#: Sine and cosine of n angles added up have some 2^n terms, of n times one angle n terms.
MOST_TURNS = 24

#: Higher powers of one quantity are not written out.
MOST_POWER = 64


class TooLargeError(Exception):
    """An expression written out exceeds the limit; the caller works without it."""


@dataclass(frozen=True)
class Limits:
    """How far expressions are written out: terms of one expression, of all roots, and of all steps on the way.

    What grows by more than the factor `growth` when written out is better factored as it is.
    """

    terms: int = 1000
    total: int = 2500
    work: int = 60000
    growth: int = 4


class Expansion:
    """All roots of a graph as polynomials in one flint context.

    Generators are sines (first, so that the lexicographic order eliminates their squares) and cosines of all angles
    that may be wanted, other symbols and functions, and static quantities. With `own_angles` every angle of the graph
    stays as it is, and nothing but sin^2 + cos^2 = 1 is known of it; otherwise all are written in a basis.
    """

    def __init__(self, graph: Graph, limits: Limits, own_angles: bool = False) -> None:
        self.graph, self.limits = graph, limits
        self.space = AngleSpace(graph)
        if any(exponent > MOST_POWER for atom in self.space.atoms for _, exponent in atom):
            raise TooLargeError(f"a power of more than {MOST_POWER} in an angle")
        self.valued, self.named = self._wanted()
        self.basis = self.space.own() if own_angles else self.space.basis()
        self.blocks = blocks(self.basis)
        self.forms = self._candidate_forms()
        self.generators = self._generators()
        if len(self.generators) > 600:
            raise TooLargeError(f"{len(self.generators)} quantities")
        self.position = {generator: i for i, generator in enumerate(self.generators)}
        self.context = fmpq_mpoly_ctx.get([f"x{i}" for i in range(len(self.generators))], Ordering.lex)
        self.gens = self.context.gens()
        self._circles = {form: self.sine(form) ** 2 + self.cosine(form) ** 2 - 1 for form in self.forms}
        self._work = 0
        self.values = self._evaluate()

    def sine(self, form: Form) -> fmpq_mpoly:
        """The generator that stands for the sine of an angle."""
        return self.gens[self.position[("sin", form)]]

    def cosine(self, form: Form) -> fmpq_mpoly:
        """The generator that stands for the cosine of an angle."""
        return self.gens[self.position[("cos", form)]]

    def _candidate_forms(self) -> list[Form]:
        """The basis, the graph's own angles, and differences of basis angles that share an atom."""
        found = dict.fromkeys([*self.basis, *self.space.own()])
        for block in self.blocks:
            for i in block:
                for j in block:
                    if i < j:
                        found[positive(minus(self.basis[j], self.basis[i]))[1]] = None
        return list(found)

    def _generators(self) -> list[Generator]:
        found: list[Generator] = [(name, form) for name in ("sin", "cos") for form in self.forms]
        for index, node in enumerate(self.graph.nodes):
            if self.graph.live[index] and self.graph.static[index]:
                found.append(("static", index))
            elif self.valued[index] and not isinstance(node, Polynomial) and index not in self.space.forms:
                found.append(("leaf", index))
        return found

    def _wanted(self) -> tuple[list[bool], list[bool]]:
        """For every node: is its polynomial needed, and is it needed by itself, inside an angle or a function?"""
        graph, forms = self.graph, self.space.forms
        valued, named = [False] * len(graph), [False] * len(graph)
        for output in graph.outputs:
            for index in output.nodes:
                valued[index] = True
        for index in range(len(graph) - 1, -1, -1):
            node = graph.nodes[index]
            if not (valued[index] or named[index]) or isinstance(node, Symbol):
                continue
            inner: Iterable[int] = self.space.parts(forms[index]) if index in forms else children(node)
            for child in inner:
                if isinstance(node, Polynomial) or isinstance(graph.nodes[child], Polynomial):
                    valued[child] = valued[child] or isinstance(node, Polynomial) or not graph.static[child]
                else:
                    named[child] = not graph.static[child]
        return valued, named

    def _evaluate(self) -> dict[int, fmpq_mpoly]:
        values: dict[int, fmpq_mpoly] = {}
        for index, node in enumerate(self.graph.nodes):
            if not self.valued[index]:
                continue
            if index in self.space.forms:
                assert isinstance(node, Function)
                cosine, sine = self.point(self.space.forms[index], self.basis)
                values[index] = cosine if node.name == "cos" else sine
            elif isinstance(node, Polynomial):
                values[index] = self._polynomial(index, node, values)
            else:
                values[index] = self.gens[self.position[("static" if self.graph.static[index] else "leaf", index)]]
        return values

    def _polynomial(self, index: int, node: Polynomial, values: dict[int, fmpq_mpoly]) -> fmpq_mpoly:
        total = self.context.constant(0)
        for coefficient, factors in node.terms:
            term = self.context.constant(fmpq(coefficient.numerator, coefficient.denominator))
            for child, exponent in factors:
                if exponent > MOST_POWER:
                    raise TooLargeError(f"a power of more than {MOST_POWER}")
                for _ in range(exponent):
                    self._work += len(term) * len(values[child])
                    if self._work > self.limits.work:
                        raise TooLargeError("all steps together")
                    term = term * values[child]
            total = total + term
        if self.graph.static[index]:
            if len(total) > STATIC_TERMS:
                return self.gens[self.position[("static", index)]]
            return total
        total = self.reduced(total, self.basis)
        if max(total.degrees(), default=0) > MOST_POWER:
            raise TooLargeError(f"a power of more than {MOST_POWER}")
        if len(total) > self.limits.terms:
            raise TooLargeError(f"{len(total)} terms in one expression")
        return total

    def reduced(self, polynomial: fmpq_mpoly, forms: list[Form]) -> fmpq_mpoly:
        """Without squares of sines of the given angles."""
        degrees = polynomial.degrees()
        for form in forms:
            if degrees[self.position[("sin", form)]] > 1:
                polynomial = divmod(polynomial, self._circles[form])[1]
        return polynomial

    def point(self, form: Form, basis: list[Form]) -> tuple[fmpq_mpoly, fmpq_mpoly]:
        """Cosine and sine of an angle, written in those of a basis."""
        sign, normal = positive(form)
        if normal in basis:
            return self.cosine(normal), sign * self.sine(normal)
        numbers = combination(basis, form)
        assert numbers is not None
        if sum(map(abs, numbers)) > MOST_TURNS:
            raise TooLargeError(f"an angle that is a sum of more than {MOST_TURNS} others")
        cosine, sine = self.context.constant(1), self.context.constant(0)
        for number, angle in zip(numbers, basis, strict=True):
            c, s = self.cosine(angle), self.sine(angle)
            if number < 0:
                s = -s
            for _ in range(abs(number)):
                cosine, sine = cosine * c - sine * s, sine * c + cosine * s
        return self.reduced(cosine, basis), self.reduced(sine, basis)


def number(value: fmpq) -> Coefficient:
    """A flint rational as ours."""
    return exact(Fraction(int(value.p), int(value.q)))


# Other ways to write an expression: in another basis of angles, with either square eliminated.

#: Exponents by generator position, and coefficient: a polynomial outside flint.
Exponents: TypeAlias = tuple[tuple[int, int], ...]
Terms: TypeAlias = dict[Exponents, fmpq]

#: Longer polynomials stay in the basis they come in.
REWRITTEN = 150


@dataclass(frozen=True)
class WrittenForm:
    """An expression in one basis: its terms, and a first guess of its cost."""

    terms: Terms
    cost: int
    angles: tuple[Form, ...]


def sparse(polynomial: fmpq_mpoly) -> Terms:
    """Terms with the generators that occur only."""
    return {
        tuple((i, int(e)) for i, e in enumerate(exponents) if e): c for exponents, c in polynomial.to_dict().items()
    }


def naive_cost(terms: Terms, static: frozenset[int]) -> int:
    """Multiplications and additions of a sum of products as it stands."""
    total = -1
    for exponents, c in terms.items():
        degree = sum(e for i, e in exponents if i not in static)
        total += 1
        if degree:
            unit_term = abs(c) == 1 and not any(i in static for i, _ in exponents)
            total += degree - 1 if unit_term else degree
    return max(total, 0)


def written_forms(expansion: Expansion, polynomial: fmpq_mpoly, most: int, bases: int) -> list[WrittenForm]:
    """The cheapest ways to write a polynomial, cheapest first, by the naive count; at most so many bases are tried."""
    static = frozenset(i for i, (kind, _) in enumerate(expansion.generators) if kind == "static")
    found: dict[frozenset[object], WrittenForm] = {}
    for basis, rewritten in islice(_in_bases(expansion, polynomial), bases):
        angles = tuple(f for f in basis if _has(expansion, rewritten, f))
        for terms in _eliminations(expansion, sparse(rewritten), angles):
            for changed in (terms, folded(expansion, terms, angles)):
                key = frozenset((m, str(c)) for m, c in changed.items())
                if key not in found:
                    found[key] = WrittenForm(changed, naive_cost(changed, static), angles)
    return sorted(found.values(), key=lambda way: (way.cost, len(way.angles)))[:most]


def _has(expansion: Expansion, polynomial: fmpq_mpoly, form: Form) -> bool:
    degrees = polynomial.degrees()
    return bool(degrees[expansion.position[("sin", form)]] or degrees[expansion.position[("cos", form)]])


def _in_bases(expansion: Expansion, polynomial: fmpq_mpoly) -> Iterator[tuple[list[Form], fmpq_mpoly]]:
    """The polynomial itself, then in bases made of differences of its angles."""
    own = [f for f in expansion.basis if _has(expansion, polynomial, f)]
    yield own, polynomial
    if len(polynomial) > REWRITTEN:
        return
    members = [[expansion.basis[i] for i in block if expansion.basis[i] in own] for block in expansion.blocks]
    members = [block for block in members if block]
    for choice in product(*(list(trees(len(block))) for block in members)):
        if all(not any(parents) for parents in choice):
            continue
        basis: list[Form] = []
        for block, parents in zip(members, choice, strict=True):
            for node, parent in enumerate(parents, start=1):
                edge = block[node - 1] if not parent else minus(block[node - 1], block[parent - 1])
                basis.append(positive(edge)[1])
        try:
            rewritten = _substituted(expansion, polynomial, own, basis)
        except TooLargeError:
            continue
        yield basis, rewritten


def _substituted(expansion: Expansion, polynomial: fmpq_mpoly, own: list[Form], basis: list[Form]) -> fmpq_mpoly:
    arguments = list(expansion.gens)
    for form in own:
        cosine, sine = expansion.point(form, basis)
        arguments[expansion.position[("cos", form)]] = cosine
        arguments[expansion.position[("sin", form)]] = sine
    return expansion.reduced(polynomial.compose(*arguments, ctx=expansion.context), basis)


def _eliminations(expansion: Expansion, terms: Terms, angles: tuple[Form, ...]) -> Iterator[Terms]:
    """The terms with sin^2 eliminated, and for each angle where it matters with cos^2 eliminated instead."""
    pairs = [(expansion.position[("sin", f)], expansion.position[("cos", f)]) for f in angles]
    squared = {i for exponents in terms for i, e in exponents if e > 1}
    swaps = [pair for pair in pairs if pair[1] in squared][:3]
    for choice in product((False, True), repeat=len(swaps)):
        changed = terms
        for (sine, cosine), swap in zip(swaps, choice, strict=True):
            if swap:
                changed = without_square(changed, cosine, sine)
        yield changed


def folded(expansion: Expansion, terms: Terms, angles: tuple[Form, ...]) -> Terms:
    """The terms with cos a cos b + sin a sin b and the like as functions of a - b or a + b where they have one factor.

    No basis gives this: a, b and their difference then stand side by side in one expression.
    """
    for a, b in combinations(angles, 2):
        for sign, form in ((1, minus(a, b)), (-1, plus(a, b))):
            turned, normal = positive(form)
            if ("cos", normal) in expansion.position:
                terms = _with_sum(expansion, terms, (a, b, normal), sign, turned)
    return terms


def _with_sum(expansion: Expansion, terms: Terms, forms: tuple[Form, Form, Form], sign: int, turned: int) -> Terms:
    """One identity: cos a cos b + sign sin a sin b = cos(a - sign b), sin a cos b - sign cos a sin b = its sine."""
    (sine_a, cosine_a), (sine_b, cosine_b), (sine, cosine) = (
        (expansion.position["sin", form], expansion.position["cos", form]) for form in forms
    )
    for first, second, ratio, whole, factor in (
        ((cosine_a, cosine_b), (sine_a, sine_b), sign, cosine, 1),
        ((sine_a, cosine_b), (cosine_a, sine_b), -sign, sine, turned),
    ):
        terms = _replaced(terms, first, second, ratio, whole, factor)
    return terms


def _replaced(
    terms: Terms, first: tuple[int, int], second: tuple[int, int], ratio: int, whole: int, factor: int
) -> Terms:
    """x first + ratio x second as factor x whole, for every monomial x where both terms are there."""
    result = dict(terms)
    for exponents, c in terms.items():
        rest = _divided(exponents, first)
        if rest is None or result.get(exponents) != c:
            continue
        other = _multiplied(rest, second)
        if result.get(other) == ratio * c:
            del result[exponents], result[other]
            _add(result, _multiplied(rest, (whole,)), factor * c)
    return result


def _divided(exponents: Exponents, factors: tuple[int, ...]) -> Exponents | None:
    """A monomial without some of its factors; None if it does not have them."""
    powers = dict(exponents)
    for factor in factors:
        if not powers.get(factor):
            return None
        powers[factor] -= 1
    return tuple(sorted((i, e) for i, e in powers.items() if e))


def _multiplied(exponents: Exponents, factors: tuple[int, ...]) -> Exponents:
    powers = dict(exponents)
    for factor in factors:
        powers[factor] = powers.get(factor, 0) + 1
    return tuple(sorted(powers.items()))


def _add(terms: Terms, key: Exponents, value: fmpq) -> None:
    total = terms.get(key, 0) + value
    if total:
        terms[key] = total
    else:
        terms.pop(key, None)


def without_square(terms: Terms, gone: int, remaining: int) -> Terms:
    """Replace the square of one generator by one minus the square of another, by the binomial theorem."""
    result: Terms = {}
    for exponents, c in terms.items():
        powers = dict(exponents)
        squares, rest = divmod(powers.pop(gone, 0), 2)
        if rest:
            powers[gone] = rest
        for taken in range(squares + 1):
            expanded = dict(powers)
            if taken:
                expanded[remaining] = expanded.get(remaining, 0) + 2 * taken
            _add(result, tuple(sorted(expanded.items())), (-1) ** taken * comb(squares, taken) * c)
    return result
