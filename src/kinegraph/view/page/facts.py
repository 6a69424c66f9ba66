"""The page's tables: the model, its parameters, the operations, the solver's report. All text is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from kinegraph.derive.quantities.mobility import mobility
from kinegraph.io.records.write_elements import element_text
from kinegraph.model.evaluate import Value, float_values, number
from kinegraph.model.mechanism import Mechanism
from kinegraph.notation.mathml import math
from kinegraph.notation.mathml_names import name_mathml
from kinegraph.solve.results.solution import Solution
from kinegraph.view.page.equations import Counted

_KINDS = ("mul", "add", "div", "sqrt", "sin", "cos", "other")


def table(rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> str:
    """A table of cells that are HTML already; the first of each row is its heading."""
    top = f"<thead><tr>{''.join(f'<th>{cell}</th>' for cell in head)}</tr></thead>" if head else ""
    body = "".join(
        f"<tr><th>{first}</th>{''.join(f'<td>{cell}</td>' for cell in others)}</tr>" for first, *others in rows
    )
    return f"<table>{top}<tbody>{body}</tbody></table>"


def names(texts: Sequence[str]) -> list[str]:
    """Names of one list, all typeset as symbols; all as text if one of them is a word too long for a symbol."""
    symbols = [name_mathml(text) for text in texts]
    if any("<mtext>" in symbol for symbol in symbols):
        return [f'<span class="name">{escape(text.replace(chr(39), chr(8242)))}</span>' for text in texts]
    return [math(symbol) for symbol in symbols]


def size(mechanism: Mechanism) -> str:
    """How large a mechanism is."""
    count, moves = len(mechanism.bodies), mobility(mechanism).dof
    bodies = f"{count} {'body' if count == 1 else 'bodies'}"
    return bodies if moves is None else f"{bodies} · {moves} degree{'s' * (moves != 1)} of freedom"


def headline(mechanism: Mechanism, solution: Solution) -> str:
    """The line below the title of a run."""
    return f"{size(mechanism)} · {solution.t[-1] - solution.t[0]:.6g} s · {escape(solution.method)}"


def bodies(mechanism: Mechanism, values: Mapping[str, Value], missing: Sequence[str]) -> str:
    """The bodies with their masses, and which of them lack the shapes the model asks for."""
    rows = [
        (escape(body.name), escape(body.base or "fixed frame"), f"{number(body.inertia.mass, values):.6g}")
        for body in mechanism.bodies
    ]
    note = ", ".join(escape(one) for one in missing)
    tail = f'<p class="note">Shapes of {note} were not found or cannot be read; drawn as bars.</p>' if missing else ""
    return table(rows, ("body", "on", "mass / kg")) + tail


def parameters(mechanism: Mechanism, values: Mapping[str, Value]) -> str:
    """The parameters with the values of the run; nothing if there are none."""
    typeset = names([parameter.name for parameter in mechanism.parameters])
    known = float_values(values)
    found = [f"{known[parameter.name]:.6g}" for parameter in mechanism.parameters]
    return table(zip(typeset, found, strict=True)) if found else ""


def elements(mechanism: Mechanism) -> str:
    """The elements as the records have them; nothing if there are none."""
    texts = [element_text(element).removesuffix(";").partition("|") for element in mechanism.elements]
    rows = [(escape(head.strip()), f"<code>{escape(clauses.strip())}</code>") for head, _, clauses in texts]
    return table(rows) if rows else ""


def operations(found: Sequence[Counted]) -> str:
    """Operation counts before and after reduction."""
    if not found:
        return '<p class="note">Computed by loops over bodies; nothing is written out to be counted.</p>'
    rows: list[tuple[str, ...]] = []
    kinds = [kind for kind in _KINDS if any(getattr(side, kind) for one in found for side in (one.before, one.after))]
    for one in found:
        rows.append((f"{escape(one.title)} derived", *(str(getattr(one.before, kind)) for kind in kinds)))
        rows.append((f"{escape(one.title)} reduced", *(str(getattr(one.after, kind)) for kind in kinds)))
    proved = all(one.proved for one in found)
    seal = "proved equal to the equations as derived" if proved else "NOT proved"
    mark = '<span class="good">✓</span>' if proved else '<span class="bad">✗</span>'
    note = "τ inverse, q̈ forward dynamics, numbers for the parameters; what depends on them alone is free."
    return table(rows, ("", *kinds)) + f'<p class="verdict">{mark} {seal}</p><p class="note">{note}</p>'


def report(solution: Solution) -> str:
    """How the run went."""
    cost = solution.statistics
    rows = [
        ("method", escape(solution.method)), ("ended", escape(str(solution.ending))),
        ("steps", f"{cost.steps} ({cost.rejected} rejected)"), ("evaluations", str(cost.evaluations)),
        ("time", f"{cost.seconds:.3g} s"),
    ]  # fmt: skip
    if solution.simulated is not None and solution.simulated.rtol is not None:
        rows.insert(1, ("relative tolerance", f"{solution.simulated.rtol:g}"))
    for check in solution.checks:
        mark = '<span class="good">✓</span>' if check.passed else '<span class="bad">✗</span>'
        rows.append((f"{mark} {escape(check.name)}", f"{check.error:.2e}"))
    if solution.events:
        rows.append(("events", str(len(solution.events))))
    return table(rows)
