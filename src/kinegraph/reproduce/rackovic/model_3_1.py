"""Model 3.1, the dissertation's final program for Example 2.1, as printed: compared with ours, element by element."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from kinegraph.compiler.closed_form import in_closed_form
from kinegraph.compiler.load import load
from kinegraph.derive.tree.convert import Names
from kinegraph.errors import Place
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Graph, Output
from kinegraph.graph.proof.prove import prove
from kinegraph.graph.scalar import Scalar
from kinegraph.io.records.expression_text import read_expression
from kinegraph.model.expression import Expression
from kinegraph.model.expression import names as names_in
from kinegraph.reproduce.entry import Entry, Verdict, held
from kinegraph.reproduce.printed import text

#: Lines that make the model right, and what is wrong with the printed ones. Six names are used and never defined.
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
    """Lines `name = expression` in one builder, each computed when it is asked for."""

    def __init__(self, lines: Mapping[str, str]) -> None:
        self.lines = lines
        self._mechanism = load("rackovic-6r")
        self.builder = GraphBuilder()
        self._names = Names(self.builder, self._mechanism, {})
        self._done: dict[str, Scalar] = {}

    def needs(self, name: str) -> set[str]:
        """All lines that a line rests on, itself and names that no line defines included."""
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
        """Lines as printed, by what they define."""
        lines = [line for line in text("rackovic_model_3_1.txt").splitlines() if not line.startswith("#")]
        return {line.split(" = ", 1)[0]: line.split(" = ", 1)[1] for line in lines}

    @cached_property
    def ours(self) -> Graph:
        """H, C and gravity as we derive them, in closed form."""
        return in_closed_form(load("rackovic-6r"), "H,C,gravity", {})

    def entries(self) -> Iterator[Entry]:
        """Every element that the model prints."""
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
        """Names as the model has them, and our nodes."""
        for i in range(6):
            yield f"h{i + 1}", self.ours.output("gravity").nodes[i]
        for i in range(6):
            yield from ((f"H{i + 1}{j + 1}", self.ours.output("H").nodes[6 * i + j]) for j in range(i, 6))
        for i in range(6):
            nodes = self.ours.output("C").nodes
            yield from ((f"C{i + 1}_{j + 1}{k + 1}", nodes[36 * i + 6 * j + k]) for j in range(6) for k in range(j + 1))

    def zeros(self) -> Entry:
        """What the model does not print is zero."""
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
