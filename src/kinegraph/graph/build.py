"""The one door into the graph: a builder that folds exactly and gives equal expressions the same node.

Sums and products are not flattened: `(a + b) + c` refers to the node of `a + b`, so that what is computed twice is
found by its id alone. Only static ones, which cost nothing, are multiplied out. Signs and common coefficients travel
outwards: no node is the negative of another, and `2 x + 2 y` is twice the node of `x + y` (but `2 x + 4 y` is a sum of
its own, for taking out a factor gains nothing).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import isqrt

from kinegraph.errors import GraphError, NumberSizeError
from kinegraph.graph.angle import PI, RATIONAL_SINES, LinearForm, linear_form, quarter_turns, shifted
from kinegraph.graph.functions import FUNCTIONS
from kinegraph.graph.node import (
    LARGEST_EXPONENT,
    Coefficient,
    Factor,
    Function,
    Graph,
    Kind,
    Node,
    Output,
    Polynomial,
    Symbol,
    Term,
)

#: Numerators and denominators have at most so many digits: more cannot be written and read as text.
MOST_DIGITS = 4000
_TOO_LARGE = 10**MOST_DIGITS


def exact(value: Coefficient) -> Coefficient:
    """An integer where possible: integers are compared and hashed several times faster than fractions."""
    if type(value) is int or value.denominator == 1:
        value = value.numerator
        if -_TOO_LARGE < value < _TOO_LARGE:
            return value
    elif -_TOO_LARGE < value.numerator < _TOO_LARGE and value.denominator < _TOO_LARGE:
        return value
    raise NumberSizeError(f"a number of more than {MOST_DIGITS} digits: {_REMEDY}")


def power_of_number(value: Coefficient, exponent: int) -> Coefficient:
    """An exact power; one that would be far too long is refused before it is computed."""
    if exponent == 1:
        return value
    if value in (0, 1, -1):
        return value if exponent % 2 else value * value
    bits = max(value.numerator.bit_length(), value.denominator.bit_length()) - 1
    if bits * exponent > 4 * MOST_DIGITS:
        raise NumberSizeError(f"a number to the power {_held(exponent)} has more than {MOST_DIGITS} digits: {_REMEDY}")
    return value**exponent


def _times(first: Coefficient, second: Coefficient) -> Coefficient:
    """The product; most coefficients are one, and products of fractions take long."""
    if type(first) is int and first == 1:
        return second
    if type(second) is int and second == 1:
        return first
    return first * second


def _held(exponent: int) -> int:
    """The exponent, if doubles hold it."""
    if exponent > LARGEST_EXPONENT:
        raise NumberSizeError(f"an exponent of more than 2^53: {_REMEDY}")
    return exponent


_REMEDY = "numbers are exact here, and no longer than that"


#: Static products are multiplied out up to this many terms.
STATIC_TERMS = 64


class GraphBuilder:
    """Grows a list of distinct nodes. Methods take and return node ids."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.static: list[bool] = []
        self._ids: dict[Node, int] = {}
        self._angles: dict[tuple[tuple[tuple[Factor, ...], Coefficient], ...], int] = {}
        # Recursions ask for the same few sums and products again and again: two of three are known already.
        self._sums: dict[tuple[int, int], int] = {}
        self._differences: dict[tuple[int, int], int] = {}
        self._products: dict[tuple[int, int], int] = {}
        self._negatives: dict[int, int] = {}
        self._numbers: dict[Coefficient, int] = {}
        self.zero = self.intern(Polynomial(()))
        self.one = self.intern(Polynomial(((1, ()),)))

    def copy(self) -> GraphBuilder:
        """Another builder with the same nodes under the same numbers."""
        copy = GraphBuilder()
        copy.become(self)
        return copy

    def become(self, other: GraphBuilder) -> None:
        """Hold what another builder holds, and nothing else; either grows by itself from then on."""
        for name, value in vars(other).items():
            setattr(self, name, value.copy() if isinstance(value, list | dict) else value)

    def intern(self, node: Node) -> int:
        """The id of this very node, new or known; the caller guarantees it is in canonical form."""
        new = len(self.nodes)
        index = self._ids.setdefault(node, new)
        if index == new:
            self.nodes.append(node)
            self.static.append(self._is_static(node))
        return index

    def _is_static(self, node: Node) -> bool:
        if isinstance(node, Symbol):
            return node.kind.static
        static = self.static
        if isinstance(node, Function):
            return all(static[argument] for argument in node.arguments)
        for _, factors in node.terms:
            for child, _ in factors:
                if not static[child]:
                    return False
        return True

    # leaves

    def symbol(self, kind: Kind, name: str) -> int:
        """The symbol of this kind and name."""
        return self.intern(Symbol(kind, name))

    def number(self, value: Coefficient) -> int:
        """An exact rational number."""
        known = self._numbers.get(value)
        if known is None:
            known = self._numbers[value] = self.intern(Polynomial(((exact(value), ()),) if value else ()))
        return known

    def pi(self) -> int:
        """The constant pi."""
        return self.intern(PI)

    def value_of(self, index: int) -> Coefficient | None:
        """The number a node is, or None."""
        node = self.nodes[index]
        if not isinstance(node, Polynomial):
            return None
        if not node.terms:
            return 0
        coefficient, factors = node.terms[0]
        return coefficient if not factors and len(node.terms) == 1 else None

    # sums and products

    def split(self, index: int) -> tuple[Coefficient, tuple[Factor, ...]]:
        """A node as coefficient times factors: c*x is opened, anything else is itself to the first power."""
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
        """The sum of the given terms in canonical form: like terms joined, coefficients and signs moved outwards."""
        collected: LinearForm = {}
        for coefficient, factors in terms:
            scale, monomial = self._monomial(coefficient, factors)
            if scale:
                known = collected.get(monomial)
                collected[monomial] = scale if known is None else known + scale
        if collected and self._all_static(collected):
            collected = self._multiplied_out(collected)
        joined = sorted([(factors, exact(c)) for factors, c in collected.items() if c])
        if not joined:
            return self.number(0)
        if len(joined) == 1:
            return self._scaled(joined[0][1], self._product(joined[0][0]))
        return self._normalised([(c, factors) for factors, c in joined])

    def _all_static(self, monomials: Iterable[tuple[Factor, ...]]) -> bool:
        static = self.static
        for factors in monomials:
            for child, _ in factors:
                if not static[child]:
                    return False
        return True

    def _multiplied_out(self, form: LinearForm) -> LinearForm:
        """Static expressions are free, so nothing is lost by multiplying them out, and what cancels is seen to."""
        result: LinearForm = {}
        for factors, scale in form.items():
            for monomial, coefficient in self._expanded(factors).items():
                result[monomial] = result.get(monomial, 0) + scale * coefficient
        return result

    def _expanded(self, factors: tuple[Factor, ...]) -> LinearForm:
        """A product of static nodes as a sum of products; as it stands where that would be long."""
        product: LinearForm = {(): 1}
        for child, exponent in self._cancelled(dict(factors)):
            node = self.nodes[child]
            # A high power is not multiplied out either, be it of a single term: the exponent is the user's.
            terms = node.terms if isinstance(node, Polynomial) and exponent <= STATIC_TERMS else ()
            if terms and len(terms) ** exponent * len(product) <= STATIC_TERMS:
                for _ in range(exponent):
                    product = self._times(product, terms)
            else:
                product = self._times(product, ((1, ((child, exponent),)),))
        return product

    def _times(self, form: LinearForm, terms: Sequence[Term]) -> LinearForm:
        result: LinearForm = {}
        for left, scale in form.items():
            for coefficient, right in terms:
                exponents = dict(left)
                for child, exponent in right:
                    exponents[child] = _held(exponents.get(child, 0) + exponent)
                monomial = self._cancelled(exponents)
                result[monomial] = result.get(monomial, 0) + scale * coefficient
        return {monomial: c for monomial, c in result.items() if c}

    def _cancelled(self, exponents: dict[int, int]) -> tuple[Factor, ...]:
        """x times its reciprocal is one."""
        for child in list(exponents):
            node = self.nodes[child]
            if isinstance(node, Function) and node.name == "reciprocal" and node.arguments[0] in exponents:
                common = min(exponents[child], exponents[node.arguments[0]])
                exponents[child] -= common
                exponents[node.arguments[0]] -= common
        return tuple(sorted((child, exponent) for child, exponent in exponents.items() if exponent))

    def _monomial(self, coefficient: Coefficient, factors: Sequence[Factor]) -> tuple[Coefficient, tuple[Factor, ...]]:
        if len(factors) == 1 and factors[0][1] == 1:
            scale, rest = self.split(factors[0][0])
            return _times(coefficient, scale), rest
        exponents: dict[int, int] = {}
        for child, exponent in factors:
            if exponent < 1:
                raise GraphError(f"a factor has the exponent {exponent}: use power or reciprocal")
            scale, rest = self.split(child)
            coefficient = _times(coefficient, power_of_number(scale, exponent))
            for base, power in rest:
                exponents[base] = _held(exponents.get(base, 0) + power * exponent)
        return coefficient, tuple(sorted(exponents.items()))

    def _product(self, factors: tuple[Factor, ...]) -> int:
        if len(factors) == 1 and factors[0][1] == 1:
            return factors[0][0]
        return self.intern(Polynomial(((1, factors),)))

    def _scaled(self, coefficient: Coefficient, index: int) -> int:
        if coefficient == 1:
            return index
        if self.value_of(index) == 1:
            return self.number(coefficient)
        return self.intern(Polynomial(((exact(coefficient), ((index, 1),)),)))

    def _normalised(self, terms: list[Term]) -> int:
        """Make the first coefficient positive; take out the size of the coefficients where all share it."""
        first = terms[0][0]
        opposite = -first
        content: Coefficient = first if first > 0 else opposite
        for coefficient, _ in terms:
            if coefficient != first and coefficient != opposite:
                content = 1
                break
        if first < 0:
            content = -content
        if content == -1:
            terms = [(-c, factors) for c, factors in terms]
        elif content != 1:
            terms = [(exact(Fraction(c) / content), factors) for c, factors in terms]
        return self._scaled(content, self.intern(Polynomial(tuple(terms))))

    def add(self, *summands: int) -> int:
        """The sum of nodes."""
        return self.polynomial((1, ((index, 1),)) for index in summands)

    def _sum(self, first: int, second: int, sign: int) -> int:
        """Most of what recursions ask for: the same as `polynomial`, without collecting like terms."""
        (left, factors), (right, others) = self.split(first), self.split(second)
        if factors == others or not left or not right or (self.static[first] and self.static[second]):
            return self.polynomial(((1, ((first, 1),)), (sign, ((second, 1),))))
        terms = [(left, factors), (right if sign == 1 else -right, others)]
        return self._normalised(terms if factors < others else terms[::-1])

    def sum_of_two(self, first: int, second: int) -> int:
        """The sum of two nodes."""
        pair = (first, second) if first <= second else (second, first)
        known = self._sums.get(pair)
        if known is None:
            known = self._sums[pair] = self._sum(first, second, 1)
        return known

    def difference(self, first: int, second: int) -> int:
        """The first node less the second."""
        pair = (first, second)
        known = self._differences.get(pair)
        if known is None:
            known = self._differences[pair] = self._sum(first, second, -1)
        return known

    def scale(self, coefficient: Coefficient, index: int) -> int:
        """A number times a node."""
        if self.static[index]:
            return self.polynomial(((coefficient, ((index, 1),)),))
        if not coefficient:
            return self.zero
        own, factors = self.split(index)
        return self._scaled(exact(_times(coefficient, own)), factors[0][0])

    def negative(self, index: int) -> int:
        """The opposite of a node."""
        known = self._negatives.get(index)
        if known is None:
            known = self._negatives[index] = self.scale(-1, index)
        return known

    def multiply(self, *factors: int) -> int:
        """The product of nodes; what is static is multiplied first, for it costs nothing when code runs."""
        static = [index for index in factors if self.static[index]]
        if len(static) > 1 and len(static) < len(factors):
            rest = [index for index in factors if not self.static[index]]
            return self.multiply(self.multiply(*static), *rest)
        return self.polynomial(((1, tuple((index, 1) for index in factors)),))

    def _product_of(self, first: int, second: int) -> int:
        if self.static[first] and self.static[second]:
            return self.multiply(first, second)
        (left, factors), (right, others) = self.split(first), self.split(second)
        if not left or not right:
            return self.zero
        if factors == others:
            product: tuple[Factor, ...] = ((factors[0][0], 2),)
        else:
            product = factors + others if factors < others else others + factors
        return self._scaled(exact(_times(left, right)), self._product(product))

    def product_of_two(self, first: int, second: int) -> int:
        """The product of two nodes."""
        pair = (first, second) if first <= second else (second, first)
        known = self._products.get(pair)
        if known is None:
            known = self._products[pair] = self._product_of(first, second)
        return known

    def power(self, index: int, exponent: int) -> int:
        """An integer power; negative powers go through the reciprocal."""
        if exponent < 0:
            return self.power(self.reciprocal(index), -exponent)
        if exponent == 0:
            return self.number(1)
        return self.polynomial(((1, ((index, exponent),)),))

    def reciprocal(self, index: int) -> int:
        """One over a node."""
        return self.apply("reciprocal", index)

    # functions

    def apply(self, name: str, *arguments: int) -> int:
        """A function of nodes, folded where the result is known exactly."""
        if name not in FUNCTIONS:
            raise GraphError(f"unknown function {name!r}; known are {', '.join(sorted(FUNCTIONS))}")
        if len(arguments) != FUNCTIONS[name].arity:
            raise GraphError(f"{name} takes {FUNCTIONS[name].arity} arguments, {len(arguments)} were given")
        if name in ("sin", "cos"):
            return self._trigonometric(name, arguments[0])
        folded = self._fold(name, arguments)
        return self.intern(Function(name, arguments)) if folded is None else folded

    def _fold(self, name: str, arguments: tuple[int, ...]) -> int | None:
        first = self.value_of(arguments[0])
        if name == "reciprocal":
            return self._reciprocal(arguments[0])
        if name == "select":
            if first is not None:
                return arguments[1] if first >= 0 else arguments[2]
            return arguments[1] if arguments[1] == arguments[2] else None
        if name == "guarded":
            room = self.value_of(arguments[1])
            return arguments[0] if room is not None and room >= 0 else None
        if first is None:
            return None
        if name == "sqrt" and first >= 0:
            root = Fraction(isqrt(first.numerator), isqrt(first.denominator))
            return self.number(root) if root * root == first else None
        if name == "abs":
            return self.number(first if first >= 0 else -first)
        if name == "sign":
            return self.number((first > 0) - (first < 0))
        if first == 0 and name in ("asin", "atan", "sinh", "tanh"):
            return self.number(0)
        if (first == 0 and name in ("exp", "cosh")) or (first == 1 and name == "log"):
            return self.number(1 if first == 0 else 0)
        return None

    def _reciprocal(self, index: int) -> int | None:
        coefficient, factors = self.split(index)
        if not coefficient:
            raise GraphError("division by an expression that is exactly zero")
        if not factors:
            return self.number(Fraction(1) / coefficient)
        base = factors[0][0]
        node = self.nodes[base]
        if isinstance(node, Function) and node.name == "reciprocal":
            return self.scale(Fraction(1) / coefficient, node.arguments[0])
        return None if coefficient == 1 else self.scale(Fraction(1) / coefficient, self.reciprocal(base))

    def _trigonometric(self, name: str, argument: int) -> int:
        form = linear_form(self.nodes, argument)
        pi = ((self.pi(), 1),)
        pi_multiple = form.pop(pi, 0)
        if not form:
            return self._fixed_angle(name, pi_multiple)
        sign = 1
        if min(form.items())[1] < 0:  # sin(-x) = -sin x, cos(-x) = cos x: one node for both
            form = {monomial: -c for monomial, c in form.items()}
            pi_multiple = -pi_multiple
            sign = -1 if name == "sin" else 1
            argument = self.scale(-1, argument)
        quarters, rest = quarter_turns(pi_multiple)
        turned, name = shifted(name, quarters)
        if rest:
            form[pi] = rest
        angle = self._angle(tuple(sorted(form.items())), argument if rest == pi_multiple else None)
        return self.scale(sign * turned, self.intern(Function(name, (angle,))))

    def _fixed_angle(self, name: str, pi_multiple: Coefficient) -> int:
        """sin or cos of a multiple of pi: a number where it is rational, else one node between zero and pi/4."""
        quarters, rest = quarter_turns(pi_multiple)
        sign, name = shifted(name, quarters)
        if name == "sin" and rest in RATIONAL_SINES:
            return self.number(sign * RATIONAL_SINES[rest])
        if not rest:
            return self.number(sign)
        if rest < 0 and name == "sin":
            sign = -sign
        rest = rest if rest > 0 else -rest
        if rest == Fraction(1, 4):
            name = "sin"
        return self.scale(sign, self.intern(Function(name, (self.scale(rest, self.pi()),))))

    def _angle(self, form: tuple[tuple[tuple[Factor, ...], Coefficient], ...], argument: int | None) -> int:
        """One node for one linear form, however it was summed up: the first way seen serves all."""
        if form not in self._angles:
            if argument is None or len(form) == 1:  # (x + y) - y is x itself
                argument = self.polynomial((c, factors) for factors, c in form)
            self._angles[form] = argument
        return self._angles[form]

    # finishing

    def graph(self, outputs: Iterable[Output]) -> Graph:
        """The finished graph; nodes no output needs are left out."""
        outputs = tuple(outputs)
        whole = Graph(tuple(self.nodes), outputs)
        keep = [index for index, live in enumerate(whole.live) if live]
        return whole if len(keep) == len(whole) else renumber(whole, keep)


def renumber(graph: Graph, keep: Sequence[int]) -> Graph:
    """The same graph with only the nodes of `keep`, in that order (children first)."""
    new = {old: index for index, old in enumerate(keep)}
    nodes = tuple(mapped(graph.nodes[old], new) for old in keep)
    outputs = tuple(output._replace(nodes=tuple(new[index] for index in output.nodes)) for output in graph.outputs)
    return Graph(nodes, outputs)


def mapped(node: Node, new: dict[int, int]) -> Node:
    """A node whose children have other numbers."""
    if isinstance(node, Polynomial):
        return Polynomial(tuple([(c, _mapped_factors(factors, new)) for c, factors in node.terms]))
    if isinstance(node, Function):
        return Function(node.name, tuple([new[argument] for argument in node.arguments]))
    return node


def _mapped_factors(factors: tuple[Factor, ...], new: dict[int, int]) -> tuple[Factor, ...]:
    if len(factors) == 1:
        ((child, exponent),) = factors
        return ((new[child], exponent),)
    return tuple(sorted([(new[child], exponent) for child, exponent in factors]))
