"""`page`: a solution as one HTML file that needs nothing else, to be looked at in any browser."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import SolveError
from kinegraph.files import written_to
from kinegraph.solve.results.solution import Solution
from kinegraph.view.energies import Energies, energies
from kinegraph.view.page import facts
from kinegraph.view.page.geometry.packing import packed
from kinegraph.view.page.scene import Scene, scene_of
from kinegraph.view.page.states import States
from kinegraph.view.page.template import page_of, page_path

Rows: TypeAlias = NDArray[np.int64]

#: A page holds no more moments than this, and no more numbers of motion: files stay below some ten megabytes.
MOST_FRAMES = 3000
MOST_NUMBERS = 1_500_000
_MOST_EVENTS = 500


def page(solution: Solution, path: str | Path, source: str | None = None) -> Path:
    """Write a page with the animation, the plots, the equations and the solver's report to an .html file.

    source: what the command line calls the model, a file or a name of the library; the page then says which commands
    print what it has no room for.
    """
    path = page_path(path)
    text = page_text(solution, source)
    with written_to(path):
        path.write_text(text, encoding="utf-8")
    return path


def page_text(solution: Solution, source: str | None = None) -> str:
    """The page as text."""
    simulated = solution.simulated
    if simulated is None:
        raise SolveError("a solution read from a file does not know its mechanism: run simulate again for a page")
    rows = drawn_rows(solution, len(simulated.mechanism.bodies))
    states = States({name: column[rows] for name, column in solution.columns.items()}, simulated.inputs)
    scene = scene_of(simulated.mechanism, simulated.parameters, states)
    data = scene.data() | _curves(solution, scene, rows)
    headline = facts.headline(simulated.mechanism, solution)
    return page_of(scene, data, headline, source, facts.report(solution))


def drawn_rows(solution: Solution, bodies: int) -> Rows:
    """Every n-th row, so that the page stays small; rows with values that are not numbers cannot be drawn."""
    rows = np.flatnonzero(np.all(np.isfinite(solution.array()), axis=1))
    if not len(rows):
        raise SolveError("the solution has no row of numbers: there is nothing to draw")
    most = max(2, min(MOST_FRAMES, MOST_NUMBERS // max(7 * bodies, 1)))
    return rows[:: -(-len(rows) // most)]


def _curves(solution: Solution, scene: Scene, rows: Rows) -> dict[str, object]:
    """What the plots draw."""

    def columns(names: tuple[str, ...]) -> list[dict[str, str]]:
        return [
            {"name": name, "unit": scene.units[name], "values": packed(solution[name][rows].astype("<f4"))}
            for name in names
        ]

    return {
        "positions": columns(solution.positions),
        "velocities": columns(solution.velocities),
        "energies": _energies(energies(solution), rows),
        "events": [event.time for event in solution.events[:_MOST_EVENTS]],
    }


def _energies(found: Energies, rows: Rows) -> dict[str, object]:
    curves = [
        {"name": name, "unit": "J", "values": packed(column[rows].astype("<f4"))}
        for name, column in found.curves.items()
    ]
    return {"curves": curves, "level": found.level}
