"""The words for quantities, and what each one is: `tau`, `H`, `d(tau)/d(q)`, `pose:hand` ..."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from kinegraph.derive.quantities.table import RECORDS, TABLE
from kinegraph.errors import DerivationError

#: What derivatives along displacements are taken by: one for every velocity, where `q` means one for every position.
DISPLACEMENTS = "dq"
_DERIVATIVE = re.compile(r"d\((.+)\)/d\((.+)\)$")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity of a mechanism. `of` names a body or point, `by` what it is differentiated by."""

    name: str
    of: str = ""
    by: str = ""

    @classmethod
    def parse(cls, text: str) -> Quantity:
        """Read one word, e.g. `H`, `pose:hand`, `d(tau)/d(q)`."""
        text = text.strip()
        if match := _DERIVATIVE.match(text):
            inner = cls.parse(match[1])
            if inner.by:
                raise DerivationError(f"{text!r}: derivatives of derivatives are not named; differentiate the graph")
            return cls(inner.name, inner.of, match[2].strip())
        name, _, of = text.partition(":")
        if name in RECORDS and bool(of) is bool(RECORDS[name].subject.value):
            return cls(name, of)
        raise DerivationError(f"unknown quantity {text!r}{_remedy(name)}")

    def __str__(self) -> str:
        text = f"{self.name}:{self.of}" if self.of else self.name
        return f"d({text})/d({self.by})" if self.by else text


def _remedy(name: str) -> str:
    if name in RECORDS and RECORDS[name].subject.value:
        return f": write {RECORDS[name].word} with the name of a body or an output point"
    close = difflib.get_close_matches(name, RECORDS, 1)
    known = ", ".join(WORDS)
    return f"; did you mean {close[0]!r}? Known are {known}" if close else f"; known are {known}"


#: Everything that can be asked for, as it is written.
WORDS = (*(record.word for record in TABLE), "d(X)/d(Y)")


def parse_list(text: str) -> tuple[Quantity, ...]:
    """Read a list separated by commas that are not inside parentheses."""
    parts = re.split(r",(?![^()]*\))", text)
    return tuple(Quantity.parse(part) for part in parts if part.strip())
