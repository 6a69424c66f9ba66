"""Loops in bitcode: up to date with their source, equal to it, and strict about arguments."""

from __future__ import annotations

import re
import zlib
from importlib import import_module

import numpy as np
import pytest
from llvmlite import binding as llvm
from tools.bitcode.source import digest

from kinegraph.errors import KernelError
from kinegraph.io.language.reader import parse
from kinegraph.jit import bitcode
from kinegraph.jit.marks import doubles_at, flags_at, integers_at, loop
from kinegraph.recursive import articulated_body as articulated
from kinegraph.recursive import entries
from kinegraph.recursive import newton_euler as kinematics
from kinegraph.recursive import newton_euler as recursion
from kinegraph.recursive.systems import RecursiveSystem

FILES = sorted(bitcode.manifest()["sources"])


def function_of(name: str):
    module, function = name.split(":")
    return getattr(import_module(f"kinegraph.{module}"), function)


@pytest.mark.parametrize("file", FILES)
def test_bitcode_is_made_of_the_source(file: str) -> None:
    entries_of_file = [name for name, facts in bitcode.manifest()["entries"].items() if facts["file"] == file]
    expected = digest([function_of(name) for name in entries_of_file])
    assert bitcode.manifest()["sources"][file] == expected, f"{file} is older than its source: run `make bitcode`"


def test_there_is_no_other_file() -> None:
    assert sorted(path.stem for path in bitcode.FOLDER.glob("*.bc")) == FILES


def test_nothing_is_called_that_the_package_does_not_have() -> None:
    for file in FILES:
        module = llvm.parse_bitcode(zlib.decompress((bitcode.FOLDER / f"{file}.bc").read_bytes()))
        declared = [one.name for one in module.functions if one.is_declaration]
        assert all(name.startswith(("llvm.", "kinegraph_")) for name in declared), declared


def test_nothing_tells_where_it_was_compiled() -> None:
    for file in FILES:
        text = str(llvm.parse_bitcode(zlib.decompress((bitcode.FOLDER / f"{file}.bc").read_bytes())))
        assert not re.findall(r'c"[^"]*(?:builtins|\.py)[^"]*"', text)


@pytest.mark.soak
@pytest.mark.parametrize("system", ["unknown-linux-gnu", "apple-darwin", "pc-windows-msvc"])
@pytest.mark.parametrize("processor", ["x86_64", "aarch64"])
def test_object_code_for_other_machines(processor: str, system: str) -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(f"{processor}-{system}").create_target_machine(opt=3, reloc="pic")
    for file in FILES:
        module = llvm.parse_bitcode(zlib.decompress((bitcode.FOLDER / f"{file}.bc").read_bytes()))
        module.triple, module.data_layout = machine.triple, str(machine.target_data)
        assert machine.emit_object(module)


CHAIN = "coordinates a, b; gravity 0, -3, -9; A | Rx(a) | Sy(1), m(1), Jx(2); B~A | Sz(1), Ry(b) | Sz(1), m(2), Jy(1);"


def test_interpreted_and_compiled_recursions_agree() -> None:
    flat = RecursiveSystem(parse(CHAIN)).flat
    q, v, a = np.random.default_rng(1).normal(size=(3, 2))
    gravity = flat.gravity(0.0)
    moved = entries.displacements(flat.tree, flat.linear, q, v, a, 0.0)
    for one, other in zip(moved, kinematics.displacements(flat.tree, flat.linear, q, v, a, 0.0), strict=True):
        np.testing.assert_array_equal(one, other)
    moving = entries.motion(flat.tree, moved, q, v, a)
    np.testing.assert_allclose(moving.step, kinematics.motion(flat.tree, moved, q, v, a).step, rtol=1e-15)
    inverse = entries.inverse(flat.tree, moving, gravity)
    np.testing.assert_allclose(inverse, recursion.inverse(flat.tree, moving, gravity), rtol=1e-13)
    energy = entries.energy(flat.tree, moving, gravity)
    np.testing.assert_allclose(energy, recursion.energy(flat.tree, moving, gravity), rtol=1e-13)
    joints = RecursiveSystem(parse(CHAIN)).forward.joints
    found, stuck = entries.forward(flat.tree, joints, moving, inverse, gravity)
    expected, also = articulated.forward(flat.tree, joints, moving, inverse, gravity)
    np.testing.assert_allclose(found, expected, atol=1e-14)
    assert stuck == also == -1


def test_wrong_arguments_are_refused() -> None:
    flat = RecursiveSystem(parse(CHAIN)).flat
    code = bitcode.compiled(entries.find_energy)
    moving = recursion.MotionArrays(np.zeros((3, 4)), flat.linear.slope, np.zeros(2), np.zeros(2), np.zeros(2))
    for result, message in (
        (np.zeros(4)[::2], "must be contiguous"),
        (np.zeros(2, dtype=np.float32), "of float64"),
        (np.zeros((1, 2)), "1 dimensions"),
        ([0.0, 0.0], "must be an array"),
    ):
        with pytest.raises(KernelError, match=message):
            code(flat.tree, moving, (0.0, 0.0, -9.81), result)


def test_a_function_without_bitcode_is_named() -> None:
    @loop
    def lost() -> None: ...

    with pytest.raises(KernelError, match=r"lost has no bitcode: run `make bitcode`"):
        bitcode.compiled(lost)


def test_arrays_at_addresses() -> None:
    numbers, whole, flags = np.arange(6.0), np.arange(4), np.array([True, False])
    np.testing.assert_array_equal(doubles_at(numbers.ctypes.data, (2, 3)), numbers.reshape(2, 3))
    np.testing.assert_array_equal(integers_at(whole.ctypes.data, (4,)), whole)
    np.testing.assert_array_equal(flags_at(flags.ctypes.data, (2,)), flags)
