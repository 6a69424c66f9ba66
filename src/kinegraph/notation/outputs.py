"""What the entries of outputs are called on a page: letters of the table of quantities, names of the coordinates."""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.derive.quantities.record import Letter
from kinegraph.derive.quantities.variables import DISPLACEMENTS, Variables, group_word
from kinegraph.errors import DerivationError
from kinegraph.graph.node import Kind, Symbol
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.state_layout import moved_by


@dataclass(frozen=True)
class EntryName:
    """The name of an entry of an output.

    It is a `variable` itself (an acceleration, a generalized force), or the letter of a quantity, or a word, with
    indices, which are numbers or names. `by` are the variables it is differentiated by.
    """

    word: str
    letter: Letter | None = None
    of: str = ""
    frame: str = ""
    variable: Symbol | None = None
    indices: tuple[str, ...] = ()
    by: tuple[Symbol, ...] = ()


def entry_name(output: str, indices: tuple[int, ...], mechanism: Mechanism | None) -> EntryName:
    """What one entry (indices from one; none: the whole output) is called; a mechanism knows names of its variables."""
    try:
        quantity = Quantity.parse(output)
    except DerivationError:  # the outputs of a graph may have any name
        return EntryName(output, indices=tuple(map(str, indices)))
    groups = [_Group(word, mechanism) for word in quantity.by]
    inner = len(indices) - sum(group.indexed for group in groups)
    if indices and inner < 0:
        return EntryName(output, indices=tuple(map(str, indices)))
    rest = iter(indices[inner:] if indices else ())
    by = tuple(group.symbol(next(rest, 0) if group.indexed else 0) for group in groups)
    own = indices[:inner] if indices else ()
    variable = _variable(quantity, own, mechanism)
    names = _named_indices(quantity, own, mechanism)
    word = str(quantity.undifferentiated)
    return EntryName(word, quantity.record.letter, quantity.of, quantity.frame, variable, names, by)


def _variable(quantity: Quantity, indices: tuple[int, ...], mechanism: Mechanism | None) -> Symbol | None:
    entries = quantity.record.entries
    if mechanism is None or entries is None or not quantity.record.variables or len(indices) != 1:
        return None
    return entries.symbols(mechanism)[indices[0] - 1]


def _named_indices(quantity: Quantity, indices: tuple[int, ...], mechanism: Mechanism | None) -> tuple[str, ...]:
    entries = quantity.record.entries
    if mechanism is None or entries is None or len(indices) != 1:
        return tuple(map(str, indices))
    name = entries.names(mechanism)[indices[0] - 1]
    return (moved_by(name),) if entries is Variables.FORCES else (name,)


class _Group:
    """What one derivative is taken by: a group of variables, or a single one."""

    def __init__(self, word: str, mechanism: Mechanism | None) -> None:
        group = group_word(word, mechanism)
        self.word = group or word
        self.mechanism = mechanism
        self.indexed = group in (*Variables, DISPLACEMENTS) and group != Variables.TIME

    def symbol(self, index: int) -> Symbol:
        """The variable of an index from one; zero means the group as a whole, or the single variable."""
        if self.mechanism is not None and self.indexed and index and self.word != DISPLACEMENTS:
            return Variables(self.word).symbols(self.mechanism)[index - 1]
        stem = "q" if self.word == DISPLACEMENTS else self.word
        if not self.indexed or not index:
            return Symbol(Kind.PARAMETER, stem)
        return Symbol(Kind.PARAMETER, f"{stem}{index}")
