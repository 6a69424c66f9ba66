"""The operating point of a task, and the kernels that tasks evaluate there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import isfinite
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kinegraph.assembly.assemble import Assembler
from kinegraph.assembly.initial_values import angle_names
from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler.compile import compile
from kinegraph.compiler.request import Quantities, quantities_of
from kinegraph.derive.dynamics.state_rate import STATE_RATES
from kinegraph.errors import TaskError
from kinegraph.model.constraints import is_constrained
from kinegraph.model.evaluate import (
    Value,
    initial_positions,
    initial_states,
    initial_velocities,
    number,
    parameter_values,
    unit_quaternion,
)
from kinegraph.model.expressions import Expression, Scalar, expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.passes.effort import AT_ONCE
from kinegraph.simulate.formulas import formula

# The operating point: positions, velocities, forces, inputs and time as arrays in the order of the layout.

Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class OperatingPoint:
    """One state of a mechanism with its forces and inputs; `given` are parameters that kernels take at run time.

    z: the first-order states.
    """

    q: Floats
    v: Floats
    tau: Floats
    u: Floats
    t: float = 0.0
    given: tuple[tuple[str, float], ...] = ()
    z: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def runtime(self) -> tuple[str, ...]:
        """The names of the parameters given by the point."""
        return tuple(name for name, _ in self.given)

    def arguments(self, accelerations: Floats | None = None) -> dict[str, Floats | float]:
        """All possible arguments of a kernel, by name."""
        a = np.zeros_like(self.v) if accelerations is None else accelerations
        p = np.array([value for _, value in self.given], dtype=float)
        known = {"q": self.q, "v": self.v, "z": self.z, "a": a, "tau": self.tau, "u": self.u}
        return {**known, "t": self.t, "p": p}

    def at(self, q: Floats) -> OperatingPoint:
        """The same with other positions."""
        return replace(self, q=q)


def operating_point(
    mechanism: Mechanism,
    at: Mapping[str, Scalar] | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    guess: bool = False,
) -> OperatingPoint:
    """The model's initial state with the given values instead: `q1`, `q1'`, `tau:q1`, a state, an input's name, `t`.

    With loops, values that contradict them are an error. A `guess`, where a search starts, is moved to the nearest
    assembled position.
    """
    values = parameter_values(mechanism, parameters)
    state = _starting_values(mechanism, values)
    for name, value in named_values(mechanism, at).items():
        if name not in state:
            raise TaskError(f"{mechanism.name} has no variable {name!r}\n  {did_you_mean(name, state)}")
        state[name] = number(formula(value, name), values)
    layout = mechanism.layout
    q, v, z, tau, u = (
        np.array([state[name] for name in group], dtype=float)
        for group in (layout.positions, layout.velocities, layout.states, layout.forces, layout.inputs)
    )
    point = OperatingPoint(_unit_quaternions(mechanism, q), v, tau, u, state["t"], z=z)
    if not is_constrained(mechanism):
        return point
    return fitting(mechanism, point, tuple(at or ()), parameters, mechanism.declared, guess)


def named_values(mechanism: Mechanism, at: Mapping[str, Scalar] | None) -> Mapping[str, Scalar]:
    """The user's state, if it is given by name."""
    if at is None or isinstance(at, Mapping):
        return at or {}
    first = next(iter(mechanism.layout.positions), "q")
    raise TaskError(f"state: give values by name, such as {{{first!r}: 0.1}}, not a {type(at).__name__}")


def fitting(
    mechanism: Mechanism,
    point: OperatingPoint,
    held: tuple[str, ...],
    parameters: Mapping[str, Scalar] | None,
    declared: tuple[str, ...] = (),
    guess: bool = False,
) -> OperatingPoint:
    """The point with positions and velocities that satisfy the constraints. Held values stay, or TaskError."""
    known = (*mechanism.layout.positions, *mechanism.layout.velocities)
    named = tuple(name for name in held if name in known)
    assembler = Assembler(mechanism, parameters)
    found = assembler.assembled(point.q, point.v, named, point.t, declared)
    found = found if guess else found.required()
    return replace(point, q=found.q, v=found.v)


def _starting_values(mechanism: Mechanism, values: Mapping[str, Value]) -> dict[str, float]:
    layout = mechanism.layout
    state = dict(zip(layout.positions, initial_positions(mechanism, values), strict=True))
    state |= zip(layout.velocities, initial_velocities(mechanism, values), strict=True)
    state |= zip(layout.states, initial_states(mechanism, values), strict=True)
    return state | dict.fromkeys((*layout.forces, *layout.inputs, "t"), 0.0)


def _unit_quaternions(mechanism: Mechanism, q: Floats) -> Floats:
    for start in mechanism.layout.quaternions:
        part = slice(start, start + 4)
        q[part] = unit_quaternion(mechanism.layout.positions[part], q[part].tolist())
    return q


def name_index(name: str, names: Sequence[str], kind: str = "name") -> int:
    """The index of a name; TaskError with a suggestion if it is unknown."""
    if name not in names:
        raise TaskError(f"unknown {kind} {name!r}\n  {did_you_mean(name, names)}")
    return names.index(name)


# Tasks that support coordinates alone say what to do with quaternions.


def refuse_quaternions(mechanism: Mechanism, task: str) -> None:
    """TaskError with the two remedies: lock the freely rotating body, or rotate it by three angles."""
    layout = mechanism.layout
    if not layout.quaternions:
        return
    start = layout.quaternions[0]
    names = layout.positions[start : start + 4]
    held = ", ".join(f"'{name}'" for name in names)
    raise TaskError(
        f"{mechanism.name} has the quaternion ({', '.join(names)}), but {task} only coordinates\n"
        f"  lock the body at its position, kg.lock(model, {held}) or --lock {','.join(names)}, or rotate "
        f"it by three angles, Rz(a) Ry(b) Rx(c) instead of Q({','.join(names)})"
    )


# The search range of every coordinate.


def search_box(mechanism: Mechanism, within: Mapping[str, tuple[float, float]], length: float) -> Floats:
    """A row (from, to) for every coordinate: from `bounds`, otherwise one turn for angles and +-length for others."""
    names = mechanism.layout.positions
    for name, (least, most) in within.items():
        if name not in names:
            raise TaskError(f"unknown coordinate {name!r} in bounds; choose from {', '.join(names)}")
        if not (isfinite(most - least) and least <= most):
            raise TaskError(f"bounds: {name} is from {least:g} to {most:g}; give two finite numbers, the lower first")
    angles = angle_names(mechanism)
    usual = {name: (-np.pi, np.pi) if name in angles else (-length, length) for name in names}
    return np.array([within.get(name, usual[name]) for name in names], dtype=float).reshape(-1, 2)


# Kernels of tasks: quickly reduced, and called with all known arguments.

#: Equations of few bodies could be written out to save operations. Kernels of tasks are called a few thousand times:
#: that saves less than it takes.
_FEW = 8


def kernel_of(
    mechanism: Mechanism,
    quantities: Quantities,
    parameters: Mapping[str, Scalar] | None = None,
    runtime: tuple[str, ...] = (),
) -> Kernel:
    """Machine code for quantities, with numbers for all parameters except those of `runtime`, which it takes as p."""
    wanted = _words(tuple(quantities) if isinstance(quantities, list) else quantities)
    given = tuple(sorted((name, expression(value, name)) for name, value in (parameters or {}).items()))
    return _remembered(mechanism, wanted, given, runtime)


@lru_cache(maxsize=256)
def _words(quantities: Quantities) -> tuple[str, ...]:
    """The quantities parsed, and cached: parsing takes longer than calling a kernel."""
    return tuple(str(quantity) for quantity in quantities_of(quantities))


@lru_cache(maxsize=32)
def _remembered(
    mechanism: Mechanism,
    quantities: tuple[str, ...],
    parameters: tuple[tuple[str, Expression], ...],
    runtime: tuple[str, ...],
) -> Kernel:
    """The kernel, cached: a task at many states, such as a search for a critical speed, uses one kernel repeatedly."""
    passes = AT_ONCE if len(mechanism.bodies) <= _FEW else ""
    return compile(mechanism, quantities, parameters=dict(parameters), runtime=runtime, loops=False, passes=passes)


def taken(kernel: Kernel, values: Mapping[str, Floats | float]) -> dict[str, Floats | float]:
    """The arguments of a kernel among all known values."""
    return {argument.name: values[argument.name] for argument in kernel.arguments}


def called(kernel: Kernel, values: Mapping[str, Floats | float]) -> dict[str, Floats]:
    """All results at one state, by name."""
    return dict(kernel.by_name(kernel(**taken(kernel, values))))


def called_at(
    mechanism: Mechanism, quantities: Quantities, point: OperatingPoint, parameters: Mapping[str, Scalar] | None = None
) -> dict[str, Floats]:
    """All results at one point, by name; TaskError names the rows if a singular position has no values."""
    kernel = kernel_of(mechanism, quantities, parameters)
    found = called(kernel, point.arguments())
    lost = [name for name, values in found.items() if not np.isfinite(values).all()]
    if lost and is_constrained(mechanism):
        message = Assembler(mechanism, parameters).singular_message(", ".join(lost), point.q, point.t)
        if message:
            raise TaskError(message)
    return found


def called_rows(kernel: Kernel, values: Mapping[str, Floats | float]) -> dict[str, Floats]:
    """All results for rows of states, by name."""
    return dict(kernel.by_name(kernel.batch(**taken(kernel, values))))


# The equations of motion in numbers: forces of the tree and constraint rows, with exact slopes.

FORCE, INERTIA = "tau", "H"
VALUE, JACOBIAN, RATE, ACCELERATION = (
    "constraints", "constraint_jacobian", "constraint_rates", "constraint_accelerations",
)  # fmt: skip


def slope(quantity: str, by: str) -> str:
    """The derivative of a quantity by a group of variables: dq, v, z, tau, u."""
    return f"d({quantity})/d(all:{by})"


def parameter_slope(quantity: str, name: str) -> str:
    """The derivative of a quantity by one parameter, or by the time."""
    return f"d({quantity})/d({name})"


def force_kernel(
    mechanism: Mechanism, parameters: Mapping[str, Scalar] | None, runtime: tuple[str, ...] = ()
) -> Kernel:
    """The forces of the spanning tree without loops and constraints, and their slopes."""
    layout = mechanism.layout
    by = ["dq", "v", *(["u"] if layout.inputs else []), *(["z"] if layout.states else [])]
    wanted = [FORCE, INERTIA, *(slope(FORCE, item) for item in by)]
    wanted += [parameter_slope(FORCE, name) for name in runtime]
    return kernel_of(_tree(mechanism), wanted, parameters, runtime)


def state_kernel(
    mechanism: Mechanism, parameters: Mapping[str, Scalar] | None, runtime: tuple[str, ...] = ()
) -> Kernel | None:
    """The rates of the first-order states, and their slopes; None if there are none."""
    layout = mechanism.layout
    if not layout.states:
        return None
    wanted = [STATE_RATES, *(slope(STATE_RATES, item) for item in ("dq", "v", "z", *("u" for _ in layout.inputs[:1])))]
    return kernel_of(
        mechanism, [*wanted, *(parameter_slope(STATE_RATES, name) for name in runtime)], parameters, runtime
    )


@lru_cache(maxsize=32)
def _tree(mechanism: Mechanism) -> Mechanism:
    """The mechanism without loops and constraints; cached, so that the same object is found in other caches."""
    return replace(mechanism, loops=(), constraints=())


def row_kernel(mechanism: Mechanism, parameters: Mapping[str, Scalar] | None, runtime: tuple[str, ...] = ()) -> Kernel:
    """The residuals of loops and constraints by position, velocity and acceleration, and all their slopes."""
    wanted = [VALUE, JACOBIAN, RATE, ACCELERATION, slope(JACOBIAN, "dq"), slope(RATE, "dq")]
    wanted += [slope(ACCELERATION, "dq"), slope(ACCELERATION, "v")]
    wanted += [parameter_slope(quantity, name) for name in runtime for quantity in (VALUE, JACOBIAN, RATE)]
    return kernel_of(mechanism, wanted, parameters, runtime)
