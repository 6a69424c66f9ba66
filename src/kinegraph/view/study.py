"""Figures of a study: histograms, scatter, corner, classes, success over two variables, correlations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import StudyError
from kinegraph.studies.results import Study
from kinegraph.studies.statistics import explained_variance, rank_correlations, total_indices
from kinegraph.view.plot import COLORS, picture_path, save_figure, styled, written

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MOST_PANELS, _MOST_CORNER, _MOST_POINTS = 12, 6, 5000
_BINS = 12
_MOST_PAIRED = 12  # names of which all pairs are compared
#: The kinds of figures.
KINDS = ("histograms", "scatter", "corner", "classes", "success", "ranks")


def draw(study: Study, kind: str, path: str | Path, names: Sequence[str] = ()) -> Path:
    """Write one figure to a .png, .svg or .pdf file. names: the columns; for `success` two varied names."""
    path = picture_path(path, StudyError)
    return save_figure(figure_of(study, kind, names), path)


def figure_of(study: Study, kind: str, names: Sequence[str] = ()) -> Figure:
    """A figure by the name of its kind."""
    if kind not in KINDS:
        raise StudyError(f"unknown figure {kind!r}; choose from {', '.join(KINDS)}")
    for name in names:
        _ = study[name]
    drawing = {"histograms": histograms, "scatter": scatter, "corner": corner, "success": success_map}
    with styled():
        if kind == "classes":
            return classes(study)
        return ranks(study) if kind == "ranks" else drawing[kind](study, names)


def _page(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _grid(count: int, columns: int = 3, height: float = 2.3) -> tuple[Figure, list[Axes]]:
    """A figure with a number of panels."""
    columns = min(columns, max(count, 1))
    rows = -(-count // columns)
    page = _page(3.2 * columns, height * rows + 0.2)
    panels = page.subplots(rows, columns, squeeze=False).ravel().tolist()
    for panel in panels[count:]:
        panel.set_visible(False)
    return page, panels[:count]


def histograms(study: Study, names: Sequence[str] = ()) -> Figure:
    """The distribution of each outcome; lines mark the nominal case and the 5 and 95 % quantiles."""
    chosen = list(names or study.numbers)[:_MOST_PANELS]
    page, panels = _grid(len(chosen))
    for panel, name in zip(panels, chosen, strict=True):
        values = study.values(name)
        finite = values[np.isfinite(values)]
        panel.set_title(written(name))
        if not len(finite):
            panel.text(0.5, 0.5, "no values", ha="center", transform=panel.transAxes)
            continue
        panel.hist(finite, bins=min(60, max(8, int(np.sqrt(len(finite))))), color=COLORS[5], edgecolor="white", lw=0.4)
        for level in (0.05, 0.95):
            panel.axvline(float(np.quantile(finite, level)), color=COLORS[6], ls=":", lw=1)
        nominal = float(study[name][0]) if study["case"][0] == 0 else np.nan
        if np.isfinite(nominal):
            panel.axvline(nominal, color=COLORS[1], lw=1.2)
        panel.set_ylabel("cases")
    page.supxlabel("orange: nominal case; dotted: 5 and 95 % quantiles", x=0.01, ha="left", fontsize=7.5)
    return page


def _points(study: Study) -> NDArray[np.int64]:
    """The cases drawn: the first ones, if there are too many."""
    return np.arange(min(len(study.drawn["case"]), _MOST_POINTS))


def _colors(study: Study, rows: NDArray[np.int64]) -> tuple[list[str], dict[str, str]]:
    """The color of every case by its class or success, and the meaning of each color."""
    if "class" in study.columns:
        known = _class_colors(study)
        return [known[str(one)] for one in study.drawn["class"][rows]], known
    if "success" in study.columns:
        known = {"success": COLORS[0], "no success": COLORS[1]}
        return [COLORS[0] if one else COLORS[1] for one in study.drawn["success"][rows]], known
    return [COLORS[0]] * len(rows), {}


def _class_colors(study: Study) -> dict[str, str]:
    """A color for every class, the same in all figures."""
    return {name: COLORS[place % len(COLORS)] for place, name in enumerate(study.classes())}


def scatter(study: Study, names: Sequence[str] = ()) -> Figure:
    """Every outcome over the name it depends on most: by Sobol's total indices, otherwise by explained variance."""
    outcomes = [name for name in (names or study.numbers) if name in study.numbers][:_MOST_PANELS]
    varied = study.plan.samples.names
    rows = _points(study)
    colors, known = _colors(study, rows)
    page, panels = _grid(len(outcomes))
    for panel, name in zip(panels, outcomes, strict=True):
        best = varied[int(np.argmax(influences(study, name)))]
        panel.scatter(study.values(best)[rows], study.values(name)[rows], s=4, c=colors, linewidths=0, alpha=0.6)
        panel.set_xlabel(written(best))
        panel.set_ylabel(written(name))
    _meanings(page, known)
    return page


def influences(study: Study, outcome: str) -> NDArray[np.float64]:
    """The dependence of an outcome on every varied name, monotone or not."""
    samples, values = study.plan.samples, study.values(outcome)
    totals = total_indices(samples, values)
    if totals is not None:
        return totals
    inputs, values = _finite(study, values)
    return np.array([explained_variance(column[:, None], values) for column in inputs.T])


def two_that_matter(study: Study, outcome: str) -> list[str]:
    """The two names that together explain an outcome best: one alone may explain nothing."""
    names = study.plan.samples.names
    order = np.argsort(-influences(study, outcome), kind="stable")
    if total_indices(study.plan.samples, study.values(outcome)) is not None:
        return [names[k] for k in order[:2]]
    inputs, values = _finite(study, study.values(outcome))
    pairs = list(combinations(order[:_MOST_PAIRED].tolist(), 2))
    together = [explained_variance(inputs[:, pair], values) for pair in pairs]
    best = pairs[int(np.argmax(together))] if pairs and max(together) > 0 else tuple(order[:2].tolist())
    return [names[k] for k in best]


def _finite(study: Study, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The varied values, and an outcome, of the cases that have both."""
    inputs = np.column_stack([np.asarray(study.drawn[name], dtype=float) for name in study.plan.samples.names])
    good = np.isfinite(values) & np.isfinite(inputs).all(axis=1)
    return inputs[good], values[good]


def ranks_of(study: Study, outcome: str) -> NDArray[np.float64]:
    """Spearman's correlation of an outcome with every varied name."""
    values = study.values(outcome)
    good = np.isfinite(values)
    inputs = np.column_stack([np.asarray(study.drawn[name], dtype=float) for name in study.plan.samples.names])
    return rank_correlations(inputs[good], values[good])


def _meanings(page: Figure, known: dict[str, str]) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], marker="o", ls="", ms=4, color=color, label=label) for label, color in known.items()]
    if handles:
        page.legend(handles=handles, loc="outside lower right", ncols=len(handles))


def corner(study: Study, names: Sequence[str] = ()) -> Figure:
    """All pairs of columns, with a histogram of each on the diagonal."""
    chosen = list(names or (*study.plan.samples.names, *study.numbers))[:_MOST_CORNER]
    rows = _points(study)
    colors, known = _colors(study, rows)
    size = len(chosen)
    page = _page(1.7 * size + 0.5, 1.6 * size + 0.5)
    panels = page.subplots(size, size, squeeze=False)
    for i, down in enumerate(chosen):
        for j, across in enumerate(chosen):
            panel = panels[i, j]
            panel.set_visible(j <= i)
            if i == j:
                values = study.values(across)
                panel.hist(values[np.isfinite(values)], bins=24, color=COLORS[5])
                panel.set_yticks([])
            elif j < i:
                panel.scatter(study.values(across)[rows], study.values(down)[rows], s=2, c=colors, lw=0, alpha=0.5)
            if i == size - 1:
                panel.set_xlabel(written(across))
            if j == 0 and i > 0:
                panel.set_ylabel(written(down))
            panel.tick_params(labelsize=6, labelbottom=i == size - 1, labelleft=j == 0 and i > 0)
    _meanings(page, known)
    return page


def classes(study: Study) -> Figure:
    """The probability of each class, with its interval."""
    found = study.classes()
    page = _page(6.4, 0.5 + 0.35 * len(found))
    panel = page.subplots()
    for place, (name, one) in enumerate(found.items()):
        panel.barh(place, one.value, color=_class_colors(study)[name], height=0.6)
        panel.plot([one.low, one.high], [place, place], color="black", lw=1.4)
        panel.text(1.01, place, f"{100 * one.value:.2f} %", va="center", fontsize=8)
    panel.set_yticks(range(len(found)), [written(name) for name in found])
    panel.set_xlim(0, 1)
    panel.invert_yaxis()
    panel.grid(visible=False, axis="y")
    return page


def success_map(study: Study, names: Sequence[str] = ()) -> Figure:
    """The fraction of successful cases over two varied names; white where there are no cases."""
    if "success" not in study.columns:
        raise StudyError("the study has no success condition: give success='...' to study")
    chosen = list(names) or two_that_matter(study, "success")
    if len(chosen) != 2:
        raise StudyError(f"success is drawn over two names, not {len(chosen)}: {', '.join(chosen)}")
    x, y = (study.values(name) for name in chosen)
    held = study.drawn["success"].astype(float)
    good = np.isfinite(x) & np.isfinite(y)
    count, across, down = np.histogram2d(x[good], y[good], bins=_BINS)
    wins, _, _ = np.histogram2d(x[good], y[good], bins=(across, down), weights=held[good])
    with np.errstate(all="ignore"):
        part = np.where(count > 0, wins / count, np.nan)
    page = _page(5.4, 4.2)
    panel = page.subplots()
    mesh = panel.pcolormesh(across, down, part.T, vmin=0, vmax=1, cmap="viridis")
    page.colorbar(mesh, ax=panel, label="fraction of successful cases")
    panel.set_xlabel(written(chosen[0]))
    panel.set_ylabel(written(chosen[1]))
    panel.grid(visible=False)
    return page


def ranks(study: Study) -> Figure:
    """Rank correlations of all outcomes with all varied names, as a table of colors."""
    outcomes = list(study.numbers)[: 3 * _MOST_PANELS]
    if "success" in study.columns:
        outcomes.append("success")
    varied = study.plan.samples.names
    table = np.array([ranks_of(study, name) for name in outcomes]).reshape(len(outcomes), len(varied))
    page = _page(1.8 + 0.75 * len(varied), 1.1 + 0.32 * len(outcomes))
    panel = page.subplots()
    image = panel.imshow(table, vmin=-1, vmax=1, cmap="RdBu_r", aspect="auto")
    for (i, j), value in np.ndenumerate(table):
        color = "white" if abs(value) > 0.6 else "black"
        panel.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7, color=color)
    panel.set_xticks(range(len(varied)), [written(name) for name in varied])
    panel.set_yticks(range(len(outcomes)), [written(name) for name in outcomes])
    panel.grid(visible=False)
    page.colorbar(image, ax=panel, label="Spearman's rank correlation")
    return page
