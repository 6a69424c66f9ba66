"""Tables and equations of a page: model, parameters, operation counts, solver report. All text is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape

from kinegraph import library
from kinegraph.compiler import stored
from kinegraph.compiler.compile import LARGE
from kinegraph.compiler.request import request_of
from kinegraph.derive.quantities.mobility import mobility
from kinegraph.errors import DerivationError, ModelError
from kinegraph.graph.count import Operations, count
from kinegraph.io.language.writer import element_text
from kinegraph.model.constraints import is_constrained
from kinegraph.model.evaluate import Value, float_values, number
from kinegraph.model.expressions import Expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.notation.mathml import Display, Displays, math, mathml, name_mathml
from kinegraph.solve.solution import Solution

# Equations: typeset, counted before and after reduction, proved.

#: Longer lists of equations are not typeset: the page would grow by megabytes.
MOST_EQUATIONS = 800
#: Lists up to this length are expanded.
_OPEN = 16

#: Significant digits of numbers in equations; the page shows all digits on demand.
DIGITS = 5
_ROUNDED = (
    f'<p class="note">Numbers are rounded to {DIGITS} digits. '
    '<label><input id="exact" type="checkbox"> Show all digits</label></p>'
)

_TYPESET = {
    "H,gravity": "Inertia matrix <i>H</i> and gravity <i>h</i><sup>G</sup>",
    "tau": "Inverse dynamics <i>τ</i>",
}
_COUNTED = {"tau": "τ", "qdd": "q̈"}


@dataclass(frozen=True)
class Counted:
    """One quantity with numbers for the parameters: operations as derived and as reduced, and the proof."""

    title: str
    before: Operations
    after: Operations
    proved: bool


def counted(mechanism: Mechanism, bound: Mapping[str, Expression]) -> list[Counted]:
    """The counts of inverse and forward dynamics; empty for systems too large to be written out."""
    if len(mechanism.layout.velocities) > LARGE:
        return []
    found = []
    for quantity, title in _COUNTED.items():
        try:
            request = request_of(replace(mechanism, contacts=()), quantity, parameters=bound)
            reduced = stored.reduced(stored.resolve_closure(request))
        except DerivationError:  # e.g. no forward dynamics of a joint that moves no mass
            continue
        found.append(Counted(title, reduced.first, count(reduced.graph), proved=True))
    return found


def typeset(mechanism: Mechanism, source: str | None = None) -> str:
    """The equations as HTML, parameters as symbols, each list folded if it is long.

    source: the name of the model on the command line, for the command that prints what is too long for a page.
    """
    sections = []
    open_contacts = replace(mechanism, contacts=())  # their forces are the legend's lambda
    for quantities, title in _TYPESET.items():
        found = None
        if len(mechanism.layout.velocities) <= LARGE:
            request = stored.resolve_closure(request_of(open_contacts, quantities))
            found = mathml(stored.reduced(request).graph, mechanism, DIGITS)
        if found is None or len(found.abbreviations) + len(found.entries) > MOST_EQUATIONS:
            sections.append(_left_out(title, quantities, mechanism, source))
        else:
            sections.append(_section(title, found))
    rounded = any("data-exact" in section for section in sections)
    return "\n".join([_legend(mechanism), *([_ROUNDED] if rounded else []), *sections])


def _legend(mechanism: Mechanism) -> str:
    """The general form: H(q) q'' + C(q, q') q' + h^G(q) = tau, with Q of elements and J^T lambda of constraints."""
    rate, second = _dotted("˙"), _dotted("¨")
    forces = "<mo>+</mo><mi>Q</mi>" if mechanism.elements else ""
    tied = is_constrained(mechanism) or bool(mechanism.contacts)
    if tied:
        forces += "<mo>+</mo><msup><mi>J</mi><mi>T</mi></msup><mi>λ</mi>"
    law = (
        f"<mi>H</mi>{_of('<mi>q</mi>')}{second}<mo>+</mo><mi>C</mi>{_of(f'<mi>q</mi><mo>,</mo>{rate}')}{rate}"
        f"<mo>+</mo><msup><mi>h</mi><mi>G</mi></msup>{_of('<mi>q</mi>')}<mo>=</mo><mi>τ</mi>{forces}"
    )
    means = ["<i>Q</i> the forces of springs, dampers and other elements"] if mechanism.elements else []
    means += [f"<i>λ</i> the forces of {_force_sources(mechanism)}, whose rows are <i>J</i>"] if tied else []
    where = f"<p>with {' and '.join(means)}</p>" if means else ""
    return f'<div class="law"><math display="block"><mrow>{law}</mrow></math>{where}</div>'


def _force_sources(mechanism: Mechanism) -> str:
    words = ["loops and constraints"] * is_constrained(mechanism) + ["closed contacts"] * bool(mechanism.contacts)
    return " and of ".join(words)


def _dotted(accent: str) -> str:
    return f'<mover accent="true"><mi>q</mi><mo>{accent}</mo></mover>'


def _of(arguments: str) -> str:
    return f'<mrow><mo stretchy="false">(</mo>{arguments}<mo stretchy="false">)</mo></mrow><mspace width="0.16em"/>'


def _section(title: str, found: Displays) -> str:
    total = len(found.abbreviations) + len(found.entries)
    state = " open" if total <= _OPEN else ""
    inner = []
    if found.abbreviations:
        inner.append(f"<h4>Abbreviations</h4>{_list(found.abbreviations, 'short')}")
    inner.append(f"<h4>Entries</h4>{_list(found.entries, 'long')}" if found.abbreviations else _list(found.entries))
    words = f"{len(found.entries)} entries, {len(found.abbreviations)} abbreviations"
    return f'<details{state}><summary>{title}<span class="note">{words}</span></summary>{"".join(inner)}</details>'


def _list(displays: Sequence[Display], kind: str = "long") -> str:
    return f'<div class="equations {kind}">{"".join(_rows(displays))}</div>'


def _rows(displays: Sequence[Display]) -> Iterator[str]:
    for display in displays:
        terms = "<wbr>".join(display.terms)
        yield f'<div class="equation"><span>{display.left}</span><span>{terms}</span></div>'


def _left_out(title: str, quantities: str, mechanism: Mechanism, source: str | None) -> str:
    source = source or _name_in_library(mechanism)
    if source is not None:
        way = f"kinegraph derive {source} -q {quantities}"
    else:
        way = f'print(kg.formula(kg.derive(mechanism, "{quantities}")))'
    return f'<p class="left-out">{title}: too long for a page; print it with <code>{escape(way)}</code></p>'


def _name_in_library(mechanism: Mechanism) -> str | None:
    """The library name of the mechanism on the command line; None if it is not in the library."""
    try:
        return mechanism.name if library.mechanism(mechanism.name) == mechanism else None
    except ModelError:
        return None


# Tables: the model, its parameters, the operations, the solver's report. All text is escaped here.

_KINDS = ("mul", "add", "div", "sqrt", "sin", "cos", "other")


def table(rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> str:
    """A table of cells that are already HTML; the first of each row is its heading."""
    top = f"<thead><tr>{''.join(f'<th>{cell}</th>' for cell in head)}</tr></thead>" if head else ""
    body = "".join(
        f"<tr><th>{first}</th>{''.join(f'<td>{cell}</td>' for cell in others)}</tr>" for first, *others in rows
    )
    return f"<table>{top}<tbody>{body}</tbody></table>"


def names(texts: Sequence[str]) -> list[str]:
    """Names of a list, all typeset as symbols; all as text if one of them is a word too long for a symbol."""
    symbols = [name_mathml(text) for text in texts]
    if any("<mtext>" in symbol for symbol in symbols):
        return [f'<span class="name">{escape(text.replace(chr(39), chr(8242)))}</span>' for text in texts]
    return [math(symbol) for symbol in symbols]


def size(mechanism: Mechanism) -> str:
    """The size of a mechanism."""
    count, moves = len(mechanism.bodies), mobility(mechanism).dof
    bodies = f"{count} {'body' if count == 1 else 'bodies'}"
    return bodies if moves is None else f"{bodies} · {moves} degree{'s' * (moves != 1)} of freedom"


def headline(mechanism: Mechanism, solution: Solution) -> str:
    """The line below the title of a run."""
    return f"{size(mechanism)} · {solution.t[-1] - solution.t[0]:.6g} s · {escape(solution.method)}"


def bodies(mechanism: Mechanism, values: Mapping[str, Value], missing: Sequence[str]) -> str:
    """The bodies with their masses, and those without the shapes that the model names."""
    rows = [
        (escape(body.name), escape(body.base or "fixed frame"), f"{number(body.inertia.mass, values):.6g}")
        for body in mechanism.bodies
    ]
    note = ", ".join(escape(one) for one in missing)
    tail = f'<p class="note">Shapes of {note} were not found or cannot be read; drawn as bars.</p>' if missing else ""
    return table(rows, ("body", "on", "mass / kg")) + tail


def parameters(mechanism: Mechanism, values: Mapping[str, Value]) -> str:
    """The parameters with the values of the run; empty if there are none."""
    typeset = names([parameter.name for parameter in mechanism.parameters])
    known = float_values(values)
    found = [f"{known[parameter.name]:.6g}" for parameter in mechanism.parameters]
    return table(zip(typeset, found, strict=True)) if found else ""


def elements(mechanism: Mechanism) -> str:
    """The elements as in the model file; empty if there are none."""
    texts = [element_text(element).removesuffix(";").partition("|") for element in mechanism.elements]
    rows = [(escape(head.strip()), f"<code>{escape(clauses.strip())}</code>") for head, _, clauses in texts]
    return table(rows) if rows else ""


def operations(found: Sequence[Counted]) -> str:
    """Operation counts before and after reduction."""
    if not found:
        return '<p class="note">Computed by recursive algorithms; no equations are written out to count.</p>'
    rows: list[tuple[str, ...]] = []
    kinds = [kind for kind in _KINDS if any(getattr(side, kind) for one in found for side in (one.before, one.after))]
    for one in found:
        rows.append((f"{escape(one.title)} derived", *(str(getattr(one.before, kind)) for kind in kinds)))
        rows.append((f"{escape(one.title)} reduced", *(str(getattr(one.after, kind)) for kind in kinds)))
    proved = all(one.proved for one in found)
    seal = "proved equal to the derived equations" if proved else "NOT proved"
    mark = '<span class="good">✓</span>' if proved else '<span class="bad">✗</span>'
    note = (
        "τ inverse, q̈ forward dynamics, with numbers for the parameters; operations on parameters "
        "alone are not counted."
    )
    return table(rows, ("", *kinds)) + f'<p class="verdict">{mark} {seal}</p><p class="note">{note}</p>'


def events(solution: Solution, most: int) -> str:
    """The events of the run, each time a button that shows its moment; empty if there are none."""
    found = solution.events[:most]
    rows = [
        (f'<button type="button" data-time="{event.time!r}">{event.time:.6g} s</button>', escape(event.name))
        for event in found
    ]
    left = len(solution.events) - len(found)
    return table(rows) + (f'<p class="note">and {left} more</p>' if left else "") if rows else ""


def report(solution: Solution) -> str:
    """The report of the run."""
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
