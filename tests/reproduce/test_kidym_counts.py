"""The formulas of KiDyM counted record by record: by hand on small models, and old beside new form."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import kinegraph as kg
from kinegraph.reproduce import kidym_counts as counts
from kinegraph.reproduce.document import Verdict
from kinegraph.reproduce.documents.kidym import published_counts
from kinegraph.reproduce.kidym_counts import PRINTED, Ledger, Result, both_forms, both_nearest, counted
from tests.effort import SOAK

ARM = "parameters l = 1, m1 = 1, J1 = 1; coordinates q1, q2;\n"
ONE = "A | Rz(q1), Sx(l) | m(m1), Jx(J1), Jy(J1), Jz(J1);"
TWO = f"{ONE} B~A | Rz(q2), Sx(l) | m(m1), Jx(J1), Jy(J1), Jz(J1);"


@pytest.fixture(scope="module", autouse=True)
def outputs() -> Iterator[None]:
    """Some of the outputs that were tried, by every rule: deriving and reducing all takes seconds (make soak)."""
    both_forms.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        if not SOAK:
            patch.setattr(counts, "OUTPUTS", ("H", "gravity", "tau"))
        yield
    both_forms.cache_clear()


def operations(text: str, *results: Result, statics: bool = False) -> tuple[int, int, int]:
    found: Ledger = counted(kg.parse(ARM + text), results, statics)
    return found.mul, found.add, found.functions


def test_one_link_by_hand() -> None:
    """x = l cos, y = l sin; v = l q'; a: -l q'^2 + g sin, l q'' + g cos less what is zero; W = l, 1."""
    unused = " C | Rz(q2) | m(1);"
    one = f"{ONE}{unused}"
    assert operations(one, Result.POSITIONS) == (2, 0, 4)
    assert operations(one, Result.VELOCITIES) == (1, 0, 4)
    assert operations(one, Result.STRUCTURE) == (0, 0, 4)  # l times one
    assert operations(one, Result.MASS) == (0, 0, 4)  # all of parameters alone


def test_statics_count_where_they_are_to() -> None:
    assert operations(f"{ONE} C | Rz(q2) | m(1);", Result.MASS, statics=True)[0] > 0
    free, all_counted = (operations(TWO, Result.MASS, statics=statics) for statics in (False, True))
    assert free[0] < all_counted[0]


def test_a_second_link_turns_what_the_first_gives() -> None:
    """Two rows of axes with four products and two sums each; the place: two more of each."""
    assert operations(TWO, Result.POSITIONS) == (2 + 8 + 2, 4 + 2, 4)


def test_the_old_form_takes_more_than_the_new_one() -> None:
    old, new = (kg.load(f"kidym-biped-{form}") for form in ("old", "new"))
    for result in Result:
        more, fewer = counted(old, [result]), counted(new, [result])
        assert more.mul > fewer.mul and more.add > fewer.add
        assert more.functions == fewer.functions == 28


def test_nothing_that_was_tried_is_both_printed_pairs() -> None:
    """If a better pass or another output meets them one day, the page must say so: this test then fails."""
    forms = both_forms()
    assert forms["old"].equations == forms["new"].equations
    assert min(one.distance(PRINTED["new"]) for one in forms["new"].tallies) > 0.1
    assert both_nearest(forms)[:2] == ("accelerations", "record by record")


def test_the_page_lists_every_try() -> None:
    entries = published_counts()
    assert len({entry.name for entry in entries}) == len(entries) > (80 if SOAK else 60)
    assert entries[0].verdict is Verdict.AGREES and entries[0].ours == "28"
    assert all(entry.verdict is not Verdict.UNEXPLAINED for entry in entries)
    better = {entry.name for entry in entries if entry.verdict is Verdict.BETTER}
    assert "new form, H, reduced" in better and "new form, tau, reduced" not in better
