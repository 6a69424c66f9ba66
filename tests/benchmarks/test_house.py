"""Sizes of the source are measured rightly on a small one, and first results by processes that really run."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from benchmarks.self import first_result, sizes
from benchmarks.self.documentation import Documentation
from benchmarks.self.first_result import Seconds

SOURCE = '''"""A module."""


def long_one(a: int) -> int:
    """Documented."""
    b = a + 1
    return b


class Thing:
    def bare(self) -> Any:
        return 1

    def _hidden(self) -> None: ...
'''


def test_sizes_of_a_small_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "one.py").write_text(SOURCE)
    (tmp_path / "two.py").write_text("x = 1\n")
    found = sizes.measured(tmp_path)
    assert (found.modules, found.lines, found.functions) == (2, 15, 3)
    assert (found.function_lines.largest, found.function_lines.where) == (4, "inner/one.py:long_one")
    assert (found.any_words, found.undocumented, found.folder_modules.largest) == (1, 1, 1)
    sizes.main(["--source", str(tmp_path), "--json"])
    assert json.loads(capsys.readouterr().out)[str(tmp_path)]["modules"] == 2


OVERRIDING = '''
class Base:
    def said(self):
        """Documented."""

    def unsaid(self): ...


class Derived(Base):
    def said(self): ...

    def unsaid(self): ...

    @overload
    def many(self): ...


class _Private:
    def anything(self): ...
'''


def test_functions_that_override_documented_ones_are_documented() -> None:
    found = Documentation({"one.py": ast.parse(OVERRIDING)})
    assert len(found.functions) == 5
    assert list(map(str, found.missing())) == ["one.py:6 unsaid", "one.py:12 unsaid"]


def test_first_results_are_measured_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    def evaluated(source: Path, cache: Path, model: str, quantities: str) -> Seconds:
        asked.append((source.name, cache.name))
        return Seconds(float(len(asked)), 10.0 - len(asked))

    monkeypatch.setattr(first_result, "evaluated", evaluated)
    found = first_result.measured([Path("new"), Path("old")], "puma560", "tau", repeats=2)
    assert [source for source, _ in asked] == ["new", "new", "old", "old"] * 2
    assert len({cache for _, cache in asked}) == 4  # every cold one has a cache of its own, every cached one its
    assert [(one.cold.clock, one.cached.clock) for one in found] == [(1.0, 2.0), (3.0, 4.0)]
    assert [(one.cold.processor, one.cached.processor) for one in found] == [(5.0, 4.0), (3.0, 2.0)]


def test_the_processor_time_of_a_process_is_its_own(tmp_path: Path) -> None:
    """A package that computes for a while: its processor time is counted, and less than the clock's by little."""
    (tmp_path / "kinegraph").mkdir()
    (tmp_path / "kinegraph" / "__init__.py").write_text("")
    (tmp_path / "kinegraph" / "__main__.py").write_text(
        "import time\nbegun = time.process_time()\nwhile time.process_time() < begun + 0.3: pass\n"
    )
    found = first_result.evaluated(tmp_path, tmp_path, "any", "any")
    assert found.clock >= found.processor - 0.05
    assert found.processor >= 0.3
