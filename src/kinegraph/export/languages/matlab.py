"""MATLAB and Octave: one file per function, and one that tests them all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kinegraph.export.languages.syntax import Syntax, emit, indented, indexed, number_lines, number_text, numbered
from kinegraph.export.unit import Field, Routine, Unit, folded, heading, routine_text, self_test_text
from kinegraph.graph.lookup import doubles_of

_SAME = ("sin", "cos", "sqrt", "exp", "log", "asin", "acos", "atan", "sinh", "cosh", "tanh", "abs", "sign")


def matlab_files(unit: Unit) -> dict[str, str]:
    """The functions, one per file, as the language requires."""
    files = {f"{unit.stem}_{routine.name}.m": "\n".join(_routine(unit, routine)) for routine in unit.routines}
    if unit.parameter_values:
        files[f"{unit.stem}_parameters.m"] = "\n".join(_parameters(unit))
    if unit.options.self_test:
        files[f"{unit.stem}_selftest.m"] = "\n".join(_self_test(unit))
    return files


def _number(value: float) -> str:
    return number_text(value, infinity="Inf", nan="NaN")


_SYNTAX = Syntax(
    define="{name} = {value};",
    assign="{target} = {value};",
    literal=_number,
    functions={name: f"{name}({{0}})" for name in _SAME}
    | {"atan2": "atan2({0}, {1})", "select": "select_({0}, {1}, {2})"},
    input=numbered("{0}({1})", first=1),
    output=indexed("{0}({1})", first=1, scalar="{0}(1)"),
    scratch=numbered("{0}({1})", first=1),
    interval="interval_({table}(), {value})",
    entry="entry_({table}(), {value})",
)

_LOOKUPS = {
    "interval": """
function y = interval_(bounds, x)
    if isnan(x)
        y = NaN;
        return
    end
    y = 0;
    rest = numel(bounds);
    while rest > 0
        half = floor((rest + 1)/2);
        if x >= bounds(y + half)
            y = y + half;
        end
        rest = rest - half;
    end
end
""",
    "entry": """
function y = entry_(values, x)
    if x >= 0
        y = values(floor(min(x, numel(values) - 1)) + 1);
    else
        y = NaN;
    end
end
""",
}

_SELECT = """
function y = select_(c, a, b)
    if c >= 0
        y = a;
    elseif c < 0
        y = b;
    else
        y = NaN;
    end
end
"""


def _routine(unit: Unit, routine: Routine) -> Iterator[str]:
    arguments = ", ".join(field.name for field in routine.inputs)
    yield f"function {_results(routine.outputs)}{unit.stem}_{routine.name}({arguments})"
    yield from _comment([*routine_text(routine, first=1), "", *heading(unit)])
    # Results that are assigned in parts would otherwise grow with every entry.
    yield from indented([f"{field.name} = zeros({_shape(field)});" for field in routine.outputs])
    if not routine.split:
        yield from (*indented(emit(routine, 0, _SYNTAX)), "end")
    else:
        changed = ", ".join([*(field.name for field in routine.outputs), "s"])
        taken = ", ".join([*(field.name for field in routine.fields), "s"])
        yield f"    s = zeros(1, {max(routine.chunks.scratch_size, 1)});"
        parts = [routine.part_name(number) for number in range(len(routine.chunks.ranges))]
        yield from (*indented([f"[{changed}] = {part}({taken});" for part in parts]), "end")
        for number, part in enumerate(parts):
            yield from ("", f"function [{changed}] = {part}({taken})")
            yield from (*indented(emit(routine, number, _SYNTAX)), "end")
    if "select" in unit.functions:
        yield from _SELECT.splitlines()
    for name in sorted({one.partition("(")[0] for one in routine.tables}):
        yield from _LOOKUPS[name].splitlines()
    for name, array in routine.tables.items():
        yield from ("", f"function y = {array}()", "    persistent values", "    if isempty(values)")
        yield from (f"        values = {_vector(doubles_of(name))};", "    end", "    y = values;", "end")
    yield ""


def _results(fields: Sequence[Field]) -> str:
    names = ", ".join(field.name for field in fields)
    return f"[{names}] = " if len(fields) > 1 else f"{names} = " if names else ""


def _shape(field: Field) -> str:
    shape = field.shape or (1,)
    return ", ".join(map(str, shape if len(shape) > 1 else (*shape, 1)))


def _comment(lines: Sequence[str]) -> list[str]:
    return [f"% {line}".rstrip() for line in folded(lines)]


def _parameters(unit: Unit) -> Iterator[str]:
    yield f"function p = {unit.stem}_parameters()"
    yield from _comment(["The model's values of the parameters p.", "", *heading(unit)])
    yield from (f"    p = {_vector(unit.parameter_values)};", "end", "")


def _vector(values: Sequence[float]) -> str:
    lines = number_lines(values, _number)
    return "[" + " ...\n        ".join(lines) + "].'"


def _self_test(unit: Unit) -> Iterator[str]:
    yield f"function failed = {unit.stem}_selftest()"
    yield from _comment([self_test_text(unit), "", *heading(unit)])
    yield "    failed = 0;"
    for number, routine in enumerate(unit.routines, start=1):
        test = routine.test
        assert test is not None
        names = [f"{field.name}_found_" for field in routine.outputs]
        arguments = ", ".join(_vector(values) for values in test.inputs)
        left = f"[{', '.join(names)}] = " if names else ""
        yield f"    {left}{unit.stem}_{routine.name}({arguments});"
        for name, field, expected, tolerance in zip(
            names, routine.outputs, test.expected, test.tolerances, strict=True
        ):
            shape = f"[{' '.join(map(str, field.shape))}]"
            yield f"    if differ_({name}, {_vector(expected)}, {shape}, {_number(tolerance)})"
            yield from (f"        failed = {number};", "        return", "    end")
    yield from ("end", *_DIFFER.splitlines(), "")


#: MATLAB stores arrays in column-major order; the expected results are listed in row-major order.
_DIFFER = """
function answer = differ_(found, expected, shape, tolerance)
    if numel(shape) > 1
        expected = permute(reshape(expected, fliplr(shape)), numel(shape):-1:1);
    end
    answer = ~all(abs(found(:) - expected(:)) <= tolerance);
end
"""
