"""The arithmetic that libraries with operators of their own share: graphs are evaluated in their expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kinegraph.graph.node import Coefficient, Symbol


class Expressions:
    """Arithmetic of a library's expressions, for `Evaluation`.

    library: the module whose functions have the graph's names, but for those in `special`.
    """

    def __init__(self, library: Any, special: Mapping[str, Callable[..., Any]]) -> None:
        self.library = library
        self._special = {"reciprocal": lambda x: 1 / x, **special}

    def symbol(self, symbol: Symbol) -> Any:
        """What stands for a symbol of the graph."""
        raise NotImplementedError

    def number(self, value: Coefficient) -> Any:
        """What stands for a number."""
        raise NotImplementedError

    def add(self, left: Any, right: Any) -> Any:
        """The sum of two values."""
        return left + right

    def multiply(self, left: Any, right: Any) -> Any:
        """The product of two values."""
        return left * right

    def power(self, base: Any, exponent: int) -> Any:
        """A value to a whole power."""
        return base**exponent

    def function(self, name: str, arguments: Sequence[Any], angle: Callable[[], Any]) -> Any:
        """A function of values."""
        return (self._special.get(name) or getattr(self.library, name))(*arguments)
