"""Expressions of the model language, graphs as text, and expressions of SymPy."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from random import Random

import sympy

import kinegraph as kg
from kinegraph.errors import Place
from kinegraph.graph.build import GraphBuilder, transfer
from kinegraph.graph.differentiate import jacobian
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import FUNCTIONS as GRAPH_FUNCTIONS
from kinegraph.graph.node import Output
from kinegraph.graph.text import dump, read
from kinegraph.io import parse
from kinegraph.io.language.expressions import read_expression
from kinegraph.model.evaluate import value
from kinegraph.model.expressions import text as expression_text
from kinegraph.simulate.formulas import formula
from tests.fuzz import sources
from tests.fuzz.damage import damaged_text
from tests.fuzz.grammar import NAMES, sentences, well_formed
from tests.fuzz.models import explore
from tests.fuzz.subject import Depth, chance_of

_SYMBOLS = ("q", "q1", "a", "t", "pi")


def make_expression(chance: Random) -> str:
    """A sentence of the grammar, a tree of every function, or one of both with damage."""
    text = (
        sentences().sentence("sum", chance)
        if chance.random() < 0.3
        else well_formed(chance, chance.randint(0, 6), _SYMBOLS)
    )
    return damaged_text(text, chance, NAMES) if chance.random() < 0.3 else text


def run_expression(text: str, depth: Depth) -> None:
    """Read an expression, compute its value, write it, and turn a body by it."""
    chance = chance_of(text)
    read_in = read_expression(text, Place(1, 1))
    if depth >= Depth.WRITE:
        assert read_expression(expression_text(read_in), Place(1, 1)) == read_in, "written and read it is another"
    where = chance.choice(("Rz({});", "Sx({});", "Rz(q) | m({});", "Rz(q); force f | on(q) ({});"))
    model = f"parameters a = 2, b = a; coordinates q = 0.5, q1; A | Ry(q1), {where.format(text)} B~A | Sx(1) | m(1);"
    step = chance.randrange(3)
    if step == 0:
        value(read_in, {name: chance.uniform(-2, 2) for name in _SYMBOLS})
    elif step == 1:
        formula(text)
    if step == 2 or depth >= Depth.DERIVE:
        explore(parse(model), depth, chance)


@cache
def _graph_texts() -> tuple[str, ...]:
    pendulum = parse(sources.SMALL_MODELS[1])
    prescribed = parse(sources.SMALL_MODELS[3])
    return *(dump(kg.derive(pendulum, word)) for word in ("H", "tau")), dump(kg.derive(prescribed, "tau"))


def make_graph(chance: Random) -> str:
    """A graph as text: random nodes in order, or one of a mechanism with damage."""
    if chance.random() < 0.5:
        return damaged_text(chance.choice(_graph_texts()), chance, ["%0", "%1", "%99", "sin", "coordinate", "output"])
    lines = [f'%{place} = {kind} "{kind[0]}{place}"' for place, kind in enumerate(("coordinate", "parameter"))]
    lines.append('%2 = constant "pi"')
    for place in range(3, chance.randint(4, 14)):
        lines.append(f"%{place} = {_node(chance, place)}")
    shape, count = chance.choice((("", 1), ("2", 2), ("1, 2", 2), ("3", 3), ("0", 0), ("2", 1)))
    entries = " ".join(f"%{chance.randrange(len(lines))}" for _ in range(count))
    lines.append(f'output "y" ({shape}) = {entries}'.rstrip())
    text = "\n".join(lines)
    return damaged_text(text, chance) if chance.random() < 0.2 else text


def _node(chance: Random, place: int) -> str:
    def child() -> str:
        return f"%{chance.randrange(place)}"

    if chance.random() < 0.45:
        name = chance.choice(sorted(GRAPH_FUNCTIONS))
        return " ".join([name, *(child() for _ in range(GRAPH_FUNCTIONS[name].arity))])
    powers = ("",) * 20 + ("^2", "^2", "^2", "^3", "^3", "^7", "^100000", "^0", "^-1")
    terms = [
        " ".join(
            [chance.choice(("", "2 ", "1/3 ", "100000 ", "7/2 ")).strip(), child() + chance.choice(powers)]
        ).strip()
        for _ in range(chance.randint(1, 3))
    ]
    return chance.choice((" + ", " - ")).join(sorted(terms))


def run_graph(text: str, depth: Depth) -> None:
    """Read a graph; interpret, differentiate, rebuild, reduce and prove it."""
    graph = read(text)
    assert read(dump(graph)) == graph, "written and read again it is another graph"
    chance = chance_of(text)
    interpret(graph, {symbol.name: chance.uniform(-2, 2) for symbol in graph.symbols() if symbol.name != "pi"})
    kg.count(graph)
    if depth >= Depth.WRITE:
        builder = GraphBuilder()
        roots = [transfer(graph, builder)[index] for output in graph.outputs for index in output.nodes][:3]
        variables = [place for place, node in enumerate(builder.nodes) if getattr(node, "name", "") == "c0"]
        rows = jacobian(builder, roots, variables)
        kg.formula(builder.graph([Output("d", (len(roots), len(variables)), tuple(n for row in rows for n in row))]))
    if depth >= Depth.DERIVE:
        kg.reduce(graph, kg.Effort.QUICK)
        assert kg.prove(graph, graph), "it is not proved equal to itself"


def make_sympy(chance: Random) -> str:
    """One to three expressions that SymPy can read."""
    return "; ".join(_sympy_tree(chance, chance.randint(0, 5)) for _ in range(chance.choice((1, 1, 2, 3))))


_SYMPY_FUNCTIONS = [
    "sin",
    "cos",
    "tan",
    "sqrt",
    "exp",
    "log",
    "Abs",
    "atan",
    "asin",
    "acos",
    "sinh",
    "cosh",
    "tanh",
    "sign",
    "sec",
    "f",
    "Min2",
    "Max2",
    "atan22",
]
_SYMPY_LEAVES = (
    "x",
    "y",
    "z",
    "x",
    "y",
    "pi",
    "E",
    "I",
    "oo",
    "zoo",
    "nan",
    "GoldenRatio",
    "True",
    "x_1",
    "Symbol('x', positive=True)",
)


#: Floats have a symbol beside them: SymPy computes functions of floats alone, of any size, in any time.
_SYMPY_NUMBERS = ("0", "1", "-1", "2", "3", "7", "10", "S(1)/3", "S(-7)/2", "0.1*x", "1e-3*y", "-9.81*z", "1e300*x")


def _sympy_tree(chance: Random, depth: int) -> str:
    luck = chance.random()
    if depth == 0 or luck < 0.1:
        if luck < 0.02:
            return chance.choice(_SYMPY_LEAVES)
        return chance.choice(_SYMPY_LEAVES[:6] if chance.random() < 0.6 else _SYMPY_NUMBERS)
    inner = _sympy_tree(chance, depth - 1)
    if luck < 0.35:
        name = chance.choice(_SYMPY_FUNCTIONS)
        return f"{name[:-1]}({inner}, {_sympy_tree(chance, depth - 1)})" if name.endswith("2") else f"{name}({inner})"
    if luck < 0.5:
        return f"({inner})**{chance.choice(('2', '3', '-1', '-2', 'Rational(1, 2)', 'Rational(1, 3)', 'y', '40', '0'))}"
    return f"({inner} {chance.choice('+-**/')} {_sympy_tree(chance, depth - 1)})"


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """TimeoutError after so many seconds of the processor."""

    def end(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def run_minimize(text: str, depth: Depth) -> None:
    """Minimize expressions of SymPy; cases that SymPy itself cannot build are skipped."""
    names = {**vars(sympy), "f": sympy.Function("f")}
    names |= {name: sympy.Symbol(name) for name in ("x", "y", "z", "x_1")}
    try:
        with _limited(2.0):  # SymPy looks for the sign of some constants, such as acos(7), for ever
            expressions = [eval(part, dict(names)) for part in text.split(";")]  # our own text, of a closed grammar
    except Exception:  # SymPy's own, and of many kinds
        return
    kg.minimize(expressions, parameters=("z",), effort=kg.Effort.QUICK)
    if depth >= Depth.COMPILE:
        kg.minimize(expressions, effort=kg.Effort.SEARCH, seconds=0.05)
