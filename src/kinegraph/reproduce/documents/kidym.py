"""KiDyM: faster dynamics through generated native code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kinegraph.compiler.request import request_of
from kinegraph.compiler.stored import reduced
from kinegraph.graph.count import Operations, count
from kinegraph.io import parse
from kinegraph.model.mechanism import Mechanism, Rotation
from kinegraph.passes.effort import Effort
from kinegraph.reproduce import kidym_native_code as rule
from kinegraph.reproduce.document import Chapter, Document, Entry, Verdict, fewer, held, measured, number
from kinegraph.reproduce.kidym_counts import FUNCTIONS, Form, Tally, both_forms, both_nearest
from kinegraph.reproduce.kidym_native_code import EXAMPLES, Row, measure_table_2

_UNSAID = "the document does not say what is computed and what is counted"


def published_counts() -> tuple[Entry, ...]:
    """Every output and every counting rule that was tried, beside the printed counts; the nearest ones first."""
    forms = both_forms()
    return (*_conclusions(forms), *_tries(forms))


def _conclusions(forms: Mapping[str, Form]) -> Iterator[Entry]:
    rotations = sum(isinstance(one, Rotation) for body in forms["new"].mechanism.bodies for one in body.transforms)
    yield fewer("functions: a sine and a cosine for every rotation of the records", FUNCTIONS, 2 * rotations)
    same = forms["old"].equations == forms["new"].equations
    ours = "the same counts" if same else "other counts"
    yield held("equations of motion by our graphs, old and new form", "724 + 695, 364 + 421", ours, same)
    for form in forms.values():
        found = form.nearest
        yield measured(f"{form.name} form, nearest: {found.output}, {found.rule}", _printed(form), str(found), _UNSAID)
    output, rule, _ = both_nearest(forms)
    ours = "; ".join(
        str(one) for form in forms.values() for one in form.tallies if (one.output, one.rule) == (output, rule)
    )
    yield measured(f"both forms, nearest: {output}, {rule}", "724 + 695; 364 + 421", ours, _PLAUSIBLE)


_PLAUSIBLE = (
    "the most plausible reading: the kinematics of the right-hand sides, counted by records. 28 "
    "functions are two for every written rotation, including psiL and psiR, which only a count by "
    "records has; the ratio of old to new form too. A complete set of equations has more operations "
    "by any rule, in the document's own formulas too"
)


def _tries(forms: Mapping[str, Form]) -> Iterator[Entry]:
    for form in forms.values():
        yield from (_tried(form, tally) for tally in form.tallies)


def _tried(form: Form, tally: Tally) -> Entry:
    printed = form.printed
    lower = tally.mul <= printed.mul and tally.add <= printed.add and tally.functions <= FUNCTIONS
    verdict = Verdict.BETTER if lower else Verdict.EXPLAINED
    reason = "" if lower else _UNSAID
    return Entry(f"{form.name} form, {tally.output}, {tally.rule}", _printed(form), str(tally), verdict, reason)


def _printed(form: Form) -> str:
    return f"{form.printed.mul} + {form.printed.add}, {FUNCTIONS} functions"


_TOP = """quaternion (e0, e1, e2, e3) velocity{word} (wx, wy, wz);
Nut | Q(e0, e1, e2, e3) | m(1), Jx(2.03), Jy(2.51), Jz(2.9){products};"""
_PRODUCTS = ", Jxy(0.31), Jyz(0.17), Jxz(-0.13)"


def principal_axes() -> tuple[Entry, ...]:
    """A free body with products of inertia in Euler's equations: as given, and in principal axes."""
    given, short, unreduced = (
        _operations(parse(_TOP.format(word=word, products=products)), "tau")
        for word, products in (("", ""), (" principal", _PRODUCTS), ("", _PRODUCTS))
    )
    text = f"{short.mul} mul, {short.add} add; the body without products {given.mul} mul, {given.add} add"
    other = f"{unreduced.mul} mul, {unreduced.add} add"
    return (
        held("products of inertia, velocities about principal axes: tau", "the short form", text, short == given),
        held("the same about the axes of the model: tau", "longer", other, unreduced.total > short.total),
    )


def _operations(mechanism: Mechanism, quantity: str) -> Operations:
    return count(reduced(request_of(mechanism, quantity, numeric=True, effort=Effort.QUICK)).graph)


def native_code() -> tuple[Entry, ...]:
    """Table 2: time without native code, size of the source, time to compile, time with native code."""
    return tuple(entry for example in EXAMPLES for entry in _native_entries(measure_table_2(example, repeats=1)))


_OTHER = "another machine; the document gives neither time spans nor tolerances"
_INTERPRETER = "our interpreter is plain Python, KiDyM's was compiled: only the direction can be compared"


def _native_entries(row: Row) -> Iterator[Entry]:
    title, printed = row.example.title, row.example.published
    yield measured(f"{title}: without native code", f"{printed.without:g} s", f"{row.without:.2f} s", _OTHER)
    yield measured(f"{title}: source", f"{printed.source:g} KB", f"{row.source:.1f} KB", "other code, fewer operations")
    for what in ("object", "library"):
        size = f"{getattr(row.sizes, what):.1f} KB" if row.sizes else "no gcc"
        yield measured(f"{title}: {what}", f"{getattr(printed, what)} KB", size, "another compiler")
    yield measured(f"{title}: compiling", f"{printed.compiling:g} s", f"{row.compiling:.2f} s", _OTHER)
    yield measured(f"{title}: with native code", f"{printed.native:g} s", f"{row.native:.4f} s", _OTHER)
    yield measured(f"{title}: ratio", f"{printed.ratio:.2f}", f"{row.ratio:.0f}", _INTERPRETER)


def cube_root() -> tuple[Entry, ...]:
    """How the gain grows with the size of the source."""
    rows = [rule.measure_gain(model) for model in rule.MODELS]
    reason = (
        "KiDyM walks trees and marks what it has computed, which costs more the larger the model; our "
        "interpreter runs the same straight-line program as the machine code, so its loss does not "
        "depend on the size"
    )
    fitted = rule.exponent(rows)
    return (number("gain as a power of the size of the source", "0.33", fitted, reason),)


KIDYM = Document(
    "kidym",
    "KiDyM: faster dynamics through generated native code",
    "Rigid bodies as records, equations in closed form, native code for their right-hand sides",
    (
        Chapter(
            "Old and new form of records",
            "Operations of the legs of a walking robot (12 coordinates). Section 2 of a record ends in the "
            "body's central frame (old) or in any link frame (new). Parameters are symbols, as in the "
            "document. The document says neither what is computed nor what is counted: every output is "
            "counted by every plausible rule, in our graphs and by the document's own formulas, record by "
            "record.",
            "kinegraph count kidym-biped-new -q H --effort quick",
            published_counts,
        ),
        Chapter(
            "Principal axes",
            "J = V I V^T once, V in the kinematic equations: `velocity principal (wx, wy, wz)` of a "
            "quaternion. `nut.kg` is on the page docs/papers.md.",
            "kinegraph count nut.kg -q tau",
            principal_axes,
        ),
        Chapter(
            "Table 2: with and without native code",
            "The same three examples; time spans are ours.",
            "python -m benchmarks kidym",
            native_code,
        ),
        Chapter(
            "The cube-root rule",
            "Right-hand sides as C, compiled by gcc; the exponent is fitted over fourteen models.",
            "python -m benchmarks kidym-rule",
            cube_root,
        ),
    ),
)
