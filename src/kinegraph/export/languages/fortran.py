"""Fortran 2008: one module of pure subroutines, results as the last arguments, arrays indexed from one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from kinegraph.export.languages.syntax import (
    Syntax,
    emit,
    indented,
    indexed,
    number_lines,
    number_text,
    numbered,
    wrapped,
)
from kinegraph.export.unit import Field, Routine, Unit, folded, heading, routine_text, self_test_text

_SAME = ("sin", "cos", "sqrt", "exp", "log", "asin", "acos", "atan", "sinh", "cosh", "tanh", "abs")

#: A line has at most 132 characters, and a statement at most 255 continuation lines.
_WIDTH = 120
_VALUES_AT_ONCE = 200
_VARIABLE = re.compile(r"[A-Za-z]\w*")


def fortran_files(unit: Unit) -> dict[str, str]:
    """The module."""
    return {f"{unit.name}.f90": "\n".join(part for line in _lines(unit) for part in _continued(line))}


def _number(value: float) -> str:
    return number_text(value, infinity="infinity_()", nan="not_a_number_()", suffix="_dp_")


_SYNTAX = Syntax(
    define="{name} = {value}",
    assign="{target} = {value}",
    literal=_number,
    functions={name: f"{name}({{0}})" for name in _SAME}
    | {"atan2": "atan2({0}, {1})", "sign": "signum_({0})", "select": "choose_({0}, {1}, {2})"},
    input=numbered("{0}({1})", first=1),
    output=indexed("{0}({1})", first=1),
    scratch=numbered("{0}({1})", first=1),
    interval="interval_({size}, {table}, {value})",
    entry="entry_({size}, {table}, {value})",
)


def _lines(unit: Unit) -> Iterator[str]:
    body = [line for routine in unit.routines for line in _routine(unit, routine)]
    public = [f"{unit.stem}_{routine.name}" for routine in unit.routines]
    if unit.parameter_values:
        body += _parameters(unit)
        public.append(f"{unit.stem}_parameters")
    if unit.options.self_test:
        body += _self_test(unit)
        public.append(f"{unit.stem}_selftest")
    helpers = [text for name, text in _HELPERS.items() if any(f"{name}(" in line for line in body)]
    yield from (*_comment(heading(unit)), f"module {unit.stem}_module", "    implicit none", "    private")
    yield "    integer, parameter :: dp_ = kind(1.0d0)"
    yield f'    character(*), parameter, public :: {unit.stem}_digest = "{unit.digest}"'
    yield from indented([f"public :: {name}" for name in public])
    for name, values in unit.tables.items():
        yield from indented(_constants(name, values))
    yield from ("contains", *indented([*body, *(line for text in helpers for line in text.splitlines())]))
    yield from (f"end module {unit.stem}_module", "")


def _routine(unit: Unit, routine: Routine) -> Iterator[str]:
    names = [field.name for field in routine.fields]
    yield from ("", *_comment(routine_text(routine, first=1)))
    if not routine.split:
        yield from _subroutine(f"{unit.stem}_{routine.name}", names, _fields(routine), emit(routine, 0, _SYNTAX))
        return
    scratch = f"real(dp_) :: s({max(routine.chunks.scratch_size, 1)})"
    parts = [f"{unit.stem}_{routine.part_name(number)}" for number in range(len(routine.chunks.ranges))]
    calls = [f"call {part}({', '.join([*names, 's'])})" for part in parts]
    yield from _subroutine(f"{unit.stem}_{routine.name}", names, [*_fields(routine), scratch], calls)
    for number, part in enumerate(parts):
        declared = [*_fields(routine, "inout"), scratch.replace("real(dp_)", "real(dp_), intent(inout)")]
        yield from ("", *_subroutine(part, [*names, "s"], declared, emit(routine, number, _SYNTAX)))


def _subroutine(name: str, arguments: Sequence[str], declared: Sequence[str], body: Sequence[str]) -> Iterator[str]:
    yield f"pure subroutine {name}({', '.join(arguments)})"
    yield from indented([*declared, *_temporaries(body, arguments), *body])
    yield f"end subroutine {name}"


def _fields(routine: Routine, intent: str = "out") -> list[str]:
    """Parts of a long routine each write some of the results, so there these are inout."""
    taken = [f"real(dp_), intent(in) :: {_declared(field)}" for field in routine.inputs]
    return taken + [f"real(dp_), intent({intent}) :: {_declared(field)}" for field in routine.outputs]


def _declared(field: Field) -> str:
    return f"{field.name}({', '.join(map(str, field.shape))})" if field.shape else field.name


def _temporaries(body: Sequence[str], arguments: Sequence[str]) -> Iterator[str]:
    """Declarations of variables: t1, x1, cos_q2 and names of the model are assigned once. Arguments are declared
    before, and entries of arrays have indices."""
    names = [line.partition(" = ")[0] for line in body if " = " in line]
    own = [name for name in names if _VARIABLE.fullmatch(name) and name not in arguments]
    for line in wrapped(own, width=90):
        if line:
            yield f"real(dp_) :: {line.rstrip(',')}"


def _continued(line: str) -> Iterator[str]:
    """A statement over as many lines as it needs; comments are already folded."""
    margin = " " * (len(line) - len(line.lstrip()))
    while len(line) > _WIDTH and not line.lstrip().startswith("!"):
        at = line.rfind(" ", len(margin) + 5, _WIDTH)
        if at < 0:
            break
        yield f"{line[:at]} &"
        line = f"{margin}    {line[at + 1 :]}"
    yield line


def _comment(lines: Sequence[str]) -> list[str]:
    return [f"! {line}".rstrip() for line in folded(lines)]


def _assigned(name: str, values: Sequence[float]) -> Iterator[str]:
    """Values of a vector, in statements that are not too long for a compiler."""
    for start in range(0, len(values), _VALUES_AT_ONCE):
        part = values[start : start + _VALUES_AT_ONCE]
        *lines, last = number_lines(part, _number)
        yield f"{name}({start + 1}:{start + len(part)}) = [ &"
        yield from (*(f"    {line} &" for line in lines), f"    {last} ]")


def _constants(name: str, values: Sequence[float]) -> Iterator[str]:
    """A constant array, made of arrays whose statements are not too long for a compiler."""
    parts: list[str] = []
    for start in range(0, len(values), _VALUES_AT_ONCE):
        part = values[start : start + _VALUES_AT_ONCE]
        parts.append(f"{name}part{len(parts) + 1}_")
        *lines, last = number_lines(part, _number)
        yield f"real(dp_), parameter :: {parts[-1]}({len(part)}) = [ &"
        yield from (*(f"    {line} &" for line in lines), f"    {last} ]")
    whole = parts
    while len(whole) > 1 or whole is parts:
        groups = [whole[k : k + _VALUES_AT_ONCE] for k in range(0, len(whole), _VALUES_AT_ONCE)]
        names = [name] if len(groups) == 1 else [f"{name}group{k + 1}_" for k in range(len(groups))]
        for one, group in zip(names, groups, strict=True):
            yield f"real(dp_), parameter :: {one}(*) = [{', '.join(group)}]"
        whole = names


def _parameters(unit: Unit) -> Iterator[str]:
    yield from ("", *_comment(["The model's values of the parameters p."]))
    declared = [f"real(dp_), intent(out) :: p({len(unit.parameter_values)})"]
    yield from _subroutine(f"{unit.stem}_parameters", ["p"], declared, list(_assigned("p", unit.parameter_values)))


def _self_test(unit: Unit) -> Iterator[str]:
    yield from ("", *_comment([self_test_text(unit)]), f"integer function {unit.stem}_selftest() result(failed)")
    yield "    failed = 0"
    for number, routine in enumerate(unit.routines, start=1):
        yield from indented(["block", *indented(_routine_test(unit, routine, number)), "end block"])
    yield from (f"end function {unit.stem}_selftest",)


def _routine_test(unit: Unit, routine: Routine, number: int) -> Iterator[str]:
    test = routine.test
    assert test is not None
    taken = [f"taken{position}_" for position in range(len(routine.inputs))]
    found = [f"found{position}_" for position in range(len(routine.outputs))]
    largest = max(field.size for field in routine.outputs)
    yield from (f"real(dp_) :: {name}({field.size})" for name, field in zip(taken, routine.inputs, strict=True))
    for name, field in zip(found, routine.outputs, strict=True):
        yield f"real(dp_) :: {name}{_declared(field).removeprefix(field.name)}"
    yield f"real(dp_) :: expected_({largest})"
    for name, values in zip(taken, test.inputs, strict=True):
        yield from _assigned(name, values)
    yield f"call {unit.stem}_{routine.name}({', '.join([*taken, *found])})"
    for name, field, values, tolerance in zip(found, routine.outputs, test.expected, test.tolerances, strict=True):
        yield from _assigned("expected_", _by_columns(values, field))
        whole = name if field.shape else f"[{name}]"
        yield f"if (differ_({field.size}, {whole}, expected_, {_number(tolerance)})) failed = {number}"
    yield "if (failed /= 0) return"


def _by_columns(values: Sequence[float], field: Field) -> list[float]:
    """Expected results in column-major order, as in Fortran; they are listed in row-major order."""
    entries = np.array(values).reshape(field.shape).ravel(order="F")
    return [float(value) for value in entries]


_HELPERS = {
    "signum_": """
pure real(dp_) function signum_(x)
    real(dp_), intent(in) :: x
    signum_ = x
    if (x > 0) signum_ = 1
    if (x < 0) signum_ = -1
end function signum_""",
    "choose_": """
pure real(dp_) function choose_(c, a, b)
    real(dp_), intent(in) :: c, a, b
    choose_ = c
    if (c >= 0) choose_ = a
    if (c < 0) choose_ = b
end function choose_""",
    "interval_": """
! How many bounds are not above x.
pure real(dp_) function interval_(n, bounds, x)
    integer, intent(in) :: n
    real(dp_), intent(in) :: bounds(n), x
    integer :: place, length, half
    place = 0
    length = n
    do while (length > 0)
        half = (length + 1)/2
        if (x >= bounds(place + half)) place = place + half
        length = length - half
    end do
    interval_ = merge(real(place, dp_), x, x == x)
end function interval_""",
    "entry_": """
! The value at an index; NaN if it is negative.
pure real(dp_) function entry_(n, values, x)
    use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan
    integer, intent(in) :: n
    real(dp_), intent(in) :: values(n), x
    entry_ = ieee_value(0.0_dp_, ieee_quiet_nan)
    if (x >= 0) entry_ = values(int(min(x, real(n - 1, dp_))) + 1)
end function entry_""",
    "differ_": """
pure logical function differ_(n, found, expected, tolerance)
    integer, intent(in) :: n
    real(dp_), intent(in) :: found(n), expected(n), tolerance
    differ_ = .not. all(abs(found - expected) <= tolerance)
end function differ_""",
    "infinity_": """
pure real(dp_) function infinity_()
    use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_positive_inf
    infinity_ = ieee_value(0.0_dp_, ieee_positive_inf)
end function infinity_""",
    "not_a_number_": """
pure real(dp_) function not_a_number_()
    use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan
    not_a_number_ = ieee_value(0.0_dp_, ieee_quiet_nan)
end function not_a_number_""",
}
