"""Studies from the page: many cases of the model, and what a click on one of them needs to run it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

import numpy as np

from kinegraph.errors import StudyError
from kinegraph.studies.study import study
from kinegraph.studio.model_text import read_model
from kinegraph.studio.requests import Arguments, Channel
from kinegraph.studio.runs import command, python
from kinegraph.studio.scene import settings

#: More cases belong on the command line, which saves them and can be continued.
MOST_CASES = 5000


def run_study(arguments: Arguments, channel: Channel) -> dict[str, object]:
    """Run cases with varied parameters and initial values, from the initial state of the model.

    Answers with a row of varied values and outcomes for each case, and with statistics of each outcome.
    """
    mechanism, given = read_model(arguments), settings(read_model(arguments), arguments)
    vary, outcomes = _texts(arguments.get("vary")), _texts(arguments.get("outcomes"))
    cases, duration = int(str(arguments.get("cases") or 100)), float(str(arguments.get("duration") or 5))
    if not vary:
        raise StudyError("nothing is varied: write a line such as `m1: uniform(0.8, 1.2)`")
    if not 1 <= cases <= MOST_CASES:
        raise StudyError(f"{cases} cases: the studio runs 1 to {MOST_CASES}; `kinegraph study` runs more")
    channel.progress(0.1, f"running {cases} cases")
    found = study(
        mechanism, duration, vary=vary, cases=cases, outcomes=outcomes or None, seed=0, parameters=given,
        progress=False,
    )  # fmt: skip
    varied = [name.strip() for names in vary for name in names.split(",")]
    results = [name for name, column in found.columns.items() if _is_result(name, column, varied)]
    if len(results) > 1 and np.ptp(np.asarray(found["end_time"], float)) == 0:
        results.remove("end_time")  # all cases ran to the end
    columns = {name: np.asarray(found[name], float) for name in (*varied, *results)}
    positions = set(mechanism.layout.initial)
    options = "".join(f" --vary {shlex.quote(f'{name}={text}')}" for name, text in vary.items())
    options += "".join(f" --outcome {shlex.quote(f'{name}={text}')}" for name, text in outcomes.items())
    options = f"study {{model}} --duration {duration:g} --cases {cases} --seed 0" + _literal(options)
    code = f"print(kg.study(model, {duration:g}, vary={vary!r}, cases={cases}, outcomes={outcomes or None!r}, seed=0"
    return {
        "varied": varied,
        "outcomes": results,
        "columns": {name: column.tolist() for name, column in columns.items()},
        "states": [name for name in varied if name in positions],
        "statistics": [_statistics(name, columns[name]) for name in results],
        "failures": len(found.failures),
        "cases": len(found),
        "duration": duration,
        "command": command(arguments, options, {}),
        "python": python(arguments, _literal(code) + "{parameters}))", {}),
    }  # fmt: skip


def _literal(text: str) -> str:
    """A text that `format` leaves as it is."""
    return text.replace("{", "{{").replace("}", "}}")


def _texts(given: object) -> dict[str, str]:
    return {str(name): str(text) for name, text in given.items()} if isinstance(given, Mapping) else {}


def _is_result(name: str, column: object, varied: list[str]) -> bool:
    fixed = ("case", "status", "reason", "steps")
    return name not in (*fixed, *varied) and np.asarray(column).dtype.kind in "fiub"


def _statistics(name: str, column: np.ndarray) -> dict[str, object]:
    """Mean, deviation and quantiles of the cases after the nominal one; those without a value are left out."""
    values = column[1:][np.isfinite(column[1:])]
    if not len(values):
        return {"name": name, "values": []}
    quantiles = np.quantile(values, [0.0, 0.05, 0.5, 0.95, 1.0])
    counts, edges = np.histogram(values, bins=min(30, max(5, len(values) // 8)))
    return {
        "name": name, "values": [float(values.mean()), float(values.std()), *map(float, quantiles)],
        "counts": counts.tolist(), "edges": edges.tolist(),
    }  # fmt: skip
