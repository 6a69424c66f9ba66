"""Sizes of modules, functions, folders, of this source or another copy: `python -m benchmarks sizes --source DIR`."""

from __future__ import annotations

import argparse
import ast
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.self.documentation import Documentation, Function


@dataclass(frozen=True)
class Spread:
    """How some sizes are spread."""

    median: int
    p90: int
    p99: int
    largest: int
    where: str

    def __str__(self) -> str:
        return f"{self.median} / {self.p90} / {self.p99} / {self.largest} ({self.where})"


@dataclass(frozen=True)
class Sizes:
    """Sizes of a source tree; lines of modules and functions, modules of folders."""

    modules: int
    lines: int
    functions: int
    module_lines: Spread
    function_lines: Spread
    folder_modules: Spread
    any_words: int
    undocumented: int


def spread(sizes: dict[str, int]) -> Spread:
    """Median, high percentiles and the largest, with its name."""
    ordered = sorted(sizes.values())
    largest = max(sizes, key=lambda name: sizes[name])
    median, p90, p99 = (ordered[int(part * (len(ordered) - 1))] for part in (0.5, 0.9, 0.99))
    return Spread(median, p90, p99, sizes[largest], largest)


def measured(source: Path) -> Sizes:
    """The sizes of all Python files below a folder."""
    texts = {str(path.relative_to(source)): path.read_text("utf-8") for path in sorted(source.rglob("*.py"))}
    trees = {name: ast.parse(text) for name, text in texts.items()}
    lines = {name: text.count("\n") for name, text in texts.items()}
    functions = {
        f"{name}:{one.name}": (one.end_lineno or one.lineno) - one.lineno + 1
        for name, tree in trees.items()
        for one in ast.walk(tree)
        if isinstance(one, Function)
    }
    return Sizes(
        modules=len(texts),
        lines=sum(lines.values()),
        functions=len(functions),
        module_lines=spread(lines),
        function_lines=spread(functions),
        folder_modules=spread(dict(Counter(str(Path(name).parent) for name in texts))),
        any_words=sum(len(re.findall(r"\bAny\b", text)) for text in texts.values()),
        undocumented=len(Documentation(trees).missing()),
    )


def main(words: Sequence[str] | None = None) -> None:
    """Print the sizes of this source, or of those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, action="append", help="a folder of sources; may be given several times")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(words)
    found = {
        str(source): measured(source) for source in options.source or [Path(__file__).parents[2] / "src" / "kinegraph"]
    }
    if options.json:
        print(json.dumps({source: asdict(sizes) for source, sizes in found.items()}, indent=1))
        return
    for source, sizes in found.items():
        print(source)
        print(f"  {sizes.modules} modules, {sizes.lines} lines, {sizes.functions} functions")
        print(f"  lines of a module, median / p90 / p99 / largest: {sizes.module_lines}")
        print(f"  lines of a function: {sizes.function_lines}")
        print(f"  modules of a folder: {sizes.folder_modules}")
        print(f"  the word Any: {sizes.any_words}; public functions without a docstring: {sizes.undocumented}")


if __name__ == "__main__":
    main()
