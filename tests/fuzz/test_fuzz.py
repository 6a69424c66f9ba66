"""The fuzzer itself: a few hundred cases, the inputs that once failed, and whether it would notice a fault at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from kinegraph.errors import KinegraphError
from kinegraph.io import parse
from kinegraph.io.mjcf import parse_mjcf
from kinegraph.io.urdf import parse_urdf
from tests.fuzz import sources, traps
from tests.fuzz.campaign import Campaign, Fault
from tests.fuzz.subject import Depth, Subject
from tests.fuzz.subjects import BY_NAME, SUBJECTS
from tests.fuzz.traps import TRAPS
from tests.fuzz.worker import outcome

REGRESSIONS = Path(__file__).parent / "regressions"

#: Of each subject; command lines take longest.
_FEW = {"command": 30, "minimize": 15}


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_a_few_cases_end_in_success_or_an_error_of_ours(subject: Subject, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("KINEGRAPH_STORE", str(tmp_path / "store.sqlite"))
    found = set()
    for number in range(_FEW.get(subject.name, 40)):
        text, depth = subject.case(0, number)
        how, trace = outcome(subject, text, min(depth, Depth.DERIVE))
        assert how != "fault", f"case {number}, {text!r}: {trace}"
        found.add(how)
    assert found == {"read", "refused"}  # the damage is neither harmless nor always fatal


@pytest.mark.parametrize("path", sorted(REGRESSIONS.glob("*/*")), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_inputs_that_once_failed(path: Path, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("KINEGRAPH_STORE", str(tmp_path / "store.sqlite"))
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    how, trace = outcome(BY_NAME[path.parent.name], text, Depth.COMPILE)
    assert how != "fault", trace


def test_the_texts_that_damage_begins_with_are_sound() -> None:
    for text in sources.models():
        assert parse(text)
    for text in sources.urdf_texts():
        assert parse_urdf(text)
    for text in sources.mjcf_texts():
        assert parse_mjcf(text)


def test_a_case_is_made_of_its_numbers_alone() -> None:
    for subject in SUBJECTS:
        assert subject.case(3, 7) == subject.case(3, 7)
        assert len({subject.case(3, number) for number in range(20)}) > 10


def test_every_way_of_doing_wrong_is_noticed_and_named() -> None:
    told: list[Fault] = []
    tally = Campaign(7, 62, 1, told.append, seconds=0.3).run((TRAPS,))[TRAPS.name]
    ways = [TRAPS.case(62, number)[0] for number in range(7)]
    assert set(ways) == set(traps.WAYS)
    wrong = {number: way for number, way in enumerate(ways) if way not in ("nothing", "refuse")}
    signs = {
        "raise": "KeyError",
        "memory": "MemoryError",
        "crash": "exit code -11",
        "spin": "more than its processor time",
    }
    assert {fault.number: fault.what for fault in told if signs[ways[fault.number]] not in fault.what} == {}
    assert sorted(fault.number for fault in told) == sorted(wrong)
    assert all(f"SEED=62 CASE={fault.number}" in str(fault) for fault in told)
    assert tally.counts == {how: n for how in ("read", "refused", "fault") if (n := _count(ways, how))}


def _count(ways: list[str], how: str) -> int:
    return sum({"nothing": "read", "refuse": "refused"}.get(way, "fault") == how for way in ways)


def test_errors_of_ours_are_no_faults() -> None:
    def refuse(text: str, depth: Depth) -> None:
        raise KinegraphError(text)

    assert outcome(Subject("x", 1, lambda chance: "", refuse), "no", Depth.READ) == ("refused", "")
