"""Modes as a page: every mode is shown in turn, at the same pace, oscillating about its state."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.compiler.request import bound_parameters
from kinegraph.derive.constraints.redundancy import moved_positions
from kinegraph.errors import AssemblyError, TaskError
from kinegraph.model.constraints import is_constrained
from kinegraph.model.expressions import TIME, Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.solve.problem import Floats
from kinegraph.solve.recording import Ending, Status
from kinegraph.solve.solution import SimulatedModel, Solution
from kinegraph.tasks.modes import Mode, Modes
from kinegraph.tasks.tangent_space import tangent
from kinegraph.view.page import page

#: Seconds and cycles shown per mode, and its number of frames.
_SECONDS, _SWINGS, _PICTURES = 4.0, 2.0, 120


def modes_page(
    model: MechanismSource,
    modes: Modes,
    path: str | Path,
    *,
    amplitude: float = 0.3,
    parameters: Mapping[str, Scalar] | None = None,
) -> Path:
    """Write the page; amplitude: the largest displacement of a coordinate (radians, meters)."""
    mechanism = mechanism_of(model)
    if not modes.modes:
        raise TaskError(f"{mechanism.name} has no modes: nothing moves")
    if modes.floquet is not None:
        raise TaskError(
            f"{mechanism.name}: its mode shapes change within a period, but a page shows only one shape per mode"
        )
    if not (0 < amplitude < float("inf")):
        raise TaskError(f"amplitude is {amplitude!r}: give a positive number of radians or meters")
    return page(_swinging(mechanism, modes, amplitude, parameters), path)


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
    names = ", ".join(f"{mode.frequency:.4g} rad/s" for mode in modes.modes)
    return Solution(
        mechanism.name, f"modes in turn, {_SECONDS:g} s each: {names}", columns, layout.positions, layout.velocities,
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
