"""A document as chapters, sections, and entries: each printed number beside ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from io import StringIO
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# One printed number beside ours, and the verdict.


class Verdict(Enum):
    """The result of a comparison; the value is the word on the page."""

    AGREES = "agrees"
    BETTER = "better"
    EXPLAINED = "explained"
    UNEXPLAINED = "unexplained"


@dataclass(frozen=True)
class Entry:
    """`printed` is the text of the document, letter by letter; `ours` is computed when the page is made.

    reason: why the two differ, if they do and it is known; empty if they agree.
    """

    name: str
    printed: str
    ours: str
    verdict: Verdict
    reason: str = ""


def number(name: str, printed: str, ours: float, reason: str = "", slack: float = 0.0) -> Entry:
    """A printed number agrees if ours rounds to it; `slack` is the effect of rounded data in the document."""
    agrees = abs(ours - float(printed)) <= half_a_unit(printed) + slack
    verdict = Verdict.AGREES if agrees else Verdict.EXPLAINED if reason else Verdict.UNEXPLAINED
    return Entry(name, printed, like(printed, ours), verdict, "" if agrees else reason)


def fewer(name: str, printed: int, ours: int, reason: str = "") -> Entry:
    """A count of operations: equal or fewer is the goal."""
    verdict = Verdict.AGREES if ours == printed else Verdict.BETTER if ours < printed else Verdict.EXPLAINED
    if verdict is Verdict.EXPLAINED and not reason:
        verdict = Verdict.UNEXPLAINED
    return Entry(name, str(printed), str(ours), verdict, reason if ours > printed else "")


def measured(name: str, printed: str, ours: str, reason: str) -> Entry:
    """A time or a size of other machines and programs, for orientation only."""
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


# A document as sections, each for one table, and the count of verdicts.


@dataclass(frozen=True)
class Section:
    """A table, figure or statement: `command` reproduces it, `seconds` is its duration here.

    `figures` are pictures as SVG.
    """

    title: str
    text: str
    command: str
    entries: tuple[Entry, ...]
    seconds: float = 0.0
    figures: tuple[str, ...] = ()

    @property
    def verdicts(self) -> Counter[Verdict]:
        """How many entries agree, differ or are omitted."""
        return Counter(entry.verdict for entry in self.entries)


@dataclass(frozen=True)
class Chapter:
    """A section to be computed; `draw` makes its figures, after the entries."""

    title: str
    text: str
    command: str
    compute: Callable[[], tuple[Entry, ...]]
    draw: Callable[[], tuple[str, ...]] | None = None

    def section(self) -> Section:
        """Computed now, and timed."""
        started = perf_counter()
        entries = self.compute()
        figures = self.draw() if self.draw is not None else ()
        return Section(self.title, self.text, self.command, entries, perf_counter() - started, figures)


@dataclass(frozen=True)
class Document:
    """A source document: its `word` on the command line, its source, its chapters in order."""

    word: str
    title: str
    source: str
    chapters: tuple[Chapter, ...] = field(default=())


@dataclass(frozen=True)
class Reproduction:
    """A document with everything computed."""

    document: Document
    sections: tuple[Section, ...]

    @property
    def verdicts(self) -> Counter[Verdict]:
        """The same over all sections."""
        return sum((section.verdicts for section in self.sections), Counter())

    def __str__(self) -> str:
        counts = self.verdicts
        words = ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict)
        return f"{self.document.word}: {counts.total()} entries compared, {words}"


def reproduced(document: Document, on_section: Callable[[Section], None] | None = None) -> Reproduction:
    """Compute every chapter; `on_section` is called with each finished one."""
    sections = []
    for chapter in document.chapters:
        sections.append(chapter.section())
        if on_section is not None:
            on_section(sections[-1])
    return Reproduction(document, tuple(sections))


# Curves as pictures inside a page, for the figures of the documents, of which only the captions are readable.

Floats = npt.NDArray[np.float64]
_SIZE = (5.2, 3.0)


def curves(title: str, across: str, x: Floats, up: str, lines: Mapping[str, Floats], equal: bool = False) -> str:
    """An SVG: lines over one axis, with a legend if there are several; `equal` scales both axes equally."""
    from matplotlib.figure import Figure  # slow to import, and most entries need no picture

    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.subplots()
    for name, y in lines.items():
        axes.plot(x, y, label=name, linewidth=1.4)
    axes.set(xlabel=across, ylabel=up, title=title)
    axes.title.set_fontsize(10)
    axes.grid(alpha=0.3)
    if equal:
        axes.set_aspect("equal", adjustable="datalim")
    if len(lines) > 1:
        axes.legend(frameon=False, fontsize=8)
    return _svg(figure)


def _svg(figure: Figure) -> str:
    text = StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]
