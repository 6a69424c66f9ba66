"""`view`: write a mechanism, a solution, a docking or a study as an HTML page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.docking.result import DockingRun
from kinegraph.errors import ModelError
from kinegraph.model.expressions import Scalar
from kinegraph.solve.solution import Solution
from kinegraph.studies.results import Study
from kinegraph.view.page import live_page, model_page, page
from kinegraph.view.study_page import study_page


def view(
    model: MechanismSource | Solution | DockingRun | Study,
    path: str | Path | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    *,
    live: bool = False,
) -> Path:
    """Write an .html page to open in a browser, and return its path.

    model: a Mechanism, a path, or a library name: shown with a slider for each coordinate; a solution or a docking:
        animated; or a study: its statistics and figures.
    path: an .html file; by default the name of the mechanism.
    parameters: values that replace the model's; a solution has its own.
    live: the page simulates the mechanism while it is open: play, push bodies, change parameters and inputs.
    """
    if live and isinstance(model, Study | Solution):
        raise ModelError("a live page runs a mechanism by itself", remedy="give the model instead of its results")
    if isinstance(model, Study):
        return study_page(model, path or "study.html")
    if isinstance(model, Solution | DockingRun):
        if parameters:
            raise ModelError("a solution already has its parameters", remedy="omit `parameters`")
        return page(model, path or "solution.html")
    mechanism = mechanism_of(model)
    return (live_page if live else model_page)(mechanism, path or f"{mechanism.name}.html", parameters)
