"""Python with NumPy: functions that take single states or any number of them in leading dimensions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kinegraph.export.languages.syntax import Syntax, emit, indented, indexed, number_lines, number_text, numbered
from kinegraph.export.unit import Routine, Unit, folded, heading, routine_text, self_test_text

_NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
_SAME = ("sin", "cos", "sqrt", "exp", "log", "sinh", "cosh", "tanh", "abs", "sign", *_NAMES)


def python_files(unit: Unit) -> dict[str, str]:
    """The module."""
    return {f"{unit.name}.py": "\n".join(_lines(unit))}


def _number(value: float) -> str:
    return number_text(value, infinity="np.inf", nan="np.nan")


_SYNTAX = Syntax(
    define="{name} = {value}",
    assign="{target} = {value}",
    literal=_number,
    functions={name: f"np.{_NAMES.get(name, name)}({{0}})" for name in _SAME}
    | {
        "atan2": "np.arctan2({0}, {1})",
        "select": "np.where({0} >= 0.0, {1}, np.where({0} < 0.0, {2}, np.nan))",
    },
    input=numbered("{0}[{1}]"),
    output=indexed("{0}[..., {1}]", scalar="{0}[...]"),
    scratch=numbered("{0}[{1}]"),
    interval="interval_({table}, {value})",
    entry="entry_({table}, {value})",
)

_LOOKUPS = {
    "interval": '''
def interval_(bounds, x):
    """How many bounds are not above x."""
    return np.where(np.isnan(x), np.nan, np.searchsorted(bounds, x, side="right"))
''',
    "entry": '''
def entry_(values, index):
    """The value at an index; NaN if it is negative."""
    inside = index >= 0
    return np.where(inside, values[np.where(inside, np.minimum(index, len(values) - 1), 0).astype(int)], np.nan)
''',
}

_HELPERS = '''
def _arguments_(*pairs):
    """The entries of every argument along its last dimension, and the leading dimensions all share."""
    arrays = []
    for name, value, size in pairs:
        array = np.asarray(value, dtype=np.float64)
        if array.shape == () and size == 1:
            array = array.reshape(1)
        if array.shape[-1:] != (size,):
            raise ValueError(f"{name} has shape {array.shape}: its last dimension must be {size}")
        arrays.append(array)
    batch = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
    return batch, [tuple(np.moveaxis(array, -1, 0)) for array in arrays]
'''

_COMPARE = """
def _differ_(computed, expected, tolerance):
    return not np.all(np.abs(np.ravel(computed) - np.array(expected)) <= tolerance)
"""


def _lines(unit: Unit) -> Iterator[str]:
    # Python looks for a coding declaration in comments of the first two lines, so no name of a model is there.
    yield from ('"""Equations of a mechanism as NumPy functions.', "", *folded(heading(unit)), '"""', "")
    yield from ("import numpy as np", "", f'DIGEST = "{unit.digest}"', "")
    if unit.parameter_values:
        yield from ("#: The model's values of the parameters p.", "PARAMETERS = np.array([")
        yield from (*indented(number_lines(unit.parameter_values, _number)), "])", "")
    yield from (*_HELPERS.splitlines(), "")
    for name in sorted(unit.lookups):
        yield from (*_LOOKUPS[name].splitlines(), "")
    for name, values in unit.tables.items():
        yield from ("", f"{name} = np.array([", *indented(number_lines(values, _number)), "])", "")
    for routine in unit.routines:
        yield from _routine(routine)
    if unit.options.self_test:
        yield from _self_test(unit)


def _routine(routine: Routine) -> Iterator[str]:
    arguments = ", ".join(field.name for field in routine.inputs)
    names = ", ".join([*(field.name for field in routine.fields), "s"])
    if routine.split:
        for number in range(len(routine.chunks.ranges)):
            body = emit(routine, number, _SYNTAX)
            yield from ("", f"def {routine.part_name(number)}({names}):", *indented(body or ["pass"]), "")
    yield from ("", f"def {routine.name}({arguments}):")
    text = folded(
        [*routine_text(routine), "", "Arguments may have leading dimensions; the results have them as well."], 96
    )
    yield from indented([f'"""{text[0]}', *text[1:], '"""'])
    if routine.inputs:
        pairs = ", ".join(f'("{field.name}", {field.name}, {field.size})' for field in routine.inputs)
        yield f"    batch, [{arguments}] = _arguments_({pairs})"
    else:
        yield "    batch = ()"
    for field in routine.outputs:
        yield f"    {field.name} = np.empty((*batch, {', '.join(map(str, field.shape))}))"
    if routine.split:
        yield f"    s = [None] * {max(routine.chunks.scratch_size, 1)}"
        yield from indented([f"{routine.part_name(n)}({names})" for n in range(len(routine.chunks.ranges))])
    else:
        yield from indented(emit(routine, 0, _SYNTAX))
    yield from (f"    return {', '.join(field.name for field in routine.outputs) or 'None'}", "")


def _self_test(unit: Unit) -> Iterator[str]:
    yield from (*_COMPARE.splitlines(), "", "", "def selftest():")
    text = folded([self_test_text(unit)], 96)
    yield from indented([f'"""{text[0]}', *text[1:], '"""'])
    for number, routine in enumerate(unit.routines, start=1):
        yield from indented(_routine_test(routine, number))
    yield from ("    return 0", "", "", 'if __name__ == "__main__":', "    raise SystemExit(selftest())", "")


def _routine_test(routine: Routine, number: int) -> Iterator[str]:
    test = routine.test
    assert test is not None
    yield "state_ = ("
    for values in test.inputs:
        yield from indented(_tuple(values))
    yield from (")", "expected_ = (")
    for values in test.expected:
        yield from indented(_tuple(values))
    yield ")"
    yield f"found_ = {routine.name}(*state_)"
    if len(routine.outputs) == 1:
        yield "found_ = (found_,)"
    yield f"tolerances_ = ({''.join(f'{_number(tolerance)}, ' for tolerance in test.tolerances)})"
    yield "if any(map(_differ_, found_, expected_, tolerances_)):"
    yield f"    return {number}"


def _tuple(values: Sequence[float]) -> list[str]:
    return ["[", *indented(number_lines(values, _number)), "],"]
