"""C99 (one header and one source, no allocation, no state) and C++ (one header of templates over the scalar type)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from math import isfinite

from kinegraph.codegen.program.instructions import Op
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

# C99: one header and one source, no allocation, no state; the math library only if a function needs it.

_LIBRARY = ("sin", "cos", "sqrt", "exp", "log", "asin", "acos", "atan", "sinh", "cosh", "tanh")


def c_files(unit: Unit) -> dict[str, str]:
    """The header and the source."""
    writer = _C(unit)
    return {f"{unit.name}.h": writer.header(), f"{unit.name}.c": writer.source()}


class _C:
    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.single = unit.options.precision is Precision.FLOAT
        self.type = "float" if self.single else "double"
        nan = "NAN" if self.single else "(double)NAN"  # NAN is a float, and compilers warn of the conversion to double
        self.number = partial(
            number_text, infinity="INFINITY", nan=nan, precision=unit.options.precision, suffix="f" * self.single
        )
        self.own_sines = unit.options.sines is Sines.OWN and bool({"sin", "cos"} & unit.functions)
        self.syntax = self._syntax()

    def _syntax(self) -> Syntax:
        ending = "f" if self.single else ""
        zero, one = self.number(0.0), self.number(1.0)
        functions = {name: f"{name}{ending}({{0}})" for name in _LIBRARY} | {
            "abs": f"fabs{ending}({{0}})",
            "atan2": f"atan2{ending}({{0}}, {{1}})",
            "sign": f"({{0}} > {zero} ? {one} : {{0}} < {zero} ? -{one} : {{0}})",
            "select": f"({{0}} >= {zero} ? {{1}} : {{0}} < {zero} ? {{2}} : {{0}})",
        }
        sincos = f"{self.type} {{name}}[2]; {self.unit.stem}_sincos_({{value}}, {{name}});"
        return Syntax(
            define=f"const {self.type} {{name}} = {{value}};",
            assign="{target} = {value};",
            literal=self.number,
            functions=functions,
            input=numbered("{0}[{1}]"),
            output=numbered("{0}[{1}]"),
            scratch=numbered("{0}[{1}]"),
            pair=SinCos(sincos, "{name}[0]", "{name}[1]") if self.own_sines else None,
            interval=f"{self.unit.stem}_interval_({self.unit.stem}_{{table}}, {{size}}, {{value}})",
            entry=f"{self.unit.stem}_entry_({self.unit.stem}_{{table}}, {{size}}, {{value}})",
        )

    # the header

    def header(self) -> str:
        unit = self.unit
        guard = f"KINEGRAPH_{unit.stem}_INCLUDED_"
        lines = [
            *comment_block(heading(unit)), "", f"#ifndef {guard}", f"#define {guard}", "",
            "#ifdef __cplusplus", 'extern "C" {', "#endif", "",
            *comment_block(self._rules()), "",
        ]  # fmt: skip
        for routine in unit.routines:
            lines += [*comment_block(routine_text(routine, ", row after row")), f"{self.head(routine)};", ""]
        if unit.parameter_values:
            lines += [*comment_block(["The model's values of the parameters p."]), f"{self._parameters()};", ""]
        if unit.options.self_test:
            lines += [*comment_block([self_test_text(unit)]), f"int {unit.stem}_selftest(void);", ""]
        lines += ["#ifdef __cplusplus", "}", "#endif", "", "#endif", ""]
        return "\n".join(lines)

    def _rules(self) -> list[str]:
        stack = max(routine.chunks.scratch_size for routine in self.unit.routines)
        lines = ["Functions are reentrant and allocate nothing. Results must not overlap arguments."]
        if stack:
            lines.append(f"The longest function holds {stack} numbers on the stack between its parts.")
        if self._needs_library():
            lines.append("Link with the mathematical library (-lm).")
        return lines

    def head(self, routine: Routine) -> str:
        """A function's declaration."""
        return f"void {self.unit.stem}_{routine.name}({', '.join(self._declarations(routine))})"

    def _declarations(self, routine: Routine) -> list[str]:
        inputs = [f"const {self.type} {field.name}[{field.size}]" for field in routine.inputs]
        return [*inputs, *(f"{self.type} {field.name}[{field.size}]" for field in routine.outputs)] or ["void"]

    def _parameters(self) -> str:
        return f"extern const {self.type} {self.unit.stem}_parameters[{len(self.unit.parameter_values)}]"

    # the source

    def source(self) -> str:
        unit = self.unit
        lines = [*comment_block(heading(unit)), "", f'#include "{unit.name}.h"', ""]
        if self._needs_library():
            lines += ["#include <math.h>", ""]
        if self.own_sines:
            lines += [*self._sincos(), ""]
        lines += self._lookups()
        if unit.parameter_values:
            lines += [*self._table(self._parameters().removeprefix("extern "), unit.parameter_values), ""]
        for routine in unit.routines:
            lines += self._routine(routine)
        if unit.options.self_test:
            lines += self._self_test()
        return "\n".join(lines)

    def _needs_library(self) -> bool:
        used = self.unit.functions - {"sign", "select"}
        if self.own_sines:
            used -= {"sin", "cos"}
        return bool(used) or any(not isfinite(value) for value in _literals(self.unit))

    def _sincos(self) -> list[str]:
        words = SinCosWords(
            constant=f"const {self.type}",
            variable=self.type,
            number=self.number,
            rounded=f"{self.unit.stem}_round_({{}})",
            quadrant="const unsigned long quadrant = (unsigned long)(long)low & 3u;",
            finish=("y[0] = sine;", "y[1] = cosine;"),
            not_a_number=("y[0] = (x - x)/(x - x);", "y[1] = y[0];", "return;"),
        )
        kind, half = self.type, self.number(0.5)
        body = sincos_body(words, self.unit.options.precision)
        return [
            f"static {kind} {self.unit.stem}_round_({kind} x)", "{",
            f"    return ({kind})(long)(x < {self.number(0.0)} ? x - {half} : x + {half});", "}", "",
            *comment_block(["Sine y[0] and cosine y[1]; NaN beyond the angles where a sine still has a meaning."]),
            f"static void {self.unit.stem}_sincos_({kind} x, {kind} *y)", "{", *indented(body), "}",
        ]  # fmt: skip

    def _lookups(self) -> Iterator[str]:
        """The functions that read arrays, and the arrays."""
        for name in sorted(self.unit.lookups):
            yield from (*_lookup_function(name, f"static {self.type} {self.unit.stem}_{name}_", self.type), "")
        for name, values in self.unit.tables.items():
            head = f"static const {self.type} {self.unit.stem}_{name}[{len(values)}]"
            yield from (*self._table(head, values), "")

    def _routine(self, routine: Routine) -> Iterator[str]:
        calls: list[str] = []
        if not routine.split:
            calls += _using(routine.fields, emit(routine, 0, self.syntax))
        else:
            size = max(routine.chunks.scratch_size, 1)
            scratch = Field("s", (size,), "")
            declared = ", ".join([*self._declarations(routine), f"{self.type} s[{size}]"])
            names = ", ".join([field.name for field in routine.fields] + ["s"])
            calls.append(f"{self.type} s[{size}];")
            for number in range(len(routine.chunks.ranges)):
                part = f"{self.unit.stem}_{routine.part_name(number)}"
                body = _using((*routine.fields, scratch), emit(routine, number, self.syntax))
                yield from (f"static void {part}({declared})", "{", *indented(body), "}", "")
                calls.append(f"{part}({names});")
        yield from (self.head(routine), "{", *indented(calls), "}", "")

    # the self-test

    def _self_test(self) -> Iterator[str]:
        name, kind = self.unit.stem, self.type
        yield from (
            f"static int {name}_differ_(const {kind} *computed, const {kind} *expected, int size, {kind} tolerance)",
            "{",
            "    int i;",
            "    for (i = 0; i < size; i++) {",
            f"        const {kind} error = computed[i] - expected[i];",
            "        if (!(error >= -tolerance && error <= tolerance)) {",
            "            return 1;",
            "        }",
            "    }",
            "    return 0;",
            "}",
            "",
        )
        for routine in self.unit.routines:
            yield from self._routine_test(routine)
        yield from (f"int {name}_selftest(void)", "{")
        for number, routine in enumerate(self.unit.routines, start=1):
            yield from indented([f"if ({name}_{_test_name(routine)}()) {{", f"    return {number};", "}"])
        yield from ("    return 0;", "}", "", f"#ifdef {name.upper()}_MAIN", "int main(void)", "{")
        yield from (f"    return {name}_selftest();", "}", "#endif", "")

    def _routine_test(self, routine: Routine) -> Iterator[str]:
        assert routine.test is not None
        name, test = self.unit.stem, routine.test
        body: list[str] = []
        for field, values in zip(routine.inputs, test.inputs, strict=True):
            body += self._table(f"static const {self.type} {field.name}[{field.size}]", values)
        for field, values in zip(routine.outputs, test.expected, strict=True):
            body += self._table(f"static const {self.type} {field.name}_expected_[{field.size}]", values)
        body += [f"{self.type} {field.name}[{field.size}];" for field in routine.outputs]
        body.append(f"{name}_{routine.name}({', '.join(field.name for field in routine.fields)});")
        checks = [
            f"{name}_differ_({field.name}, {field.name}_expected_, {field.size}, {self.number(tolerance)})"
            for field, tolerance in zip(routine.outputs, test.tolerances, strict=True)
        ]
        body += [f"return {' || '.join(checks) or '0'};"]
        yield from (f"static int {name}_{_test_name(routine)}(void)", "{", *indented(body), "}", "")

    def _table(self, declaration: str, values: Sequence[float]) -> list[str]:
        entries = number_lines(values, self.number)
        return [f"{declaration} = {{", *indented(entries), "};"]


def _lookup_function(name: str, head: str, kind: str) -> list[str]:
    """`interval`: how many bounds are not above x. `entry`: the value at an index; NaN if it is negative."""
    array = f"const {kind} *values, int size, {kind} x"
    if name == "entry":
        return [
            f"{head}({array})", "{",
            "    const int last = size - 1;",
            f"    return x >= 0 ? ({kind})values[x < ({kind})last ? (int)x : last] : (x - x)/(x - x);", "}",
        ]  # fmt: skip
    return [
        f"{head}({array})", "{",
        "    int place = 0;",
        "    while (size > 0) {",
        "        const int half = (size + 1)/2;",
        "        if (x >= values[place + half - 1]) {", "            place += half;", "        }",
        "        size -= half;", "    }",
        f"    return x == x ? ({kind})place : x;", "}",
    ]  # fmt: skip


def _test_name(routine: Routine) -> str:
    return f"{routine.name.removesuffix('_')}_test_"


def _using(fields: Sequence[Field], lines: list[str]) -> list[str]:
    """The statements, with a use of every argument they do not need: otherwise compilers warn."""
    used = mentioned(lines)
    unused = [f"(void){field.name};" for field in fields if field.name not in used]
    return [" ".join(unused), *lines] if unused else lines


def mentioned(lines: Sequence[str]) -> set[str]:
    """The arrays whose entries the statements mention."""
    return set(re.findall(r"\w+(?=\[)", "\n".join(lines)))


def comment_block(lines: Sequence[str]) -> list[str]:
    """Lines as a comment of C."""
    text = folded(lines)
    return ["/*", *(f" * {line}".rstrip() for line in text), " */"]


def _literals(unit: Unit) -> Iterator[float]:
    for routine in unit.routines:
        for one in routine.program.instructions:
            if one.op is Op.LITERAL:
                yield float(one.detail)


# C++: one header of function templates over the scalar, so that float, intervals and automatic derivatives work.

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
    # Not std::sin: argument-dependent lookup finds the scalar's own function.
    functions={name: f"{name}({{0}}{', {1}' if name == 'atan2' else ''})" for name in _FUNCTIONS}
    | {
        "sign": "({0} > T(0.0) ? T(1.0) : {0} < T(0.0) ? T(-1.0) : T({0}))",
        "select": "({0} >= T(0.0) ? T({1}) : {0} < T(0.0) ? T({2}) : T({0}))",
    },
    input=numbered("{0}[{1}]"),
    output=numbered("{0}[{1}]"),
    scratch=numbered("{0}[{1}]"),
    interval="interval_<T>({table}(), {size}, {value})",
    entry="entry_<T>({table}(), {size}, {value})",
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
    for name in sorted(unit.lookups):
        yield from ("template <typename T>", *_cpp_lookups(name), "")
    for name, values in unit.tables.items():
        head = f"inline const double *{name}() {{ static const double values[{len(values)}]"
        yield from (*_table(head, values), "return values; }", "")
    for routine in unit.routines:
        yield from _routine(unit, routine)
    if unit.options.self_test:
        yield from _self_test(unit)
    yield from (f"}}  // namespace {unit.name}", "}  // namespace kinegraph", "", "#endif", "")


def _cpp_lookups(name: str) -> list[str]:
    """Comparisons alone, so that any scalar will do; the index follows from as many."""
    array = "(const double *values, int size, const T &x)"
    if name == "interval":
        return [
            f"T interval_{array}", "{", "    int place = 0;", "    while (size > 0) {",
            "        const int half = (size + 1)/2;", "        if (x >= T(values[place + half - 1])) {",
            "            place += half;", "        }", "        size -= half;", "    }",
            "    return x == x ? T(double(place)) : T(x);", "}",
        ]  # fmt: skip
    return [
        f"T entry_{array}", "{", "    if (!(x >= T(0.0))) {",
        "        return T(std::numeric_limits<double>::quiet_NaN());", "    }", "    int place = 0;",
        "    while (size > 1) {", "        const int half = size/2;",
        "        if (x >= T(double(place + half))) {", "            place += half;", "            size -= half;",
        "        } else {", "            size = half;", "        }", "    }", "    return T(values[place]);", "}",
    ]  # fmt: skip


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
    # A result may have the name of its function and hide it: the call is qualified.
    yield f"{space}::{routine.name}<double>({', '.join(field.name for field in routine.fields)});"
    for field, tolerance in zip(routine.outputs, test.tolerances, strict=True):
        yield f"if (differ_({field.name}, {field.name}_expected_, {field.size}, {_number(tolerance)})) {{"
        yield from (f"    return {number};", "}")


def _table(declaration: str, values: Sequence[float]) -> list[str]:
    return [f"{declaration} = {{", *indented(number_lines(values, _number)), "};"]
