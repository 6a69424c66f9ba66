"""One printed number beside ours, and what follows from the two."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum


class Verdict(Enum):
    """What a comparison says; the value is the word on the page."""

    AGREES = "agrees"
    BETTER = "better"
    EXPLAINED = "explained"
    UNEXPLAINED = "unexplained"


@dataclass(frozen=True)
class Entry:
    """`printed` is the text of the document, letter by letter; `ours` is computed when the page is made.

    reason: why the two differ, where they do and it is known; empty where they agree.
    """

    name: str
    printed: str
    ours: str
    verdict: Verdict
    reason: str = ""


def number(name: str, printed: str, ours: float, reason: str = "", slack: float = 0.0) -> Entry:
    """A printed number agrees if ours rounds to it; `slack` is what rounded data of the document add to that."""
    agrees = abs(ours - float(printed)) <= half_a_unit(printed) + slack
    verdict = Verdict.AGREES if agrees else Verdict.EXPLAINED if reason else Verdict.UNEXPLAINED
    return Entry(name, printed, like(printed, ours), verdict, "" if agrees else reason)


def fewer(name: str, printed: int, ours: int, reason: str = "") -> Entry:
    """A count of operations: equal or fewer is what is wanted."""
    verdict = Verdict.AGREES if ours == printed else Verdict.BETTER if ours < printed else Verdict.EXPLAINED
    if verdict is Verdict.EXPLAINED and not reason:
        verdict = Verdict.UNEXPLAINED
    return Entry(name, str(printed), str(ours), verdict, reason if ours > printed else "")


def measured(name: str, printed: str, ours: str, reason: str) -> Entry:
    """A time or a size: of other machines and other programs, so the two only stand beside each other."""
    return Entry(name, printed, ours, Verdict.EXPLAINED, reason)


def held(name: str, printed: str, ours: str, holds: bool, reason: str = "") -> Entry:
    """A statement of the document that holds here, or does not."""
    verdict = Verdict.AGREES if holds else Verdict.EXPLAINED if reason else Verdict.UNEXPLAINED
    return Entry(name, printed, ours, verdict, "" if holds else reason)


def half_a_unit(printed: str) -> float:
    """Half a unit of the last digit printed."""
    exponent = Decimal(printed).as_tuple().exponent
    assert isinstance(exponent, int)
    return 0.5000001 * 10.0**exponent


def like(printed: str, ours: float) -> str:
    """Our number with two digits more than are printed."""
    exponent = Decimal(printed).as_tuple().exponent
    assert isinstance(exponent, int)
    text = f"{ours:.{max(2 - exponent, 0)}f}"
    return text.removeprefix("-") if float(text) == 0 else text
