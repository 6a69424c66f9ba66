"""Racković's dissertation: symbolic models of complex mechanisms in a database."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler.compile import compile, derive
from kinegraph.compiler.derive import in_closed_form
from kinegraph.compiler.mechanism_source import load
from kinegraph.compiler.request import request_of
from kinegraph.compiler.stored import reduced
from kinegraph.derive.tree.expressions import Names
from kinegraph.errors import Place
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.count import Operations, count
from kinegraph.graph.node import Graph, Output
from kinegraph.graph.proof import prove
from kinegraph.io.language.expressions import read_expression
from kinegraph.io.vectors import read_vectors
from kinegraph.model.expressions import Expression, Number
from kinegraph.passes.effort import Effort
from kinegraph.passes.like_rackovic import Case, like_rackovic
from kinegraph.reproduce.document import Chapter, Document, Entry, Verdict, fewer, number
from kinegraph.reproduce.printed import table, text
from kinegraph.reproduce.rackovic_elements import complete_expressions, model_3_1, printed_h11, simplified_expressions
from kinegraph.reproduce.rackovic_walker import first_series, second_series, third_series, totals, whole_walker

_ALL = "H,C,gravity"


def numbers_of_example() -> tuple[Entry, ...]:
    """Table 2.2: h^G, H and C at the printed pose. The pose has five decimals, the results six."""
    printed = table("rackovic_table_2_2")
    q = [float(angle) for angle in printed["q"]]
    found, slack = _at(q, 0.5e-5)
    return tuple(_table_entries(printed, found, slack))


#: Printed as 0.001, its mirror C^5_65 as 0; C is symmetric, and by the formula it is 0.
_MISPRINT = "C^5_56"


def _table_entries(
    printed: dict[str, tuple[str, ...]], found: dict[str, np.ndarray], slack: dict[str, np.ndarray]
) -> Iterator[Entry]:
    for row, values in printed.items():
        for i, value in enumerate(values):
            if row == "q":
                continue
            quantity, index, name = _place(row, i)
            reason = "a misprint: its mirror C^5_65 is printed as 0.0" if name == _MISPRINT else ""
            yield number(name, value, found[quantity][index], reason, slack[quantity][index])


def _place(row: str, i: int) -> tuple[str, tuple[int, ...], str]:
    """The quantity, the index and the name of an entry: rows are h, H2 (second index) or C31 (upper, second index)."""
    if row == "h":
        return "gravity", (i,), f"h^G_{i + 1}"
    if row.startswith("H"):
        j = int(row[1]) - 1
        return "H", (i, j), f"H_{i + 1}{j + 1}"
    k, j = int(row[1]) - 1, int(row[2]) - 1
    return "C", (k, i, j), f"C^{k + 1}_{i + 1}{j + 1}"


def _at(q: list[float], rounding: float) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The quantities at a position, and their possible changes by the rounding of every angle."""
    arm = load("rackovic-6r")
    words = _ALL.split(",")
    kernel, slopes = compile(arm, words), compile(arm, [f"d({word})/d(q)" for word in words])
    assert isinstance(kernel, Kernel) and isinstance(slopes, Kernel)
    found = dict(kernel(q))
    by_angle = dict(slopes(q))
    slack = {word: rounding * np.abs(by_angle[f"d({word})/d(q)"]).sum(axis=-1) for word in words}
    return found, slack


def symbolic_element() -> tuple[Entry, ...]:
    """Section 2.5.3: H_44 with all parameters as symbols, compared with ours in the field.

    The masses 4 and 5 are one and do not occur in the printed formula. Its vectors have the direction along the link
    as their third component, the table as its second.
    """
    printed = text("rackovic_h44.txt")
    exchanged = printed.replace("J6x", "J?").replace("J6z", "J6x").replace("J?", "J6z")
    reason = "J_61 and J_63 are exchanged; Table 2.1 gives both the same value, so no number shows it"
    return (_compared("H_44 as printed", printed, reason), _compared("H_44 with J_61 and J_63 exchanged", exchanged))


def _compared(name: str, printed: str, reason: str = "") -> Entry:
    """A printed formula of H_44 against ours."""
    arm = read_vectors(text("rackovic_table_2_1.toml"), symbolic=True)
    unit_masses: dict[str, Expression] = {"m4": Number(Fraction(1)), "m5": Number(Fraction(1))}
    ours = derive(arm, "H", parameters=unit_masses)
    found = Graph(ours.nodes, (Output("H44", (), (ours.output("H").nodes[3 * 6 + 3],)),))
    builder = GraphBuilder()
    theirs = Names(builder, arm, unit_masses).scalar(read_expression(printed, Place(1, 1)))
    if prove(found, builder.graph([Output("H44", (), (theirs.index,))])):
        return Entry(name, "27 terms", "proved equal", Verdict.AGREES)
    return Entry(name, "27 terms", "not equal", Verdict.EXPLAINED if reason else Verdict.UNEXPLAINED, reason)


def four_cases() -> tuple[Entry, ...]:
    """Tables 3.3 and 3.4: the four cases, step by step."""
    cases = like_rackovic(in_closed_form(load("rackovic-6r"), _ALL, {}))
    return tuple(entry for case in cases for entry in _case_entries(case))


_ONE_STEP = "more here, fewer at the end of the case: identities are chosen by their savings, not in the order found"
_SINES = "angles may be sums of others here, which need their own sines and save products"


def _case_entries(case: Case) -> Iterator[Entry]:
    for step in case.steps:
        printed = step.published
        if printed is None:
            continue
        name = f"case {case.number}, {step.name}"
        yield fewer(f"{name}: mul", printed.mul, step.operations.mul, _ONE_STEP)
        yield fewer(f"{name}: add", printed.add, step.operations.add, _ONE_STEP)
        if printed.sin is not None and printed.cos is not None:
            yield fewer(f"{name}: sin", printed.sin, step.operations.sin, _SINES)
            yield fewer(f"{name}: cos", printed.cos, step.operations.cos, _SINES)


def fewest() -> tuple[Entry, ...]:
    """The final model of Example 2.1 against ours at normal effort."""
    found = _reduced("rackovic-6r", Effort.NORMAL)
    return (fewer("mul", 140, found.mul), fewer("add", 107, found.add))


def _reduced(model: str, effort: Effort) -> Operations:
    request = request_of(load(model), _ALL, numeric=True, effort=effort)
    return count(reduced(request).graph)


def generators() -> tuple[Entry, ...]:
    """Section 1.2.2.4: inverse dynamics by the generators of its time, links with principal axes."""
    ours = {
        robot: count(reduced(request_of(load(model), "tau", numeric=False, effort=Effort.NORMAL)).graph)
        for robot, model in (("PUMA", "puma-principal"), ("Stanford", "stanford-principal"))
    }
    printed = {
        ("SYMB", "Stanford"): (384, 152), ("ARM", "PUMA"): (224, 174), ("SYMORO", "Stanford"): (142, 99),
        ("SYMORO", "PUMA"): (159, 113), ("SYM", "Stanford"): (146, 112), ("SYM", "PUMA"): (156, 108),
    }  # fmt: skip
    reason = (
        "the document does not list the inertial parameters of its robot; ours has 18 that count, for "
        "which SYMORO itself needs 189 mul and 137 add"
    )
    return tuple(
        fewer(f"{program}, {robot}: {kind}", value, getattr(ours[robot], kind), reason)
        for (program, robot), values in printed.items()
        for kind, value in zip(("mul", "add"), values, strict=True)
    )


DATABASE = Document(
    "database",
    "Symbolic models of complex mechanisms in a database",
    "M. Racković's dissertation: chains and trees in closed form, the model in a database, fewer operations",
    (
        Chapter(
            "Table 2.2: numbers of Example 2.1",
            "Six revolute joints. The table prints the angles to five decimals and the results to six: an "
            "entry agrees if ours is within half a unit of its last digit, widened by the effect of the "
            "rounded angles.",
            "kinegraph eval rackovic-6r -q H,C,gravity",
            numbers_of_example,
        ),
        Chapter(
            "Section 2.5.3: H_44 in symbols",
            "The vectors, masses and moments of Table 2.1 as symbols (a table of vectors is a model file here), and "
            "the printed polynomial proved equal to ours at random points of a prime field.",
            "kinegraph derive arm.toml -q H",
            symbolic_element,
        ),
        Chapter(
            "Tables 3.3 and 3.4: the four cases",
            "The dissertation's steps in its order, each proved. Equal expressions are one node from the "
            "start here, so the first counts are far lower than those of a database that keeps every "
            "product.",
            "kinegraph count rackovic-6r -q H,C,gravity --like-rackovic",
            four_cases,
        ),
        Chapter(
            "Model 3.1: the final model",
            "The last result of the dissertation beside the same outputs at normal effort.",
            "kinegraph count rackovic-6r -q H,C,gravity",
            fewest,
        ),
        Chapter(
            "Appendix 3.1: model 3.1, line by line",
            "The printed program typed in and every element compared with ours at random points of a prime "
            "field. 0.777778 is taken as 7/9. Wrong printed lines are named, with corrected lines.",
            "kinegraph derive rackovic-6r -q H,C,gravity",
            model_3_1,
        ),
        Chapter(
            "Sections 3.5.2 and 3.5.5: H_11 in three forms",
            "The printed polynomials typed in and proved against ours; corrected where they are misprinted.",
            "kinegraph derive rackovic-6r -q H",
            printed_h11,
        ),
        Chapter(
            "Table 3.1: complete analytic expressions",
            "Operations of every element alone, with sin^2 + cos^2 = 1 applied at every step; each element once.",
            'kinegraph count rackovic-6r -q H,C,gravity --passes "expand(forms=0)"',
            complete_expressions,
        ),
        Chapter(
            "Table 3.2: after the trigonometric identities",
            "Operations of every element alone; sums of angles inside sines and cosines are not counted, as in print.",
            'kinegraph count rackovic-6r -q H,C,gravity --passes "expand(forms=0), trigonometric_identities"',
            simplified_expressions,
        ),
        Chapter(
            "Tables 4.2 to 4.4: the walker of 14 joints",
            "The subgraph of the directions Q and e is reduced and put back. Equal expressions are one node from the "
            "start here. The dissertation stopped its next step at an estimated hundred days.",
            "kinegraph count rackovic-14r -q H,C,gravity --like-rackovic",
            whole_walker,
        ),
        Chapter(
            "Tables 4.5 to 4.8 and 4.11: the first series",
            "Joints 1 to 8, the legs, in single support. Monomials of degree 2 at most.",
            "kinegraph reproduce database",
            first_series,
        ),
        Chapter(
            "Tables 4.9 and 4.12: the second series",
            "Joints 1 to 5 and 9 to 12; what links 1 to 5 contribute is counted with the first series.",
            "kinegraph reproduce database",
            second_series,
        ),
        Chapter(
            "Tables 4.10 and 4.12: the third series, on successive subgraphs",
            "Joints 1 to 5, 9, 10, 13 and 14; only links 13 and 14 are new. The dissertation could not "
            "extract monomials here and used larger subgraphs instead; both are done.",
            "kinegraph reproduce database",
            third_series,
        ),
        Chapter(
            "Table 4.13: the whole mechanism",
            "H (14 x 14), C (14 x 14 x 14), h^G, and in double support B, by our own passes.",
            "kinegraph count rackovic-14r-double -q H,C,gravity,B:support --effort quick",
            totals,
        ),
        Chapter(
            "Section 1.2.2.4: generators of inverse dynamics",
            "Counts of other programs as listed in the dissertation, beside ours for the same robots with "
            "symbolic parameters and principal inertias.",
            "kinegraph count puma-principal -q tau",
            generators,
        ),
    ),
)
