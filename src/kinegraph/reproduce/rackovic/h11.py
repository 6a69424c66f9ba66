"""H_11 of Example 2.1 as three places of chapter 3 print it: with its misprints, and without them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kinegraph.compiler.closed_form import in_closed_form
from kinegraph.compiler.load import load
from kinegraph.derive.tree.convert import Names
from kinegraph.errors import Place
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Graph, Output
from kinegraph.graph.proof.prove import prove
from kinegraph.io.records.expression_text import read_expression
from kinegraph.reproduce.entry import Entry, held
from kinegraph.reproduce.printed import text

_SUM = "sin(q2 + q3 + q4)"
_SQUARES = tuple(
    (f"{factors}^2", factors)
    for factors in (
        "8.32 * sin(q2) * sin(q2 + q3)", f"0.84 * sin(q2) * {_SUM}", f"1.08 * sin(q2) * {_SUM}",
        f"0.84 * sin(q2 + q3) * {_SUM}", f"1.08 * sin(q2 + q3) * {_SUM}",
    )
)  # fmt: skip


@dataclass(frozen=True)
class Formula:
    """A printed formula: its file, where it stands, what to replace, a term to add, and why."""

    file: str
    title: str
    replaced: tuple[tuple[str, str], ...]
    missing: str
    reason: str

    @property
    def printed(self) -> str:
        """One line of the model language."""
        return " ".join(text(self.file).split())

    @property
    def corrected(self) -> str:
        """The formula without its misprints."""
        found = self.printed
        for wrong, right in self.replaced:
            assert wrong in found, wrong
            found = found.replace(wrong, right)
        return found + self.missing


FORMULAS = (
    Formula(
        "rackovic_h11_3_5_2.txt",
        "section 3.5.2, after the identities",
        (("0.096812", "0.0968125"),),
        " + 0.84*sin(q2)^2*cos(q3)^2*cos(q4)",
        "the term 0.84 sin^2 q2 cos^2 q3 cos q4 is missing, and 0.0968125 is printed to six digits",
    ),
    Formula(
        "rackovic_h11_complete.txt",
        "section 3.5.5.2, complete expression",
        _SQUARES,
        "",
        "five sines that are factors of another are printed squared",
    ),
    Formula(
        "rackovic_h11_simplified.txt",
        "section 3.5.5.2, simplified expression",
        (*_SQUARES, ("0.185625", "0.181625")),
        "",
        "five sines that are factors of another are printed squared, and 0.185625 stands for 0.181625",
    ),
)


def printed_h11() -> tuple[Entry, ...]:
    """Each formula as printed, and corrected."""
    return tuple(entry for formula in FORMULAS for entry in _entries(formula))


def _entries(formula: Formula) -> Iterator[Entry]:
    for word, line, reason in (("as printed", formula.printed, formula.reason), ("corrected", formula.corrected, "")):
        equal = _is_h11(line)
        outside = re.sub(r"\([^)]*\)", "", line)
        terms = f"{len(re.findall(' [+-] ', outside)) + 1} terms"
        found = "proved equal" if equal else "not equal"
        yield held(f"H_11, {formula.title}, {word}", terms, found, equal, reason)


def _is_h11(line: str) -> bool:
    arm = load("rackovic-6r")
    ours = in_closed_form(arm, "H", {})
    builder = GraphBuilder()
    theirs = Names(builder, arm, {}).scalar(read_expression(line, Place(1, 1)))
    alone = Graph(ours.nodes, (Output("x", (), (ours.output("H").nodes[0],)),))
    return bool(prove(alone, builder.graph([Output("x", (), (theirs.index,))])))
