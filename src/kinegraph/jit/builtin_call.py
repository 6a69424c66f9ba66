"""Kernels as built-in functions of Python: arrays are checked, and results allocated, by machine code.

A call through ctypes spends a microsecond on conversions around 50 ns of arithmetic. Here CPython calls the code of
`_TEXT` directly. It accepts only what nearly every call passes: contiguous arrays of float64 of the right shape. For
anything else it returns None, and the caller's Python code converts the argument or says what is wrong with it.

The code reads the memory of array objects, whose layout NumPy's C interface fixes. It is compared with NumPy's own
answers in every process (`_layout_is_known`); if they differ, there are no built-in functions, and calls are slower.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kinegraph.jit import cache as disk
from kinegraph.jit.cache import digest
from kinegraph.jit.engine import LoadedCode, host, object_code, once, versions

#: A kernel as a built-in function: an array, or None for arguments that need conversion or an error message.
BuiltinCall: TypeAlias = Callable[..., NDArray[np.float64] | None]

_ONE, _ROWS = "kinegraph_call_one", "kinegraph_call_rows"
_FASTCALL = 0x80  # METH_FASTCALL
_MOST_NUMBERS, _MOST_DIMENSIONS = 2048, 4  # on the stack; of a result, with its rows

# PyObject: the type is the last word of the head. PyArrayObject_fields follow the head.
_HEAD = object.__basicsize__
_TYPE, _DATA, _DIMENSIONS, _SHAPE, _DESCRIPTION, _FLAGS = (
    _HEAD - 8, _HEAD, _HEAD + 8, _HEAD + 16, _HEAD + 40, _HEAD + 48,
)  # fmt: skip
_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x1, 0x100, 0x400
_READABLE, _USABLE = _CONTIGUOUS | _ALIGNED, _CONTIGUOUS | _ALIGNED | _WRITEABLE
_BYTES_CONTENTS = bytes.__basicsize__ - 1
_DOUBLE_NUMBER = 12  # NPY_DOUBLE
_ARRAY_TYPE_PLACE, _NEW_ARRAY_PLACE = 2, 93  # in NumPy's table of functions


@dataclass(frozen=True)
class Signature:
    """Sizes of the arguments, and the shape of the result. quaternions: where in all arguments a scalar part is."""

    sizes: tuple[int, ...]
    shape: tuple[int, ...]
    quaternions: tuple[int, ...] = ()


def call_of_one(address: int, signature: Signature) -> BuiltinCall | None:
    """Code `void f(const double *x, double *y)` as a function of arrays; None where that is not possible."""
    if len(signature.shape) > _MOST_DIMENSIONS or sum(signature.sizes) > _MOST_NUMBERS:
        return None
    return _function(_ONE, address, signature, 0)


def call_of_rows(address: int, signature: Signature, most: int) -> BuiltinCall | None:
    """Batch code as a function of arrays with up to `most` rows, and optionally of the array for the result."""
    if len(signature.shape) >= _MOST_DIMENSIONS or signature.quaternions or not signature.sizes:
        return None
    return _function(_ROWS, address, signature, most)


def _function(name: str, address: int, signature: Signature, most: int) -> BuiltinCall | None:
    tools = _tools()
    if tools is None:
        return None
    dimensions = [*signature.shape, *(0,) * (_MOST_DIMENSIONS - len(signature.shape))]
    words = [address, *tools.words, len(signature.sizes), sum(signature.sizes), most, len(signature.quaternions),
             len(signature.shape), *dimensions, *signature.sizes, *signature.quaternions]  # fmt: skip
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    table = struct.pack(f"{len(words)}q", *words)
    found: BuiltinCall = make(ctypes.addressof(tools.methods[name]), table, None)
    return found


# The words of a table, in this order; dimensions, sizes and quaternions follow.
_FIELDS = (
    "code", "new_array", "array_type", "description", "none", "increment", "release", "acquire", "arguments", "numbers",
    "most", "quaternions", "rank",
)  # fmt: skip
_SHAPE_PLACE = len(_FIELDS)
_SIZES_PLACE = _SHAPE_PLACE + _MOST_DIMENSIONS


class _Method(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p), ("code", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p),
    )  # fmt: skip


@dataclass(frozen=True)
class _Tools:
    """What all functions share: addresses in this process, and the code, which lives as long as it."""

    words: tuple[int, ...]
    methods: dict[str, _Method]
    code: LoadedCode


@once
def _tools() -> _Tools | None:
    table = _numpy_functions()
    if table is None or not _layout_is_known():
        return None
    python = [
        ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0
        for name in ("Py_IncRef", "PyEval_SaveThread", "PyEval_RestoreThread")
    ]
    words = (table[_NEW_ARRAY_PLACE], id(np.ndarray), id(np.dtype(np.float64)), id(None), *python)
    code = _loaded()
    methods = {name: _Method(name.encode(), code.address(name), _FASTCALL, None) for name in (_ONE, _ROWS)}
    return _Tools(words, methods, code)


def _loaded() -> LoadedCode:
    name = f"builtin-{digest(_text(), host(), versions())}"
    code = disk.load(name)
    if code is None:
        code = object_code(_text(), host())
        disk.save(name, code)
    return LoadedCode(code, _ONE, _ROWS)


def _numpy_functions() -> Sequence[int] | None:
    """NumPy's table of functions for C; None if this is not the NumPy that we know."""
    if sys.implementation.name != "cpython" or struct.calcsize("P") != 8:
        return None
    core = getattr(np, "_core", None) or getattr(np, "core", None)
    capsule = getattr(getattr(core, "_multiarray_umath", None), "_ARRAY_API", None)
    if capsule is None:
        return None
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    table = (ctypes.c_int64 * (_NEW_ARRAY_PLACE + 1)).from_address(pointer(capsule, None))
    return list(table) if table[_ARRAY_TYPE_PLACE] == id(np.ndarray) else None


def _layout_is_known() -> bool:
    """Whether array objects look in memory as the code reads them, by some that NumPy describes itself."""
    whole = np.arange(24.0).reshape(2, 3, 4)
    held = np.arange(5.0)
    held.flags.writeable = False
    # ctypes reads the heads: nothing is written, and every object is alive
    return all(map(_is_as_described, (whole, whole[0, 1], whole[:, :, 1], held, np.zeros((3, 2), dtype=np.float32))))


def _is_as_described(array: NDArray[np.generic]) -> bool:
    place = id(array)

    def word(offset: int) -> int:
        return ctypes.c_int64.from_address(place + offset).value

    flags = ctypes.c_int32.from_address(place + _FLAGS).value
    given = array.flags
    known = (given.c_contiguous * _CONTIGUOUS) | (given.aligned * _ALIGNED) | (given.writeable * _WRITEABLE)
    rank = ctypes.c_int32.from_address(place + _DIMENSIONS).value
    return (
        word(_TYPE) == id(np.ndarray)
        and word(_DATA) == array.__array_interface__["data"][0]
        and rank == array.ndim
        and tuple((ctypes.c_int64 * rank).from_address(word(_SHAPE))) == array.shape
        and word(_DESCRIPTION) == id(array.dtype)
        and flags & _USABLE == known
        and bytes(memoryview((ctypes.c_char * 3).from_address(id(b"xyz") + _BYTES_CONTENTS))) == b"xyz"
    )


# ---- The code, as LLVM assembly: written once, the same for every kernel, which it knows by its table


def _load(name: str, kind: str, base: str, offset: int) -> str:
    """Load a value at an offset in bytes."""
    return f"  %{name}.at = getelementptr i8, ptr %{base}, i64 {offset}\n  %{name} = load {kind}, ptr %{name}.at\n"


def _table(*names: str) -> str:
    """The named words of the table."""
    pointers = {"code", "new_array", "release", "acquire", "increment", "none"}
    return f"  %table = getelementptr i8, ptr %self, i64 {_BYTES_CONTENTS}\n" + "".join(
        _load(name, "ptr" if name in pointers else "i64", "table", 8 * _FIELDS.index(name)) for name in names
    )


def _unless(condition: str, target: str, next_label: str) -> str:
    """Go to `target` unless a condition holds."""
    return f"  br i1 %{condition}, label %{next_label}, label %{target}\n{next_label}:\n"


def _is_array(name: str, flags: int, rank: str | None) -> str:
    """Bail out unless %name is an array of float64 with these flags and this rank (an i64; None: any)."""
    text = _load(f"{name}.type", "i64", name, _TYPE) + f"  %{name}.ok1 = icmp eq i64 %{name}.type, %array_type\n"
    text += _unless(f"{name}.ok1", "bail", f"{name}.typed")
    text += _load(f"{name}.dtype", "i64", name, _DESCRIPTION)
    text += f"  %{name}.ok2 = icmp eq i64 %{name}.dtype, %description\n"
    text += _unless(f"{name}.ok2", "bail", f"{name}.real")
    text += _load(f"{name}.flags", "i32", name, _FLAGS) + f"  %{name}.set = and i32 %{name}.flags, {flags}\n"
    text += f"  %{name}.ok3 = icmp eq i32 %{name}.set, {flags}\n" + _unless(f"{name}.ok3", "bail", f"{name}.flat")
    text += _load(f"{name}.rank32", "i32", name, _DIMENSIONS) + f"  %{name}.rank = sext i32 %{name}.rank32 to i64\n"
    if rank is not None:
        text += f"  %{name}.ok4 = icmp eq i64 %{name}.rank, {rank}\n" + _unless(f"{name}.ok4", "bail", f"{name}.ranked")
    return text + _load(f"{name}.shape", "ptr", name, _SHAPE) + _load(f"{name}.data", "ptr", name, _DATA)


_BAIL = "bail:\n  call void %increment(ptr %none)\n  ret ptr %none\n"


def _text() -> str:
    return "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n" + _text_of_one() + _text_of_rows()


def _text_of_one() -> str:
    names = ("code", "new_array", "array_type", "description", "none", "increment", "arguments", "numbers",
             "quaternions", "rank")  # fmt: skip
    return f"""
define ptr @{_ONE}(ptr %self, ptr %args, i64 %n) {{
entry:
{_table(*names)}
  %sizes = getelementptr i64, ptr %table, i64 {_SIZES_PLACE}
  %places = getelementptr i64, ptr %sizes, i64 %arguments
  %right = icmp eq i64 %n, %arguments
{_unless("right", "bail", "begin")}
  %x = alloca double, i64 %numbers
  br label %next
next:
  %k = phi i64 [0, %begin], [%k1, %copied]
  %start = phi i64 [0, %begin], [%end, %copied]
  %done = icmp eq i64 %k, %n
  br i1 %done, label %turned, label %argument
argument:
  %arg.place = getelementptr ptr, ptr %args, i64 %k
  %arg = load ptr, ptr %arg.place
{_is_array("arg", _READABLE, "1")}
  %size.place = getelementptr i64, ptr %sizes, i64 %k
  %size = load i64, ptr %size.place
  %length = load i64, ptr %arg.shape
  %fits = icmp eq i64 %length, %size
{_unless("fits", "bail", "copied")}
  %target = getelementptr double, ptr %x, i64 %start
  %bytes = mul i64 %size, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %arg.data, i64 %bytes, i1 false)
  %end = add i64 %start, %size
  %k1 = add i64 %k, 1
  br label %next
turned:
  %j = phi i64 [0, %next], [%j1, %nonzero]
  %checked = icmp eq i64 %j, %quaternions
  br i1 %checked, label %compute, label %quaternion
quaternion:
  %place.at = getelementptr i64, ptr %places, i64 %j
  %place = load i64, ptr %place.at
  %scalar.at = getelementptr double, ptr %x, i64 %place
  %scalar = load double, ptr %scalar.at
  %unequal = fcmp une double %scalar, 0.0
{_unless("unequal", "bail", "nonzero")}
  %j1 = add i64 %j, 1
  br label %turned
compute:
  %rank32 = trunc i64 %rank to i32
  %type = inttoptr i64 %array_type to ptr
  %shape = getelementptr i64, ptr %table, i64 {_SHAPE_PLACE}
  %y = call ptr %new_array(ptr %type, i32 %rank32, ptr %shape, i32 {_DOUBLE_NUMBER}, ptr null, ptr null, i32 0, i32 0,
    ptr null)
  %made = icmp ne ptr %y, null
{_unless("made", "failed", "call")}
{_load("data", "ptr", "y", _DATA)}
  call void %code(ptr %x, ptr %data)
  ret ptr %y
failed:
  ret ptr null
{_BAIL}}}
"""


def _text_of_rows() -> str:
    names = ("code", "new_array", "array_type", "description", "none", "increment", "release", "acquire", "arguments",
             "most", "rank")  # fmt: skip
    return f"""
define ptr @{_ROWS}(ptr %self, ptr %args, i64 %n) {{
entry:
{_table(*names)}
  %sizes = getelementptr i64, ptr %table, i64 {_SIZES_PLACE}
  %shape = getelementptr i64, ptr %table, i64 {_SHAPE_PLACE}
  %arrays = alloca ptr, i64 %arguments
  %strides = alloca i64, i64 %arguments
  %whole = alloca i64, i64 {_MOST_DIMENSIONS + 1}
  %result = alloca ptr
  %rank1 = add i64 %rank, 1
  %extra = sub i64 %n, %arguments
  %right = icmp ule i64 %extra, 1
{_unless("right", "bail", "begin")}
  br label %next
next:
  %k = phi i64 [0, %begin], [%k1, %fitting]
  %rows = phi i64 [-1, %begin], [%rows1, %fitting]
  %done = icmp eq i64 %k, %arguments
  br i1 %done, label %complete, label %argument
argument:
  %arg.place = getelementptr ptr, ptr %args, i64 %k
  %arg = load ptr, ptr %arg.place
{_is_array("arg", _READABLE, None)}
  %size.place = getelementptr i64, ptr %sizes, i64 %k
  %size = load i64, ptr %size.place
  %length = load i64, ptr %arg.shape
  %row.given = icmp eq i64 %arg.rank, 2
  br i1 %row.given, label %table.given, label %shared.given
shared.given:
  %line = icmp eq i64 %arg.rank, 1
{_unless("line", "bail", "shared.line")}
  %several = icmp ne i64 %size, 1
{_unless("several", "bail", "shared.several")}
  %all.given = icmp eq i64 %length, %size
{_unless("all.given", "bail", "shared.fits")}
  br label %fitting
table.given:
  %width.place = getelementptr i64, ptr %arg.shape, i64 1
  %width = load i64, ptr %width.place
  %wide = icmp eq i64 %width, %size
{_unless("wide", "bail", "counted")}
  %first = icmp eq i64 %rows, -1
  %same = icmp eq i64 %length, %rows
  %either = or i1 %first, %same
{_unless("either", "bail", "table.fits")}
  br label %fitting
fitting:
  %rows1 = phi i64 [%rows, %shared.fits], [%length, %table.fits]
  %stride = phi i64 [0, %shared.fits], [%size, %table.fits]
  %array.place = getelementptr ptr, ptr %arrays, i64 %k
  store ptr %arg.data, ptr %array.place
  %stride.place = getelementptr i64, ptr %strides, i64 %k
  store i64 %stride, ptr %stride.place
  %k1 = add i64 %k, 1
  br label %next
complete:
  %few = icmp ule i64 %rows, %most
{_unless("few", "bail", "some")}
  %any = icmp ugt i64 %rows, 1
{_unless("any", "bail", "sized")}
  store i64 %rows, ptr %whole
  %whole.tail = getelementptr i64, ptr %whole, i64 1
  call void @llvm.memcpy.p0.p0.i64(ptr %whole.tail, ptr %shape, i64 {8 * _MOST_DIMENSIONS}, i1 false)
  %given = icmp eq i64 %extra, 1
  br i1 %given, label %out.given, label %allocate
allocate:
  %rank32 = trunc i64 %rank1 to i32
  %type = inttoptr i64 %array_type to ptr
  %new = call ptr %new_array(ptr %type, i32 %rank32, ptr %whole, i32 {_DOUBLE_NUMBER}, ptr null, ptr null, i32 0, i32 0,
    ptr null)
  %made = icmp ne ptr %new, null
{_unless("made", "failed", "allocated")}
{_load("new.data", "ptr", "new", _DATA)}
  br label %compute
out.given:
  %out.place = getelementptr ptr, ptr %args, i64 %arguments
  %out = load ptr, ptr %out.place
{_is_array("out", _USABLE, "%rank1")}
  br label %dimension
dimension:
  %d = phi i64 [0, %out.ranked], [%d1, %equal]
  %volume = phi i64 [8, %out.ranked], [%volume1, %equal]
  %measured = icmp eq i64 %d, %rank1
  br i1 %measured, label %apart, label %compare
compare:
  %wanted.at = getelementptr i64, ptr %whole, i64 %d
  %wanted = load i64, ptr %wanted.at
  %found.at = getelementptr i64, ptr %out.shape, i64 %d
  %found = load i64, ptr %found.at
  %alike = icmp eq i64 %wanted, %found
{_unless("alike", "bail", "equal")}
  %volume1 = mul i64 %volume, %wanted
  %d1 = add i64 %d, 1
  br label %dimension
apart:
  %out.first = ptrtoint ptr %out.data to i64
  %out.end = add i64 %out.first, %volume
  br label %separate
separate:
  %s = phi i64 [0, %apart], [%s1, %beside]
  %all = icmp eq i64 %s, %arguments
  br i1 %all, label %kept, label %overlap
overlap:
  %in.at = getelementptr ptr, ptr %arrays, i64 %s
  %in = load ptr, ptr %in.at
  %in.first = ptrtoint ptr %in to i64
  %in.size.at = getelementptr i64, ptr %sizes, i64 %s
  %in.size = load i64, ptr %in.size.at
  %in.stride.at = getelementptr i64, ptr %strides, i64 %s
  %in.stride = load i64, ptr %in.stride.at
  %in.shared = icmp eq i64 %in.stride, 0
  %in.rows = select i1 %in.shared, i64 1, i64 %rows
  %in.numbers = mul i64 %in.size, %in.rows
  %in.bytes = mul i64 %in.numbers, 8
  %in.end = add i64 %in.first, %in.bytes
  %before = icmp ule i64 %in.end, %out.first
  %after = icmp uge i64 %in.first, %out.end
  %free = or i1 %before, %after
{_unless("free", "bail", "beside")}
  %s1 = add i64 %s, 1
  br label %separate
kept:
  call void %increment(ptr %out)
  br label %compute
compute:
  %y = phi ptr [%new, %allocated], [%out, %kept]
  %data = phi ptr [%new.data, %allocated], [%out.data, %kept]
  store ptr %data, ptr %result
  %thread = call ptr %release()
  call void %code(i64 0, i64 %rows, ptr %arrays, ptr %strides, ptr %result)
  call void %acquire(ptr %thread)
  ret ptr %y
failed:
  ret ptr null
{_BAIL}}}
"""
