"""A document as sections, each with the table it stands for, and the count of what agrees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

from kinegraph.reproduce.entry import Entry, Verdict


@dataclass(frozen=True)
class Section:
    """A table, figure or statement: `command` is what a reader types to see it again, `seconds` what it took here.

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
        """How many entries agree, differ or are left out."""
        return Counter(entry.verdict for entry in self.entries)


@dataclass(frozen=True)
class Chapter:
    """A section that is still to be computed; `draw` makes its figures, after the entries."""

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
    """A source document: `word` on the command line, where it comes from, its chapters in order."""

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
    """Compute every chapter; `on_section` hears of each as it is done."""
    sections = []
    for chapter in document.chapters:
        sections.append(chapter.section())
        if on_section is not None:
            on_section(sections[-1])
    return Reproduction(document, tuple(sections))
