"""Lines of one function, with fresh names."""

from __future__ import annotations

from collections.abc import Callable, Sequence


class Writer:
    """Collects instructions; names are numbers, so nothing a user wrote can reach the code."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.block = "entry"
        self._fresh = 0

    def define(self, text: str) -> str:
        """Append an instruction that has a result; returns the result's name."""
        name = self._name()
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

    def loop(
        self,
        first: int,
        stop: int,
        step: int,
        body: Callable[[str, list[str]], Sequence[str]],
        passed_on: Sequence[str] = (),
        kind: str = "",
    ) -> list[str]:
        """Write `body` in a loop that runs at least once.

        The body gets the counter and what is `passed_on` from the pass before, values of type `kind`, and returns
        what it carries on. Returned is what the last pass did.
        """
        before, inside, after = self.block, self.new_label(), self.new_label()
        counter, places = self._name(), [self._name() for _ in passed_on]
        self.do(f"br label %{inside}")
        self.begin(inside)
        head = len(self.lines)
        following = list(body(counter, places))
        count = self.define(f"add i64 {counter}, {step}")
        again = self.define(f"icmp slt i64 {count}, {stop}")
        last = self.block
        self.do(f"br i1 {again}, label %{inside}, label %{after}")
        self.begin(after)
        joins = [(counter, "i64", str(first), count)]
        joins += [(place, kind, start, end) for place, start, end in zip(places, passed_on, following, strict=True)]
        self.lines[head:head] = [
            f"  {place} = phi {one} [ {start}, %{before} ], [ {end}, %{last} ]" for place, one, start, end in joins
        ]
        return following

    def element(self, base: str, position: int | str, kind: str = "double") -> str:
        """The address of an array's element."""
        return self.define(f"getelementptr inbounds {kind}, ptr {base}, i64 {position}")

    def function(self, head: str) -> str:
        """The whole function, under its head."""
        return "\n".join([f"{head} {{", "entry:", *self.lines, "}\n"])

    def _name(self) -> str:
        self._fresh += 1
        return f"%t{self._fresh}"
