"""Runs of platforms with cranks: the legs in closed form until a crank is stretched, then as loop constraints.

A platform pose determines crank and rod except for the side of the joint between them. The closed form covers one
side. When crank and rod align, the mechanism moves on to the other side, which the pose does not determine. A run
therefore ends shortly before, and continues with the legs as loops.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from kinegraph.derive.platforms.cranks import Crank
from kinegraph.derive.tree.algebra import cross, dot, plus, times
from kinegraph.graph.build import Scalar
from kinegraph.graph.node import Output
from kinegraph.model.platforms.recognition import legs_of
from kinegraph.simulate.drift import closed_runs
from kinegraph.simulate.equations import Equations, VelocityForm
from kinegraph.simulate.events import Endings
from kinegraph.simulate.run_task import Task
from kinegraph.simulate.sweep import SweepTask
from kinegraph.solve.ensemble import SweepRun
from kinegraph.solve.execution import Decision, Native
from kinegraph.solve.recording import Ending, Grid, Run, Statistics, Status

_STRETCHED = Fraction(3, 100)  # sine of the angle below which the closed form of a crank loses digits


def crank_endings(equations: Equations) -> Endings | None:
    """The conditions that end the closed form of a platform's legs: a crank nearly stretched, or on its other side."""
    if not _has_closed_cranks(equations):
        return None
    assert isinstance(equations, VelocityForm) and equations.closed_platform is not None
    state = equations.closed_platform.dynamics
    names, sines = [], []
    for leg, found, base in zip(state.legs, state.platform.legs, state.joints, strict=True):
        if isinstance(leg, Crank):
            names.append(f"the crank and the rod of {found.name} are in line")
            sines.append(_sine(leg, state.names[found.drive], state.on_base_axes(base)) - _STRETCHED)
    builder = sines[0].builder
    graph = builder.graph([Output("sines", (len(sines),), tuple(one.index for one in sines))])
    return Endings(tuple(names), equations.carry(graph), (True,) * len(names), holds=True)


def _has_closed_cranks(equations: Equations) -> bool:
    if type(equations) is not VelocityForm or not equations.closed_legs:
        return False
    return any(leg.type.has_crank for leg in legs_of(equations.mechanism)) and equations.closed_platform is not None


def _sine(leg: Crank, angle: Scalar, base: tuple[tuple[Scalar, Scalar, Scalar], ...]) -> Scalar:
    """The sine of the angle from the crank, as its coordinate says, to the direction across its axis to the
    platform joint."""
    x, y, z = base
    ahead = plus(times(angle.cos(), x), times(angle.sin(), y))
    return -dot(leg.joint.place, cross(ahead, z)) * leg.wide.apply("sqrt").reciprocal()


def ended_at_stretched_crank(run: Run) -> Run:
    """The run with an ending that names the leg, if controllers prevent it from continuing with other equations."""
    detail = f"{run.ending.detail}, where the closed form of the legs ends; only a run without controllers can continue"
    return replace(run, ending=Ending(Status.SINGULAR, run.ending.time, detail=detail))


def continued_with_loops(task: Task, run: Run, native: Native) -> tuple[Task, Run, Decision]:
    """The rest of a run past the end of a closed form, computed with general loops; the task that did it, and the
    joined run."""
    assert isinstance(task.equations, VelocityForm) and task.endings is not None
    time, end = run.ending.time, task.span[1]
    saved = task.save.times if isinstance(task.save, Grid) else None
    left = np.array([end]) if saved is None else saved[saved > time]
    save = task.save if saved is None else Grid(left if len(left) else np.array([end]))
    loops = task.equations.with_legs_as_loops()
    rest = replace(task, equations=loops, state=run.states[-1], span=(time, end), save=save, endings=None)
    after, decision = rest.run(native)
    before = slice(0, len(run.times) - 1) if saved is None or time not in saved else slice(None)
    following = slice(None) if len(left) else slice(0, 0)
    cost = {name: value + getattr(after.statistics, name) for name, value in vars(run.statistics).items()}
    joined = replace(
        after,
        times=np.concatenate([run.times[before], after.times[following]]),
        states=np.concatenate([run.states[before], after.states[following]]),
        events=(*(one for one in run.events if one.name not in task.endings.names), *after.events),
        statistics=Statistics(**cost),
    )
    return rest, joined, decision


def repeated_with_loops(task: SweepTask, runs: SweepRun, native: Native) -> tuple[Equations, SweepRun]:
    """The runs of a sweep; those that a closed form could not finish are repeated with general loops.

    Returned with the equations of the runs that failed.
    """
    failed = [k for k, status in enumerate(runs.statuses) if not status.good and status is not Status.INTERRUPTED]
    if not failed or not _has_closed_cranks(task.equations):
        return task.equations, runs
    assert isinstance(task.equations, VelocityForm)
    loops = task.equations.with_legs_as_loops()
    part = replace(task, equations=loops, states=task.states[failed], parameters=task.parameters[failed])
    found, _ = part.run(native)
    states, finals, steps = runs.states.copy(), runs.finals.copy(), runs.steps.copy()
    endings, events = list(runs.endings), list(runs.events)
    states[failed] = closed_runs(loops, found.times, found.states, part.parameters)
    finals[failed], steps[failed] = found.finals, found.steps
    for place, row in enumerate(failed):
        endings[row] = found.endings[place]
        if events:
            events[row] = found.events[place]
    seconds, loading = runs.seconds + found.seconds, runs.loading + found.loading
    return loops, SweepRun(runs.times, states, tuple(endings), finals, steps, seconds, loading, tuple(events))
