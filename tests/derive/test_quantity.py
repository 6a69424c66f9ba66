"""Names of quantities: parsing, writing, and errors for unknown names."""

from __future__ import annotations

import pytest

import kinegraph as kg
from kinegraph.derive.quantities.quantity import Quantity, parse_list
from kinegraph.derive.quantities.table import RECORDS, TABLE
from kinegraph.errors import DerivationError

WORDS = [
    ("tau", Quantity("tau")),
    ("pose:hand", Quantity("pose", "hand")),
    ("pose:hand@base", Quantity("pose", "hand", "base")),
    ("arm:q1:L2@L2", Quantity("arm", "q1:L2", "L2")),
    ("d(tau)/d(q)", Quantity("tau", by=("q",))),
    ("d(d(tau)/d(q))/d(m1)", Quantity("tau", by=("q", "m1"))),
    ("d(d(jacobian:hand@hand)/d(q))/d(q)", Quantity("jacobian", "hand", "hand", ("q", "q"))),
    ("structure:spring1", Quantity("structure", "spring1")),
]


@pytest.mark.parametrize(("text", "quantity"), WORDS)
def test_words_are_read_and_written_again(text: str, quantity: Quantity) -> None:
    assert Quantity.parse(text) == quantity
    assert str(quantity) == text


def test_derivatives_come_apart() -> None:
    quantity = Quantity.parse("d(d(tau)/d(q))/d(v)")
    assert str(quantity.inner) == "d(tau)/d(q)"
    assert str(quantity.undifferentiated) == "tau"


def test_lists_are_split_at_commas_outside_parentheses() -> None:
    found = parse_list(" H, d(d(tau)/d(q))/d(q),pose:hand@base,")
    assert [str(quantity) for quantity in found] == ["H", "d(d(tau)/d(q))/d(q)", "pose:hand@base"]


def test_names_of_the_table_are_unique() -> None:
    assert len(RECORDS) == len(TABLE)
    words = [word for record in TABLE for word in (record.name, *record.synonyms)]
    assert len(set(words)) == len(words)


FAULTS = [
    ("M", "did you mean `H`"),
    ("mass_matrix", "did you mean `H`"),
    ("inverse_dynamics", "did you mean `tau`"),
    ("Tau", "did you mean `tau`"),
    ("engery", "did you mean `energy`"),
    ("d(tau)/dq", "did you mean `d\\(tau\\)/d\\(q\\)`"),
    ("dtau/dq", "did you mean `d\\(tau\\)/d\\(q\\)`"),
    ("d(nothing)/dq", "derivatives are written d\\(X\\)/d\\(Y\\)"),
    ("something", "available: tau, H,.*structure:ELEMENT.*d\\(X\\)/d\\(Y\\)"),
    ("pose", "write pose:BODY with the name of a body or an output point"),
    ("pose:", "write pose:BODY"),
    ("pose:hand@", "write pose:BODY@BODY"),
    ("arm:q1", "write arm:JOINT:BODY"),
    ("H:hand", "write H alone"),
    ("H@hand", "H is given in no other frame"),
    ("lambda", "did you mean `multipliers`"),
    ("", "available"),
]


@pytest.mark.parametrize(("text", "message"), FAULTS)
def test_what_is_no_quantity_leads_to_one(text: str, message: str) -> None:
    with pytest.raises(DerivationError, match=message):
        Quantity.parse(text)


def test_errors_do_not_repeat_pages_of_text() -> None:
    with pytest.raises(DerivationError) as caught:
        Quantity.parse("x" * 100_000)
    assert len(str(caught.value)) < 700


OF_A_MODEL = [
    ("pose:tp", "did you mean `tip`"),
    ("jacobian:tip@Uper", "did you mean `Upper`"),
    ("structure:K", "did you mean `k1`|available: k1"),
    ("axis:q3", "did you mean `q1`|available"),
    ("arm:q1:Lowr", "did you mean `Lower`"),
    ("d(tau)/d(qd)", "did you mean `v`"),
    ("d(tau)/d(mm)", "did you mean `m`"),
    ("d(tau)/d(tau)", "tau does not depend on tau, only on q, v, a"),
    ("d(H)/d(v)", "H does not depend on v, only on q"),
    ("d(d(H)/d(q))/d(a)", "H does not depend on a"),
    ("d(tau)/d(u)", "tau does not depend on u"),
    ("d(tau)/d(t)", "tau does not depend on t"),
    ("d(base_parameters)/d(q)", "does not depend on q, only on nothing that moves"),
]
ARMS = """parameters m = 2, l = 1; coordinates q1, q2; gravity 0, -9.81, 0;
Upper | Rz(q1) | Sx(l), m(m); Lower~Upper | Sx(l), Rz(q2) | Sx(l), m(1); output tip = Lower(l, 0, 0);
spring k1 | on(q2) stiffness(3);
"""


@pytest.mark.parametrize(("text", "message"), OF_A_MODEL)
def test_names_that_a_model_does_not_have_lead_to_those_it_has(text: str, message: str) -> None:
    with pytest.raises(DerivationError, match=message):
        kg.derive(kg.parse(ARMS), text)


@pytest.mark.parametrize(
    ("model", "text", "message"),
    [
        ("coordinates q; A | Rz(q) | Sx(1), m(1);", "d(tau)/d(p)", "has no parameters to differentiate by"),
        ("parameters l = 1; A | Sx(l) | m(1);", "d(pose:A)/d(q)", "has no positions to differentiate by"),
    ],
)
def test_emptiness_is_refused(model: str, text: str, message: str) -> None:
    with pytest.raises(DerivationError, match=message):
        kg.derive(kg.parse(model), text)
