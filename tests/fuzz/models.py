"""Model files of all kinds: read, written, derived, compiled."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np

import kinegraph as kg
from kinegraph.derive.quantities.record import Subject as Of
from kinegraph.derive.quantities.table import TABLE
from kinegraph.io import parse, write
from kinegraph.io.dh import load_denavit_hartenberg
from kinegraph.io.mjcf import parse_mjcf
from kinegraph.io.options import UrdfOptions
from kinegraph.io.sdf import parse_sdf
from kinegraph.io.urdf import parse_urdf
from kinegraph.io.vectors import read_vectors
from kinegraph.jit.kernel import KernelOptions
from kinegraph.model.expressions import FUNCTIONS
from kinegraph.model.mechanism import Mechanism
from tests.fuzz import sources
from tests.fuzz.damage import Vocabulary, damaged_text, damaged_tree
from tests.fuzz.grammar import NAMES, sentences, well_formed
from tests.fuzz.odd import number
from tests.fuzz.subject import Depth, chance_of

#: Larger mechanisms take longer than a case is worth.
_MOST_BODIES, _MOST_COORDINATES = 8, 6


def make_records(chance: Random) -> str:
    """A model with damage, with random statements put in, or made of them alone."""
    text = chance.choice(sources.models())
    luck = chance.random()
    if luck < 0.4:
        return damaged_text(text, chance, NAMES)
    grammar = sentences()
    statements = [grammar.sentence("statement", chance) for _ in range(chance.choice((1, 1, 1, 2, 4)))]
    if luck < 0.45:
        return ";\n".join(statements) + ";"
    if luck < 0.85:
        names = sorted(set(re.findall(r"\b[a-z]\w?\b", text)) - set(FUNCTIONS)) or ["q"]
        return _with_expression(text, well_formed(chance, chance.randint(0, 3), names), chance)
    parts = text.split(";")
    for statement in statements:
        parts.insert(chance.randrange(len(parts)), statement)
    return ";".join(parts)


def _with_expression(text: str, expression: str, chance: Random) -> str:
    """The text with an expression in the place of what stands between two marks."""
    places = [place for place, letter in enumerate(text) if letter in "(,="]
    start = chance.choice(places) + 1
    end = min((text.find(mark, start) for mark in "),;" if text.find(mark, start) >= 0), default=len(text))
    return text[:start] + expression + text[end:]


def run_records(text: str, depth: Depth) -> None:
    """Read a model; written and read again it is the same."""
    mechanism = parse(text)
    if depth >= Depth.WRITE:
        assert parse(write(mechanism)) == mechanism, "written and read again it is another mechanism"
    explore(mechanism, depth, chance_of(text))


def make_urdf(chance: Random) -> str:
    """A damaged URDF robot."""
    return _damaged_xml(chance.choice(sources.urdf_texts()), chance, sources.urdf_vocabulary())


def make_mjcf(chance: Random) -> str:
    """A damaged MJCF robot."""
    return _damaged_xml(chance.choice(sources.mjcf_texts()), chance, sources.mjcf_vocabulary())


_PROLOGUES = ("utf-8", "utf-16", "latin-1", "gb2312", "shift_jis", "utf-7", "ascii", "idna", "rot13", "nope", "utf-32")


def _damaged_xml(text: str, chance: Random, vocabulary: Vocabulary) -> str:
    luck = chance.random()
    if luck < 0.75:
        text = damaged_tree(text, chance, vocabulary)
    if luck > 0.7:
        text = damaged_text(text, chance, [*vocabulary.tags, *vocabulary.keys])
    if chance.random() < 0.03:
        text = f'<?xml version="1.0" encoding="{chance.choice(_PROLOGUES)}"?>' + text
    return text


def run_urdf(text: str, depth: Depth) -> None:
    """Read a URDF robot."""
    chance = chance_of(text)
    base = chance.choice(("fixed", "fixed", "floating"))
    _written_and_explored(parse_urdf(_bytes(text), options=UrdfOptions(base=base)).mechanism, depth, chance)


def make_sdf(chance: Random) -> str:
    """A damaged SDFormat robot."""
    return _damaged_xml(chance.choice(sources.sdf_texts()), chance, sources.sdf_vocabulary())


def run_sdf(text: str, depth: Depth) -> None:
    """Read an SDFormat robot."""
    _written_and_explored(parse_sdf(_bytes(text)).mechanism, depth, chance_of(text))


def make_vectors(chance: Random) -> str:
    """A damaged table of vectors."""
    return damaged_text(
        chance.choice(sources.VECTORS), chance, ("[[link]]", "axis", "r", "mass", "[[closing]]", "nan", "1e99999999")
    )


def run_vectors(text: str, depth: Depth) -> None:
    """Read a table of vectors."""
    _written_and_explored(read_vectors(text, symbolic=chance_of(text).random() < 0.5), depth, chance_of(text))


def run_mjcf(text: str, depth: Depth) -> None:
    """Read an MJCF robot."""
    _written_and_explored(parse_mjcf(_bytes(text)).mechanism, depth, chance_of(text))


def _bytes(text: str) -> bytes:
    """UTF-8; the characters U+DC80 to U+DCFF stand for single bytes that are none."""
    return text.encode("utf-8", "surrogateescape")


def make_table(chance: Random) -> str:
    """A Denavit-Hartenberg table: damaged, or of random cells."""
    if chance.random() < 0.6:
        return damaged_text(chance.choice(sources.TABLES), chance, NAMES)
    columns = ["alpha", "a", "d", "theta", "kind", "name", "m", "x", "y", "z", "Jx", "Jy", "Jz", "Jxy"]
    chosen = chance.sample(columns, chance.randint(1, len(columns)))
    rows = [[_cell(column, chance) for column in chosen] for _ in range(chance.randint(0, 4))]
    separator = chance.choice(",,;\t")
    return "\n".join(separator.join(row) for row in [chosen, *rows])


def _cell(column: str, chance: Random) -> str:
    if column == "kind":
        return chance.choice(("r", "p", "f", "revolute", "prismatic", "fixed", "", "x", "R", "0"))
    if column == "name":
        return chance.choice(("", "", "q1", "q2", "s", "pi", "t", "sin", "1", "a b", "θ", "_"))
    luck = chance.random()
    if luck < 0.8:
        return "" if luck < 0.3 else number(chance)
    text = sentences().sentence("sum", chance)
    return f'"{text}"' if "," in text else text


def run_table(text: str, depth: Depth) -> None:
    """Read a table from a file."""
    chance = chance_of(text)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_bytes(_bytes(text))
        convention, angles = chance.choice(("standard", "modified")), chance.choice(("radians", "degrees"))
        mechanism = load_denavit_hartenberg(path, convention=convention, angles=angles).mechanism
    _written_and_explored(mechanism, depth, chance)


def _written_and_explored(mechanism: Mechanism, depth: Depth, chance: Random) -> None:
    if depth >= Depth.WRITE:
        parse(write(mechanism))
    explore(mechanism, depth, chance)


def explore(mechanism: Mechanism, depth: Depth, chance: Random) -> None:
    """Derive a quantity of the mechanism, reduce it, compile it and call the kernel, as far as the depth allows."""
    if len(mechanism.bodies) > _MOST_BODIES or len(mechanism.layout.positions) > _MOST_COORDINATES:
        return
    word = a_quantity(mechanism, chance)
    if depth >= Depth.DERIVE:
        kg.reduce(kg.derive(mechanism, word, numeric=chance.random() < 0.3), kg.Effort.QUICK)
    if depth >= Depth.COMPILE:
        kernel = kg.compile(mechanism, word, options=KernelOptions(cache=False))
        kernel(*(np.full(len(argument.symbols), 0.5) for argument in kernel.arguments))


def a_quantity(mechanism: Mechanism, chance: Random) -> str:
    """Any quantity of the table, of a part that the mechanism has; one in five is a derivative."""
    record = chance.choice(TABLE)
    of = {
        Of.BODY: [*(body.name for body in mechanism.bodies), *(point.name for point in mechanism.points)],
        Of.JOINT: [*mechanism.layout.positions],
        Of.JOINT_AND_BODY: [f"{name}:{body.name}" for name in mechanism.layout.positions for body in mechanism.bodies],
        Of.ELEMENT: [element.name for element in mechanism.elements],
    }.get(record.subject)
    word = record.name if of is None else f"{record.name}:{chance.choice(of or ['A'])}"
    if chance.random() < 0.2:
        word = f"d({word})/d({chance.choice(('q', 'v', 'a', 'p', 't', *mechanism.layout.positions))})"
    return word
