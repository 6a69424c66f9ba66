"""C++: one header of function templates over the scalar, so that float, intervals and automatic derivatives work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kinegraph.export.languages.c import comment_block, mentioned
from kinegraph.export.languages.syntax import Syntax, emit, indented, number_lines, number_text, numbered
from kinegraph.export.text import heading, routine_text, self_test_text
from kinegraph.export.unit import Routine, Unit

_FUNCTIONS = ("sin", "cos", "sqrt", "exp", "log", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "abs")


def cpp_files(unit: Unit) -> dict[str, str]:
    """The header."""
    return {f"{unit.name}.hpp": "\n".join(_lines(unit))}


def _number(value: float) -> str:
    limits = "std::numeric_limits<double>"
    return number_text(value, infinity=f"{limits}::infinity()", nan=f"{limits}::quiet_NaN()")


def _literal(value: float) -> str:
    return f"T({_number(value)})"


_SYNTAX = Syntax(
    define="const T {name} = {value};",
    assign="{target} = {value};",
    literal=_literal,
    # Not std::sin: the scalar's own function is found in the scalar's namespace.
    functions={name: f"{name}({{0}}{', {1}' if name == 'atan2' else ''})" for name in _FUNCTIONS}
    | {
        "sign": "({0} > T(0.0) ? T(1.0) : {0} < T(0.0) ? T(-1.0) : T({0}))",
        "select": "({0} >= T(0.0) ? T({1}) : {0} < T(0.0) ? T({2}) : T({0}))",
    },
    input=numbered("{0}[{1}]"),
    output=numbered("{0}[{1}]"),
    scratch=numbered("{0}[{1}]"),
)


def _lines(unit: Unit) -> Iterator[str]:
    guard = f"KINEGRAPH_{unit.name}_HPP_INCLUDED_"
    yield from (*comment_block(heading(unit)), "", f"#ifndef {guard}", f"#define {guard}", "")
    yield from ("#include <cmath>", "#include <limits>", "", "namespace kinegraph {", f"namespace {unit.name} {{", "")
    rules = "T is any scalar: double, float, or a type with operators and functions of its own, found by argument."
    yield from (*comment_block([rules, "Results must not overlap arguments."]), "")
    if unit.parameter_values:
        yield from comment_block(["The model's values of the parameters p."])
        head = f"inline const double *parameters() {{ static const double values[{len(unit.parameter_values)}]"
        yield from (*_table(head, unit.parameter_values), "return values; }", "")
    for routine in unit.routines:
        yield from _routine(unit, routine)
    if unit.options.self_test:
        yield from _self_test(unit)
    yield from (f"}}  // namespace {unit.name}", "}  // namespace kinegraph", "", "#endif", "")


def _declarations(routine: Routine) -> list[str]:
    return [f"const T *{one.name}" for one in routine.inputs] + [f"T *{one.name}" for one in routine.outputs]


def _routine(unit: Unit, routine: Routine) -> Iterator[str]:
    calls: list[str] = []
    if not routine.split:
        calls = _body(unit, [one.name for one in routine.fields], emit(routine, 0, _SYNTAX))
    else:
        names = [*(one.name for one in routine.fields), "s"]
        declared = ", ".join([*_declarations(routine), "T *s"])
        calls.append(f"T s[{max(routine.chunks.scratch_size, 1)}];")
        for number in range(len(routine.chunks.ranges)):
            part = routine.part_name(number)
            yield from _function(f"void {part}({declared})", _body(unit, names, emit(routine, number, _SYNTAX)))
            calls.append(f"{part}({', '.join(names)});")
    yield from comment_block(routine_text(routine, ", row after row"))
    yield from _function(f"void {routine.name}({', '.join(_declarations(routine))})", calls)


def _body(unit: Unit, names: Sequence[str], lines: list[str]) -> list[str]:
    used = mentioned(lines)
    unused = " ".join(f"(void){name};" for name in names if name not in used)
    calls = [name for name in _FUNCTIONS if name in unit.functions and any(f"{name}(" in line for line in lines)]
    return [*(f"using std::{name};" for name in calls), *([unused] if unused else []), *lines]


def _function(head: str, body: Sequence[str]) -> list[str]:
    return ["template <typename T>", head, "{", *indented(body), "}", ""]


def _self_test(unit: Unit) -> Iterator[str]:
    yield from (
        "inline bool differ_(const double *computed, const double *expected, int size, double tolerance)",
        "{",
        "    for (int i = 0; i < size; i++) {",
        "        if (!(std::abs(computed[i] - expected[i]) <= tolerance)) {",
        "            return true;",
        "        }",
        "    }",
        "    return false;",
        "}",
        "",
    )
    yield from (*comment_block([self_test_text(unit)]), "inline int selftest()", "{")
    for number, routine in enumerate(unit.routines, start=1):
        yield from indented(["{", *indented(_routine_test(unit.name, routine, number)), "}"])
    yield from ("    return 0;", "}", "")


def _routine_test(space: str, routine: Routine, number: int) -> Iterator[str]:
    test = routine.test
    assert test is not None
    for field, values in zip(routine.inputs, test.inputs, strict=True):
        yield from _table(f"const double {field.name}[{field.size}]", values)
    for field, values in zip(routine.outputs, test.expected, strict=True):
        yield from _table(f"const double {field.name}_expected_[{field.size}]", values)
        yield f"double {field.name}[{field.size}];"
    # A result may be called like its function and hide it: the call says whose function it is.
    yield f"{space}::{routine.name}<double>({', '.join(field.name for field in routine.fields)});"
    for field, tolerance in zip(routine.outputs, test.tolerances, strict=True):
        yield f"if (differ_({field.name}, {field.name}_expected_, {field.size}, {_number(tolerance)})) {{"
        yield from (f"    return {number};", "}")


def _table(declaration: str, values: Sequence[float]) -> list[str]:
    return [f"{declaration} = {{", *indented(number_lines(values, _number)), "};"]
