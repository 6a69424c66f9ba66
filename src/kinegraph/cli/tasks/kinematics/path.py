"""`kinegraph ik --path`: the motion that leads points along a path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import typer

from kinegraph.cli.common import assignments, parameter_settings, print_json
from kinegraph.cli.model_source import ModelSource
from kinegraph.cli.tasks.common import show_table, state_settings
from kinegraph.errors import TaskError

if TYPE_CHECKING:
    from kinegraph.tasks.forces.motion_law import SampledMotion


def follow_path(
    source: ModelSource,
    path: list[str],
    duration: float,
    steps: int,
    spring: float | None,
    at: list[str] | None,
    plot: Path | None,
    settings: list[str] | None,
    json: bool,
) -> None:
    """Follow, and show positions, velocities and accelerations."""
    from kinegraph.tasks.kinematics.follow import follow
    from kinegraph.tasks.kinematics.spring_follow import follow_by_spring

    if not 0 < duration < float("inf"):
        raise TaskError(f"--for {duration:g}: give a time above zero")
    mechanism = source.mechanism()
    laws = assignments(path, "--path")
    times = np.linspace(0.0, duration, steps + 1)
    start, values = state_settings(mechanism, at), parameter_settings(mechanism, settings)
    facts: dict[str, object]
    if spring is None:
        exact = follow(mechanism, laws, times, start=start, parameters=values)
        names, motion, text = exact.coordinates, exact.motion, str(exact)
        facts = {"near_singular": exact.near_singular.tolist(), "crossings": [list(pair) for pair in exact.crossings]}
    else:
        pulled = follow_by_spring(mechanism, laws, times, stiffness=spring, start=start, parameters=values)
        names, motion, text, facts = pulled.coordinates, pulled.motion, str(pulled), {"deviation": pulled.deviation}
    if plot is not None:
        _draw(names, motion, plot, mechanism.name)
    if json:
        columns = {name: column.tolist() for name, column in _columns(names, motion).items()}
        print_json({"t": times.tolist(), **columns, **facts})
        return
    step = max(1, steps // 20)
    table = _columns(names, motion)
    rows = [(f"{t:.6g}", *(f"{column[k]:.8g}" for column in table.values())) for k, t in enumerate(times)][::step]
    show_table(("t", *table), rows)
    typer.echo(text)


def _columns(names: tuple[str, ...], motion: SampledMotion) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    for order, rows in enumerate((motion.q, motion.v, motion.a)):
        found |= {name + "'" * order: rows[:, k] for k, name in enumerate(names)}
    return found


def _draw(names: tuple[str, ...], motion: SampledMotion, path: Path, title: str) -> None:
    from kinegraph.view.curves import Panel, plot_curves

    units = ("m, rad", "m/s, rad/s", "m/s², rad/s²")
    panels = [
        Panel(unit, {name + "′" * order: rows[:, k] for k, name in enumerate(names)})
        for order, (unit, rows) in enumerate(zip(units, (motion.q, motion.v, motion.a), strict=True))
    ]
    plot_curves(path, motion.times, panels, title)
