"""JavaScript: a module without dependencies, for browsers and Node. Functions write into typed arrays.

Sine and cosine are computed in the file, so that all browsers give the same digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from kinegraph.export.languages.syntax import (
    SinCos,
    SinCosWords,
    Syntax,
    emit,
    indented,
    number_lines,
    number_text,
    numbered,
    sincos_body,
)
from kinegraph.export.options import Precision, Sines
from kinegraph.export.unit import Field, Routine, Unit, folded, heading, routine_text, self_test_text

_SAME = ("sin", "cos", "sqrt", "exp", "log", "asin", "acos", "atan", "sinh", "cosh", "tanh", "abs", "sign")
#: Name and results of the function that computes sine and cosine together.
_SINCOS, _SINE, _COSINE = "sincos_", "sine_", "cosine_"


def javascript_files(unit: Unit) -> dict[str, str]:
    """The module."""
    return {f"{unit.name}.mjs": "\n".join(_Module(unit).lines())}


def javascript_object(unit: Unit, name: str) -> str:
    """The same functions as properties of one global object, for a script inside a page.

    Without comments: names of a model stand only there, and could end the script.
    """
    module = _Module(unit, export="")
    functions = ", ".join(routine.name for routine in unit.routines)
    lines = [line for line in module.functions() if not line.lstrip().startswith("//")]
    body = [*lines, f"return {{{functions}}};"]
    return "\n".join(["'use strict';", f"globalThis.{name} = (() => {{", *body, "})();", ""])


_number = partial(number_text, infinity="Infinity", nan="NaN")


_LOOKUPS = {
    "interval": """
// How many bounds are not above x.
function interval_(bounds, x) {
    let place = 0;
    for (let length = bounds.length; length > 0; ) {
        const half = (length + 1) >> 1;
        if (x >= bounds[place + half - 1]) place += half;
        length -= half;
    }
    return x === x ? place : NaN;
}""",
    "entry": """
// The value at an index; NaN if it is negative.
function entry_(values, x) {
    return x >= 0 ? values[Math.floor(Math.min(x, values.length - 1))] : NaN;
}""",
}


class _Module:
    def __init__(self, unit: Unit, export: str = "export ") -> None:
        self.unit = unit
        self.export = export
        own = unit.options.sines is Sines.OWN
        pair = SinCos(
            f"{_SINCOS}({{value}}); const {{name}}_sine = {_SINE}, {{name}}_cosine = {_COSINE};",
            "{name}_sine",
            "{name}_cosine",
        )
        self.own_sines = own and bool({"sin", "cos"} & unit.functions)
        self.syntax = Syntax(
            define="const {name} = {value};",
            assign="{target} = {value};",
            literal=_number,
            functions={name: f"Math.{name}({{0}})" for name in _SAME}
            | {
                "atan2": "Math.atan2({0}, {1})",
                "select": "({0} >= 0 ? {1} : {0} < 0 ? {2} : NaN)",
            },
            input=numbered("{0}[{1}]"),
            output=numbered("{0}[{1}]"),
            scratch=numbered("{0}[{1}]"),
            pair=pair if own else None,
            interval="interval_({table}, {value})",
            entry="entry_({table}, {value})",
        )

    def lines(self) -> Iterator[str]:
        unit = self.unit
        yield from (*_comment(heading(unit)), "", f'export const DIGEST = "{unit.digest}";', "")
        if unit.parameter_values:
            yield from _comment(["The model's values of the parameters p."])
            yield from (*_table("export const PARAMETERS", unit.parameter_values), "")
        yield from self.functions()
        if unit.options.self_test:
            yield from self._self_test()

    def functions(self) -> Iterator[str]:
        if self.own_sines:
            yield from self._sincos()
        for name in sorted(self.unit.lookups):
            yield from (*_LOOKUPS[name].splitlines()[1:], "")
        for name, values in self.unit.tables.items():
            yield from (f"const {name} = new Float64Array([", *indented(number_lines(values, _number)), "]);", "")
        for routine in self.unit.routines:
            yield from self._routine(routine)

    def _sincos(self) -> Iterator[str]:
        words = SinCosWords(
            constant="const",
            variable="let",
            number=_number,
            rounded="Math.round({})",
            quadrant="const quadrant = low % 4;",
            finish=(f"{_SINE} = sine;", f"{_COSINE} = cosine;"),
            not_a_number=(f"{_SINE} = {_COSINE} = NaN;", "return;"),
        )
        yield from (f"let {_SINE} = 0, {_COSINE} = 0;", "")
        yield from _comment(["Sine and cosine; NaN beyond the angles where a sine still has a meaning."])
        body = sincos_body(words, Precision.DOUBLE)
        yield from (f"function {_SINCOS}(x) {{", *indented(body), "}", "")

    def _routine(self, routine: Routine) -> Iterator[str]:
        names = ", ".join(field.name for field in routine.fields)
        calls: list[str] = []
        if routine.split:
            scratch = f"{routine.name.removesuffix('_')}_scratch_"
            yield f"const {scratch} = new Float64Array({max(routine.chunks.scratch_size, 1)});"
            for number in range(len(routine.chunks.ranges)):
                part = routine.part_name(number)
                body = emit(routine, number, self.syntax)
                yield from (f"function {part}({names}, s) {{", *indented(body), "}", "")
                calls.append(f"{part}({names}, {scratch});")
        else:
            calls += emit(routine, 0, self.syntax)
        text = [*routine_text(routine, order=", row after row"), "", "Returns the results, which may also be given."]
        yield from _comment(text)
        made = [f"{field.name} = {_array(field)}" for field in routine.outputs]
        declared = ", ".join([*(field.name for field in routine.inputs), *made])
        outputs = [field.name for field in routine.outputs]
        result = outputs[0] if len(outputs) == 1 else f"[{', '.join(outputs)}]"
        body = [*calls, f"return {result};"]
        yield from (f"{self.export}function {routine.name}({declared}) {{", *indented(body), "}", "")

    def _self_test(self) -> Iterator[str]:
        yield from ("function differ_(found, expected, tolerance) {",)
        yield from ("    return !expected.every((value, k) => Math.abs(found[k] - value) <= tolerance);", "}", "")
        yield from (*_comment([self_test_text(self.unit)]), "export function selftest() {")
        for number, routine in enumerate(self.unit.routines, start=1):
            yield from indented(["{", *indented(list(_routine_test(routine, number))), "}"])
        yield from ("    return 0;", "}", "")


def _routine_test(routine: Routine, number: int) -> Iterator[str]:
    test = routine.test
    assert test is not None
    yield from _lists("state_", test.inputs)
    yield from _lists("expected_", test.expected)
    call = f"{routine.name}(...state_)"
    yield f"const found_ = {f'[{call}]' if len(routine.outputs) == 1 else call};"
    yield f"const tolerances_ = [{', '.join(map(_number, test.tolerances))}];"
    yield f"if (found_.some((one, k) => differ_(one, expected_[k], tolerances_[k]))) return {number};"


def _lists(name: str, lists: Sequence[Sequence[float]]) -> list[str]:
    rows = [line for values in lists for line in ("[", *indented(number_lines(values, _number)), "],")]
    return [f"const {name} = [", *indented(rows), "];"]


def _table(declaration: str, values: Sequence[float]) -> list[str]:
    return [f"{declaration} = [", *indented(number_lines(values, _number)), "];"]


def _array(field: Field) -> str:
    return f"new Float64Array({field.size})"


def _comment(lines: Sequence[str]) -> list[str]:
    return [f"// {line}".rstrip() for line in folded(lines)]
