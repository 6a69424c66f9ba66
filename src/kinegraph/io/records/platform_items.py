"""The statement of a leg table: `platform UPS | Ring | lower part | upper part | drive | A: base > ring | ...;`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lark import Token

from kinegraph.errors import ModelError
from kinegraph.io.records.element_items import Clause
from kinegraph.io.records.expression_reader import Children, ExpressionReader
from kinegraph.io.records.items import Item, read_inertia, read_transforms
from kinegraph.model.expression import Expression
from kinegraph.model.names import did_you_mean
from kinegraph.model.places import Places
from kinegraph.model.platforms.records import Drive, LegKind, LegRow, Screw, leg_type

#: The words of a drive: how many expressions each takes.
_DRIVE_WORDS = {
    "damping": (1, 1), "stiffness": (1, 1), "rest": (1, 1), "coulomb": (1, 1), "width": (1, 1), "limit": (1, 1),
    "screw": (1, 4), "stroke": (2, 2), "stop": (1, 1), "effort": (1, 1),
}  # fmt: skip
_EXAMPLE = "`platform UPS | Ring | Sz(0.2), m(4) | Sz(-0.2), m(2) | damping(300) | A: Sx(0.6) > Sx(0.4) | ...;`"


@dataclass(frozen=True, slots=True)
class _Row:
    """A row as it is written."""

    name: Token
    base: Token | None
    at_base: Sequence[Item]
    at_ring: Sequence[Item]


class PlatformReader(ExpressionReader):
    """The rules of the grammar that make leg tables."""

    def __init__(self, source: str, places: Places) -> None:
        super().__init__(source, places)
        self._legs: list[tuple[LegKind, tuple[LegRow, ...]]] = []

    def leg(self, children: Children) -> _Row:
        """One leg: its name and its two ends."""
        name, base, at_base, at_ring = children
        return _Row(name, base, at_base, at_ring)

    def platform(self, children: Children) -> None:
        """A platform on legs of one kind."""
        item, ring, first, second, clauses, *rows = children
        try:
            kind = leg_type(item.word)
        except ModelError as error:
            raise error.at(item.place) from None
        lower, upper = (read_inertia(part, self.places)[0] for part in (first, second))
        table = LegKind(kind, str(ring), lower, upper, tuple(item.arguments or ()), read_drive(clauses or ()))
        self._legs.append((table, tuple(self._row(row) for row in rows)))

    def _row(self, row: _Row) -> LegRow:
        base, ring = (read_transforms(items, self.places) for items in (row.at_base, row.at_ring))
        made = LegRow(str(row.name), base, ring, None if row.base is None else str(row.base))
        return self.places.mark(made, self.place(row.name))


def read_drive(clauses: Sequence[Clause]) -> Drive:
    """The drive of a table; `powered`, or a limit or screw without a formula, gives every leg an input."""
    found: dict[str, tuple[Expression, ...]] = {}
    powered = False
    for clause in clauses:
        if clause.word == "powered":
            powered = True
            continue
        if clause.word not in _DRIVE_WORDS:
            remedy = did_you_mean(clause.word, (*_DRIVE_WORDS, "powered"))
            raise ModelError(f"a drive takes no `{clause.word}`", clause.place, remedy)
        if clause.word in found:
            raise ModelError(f"`{clause.word}` stands twice in a drive", clause.place, "keep one of them")
        found[clause.word] = _amounts(clause)
    return _drive(found, powered)


def _drive(found: Mapping[str, tuple[Expression, ...]], powered: bool) -> Drive:
    usual = Drive()
    ends = found.get("stroke", (None, None))
    return Drive(
        damping=found.get("damping", (usual.damping,))[0],
        stiffness=found.get("stiffness", (usual.stiffness,))[0],
        rest=found.get("rest", (usual.rest,))[0],
        coulomb=found.get("coulomb", (usual.coulomb,))[0],
        width=found.get("width", (usual.width,))[0],
        powered=powered or ("effort" not in found and ("limit" in found or "screw" in found)),
        effort=found.get("effort", (usual.effort,))[0],
        limit=found["limit"][0] if "limit" in found else None,
        screw=Screw(*found["screw"]) if "screw" in found else None,
        shortest=ends[0],
        longest=ends[1],
        stop=found.get("stop", (usual.stop,))[0],
    )


def _amounts(clause: Clause) -> tuple[Expression, ...]:
    least, most = _DRIVE_WORDS[clause.word]
    values = tuple(part for part in clause.arguments if isinstance(part, Expression))
    if len(values) != len(clause.arguments) or not least <= len(values) <= most:
        count = str(least) if least == most else f"{least} to {most}"
        raise ModelError(f"`{clause.word}` of a drive takes {count} expressions", clause.place, f"write {_EXAMPLE}")
    return values
