"""`page`: a solution as one HTML file that needs nothing else, to be looked at in any browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import SolveError
from kinegraph.model.expression import TIME
from kinegraph.solve.results.solution import Solution
from kinegraph.view.page import facts
from kinegraph.view.page.scene import packed, scene_of
from kinegraph.view.page.template import page_of, page_path

Rows: TypeAlias = NDArray[np.int64]

#: A page shows no more moments than this, and no more numbers of motion: files stay below some ten megabytes.
MOST_FRAMES = 3000
MOST_NUMBERS = 1_500_000
_MOST_EVENTS = 500
_ENERGIES = {"kinetic": "kinetic", "potential": "potential", "energy": "total", "work": "work"}


def page(solution: Solution, path: str | Path) -> Path:
    """Write a page with the animation, the plots, the equations and the solver's report to an .html file."""
    path = page_path(path)
    path.write_text(page_text(solution), encoding="utf-8")
    return path


def page_text(solution: Solution) -> str:
    """The page as text."""
    subject = solution.subject
    if subject is None:
        raise SolveError("a solution read from a file does not know its mechanism: run simulate again for a page")
    rows = shown_rows(solution, len(subject.mechanism.bodies))
    states = {name: solution[name][rows] for name in (TIME, *solution.positions)}
    scene = scene_of(subject.mechanism, subject.parameters, states)
    data = scene.data() | _curves(solution, rows)
    return page_of(scene, data, facts.headline(subject.mechanism, solution), facts.report(solution))


def shown_rows(solution: Solution, bodies: int) -> Rows:
    """Every n-th row, so that the page stays small; rows with values that are not numbers cannot be drawn."""
    rows = np.flatnonzero(np.all(np.isfinite(solution.array()), axis=1))
    if not len(rows):
        raise SolveError("the solution has no row of numbers: there is nothing to show")
    most = max(2, min(MOST_FRAMES, MOST_NUMBERS // max(7 * bodies, 1)))
    return rows[:: -(-len(rows) // most)]


def _curves(solution: Solution, rows: Rows) -> dict[str, Any]:
    """What the plots show."""

    def column(name: str, shown: str) -> dict[str, str]:
        return {"name": shown, "values": packed(solution[name][rows].astype("<f4"))}

    return {
        "positions": [column(name, name) for name in solution.positions],
        "velocities": [column(name, name) for name in solution.velocities],
        "energies": [column(name, shown) for name, shown in _ENERGIES.items() if name in solution],
        "events": [happening.time for happening in solution.happenings[:_MOST_EVENTS]],
    }
