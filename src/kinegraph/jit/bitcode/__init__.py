"""Loops compiled to LLVM bitcode when the package is built; the first use generates machine code and caches it.

`make bitcode` writes the files and `manifest.json` from the functions marked with `jit.marks`. The manifest holds the
layout of each entry's arguments and the digest of its source.
"""

from __future__ import annotations

import ctypes
import json
import struct
import zlib
from array import array
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias, TypedDict, cast

import numpy as np
from llvmlite import binding as llvm

from kinegraph.errors import KernelError
from kinegraph.jit import cache as disk
from kinegraph.jit.engine import LoadedCode, host, once, versions

FOLDER = Path(__file__).parent

#: "f", "i" or "b": a number; "f2": an array of two dimensions; a record by its fields; a tuple.
Layout: TypeAlias = "str | dict[str, Layout] | list[Layout]"

_ENTRY = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_TYPES = {"f": np.dtype(np.float64), "i": np.dtype(np.int64), "b": np.dtype(np.bool_)}
_FAILED = -(1 << 40)


class EntryFacts(TypedDict):
    """An entry of the manifest: its file and symbol, and the layout of its arguments."""

    file: str
    symbol: str
    arguments: list[Layout]


class ManifestFacts(TypedDict):
    """The manifest: entries by the module and name of their function, digests of sources by file, and versions."""

    entries: dict[str, EntryFacts]
    sources: dict[str, str]
    versions: dict[str, str]


@cache
def manifest() -> ManifestFacts:
    """The manifest of the folder."""
    return cast(ManifestFacts, json.loads((FOLDER / "manifest.json").read_text()))


def name_of(function: Callable[..., object]) -> str:
    """The name of a function in the manifest."""
    return f"{function.__module__.removeprefix('kinegraph.')}:{function.__qualname__}"


class CompiledLoop:
    """The machine code of a marked function, called like the function. It runs without Python's lock."""

    def __init__(self, function: Callable[..., object]) -> None:
        facts = manifest()["entries"].get(name_of(function))
        if facts is None:
            raise KernelError(f"{name_of(function)} has no bitcode: run `make bitcode`")
        self.address = loaded(facts["file"]).address(facts["symbol"])
        self._name, self._layouts = function.__name__, facts["arguments"]
        self._call = _ENTRY(self.address)

    def __call__(self, *arguments: object) -> int:
        return self.bound(*arguments)()

    def bound(self, *first: object) -> Callable[..., int]:
        """The code with its first arguments packed once; the others are numbers. Not thread-safe."""
        memory: list[object] = []
        words = array("q")
        for layout, value in zip(self._layouts, first, strict=False):
            _pack(layout, value, words, memory, self._name)
        known, rest = len(words), self._layouts[len(first) :]
        words.extend([0] * len(rest))
        place = words.buffer_info()[0]
        if rest == ["i"]:  # called for every step of a simulator: nothing but the call
            code, failed = self._call, self._checked

            def call_with_number(last: int) -> int:
                words[known] = last
                found: int = code(place)
                return found if found >= 0 else failed(found, memory)

            return call_with_number

        def call(*last: object) -> int:
            for at, (layout, value) in enumerate(zip(rest, last, strict=True), start=known):
                words[at] = _word(layout, value)
            return self._checked(self._call(place), memory, words)

        return call

    def _checked(self, code: int, *alive: object) -> int:
        """The result; `alive` keeps the memory that the code has read."""
        if code == _FAILED:
            raise KernelError(f"the compiled loop {self._name} failed")
        return code


@once
def compiled(function: Callable[..., object]) -> CompiledLoop:
    """A marked function as machine code."""
    return CompiledLoop(function)


@once
def loaded(file: str) -> LoadedCode:
    """The machine code of a file, from the cache if possible."""
    bitcode = zlib.decompress((FOLDER / f"{file}.bc").read_bytes())
    facts = manifest()["entries"].values()
    name = f"loop-{sha256(bitcode + f'{host()} {versions()}'.encode()).hexdigest()}"
    code = disk.load(name)
    if code is None:
        code = object_of(bitcode)
        disk.save(name, code)
    return LoadedCode(code, *(one["symbol"] for one in facts if one["file"] == file))


def object_of(bitcode: bytes) -> bytes:
    """Object code for this machine. The bitcode is already optimized; only code generation remains."""
    target = host()
    machine = target.machine()
    module = llvm.parse_bitcode(bitcode)
    module.triple = target.triple
    module.data_layout = str(machine.target_data)
    return bytes(machine.emit_object(module))


def _pack(layout: Layout, value: object, words: array[int], memory: list[object], name: str) -> None:
    """Append a value as compiled code reads it: numbers, arrays with their lengths, addresses of records."""
    if isinstance(layout, dict):
        inner = array("q")
        for (field, one), entry in zip(layout.items(), cast("Sequence[object]", value), strict=True):
            _pack(one, entry, inner, memory, f"{name}.{field}")
        memory.append(inner)
        words.append(inner.buffer_info()[0])
    elif isinstance(layout, list):
        for place, (one, entry) in enumerate(zip(layout, cast("Sequence[object]", value), strict=True)):
            _pack(one, entry, words, memory, f"{name}[{place}]")
    elif len(layout) == 1:
        words.append(_word(layout, value))
    else:
        kind, dimensions = _TYPES[layout[0]], int(layout[1:])
        if not isinstance(value, np.ndarray) or value.dtype != kind or value.ndim != dimensions:
            raise KernelError(f"{name} must be an array of {kind} with {dimensions} dimensions, not {value!r}")
        if not value.flags.c_contiguous:
            raise KernelError(f"{name} must be contiguous: its strides are {value.strides}")
        memory.append(value)
        data = value.__array_interface__["data"][0]
        words.extend((0, 0, value.size, value.itemsize, data, *value.shape, *value.strides))


def _word(layout: Layout, value: object) -> int:
    """A number as one word."""
    if layout == "f":
        return int(struct.unpack("q", struct.pack("d", value))[0])
    return int(cast("int", value))
