"""A study as figures and as one self-contained HTML page."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Sequence
from html import escape
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import MissingPackageError, StudyError
from kinegraph.studies.results import Study
from kinegraph.studies.statistics import Estimate, explained_variance, rank_correlations, total_indices
from kinegraph.studies.storage import write_whole
from kinegraph.view.plot import COLORS, picture_path, styled, written

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Figures of a study: histograms, scatter, corner, classes, success over two variables, correlations.

_MOST_PANELS, _MOST_CORNER, _MOST_POINTS = 12, 6, 5000
_BINS = 12
_MOST_PAIRED = 12  # names of which all pairs are compared
#: The kinds of figures.
KINDS = ("histograms", "scatter", "corner", "classes", "success", "ranks")


def draw(study: Study, kind: str, path: str | Path, names: Sequence[str] = ()) -> Path:
    """Write one figure to a .png, .svg or .pdf file. names: the columns; for `success` two varied names."""
    path = picture_path(path, StudyError)
    figure_of(study, kind, names).savefig(path)
    return path


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


def _ranks(study: Study, outcome: str) -> NDArray[np.float64]:
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
    table = np.array([_ranks(study, name) for name in outcomes]).reshape(len(outcomes), len(varied))
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


# A study as one self-contained page: settings, statistics, figures, sensitivities, failures.

_MOST_FAILURES, _MOST_INDICES = 200, 12
_LONGEST_FORMULA = 90  # characters
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 66rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2rem; border-bottom: 1px solid #ddd; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
td, th { padding: .2rem .7rem; text-align: right; }
td:first-child, th:first-child { text-align: left; } tr:nth-child(even) { background: #f6f6f6; }
img { max-width: 100%; } .wide { overflow-x: auto; } .note { color: #666; font-size: .9rem; }
"""


def study_page(study: Study, path: str | Path) -> Path:
    """Write the page and return its path."""
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise StudyError(f"cannot write {path.name}: the file name of a page must end in .html")
    text = page_text(study)
    write_whole(path, lambda file: file.write(text.encode()))
    return path


def page_text(study: Study) -> str:
    """The page as HTML."""
    name = escape(study.plan.mechanism.name)
    parts = [
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Study of {name}</title>",
        f"<style>{_STYLE}</style></head><body><h1>Study of {name}</h1>",
        f"<pre class='note'>{escape(str(study))}</pre>",
        _settings(study), _probabilities(study), _statistics(study), _figures(study), _indices(study), _failures(study),
        "</body></html>",
    ]  # fmt: skip
    return "\n".join(part for part in parts if part)


def _table(head: list[str], rows: list[list[str]]) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<div class='wide'><table><tr>{top}</tr>{body}</table></div>"


def _settings(study: Study) -> str:
    plan = study.plan
    rows = [[", ".join(names), str(distribution)] for names, distribution in plan.samples.distributions.items()]
    rows += [[f"outcome {name}", _shortened(text)] for name, text in plan.outcome_table.outcomes.items()]
    rows += [[f"class {name}", text] for name, text in plan.outcome_table.classes.items()]
    rows += [["success", plan.outcome_table.success]] if plan.outcome_table.success is not None else []
    note = f"{plan.samples.design.value} design, seed {plan.samples.seed}; {plan.solver.name}; t = {plan.span[0]:g} to "
    return f"<h2>Settings</h2><p class='note'>{escape(note)}{plan.span[1]:g} s</p>{_table(['', ''], rows)}"


def _shortened(text: str) -> str:
    """A formula shortened to one line of a page."""
    return text if len(text) <= _LONGEST_FORMULA else f"{text[: _LONGEST_FORMULA - 4]} ..."


def _interval(one: Estimate) -> list[str]:
    return [f"{one.value:.6g}", f"{one.low:.6g}", f"{one.high:.6g}", str(one.count)]


def _probabilities(study: Study) -> str:
    if len(study) < 2 or not {"class", "success"} & {*study.columns}:
        return ""
    rows = [["success", *_interval(study.probability())]] if "success" in study.columns else []
    rows += [[name, *_interval(one)] for name, one in study.classes().items()] if "class" in study.columns else []
    head = ["", "probability", "from", "to (Wilson, 95 %)", "cases"]
    figure = _image(study, "classes") if "class" in study.columns else ""
    return f"<h2>Probabilities</h2>{_table(head, rows)}{figure}"


def _statistics(study: Study) -> str:
    rows = []
    for name in study.numbers:
        one = study.summary(name)
        numbers = [one.mean.value, one.mean.half_width, one.deviation, one.low]
        numbers += [one.quantiles[level].value for level in (0.05, 0.5, 0.95)]
        nominal = f"{float(study[name][0]):.6g}"
        cells = [f"{number:.5g}" for number in (*numbers, one.high)]
        tail = one.quantiles[0.99]
        rows.append([name, nominal, *cells, f"{tail.value:.5g} ({tail.low:.5g} to {tail.high:.5g})", str(one.missing)])
    head = ["outcome", "nominal", "mean", "+- 95 %", "deviation", "min", "5 %", "median", "95 %", "max"]
    return f"<h2>Outcomes</h2>{_table([*head, '99 % quantile with its interval', 'missing'], rows)}"


def _figures(study: Study) -> str:
    if len(study) < 3:
        return ""
    kinds = ["histograms", "scatter", "corner", "ranks"]
    titles = {"histograms": "Histograms", "scatter": "What each outcome depends on most", "corner": "Pairs",
              "ranks": "Rank correlations", "success": "Success over two variables"}  # fmt: skip
    if "success" in study.columns and len(study.plan.samples.names) > 1:
        kinds.append("success")
    return "".join(f"<h2>{titles[kind]}</h2>{_image(study, kind)}" for kind in kinds)


def _image(study: Study, kind: str) -> str:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    stream, figure = io.BytesIO(), figure_of(study, kind)
    figure.set_dpi(110)
    draw: Callable[[io.BytesIO], None] = FigureCanvasAgg(figure).print_png  # savefig would draw it twice
    draw(stream)
    data = base64.b64encode(stream.getvalue()).decode()
    return f"<p><img alt='{kind}' src='data:image/png;base64,{data}'></p>"


def _indices(study: Study) -> str:
    """Sensitivity indices if SALib is installed; otherwise how to install it."""
    rows, method = [], ""
    outcomes = [*study.numbers, *(["success"] if "success" in study.columns else [])]
    try:
        for outcome in outcomes[:_MOST_INDICES]:
            found = study.sensitivity(outcome)
            method = method if "indices" in method else found.method
            columns = found.first, found.first_half_width, found.total, found.total_half_width
            for k, name in enumerate(found.names):
                rows.append([outcome, name, *(_number(column[k]) for column in columns)])
    except (MissingPackageError, StudyError) as error:
        return f"<h2>Sensitivity</h2><p class='note'>{escape(str(error))}</p>"
    head = ["outcome", "of", "first order", "+- 95 %", "total", "+- 95 %"]
    return f"<h2>Sensitivity</h2><p class='note'>{escape(method)}</p>{_table(head, rows)}"


def _number(value: float) -> str:
    return f"{value:.3f}" if np.isfinite(value) else ""


def _failures(study: Study) -> str:
    if not study.failures:
        return ""
    rows = [[str(one.case), one.status, one.reason] for one in study.failures[:_MOST_FAILURES]]
    more = f"the first {_MOST_FAILURES} of {len(study.failures)}" if len(study.failures) > _MOST_FAILURES else ""
    return f"<h2>Failed cases</h2><p class='note'>{more}</p>{_table(['case', 'status', 'reason'], rows)}"
