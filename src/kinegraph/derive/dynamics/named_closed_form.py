"""The closed formulas as Rackovic's algorithms store them: every input a parameter, every vector a named variable.

Nothing is folded: the components 0 and 1 of an axis are parameters with these values, so that neutral elements are
still there to be eliminated (Alg. 2.2). All is in the fixed frame, but for what the names call local. For joint i,
its link i, and the joints j from the ground to it:

    local_Q_i_kl, local_e_i_k     axes of link i before joint i turns, in those of the link before; the joint's axis
    local_r_ij_k                  from joint j of link i to its center of mass, in the axes of link i
    m_i, J_i_kl, G_k              mass, central moments in the axes of link i, gravity
    Q_i_kl, e_i_k, r_ij_k         axes of link i, axis of joint i, from joint j to the center of mass of link i

and for a loop L: Q_L_kl, the axes Q' of its first frame, and r_L_i_k, from joint i to the point of its second frame.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property

from kinegraph.derive.constraints.constraint_rows import common_ancestor, path_between
from kinegraph.derive.dynamics.closed_form import ClosedForm, LinkInSpace
from kinegraph.derive.dynamics.composite_body import Column
from kinegraph.derive.tree.algebra import (
    FOLLOWING,
    Matrix,
    Symmetric,
    Vector,
    identity,
    minus,
    sum_of_products,
    transpose,
    unit_vector,
    vector,
    zero_vector,
)
from kinegraph.derive.tree.links import JointKind, Placement, Tree
from kinegraph.errors import DerivationError
from kinegraph.graph.build import Scalar
from kinegraph.graph.node import Coefficient, Factor, Kind, Symbol, Term


def _factors(*scalars: Scalar) -> tuple[Factor, ...]:
    """The factors of a product."""
    return tuple(sorted(Counter(scalar.index for scalar in scalars).items()))


def _index(*numbers: int) -> str:
    """Indices as in 12, or 10_12 if one of them has two digits."""
    return ("" if max(numbers) < 10 else "_").join(map(str, numbers))


class NamedClosedForm(ClosedForm):
    """The formulas over one tree; `names` of its nodes (True: of their negatives) and `values` of the parameters that
    stand for numbers.
    """

    def __init__(self, tree: Tree, taken: Collection[str]) -> None:
        """taken: the names of the model, which get no second meaning."""
        super().__init__(tree)
        self.names: dict[int, tuple[str, bool]] = {}
        self.values: dict[str, Coefficient] = {}
        self._taken = frozenset(taken)
        self._arms: dict[tuple[int, int], Vector] = {}

    # inputs and names

    def _input(self, name: str, scalar: Scalar) -> Scalar:
        """A parameter in place of a number; what depends on parameters of the model stays."""
        if scalar.value is None:
            return scalar
        free = self._free(name)
        self.values[free] = scalar.value
        return scalar.symbol(Kind.PARAMETER, free)

    def _free(self, name: str) -> str:
        while name in self._taken:
            name = f"_{name}"
        return name

    def _vector_input(self, name: str, items: Iterable[Scalar]) -> Vector:
        return vector([self._input(f"{name}_{k}", item) for k, item in enumerate(items, start=1)])

    def _matrix_input(self, name: str, rows: Matrix) -> Matrix:
        first, second, third = (self._vector_input(f"{name}_{k}", row) for k, row in enumerate(rows, start=1))
        return first, second, third

    def _named(self, name: str, found: Vector) -> Vector:
        builder = self.like.builder
        for k, item in enumerate(found, start=1):
            coefficient, factors = builder.split(item.index)
            node = factors[0][0] if len(factors) == 1 and factors[0][1] == 1 and coefficient == -1 else item.index
            if item.value is None and not isinstance(builder.nodes[node], Symbol):
                self.names.setdefault(node, (self._free(f"{name}_{k}"), node != item.index))
        return found

    # the inputs

    @cached_property
    def _masses(self) -> list[Scalar]:
        return [self._input(f"m_{index}", link.moments.mass) for index, link in enumerate(self.tree.links)]

    @cached_property
    def _inertias(self) -> list[Symmetric]:
        return [self._inertia_input(index) for index in range(len(self.tree.links))]

    def _inertia_input(self, index: int) -> Symmetric:
        """Moments about principal axes have no products, and then there are none to store."""
        tensor = super().central_inertia(index)
        return Symmetric(*(
            item if item.is_zero and letters[0] != letters[1] else self._input(f"J_{index}_{letters}", item)
            for letters, item in zip(("11", "22", "33", "23", "13", "12"), tensor, strict=True)
        ))  # fmt: skip

    @cached_property
    def weight(self) -> Vector:
        """G: the force of gravity on a unit mass."""
        return self._vector_input("G", self.tree.gravity)

    def mass(self, link: int) -> Scalar:
        """The mass of a link."""
        return self._masses[link]

    def central_inertia(self, link: int) -> Symmetric:
        """J of a link about its center of mass."""
        return self._inertias[link]

    @cached_property
    def _local_centers(self) -> list[Vector]:
        """The center of mass of each link in its own frame; the origin if it has no mass."""
        found = []
        for link in self.tree.links:
            mass, first = link.moments.mass, link.moments.first
            found.append(zero_vector(self.like) if mass.is_zero else vector([item / mass for item in first]))
        return found

    @cached_property
    def _local_axes(self) -> list[Vector]:
        axes = [link.joint.axis if link.joint else 0 for link in self.tree.links]
        return [self._vector_input(f"local_e_{i}", unit_vector(self.like, axis)) for i, axis in enumerate(axes)]

    # the variables

    @cached_property
    def places(self) -> list[LinkInSpace]:
        """Axes of all links and joints in the fixed frame; origins are not used, but r_ij."""
        zero = zero_vector(self.like)
        found = [LinkInSpace(identity(self.like), zero, zero)]
        for index, link in enumerate(self.tree.links[1:], start=1):
            assert link.joint is not None and link.origin is not None
            local = self._matrix_input(f"local_Q_{index}", link.origin.rotation)
            before = self._product(found[link.parent].axes, local)
            axis = self._local_axes[index]
            direction = self._named(f"e_{index}", self._applied(before, axis))
            axes = before
            if link.joint.kind is JointKind.REVOLUTE:
                axes = self._product(before, self._turn(axis, link.joint.displacement))
            elif link.joint.kind is not JointKind.PRISMATIC:
                raise DerivationError(
                    "the closed formulas support only revolute and prismatic joints; leave out --closed-form"
                )
            for k, row in enumerate(axes, start=1):
                self._named(f"Q_{index}_{k}", row)
            found.append(LinkInSpace(axes, zero, direction))
        return found

    def _turn(self, axis: Vector, angle: Scalar) -> Matrix:
        """Rodrigues' formula (1.9) in the axes of the link: R = e e^T + (1 - e e^T) cos + [e]x sin."""
        sine, cosine = angle.sin(), angle.cos()
        rows = []
        for j in range(3):
            row = []
            for k in range(3):
                terms: list[Term] = [(1, _factors(axis[j], axis[k])), (-1, _factors(axis[j], axis[k], cosine))]
                if j == k:
                    terms.append((1, _factors(cosine)))
                else:
                    sign, other = (-1, 3 - j - k) if FOLLOWING[j][0] == k else (1, 3 - j - k)
                    terms.append((sign, _factors(axis[other], sine)))
                row.append(self._polynomial(terms))
            rows.append(vector(row))
        return rows[0], rows[1], rows[2]

    def arm(self, link: int, joint: int) -> Vector:
        """r_ji: from joint i to the center of mass of link j, over the joints between them."""
        if (link, joint) not in self._arms:
            self._arms[link, joint] = self._named(f"r_{_index(link, joint)}", self._arm(link, joint))
        return self._arms[link, joint]

    def _arm(self, link: int, joint: int) -> Vector:
        if link == joint:
            return self._own_arm(link, link, zero_vector(self.like))
        parent = self.tree.links[link].parent
        before, beside = self.arm(parent, joint), self._parents_arm(link)
        moved = self._moved(link)
        own = self.arm(link, link)
        terms = zip(before, beside, own, moved, strict=True)
        return vector([
            self._polynomial([(1, _factors(a)), (-1, _factors(b)), (1, _factors(c)), *m]) for a, b, c, m in terms
        ])  # fmt: skip

    def _parents_arm(self, link: int) -> Vector:
        """From the joint of a link to the center of mass of the link before it."""
        parent, origin = self.tree.links[link].parent, self.tree.links[link].origin
        assert origin is not None
        if (parent, link) not in self._arms:
            found = self._own_arm(parent, link, origin.position)
            self._arms[parent, link] = self._named(f"r_{_index(parent, link)}", found)
        return self._arms[parent, link]

    def _own_arm(self, link: int, joint: int, place: Vector) -> Vector:
        """From a joint of a link, at a place in its frame, to its center of mass."""
        local = minus(self._local_centers[link], place)
        name = f"local_r_{_index(link, joint)}"
        return self._applied(self.places[link].axes, self._vector_input(name, local))

    def _moved(self, link: int) -> list[list[Term]]:
        """What a prismatic joint moves its link."""
        joint = self.tree.links[link].joint
        if joint is None or joint.kind is not JointKind.PRISMATIC:
            return [[], [], []]
        return [[(1, _factors(item, joint.displacement))] for item in self.places[link].direction]

    # closing chains (Alg. 1.3)

    def closing_entries(self, loop: str, first: Placement, second: Placement) -> dict[Column, list[Scalar]]:
        """The motion of a loop's second frame relative to its first, along and about the axes of the first, for a unit
        rate of every joint: (e_i x r_i) . Q'_k and e_i . Q'_k, negative for joints on the side of the first frame."""
        closing = transpose(self._closing_axes(loop, first))
        ancestor = common_ancestor(self.tree, first.link, second.link)
        sides = [path_between(self.tree, ancestor, place.link) for place in (second, first)]
        found: dict[Column, list[Scalar]] = {}
        for side, sign in zip(sides, (1, -1), strict=True):
            for joint in side:
                direction = self.places[joint].direction
                linear, angular = direction, zero_vector(self.like)
                if self.turns(joint):
                    to_point = self._to_point(loop, second, joint, sides)
                    linear, angular = self.cross(direction, to_point), direction
                entries = [self.dot(part, axis) for part in (linear, angular) for axis in closing]
                found[Column(joint, 0)] = [sign * entry for entry in entries]
        return found

    def _closing_axes(self, loop: str, first: Placement) -> Matrix:
        """Q': the axes of a loop's first frame."""
        axes = self._product(self.places[first.link].axes, self._matrix_input(f"local_Q_{loop}", first.rotation))
        for k, row in enumerate(axes, start=1):
            self._named(f"Q_{loop}_{k}", row)
        return axes

    def _to_point(self, loop: str, second: Placement, joint: int, sides: Sequence[Sequence[int]]) -> Vector:
        """r: from a joint to the point of a loop's second frame."""
        own = self._vector_input(f"local_r_{loop}", second.position)
        point = self._named(f"r_{loop}_{second.link}", self._applied(self.places[second.link].axes, own))
        if joint in sides[0]:
            return self._named(f"r_{loop}_{joint}", self._beyond(second.link, joint, point))
        over = (
            point
            if not sides[0]
            else self._difference(self._beyond(second.link, sides[0][0], point), self._parents_arm(sides[0][0]))
        )  # from the center of mass of the ancestor
        back = self._difference(self.arm(joint, sides[1][0]), self.arm(joint, joint))
        whole = zip(over, self._parents_arm(sides[1][0]), back, strict=True)
        terms = (self._polynomial([(1, _factors(a)), (1, _factors(b)), (-1, _factors(c))]) for a, b, c in whole)
        return self._named(f"r_{loop}_{joint}", vector(list(terms)))

    def _beyond(self, link: int, joint: int, own: Vector) -> Vector:
        """From a joint to a point of a link; own: from the link's own joint."""
        if link == joint:
            return own
        parts = zip(self.arm(link, joint), self.arm(link, link), own, strict=True)
        return vector([
            self._polynomial([(1, _factors(a)), (-1, _factors(b)), (1, _factors(c))]) for a, b, c in parts
        ])  # fmt: skip

    def _difference(self, a: Vector, b: Vector) -> Vector:
        return vector([
            self._polynomial([(1, _factors(one)), (-1, _factors(other))]) for one, other in zip(a, b, strict=True)
        ])  # fmt: skip

    # sums of products, each one variable

    def dot(self, a: Vector, b: Vector) -> Scalar:
        """The dot product."""
        return sum_of_products(a, b)

    def cross(self, a: Vector, b: Vector) -> Vector:
        """The cross product."""
        return vector([
            self._polynomial([(1, _factors(a[i], b[j])), (-1, _factors(a[j], b[i]))]) for i, j in FOLLOWING
        ])  # fmt: skip

    def _applied(self, matrix: Matrix, item: Vector) -> Vector:
        return vector([self.dot(row, item) for row in matrix])

    def _product(self, a: Matrix, b: Matrix) -> Matrix:
        first, second, third = (self._applied(transpose(b), row) for row in a)
        return first, second, third

    def _polynomial(self, terms: Iterable[Term]) -> Scalar:
        builder = self.like.builder
        return Scalar(builder, builder.polynomial(terms))
