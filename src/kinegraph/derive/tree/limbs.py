"""Limbs of equal structure (two arms, four legs), written so that their formulas differ only in symbols.

The operations of one limb are then the same for the others, in parallel vector lanes (`codegen/simd`). Numbers that
differ between limbs become symbols, so that no term is folded in one limb and kept in another. Mirrored limbs differ in
many signs; the frames of later limbs are rotated by half turns to match those of the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from kinegraph.codegen.simd import Exchanged
from kinegraph.derive.tree.algebra import MassMoments, Matrix, Symmetric, Vector
from kinegraph.derive.tree.links import Joint, JointKind, Link, Placement, Tree
from kinegraph.graph.angle import PI
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.interpret import exact_statics
from kinegraph.graph.node import Kind, Output, Polynomial, Symbol, children
from kinegraph.model.states import force_on

#: No rotation and the three half turns, as signs of the axes.
Signs = tuple[int, int, int]
_HALF_TURNS: tuple[Signs, ...] = ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))

#: The key of the armature among the numbers of a link.
_ARMATURE = "armature"

#: Lanes of a vector.
_MOST_LIMBS = 8


@dataclass(frozen=True)
class SideBySide:
    """Parts with formulas of one form. numbers: the values of symbols that replace numbers. exchange: maps every symbol
    of a part to that of the next part, and of the last to the first."""

    numbers: Mapping[Symbol, Scalar]
    exchange: Mapping[Exchanged, Exchanged]

    @property
    def are_most(self) -> bool:
        """Do most operations belong to parts of equal structure?"""
        return bool(self.exchange)

    def values(self) -> dict[str, Fraction] | None:
        """The numbers by the names of their symbols, in extended precision; None if one is not finite or contains
        symbols."""
        found: dict[str, Fraction] = {}
        for symbol, value in zip(self.numbers, _evaluated(list(self.numbers.values())), strict=True):
            if value is None:
                return None
            found[symbol.name] = value
        return found


@dataclass(frozen=True)
class LimbsSideBySide(SideBySide):
    """A tree whose limbs of equal structure have formulas of one form; joints: the total number of their joints."""

    tree: Tree
    joints: int

    @property
    def are_most(self) -> bool:
        """Do most joints belong to limbs of equal structure?"""
        return 2 * self.joints > len(self.tree.links) - 1


def _evaluated(numbers: Sequence[Scalar]) -> list[Fraction | None]:
    """The values of scalars; None for those that are not finite; all None if one contains symbols."""
    if not numbers:
        return []
    # One graph for all: there are hundreds of numbers, and thousands of other nodes in the builder.
    nodes = tuple(number.index for number in numbers)
    graph = numbers[0].builder.graph([Output("numbers", (len(nodes),), nodes)])
    if any(symbol != PI for symbol in graph.symbols()):
        return [None] * len(numbers)
    given = zip(numbers, exact_statics(graph, graph.outputs[0].nodes), strict=True)
    return [value if number.value is None else Fraction(number.value) for number, value in given]


def limbs_side_by_side(tree: Tree) -> LimbsSideBySide:
    """Write limbs of equal structure in one form; `exchange` is empty if there are none."""
    rewriting = _Rewriting(tree)
    for links in _groups(tree):
        rewriting.group(links)
    return rewriting.result()


# ---- Limbs of equal structure


def _groups(tree: Tree) -> Iterator[list[tuple[int, ...]]]:
    """Groups of limbs on one link: for each the tuples of corresponding links, parents first."""
    behind = tree.children
    shapes = _shapes(tree, behind)
    known = known_numbers(tree.like.builder)
    taken: set[int] = set()
    for parent in range(len(tree.links)):
        if parent in taken:
            continue
        for limbs in _of_one_shape(behind[parent], shapes):
            links = _side_by_side(limbs, behind, shapes)
            if _can_be_exchanged(tree, links, known):
                taken.update(link for together in links for link in together)
                yield links


def _shapes(tree: Tree, behind: list[list[int]]) -> list[int]:
    """A number for every link, the same for links with subtrees of equal structure."""
    numbers: dict[object, int] = {}
    shapes = [0] * len(tree.links)
    for index in range(len(tree.links) - 1, 0, -1):
        joint = tree.links[index].joint
        assert joint is not None
        shape = joint.kind, joint.axis, tuple(sorted(shapes[child] for child in behind[index]))
        shapes[index] = numbers.setdefault(shape, len(numbers))
    return shapes


def _of_one_shape(limbs: Sequence[int], shapes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    for shape in dict.fromkeys(shapes[limb] for limb in limbs):
        same_shape = tuple(limb for limb in limbs if shapes[limb] == shape)
        if 1 < len(same_shape) <= _MOST_LIMBS:
            yield same_shape


def _side_by_side(limbs: tuple[int, ...], behind: list[list[int]], shapes: Sequence[int]) -> list[tuple[int, ...]]:
    found = [limbs]
    for together in found:  # grows during the iteration
        ordered = [sorted(behind[link], key=lambda child: shapes[child]) for link in together]
        found.extend(zip(*ordered, strict=True))
    return found


def _can_be_exchanged(tree: Tree, links: Sequence[tuple[int, ...]], known: Sequence[bool]) -> bool:
    """Does every joint have its own coordinate and known numbers, and do corresponding links have mass?"""
    members = [tree.links[link] for together in links for link in together]
    moved = [_moved_by(link.joint) for link in members]
    coordinates = [one[0] for one in moved if one is not None]
    if len(coordinates) < len(moved) or len(set(coordinates)) < len(moved):
        return False
    outermost = _outermost_masses(tree)
    if any(len({outermost[link] for link in together}) > 1 for together in links):
        return False
    numbers = (item for link in members for item in (*_numbers(link), _armature(tree, link)))
    return all(known[item.index] for item in numbers)


def _outermost_masses(tree: Tree) -> list[tuple[bool, ...]]:
    """For every link: does any link beyond it have mass and, if not, which inertia does the link itself have?

    This must be the same in all limbs, because zero inertia must be recognized: a coordinate that moves no mass has no
    acceleration.
    """
    heavy_behind = [False] * len(tree.links)
    found: list[tuple[bool, ...]] = [()] * len(tree.links)
    for index in range(len(tree.links) - 1, 0, -1):
        link = tree.links[index]
        heavy_behind[link.parent] |= heavy_behind[index] or not link.moments.is_zero
        own = (*_inertia_of(link), not _armature(tree, link).is_zero)
        found[index] = (True,) if heavy_behind[index] else (False, *own)
    return found


def _inertia_of(link: Link) -> tuple[bool, bool, bool]:
    """Are there moments, mass, and inertia about the joint's axis?"""
    assert link.joint is not None
    moments, axis = link.moments, link.joint.axis
    around = moments.second[(axis + 1) % 3] + moments.second[(axis + 2) % 3]
    return not moments.is_zero, not moments.mass.is_zero, not around.is_zero


def _armature(tree: Tree, link: Link) -> Scalar:
    """The armature of the coordinate that moves a link."""
    moved = _moved_by(link.joint)
    none = tree.like.number(0)
    return none if moved is None else tree.armature.get(moved[0].name + "'", none)


def _moved_by(joint: Joint | None) -> tuple[Symbol, Fraction | int] | None:
    """The coordinate and factor of a joint's displacement, if it is a multiple of one coordinate; otherwise None."""
    if joint is None or joint.kind is JointKind.SPHERICAL:
        return None
    builder = joint.displacement.builder
    node = builder.nodes[joint.displacement.index]
    if isinstance(node, Symbol):
        return (node, 1) if node.kind is Kind.COORDINATE else None
    if not isinstance(node, Polynomial) or len(node.terms) != 1:
        return None
    coefficient, factors = node.terms[0]
    if len(factors) != 1 or factors[0][1] != 1:
        return None
    symbol = builder.nodes[factors[0][0]]
    return (symbol, coefficient) if isinstance(symbol, Symbol) and symbol.kind is Kind.COORDINATE else None


def _numbers(link: Link) -> Iterator[Scalar]:
    assert link.origin is not None
    for row in link.origin.rotation:
        yield from row
    yield from (*link.origin.position, link.moments.mass, *link.moments.first, *link.moments.second)


def known_numbers(builder: GraphBuilder) -> list[bool]:
    """For every node: does it depend on numbers only?"""
    flags: list[bool] = []
    for node in builder.nodes:
        if isinstance(node, Symbol):
            flags.append(node.kind is Kind.CONSTANT)
        else:
            flags.append(all(flags[child] for child in children(node)))
    return flags


# ---- Rewriting in one form


class _Rewriting:
    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.links = list(tree.links)
        self.turns: dict[int, Signs] = {}
        self.numbers: dict[Symbol, Scalar] = {}
        self.exchange: dict[Exchanged, Exchanged] = {}
        self.armature = dict(tree.armature)
        self.joints = 0

    def result(self) -> LimbsSideBySide:
        bodies = {name: self._turned_body(place) for name, place in self.tree.bodies.items()}
        tree = replace(self.tree, links=tuple(self.links), bodies=bodies, armature=self.armature)
        return LimbsSideBySide(self.numbers, self.exchange, tree, self.joints)

    def _turned_body(self, place: Placement) -> Placement:
        turn = self.turns.get(place.link, _HALF_TURNS[0])
        return Placement(place.link, _signed_rows(turn, place.rotation), _signed(turn, place.position))

    def group(self, links: Sequence[tuple[int, ...]]) -> None:
        for together in links:
            self.joints += len(together)
            first, *others = together
            for other in others:
                self._align(self.links[first], other)
            self._replace_armature(together)
            self._replace_numbers(together)
            self._exchange_coordinates(together)

    def _align(self, first: Link, other: int) -> None:
        """Rotate a link's frame by the half turn that makes it most similar to that of the first limb."""
        link = self.links[other]
        before = self.turns.get(link.parent, _HALF_TURNS[0])
        candidates = [(turn, _turned(link, before, turn)) for turn in _HALF_TURNS]
        self.turns[other], self.links[other] = max(candidates, key=lambda one: _likeness(first, one[1]))

    def _replace_numbers(self, together: tuple[int, ...]) -> None:
        """Replace numbers that differ between links by symbols."""
        columns = zip(*(_numbers(self.links[link]) for link in together), strict=True)
        rows: list[list[Scalar]] = [[] for _ in together]
        for place, column in enumerate(columns):
            for row, item in zip(rows, self._by_symbols(together, place, column), strict=True):
                row.append(item)
        factors = [moved[1] for link in together if (moved := _moved_by(self.links[link].joint))]
        signs = [self.tree.like.number(factor) for factor in factors]
        sign_symbols = self._by_symbols(together, len(rows[0]), signs)
        for link, row, sign, factor in zip(together, rows, sign_symbols, factors, strict=True):
            joint = self.links[link].joint
            assert joint is not None
            unscaled = joint.displacement * (Fraction(1) / factor)
            self.links[link] = _with_numbers(self.links[link], row, replace(joint, displacement=sign * unscaled))

    def _replace_armature(self, together: tuple[int, ...]) -> None:
        """Replace armatures that differ between limbs by symbols."""
        column = [_armature(self.tree, self.tree.links[link]) for link in together]
        if all(item.is_zero for item in column):
            return
        names = [moved[0].name + "'" for link in together if (moved := _moved_by(self.tree.links[link].joint))]
        self.armature.update(zip(names, self._by_symbols(together, _ARMATURE, column), strict=True))

    def _by_symbols(self, together: tuple[int, ...], place: int | str, column: Sequence[Scalar]) -> Sequence[Scalar]:
        """One number of each limb, as symbols if they differ."""
        if all(item == column[0] for item in column):
            return column
        symbols = [Symbol(Kind.PARAMETER, f"number {place} of link {link}") for link in together]
        self.numbers.update(zip(symbols, column, strict=True))
        self._cycle(symbols)
        return [self.tree.like.symbol(*symbol) for symbol in symbols]

    def _exchange_coordinates(self, together: tuple[int, ...]) -> None:
        names = [moved[0].name for link in together if (moved := _moved_by(self.tree.links[link].joint))]
        self._cycle([Symbol(Kind.COORDINATE, name) for name in names])
        self._cycle([Symbol(Kind.VELOCITY, name + "'") for name in names])
        self._cycle([Symbol(Kind.ACCELERATION, name + "''") for name in names])
        self._cycle([Symbol(Kind.INPUT, force_on(name)) for name in names])

    def _cycle(self, symbols: Sequence[Symbol]) -> None:
        self.exchange.update(pairwise([*symbols, symbols[0]]))


def _likeness(first: Link, other: Link) -> tuple[int, ...]:
    """The number of equal numbers: of the rotation, which decides the operations; then of the rest."""
    equal = [a == b for a, b in zip(_numbers(first), _numbers(other), strict=True)]
    motions = [_moved_by(link.joint) for link in (first, other)]
    same_sign = motions[0] is not None and motions[1] is not None and motions[0][1] == motions[1][1]
    return sum(equal[:9]), int(same_sign), sum(equal[9:])


def _turned(link: Link, before: Signs, turn: Signs) -> Link:
    """A link with its frame rotated, on a parent whose frame was rotated before."""
    joint, origin, moments = link.joint, link.origin, link.moments
    assert joint is not None and origin is not None
    x, y, z = (_signed(turn, row) for row in origin.rotation)
    rotation = _signed_rows(before, (x, y, z))
    second = moments.second
    turned = Symmetric(
        *second[:3], turn[1] * turn[2] * second.yz, turn[0] * turn[2] * second.xz, turn[0] * turn[1] * second.xy
    )
    return Link(
        link.parent,
        replace(joint, displacement=turn[joint.axis] * joint.displacement),
        Placement(origin.link, rotation, _signed(before, origin.position)),
        MassMoments(moments.mass, _signed(turn, moments.first), turned),
    )


def _signed(signs: Signs, a: Vector) -> Vector:
    return signs[0] * a[0], signs[1] * a[1], signs[2] * a[2]


def _signed_rows(signs: Signs, m: Matrix) -> Matrix:
    rows = [(sign * row[0], sign * row[1], sign * row[2]) for sign, row in zip(signs, m, strict=True)]
    return rows[0], rows[1], rows[2]


def _with_numbers(link: Link, numbers: Sequence[Scalar], joint: Joint) -> Link:
    """The link with its numbers in the order of `_numbers`."""
    assert link.origin is not None
    r, p, (mass, *rest) = numbers[:9], numbers[9:12], numbers[12:]
    rotation = (r[0], r[1], r[2]), (r[3], r[4], r[5]), (r[6], r[7], r[8])
    moments = MassMoments(mass, (rest[0], rest[1], rest[2]), Symmetric(*rest[3:]))
    return Link(link.parent, joint, Placement(link.origin.link, rotation, (p[0], p[1], p[2])), moments)
