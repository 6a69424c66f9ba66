"""The words for quantities: `tau`, `H`, `pose:hand`, `jacobian:hand@hand`, `d(tau)/d(q)`, `d(d(tau)/d(q))/d(q)`."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from math import prod

from kinegraph.derive.quantities.record import Extent, QuantityRecord, Subject
from kinegraph.derive.quantities.table import RECORDS, TABLE
from kinegraph.derive.quantities.variables import DISPLACEMENTS, Variables, depends_on_time
from kinegraph.errors import DerivationError
from kinegraph.model.mechanism import Mechanism

# The words for quantities: `tau`, `H`, `pose:hand`, `jacobian:hand@hand`, `d(tau)/d(q)`, `d(d(tau)/d(q))/d(q)` ...

_DERIVATIVE = re.compile(r"d\((.+)\)/d\(([^()]+)\)")
#: What people write for a derivative: dtau/dq, d(tau)/dq, ∂tau/∂q.
_LIKE_A_DERIVATIVE = re.compile(r"[d∂]\s*(?:\((.+)\)|(\w+))\s*/\s*[d∂]\s*(?:\(([^()]+)\)|(.+))")

#: Errors repeat no more than this of what they complain of.
_LONGEST_PRINTED = 80

#: Everything that can be asked for, as it is written.
WORDS = (*(record.word for record in TABLE), "d(X)/d(Y)")
#: Variants of other quantities, by how their names begin or end.
_VARIANT = re.compile(r"spatial_|com_|.*_(bias|rate)$")
#: What a message lists: few mechanisms are platforms, and docs/quantities.md lists the variants.
_USUAL = (*(one.word for one in TABLE if not one.of_platforms and not _VARIANT.match(one.name)), "d(X)/d(Y)")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity of a mechanism, or a derivative of one.

    `name` is a row of the table. `of` names what it is asked of (a body, point, joint or element), `frame` whose axes
    it is given in (nothing: those the table says). `by` are the variables it is differentiated by, the innermost
    first: derivatives nest, and what nests by one branch only is a sequence.
    """

    name: str
    of: str = ""
    frame: str = ""
    by: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Quantity:
        """Read one word, e.g. `H`, `pose:hand@base`, `d(tau)/d(q)`."""
        text = text.strip()
        if match := _DERIVATIVE.fullmatch(text):
            inner = cls.parse(match[1])
            return replace(inner, by=(*inner.by, match[2].strip()))
        written, at, frame = text.partition("@")
        name, colon, of = written.partition(":")
        short = not colon and name.strip() == "A"  # as equations are written; with a colon it is that of a loop
        quantity = cls("A_unknown" if short else name.strip(), of.strip(), frame.strip())
        if fault := _fault(quantity, bool(colon), bool(at)):
            raise DerivationError(
                f"{_short(text)}: {fault}" if quantity.name in RECORDS else _unknown(text, quantity.name)
            )
        return quantity

    @property
    def record(self) -> QuantityRecord:
        """What the table says of it; for a derivative, of what is differentiated."""
        return RECORDS[self.name]

    @property
    def undifferentiated(self) -> Quantity:
        """The quantity itself, without its derivatives."""
        return replace(self, by=())

    @property
    def inner(self) -> Quantity:
        """What the outermost derivative is taken of."""
        return replace(self, by=self.by[:-1])

    def __str__(self) -> str:
        text = f"{self.name}:{self.of}" if self.of else self.name
        text += f"@{self.frame}" if self.frame else ""
        for variable in self.by:
            text = f"d({text})/d({variable})"
        return text


def parse_list(text: str) -> tuple[Quantity, ...]:
    """Read a list separated by commas that are not inside parentheses."""
    parts = re.split(r",(?![^()]*\))", text)
    return tuple(Quantity.parse(part) for part in parts if part.strip())


def _fault(quantity: Quantity, colon: bool, at: bool) -> str:
    """What is wrong with a word that is not a derivative; empty if it names a quantity."""
    record = RECORDS.get(quantity.name)
    if record is None:
        return "unknown"
    if at and not (record.any_frame and quantity.frame):
        return f"write {record.word}@BODY" if record.any_frame else f"{record.name} is given in no other frame"
    if record.subject is Subject.MECHANISM:
        return f"write {record.name} alone, it is of the whole mechanism" if colon else ""
    parts = quantity.of.split(":")
    given, wanted = len(parts), len(record.subject.value.split(":"))
    if not all(parts) or given < wanted or (given > wanted and record.subject is not Subject.LOOP):
        other = "; of unknown forces write B_unknown" if record.name == "B" else ""
        return f"write {record.word} with the name of {record.subject.meaning}{other}"
    return ""


def _unknown(text: str, name: str) -> str:
    """The message for a word that is none, with what was probably meant."""
    meant = _derivative_meant(text) or _record_meant(name)
    usual = f"available: {', '.join(_USUAL)}; docs/quantities.md lists all"
    return f"unknown quantity {_short(text)}\n  {meant or usual}"


def _short(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_PRINTED else f"{text[:_LONGEST_PRINTED]}...")


def _derivative_meant(text: str) -> str:
    """`d(tau)/d(q)` for d(tau)/dq and the like; nothing if that would be no quantity either."""
    match = _LIKE_A_DERIVATIVE.fullmatch(text)
    if match is None:
        return ""
    meant = f"d({match[1] or match[2]})/d({(match[3] or match[4]).strip()})"
    try:
        Quantity.parse(meant)
    except DerivationError:
        return "derivatives are written d(X)/d(Y)"
    return f"did you mean `{meant}`?"


def _record_meant(name: str) -> str:
    """The row that has another word for this one, or a name much like it."""
    for record in TABLE:
        if name in record.synonyms or name.casefold() in {word.casefold() for word in (record.name, *record.synonyms)}:
            return f"did you mean `{record.word}` ({record.meaning})?"
    words = {word: record.name for record in TABLE for word in record.synonyms} | {word: word for word in RECORDS}
    close = get_close_matches(name, words, 1)
    return f"did you mean `{RECORDS[words[close[0]]].word}`?" if close else ""


def dependencies(quantity: Quantity, mechanism: Mechanism) -> tuple[Variables, ...]:
    """What a quantity of a mechanism is a function of, parameters apart; a derivative takes what its inside takes."""
    needed, unknowns = set(quantity.record.arguments), quantity.record.of_unknowns * len(mechanism.unknowns)
    if quantity.record.driven and len(mechanism.layout.inputs) > unknowns:
        needed.add(Variables.INPUTS)
    if quantity.record.driven and mechanism.layout.states:
        needed.add(Variables.STATES)
    if depends_on_time(mechanism):
        needed.add(Variables.TIME)
    return tuple(group for group in Variables if group in needed)


# How many entries a quantity has: what is written out straight takes a time that grows with them.

#: More are never written out: the graph alone would not fit into memory.
MOST = 4_000_000

#: More take tens of seconds, which is said.
MANY = 30_000

_GROUPS = {DISPLACEMENTS, *(group.value for group in Variables)}
_log = logging.getLogger("kinegraph")


def check_entries(mechanism: Mechanism, quantities: Iterable[Quantity]) -> None:
    """Refuse quantities with more entries than can be written out, and say of large ones that they take their time."""
    for quantity in quantities:
        size = entries(mechanism, quantity)
        text = f"{quantity} of {mechanism.name} has {size:,} entries"
        if size > MOST:
            raise DerivationError(
                f"{text}, more than the {MOST:,} that can be written out\n  ask for what is multiplied by it "
                "(tau, bias, qdd), or for derivatives by single names such as d(tau)/d(q1)"
            )
        if size > MANY:
            _log.warning("%s, all of them written out: this may take minutes the first time", text)


def entries(mechanism: Mechanism, quantity: Quantity) -> int:
    """About how many numbers a quantity is, from the lengths of its indices that grow with the mechanism."""
    size = len(mechanism.layout.velocities)
    lengths = {Extent.VELOCITIES: size, Extent.BASE_PARAMETERS: size, Extent.STATES: len(mechanism.layout.states)}
    lengths[Extent.UNKNOWNS] = len(mechanism.unknowns)
    shape = [lengths.get(one, 1) if isinstance(one, Extent) else one for one in quantity.record.shape]
    return prod([*shape, *(size for name in quantity.by if name in _GROUPS)])
