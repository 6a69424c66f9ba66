"""Example 2.1 of Rackovic's dissertation as printed: operation counts of elements, H_11, and the final program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from kinegraph.compiler.derive import in_closed_form
from kinegraph.compiler.mechanism_source import load
from kinegraph.derive.tree.expressions import Names
from kinegraph.errors import Place
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.count import Operations, polynomial_cost
from kinegraph.graph.node import Graph, Output, Polynomial, children
from kinegraph.graph.proof import prove
from kinegraph.io.language.expressions import read_expression
from kinegraph.model.expressions import Expression
from kinegraph.model.expressions import names as names_in
from kinegraph.passes.by_parts import IDENTITIES
from kinegraph.passes.common_subexpressions import Rebuild
from kinegraph.passes.expand import Expand
from kinegraph.passes.like_rackovic import LIMITS
from kinegraph.reproduce.document import Entry, Verdict, fewer, held
from kinegraph.reproduce.printed import table, text

# Tables 3.1 and 3.2: operations of every element of H, C and h^G as a separate expression.

_TOTALS = {"rackovic_table_3_1": (5768, 1047), "rackovic_table_3_2": (1340, 453)}

_WRITTEN = "another choice of the squares that sin^2 + cos^2 = 1 removes"
_CHOSEN = "identities are chosen by their savings over all elements together, not in this one"


def complete_expressions() -> tuple[Entry, ...]:
    """Table 3.1: complete analytic expressions."""
    return tuple(_element_entries("rackovic_table_3_1", _expanded(), _WRITTEN))


def simplified_expressions() -> tuple[Entry, ...]:
    """Table 3.2: after the trigonometric identities."""
    return tuple(_element_entries("rackovic_table_3_2", IDENTITIES.apply(_expanded()), _CHOSEN))


def _expanded() -> Graph:
    graph = Rebuild().apply(in_closed_form(load("rackovic-6r"), "H,C,gravity", {}))
    return Expand(LIMITS, forms=0).apply(graph)


def _element_entries(name: str, graph: Graph, reason: str) -> Iterator[Entry]:
    printed = table(name)
    sums = [0, 0]
    for element, place, said in _elements(printed):
        found = _alone(graph, *place)
        sums = [sums[0] + said[0], sums[1] + said[1]]
        if any(said) or found.total:
            yield fewer(f"{element}: mul", said[0], found.mul, reason)
            yield fewer(f"{element}: add", said[1], found.add, reason)
    for kind, total, added in zip(("mul", "add"), _TOTALS[name], sums, strict=True):
        why = "the printed entries add up to this; the text may count sums inside sines, the table does not"
        yield held(f"sum of the printed table: {kind}", str(total), str(added), total == added, why)


def _elements(printed: dict[str, tuple[str, ...]]) -> Iterator[tuple[str, tuple[str, int], tuple[int, int]]]:
    """Each element once: its name, its output and index, the printed counts."""
    for row, cells in printed.items():
        for i in range(6):
            said = int(cells[2 * i]), int(cells[2 * i + 1])
            if row == "h":
                yield f"h^G_{i + 1}", ("gravity", i), said
            elif row.startswith("H") and i + 1 <= int(row[1]):
                j = int(row[1])
                yield f"H_{i + 1}{j}", ("H", 6 * i + j - 1), said
            elif row.startswith("C") and i + 1 >= int(row[2]):
                k, j = int(row[1]), int(row[2])
                yield f"C^{k}_{i + 1}{j}", ("C", 36 * (k - 1) + 6 * i + j - 1), said


def _alone(graph: Graph, output: str, place: int) -> Operations:
    """The operations of one element alone; sums of angles inside sines are not in the tables."""
    todo, seen, found = [graph.output(output).nodes[place]], set[int](), Operations()
    while todo:
        index = todo.pop()
        node = graph.nodes[index]
        if index in seen or not isinstance(node, Polynomial) or graph.static[index]:
            continue
        seen.add(index)
        found = found + Operations(*polynomial_cost(node, graph))
        todo.extend(children(node))
    return found


# H_11 of Example 2.1 as printed in three places of chapter 3: with its misprints, and corrected.

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
    """A printed formula: its file, its place, replacements, a term to add, and why."""

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
    return tuple(entry for formula in FORMULAS for entry in _h11_entries(formula))


def _h11_entries(formula: Formula) -> Iterator[Entry]:
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


# Model 3.1, the dissertation's final program for Example 2.1, as printed: compared with ours, element by element.

#: Corrected lines, and what is wrong with the printed ones. Six names are used and never defined.
CORRECTIONS = {
    "X22": ("0", "X_22 is not defined; 0 fits"),
    "X27": ("0", "X_27 is not defined; 0 fits"),
    "X29": ("0", "X_29 is not defined; 0 fits"),
    "X31": ("0", "X_31 is not defined; 0 fits"),
    "P87": ("CQ5*P81", "P_87 is not defined; cos q5 P_81 fits"),
    "P143": ("P161 + P169", "P_143 has P_167, which is not defined, for P_169, which is not used"),
    "X13": ("P25 + P5", "X_13 has P_3 for P_5, which is not used"),
    "X16": ("CZ234*P101 - P52", "X_16 has + P_52 for -"),
    "P6": ("0.012*KCZ234*SQ5", "P_6 has the square of the sine for that of the cosine"),
    "P7": ("KSZ234*P135 + P139", "P_7 has the sine for its square"),
    "P30": ("P79 + P28", "P_30 has - for +"),
    "C4_11": ("-C1_41", "C^4_11 lacks its sign"),
    "C5_33": ("C5_32", "C^5_33 has C^5_31 for C^5_32"),
}

#: 7/9, printed to six digits.
_ROUNDED = ("0.777778", "7/9")


class Program:
    """Lines `name = expression` in one builder, each computed on demand."""

    def __init__(self, lines: Mapping[str, str]) -> None:
        self.lines = lines
        self._mechanism = load("rackovic-6r")
        self.builder = GraphBuilder()
        self._names = Names(self.builder, self._mechanism, {})
        self._done: dict[str, Scalar] = {}

    def needs(self, name: str) -> set[str]:
        """All lines that a line depends on, including itself and undefined names."""
        if name not in self.lines:
            return {name}
        own = [one for one in names_in(self._read(name)) if not re.fullmatch(r"q\d", one)]
        return {name}.union(*(self.needs(one) for one in own))

    def scalar(self, name: str) -> Scalar:
        """The value of a line."""
        if name not in self._done:
            read = self._read(name)
            known = {one: self.scalar(one) for one in names_in(read) if one in self.lines}
            self._done[name] = self._names.scalar(read, known)
        return self._done[name]

    def _read(self, name: str) -> Expression:
        return read_expression(self.lines[name].replace(*_ROUNDED), Place(1, 1))


class Comparison:
    """The printed program and the one with corrections beside our H, C and h^G."""

    @cached_property
    def printed(self) -> dict[str, str]:
        """Lines as printed, by the names they define."""
        lines = [line for line in text("rackovic_model_3_1.txt").splitlines() if not line.startswith("#")]
        return {line.split(" = ", 1)[0]: line.split(" = ", 1)[1] for line in lines}

    @cached_property
    def ours(self) -> Graph:
        """H, C and gravity as we derive them, in closed form."""
        return in_closed_form(load("rackovic-6r"), "H,C,gravity", {})

    def entries(self) -> Iterator[Entry]:
        """Every element printed in the model."""
        corrected = {**self.printed, **{name: line for name, (line, _) in CORRECTIONS.items()}}
        as_printed, right = Program(self.printed), Program(corrected)
        for name, node in self.elements():
            if name in self.printed:
                yield self._entry(name, node, as_printed, right)

    def _entry(self, name: str, node: int, printed: Program, right: Program) -> Entry:
        title = _title(name)
        needed = right.needs(name)
        if needed <= set(self.printed) and self.equal(printed, name, node):
            return Entry(title, self.printed[name], "proved equal", Verdict.AGREES)
        reasons = [why for one, (_, why) in CORRECTIONS.items() if one in needed]
        proved = self.equal(right, name, node)
        verdict = Verdict.EXPLAINED if proved and reasons else Verdict.UNEXPLAINED
        return Entry(title, self.printed[name], "proved equal when corrected" if proved else "not equal", verdict,
                     "; ".join(reasons))  # fmt: skip

    def equal(self, program: Program, name: str, node: int) -> bool:
        """Whether a printed element is proved equal to a node of ours; not if it needs lines that are not printed."""
        if not program.needs(name) <= set(program.lines):
            return False
        theirs = program.builder.graph([Output("x", (), (program.scalar(name).index,))])
        return bool(prove(Graph(self.ours.nodes, (Output("x", (), (node,)),)), theirs))

    def elements(self) -> Iterator[tuple[str, int]]:
        """Names as in the model, and our nodes."""
        for i in range(6):
            yield f"h{i + 1}", self.ours.output("gravity").nodes[i]
        for i in range(6):
            yield from ((f"H{i + 1}{j + 1}", self.ours.output("H").nodes[6 * i + j]) for j in range(i, 6))
        for i in range(6):
            nodes = self.ours.output("C").nodes
            yield from ((f"C{i + 1}_{j + 1}{k + 1}", nodes[36 * i + 6 * j + k]) for j in range(6) for k in range(j + 1))

    def zeros(self) -> Entry:
        """Elements that the model does not print must be zero."""
        missing = [(name, node) for name, node in self.elements() if name not in self.printed]
        zero = self.ours.nodes and all(_is_zero(self.ours, node) for _, node in missing)
        return held("elements that are not printed", "0", f"{len(missing)} elements, all 0", bool(zero))


def _is_zero(graph: Graph, node: int) -> bool:
    builder = GraphBuilder()
    nothing = builder.graph([Output("x", (), (builder.zero,))])
    return bool(prove(Graph(graph.nodes, (Output("x", (), (node,)),)), nothing))


def _title(name: str) -> str:
    if name.startswith("h"):
        return f"h^G_{name[1:]}"
    return f"H_{name[1:]}" if name.startswith("H") else f"C^{name[1]}_{name[3:]}"


def written_operations() -> tuple[Entry, ...]:
    """Operations of the printed lines themselves."""
    lines = Comparison().printed.values()
    counts = {
        "mul": (140, sum(line.count("*") for line in lines)),
        "add": (107, sum(len(re.findall(r" [+-] ", line)) for line in lines)),
        "sin": (7, sum(line.count("sin(") for line in lines)),
        "cos": (7, sum(line.count("cos(") for line in lines)),
    }
    reason = "four of the additions are of X_22, X_27, X_29, X_31, which are not defined, and P_87 is missing"
    return tuple(
        held(f"{kind} of the printed lines", str(said), str(found), said == found, reason)
        for kind, (said, found) in counts.items()
    )


def model_3_1() -> tuple[Entry, ...]:
    """All elements of model 3.1."""
    compared = Comparison()
    return (*written_operations(), *compared.entries(), compared.zeros())
