"""The canonical form of nodes: exact numbers, sums of products, and numbering. Equal expressions get the same node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from kinegraph.errors import GraphError, NumberSizeError
from kinegraph.graph.angle import PI, LinearForm
from kinegraph.graph.node import (
    LARGEST_EXPONENT,
    Coefficient,
    Factor,
    Function,
    Graph,
    Kind,
    Node,
    Polynomial,
    Symbol,
    Term,
    depends_on_static_alone,
)

# ---- Exact numbers

#: The maximal number of digits of numerators and denominators: Python cannot convert longer integers to text.
MOST_DIGITS = 4000
_TOO_LARGE = 10**MOST_DIGITS
_TOO_SMALL = -_TOO_LARGE  # computed once, because it is long
_REMEDY = "exact numbers are limited to that; use smaller units or lower powers"


def exact(value: Coefficient) -> Coefficient:
    """An integer if possible: integers are compared and hashed several times faster than fractions."""
    if type(value) is int:
        if _TOO_SMALL < value < _TOO_LARGE:
            return value
    else:
        numerator, denominator = value.numerator, value.denominator
        if _TOO_SMALL < numerator < _TOO_LARGE and denominator < _TOO_LARGE:
            return numerator if denominator == 1 else value
    raise NumberSizeError(f"a number of more than {MOST_DIGITS} digits: {_REMEDY}")


def power_of_number(value: Coefficient, exponent: int) -> Coefficient:
    """An exact power; NumberSizeError before computing one that is far too long."""
    if exponent == 1:
        return value
    if value in (0, 1, -1):
        return value if exponent % 2 else value * value
    bits = max(value.numerator.bit_length(), value.denominator.bit_length()) - 1
    if bits * exponent > 4 * MOST_DIGITS:
        raise NumberSizeError(f"a number to the power {held(exponent)} has more than {MOST_DIGITS} digits: {_REMEDY}")
    return value**exponent


def product_of_numbers(first: Coefficient, second: Coefficient) -> Coefficient:
    """The product, with shortcuts for a factor of one: products of fractions are slow."""
    if type(first) is int and first == 1:
        return second
    if type(second) is int and second == 1:
        return first
    return second * first if type(first) is int else first * second  # Fraction * int is faster than int * Fraction


def quotient_of_numbers(value: Coefficient, divisor: Coefficient) -> Coefficient:
    """The quotient, with shortcuts for divisors 1 and -1: fractions take ten times as long."""
    if divisor == 1:
        return value
    if divisor == -1:
        return -value
    return exact(Fraction(value, divisor) if isinstance(value, int) else value / divisor)


def held(exponent: int) -> int:
    """The exponent; NumberSizeError if a double cannot hold it."""
    if exponent > LARGEST_EXPONENT:
        raise NumberSizeError(f"an exponent of more than 2^53: {_REMEDY}")
    return exponent


# ---- Folded graphs: built again, they would not change

#: The attribute that marks a graph whose nodes were all folded by a builder.
_STORED = "_folded"


def mark_folded(graph: Graph) -> None:
    """Mark a graph whose nodes were all folded by a builder."""
    vars(graph)[_STORED] = True


def is_folded(graph: Graph) -> bool:
    """Would a builder make the same nodes in the same order?

    Not with static sums: how far their products are expanded depends on their history.
    """
    return is_marked(graph) and not any(
        static and isinstance(node, Polynomial) and len(node.terms) > 1
        for node, static in zip(graph.nodes, graph.static, strict=True)
    )


def is_marked(graph: Graph) -> bool:
    """Has a builder folded all nodes of a graph?"""
    return _STORED in vars(graph)


# ---- Renumbering


def renumber(graph: Graph, keep: Sequence[int]) -> Graph:
    """The graph with only the nodes of `keep`, in that order (children first)."""
    new = {old: index for index, old in enumerate(keep)}
    same = next((index for index, old in enumerate(keep) if index != old), len(keep))
    nodes = (*graph.nodes[:same], *[mapped(graph.nodes[old], new) for old in keep[same:]])
    outputs = tuple(output._replace(nodes=tuple([new[index] for index in output.nodes])) for output in graph.outputs)
    return Graph(nodes, outputs)


def without_dead_nodes(graph: Graph) -> Graph:
    """The graph with only the nodes that its outputs need."""
    keep = [index for index, live in enumerate(graph.live) if live]
    if len(keep) == len(graph):
        return graph
    living = renumber(graph, keep)
    # These attributes save a pass over all nodes.
    vars(living)["live"] = (True,) * len(living)
    if is_marked(graph):
        mark_folded(living)
    if "static" in vars(graph):
        vars(living)["static"] = tuple([graph.static[old] for old in keep])
    return living


def mapped(node: Node, new: Mapping[int, int]) -> Node:
    """A node with new ids of its children."""
    if isinstance(node, Polynomial):
        return Polynomial(tuple([(c, _mapped_factors(factors, new)) for c, factors in node.terms]))
    if isinstance(node, Function):
        return Function(node.name, tuple([new[argument] for argument in node.arguments]))
    return node


def _mapped_factors(factors: tuple[Factor, ...], new: Mapping[int, int]) -> tuple[Factor, ...]:
    if len(factors) == 1:
        ((child, exponent),) = factors
        return ((new[child], exponent),)
    return tuple(sorted([(new[child], exponent) for child, exponent in factors]))


# ---- Sums and products

#: Static products are expanded up to this many terms.
STATIC_TERMS = 64

#: One, as a sum of products.
_ONE: LinearForm = {(): 1}


class SumBuilder:
    """Distinct nodes, and sums of products of them in canonical form. Methods take and return node ids.

    Sums and products are not flattened: `(a + b) + c` refers to the node of `a + b`, so that common subexpressions are
    found by id. Only static ones, which cost nothing at run time, are expanded. Signs and common coefficients are
    factored out: no node is the negative of another, and `2 x + 2 y` is twice the node of `x + y`. But `2 x + 4 y`
    remains a sum, because factoring saves no operation.
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.folded = True  # False if `intern` has added a node as it was
        self.static: list[bool] = []
        self._ids: dict[Node, int] = {}
        # Recursive algorithms request the same sums and products repeatedly: two of three are already known.
        self._sums: dict[tuple[int, int], int] = {}
        self._differences: dict[tuple[int, int], int] = {}
        self._products: dict[tuple[int, int], int] = {}
        self._negatives: dict[int, int] = {}
        self._numbers: dict[Coefficient, int] = {}
        self._reciprocals: dict[int, int] = {}  # the argument of each reciprocal
        self.zero = self._intern(Polynomial(()))
        self.one = self._intern(Polynomial(((1, ()),)))

    def intern(self, node: Node) -> int:
        """The id of this node, new or known, without folding."""
        self.folded = False
        return self._intern(node)

    def _intern(self, node: Node) -> int:
        new = len(self.nodes)
        index = self._ids.setdefault(node, new)
        if index == new:
            self.nodes.append(node)
            self.static.append(depends_on_static_alone(node, self.static))
            if isinstance(node, Function) and node.name == "reciprocal":
                self._reciprocals[new] = node.arguments[0]
        return index

    # leaves

    def symbol(self, kind: Kind, name: str) -> int:
        """The symbol of this kind and name."""
        return self._intern(Symbol(kind, name))

    def number(self, value: Coefficient) -> int:
        """An exact rational number."""
        known = self._numbers.get(value)
        if known is None:
            known = self._numbers[value] = self._intern(Polynomial(((exact(value), ()),) if value else ()))
        return known

    def pi(self) -> int:
        """The constant pi."""
        return self._intern(PI)

    def value_of(self, index: int) -> Coefficient | None:
        """The value of a number; None for other nodes."""
        node = self.nodes[index]
        if not isinstance(node, Polynomial):
            return None
        if not node.terms:
            return 0
        coefficient, factors = node.terms[0]
        return coefficient if not factors and len(node.terms) == 1 else None

    # sums and products

    def split(self, index: int) -> tuple[Coefficient, tuple[Factor, ...]]:
        """A node as coefficient times factors: c*x is split, any other node x is 1 * x^1."""
        node = self.nodes[index]
        if isinstance(node, Polynomial):
            if not node.terms:
                return 0, ()
            if len(node.terms) == 1:
                coefficient, factors = node.terms[0]
                if not factors or (len(factors) == 1 and factors[0][1] == 1):
                    return coefficient, factors
        return 1, ((index, 1),)

    def polynomial(self, terms: Iterable[Term]) -> int:
        """The sum of terms in canonical form: like terms collected, common coefficients and signs factored out."""
        collected: LinearForm = {}
        for coefficient, factors in terms:
            scale, monomial = self._monomial(coefficient, factors)
            if scale:
                _add_to(collected, monomial, scale)
        if collected and self._all_static(collected):
            collected = self._expanded_form(collected)
        joined = sorted([(factors, exact(c)) for factors, c in collected.items() if c])
        if not joined:
            return self.number(0)
        if len(joined) == 1:
            return self._scaled(joined[0][1], self._product(joined[0][0]))
        return self._normalized([(c, factors) for factors, c in joined])

    def _all_static(self, monomials: Iterable[tuple[Factor, ...]]) -> bool:
        static = self.static
        for factors in monomials:
            for child, _ in factors:
                if not static[child]:
                    return False
        return True

    def _expanded_form(self, form: LinearForm) -> LinearForm:
        """The form with static products expanded: they are free at run time, and expanding lets terms cancel."""
        result: LinearForm = {}
        for factors, scale in form.items():
            for monomial, coefficient in self._expanded_product(factors).items():
                _add_to(result, monomial, product_of_numbers(scale, coefficient))
        return result

    def _expanded_product(self, factors: tuple[Factor, ...]) -> LinearForm:
        """A product of static nodes as a sum of products; long factors are left unexpanded."""
        product = _ONE
        left: list[Factor] = []  # multiplied once, together: most factors are symbols and functions
        for child, exponent in self._canceled(dict(factors)):
            node = self.nodes[child]
            # A high power of a single term is not expanded either, because the user chooses the exponent.
            terms = node.terms if isinstance(node, Polynomial) and exponent <= STATIC_TERMS else ()
            if terms and len(terms) ** exponent * len(product) <= STATIC_TERMS:
                for _ in range(exponent):
                    product = self._times(product, terms)
            else:
                left.append((child, exponent))
        return self._times(product, ((1, tuple(left)),)) if left else product

    def _times(self, form: LinearForm, terms: Sequence[Term]) -> LinearForm:
        if self.folded and form == _ONE:  # folded nodes are already expanded and canceled
            return {factors: coefficient for coefficient, factors in terms}
        result: LinearForm = {}
        for left, scale in form.items():
            for coefficient, right in terms:
                exponents = dict(left)
                for child, exponent in right:
                    exponents[child] = held(exponents[child] + exponent) if child in exponents else exponent
                _add_to(result, self._canceled(exponents), product_of_numbers(scale, coefficient))
        return {monomial: c for monomial, c in result.items() if c}

    def _canceled(self, exponents: dict[int, int]) -> tuple[Factor, ...]:
        """Factors with x times its reciprocal canceled."""
        if self._reciprocals.keys().isdisjoint(exponents):
            return tuple(sorted(exponents.items()))
        for child in list(exponents):
            inverted = self._reciprocals.get(child)
            if inverted is not None and inverted in exponents:
                common = min(exponents[child], exponents[inverted])
                exponents[child] -= common
                exponents[inverted] -= common
        return tuple(sorted((child, exponent) for child, exponent in exponents.items() if exponent))

    def _monomial(self, coefficient: Coefficient, factors: Sequence[Factor]) -> tuple[Coefficient, tuple[Factor, ...]]:
        if len(factors) == 1 and factors[0][1] == 1:
            scale, rest = self.split(factors[0][0])
            return product_of_numbers(coefficient, scale), rest
        exponents: dict[int, int] = {}
        for child, exponent in factors:
            if exponent < 1:
                raise GraphError(f"a factor has the exponent {exponent}: use power or reciprocal")
            scale, rest = self.split(child)
            coefficient = product_of_numbers(coefficient, power_of_number(scale, exponent))
            for base, power in rest:
                exponents[base] = held(exponents.get(base, 0) + power * exponent)
        return coefficient, tuple(sorted(exponents.items()))

    def _product(self, factors: tuple[Factor, ...]) -> int:
        if len(factors) == 1 and factors[0][1] == 1:
            return factors[0][0]
        return self._intern(Polynomial(((1, factors),)))

    def _scaled(self, coefficient: Coefficient, index: int) -> int:
        if coefficient == 1:
            return index
        if index == self.one:
            return self.number(coefficient)
        return self._intern(Polynomial(((exact(coefficient), ((index, 1),)),)))

    def _normalized(self, terms: list[Term]) -> int:
        """Make the first coefficient positive, and factor out the magnitude if all coefficients share it."""
        first = terms[0][0]
        content: Coefficient = first
        for coefficient, _ in terms[1:]:
            if coefficient != first and coefficient != -first:
                content = 1 if first > 0 else -1
                break
        if content == 1:
            return self._intern(Polynomial(tuple(terms)))
        if content == -1:
            terms = [(-c, factors) for c, factors in terms]
        else:
            terms = [(1 if c == content else -1, factors) for c, factors in terms]
        return self._scaled(content, self._intern(Polynomial(tuple(terms))))

    def add(self, *summands: int) -> int:
        """The sum of nodes."""
        return self.polynomial((1, ((index, 1),)) for index in summands)

    def _sum(self, first: int, second: int, sign: int) -> int:
        """The sum or difference of two nodes: a fast path of `polynomial` without collecting like terms."""
        (left, factors), (right, others) = self.split(first), self.split(second)
        if not factors and not others:
            return self.number(left + right if sign == 1 else left - right)
        if factors == others or not left or not right or (self.static[first] and self.static[second]):
            return self.polynomial(((1, ((first, 1),)), (sign, ((second, 1),))))
        terms = [(left, factors), (right if sign == 1 else -right, others)]
        return self._normalized(terms if factors < others else terms[::-1])

    def sum_of_two(self, first: int, second: int) -> int:
        """The sum of two nodes."""
        pair = (first, second) if first <= second else (second, first)
        known = self._sums.get(pair)
        if known is None:
            known = self._sums[pair] = self._sum(first, second, 1)
        return known

    def difference(self, first: int, second: int) -> int:
        """The first node minus the second."""
        pair = (first, second)
        known = self._differences.get(pair)
        if known is None:
            known = self._differences[pair] = self._sum(first, second, -1)
        return known

    def scale(self, coefficient: Coefficient, index: int) -> int:
        """A number times a node."""
        if not coefficient:
            return self.zero
        own, factors = self.split(index)
        if not factors:
            return self.number(product_of_numbers(coefficient, own))
        if self.static[index]:
            return self.polynomial(((coefficient, ((index, 1),)),))
        return self._scaled(exact(product_of_numbers(coefficient, own)), factors[0][0])

    def negative(self, index: int) -> int:
        """The negative of a node."""
        known = self._negatives.get(index)
        if known is None:
            known = self._negatives[index] = self.scale(-1, index)
        return known

    def multiply(self, *factors: int) -> int:
        """The product of nodes. Static factors are multiplied first, because they cost nothing at run time."""
        static = [index for index in factors if self.static[index]]
        if len(static) > 1 and len(static) < len(factors):
            rest = [index for index in factors if not self.static[index]]
            return self.multiply(self.multiply(*static), *rest)
        return self.polynomial(((1, tuple((index, 1) for index in factors)),))

    def _product_of(self, first: int, second: int) -> int:
        (left, factors), (right, others) = self.split(first), self.split(second)
        if not factors and not others:
            return self.number(product_of_numbers(left, right))
        if self.static[first] and self.static[second]:
            return self.multiply(first, second)
        if not left or not right:
            return self.zero
        if factors == others:
            product: tuple[Factor, ...] = ((factors[0][0], 2),)
        else:
            product = factors + others if factors < others else others + factors
        return self._scaled(exact(product_of_numbers(left, right)), self._product(product))

    def product_of_two(self, first: int, second: int) -> int:
        """The product of two nodes."""
        pair = (first, second) if first <= second else (second, first)
        known = self._products.get(pair)
        if known is None:
            known = self._products[pair] = self._product_of(first, second)
        return known


def _add_to(form: LinearForm, monomial: tuple[Factor, ...], amount: Coefficient) -> None:
    """Add to the coefficient of a monomial. Most are new, and adding a fraction to zero is slow."""
    known = form.get(monomial)
    form[monomial] = amount if known is None else known + amount
