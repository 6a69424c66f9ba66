"""How long steps may be beside surfaces that move: nothing in the motion of a body that flies tells of them.

A gap z - a sin(w t) is looked at at four points of every step, and a ball in free fall allows steps of any length. So
steps are limited by the pace of the law: of a sine, the third rate is w^2 times the first.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf, pi

import numpy as np

from kinegraph.simulate.contacts.forms import OpenForm
from kinegraph.simulate.equations import row_values
from kinegraph.solve.methods.step_control import Adaptive, Control
from kinegraph.solve.problem.problem import CauchyProblem, Floats

_TIMES = 512  # of the run at which laws are looked at
_PART = 0.5  # of half a swing is the longest step


def paced(control: Control, form: OpenForm, problem: CauchyProblem) -> Control:
    """The controller with steps that do not pass over what a moving surface does."""
    if not isinstance(control, Adaptive):
        return control
    longest = _longest(form, problem)
    return control if longest >= control.longest else replace(control, max_step=longest)


def _longest(form: OpenForm, problem: CauchyProblem) -> float:
    graph = form.led_gaps
    if graph is None:
        return inf
    times = np.random.default_rng(4).uniform(problem.start, problem.end, _TIMES)
    rest = np.concatenate([np.zeros(problem.rhs.inputs), problem.parameters])
    rows = np.hstack([np.tile(problem.state, (_TIMES, 1)), times[:, None], np.tile(rest, (_TIMES, 1))])
    found = row_values(graph, form.symbols, rows)
    squares = [_square_of_pace(first, third) for first, third in zip(found["first"].T, found["third"].T, strict=True)]
    fastest = max(squares, default=0.0)
    return _PART * pi / float(np.sqrt(fastest)) if fastest > 0.0 else inf


def _square_of_pace(first: Floats, third: Floats) -> float:
    slope, bend = (float(np.max(np.abs(one), initial=0.0)) for one in (first, third))
    return bend / slope if slope > 0.0 and np.isfinite(bend) else 0.0
