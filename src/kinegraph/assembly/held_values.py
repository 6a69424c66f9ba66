"""Which initial values hold where loops must be closed, and what is said of those that cannot.

Values that a call sets come first, then those that the model declares, each in the order of the model. A value holds if
those before it leave it free; the others follow from the loops. Values nobody gave move as little as possible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kinegraph.derive.constraints.conditions import Floats
from kinegraph.derive.constraints.rank import following_columns

#: Numbers of files and papers are rounded: a value that moves by no more than this, beside a radian, the mechanism's
#: longest lever or its largest speed, or itself, still holds.
ROUNDED = 1e-3
#: Values that moved by more than this, beside the same, are listed: what is left shows in six digits.
_VISIBLE = 1e-6


@dataclass(frozen=True)
class MovedValue:
    """An initial value that is not what was given.

    set: it was given for this call, not by the model. follows: others that hold determine it. size: what is usual for
    values of its kind in the mechanism.
    """

    name: str
    given: float
    assembled: float
    set: bool
    follows: bool
    size: float = 1.0

    def beyond(self, part: float) -> bool:
        """Whether it moved by more than a part of itself, or of what is usual."""
        return abs(self.assembled - self.given) > part * (self.size + abs(self.given))

    @property
    def refused(self) -> bool:
        """Whether going on would ignore the user: values that a call sets hold."""
        return self.set and self.beyond(ROUNDED)


def holding(jacobian: Floats, columns: Mapping[str, Sequence[int]], names: Sequence[str]) -> tuple[str, ...]:
    """Those of the named values that can hold, the first ones first; `columns` of a value are its displacements."""
    follow = following_columns(jacobian, list(dict.fromkeys(k for name in names for k in columns[name])))
    return tuple(name for name in names if not follow.intersection(columns[name]))


def moved_values(
    given: Mapping[str, float], assembled: Mapping[str, float], named: Sequence[str], independent: Sequence[str],
    declared: Sequence[str], sizes: Mapping[str, float] | None = None,
) -> tuple[MovedValue, ...]:  # fmt: skip
    """The named and the declared values that are not what they were; `independent` could hold, `sizes` are usual."""
    pairs = [(name, True) for name in named] + [(name, False) for name in declared if name not in named]
    usual = sizes or dict.fromkeys(given, 1.0)
    listed = [
        MovedValue(name, given[name], assembled[name], is_set, name not in independent, usual[name])
        for name, is_set in pairs
    ]
    return tuple(one for one in listed if one.beyond(1e-12))


def table(moved: Sequence[MovedValue]) -> list[str]:
    """Lines `name  given -> assembled` for values that moved visibly."""
    visible = [one for one in moved if one.beyond(_VISIBLE)]
    width = max((len(one.name) for one in visible), default=0)
    return [f"{one.name:<{width}}  {one.given:.6g} -> {one.assembled:.6g}" for one in visible]


def note(moved: Sequence[MovedValue], most: int = 6) -> str | None:
    """The table on one line, with its first entries; None if it is empty."""
    lines = table(moved)
    if not lines:
        return None
    more = f", ... ({len(lines) - most} more)" if len(lines) > most else ""
    return "declared -> assembled: " + ", ".join(" ".join(line.split()) for line in lines[:most]) + more


def refusal(model: str, moved: Sequence[MovedValue], independent: Sequence[str]) -> str | None:
    """Why values that were given cannot be used, in words; None if they hold."""
    refused = [one for one in moved if one.refused]
    if not refused:
        return None
    if any(not one.follows for one in refused):
        why = "its loops and constraints cannot be closed with the values given; the nearest that can"
        remedy = "give values that can be reached, or leave some out: they follow then"
    else:
        follow = f"these follow from {', '.join(independent)}" if independent else "its loops leave no freedom"
        why = f"the values given contradict its loops and constraints: {follow}"
        remedy = "give fewer values, or those on the right"
    lines = "\n".join(f"    {line}" for line in table(refused))
    return f"{model}: {why}\n{lines}\n  {remedy}"
