"""Modes as a page: a table to choose from, the chosen mode oscillating about its state, and the Campbell diagram."""

from __future__ import annotations

import cmath
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.compiler.request import bound_parameters
from kinegraph.derive.constraints.redundancy import moved_positions
from kinegraph.errors import AssemblyError, TaskError
from kinegraph.files import written_to
from kinegraph.model.constraints import is_constrained
from kinegraph.model.expressions import TIME, Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.solve.problem import Floats
from kinegraph.solve.recording import Ending, Status
from kinegraph.solve.solution import SimulatedModel, Solution
from kinegraph.tasks.campbell import campbell
from kinegraph.tasks.modes import ROUNDING, Mode, Modes
from kinegraph.tasks.tangent_space import tangent
from kinegraph.view.page.frames import States
from kinegraph.view.page.scene import scene_of
from kinegraph.view.page.solution_page import drawn_rows, page_of, page_path
from kinegraph.view.page.tables import size

#: Seconds and cycles shown per mode, and its number of frames.
_SECONDS, _SWINGS, _PICTURES = 4.0, 2.0, 120
#: Intervals of speed of a Campbell diagram.
_SPEEDS = 40


def modes_page(
    model: MechanismSource,
    modes: Modes,
    path: str | Path,
    *,
    amplitude: float = 0.3,
    parameters: Mapping[str, Scalar] | None = None,
) -> Path:
    """Write the page; amplitude: the largest displacement of a coordinate (radians, meters)."""
    path = page_path(path)
    text = modes_text(mechanism_of(model), modes, amplitude=amplitude, parameters=parameters)
    with written_to(path):
        path.write_text(text, encoding="utf-8")
    return path


def modes_text(
    mechanism: Mechanism,
    modes: Modes,
    *,
    amplitude: float = 0.3,
    parameters: Mapping[str, Scalar] | None = None,
    hosted: bool = False,
) -> str:
    """The page as text; hosted: for a frame in a notebook."""
    if not modes.modes:
        raise TaskError(f"{mechanism.name} has no modes: nothing moves")
    if modes.floquet is not None:
        raise TaskError(
            f"{mechanism.name}: its mode shapes change within a period, but a page shows only one shape per mode"
        )
    if not (0 < amplitude < float("inf")):
        raise TaskError(f"amplitude is {amplitude!r}: give a positive number of radians or meters")
    run = _swinging(mechanism, modes, amplitude, parameters)
    assert run.simulated is not None
    rows = drawn_rows(run, len(mechanism.bodies))
    states = States({name: column[rows] for name, column in run.columns.items()})
    scene = scene_of(mechanism, run.simulated.parameters, states)
    headline = f"{size(mechanism)} · modes in turn, all at the same pace"
    data = scene.data() | {"modes": _data(mechanism, modes, parameters)}
    return page_of(scene, data, headline, hosted=hosted)


def _data(mechanism: Mechanism, modes: Modes, parameters: Mapping[str, Scalar] | None) -> dict[str, object]:
    """The table of the modes with the seconds of each, the shapes as amplitudes and phases, and the diagram."""
    rows = [
        {
            "oscillates": mode.oscillates,
            "span": [k * _SECONDS, (k + 1) * _SECONDS - _SECONDS / _PICTURES],
            "cells": [
                f"{mode.frequency / (2 * math.pi):.6g}", f"{mode.frequency:.6g}", f"{mode.damping:.4g}",
                _complex(mode.eigenvalue),
            ],
            "shape": [[abs(entry), math.degrees(cmath.phase(_rounded(entry)))] for entry in mode.shape.tolist()],
        }
        for k, mode in enumerate(modes.modes)
    ]  # fmt: skip
    answer = {True: "stable", False: "unstable", None: "stability undecided: an eigenvalue is zero"}[modes.stable]
    return {
        "modes": rows, "displacements": list(modes.displacements), "words": f"{answer}; click a mode to see it",
        "campbell": _campbell(mechanism, modes, parameters),
    }  # fmt: skip


def _rounded(entry: complex) -> complex:
    return complex(*(0.0 if abs(part) < ROUNDING else part for part in (entry.real, entry.imag)))


def _complex(value: complex) -> str:
    text = f"{value.real:.5g}" + (f" ± {abs(value.imag):.5g} i" if value.imag else "")
    return text.replace("-", "−")


def _campbell(mechanism: Mechanism, modes: Modes, parameters: Mapping[str, Scalar] | None) -> dict[str, object] | None:
    """The Campbell diagram to twice the speed, if the state is a steady rotation by one velocity."""
    point, layout = modes.linearization.point, mechanism.layout
    spinning = [(name, float(value)) for name, value in zip(layout.velocities, point.v, strict=True) if value]
    if len(spinning) != 1:
        return None
    ((name, speed),) = spinning
    state = dict(zip(layout.positions, point.q.tolist(), strict=True))
    low, high = sorted((0.02 * speed, 2 * speed))
    try:
        found = campbell(mechanism, name, low, high, state, times=_SPEEDS, parameters=parameters)
    except TaskError:  # the rotation is not that of a balanced rotor
        return None
    return found.to_dict() | {"at": speed}


def _swinging(
    mechanism: Mechanism, modes: Modes, amplitude: float, parameters: Mapping[str, Scalar] | None
) -> Solution:
    """The modes one after the other as a run: frames over time, and velocities of the frames."""
    parts = [_pictures(mechanism, modes, mode, amplitude, parameters) for mode in modes.modes]
    positions = np.vstack(parts)
    times = np.arange(len(positions), dtype=np.float64) * (_SECONDS / _PICTURES)
    layout = mechanism.layout
    columns: dict[str, Floats] = {TIME: times, **dict(zip(layout.positions, positions.T, strict=True))}
    columns |= dict(zip(layout.velocities, _velocities(mechanism, parts).T, strict=True))
    simulated = SimulatedModel(mechanism, bound_parameters(mechanism, True, parameters))
    return Solution(
        mechanism.name, "modes in turn", columns, layout.positions, layout.velocities,
        Ending(Status.FINISHED, float(times[-1])), simulated=simulated,
    )  # fmt: skip


def _velocities(mechanism: Mechanism, parts: list[Floats]) -> Floats:
    """Velocities at the pace of the frames; empty if positions are not single coordinates (quaternions)."""
    if mechanism.layout.quaternions:
        return np.zeros((_PICTURES * len(parts), len(mechanism.layout.velocities)))
    return np.vstack([np.gradient(part, _SECONDS / _PICTURES, axis=0) for part in parts])


def _pictures(
    mechanism: Mechanism, modes: Modes, mode: Mode, amplitude: float, parameters: Mapping[str, Scalar] | None
) -> Floats:
    point = modes.linearization.point
    space = tangent(mechanism, point, parameters)
    assembler = Assembler(mechanism, parameters) if is_constrained(mechanism) else None
    names = [mechanism.layout.velocities[k].removesuffix("'") for k in space.displaced]
    found = []
    for factor in _course(mode):
        displacement = space.positions @ (amplitude * factor * mode.shape).real
        q = moved_positions(mechanism, point.q, displacement)
        found.append(_closed(assembler, q, names))
    return np.array(found)


def _course(mode: Mode) -> np.ndarray:
    """exp(eigenvalue t) over two cycles; modes that do not oscillate decay, grow or drift within the time shown."""
    part = np.arange(_PICTURES) / _PICTURES
    if mode.oscillates:
        phase = 2 * np.pi * _SWINGS * part
        growth = mode.eigenvalue.real / abs(mode.eigenvalue.imag) * phase
        course = np.exp(np.clip(growth - max(0.0, float(growth[-1])), -50, 0) + 1j * phase)
    elif mode.eigenvalue.real:
        course = np.exp(-4 * (part if mode.eigenvalue.real < 0 else 1 - part))
    else:
        course = part
    return np.asarray(course, dtype=complex)


def _closed(assembler: Assembler | None, q: Floats, held: list[str]) -> Floats:
    """Positions that close loops; unchanged if loops cannot be closed that far from the state."""
    if assembler is None:
        return q
    try:
        return assembler.assembled(q, np.zeros(len(assembler.mechanism.layout.velocities)), held).q
    except AssemblyError:
        return q
