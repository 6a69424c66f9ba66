"""The arithmetic that libraries with operators of their own share: graphs are evaluated in their expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kinegraph.extras import Foreign
from kinegraph.graph.node import Coefficient, Symbol


class Expressions:
    """Arithmetic of a library's expressions, for `Evaluation`.

    library: the module whose functions have the graph's names, but for those in `special`.
    """

    def __init__(self, library: Foreign, special: Mapping[str, Callable[..., Foreign]]) -> None:
        self.library = library
        self._special = {"reciprocal": lambda x: 1 / x, **special}

    def symbol(self, symbol: Symbol) -> Foreign:
        """What stands for a symbol of the graph."""
        raise NotImplementedError

    def number(self, value: Coefficient) -> Foreign:
        """What stands for a number."""
        raise NotImplementedError

    def add(self, left: Foreign, right: Foreign) -> Foreign:
        """The sum of two values."""
        return left + right

    def multiply(self, left: Foreign, right: Foreign) -> Foreign:
        """The product of two values."""
        return left * right

    def power(self, base: Foreign, exponent: int) -> Foreign:
        """A value to a whole power."""
        return base**exponent

    def function(self, name: str, arguments: Sequence[Foreign], angle: Callable[[], Foreign]) -> Foreign:
        """A function of values."""
        return (self._special.get(name) or getattr(self.library, name))(*arguments)
