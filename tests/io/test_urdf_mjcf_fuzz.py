"""Damaged files: whatever the damage, the answer is a robot or an error of ours."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from kinegraph.errors import ModelError
from kinegraph.io.mjcf import parse_mjcf
from kinegraph.io.sdf import parse_sdf
from kinegraph.io.urdf import parse_urdf
from tests.effort import SOAK

#: Every value is replaced by every other in `make soak`, and one of six otherwise.
STEP = 1 if SOAK else 6
DATA = Path(__file__).parent / "data"
PIECES = [b"", b"0", b"-1", b"1e308", b"1e-308", b"nan", b'"', b"<", b"\xff", b"&#10;", b"type", b'name=""', b" 0 0 0 "]


def damaged(content: bytes, seed: int) -> bytes:
    """The content with one to four pieces cut out, doubled or replaced."""
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(content))
        end = min(len(content), start + chance.choice([0, 1, 3, 10, 60]))
        piece = chance.choice([*PIECES, content[start:end] * 2])
        content = content[:start] + piece + content[end:]
    return content


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("every_joint.urdf", parse_urdf),
        ("branched.xml", parse_mjcf),
        ("equality/welds.xml", parse_mjcf),
    ],
)
def test_damaged_files_give_a_robot_or_an_error_of_ours(name: str, read) -> None:
    content = (DATA / name).read_bytes()
    outcomes = {"robot": 0, "error": 0}
    for seed in range(300):
        try:
            read(damaged(content, seed))
            outcomes["robot"] += 1
        except ModelError:
            outcomes["error"] += 1
    assert min(outcomes.values()) > 10  # the damage is neither harmless nor always fatal


@pytest.mark.parametrize(("name", "read"), [("every_joint.urdf", parse_urdf), ("branched.xml", parse_mjcf)])
@pytest.mark.parametrize("value", ["0", "-1", "1e300", "1e-300", "x", "0 0 0", "", "1 2 3 4 5 6 7"])
def test_attributes_may_hold_anything(name: str, read, value: str) -> None:
    text = (DATA / name).read_text("utf-8")
    pieces = text.split('"')
    for place in range(1 + 2 * (len(value) % STEP), len(pieces), 2 * STEP):
        changed = '"'.join([*pieces[:place], value, *pieces[place + 1 :]])
        try:
            read(changed)
        except ModelError as error:
            assert str(error)


@pytest.mark.parametrize("value", ["0", "-1", "1e300", "1e-300", "x", "", "inf"])
def test_numbers_of_an_sdf_file_may_be_anything(value: str) -> None:
    text = (DATA / "sdf" / "tree.sdf").read_text("utf-8")
    for found in list(re.finditer(r"-?[0-9][0-9.e]*", text))[len(value) % STEP :: STEP]:
        try:
            parse_sdf(text[: found.start()] + value + text[found.end() :])
        except ModelError as error:
            assert str(error)


def test_damaged_sdf_files_give_a_robot_or_an_error_of_ours() -> None:
    content = (DATA / "sdf" / "tree.sdf").read_bytes()
    for seed in range(300):
        try:
            parse_sdf(damaged(content, seed))
        except ModelError as error:
            assert str(error)
