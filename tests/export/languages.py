"""Running generated code: every language's files behind one interface, `call(routine, inputs) -> results`."""

from __future__ import annotations

import ctypes
import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from kinegraph.export import Language, Precision
from kinegraph.export.unit import Field, Routine, Unit
from kinegraph.export.write import files_of
from tests.programs import require, shell

Arrays = Sequence[np.ndarray]

#: The programs each language needs; rustc links with the C compiler.
_NEEDED = {
    Language.C: ("gcc",),
    Language.CPP: ("g++",),
    Language.RUST: ("rustc", "cc"),
    Language.MATLAB: ("octave-cli",),
    Language.JULIA: ("julia",),
    Language.FORTRAN: ("gfortran",),
    Language.JAVASCRIPT: ("node",),
}


class Code(ABC):
    """Generated code that can be called."""

    def __init__(self, unit: Unit, folder: Path) -> None:
        self.unit = unit
        self.folder = folder

    @abstractmethod
    def selftest(self) -> int: ...

    @abstractmethod
    def call(self, routine: Routine, inputs: Arrays) -> list[np.ndarray]: ...


def build(unit: Unit, language: Language, folder: Path, files: Mapping[str, str] | None = None) -> Code:
    """Write, compile and load; the test is skipped where the language is not installed.

    `files` are those of somebody else who says that they can be called in the same way.
    """
    require(*_NEEDED.get(language, ()))
    for name, text in (files or files_of(unit, language)).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return _CODES[language](unit, folder)


class _Shared(Code):
    """Code in a shared library with C functions `call_0`, `call_1`, ... and `call_selftest`."""

    def __init__(self, unit: Unit, folder: Path) -> None:
        super().__init__(unit, folder)
        self.compile()
        self.library = ctypes.CDLL(str(folder / "code.so"))
        self.dtype = np.float32 if unit.options.precision is Precision.FLOAT else np.float64

    @abstractmethod
    def compile(self) -> None: ...

    def selftest(self) -> int:
        return int(self.library.call_selftest())

    def call(self, routine: Routine, inputs: Arrays) -> list[np.ndarray]:
        number = self.unit.routines.index(routine)
        taken = [np.ascontiguousarray(one, dtype=self.dtype) for one in inputs]
        # One number more on either side: whoever writes beyond an array is found out.
        results = [np.full(field.size + 2, 99.0, dtype=self.dtype) for field in routine.outputs]
        size = np.dtype(self.dtype).itemsize
        addresses = [one.ctypes.data for one in taken] + [one.ctypes.data + size for one in results]
        getattr(self.library, f"call_{number}")(*map(ctypes.c_void_p, addresses))
        assert all(one[0] == one[-1] == 99.0 for one in results)
        return [one[1:-1].reshape(field.shape) for one, field in zip(results, routine.outputs, strict=True)]


def c_bridge(unit: Unit, kind: str, prefix: str, selftest: str, linkage: str) -> str:
    """Functions with plain names, so that names of a model need not be known to the loader."""
    lines = []
    for number, routine in enumerate(unit.routines):
        names = [f"x{k}" for k in range(len(routine.fields))]
        kinds = [f"const {kind} *"] * len(routine.inputs) + [f"{kind} *"] * len(routine.outputs)
        declared = ", ".join(a + b for a, b in zip(kinds, names, strict=True)) or "void"
        lines.append(f"{linkage}void call_{number}({declared});")
        lines.append(f"{linkage}void call_{number}({declared}) {{ {prefix}{routine.name}({', '.join(names)}); }}")
    if unit.options.self_test:
        lines.append(f"{linkage}int call_selftest(void);\n{linkage}int call_selftest(void) {{ return {selftest}(); }}")
    return "\n".join(lines) + "\n"


class _C(_Shared):
    flags = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wdouble-promotion", "-Wstrict-prototypes")

    def compile(self) -> None:
        name, kind = self.unit.name, self.unit.options.precision.value
        bridge = c_bridge(self.unit, kind, f"{self.unit.stem}_", f"{self.unit.stem}_selftest", "")
        (self.folder / "bridge.c").write_text(f'#include "{name}.h"\n{bridge}')
        command = ["gcc", *self.flags, "-O1", "-fPIC", "-shared", f"{name}.c", "bridge.c", "-o", "code.so", "-lm"]
        shell(*command, folder=self.folder)


class _Cpp(_Shared):
    def compile(self) -> None:
        space = f"kinegraph::{self.unit.name}"
        bridge = c_bridge(self.unit, "double", f"{space}::", f"{space}::selftest", 'extern "C" ')
        (self.folder / "bridge.cpp").write_text(f'#include "{self.unit.name}.hpp"\n{bridge}')
        flags = ("-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-fPIC", "-shared")
        shell("g++", *flags, "bridge.cpp", "-o", "code.so", folder=self.folder)


class _Rust(_Shared):
    def compile(self) -> None:
        name = self.unit.name
        kind = "f32" if self.unit.options.precision is Precision.FLOAT else "f64"
        flags = ("--edition", "2021", "-D", "warnings", "-C", "opt-level=1", "-C", "panic=abort")
        shell("rustc", *flags, "--crate-type", "rlib", "--crate-name", name, "src/lib.rs", folder=self.folder)
        (self.folder / "bridge.rs").write_text("\n".join(self._bridge(name, kind)))
        link = ("--extern", f"{name}=lib{name}.rlib", "--crate-type", "cdylib", "-o", "code.so")
        shell("rustc", *flags, *link, "bridge.rs", folder=self.folder)

    def _bridge(self, name: str, kind: str) -> list[str]:
        lines = []
        for number, routine in enumerate(self.unit.routines):
            declared = [f"x{k}: *const {kind}" for k in range(len(routine.inputs))]
            declared += [f"y{k}: *mut {kind}" for k in range(len(routine.outputs))]
            taken = [f"&*(x{k} as *const [{kind}; {field.size}])" for k, field in enumerate(routine.inputs)]
            taken += [f"&mut *(y{k} as *mut {_nested(kind, field)})" for k, field in enumerate(routine.outputs)]
            head = f'pub unsafe extern "C" fn call_{number}({", ".join(declared)})'
            lines += ["#[no_mangle]", f"{head} {{ {name}::{routine.name}({', '.join(taken)}) }}"]
        return [*lines, "#[no_mangle]", f'pub extern "C" fn call_selftest() -> i32 {{ {name}::selftest() }}']


def _nested(kind: str, field: Field) -> str:
    for size in reversed(field.shape or (1,)):
        kind = f"[{kind}; {size}]"
    return kind


class _Fortran(_Shared):
    flags = (
        "-std=f2008",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-unused-dummy-argument",
        "-Wno-compare-reals",
        "-Wno-c-binding-type",
    )

    def compile(self) -> None:
        (self.folder / "bridge.f90").write_text("\n".join(self._bridge()))
        flags = (*self.flags, "-O1", "-fPIC")
        shell("gfortran", *flags, "-c", f"{self.unit.name}.f90", "-o", "code.o", folder=self.folder)
        long_lines = ("-ffree-line-length-none", "-shared")  # of the bridge alone
        shell("gfortran", *flags, *long_lines, "code.o", "bridge.f90", "-o", "code.so", folder=self.folder)

    def _bridge(self) -> list[str]:
        """Fortran keeps arrays column after column, the tests row after row."""
        stem, lines = self.unit.stem, []
        for number, routine in enumerate(self.unit.routines):
            taken = [f"x{k}" for k in range(len(routine.inputs))]
            given = [f"y{k}" for k in range(len(routine.outputs))]
            lines += [f'subroutine call_{number}({", ".join([*taken, *given])}) bind(C, name="call_{number}")']
            lines += [f"use {stem}_module, only: {stem}_{routine.name}", "implicit none"]
            lines += [f"real(8), intent(in) :: x{k}({one.size})" for k, one in enumerate(routine.inputs)]
            lines += [f"real(8), intent(out) :: y{k}({one.size})" for k, one in enumerate(routine.outputs)]
            shapes = [", ".join(map(str, one.shape or (1,))) for one in routine.outputs]
            lines += [f"real(8) :: z{k}({shape})" for k, shape in enumerate(shapes)]
            found = [f"z{k}" if one.shape else f"z{k}(1)" for k, one in enumerate(routine.outputs)]
            lines.append(f"call {stem}_{routine.name}({', '.join([*taken, *found])})")
            for k, one in enumerate(routine.outputs):
                sizes, order = list(reversed(one.shape or (1,))), list(range(len(one.shape or (1,)), 0, -1))
                lines.append(f"y{k} = reshape(reshape(z{k}, {sizes}, order={order}), [{one.size}])")
            lines.append(f"end subroutine call_{number}")
        lines += ['integer(4) function call_selftest() bind(C, name="call_selftest")']
        lines += [f"use {stem}_module, only: {stem}_selftest", f"call_selftest = {stem}_selftest()", "end function"]
        return [*lines, ""]


class _Python(Code):
    def __init__(self, unit: Unit, folder: Path) -> None:
        super().__init__(unit, folder)
        spec = importlib.util.spec_from_file_location("generated", folder / f"{unit.name}.py")
        assert spec and spec.loader
        self.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)

    def selftest(self) -> int:
        return int(self.module.selftest())

    def call(self, routine: Routine, inputs: Arrays) -> list[np.ndarray]:
        found = getattr(self.module, routine.name)(*inputs)
        return list(found) if isinstance(found, tuple) else [found]


class _Script(Code):
    """Languages whose interpreter is started anew for every call."""

    def selftest(self) -> int:
        return int(float(self.run([self.selftest_text()])[-1]))

    def call(self, routine: Routine, inputs: Arrays) -> list[np.ndarray]:
        lines = self.run(self.call_text(routine, inputs))
        values = np.array([float(line) for line in lines if line.strip()])
        ends = np.cumsum([field.size for field in routine.outputs])[:-1]
        parts = np.split(values, ends)
        return [part.reshape(field.shape) for part, field in zip(parts, routine.outputs, strict=True)]

    @abstractmethod
    def run(self, statements: Sequence[str]) -> list[str]: ...

    @abstractmethod
    def selftest_text(self) -> str: ...

    @abstractmethod
    def call_text(self, routine: Routine, inputs: Arrays) -> list[str]: ...


class _Octave(_Script):
    def run(self, statements: Sequence[str]) -> list[str]:
        (self.folder / "run_statements.m").write_text("1;\n" + "\n".join(statements) + "\n")
        command = ("octave-cli", "--no-init-file", "--no-window-system", "-q", "run_statements.m")
        return shell(*command, folder=self.folder).splitlines()

    def selftest_text(self) -> str:
        return f"printf('%d\\n', {self.unit.stem}_selftest());"

    def call_text(self, routine: Routine, inputs: Arrays) -> list[str]:
        names = [f"y{k}" for k in range(len(routine.outputs))]
        vectors = ", ".join("[" + "; ".join(repr(float(x)) for x in one) + "]" for one in inputs)
        lines = [f"[{', '.join(names)}] = {self.unit.stem}_{routine.name}({vectors});"]
        for name, field in zip(names, routine.outputs, strict=True):
            order = f"permute({name}, ndims({name}):-1:1)" if len(field.shape) > 1 else name
            lines.append(f"printf('%.17g\\n', {order});")
        return lines


class _Julia(_Script):
    def run(self, statements: Sequence[str]) -> list[str]:
        text = [f'include("{self.unit.name}.jl")', *statements]
        (self.folder / "run_statements.jl").write_text("\n".join(text) + "\n")
        return shell("julia", "--startup-file=no", "run_statements.jl", folder=self.folder).splitlines()

    def selftest_text(self) -> str:
        return f"println({self.unit.name}.selftest())"

    def call_text(self, routine: Routine, inputs: Arrays) -> list[str]:
        vectors = ", ".join("[" + ", ".join(repr(float(x)) for x in one) + "]" for one in inputs)
        lines = [f"found = {self.unit.name}.{routine.name}({vectors})"]
        if len(routine.outputs) == 1:
            lines.append("found = (found,)")
        return [*lines, "for y in found, x in permutedims(y, ndims(y):-1:1); println(x); end"]


class _JavaScript(_Script):
    def run(self, statements: Sequence[str]) -> list[str]:
        text = [f'import * as code from "./{self.unit.name}.mjs";', *statements]
        (self.folder / "run_statements.mjs").write_text("\n".join(text) + "\n")
        return shell("node", "run_statements.mjs", folder=self.folder).splitlines()

    def selftest_text(self) -> str:
        return "console.log(code.selftest());"

    def call_text(self, routine: Routine, inputs: Arrays) -> list[str]:
        numbers = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
        texts = ([repr(float(x)) for x in one] for one in inputs)
        vectors = ", ".join("[" + ", ".join(numbers.get(text, text) for text in one) + "]" for one in texts)
        call = f"code.{routine.name}({vectors})"
        found = f"[{call}]" if len(routine.outputs) == 1 else call
        return [f"for (const one of {found}) for (const x of one) console.log(x);"]


_CODES: dict[Language, Callable[[Unit, Path], Code]] = {
    Language.C: _C,
    Language.CPP: _Cpp,
    Language.RUST: _Rust,
    Language.PYTHON: _Python,
    Language.MATLAB: _Octave,
    Language.JULIA: _Julia,
    Language.FORTRAN: _Fortran,
    Language.JAVASCRIPT: _JavaScript,
}
