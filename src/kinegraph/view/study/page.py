"""A study as one page: what was asked, statistics, figures, what matters, failures. It needs no other file."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from html import escape
from pathlib import Path

import numpy as np

from kinegraph.errors import MissingPackageError, StudyError
from kinegraph.studies.results import Study
from kinegraph.studies.statistics.intervals import Estimate
from kinegraph.studies.storage import write_whole
from kinegraph.view.study.figures import figure_of

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
    """Write the page and say where it is."""
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise StudyError(f"cannot write {path.name}: a page ends in .html")
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
    rows = [[", ".join(names), str(law)] for names, law in plan.samples.laws.items()]
    rows += [[f"outcome {name}", _shortened(text)] for name, text in plan.outcome_table.outcomes.items()]
    rows += [[f"class {name}", text] for name, text in plan.outcome_table.classes.items()]
    rows += [["success", plan.outcome_table.success]] if plan.outcome_table.success is not None else []
    note = f"{plan.samples.design.value} design, seed {plan.samples.seed}; {plan.solver.name}; t = {plan.span[0]:g} to "
    return f"<h2>What was asked</h2><p class='note'>{escape(note)}{plan.span[1]:g} s</p>{_table(['', ''], rows)}"


def _shortened(text: str) -> str:
    """A formula in one line of a page."""
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
    """Sensitivity indices where SALib is installed; else what to install."""
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
    return f"<h2>Cases that failed</h2><p class='note'>{more}</p>{_table(['case', 'status', 'reason'], rows)}"
