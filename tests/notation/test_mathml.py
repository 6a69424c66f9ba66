"""Equations in MathML: their contents, and that no name can become markup."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

import kinegraph as kg
from kinegraph.graph.node import Kind, Symbol
from kinegraph.notation.mathml import MathMl, mathml, name_mathml


def text_of(markup: str) -> str:
    return "".join(ElementTree.fromstring(f"<mrow>{markup}</mrow>").itertext())


@pytest.mark.parametrize(
    ("name", "markup"),
    [
        ("q1", "<msub><mi>q</mi><mrow><mn>1</mn></mrow></msub>"),
        ("teta$L", "<msub><mi>θ</mi><mrow><mi>L</mi></mrow></msub>"),
        ("Lambda$", "<mi>Λ</mi>"),
        ("mu", '<mi class="word">mu</mi>'),
        ("μ1", "<msub><mi>μ</mi><mrow><mn>1</mn></mrow></msub>"),
        ("fi$'", '<mover accent="true"><mi>φ</mi><mo>˙</mo></mover>'),
        ("q''", '<mover accent="true"><mi>q</mi><mo>¨</mo></mover>'),
        ("Jbx", '<mi class="word">Jbx</mi>'),
        ("panda_joint1'", "<mrow><mtext>panda_joint1</mtext><mo>′</mo></mrow>"),
    ],
)
def test_names(name: str, markup: str) -> None:
    assert name_mathml(name) == markup


@pytest.mark.parametrize("name", ["<img src=x>", "a&b", 'q"><script>', "</math>'", "x_<b>"])
def test_names_are_never_markup(name: str) -> None:
    found = name_mathml(name)
    assert text_of(found).rstrip("′") == name.rstrip("'")
    assert set(re.findall(r"<(\w+)", found)) <= {"mrow", "mtext", "mo", "mi", "mn", "msub"}


def test_two_symbols_never_look_alike() -> None:
    one, other = Symbol(Kind.COORDINATE, "q1"), Symbol(Kind.COORDINATE, "q_1")
    dialect = MathMl([one, other])
    assert dialect.symbol(one) != dialect.symbol(other)


def test_equations_say_what_the_plain_text_says() -> None:
    """Without markup, both have the same letters and digits in the same order."""
    graph = kg.reduce(kg.derive(kg.load("double-pendulum"), "H,gravity"), kg.Effort.QUICK).graph
    found = mathml(graph)
    written = [text_of(d.left + "".join(d.terms)) for d in (*found.abbreviations, *found.entries)]
    plain = [line for line in re.split(r"\n|\s{4,}", kg.formula(graph)) if "=" in line]
    assert len(written) == len(plain)
    for ours, theirs in zip(written, plain, strict=True):
        kept = theirs.replace("gravity", "hG").replace("-", "−")
        assert re.sub(r"[\s,]", "", ours) == re.sub(r"[\s,*^\[\]]", "", kept)
