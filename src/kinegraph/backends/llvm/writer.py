"""Lines of one function, with fresh names."""

from __future__ import annotations


class Writer:
    """Collects instructions; names are numbers, so nothing a user wrote can reach the code."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.block = "entry"
        self._fresh = 0

    def define(self, text: str) -> str:
        """Append an instruction that has a result; returns the result's name."""
        self._fresh += 1
        name = f"%t{self._fresh}"
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """Append an instruction without a result."""
        self.lines.append(f"  {text}")

    def new_label(self) -> str:
        """A name for a basic block."""
        self._fresh += 1
        return f"b{self._fresh}"

    def begin(self, block: str) -> None:
        """Begin a basic block."""
        self.block = block
        self.lines.append(f"{block}:")

    def element(self, base: str, position: int | str, kind: str = "double") -> str:
        """The address of an array's element."""
        return self.define(f"getelementptr inbounds {kind}, ptr {base}, i64 {position}")

    def function(self, head: str) -> str:
        """The whole function, under its head."""
        return "\n".join([f"{head} {{", "entry:", *self.lines, "}\n"])
