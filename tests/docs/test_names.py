"""Names in the package: no private words, and each central class exists once."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

#: Words that a reader from the field should not meet as names.
PRIVATE = {
    "shown", "carried", "met", "slide", "slid", "slides", "ask", "asked", "alike", "kept", "opened", "touch",
    "touching", "touches", "turning", "placing", "plain", "happening", "happenings", "occasion", "occasions", "seat",
    "gauge", "swirl", "condensed", "soil", "prevail", "accounts", "subjects",
}  # fmt: skip

#: Names that stay: words of file formats, of results that are saved, and of English where they are not terms.
ALLOWED = {
    "SLIDE",  # what MJCF calls a prismatic joint
    "TOUCH", "touches",  # the event of a docking, and its times in results
    "PlainText", "_SUBJECTS",
    "SEAT",  # the joint in which a drawn-in ring sits
}  # fmt: skip


def names_of(path: Path) -> Iterator[str]:
    """Modules, classes, functions, arguments, variables and fields."""
    yield path.stem
    source = path.read_text("utf-8")
    if not any(words_of(word) & PRIVATE for word in set(re.findall(r"\w+", source))):
        return  # not even in a text: most files need not be parsed
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


@cache
def words_of(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name))


def test_private_words_do_not_come_back():
    package = ROOT / "src" / "kinegraph"
    found = {
        f"{path.relative_to(package).as_posix()}: {name}"
        for path in package.rglob("*.py")
        for name in names_of(path)
        if name not in ALLOWED and words_of(name) & PRIVATE
    }
    assert found == set()


def test_private_words_are_found():
    assert (
        words_of("_carriedGradient") & PRIVATE and words_of("MOST_KEPT") & PRIVATE and not words_of("tasks") & PRIVATE
    )


#: Words that each name one thing: the package has one class of this name.
ONE_MEANING = (
    "Builder", "Derivation", "Equations", "ForwardMethod", "JointKind", "Kernel",
    "RecursiveSystem", "Mechanism", "Motion", "Place", "Request", "Solver",
    "StateLayout",
)  # fmt: skip


@pytest.mark.parametrize("word", ONE_MEANING)
def test_one_meaning_per_word(word):
    made = re.compile(rf"^(class {word}\b|{word}(: TypeAlias)? = )", re.MULTILINE)
    assert len([path for path in (ROOT / "src" / "kinegraph").rglob("*.py") if made.search(path.read_text())]) == 1
