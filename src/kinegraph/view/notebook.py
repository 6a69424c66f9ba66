"""Mechanisms, equations, counts and solutions in a notebook: widgets, and small tables, formulas and plots.

Names come from model files, so all text is escaped: nothing in a model becomes markup.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from functools import singledispatch
from html import escape
from importlib.util import find_spec

import numpy as np

from kinegraph.compiler.base_parameters import BaseParameters
from kinegraph.docking.result import DockingRun
from kinegraph.errors import KinegraphError
from kinegraph.graph.count import Operations, count
from kinegraph.graph.node import Graph
from kinegraph.io.language.writer import write
from kinegraph.model.mechanism import Mechanism
from kinegraph.notation.latex import latex as graph_latex
from kinegraph.passes.pipeline import Reduction
from kinegraph.simulate.sweep import Sweep
from kinegraph.solve.solution import Solution
from kinegraph.studies.results import Study
from kinegraph.tasks.modes import Modes
from kinegraph.view.plot import figure

_MOST_TYPESET = 600  # operations of equations that are still readable
_MOST_ROWS = 40
_COMMENT = re.compile(r"^%.*\n", re.MULTILINE)


def mimebundle(item: object) -> Mapping[str, object] | None:
    """The widget of an item, in a notebook with anywidget; None elsewhere, and if the item has no widget."""
    if not isinstance(item, Mechanism | Solution | Modes | Study | DockingRun) or not _has_widgets():
        return None
    from kinegraph.view.widget import widget

    try:
        bundle = widget(item)._repr_mimebundle_()
    except KinegraphError:  # e.g. parameters without values, or a solution read from a file: shown as a table
        return None
    forms: Mapping[str, object] | None = bundle[0] if isinstance(bundle, tuple) else bundle
    return forms


def _has_widgets() -> bool:
    """Whether the process is the kernel of a notebook, and anywidget is installed."""
    terminal = sys.modules.get("IPython")
    shell = terminal.get_ipython() if terminal is not None else None
    return hasattr(shell, "kernel") and find_spec("anywidget") is not None


@singledispatch
def html(item: object) -> str | None:
    """An object as HTML; None if it has no such form."""
    return None


@singledispatch
def latex(item: object) -> str | None:
    """An object as LaTeX for MathJax; None if it has no such form."""
    return None


@html.register
def _mechanism(item: Mechanism) -> str:
    facts = [
        f"{len(item.bodies)} bodies", f"{len(item.coordinates)} coordinates", f"{len(item.parameters)} parameters",
        *([f"{len(item.elements)} elements"] if item.elements else []),
    ]  # fmt: skip
    lines = write(item).splitlines()
    text = "\n".join(lines[:_MOST_ROWS]) + ("\n..." if len(lines) > _MOST_ROWS else "")
    return f"<b>{escape(item.name)}</b>: {', '.join(facts)}<pre>{escape(text)}</pre>"


@latex.register
def _equations(item: Graph) -> str | None:
    if count(item).total > _MOST_TYPESET:
        return None
    return _COMMENT.sub("", graph_latex(item))


@html.register
def _large_graph(item: Graph) -> str | None:
    """Only for equations that are too long to typeset: a notebook would show this instead of them."""
    operations = count(item)
    if operations.total <= _MOST_TYPESET:
        return None
    outputs = ", ".join(f"{escape(one.name)} {list(one.shape)}" for one in item.outputs)
    return f"<b>{outputs}</b>: {len(item)} nodes{_counts(operations)}"


@html.register
def _counts(item: Operations) -> str:
    names = [one.name for one in fields(item)]
    return _table(names, [[str(getattr(item, name)) for name in names]])


@html.register
def _base_parameters(found: BaseParameters) -> str:
    rows = [[one.name, one.formula] for one in found.parameters[:_MOST_ROWS]]
    more = len(found) - len(rows)
    notes = [
        *([f"{more} more: print() lists them all"] if more else []),
        *([f"no effect: {', '.join(found.idle)}"] if found.idle else []),
        *([] if found.minimal else ["a smaller set may exist"]),
    ]
    return _table(["base parameter", "formula"], rows) + "".join(f"<p><i>{escape(note)}</i></p>" for note in notes)


@html.register
def _reduction(item: Reduction) -> str:
    names = [one.name for one in fields(Operations)]
    rows = [
        [report.name, *(str(getattr(report.after, name)) for name in names), f"{report.seconds:.3f}"]
        for report in item.reports
    ]
    verdict = "proved equal" if item.proved else "not proved"
    return _table(["pass", *names, "s"], rows) + f"<i>{verdict}</i>"


@html.register
def _solution(item: Solution) -> str:
    if not len(item.t):
        return f"<pre>{escape(str(item))}</pre>"
    head = ["", "first", "last", "least", "most"]
    rows = [
        [name, *(f"{value:.6g}" for value in (column[0], column[-1], np.min(column), np.max(column)))]
        for name, column in list(item.columns.items())[:_MOST_ROWS]
    ]
    return f"<pre>{escape(str(item))}</pre>{_picture(item)}{_table(head, rows)}"


def _picture(solution: Solution) -> str:
    """The plot as inline SVG; matplotlib escapes the names."""
    target = io.StringIO()
    figure(solution).savefig(target, format="svg")
    return target.getvalue()[target.getvalue().index("<svg") :]


@html.register
def _sweep(item: Sweep) -> str:
    head = ["", *(f"{name} at the end" for name in item.names)]
    ends = item.states[:, -1]
    rows = [
        [word, *(f"{value:.6g}" for value in part(ends, axis=0))]
        for word, part in (("least", np.nanmin), ("median", np.nanmedian), ("most", np.nanmax))
    ]
    return f"<pre>{escape(str(item))}</pre>{_table(head, rows)}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><tr>{''.join(f'<th>{escape(cell)}</th>' for cell in head)}</tr>{body}</table>"
