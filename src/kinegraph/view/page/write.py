"""`page`: a solution as one HTML file that needs nothing else, to be looked at in any browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kinegraph.io.write import write
from kinegraph.model.evaluate import Value, number, parameter_values
from kinegraph.model.expression import TIME
from kinegraph.model.mechanism import Mechanism
from kinegraph.solve.errors import SolveError
from kinegraph.solve.problem import Floats
from kinegraph.solve.solution import Solution, Subject
from kinegraph.version import __version__
from kinegraph.view.page import facts
from kinegraph.view.page.drawing import Drawer, Drawing, ellipsoid
from kinegraph.view.page.equations import counted, typeset
from kinegraph.view.page.frames import Frames, Motion, Place

Rows: TypeAlias = NDArray[np.int64]

#: A page shows no more moments than this, and no more numbers of motion: files stay below some ten megabytes.
MOST_FRAMES = 3000
MOST_NUMBERS = 1_500_000
_LONGEST_TEXT = 100_000
_ENERGIES = {"kinetic": "kinetic", "potential": "potential", "energy": "total", "work": "work"}


def page(solution: Solution, path: str | Path) -> Path:
    """Write a page with the animation, the plots, the equations and the solver's report to an .html file."""
    path = page_path(path)
    path.write_text(page_text(solution), encoding="utf-8")
    return path


def page_path(path: str | Path) -> Path:
    """The path if a page can be written to it; asked before a long run, so that a slip costs nothing."""
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise SolveError(f"cannot write a page to {path.name}: the ending must be .html")
    if not path.absolute().parent.is_dir():
        raise SolveError(f"cannot write a page to {path}: there is no folder {path.parent}")
    return path


def page_text(solution: Solution) -> str:
    """The page as text."""
    if solution.subject is None:
        raise SolveError("a solution read from a file does not know its mechanism: run simulate again for a page")
    return _Page(solution, solution.subject).text()


@dataclass(frozen=True)
class _Page:
    solution: Solution
    subject: Subject

    @property
    def mechanism(self) -> Mechanism:
        return self.subject.mechanism

    def text(self) -> str:
        bound = self.subject.parameters
        values = parameter_values(self.mechanism, bound)
        frames = Frames(self.mechanism, bound)
        rows = shown_rows(self.solution, len(frames.tree.links))
        motion = frames.motion(self._values(rows))
        drawing = Drawer(self.mechanism, frames, motion, bound).draw()
        data = self._data(frames, motion, drawing, values, rows)
        records = write(self.mechanism)
        return filled({
            "title": escape(self.mechanism.name),
            "headline": facts.headline(self.mechanism, self.solution),
            "equations": typeset(self.mechanism),
            "parameters": facts.parameters(self.mechanism, values),
            "bodies": facts.bodies(self.mechanism, values, drawing.missing),
            "operations": facts.operations(counted(self.mechanism, bound)),
            "report": facts.report(self.solution),
            "records": escape(records if len(records) <= _LONGEST_TEXT else records[:_LONGEST_TEXT] + "\n..."),
            "names": self._names(),
            "data": json_for_html(data),
        })  # fmt: skip

    def _values(self, rows: Rows) -> dict[str, Floats]:
        names = (TIME, *self.solution.positions)
        return {name: self.solution[name][rows] for name in names}

    def _names(self) -> str:
        """Typeset names, from which the page takes those it needs."""
        names = (*self.solution.positions, *self.solution.velocities)
        return "".join(f"<span>{facts.name(name)}</span>" for name in names)

    def _data(
        self, frames: Frames, motion: Motion, drawing: Drawing, values: Mapping[str, Value], rows: Rows
    ) -> dict[str, Any]:
        times = self.solution.t[rows]
        return {
            "model": self.mechanism.name,
            "version": __version__,
            "times": packed(times.astype("<f8")),
            "links": len(frames.tree.links) - 1,
            "motion": packed(motion.numbers.astype("<f4")),
            "gravity": frames.gravity(float(times[0])).tolist(),
            "bodies": [self._body(place, frames, values) for place in range(len(self.mechanism.bodies))],
            "points": [
                {"name": point.name, **_at(frames.point(place))} for place, point in enumerate(self.mechanism.points)
            ],
            "parts": drawing.parts,
            "meshes": [
                {"corners": packed(mesh.corners.astype("<f4")), "triangles": packed(mesh.triangles.astype("<u4"))}
                for mesh in drawing.meshes
            ],
            "positions": self._columns(self.solution.positions, rows),
            "velocities": self._columns(self.solution.velocities, rows),
            "energies": [
                {"name": shown, "values": packed(self.solution[name][rows].astype("<f4"))}
                for name, shown in _ENERGIES.items()
                if name in self.solution
            ],
            "events": [{"name": one.name, "time": one.time} for one in self.solution.happenings[:500]],
        }

    def _body(self, place: int, frames: Frames, values: Mapping[str, Value]) -> dict[str, Any]:
        body = self.mechanism.bodies[place]
        centre = frames.centre(body)
        found = ellipsoid(body, values)
        if found is not None:
            centre = Place(centre.link, centre.rotation @ found[0], centre.position)
        base = [one.name for one in self.mechanism.bodies].index(body.base) if body.base is not None else -1
        return {
            "name": body.name, "base": base, **_at(frames.body(body.name)), "centre": centre.numbers,
            "mass": number(body.inertia.mass, values), "ellipsoid": found[1] if found else None,
        }  # fmt: skip

    def _columns(self, names: tuple[str, ...], rows: Rows) -> list[dict[str, str]]:
        return [{"name": name, "values": packed(self.solution[name][rows].astype("<f4"))} for name in names]


def shown_rows(solution: Solution, links: int) -> Rows:
    """Every n-th row, so that the page stays small; rows with values that are not numbers cannot be drawn."""
    rows = np.flatnonzero(np.all(np.isfinite(solution.array()), axis=1))
    if not len(rows):
        raise SolveError("the solution has no row of numbers: there is nothing to show")
    most = max(2, min(MOST_FRAMES, MOST_NUMBERS // max(7 * links, 1)))
    return rows[:: -(-len(rows) // most)]


def _at(place: Place) -> dict[str, Any]:
    return {"link": place.link, "place": place.numbers}


def packed(array: NDArray[Any]) -> str:
    """An array's bytes as text."""
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def json_for_html(data: Mapping[str, Any]) -> str:
    """JSON that can stand in a <script> element whatever strings it holds."""
    return json.dumps(data, allow_nan=False).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def filled(parts: Mapping[str, str]) -> str:
    """The template with its parts, the script and the style put in; only these two may run or apply."""
    script, style, template = (asset(name) for name in ("page.js", "page.css", "page.html"))
    everything = {**parts, "script": script, "style": style, "policy": _policy(script, style)}
    return re.sub(r"\{\{(\w+)\}\}", lambda match: everything[match[1]], template)


def _policy(script: str, style: str) -> str:
    """A content security policy: nothing is fetched, and no other script or style than the page's own is used."""
    allowed = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (script, style)]
    return (
        f"default-src 'none'; script-src 'sha256-{allowed[0]}'; style-src 'sha256-{allowed[1]}'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def asset(name: str) -> str:
    """A file of the page that is shipped with the package; page.js and page.css are built from `web/`."""
    return (files("kinegraph.view.page") / name).read_text("utf-8")
