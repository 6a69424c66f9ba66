"""Mechanisms, solutions, modes and studies as widgets of a notebook, by anywidget (extra `notebook`).

A widget is the exported page in a frame: the same script draws both. Its traits follow what is done in the page, and
what Python sets is done there.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from kinegraph.compiler.mechanism_source import mechanism_of
from kinegraph.docking.result import DockingRun
from kinegraph.errors import ModelError
from kinegraph.extras import Foreign, extra
from kinegraph.model.expressions import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.solve.solution import Solution
from kinegraph.studies.results import Study
from kinegraph.tasks.modes import Modes
from kinegraph.view.page.live_page import live_text
from kinegraph.view.page.slider_page import slider_text
from kinegraph.view.page.solution_page import asset, page_text
from kinegraph.view.plot import solution_of

#: Pixels of a cell.
_HEIGHT = 520


def widget(
    item: Mechanism | str | Path | Solution | DockingRun | Modes | Study,
    *,
    live: bool = False,
    parameters: Mapping[str, Scalar] | None = None,
    height: int = _HEIGHT,
) -> Foreign:
    """A widget that shows a model with sliders, or a solution, a docking, modes or a study.

    live: run the model in the notebook: play, push bodies, change parameters and inputs.
    parameters: values that replace the model's. height: of the cell, in pixels.

    The widget has these traits, to be read, set and observed:
    `values`: the coordinates of sliders, or the parameters and inputs of a live model, by name;
    `time`, `playing`, `speed`; `state`: time and state of a live model (to be read only); `mode`: the chosen mode,
    from 0; `case`: the chosen case of a study. Traits that do not belong to the item stay None or empty.
    """
    page = hosted_page(item, live=live, parameters=parameters)
    return _widget_class()(page=page, height=height)


def hosted_page(item: object, *, live: bool = False, parameters: Mapping[str, Scalar] | None = None) -> str:
    """The page of an item for a frame, as text."""
    if not isinstance(item, Mechanism | str | Path):
        if live:
            raise ModelError("a live widget runs a mechanism by itself", remedy="give the model instead of its results")
        if parameters:
            raise ModelError("results already have their parameters", remedy="omit `parameters`")
    if isinstance(item, Study):
        from kinegraph.view.study_page import page_text as study_text

        return study_text(item, hosted=True)
    if isinstance(item, Modes):
        return _modes_page(item)
    if isinstance(item, Solution | DockingRun):
        return page_text(solution_of(item), hosted=True)
    if isinstance(item, Mechanism | str | Path):
        return (live_text if live else slider_text)(mechanism_of(item), parameters, hosted=True)
    raise ModelError(
        f"there is no widget for {type(item).__name__}", remedy="give a model, a solution, a docking, modes or a study"
    )


def _modes_page(item: Modes) -> str:
    from kinegraph.view.modes import modes_text

    if item.mechanism is None:
        raise ModelError("these modes do not contain their mechanism", remedy="compute them by kg.modes")
    return modes_text(item.mechanism, item, parameters=item.parameters, hosted=True)


@cache
def _widget_class() -> Foreign:
    """The class of widgets, made at first use: anywidget may not be installed."""
    anywidget, traitlets = extra("anywidget", "a notebook widget"), extra("traitlets", "a notebook widget")

    def synced(trait: Foreign) -> Foreign:
        return trait.tag(sync=True)

    traits = {
        "page": synced(traitlets.Unicode()),
        "height": synced(traitlets.Int(_HEIGHT)),
        "values": synced(traitlets.Dict()),
        "state": synced(traitlets.Dict()),
        "time": synced(traitlets.Float(None, allow_none=True)),
        "playing": synced(traitlets.Bool(None, allow_none=True)),
        "speed": synced(traitlets.Float(None, allow_none=True)),
        "mode": synced(traitlets.Int(None, allow_none=True)),
        "case": synced(traitlets.Int(None, allow_none=True)),
        "_esm": asset("widget.js"),
        "__doc__": "A page of Kinegraph in a notebook; see `kinegraph.view.widget`.",
    }
    return type("KinegraphWidget", (anywidget.AnyWidget,), traits)
