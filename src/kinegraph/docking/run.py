"""`dock`: a whole docking, phase by phase; each phase is a run in one mode, each change of mode an event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.compiler.load import MechanismSource, mechanism_of
from kinegraph.docking.description import Docking, docking_of
from kinegraph.docking.latches.springs import can_hold
from kinegraph.docking.modes import Mode, ModeEquations
from kinegraph.docking.result import DockingRun
from kinegraph.docking.sequence import DockingSequence, Integration
from kinegraph.errors import SolveError
from kinegraph.model.evaluate import parameter_values
from kinegraph.model.expression import Scalar
from kinegraph.simulate.arguments import check_inputs, initial_values
from kinegraph.simulate.inputs import Input, controllers_of, read_inputs, with_given_inputs
from kinegraph.simulate.start import starting_state
from kinegraph.solve.methods.by_name import Method, solver_of
from kinegraph.solve.methods.step_control import Adaptive
from kinegraph.solve.problem.execution import Native


def dock(
    source: MechanismSource | Docking,
    duration: float = 30.0,
    *,
    initial: Mapping[str, Scalar] | ArrayLike | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    inputs: Mapping[str, Input] | None = None,
    interval: float = 0.01,
    rtol: float = 1e-9,
    method: str | Method = Method.DOP853,
    native: Native = "auto",
    stop_at_capture: bool = False,
) -> DockingRun:
    """A docking: contact for at most `duration` seconds, then, once captured, damping, drawing in, the hard joint.

    source: a model with the bodies Chaser, Ring and Target, or a `Docking` that says more (see `docking_of`).
    initial, parameters, inputs: as for `simulate`. Controllers are formulas, of the model or in `inputs`, or Python
    functions there (`Feedback`), which see the state of all bodies in every phase.
    interval: of saved states [s]; peaks are looked for between them, too. stop_at_capture: do not go on after it.
    """
    docking = source if isinstance(source, Docking) else docking_of(mechanism_of(source))
    if not (duration > 0 and interval > 0):
        raise SolveError(f"duration is {duration} and interval {interval}: give seconds above zero")
    check_inputs(inputs or {}, feedback=True)
    forces, signals = read_inputs(docking.mechanism, inputs or {})
    docking = replace(docking, mechanism=with_given_inputs(docking.mechanism, forces))
    controllers, samples = controllers_of(docking.mechanism, inputs or {}, forces, signals)
    values = parameters or {}
    docking = docking if can_hold(docking) else replace(docking, at_once=True)
    modes = {mode: ModeEquations(docking, mode, values, forces, samples if controllers else signals) for mode in Mode}
    numbers = parameter_values(docking.mechanism, values)
    q, v = starting_state(docking.mechanism, initial_values(docking.mechanism, initial), numbers)
    state = modes[Mode.FREE].equations.pack(q, v, np.zeros(0))
    how = Integration(solver_of(method), Adaptive(rtol), native, interval, signals, controllers, samples)
    return DockingSequence(docking, modes, how, 0.0, state).run(duration, stop_at_capture)
