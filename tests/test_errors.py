"""Messages are short whatever a file holds, and errors survive the way to another process."""

from __future__ import annotations

import pickle

import pytest

import kinegraph as kg
from kinegraph import errors
from kinegraph.errors import MAX_MESSAGE, KinegraphError, ModelError, Place, shortened
from kinegraph.io.mjcf import parse_mjcf
from kinegraph.io.urdf import parse_urdf

LONG = "x" * 50_000
KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, KinegraphError)]


@pytest.mark.parametrize("kind", KINDS)
def test_no_message_is_longer_than_the_limit(kind: type[KinegraphError]) -> None:
    assert len(str(kind(LONG))) <= MAX_MESSAGE


def test_place_message_and_remedy_are_all_there() -> None:
    text = str(ModelError(f"begin {LONG} end", Place(12, 3, LONG), f"write {LONG} instead"))
    assert len(text) <= MAX_MESSAGE
    assert "line 12, column 3: begin x" in text and "x end\n" in text
    assert "\n  write x" in text and text.endswith("x instead")


def test_short_texts_stay_as_they_are() -> None:
    assert shortened("as it is", 8) == "as it is"
    assert shortened("0123456789" * 10, 60).endswith("789") and len(shortened("0123456789" * 10, 60)) <= 60


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_is_the_same_in_another_process(kind: type[KinegraphError]) -> None:
    error = ModelError("m" * 900, Place(1, 2, "f"), "r" * 500) if kind is ModelError else kind("m" * 1500)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


@pytest.mark.parametrize(
    "read",
    [
        lambda: kg.parse(f"{LONG} | Rz(q) ;"),
        lambda: kg.parse(f"coordinates q; A | Rz({LONG}) ;"),
        lambda: kg.parse(f"coordinates q; A | Rz({'9' * 60000}) ;"),
        lambda: kg.load(LONG[:3000] + ".kg"),
        lambda: kg.library.mechanism(LONG),
        lambda: kg.compile(kg.load("puma560"), LONG),
        lambda: parse_urdf(f'<robot><link name="{LONG}"/><link name="{LONG}"/></robot>'),
        lambda: parse_urdf(f"<robot><{LONG}/></robot>", LONG),
        lambda: parse_urdf(f'<robot><link name="a"/><link name="b"/><joint name="j" type="{LONG}"/></robot>'),
        lambda: parse_mjcf(f'<mujoco><worldbody><body><geom type="{LONG}"/></body></worldbody></mujoco>'),
    ],
)
def test_long_names_make_short_messages(read) -> None:
    with pytest.raises(KinegraphError) as caught:
        read()
    assert len(str(caught.value)) <= MAX_MESSAGE
