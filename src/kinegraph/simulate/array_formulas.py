"""Formulas for all joints at once, and the quantities that formulas use: `gravity + H @ (100*(1 - q) - 20*v)`.

An array formula is written as in NumPy: `+ - * /` work entry by entry, `@` multiplies matrices, `.T` transposes,
`[1, 2]` is an array, `H[0, 1]` an entry. `q` and `v` are the positions and velocities; every quantity is an array under
its name. `jacobian:hand@base` without spaces names a frame: write spaces around `@` to multiply. Nothing is executed:
the text becomes one expression for each joint, compiled with the equations.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kinegraph.compiler.compile import derive
from kinegraph.derive.dynamics.state_rate import entry_places
from kinegraph.derive.quantities.table import RECORDS
from kinegraph.errors import KinegraphError, SolveError
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.model.expressions import FUNCTIONS, PI, TIME, Call, Expression, Name, expression, names
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import component, did_you_mean
from kinegraph.simulate.formulas import ENTRY

Entries: TypeAlias = NDArray[np.object_]  # expressions
Index: TypeAlias = int | slice | tuple[int | slice, ...]

#: The name under which all joint forces are given together.
JOINTS = "tau"

#: The arrays of the state in an array formula.
_POSITIONS, _VELOCITIES = "q", "v"
_LONGEST = 10_000
_SPECIAL = re.compile(r"([^\W\d]\w*)(:\w+(?:@\w+)?|\.w?[xyz]\b'?|')")  # jacobian:hand@base, tip.z', q1'
_SPELLED = "spelled_"
_OPERATIONS: dict[type[ast.AST], Callable[..., Entries]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow, ast.MatMult: operator.matmul, ast.USub: operator.neg, ast.UAdd: operator.pos,
}  # fmt: skip


def quantities_of(mechanism: Mechanism, formulas: Iterable[Expression]) -> Graph | None:
    """The quantities whose entries formulas for inputs use, as one graph of q, v, t and parameters; None without any.

    SolveError for a quantity that depends on accelerations, forces or inputs, which the formula would define by itself.
    """
    used = sorted({name for one in formulas for name in names(one) if ENTRY.fullmatch(name) or component(name)})
    words = list(dict.fromkeys(_word(name) for name in used))
    if not words:
        return None
    found = _derived(mechanism, words)
    known = {name for output in found.outputs for name in entry_places(output)}
    for name in used:
        if name not in known:
            (output,) = (one for one in found.outputs if one.name == _word(name))
            raise SolveError(f"{name}: index out of range, {output.name} has shape {output.shape}, indices start at 0")
    return found


def _word(name: str) -> str:
    if found := ENTRY.fullmatch(name):
        return found[1]
    part = component(name)
    assert part is not None
    return f"{'velocity' if part.rate else 'pose'}:{part.point}"


def _derived(mechanism: Mechanism, words: list[str]) -> Graph:
    graph = derive(mechanism, ",".join(words))
    for node in graph.nodes:
        if isinstance(node, Symbol) and node.kind in (Kind.ACCELERATION, Kind.INPUT):
            raise SolveError(
                f"inputs: {', '.join(words)} depends on {node.name!r}, which depends on the inputs themselves; "
                "use quantities of positions and velocities, such as gravity, bias, H"
            )
    return graph


def joint_formulas(mechanism: Mechanism, text: str) -> dict[str, Expression]:
    """The expression of every joint force, from one array formula."""
    if len(text) > _LONGEST:
        raise SolveError(f"the formula has {len(text)} characters; the limit is {_LONGEST}")
    spelled = _SPECIAL.sub(lambda found: _SPELLED + found[0].encode().hex(), text.strip().replace("^", "**"))
    try:
        root = ast.parse(spelled, mode="eval").body
        used = dict.fromkeys(_unspelled(node.id) for node in ast.walk(root) if isinstance(node, ast.Name))
        values = _Reader(_arrays(mechanism, list(used))).read(root)
    except KinegraphError:
        raise
    except SyntaxError as problem:
        raise SolveError(f"cannot read the formula {text!r} for {JOINTS}: {problem.msg}") from None
    except (TypeError, ValueError, IndexError, RecursionError, ZeroDivisionError) as problem:
        raise SolveError(f"cannot read the formula {text!r} for {JOINTS}: {problem}") from None
    forces = mechanism.layout.forces
    if values.shape != (len(forces),):
        raise SolveError(f"the formula {text!r} has shape {values.shape}: {JOINTS} takes {len(forces)} forces")
    return {name: expression(one) for name, one in zip(forces, values.tolist(), strict=True)}


def _unspelled(name: str) -> str:
    return bytes.fromhex(name.removeprefix(_SPELLED)).decode() if name.startswith(_SPELLED) else name


def _arrays(mechanism: Mechanism, used: list[str]) -> dict[str, Entries | Name]:
    """What each name means: an array of names, or a name."""
    layout = mechanism.layout
    scalars = {TIME, PI, *layout.positions, *layout.velocities, *(one.name for one in mechanism.parameters)}
    found: dict[str, Entries | Name] = {
        _POSITIONS: _named(layout.positions),
        _VELOCITIES: _named(layout.velocities),
    }
    words = []
    for name in used:
        if name in found or name in FUNCTIONS:
            continue
        if name in scalars or component(name):
            found[name] = Name(name)
        elif name.partition(":")[0] in RECORDS:
            words.append(name)
        else:
            known = [*found, *scalars, *RECORDS]
            raise SolveError(f"{JOINTS}: unknown name {name!r}\n  {did_you_mean(name, known)}")
    if words:
        found |= {one.name: _entries(one) for one in _derived(mechanism, words).outputs}
    return found


def _named(given: Iterable[str]) -> Entries:
    return np.array([Name(one) for one in given], dtype=object)


def _entries(output: Output) -> Entries:
    places = {place: name for name, place in entry_places(output).items() if name.endswith("]")}
    return _named(places[k] for k in range(len(places))).reshape(output.shape)


@dataclass(frozen=True)
class _Reader:
    """Reads the tree of a formula: arrays of expressions by NumPy's rules."""

    arrays: Mapping[str, Entries | Name]

    def read(self, node: ast.expr) -> Entries:
        """The value of a node; a scalar is an array without dimensions, so that operators broadcast."""
        return np.asarray(self._value(node), dtype=object)

    def _value(self, node: ast.expr) -> Entries | Expression:
        match node:
            case ast.BinOp(left, kind, right) if type(kind) in _OPERATIONS:
                return _OPERATIONS[type(kind)](self.read(left), self.read(right))
            case ast.UnaryOp(kind, operand) if type(kind) in _OPERATIONS:
                return _OPERATIONS[type(kind)](self.read(operand))
            case ast.Constant(int() | float() as value) if not isinstance(value, bool):
                return expression(value)
            case ast.Name(name):
                return self.arrays[_unspelled(name)]
            case ast.List(entries):
                return np.stack([self.read(one) for one in entries])
            case ast.Attribute(value, "T"):
                return self.read(value).T
            case ast.Subscript(value, place):
                return self.read(value)[_index(place)]
            case ast.Call(ast.Name(name), arguments, []) if FUNCTIONS.get(name) == len(arguments):
                call = np.frompyfunc(lambda *parts: Call(name, tuple(map(expression, parts))), len(arguments), 1)
                return np.asarray(call(*map(self.read, arguments)), dtype=object)
        raise SyntaxError(f"{ast.unparse(node)!r} is not arithmetic, an array, an entry or a function such as sin")


def _index(node: ast.expr) -> Index:
    return tuple(map(_range, node.elts)) if isinstance(node, ast.Tuple) else _range(node)


def _range(node: ast.expr) -> int | slice:
    if isinstance(node, ast.Slice):
        ends = (node.lower, node.upper, node.step)
        return slice(*(None if one is None else int(ast.literal_eval(one)) for one in ends))
    return int(ast.literal_eval(node))
