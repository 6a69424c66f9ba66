"""The words for quantities, and what each one is: `tau`, `H`, `d(tau)/d(q)`, `pose:hand` ..."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from kinegraph.errors import DerivationError

PLAIN = (
    "tau", "H", "C", "coriolis", "gravity", "bias", "qdd", "energy", "momentum", "forces", "power",
    "regressor", "base_parameters",
)  # fmt: skip
OF_BODY = ("pose", "jacobian")
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
        if name in PLAIN and not of:
            return cls(name)
        if name in OF_BODY and of:
            return cls(name, of)
        raise DerivationError(f"unknown quantity {text!r}{_remedy(name)}")

    def __str__(self) -> str:
        text = f"{self.name}:{self.of}" if self.of else self.name
        return f"d({text})/d({self.by})" if self.by else text


def _remedy(name: str) -> str:
    if name in OF_BODY:
        return f": write {name}:BODY with the name of a body or an output point"
    close = difflib.get_close_matches(name, (*PLAIN, *OF_BODY), 1)
    known = ", ".join((*PLAIN, *(f"{word}:BODY" for word in OF_BODY), "d(X)/d(Y)"))
    return f"; did you mean {close[0]!r}? Known are {known}" if close else f"; known are {known}"


def parse_list(text: str) -> tuple[Quantity, ...]:
    """Read a list separated by commas that are not inside parentheses."""
    parts = re.split(r",(?![^()]*\))", text)
    return tuple(Quantity.parse(part) for part in parts if part.strip())
