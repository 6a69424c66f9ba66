"""How many states a value holds side by side, and how LLVM writes values of that width."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

_LINE = 64


@dataclass(frozen=True)
class Lanes:
    """The spelling of types and literals for a number of lanes."""

    count: int

    @property
    def type(self) -> str:
        """The type of a value in all lanes."""
        return "double" if self.count == 1 else f"<{self.count} x double>"

    @property
    def integer(self) -> str:
        """The type of an integer of a value's width, in all lanes."""
        return "i64" if self.count == 1 else f"<{self.count} x i64>"

    @property
    def condition(self) -> str:
        """The type of a comparison's result."""
        return "i1" if self.count == 1 else f"<{self.count} x i1>"

    @property
    def suffix(self) -> str:
        """The ending of an intrinsic's name."""
        return "f64" if self.count == 1 else f"v{self.count}f64"

    @property
    def bytes(self) -> int:
        """How many bytes a value takes."""
        return 8 * self.count

    @property
    def on_stack(self) -> str:
        """The attribute of a function whose vectors go to the stack for want of registers: none shall lie across two
        lines of the cache. With 512 bits each would: a tenth to a fifth of a batch's time, and of calls' by luck."""
        return f"alignstack({min(_LINE, 8 << (self.count - 1).bit_length())}) " if self.count > 2 else ""

    def literal(self, value: float) -> str:
        """A double in all lanes, exact to the bit."""
        return self._all(f"double {hexadecimal(value)}")

    def literals(self, values: Sequence[float]) -> str:
        """A double of its own in every lane."""
        return f"<{', '.join(f'double {hexadecimal(value)}' for value in values)}>"

    def integer_literal(self, value: int) -> str:
        """An integer in all lanes."""
        return self._all(f"i64 {value}")

    def _all(self, typed: str) -> str:
        return typed.split()[1] if self.count == 1 else f"<{', '.join([typed] * self.count)}>"


def hexadecimal(value: float) -> str:
    """A double as LLVM reads it without rounding."""
    return f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}"
