"""`page`: a solution as one self-contained HTML file. Also the template that all pages fill."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import SolveError
from kinegraph.files import written_to
from kinegraph.io.language.writer import write
from kinegraph.model.expressions import TIME
from kinegraph.solve.solution import Solution
from kinegraph.view.page import tables
from kinegraph.view.page.frames import States
from kinegraph.view.page.meshes import json_for_html, packed
from kinegraph.view.page.scene import Scene, scene_of
from kinegraph.view.page.tables import counted, typeset
from kinegraph.view.plot import ENERGIES, Energies, HoldsSolution, energies, solution_of

# The template of all pages: parts of HTML, the script and the style, and a policy that allows only these.

_LONGEST_TEXT = 100_000
#: What tells a page's style and script that it is in a frame.
HOSTED = {"hosted": ' class="hosted"'}


def page_path(path: str | Path) -> Path:
    """The path if a page can be written to it; checked before a long run."""
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise SolveError(f"cannot write a page to {path.name}: the file name must end in .html")
    if not path.absolute().parent.is_dir():
        raise SolveError(f"cannot write a page to {path}: the folder {path.parent} does not exist")
    return path


def page_of(
    scene: Scene,
    data: Mapping[str, object],
    headline: str,
    source: str | None = None,
    report: str = "",
    program: str = "",
    events: str = "",
    hosted: bool = False,
) -> str:
    """The text of a page: the data of the mechanism, and a report and the events of the run if there was one.

    program: generated equations that the page's script uses. hosted: for a frame in a notebook, which shows the
    picture and its controls alone.
    """
    mechanism = scene.mechanism
    names = tables.names((*mechanism.layout.positions, *mechanism.layout.velocities))
    parts = {
        "title": escape(mechanism.name),
        "headline": headline,
        "names": "".join(f"<span>{name}</span>" for name in names),
        "data": json_for_html(data),
        "program": program,
    }
    if hosted:
        return filled({**parts, **HOSTED, "equations": "", "cards": "", "records": ""})
    records = write(mechanism)
    cards = {
        "Operations": tables.operations(counted(mechanism, scene.bound)),
        "Solver": report,
        "Events": events,
        "Bodies": tables.bodies(mechanism, scene.values, scene.drawing.missing),
        "Parameters": tables.parameters(mechanism, scene.values),
        "Elements": tables.elements(mechanism),
    }
    return filled({
        **parts,
        "equations": typeset(mechanism, source),
        "cards": "".join(_card(title, body) for title, body in cards.items() if body),
        "records": escape(records if len(records) <= _LONGEST_TEXT else records[:_LONGEST_TEXT] + "\n..."),
    })  # fmt: skip


def _card(title: str, body: str) -> str:
    return f'<div class="card {title.lower()}"><h2>{title}</h2><div>{body}</div></div>'


def filled(parts: Mapping[str, str], name: str = "page") -> str:
    """A template with its parts, its script and its style inserted; only these two may run or apply."""
    script, style, template = (asset(f"{name}.{kind}") for kind in ("js", "css", "html"))
    scripts = [one for one in (script, parts.get("program", "")) if one]
    everything = {"hosted": "", **parts, "script": script, "style": style, "policy": _policy(scripts, style)}
    everything["program"] = f"<script>{parts['program']}</script>\n" if parts.get("program") else ""
    return re.sub(r"\{\{(\w+)\}\}", lambda match: everything[match[1]], template)


def _policy(scripts: Sequence[str], style: str) -> str:
    """A content security policy: nothing is fetched, and only the page's own scripts and style are used."""
    allowed = " ".join(map(_digest, scripts))
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_digest(style)}; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def asset(name: str) -> str:
    """A file of the page shipped with the package; scripts and styles are built from `web/`."""
    return (files("kinegraph.view.page") / "assets" / name).read_text("utf-8")


# `page`.

Rows: TypeAlias = NDArray[np.int64]

#: The maximum number of times of a page, and of numbers of motion: files stay below some ten megabytes.
MOST_FRAMES = 3000
MOST_NUMBERS = 1_500_000
_MOST_EVENTS = 500


def page(
    solution: Solution | HoldsSolution, path: str | Path, source: str | None = None, show: Sequence[str] = ()
) -> Path:
    """Write a page with the animation, the plots, the equations and the solver's report to an .html file.

    solution: a solution, or a docking.
    source: the name of the model on the command line, a file or a library name; the page then names the commands
    that print longer output. show: columns to draw in a plot of their own; all others can be added by a click.
    """
    path = page_path(path)
    text = page_text(solution_of(solution), source, show)
    with written_to(path):
        path.write_text(text, encoding="utf-8")
    return path


def page_text(solution: Solution, source: str | None = None, show: Sequence[str] = (), *, hosted: bool = False) -> str:
    """The page as text; hosted: for a frame in a notebook."""
    simulated = solution.simulated
    if simulated is None:
        raise SolveError(
            "a solution read from a file does not contain its mechanism: run simulate again to write a page"
        )
    rows = drawn_rows(solution, len(simulated.mechanism.bodies))
    states = States({name: column[rows] for name, column in solution.columns.items()}, simulated.inputs)
    scene = scene_of(simulated.mechanism, simulated.parameters, states)
    data = scene.data() | _curves(solution, scene, rows) | _further(solution, scene, rows, show)
    headline = tables.headline(simulated.mechanism, solution)
    if hosted:
        return page_of(scene, data, headline, hosted=True)
    events = tables.events(solution, _MOST_EVENTS)
    return page_of(scene, data, headline, source, tables.report(solution), events=events)


def drawn_rows(solution: Solution, bodies: int) -> Rows:
    """Every n-th row, so that the page stays small; rows with NaN cannot be drawn. Of rows at one time the last."""
    finite = np.all(np.isfinite(solution.array()), axis=1)
    rows = np.flatnonzero(finite & np.append(np.diff(solution.t) != 0, True))
    if not len(rows):
        raise SolveError("the solution has no finite row: nothing to draw")
    most = max(2, min(MOST_FRAMES, MOST_NUMBERS // max(7 * bodies, 1)))
    return rows[:: -(-len(rows) // most)]


def _curves(solution: Solution, scene: Scene, rows: Rows) -> dict[str, object]:
    """The curves of the plots."""
    unit = scene.units | {name: chart.unit for chart in solution.charts for name in chart.names}

    def columns(names: tuple[str, ...]) -> list[dict[str, str]]:
        return [
            {"name": name, "unit": unit[name], "values": packed(solution[name][rows].astype("<f4"))} for name in names
        ]

    return {
        "charts": [{"title": one.title, "unit": one.unit, "curves": columns(one.names)} for one in solution.charts],
        "positions": columns(solution.positions),
        "velocities": columns(solution.velocities),
        "energies": _energies(energies(solution), rows),
        "events": [event.time for event in solution.events[:_MOST_EVENTS]],
    }


#: Numbers of further columns that a page holds at most, to be added to a plot by a click.
_MOST_FURTHER = 400_000


def _further(solution: Solution, scene: Scene, rows: Rows, show: Sequence[str]) -> dict[str, object]:
    """Columns without a plot of their own: outputs, points, definitions, forces in contacts. `first` are drawn."""
    first = tuple(show) or solution.outputs
    for name in first:
        solution[name]  # a SolveError names the columns there are
    plotted = {TIME, *solution.positions, *solution.velocities, *ENERGIES} - {*first}
    plotted |= {name for chart in solution.charts for name in chart.names}
    names = [*first, *(name for name in solution if name not in plotted and name not in first)]
    taken = names[: max(len(first), _MOST_FURTHER // len(rows))]
    columns = [
        {"name": name, "unit": scene.units.get(name, ""), "values": packed(solution[name][rows].astype("<f4"))}
        for name in taken
    ]
    return {"further": columns, "first": len(first)}


def _energies(found: Energies, rows: Rows) -> dict[str, object]:
    curves = [
        {"name": name, "unit": "J", "values": packed(column[rows].astype("<f4"))}
        for name, column in found.curves.items()
    ]
    return {"curves": curves, "level": found.level}
