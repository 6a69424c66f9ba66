"""Tasks of mechanics from the page: each result as tables, with what the page needs to show it on the mechanism."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping

import numpy as np

from kinegraph.arrays import Floats
from kinegraph.assembly.assemble import Assembler
from kinegraph.compiler.request import bound_parameters
from kinegraph.errors import KinegraphError, TaskError
from kinegraph.model.constraints import Loop
from kinegraph.model.expressions import Expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.studio.model_text import read_model
from kinegraph.studio.requests import Arguments, Channel
from kinegraph.studio.runs import command, numbers, python
from kinegraph.studio.scene import settings
from kinegraph.tasks.campbell import campbell
from kinegraph.tasks.equilibria import Equilibria, Equilibrium, equilibria
from kinegraph.tasks.linearize import linearize
from kinegraph.tasks.modes import modes
from kinegraph.tasks.reactions import reactions
from kinegraph.tasks.response import response
from kinegraph.view.plot import units_of
from kinegraph.view.task_figures import transfer_unit

_MOST_JOINTS = 60
_MOST_BRANCHES = 24
_SPEEDS = 60


def _context(arguments: Arguments) -> tuple[Mechanism, dict[str, Expression], dict[str, float]]:
    mechanism = read_model(arguments)
    return mechanism, settings(mechanism, arguments), numbers(arguments.get("state"))


def _same(arguments: Arguments, name: str, state: Mapping[str, float]) -> dict[str, str]:
    function = name.replace("-", "_")
    return {
        "command": command(arguments, f"{name} {{model}}", state),
        "python": python(arguments, f"print(kg.{function}(model{{state}}{{parameters}}))", state),
    }


def branches(arguments: Arguments, channel: Channel) -> dict[str, object]:
    """The assemblies with the same values of the coordinates that determine the others."""
    mechanism, given, state = _context(arguments)
    assembler = Assembler(mechanism, given)
    free = {name.removesuffix("'") for name in assembler.independent()} & set(mechanism.layout.positions)
    held = {name: value for name, value in state.items() if name in free}
    channel.progress(0.1, "looking for other assemblies")
    found = assembler.modes(held, starts=120)
    return {
        "held": sorted(held),
        "branches": [dict(zip(mechanism.layout.positions, one.q.tolist(), strict=True)) for one in found],
        "more": max(len(found) - _MOST_BRANCHES, 0),
    }


def find_equilibria(arguments: Arguments, channel: Channel) -> dict[str, object]:
    """Equilibria, stable ones first; a click shows one."""
    mechanism, given, _ = _context(arguments)
    channel.progress(0.1, "searching from many starts")
    found = equilibria(mechanism, parameters=given)
    rows = [
        {"state": _place_of(found, one), "stable": one.stable, "note": one.note}
        for one in (*found, *(one.example for one in found.continua))
    ]
    return {
        "equilibria": rows, "starts": found.starts, "singular": [str(one) for one in found.singular],
        "continua": len(found.continua), **_same(arguments, "equilibria", {}),
    }  # fmt: skip


def _place_of(found: Equilibria, one: Equilibrium) -> dict[str, float]:
    """The positions and first-order states of an equilibrium by name."""
    return dict(zip((*found.coordinates, *found.states), (*one.q.tolist(), *one.z.tolist()), strict=True))


def find_modes(arguments: Arguments, channel: Channel) -> dict[str, object]:
    """Modes about the equilibrium nearest to the state of the page, with shapes to animate."""
    mechanism, given, state = _context(arguments)
    channel.progress(0.1, "finding the equilibrium")
    at = _resting(mechanism, given, state)
    channel.progress(0.6, "computing modes")
    found = modes(mechanism, at, parameters=given)
    rows = [
        {
            "frequency": mode.frequency / (2 * math.pi), "damping": mode.damping,
            "eigenvalue": [complex(mode.eigenvalue).real, complex(mode.eigenvalue).imag],
            "shape": {
                name: [complex(entry).real, complex(entry).imag]
                for name, entry in zip(found.displacements, mode.shape, strict=True)
            },
        }
        for mode in found.modes
    ]  # fmt: skip
    return {"modes": rows, "stable": found.stable, "state": at, **_same(arguments, "modes", at)}


def _resting(mechanism: Mechanism, given: Mapping[str, Expression], state: Mapping[str, float]) -> dict[str, float]:
    """The state of the page if it is at rest there, else the equilibrium nearest to it."""
    positions = {name: state[name] for name in mechanism.layout.positions if name in state}
    try:
        linearize(mechanism, positions, parameters=given)
        return positions
    except KinegraphError:
        found = equilibria(mechanism, parameters=given)
    places = [_place_of(found, one) for one in found]
    if not places:
        raise TaskError("no equilibrium was found from 400 starts\n  move the mechanism to one, or change parameters")
    return min(places, key=lambda one: _distance(one, positions))


def _distance(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    return sum((value - other.get(name, value)) ** 2 for name, value in one.items())


def linear_system(arguments: Arguments, channel: Channel) -> dict[str, object]:
    """A and B of the linear system about the equilibrium nearest to the state of the page."""
    mechanism, given, state = _context(arguments)
    at = _resting(mechanism, given, state)
    found = linearize(mechanism, at, parameters=given)
    values = [[float(value.real), float(value.imag)] for value in np.asarray(found.eigenvalues, complex)]
    return {
        "states": list(found.states), "inputs": list(found.inputs), "A": np.asarray(found.A).tolist(),
        "B": np.asarray(found.B).tolist(), "eigenvalues": values, "state": at, **_same(arguments, "linearize", at),
    }  # fmt: skip


def joint_reactions(arguments: Arguments, channel: Channel) -> dict[str, object]:
    """Force and moment in each joint at the state of the page, to be drawn as arrows."""
    mechanism, given, state = _context(arguments)
    names = [loop.name for loop in mechanism.loops if isinstance(loop, Loop)]
    names += [body.name for body in mechanism.bodies]
    rows: list[dict[str, object]] = []
    for k, name in enumerate(names[:_MOST_JOINTS]):
        channel.progress(k / len(names), f"joint of {name}")
        try:
            found = reactions(mechanism, name, state, parameters=given)
        except TaskError as error:
            rows.append({"joint": name, "why": str(error)})
            continue
        force, moment = _rounded(found.force, found.moment)
        rows.append(
            {
                "joint": name, "force": force.tolist(), "moment": moment.tolist(), "about": found.about.tolist(),
                "determinate": all(found.determinate), "words": str(found),
            }
        )  # fmt: skip
    return {"reactions": rows, **_same(arguments, "reactions", state)}


def _rounded(force: Floats, moment: Floats) -> tuple[Floats, Floats]:
    """Both, with zeros for what is rounding beside the largest component."""
    largest = max(float(np.nanmax(np.abs([*force, *moment]))) if np.isfinite([*force, *moment]).any() else 0.0, 1e-300)
    cleaned = [np.where(np.abs(one) < 1e-12 * largest, 0.0, one) for one in (force, moment)]
    return cleaned[0], cleaned[1]


def frequency_response(arguments: Arguments, channel: Channel) -> dict[str, object]:
    """Amplitudes of the coordinates over the frequency of one force, in Hz."""
    mechanism, given, state = _context(arguments)
    at = _resting(mechanism, given, state)
    force = str(arguments.get("input") or mechanism.layout.forces[0])
    found = response(mechanism, at, inputs=[force], parameters=given)
    columns = [k for k, name in enumerate(found.outputs) if name in mechanism.layout.positions]
    known = units_of(mechanism, bound_parameters(mechanism, True, given))
    amplitude = np.abs(np.asarray(found.amplitude))[:, columns, 0]
    return {
        "frequencies": (np.asarray(found.frequencies) / (2 * math.pi)).tolist(), "input": force,
        "inputs": list(mechanism.layout.forces), "outputs": [found.outputs[k] for k in columns],
        "units": [transfer_unit(found.outputs[k], force, known) for k in columns],
        "amplitude": amplitude.T.tolist(), "state": at, **_same(arguments, "response", at),
    }  # fmt: skip


def campbell_diagram(arguments: Arguments, channel: Channel) -> dict[str, object]:
    """Frequencies of a rotor over its speed; by default over the fastest rate of the page, to twice its value."""
    mechanism, given, state = _context(arguments)
    rates = mechanism.layout.velocities
    over = str(arguments.get("over") or max(reversed(rates), key=lambda name: abs(state.get(name, 0.0))))
    speed = abs(state.get(over, 0.0))
    low, high = (float(str(arguments.get(name) or usual)) for name, usual in (("low", 0), ("high", 2 * speed or 1000)))
    wanted = {"choices": [*rates, *(one.name for one in mechanism.parameters)], "over": over, "low": low, "high": high}
    positions = {name: state[name] for name in mechanism.layout.positions if name in state}
    channel.progress(0.1, "computing frequencies over the speed")
    try:
        found = campbell(mechanism, over, low, high, positions, times=_SPEEDS, parameters=given)
    except TaskError as error:
        return {**wanted, "why": str(error)}
    same = f"campbell {{model}} --over {shlex.quote(f'{over}={low:g}:{high:g}')}"
    code = f"print(kg.campbell(model, {over!r}, {low:g}, {high:g}{{state}}{{parameters}}))"
    return {
        **found.to_dict(), **wanted, "command": command(arguments, same, positions),
        "python": python(arguments, code, positions),
    }  # fmt: skip
