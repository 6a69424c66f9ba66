"""A study as one self-contained page: the variables that matter, distributions, statistics, and any case by a click."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

import numpy as np

from kinegraph.errors import MissingPackageError, StudyError
from kinegraph.studies.outcomes import AT_EVENT, OVER_EVENT, Column, extracted
from kinegraph.studies.results import Study
from kinegraph.studies.statistics import Estimate, total_indices
from kinegraph.studies.storage import write_whole
from kinegraph.view.page.meshes import json_for_html, packed
from kinegraph.view.page.solution_page import HOSTED, filled
from kinegraph.view.plot import units_of
from kinegraph.view.study import influences, ranks_of, two_that_matter

#: Cases whose points are drawn, failures that are listed, outcomes with influences, characters of a formula.
_MOST_POINTS, _MOST_FAILURES, _MOST_INDICES, _LONGEST_FORMULA = 5000, 200, 12, 90
#: Outcomes with a time as their value; all others of `OVER_FORMULA` but integrals have the unit of their formula.
_TIMES = ("time_of_max", "time_of_min", "time", "last_time")


def study_page(study: Study, path: str | Path) -> Path:
    """Write the page and return its path."""
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise StudyError(f"cannot write {path.name}: the file name of a page must end in .html")
    text = page_text(study)
    write_whole(path, lambda file: file.write(text.encode()))
    return path


def page_text(study: Study, *, hosted: bool = False) -> str:
    """The page as HTML; hosted: for a frame in a notebook."""
    cards = {
        "Probabilities": _probabilities(study), "Outcomes": _statistics(study), "Rank correlations": _ranks(study),
        "Sensitivity": _indices(study), "Settings": _settings(study), "Failed cases": _failures(study),
    }  # fmt: skip
    sections = [f"<section class='card'><h2>{name}</h2>{body}</section>" for name, body in cards.items() if body]
    return filled({
        **(HOSTED if hosted else {}),
        "title": escape(study.plan.mechanism.name),
        "headline": "<br>".join(_headline(study)),
        "cards": "".join(sections),
        "data": json_for_html(_data(study)),
    }, "study")  # fmt: skip


def _headline(study: Study) -> Iterator[str]:
    """What the study says of itself, without probabilities, which have a card."""
    carded = ("success", *(study.classes() if "class" in study.columns else ()))
    for line in str(study).partition(": ")[2].splitlines():
        if line.strip().rpartition(": ")[0] not in carded:
            yield escape(line.strip())


# What the script draws.


def _data(study: Study) -> dict[str, object]:
    """The first cases as columns, and for every outcome the names it depends on."""
    rows, units = slice(min(len(study), _MOST_POINTS)), _units(study)
    varied = study.plan.samples.names
    columns = [
        {
            "name": name, "unit": units.get(name, ""), "role": "varied" if name in varied else "outcome",
            "values": packed(_numbers(study[name])[rows]),
        }
        for name in (*varied, *study.numbers)
    ]  # fmt: skip
    marks = [_mark(study, name, rows) for name in ("class", "success", "status") if name in study.columns]
    failures = {one.case: f"{one.status}: {one.reason}" for one in study.failures[:_MOST_FAILURES]}
    return {
        "cases": packed(study["case"][rows].astype("<u4")), "columns": columns, "failures": failures,
        "marks": [one for one in marks if len(one["words"]) > 1 or one["name"] == "class"],
        "outcomes": [_influences(study, name) for name in _outcomes(study)] if len(study) > 2 else [],
    }  # fmt: skip


def _outcomes(study: Study) -> list[str]:
    """The outcomes with influences; success comes first."""
    return [*(["success"] if "success" in study.columns else []), *study.numbers][:_MOST_INDICES]


def _numbers(column: Column) -> np.ndarray:
    return np.asarray(column, dtype="<f8")


def _mark(study: Study, name: str, rows: slice) -> dict[str, Sequence[object] | str]:
    """A column of words, as codes."""
    column = np.asarray(study[name][rows])
    if column.dtype == bool:
        words, codes = [name, f"no {name}"], 1 - column.astype(int)
    else:
        found, codes = np.unique(column.astype(str), return_inverse=True)
        words = found.tolist()
    return {"name": name, "words": words, "codes": packed(codes.astype("<u4"))}


def _influences(study: Study, outcome: str) -> dict[str, object]:
    """How much of the variance of an outcome is due to each varied name, largest first."""
    found = influences(study, outcome)
    order = np.argsort(-found, kind="stable")
    total = total_indices(study.plan.samples, study.values(outcome)) is not None
    method = (
        "Total Sobol indices: the part of the variance that each variable has a share in."
        if total
        else "The part of the variance that each variable explains alone. Total Sobol indices need design='saltelli'."
    )
    names = study.plan.samples.names
    bars = [[names[k], float(found[k])] for k in order]
    return {"name": outcome, "method": method, "influences": bars, "best": two_that_matter(study, outcome)}


def _units(study: Study) -> dict[str, str]:
    """Units of varied initial values and of outcomes, as far as joints determine them."""
    plan = study.plan
    known = units_of(plan.mechanism, plan.parameters)
    return known | {name: _unit(text, known) for name, text in plan.outcome_table.outcomes.items()}


def _unit(text: str, known: Mapping[str, str]) -> str:
    """The unit of an outcome that is one reduction of one column; otherwise empty."""
    whole, reductions = extracted(text)
    if whole.strip() != "@0":
        return ""
    (one,) = reductions
    if one.word in _TIMES:
        return "s"
    unit = known.get(one.formula, "")
    if one.word == "integral":
        return f"{unit} s" if unit else ""
    return unit if one.word not in OVER_EVENT or one.word in AT_EVENT else ""


# Tables.


def _table(head: list[str], rows: list[list[str]], kind: str = "") -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    start = f"<thead><tr>{top}</tr></thead>" if any(head) else ""
    return f"<div class='wide'><table class='{kind}'>{start}<tbody>{body}</tbody></table></div>"


def _settings(study: Study) -> str:
    plan = study.plan
    rows = [[", ".join(names), str(distribution)] for names, distribution in plan.samples.distributions.items()]
    rows += [[f"outcome {name}", _shortened(text)] for name, text in plan.outcome_table.outcomes.items()]
    rows += [[f"class {name}", text] for name, text in plan.outcome_table.classes.items()]
    rows += [["success", plan.outcome_table.success]] if plan.outcome_table.success is not None else []
    note = f"{plan.samples.design.value} design, seed {plan.samples.seed}; {plan.solver.name}; t = {plan.span[0]:g} to "
    return f"<p class='note'>{escape(note)}{plan.span[1]:g} s</p>{_table(['', ''], rows, 'text')}"


def _shortened(text: str) -> str:
    """A formula shortened to one line of a page."""
    return text if len(text) <= _LONGEST_FORMULA else f"{text[: _LONGEST_FORMULA - 4]} ..."


def _probabilities(study: Study) -> str:
    found: dict[str, Estimate] = {}
    if len(study) > 1:
        found |= {"success": study.probability()} if "success" in study.columns else {}
        found |= study.classes() if "class" in study.columns else {}
    rows = [
        f"<span>{escape(name)}</span><b><i data-width='{one.value:.6f}'></i></b>"
        f"<span>{one.value:.4f} ({one.low:.4f} to {one.high:.4f})</span>"
        for name, one in found.items()
    ]
    note = f"<p class='note'>Of {len(study.drawn['case'])} cases, with Wilson's intervals of 95 %.</p>"
    return f"{note}<div class='bars'>{''.join(rows)}</div>" if rows else ""


def _statistics(study: Study) -> str:
    rows, units = [], _units(study)
    for name in study.numbers:
        one = study.summary(name)
        numbers = [one.mean.value, one.mean.half_width, one.deviation, one.low]
        numbers += [one.quantiles[level].value for level in (0.05, 0.5, 0.95)]
        nominal = f"{float(study[name][0]):.6g}"
        cells = [f"{number:.5g}" for number in (*numbers, one.high)]
        tail = one.quantiles[0.99]
        last = f"{tail.value:.5g} ({tail.low:.5g} to {tail.high:.5g})"
        rows.append([name, units.get(name, ""), nominal, *cells, last, str(one.missing)])
    head = ["outcome", "unit", "nominal", "mean", "+- 95 %", "deviation", "min", "5 %", "median", "95 %", "max"]
    return _table([*head, "99 % quantile with its interval", "missing"], rows) if rows else ""


def _ranks(study: Study) -> str:
    """Spearman's correlations of the outcomes with the varied names; the script colors the cells."""
    if len(study) < 3:
        return ""
    head = "".join(f"<th>{escape(name)}</th>" for name in ("", *study.plan.samples.names))
    body = "".join(
        f"<tr><td>{escape(outcome)}</td>"
        + "".join(f"<td data-share='{value:.3f}'>{value:.2f}</td>" for value in ranks_of(study, outcome))
        + "</tr>"
        for outcome in _outcomes(study)
    )
    return f"<div class='wide'><table class='ranks'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def _indices(study: Study) -> str:
    """Sensitivity indices if SALib is installed; otherwise how to install it."""
    rows, method = [], ""
    try:
        for outcome in _outcomes(study):
            found = study.sensitivity(outcome)
            method = method if "indices" in method else found.method
            columns = found.first, found.first_half_width, found.total, found.total_half_width
            entries = sorted(zip(found.names, *columns, strict=True), key=lambda row: -float(np.nan_to_num(row[-2])))
            rows += [
                [outcome, name, *(f"{one:.3f}" if np.isfinite(one) else "" for one in row)] for name, *row in entries
            ]
    except (MissingPackageError, StudyError) as error:
        return f"<p class='note'>{escape(str(error))}</p>"
    head = ["outcome", "of", "first order", "+- 95 %", "total", "+- 95 %"]
    return f"<p class='note'>{escape(method)}</p>{_table(head, rows)}"


def _failures(study: Study) -> str:
    if not study.failures:
        return ""
    rows = [[str(one.case), one.status, one.reason] for one in study.failures[:_MOST_FAILURES]]
    more = f"the first {_MOST_FAILURES} of {len(study.failures)}" if len(study.failures) > _MOST_FAILURES else ""
    return f"<p class='note'>{more}</p>{_table(['case', 'status', 'reason'], rows, 'text')}"
