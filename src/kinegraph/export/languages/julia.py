"""Julia: a module; functions with ! write into given arrays, those without allocate. Generic in the number type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kinegraph.export.languages.syntax import Syntax, emit, indented, indexed, number_lines, number_text, numbered
from kinegraph.export.unit import Field, Routine, Unit, folded, heading, routine_text, self_test_text

_SAME = ("sin", "cos", "sqrt", "exp", "log", "asin", "acos", "atan", "sinh", "cosh", "tanh", "abs", "sign")


def julia_files(unit: Unit) -> dict[str, str]:
    """The module."""
    return {f"{unit.name}.jl": "\n".join(_lines(unit))}


def _number(value: float) -> str:
    return number_text(value, infinity="Inf", nan="NaN")


_SYNTAX = Syntax(
    define="{name} = {value}",
    assign="{target} = {value}",
    literal=_number,
    functions={name: f"{name}({{0}})" for name in _SAME}
    | {
        "atan2": "atan({0}, {1})",
        "select": "({0} >= 0 ? {1} : {0} < 0 ? {2} : {0})",
    },
    input=numbered("{0}[{1}]", first=1),
    output=indexed("{0}[{1}]", first=1, scalar="{0}[]"),
    scratch=numbered("{0}[{1}]", first=1),
    interval="interval_({table}, {value})",
    entry="entry_({table}, {value})",
)

_LOOKUPS = {
    "interval": """
# How many bounds are not above x.
interval_(bounds, x) = isnan(x) ? oftype(float(x), NaN) : oftype(float(x), searchsortedlast(bounds, x))
""",
    "entry": """
# The value at an index; NaN if it is negative.
entry_(values, x) = x >= 0 ? values[Int(floor(min(x, length(values) - 1))) + 1] : NaN
""",
}


def _lines(unit: Unit) -> Iterator[str]:
    yield from (*_comment(heading(unit)), f"module {unit.name}", "", f'const DIGEST = "{unit.digest}"', "")
    if unit.parameter_values:
        yield from (*_comment(["The model's values of the parameters p."]), "const PARAMETERS = [")
        yield from (*indented(number_lines(unit.parameter_values, _number)), "]", "")
    for name in sorted(unit.lookups):
        yield from (*_LOOKUPS[name].splitlines()[1:], "")
    for name, values in unit.tables.items():
        yield from (f"const {name} = [", *indented(number_lines(values, _number)), "]", "")
    for routine in unit.routines:
        yield from _routine(routine)
    if unit.options.self_test:
        yield from _self_test(unit)
    yield from ("end", "")


def _routine(routine: Routine) -> Iterator[str]:
    inputs = [field.name for field in routine.inputs]
    outputs = [field.name for field in routine.outputs]
    names = ", ".join([*outputs, *inputs])
    calls: list[str] = []
    if not routine.split:
        calls = emit(routine, 0, _SYNTAX)
    else:
        calls.append(f"s = Vector{{{_type(inputs)}}}(undef, {max(routine.chunks.scratch_size, 1)})")
        for number in range(len(routine.chunks.ranges)):
            part = routine.part_name(number)
            body = [*emit(routine, number, _SYNTAX), "return nothing"]
            yield from (f"function {part}({names}, s)", *indented(body), "end", "")
            calls.append(f"{part}({names}, s)")
    yield from _comment([*routine_text(routine, first=1), "", "Results must not overlap arguments."])
    result = outputs[0] if len(outputs) == 1 else f"({', '.join(outputs)})"
    yield from (f"function {routine.name}!({names})", *indented([*calls, f"return {result}"]), "end", "")
    made = [f"{field.name} = Array{{{_type(inputs)}}}(undef, {_shape(field)})" for field in routine.outputs]
    body = [*made, f"return {routine.name}!({names})"]
    yield from (f"function {routine.name}({', '.join(inputs)})", *indented(body), "end", "")


def _type(inputs: Sequence[str]) -> str:
    """The promoted type of the arguments and of the numbers in the code."""
    return f"promote_type({', '.join(['Float64', *(f'eltype({name})' for name in inputs)])})"


def _shape(field: Field) -> str:
    return ", ".join(map(str, field.shape)) or "()"


def _comment(lines: Sequence[str]) -> list[str]:
    return [f"# {line}".rstrip() for line in folded(lines)]


def _self_test(unit: Unit) -> Iterator[str]:
    yield from (
        "# The expected results are listed row after row; Julia keeps arrays column after column.",
        "function differ_(found, expected, tolerance)",
        "    rows = vec(permutedims(found, ndims(found):-1:1))",
        "    return !all(abs.(rows .- expected) .<= tolerance)",
        "end",
        "",
    )
    yield from (*_comment([self_test_text(unit)]), "function selftest()")
    for number, routine in enumerate(unit.routines, start=1):
        yield from indented(_routine_test(routine, number))
    yield from ("    return 0", "end", "")


def _routine_test(routine: Routine, number: int) -> Iterator[str]:
    test = routine.test
    assert test is not None
    yield f"found_ = {routine.name}("
    for values in test.inputs:
        yield from indented(_vector(values))
    yield ")"
    if len(routine.outputs) == 1:
        yield "found_ = (found_,)"
    for position, (values, tolerance) in enumerate(zip(test.expected, test.tolerances, strict=True), start=1):
        yield "expected_ = ["
        yield from (*indented(number_lines(values, _number)), "]")
        yield f"differ_(found_[{position}], expected_, {_number(tolerance)}) && return {number}"


def _vector(values: Sequence[float]) -> list[str]:
    return ["[", *indented(number_lines(values, _number)), "],"]
