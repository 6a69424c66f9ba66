"""The law: what every well-formed graph satisfies. Checked after each pass in the tests and by `--check`."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import NoReturn

from kinegraph.errors import GraphError
from kinegraph.graph.lookup import constants_of
from kinegraph.graph.node import LARGEST_EXPONENT, Function, Graph, Node, Polynomial, Symbol, is_lookup, rule_of

#: The attribute that marks a checked graph: several stages check the same graph.
_STORED = "_lawful"


def check(graph: Graph) -> None:
    """Raise GraphError naming the first node that breaks the law."""
    if _STORED not in vars(graph):
        _check(graph)
        vars(graph)[_STORED] = True


def _check(graph: Graph) -> None:
    seen: dict[Node, int] = {}
    for index, node in enumerate(graph.nodes):
        first = seen.setdefault(node, index)
        if first != index:
            raise GraphError(f"node {index} repeats node {first}")
        if isinstance(node, Polynomial):
            _check_polynomial(index, node)
        elif isinstance(node, Function):
            _check_function(index, node)
        elif not isinstance(node, Symbol) or not node.name:
            raise GraphError(f"node {index} is not a polynomial, a function, or a symbol with a name")
    _check_outputs(graph)


def _check_polynomial(index: int, node: Polynomial) -> None:
    if len(node.terms) > 1 and len({factors for _, factors in node.terms}) != len(node.terms):
        raise GraphError(f"node {index} has two terms with the same factors")
    for coefficient, factors in node.terms:
        if type(coefficient) not in (int, Fraction) or coefficient == 0:
            raise GraphError(f"node {index} has the coefficient {coefficient!r}: it must be exact and not zero")
        if type(coefficient) is Fraction and coefficient.denominator == 1:
            raise GraphError(f"node {index} has an integer coefficient written as a fraction")
        if any(child >= following for (child, _), (following, _) in pairwise(factors)):
            raise GraphError(f"node {index} has factors out of order or repeated")
        for child, exponent in factors:
            if not 0 <= child < index:
                _refuse_child(index, child)
            if type(exponent) is not int or exponent < 1:
                raise GraphError(f"node {index} has the exponent {exponent}: use reciprocal")
            if exponent > LARGEST_EXPONENT:
                raise GraphError(f"node {index} has an exponent of more than 2^53")
    if len(node.terms) == 1 and node.terms[0][0] == 1 and len(node.terms[0][1]) == 1 and node.terms[0][1][0][1] == 1:
        raise GraphError(f"node {index} is the same as node {node.terms[0][1][0][0]}")


def _check_function(index: int, node: Function) -> None:
    rule = rule_of(node.name)
    if is_lookup(node.name):
        constants_of(node.name)
    if rule is None or len(node.arguments) != rule.arity:
        raise GraphError(f"node {index} applies {node.name[:40]!r} to {len(node.arguments)} arguments")
    for argument in node.arguments:
        if not 0 <= argument < index:
            _refuse_child(index, argument)


def _refuse_child(index: int, child: int) -> NoReturn:
    raise GraphError(f"node {index} refers to node {child}: children must come first")


def _check_outputs(graph: Graph) -> None:
    names = [output.name for output in graph.outputs]
    if len(set(names)) != len(names):
        raise GraphError("two outputs have the same name")
    for output in graph.outputs:
        for node in output.nodes:
            if not 0 <= node < len(graph.nodes):
                raise GraphError(f"output {output.name} refers to node {node}, which does not exist")
