"""Angles as whole-number vectors, and bases that express all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import lcm

from kinegraph.graph.angle import linear_form
from kinegraph.graph.node import Factor, Function, Graph

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
