"""`view`: write a mechanism, a solution or a study as an HTML page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.errors import ModelError
from kinegraph.model.expressions import Scalar
from kinegraph.solve.solution import Solution
from kinegraph.studies.results import Study
from kinegraph.view.page import model_page, page
from kinegraph.view.study import study_page


def view(
    model: MechanismSource | Solution | Study,
    path: str | Path | None = None,
    parameters: Mapping[str, Scalar] | None = None,
) -> Path:
    """Write a page to be opened in a browser, and say where it is.

    what: a mechanism (or a model file, or a name of the library), shown where it starts with a slider for each
        coordinate; a solution, shown moving; or a study, shown by its statistics and figures.
    path: an .html file; None takes the mechanism's name.
    parameters: values that differ from the model's; a solution has its own.
    """
    if isinstance(model, Study):
        return study_page(model, path or "study.html")
    if isinstance(model, Solution):
        if parameters:
            raise ModelError("a solution has the parameters it was computed with", remedy="leave `parameters` out")
        return page(model, path or "solution.html")
    mechanism = mechanism_of(model)
    return model_page(mechanism, path or f"{mechanism.name}.html", parameters)
