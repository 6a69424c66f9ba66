"""KiDyM: faster dynamics through generated native code."""

from __future__ import annotations

from collections.abc import Iterator

from kinegraph.bench.kidym import rule
from kinegraph.bench.kidym.table_2 import EXAMPLES, Row, measure
from kinegraph.compiler.chain import Chain
from kinegraph.compiler.load import load
from kinegraph.compiler.request import request_of
from kinegraph.graph.count import Operations, count
from kinegraph.io import parse
from kinegraph.model.mechanism import Mechanism
from kinegraph.passes.pipeline import Effort
from kinegraph.reproduce.document import Chapter, Document
from kinegraph.reproduce.entry import Entry, fewer, held, measured, number

_FORMS = {"old": "kidym-biped-old", "new": "kidym-biped-new"}
_PRINTED = {"old": Operations(mul=724, add=695, div=2), "new": Operations(mul=364, add=421, div=2)}

#: What the printed counts might be counts of: the document does not say.
_OUTPUTS = ("H", "gravity", "bias", "tau", "qdd", "H,bias", "energy")

_UNSAID = (
    "the document does not say what is computed; `H` is below it, `tau` is not: both forms of record give one and the "
    "same graph here"
)


def forms_of_records() -> tuple[Entry, ...]:
    """Old and new form of the records of the walking legs, for every output the count may be meant for."""
    return tuple(entry for form in _FORMS for entry in _form_entries(form))


def _form_entries(form: str) -> Iterator[Entry]:
    printed = _PRINTED[form]
    mechanism = load(_FORMS[form])
    for outputs in _OUTPUTS:
        graph = Chain(request_of(mechanism, outputs, numeric=False, effort=Effort.QUICK)).reduced.graph
        found = count(graph)
        yield fewer(f"{form} form, {outputs}: mul", printed.mul, found.mul, _UNSAID)
        yield fewer(f"{form} form, {outputs}: add", printed.add, found.add, _UNSAID)
        yield fewer(f"{form} form, {outputs}: functions", 28, found.sin + found.cos, _UNSAID)


_TOP = """quaternion (e0, e1, e2, e3) velocity{word} (wx, wy, wz);
Nut | Q(e0, e1, e2, e3) | m(1), Jx(2.03), Jy(2.51), Jz(2.9){products};"""
_PRODUCTS = ", Jxy(0.31), Jyz(0.17), Jxz(-0.13)"


def principal_axes() -> tuple[Entry, ...]:
    """A free body with products of inertia in Euler's equations: as it is given, and in principal axes."""
    given, short, plain = (
        _operations(parse(_TOP.format(word=word, products=products)), "tau")
        for word, products in (("", ""), (" principal", _PRODUCTS), ("", _PRODUCTS))
    )
    text = f"{short.mul} mul, {short.add} add; the body without products {given.mul} mul, {given.add} add"
    other = f"{plain.mul} mul, {plain.add} add"
    return (
        held("products of inertia, velocities about principal axes: tau", "the short form", text, short == given),
        held("the same about the axes of the model: tau", "longer", other, plain.total > short.total),
    )


def _operations(mechanism: Mechanism, quantity: str) -> Operations:
    return count(Chain(request_of(mechanism, quantity, numeric=True, effort=Effort.QUICK)).reduced.graph)


def native_code() -> tuple[Entry, ...]:
    """Table 2: time without native code, size of the source, time to compile, time with native code."""
    return tuple(entry for example in EXAMPLES for entry in _native_entries(measure(example, repeats=1)))


_OTHER = "another machine; the document says neither spans of time nor tolerances"
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
    rows = [rule.measure(model) for model in rule.MODELS]
    reason = (
        "KiDyM walks trees and marks what it has computed, which costs more the larger the model; our interpreter runs "
        "the same straight line as the machine code, so its loss does not depend on the size"
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
            "Operations of the legs of a walking robot (12 coordinates). Section 2 of a record ends in the body's "
            "central frame (old) or in any link frame (new). Parameters are symbols, as in the document.",
            "kinegraph ops kidym-biped-new -q H --effort quick",
            forms_of_records,
        ),
        Chapter(
            "Principal axes",
            "J = V I V^T once, V in the kinematic equations: `velocity principal (wx, wy, wz)` of a "
            "quaternion. `nut.kg` is on the page docs/papers.md.",
            "kinegraph ops nut.kg -q tau",
            principal_axes,
        ),
        Chapter(
            "Table 2: with and without native code",
            "The same three examples; spans of time are ours.",
            "kinegraph bench kidym",
            native_code,
        ),
        Chapter(
            "The rule of the cube root",
            "Right-hand sides as C, compiled by gcc; the exponent is fitted over fourteen models.",
            "kinegraph bench kidym-rule",
            cube_root,
        ),
    ),
)
