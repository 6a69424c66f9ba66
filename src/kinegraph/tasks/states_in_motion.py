"""First-order states along a prescribed motion: integrated from their initial values, or unknown themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy.integrate import solve_ivp

from kinegraph.compiler.compile import derive
from kinegraph.compiler.request import bound_parameters
from kinegraph.derive.dynamics.state_rate import STATE_RATES
from kinegraph.errors import TaskError
from kinegraph.graph.node import Kind
from kinegraph.model.constraints import Unknown
from kinegraph.model.evaluate import initial_states, number, parameter_values
from kinegraph.model.expressions import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.simulate.formulas import formula
from kinegraph.tasks.operating_point import Floats, called, called_rows, kernel_of, slope
from kinegraph.tasks.prescribed_motion import SampledMotion, quintic

#: The tolerance of the integration, relative to the largest value of each state.
_RTOL, _ATOL = 1e-10, 1e-13
#: Points between two times, and the largest error of the motion between these, relative to its size.
_PARTS, _BETWEEN = (4, 16, 64), 1e-10

#: The motion at any times.
MotionAt = Callable[[Floats], SampledMotion]


def with_unknown_states(mechanism: Mechanism, names: Sequence[str]) -> Mechanism:
    """The mechanism whose named first-order states are unknowns: their rates do not count."""
    names = (names,) if isinstance(names, str) else names
    chosen = [one.name for one in mechanism.states if one.name in names]
    return replace(
        mechanism,
        states=tuple(one for one in mechanism.states if one.name not in chosen),
        unknowns=(*mechanism.unknowns, *map(Unknown, chosen)),
    )


def given_states(
    mechanism: Mechanism, state: Mapping[str, Scalar] | None, parameters: Mapping[str, Scalar] | None
) -> Floats:
    """The initial values of the first-order states, with those given by name; TaskError for other names."""
    values, names = parameter_values(mechanism, parameters), mechanism.layout.states
    for name in state or {}:
        if name not in names:
            raise TaskError(
                f"state: {name!r} is not a first-order state; the motion gives everything else\n"
                f"  {did_you_mean(name, names)}"
            )
    found = dict(zip(names, initial_states(mechanism, values), strict=True))
    found |= {name: number(formula(value, name), values) for name, value in (state or {}).items()}
    return np.array([float(found[name]) for name in names])


def states_along(
    mechanism: Mechanism,
    parameters: Mapping[str, Scalar] | None,
    start: Floats,
    times: Floats,
    motion: SampledMotion | MotionAt,
) -> Floats:
    """The first-order states at increasing times, from their values at the first; rows are times.

    motion: at any times, or sampled at all times. TaskError if the rate of a state contains an unknown force, or grows
    without bound.
    """
    if not mechanism.states:
        return np.zeros((len(times), 0))
    _require_known(mechanism, parameters)
    if len(times) == 1:
        return start[None]
    nodes = motion if isinstance(motion, SampledMotion) else _dense(motion, times)
    kernel = kernel_of(mechanism, [STATE_RATES, slope(STATE_RATES, "z")], parameters)

    def found(t: float, z: Floats) -> dict[str, Floats]:
        q, v = quintic(nodes.times, np.array([t]), nodes.q, nodes.v, nodes.a)
        none = np.zeros(len(mechanism.layout.inputs))
        return called(kernel, {"q": q[0], "v": v[0], "z": z, "t": t, "u": none, "tau": np.zeros_like(v[0])})

    def rate(t: float, z: Floats) -> Floats:
        rates = found(t, z)[STATE_RATES]
        if not np.isfinite(rates).all():
            raise TaskError(f"{mechanism.name}: the rates of its first-order states are not finite at t = {t:.6g}")
        return rates

    largest = np.maximum(np.abs(start), 1.0)
    run = solve_ivp(
        rate, (float(times[0]), float(times[-1])), start, "LSODA", t_eval=times, rtol=_RTOL, atol=_ATOL * largest,
        jac=lambda t, z: found(t, z)[slope(STATE_RATES, "z")], max_step=float(np.max(np.diff(times))),
    )  # fmt: skip
    if not run.success:
        raise TaskError(
            f"{mechanism.name}: its first-order states cannot be integrated along this motion: {run.message}"
        )
    return np.asarray(run.y.T)


def state_rates_at(
    mechanism: Mechanism, parameters: Mapping[str, Scalar] | None, values: Mapping[str, Floats | float]
) -> Floats:
    """The rates of the first-order states for rows of arguments."""
    if not mechanism.states:
        return np.zeros((1, 0))
    return called_rows(kernel_of(mechanism, STATE_RATES, parameters), values)[STATE_RATES]


def _dense(motion: MotionAt, times: Floats) -> SampledMotion:
    """The motion so densely that interpolation is exact to rounding."""
    for parts in _PARTS:
        steps = [np.linspace(a, b, parts, endpoint=False) for a, b in pairwise(times)]
        nodes = np.concatenate([*steps, times[-1:]])
        rows = motion(nodes)
        middle = (nodes[:-1] + nodes[1:]) / 2
        exact = motion(middle)
        _, v = quintic(nodes, middle, rows.q, rows.v, rows.a)
        size = np.maximum(np.max(np.abs(rows.v), axis=0), 1e-300)
        if np.all(np.max(np.abs(v - exact.v), axis=0) <= _BETWEEN * size):
            return rows
    return rows


def _require_known(mechanism: Mechanism, parameters: Mapping[str, Scalar] | None) -> None:
    """TaskError if the rates of states contain unknown inputs: the motion does not give them."""
    graph = derive(mechanism, STATE_RATES, parameters=bound_parameters(mechanism, True, parameters))
    for symbol in graph.symbols(Kind.INPUT):
        if symbol.name in mechanism.layout.inputs:
            states = ", ".join(one.name for one in mechanism.states)
            raise TaskError(
                f"{mechanism.name}: the rates of the states {states} contain the unknown {symbol.name}, so they cannot "
                f"be integrated along the motion\n"
                f"  name the state that acts as a force as unknown (unknown=[{mechanism.states[0].name!r}]), "
                f"or give {symbol.name} in inputs"
            )
