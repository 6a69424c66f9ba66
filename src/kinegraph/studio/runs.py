"""Whole runs for the page: with error control, events and contacts; all their columns can be plotted."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

import numpy as np

from kinegraph.errors import SolveError
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.run import simulate
from kinegraph.solve.solution import Solution
from kinegraph.studio.model_text import read_model
from kinegraph.studio.requests import Arguments, Channel
from kinegraph.studio.scene import settings
from kinegraph.view.page.frames import Frames, units
from kinegraph.view.plot import energies

#: Rows sent to the page.
_MOST_ROWS = 2000
_UNITS = {"px": "kg m/s", "py": "kg m/s", "pz": "kg m/s", "Lx": "kg m²/s", "Ly": "kg m²/s", "Lz": "kg m²/s"}
_ENERGY = ("kinetic", "potential", "energy", "dissipated", "supplied")


def run(arguments: Arguments, channel: Channel) -> dict[str, object]:
    """Simulate from the state of the page for some seconds."""
    mechanism = read_model(arguments)
    duration = float(str(arguments.get("duration") or 5))
    if not 0 < duration < 1e6:
        raise SolveError(f"the duration is {duration:g} s: give a time above zero")
    state = numbers(arguments.get("state"))
    given = settings(mechanism, arguments)
    channel.progress(0.05, "simulating")
    solution = simulate(
        mechanism, duration, state=state, parameters=given, times=min(_MOST_ROWS, max(200, int(60 * duration))),
        method=str(arguments.get("method") or "dop853"), progress=False,
    )  # fmt: skip
    return columns_of(mechanism, solution, Frames(mechanism, solution.simulated.parameters)) | {  # type: ignore[union-attr]
        "duration": duration,
        "command": command(arguments, f"simulate {{model}} --duration {duration:g}", state),
        "python": python(arguments, f"run = kg.simulate(model, {duration:g}{{state}}{{parameters}})", state),
    }


def columns_of(mechanism: Mechanism, solution: Solution, frames: Frames) -> dict[str, object]:
    """The columns of a run with their units, its events, its energy account and how it ended."""
    known = units(mechanism, frames)
    account = energies(solution)
    columns = [
        {"name": name, "unit": unit_of(name, known), "values": np.asarray(column, float).tolist()}
        for name, column in solution.columns.items()
        if name != "t" and np.asarray(column).dtype.kind in "fiu"
    ]
    return {
        "t": np.asarray(solution.t, float).tolist(),
        "columns": columns,
        "positions": list(solution.positions),
        "energies": list(account.curves),
        "events": [{"name": one.name, "time": one.time} for one in solution.events[:500]],
        "ended": str(solution.ending),
        "checks": [{"name": one.name, "error": one.error, "passed": one.passed} for one in solution.checks],
        "steps": solution.statistics.steps,
        "method": solution.method,
    }


def unit_of(name: str, known: Mapping[str, str]) -> str:
    """The unit of a column; empty where it is not known."""
    if name in known:
        return known[name]
    if name in _ENERGY:
        return "J"
    if name in _UNITS:
        return _UNITS[name]
    stem = name.rstrip("'")
    if stem[-2:] in (".x", ".y", ".z"):
        return ("m", "m/s", "m/s²")[min(len(name) - len(stem), 2)]
    return ""


def numbers(given: object) -> dict[str, float]:
    """A state as the page sends it."""
    return {str(name): float(value) for name, value in given.items()} if isinstance(given, Mapping) else {}


# The same on the command line and in Python.


def command(arguments: Arguments, pattern: str, state: Mapping[str, float]) -> str:
    """A command that does the same as the page."""
    words = [f"kinegraph {pattern.format(model=shlex.quote(str(arguments.get('file') or 'model.kg')))}"]
    if state:
        words.append(f"--state {shlex.quote(','.join(f'{name}={value:.12g}' for name, value in state.items()))}")
    words += [f"--set {shlex.quote(f'{name}={value}')}" for name, value in _changed(arguments).items()]
    return " ".join(words)


def python(arguments: Arguments, pattern: str, state: Mapping[str, float]) -> str:
    """Python that does the same as the page."""
    changed = _changed(arguments)
    state_words = f", state={dict(state)!r}" if state else ""
    parameter_words = f", parameters={changed!r}" if changed else ""
    load = f"model = kg.load({str(arguments.get('file') or 'model.kg')!r})"
    return f"import kinegraph as kg\n\n{load}\n{pattern.format(state=state_words, parameters=parameter_words)}\n"


def _changed(arguments: Arguments) -> dict[str, object]:
    given = arguments.get("parameters")
    return {str(name): value for name, value in given.items()} if isinstance(given, Mapping) else {}
