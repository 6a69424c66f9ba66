"""Mechanisms, equations, counts and solutions in a notebook: small tables, formulas and plots.

Names come from model files, so all text is escaped: nothing a model says becomes markup.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import singledispatch
from html import escape

import numpy as np

from kinegraph.graph.count import Operations, count
from kinegraph.graph.node import Graph
from kinegraph.io.records.write import write
from kinegraph.model.mechanism import Mechanism
from kinegraph.notation.latex import latex as graph_latex
from kinegraph.passes.pipeline import Reduction
from kinegraph.simulate.sweep import Sweep
from kinegraph.solve.results.solution import Solution
from kinegraph.view.plot import figure

_MOST_TYPESET = 600  # operations of equations that are still worth reading
_MOST_ROWS = 40
_COMMENT = re.compile(r"^%.*\n", re.MULTILINE)


@singledispatch
def html(shown: object) -> str | None:
    """An object as HTML; None if it has none."""
    return None


@singledispatch
def latex(shown: object) -> str | None:
    """An object as LaTeX that MathJax understands; None if it has none."""
    return None


@html.register
def _mechanism(shown: Mechanism) -> str:
    facts = [
        f"{len(shown.bodies)} bodies", f"{len(shown.coordinates)} coordinates", f"{len(shown.parameters)} parameters",
        *([f"{len(shown.elements)} elements"] if shown.elements else []),
    ]  # fmt: skip
    lines = write(shown).splitlines()
    text = "\n".join(lines[:_MOST_ROWS]) + ("\n..." if len(lines) > _MOST_ROWS else "")
    return f"<b>{escape(shown.name)}</b>: {', '.join(facts)}<pre>{escape(text)}</pre>"


@latex.register
def _equations(shown: Graph) -> str | None:
    if count(shown).total > _MOST_TYPESET:
        return None
    return _COMMENT.sub("", graph_latex(shown))


@html.register
def _large_graph(shown: Graph) -> str | None:
    """Only where equations are too long to be typeset: a notebook would show this instead of them."""
    operations = count(shown)
    if operations.total <= _MOST_TYPESET:
        return None
    outputs = ", ".join(f"{escape(one.name)} {list(one.shape)}" for one in shown.outputs)
    return f"<b>{outputs}</b>: {len(shown)} nodes{_counts(operations)}"


@html.register
def _counts(shown: Operations) -> str:
    names = [one.name for one in fields(shown)]
    return _table(names, [[str(getattr(shown, name)) for name in names]])


@html.register
def _reduction(shown: Reduction) -> str:
    names = [one.name for one in fields(Operations)]
    rows = [
        [report.name, *(str(getattr(report.after, name)) for name in names), f"{report.seconds:.3f}"]
        for report in shown.reports
    ]
    verdict = "proved equal" if shown.proved else "not proved"
    return _table(["pass", *names, "s"], rows) + f"<i>{verdict}</i>"


@html.register
def _solution(shown: Solution) -> str:
    if not len(shown.t):
        return f"<pre>{escape(str(shown))}</pre>"
    head = ["", "first", "last", "least", "most"]
    rows = [
        [name, *(f"{value:.6g}" for value in (column[0], column[-1], np.min(column), np.max(column)))]
        for name, column in list(shown.columns.items())[:_MOST_ROWS]
    ]
    return f"<pre>{escape(str(shown))}</pre>{_picture(shown)}{_table(head, rows)}"


def _picture(solution: Solution) -> str:
    """The plot as SVG within the page; matplotlib escapes the names."""
    target = io.StringIO()
    figure(solution).savefig(target, format="svg")
    return target.getvalue()[target.getvalue().index("<svg") :]


@html.register
def _sweep(shown: Sweep) -> str:
    head = ["", *(f"{name} at the end" for name in shown.names)]
    ends = shown.states[:, -1]
    rows = [
        [word, *(f"{value:.6g}" for value in part(ends, axis=0))]
        for word, part in (("least", np.nanmin), ("median", np.nanmedian), ("most", np.nanmax))
    ]
    return f"<pre>{escape(str(shown))}</pre>{_table(head, rows)}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><tr>{''.join(f'<th>{escape(cell)}</th>' for cell in head)}</tr>{body}</table>"
