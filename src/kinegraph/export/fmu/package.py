"""From a mechanism to an .fmu file: C sources, the compiled binary, and the ZIP archive."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from kinegraph.errors import KernelError
from kinegraph.export.fmu.description import (
    TOLERANCE,
    FmuVariables,
    Identity,
    build_description,
    model_description,
    safe_name,
    variables,
)
from kinegraph.export.fmu.equations import FmuEquations, equations, parts
from kinegraph.export.languages.c import c_files, comment_block
from kinegraph.export.languages.syntax import indented, number_lines, number_text
from kinegraph.export.options import ExportOptions, Fmi, FunctionLayout, Precision
from kinegraph.export.prepare import prepare_parts
from kinegraph.export.unit import MARK, Unit
from kinegraph.graph.node import Graph, Kind
from kinegraph.model.mechanism import Mechanism, QuaternionCoordinates
from kinegraph.solve.methods.tableau import DORMAND_PRINCE_5

# The C sources of an FMU: the equations, the header that connects them to the runtime, and the runtime itself.

#: The allowed deviation of a quaternion's length from 1 in Model Exchange before an event corrects it. Events are
#: expensive for integrators, and the equations tolerate it.
QUATERNION_SLACK = 1e-3

#: The allowed gap of loops. Rates and outputs are computed at closed loops, whatever the states.
CLOSING_SLACK = 1e-6

# No model gives its name to these files: names that end in an underscore are ours, see `identifiers`.
_HEADERS = ("fmu_instance_.h", "fmu_integrate_.h", "fmu_common_.h")
_MODEL = "fmu_model_.h"
_INTERFACES = {Fmi.TWO: "fmu_fmi2_.c", Fmi.THREE: "fmu_fmi3_.c"}


@dataclass(frozen=True)
class ModelFacts:
    """Data for the runtime: the token, the start values of all knowns, the first indices of quaternions in the
    state, and the states with a declared start value."""

    token: str
    start: Sequence[float]
    quaternions: Sequence[int]
    declared: Sequence[bool]


def source_files(unit: Unit, system: FmuEquations, facts: ModelFacts, fmi: Fmi) -> dict[str, str]:
    """The text of every file of the folder `sources`; those that end in .c are compiled."""
    runtime = files("kinegraph.export.fmu") / "c"
    texts = c_files(unit)
    texts[_MODEL] = _model_header(unit, system, facts)
    for name in (*_HEADERS, _INTERFACES[fmi]):
        texts[name] = f"/* {MARK} {unit.version}. */\n{(runtime / name).read_text('utf-8')}"
    return texts


def _model_header(unit: Unit, system: FmuEquations, facts: ModelFacts) -> str:
    lines = [
        *comment_block([f"{MARK} {unit.version}.", "What the runtime has to know of the model."]),
        "#ifndef KINEGRAPH_FMU_MODEL",
        "#define KINEGRAPH_FMU_MODEL",
        "",
        f'#include "{unit.name}.h"',
        "",
        f"#define MODEL(function) {unit.stem}_##function",
        f'#define FMU_TOKEN "{facts.token}"',
        f"#define FMU_STATES {len(system.states)}",
        f"#define FMU_INPUTS {len(system.inputs)}",
        f"#define FMU_PARAMETERS {len(system.parameters)}",
        f"#define FMU_OUTPUTS {len(system.outputs)}",
        f"#define FMU_QUATERNIONS {len(facts.quaternions)}",
        f"#define FMU_QUATERNION_SLACK {QUATERNION_SLACK!r}",
        f"#define FMU_ROWS {system.closing_rows}",
        f"#define FMU_START_ROWS {len(system.by_position)}",
        f"#define FMU_POSITIONS {sum(one.kind is Kind.COORDINATE for one in system.states)}",
        f"#define FMU_VELOCITIES {sum(one.kind is Kind.VELOCITY for one in system.states)}",
        f"#define FMU_CLOSING_SLACK {CLOSING_SLACK!r}",
        f"#define FMU_TOLERANCE {TOLERANCE!r}",
        "",
        "/* Time, states, inputs and parameters in the beginning. */",
        *_table(f"static const double START[{len(facts.start)}]", facts.start),
        "",
        "/* Where quaternions begin among the states. */",
        f"static const int QUATERNIONS[] = {{{', '.join(map(str, facts.quaternions)) or '0'}}};",
        "",
        *_start_tables(system, facts),
        *_method(),
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def _start_tables(system: FmuEquations, facts: ModelFacts) -> list[str]:
    """The tables to complete start values; empty without loops."""
    if not system.by_position:
        return []
    declared, by_position = (
        ", ".join(str(int(one)) for one in table) for table in (facts.declared, system.by_position)
    )  # fmt: skip
    return [
        "/* Which states start as the model declares, and which rows hold by position. */",
        f"static const int DECLARED[] = {{{declared}}};",
        f"static const int BY_POSITION[] = {{{by_position}}};",
        "",
    ]


def _method() -> list[str]:
    """The tableau of `simulate`, as C arrays."""
    method = DORMAND_PRINCE_5
    size = method.stages + 1
    (error,) = method.error_weights()
    lines = [f"/* {method.name}: the last stage is the end of the step. */"]
    lines += _table(f"static const double STAGE_TIMES[{size}]", method.nodes()[:size].tolist())
    lines.append(f"static const double STAGE_WEIGHTS[{size}][{size}] = {{")
    for row in method.matrix()[:size, :size].tolist():
        lines += ["    {", *indented(indented(number_lines(row, _number))), "    },"]
    return [*lines, "};", *_table(f"static const double ERROR_WEIGHTS[{size}]", error.tolist())]


def _table(declaration: str, values: Sequence[float]) -> list[str]:
    return [f"{declaration} = {{", *indented(number_lines(values, _number)), "};"]


_number = partial(number_text, infinity="INFINITY", nan="NAN")


# Compiling an FMU's sources for this machine, if it has a C compiler.

_COMPILERS = ("cc", "gcc", "clang")
_FLAGS = ("-std=c99", "-O2", "-shared", "-fvisibility=hidden")
_SYSTEMS = {"Linux": ("linux", ".so"), "Windows": ("windows", ".dll"), "Darwin": ("darwin", ".dylib")}
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64", "i386": "x86", "i686": "x86"}


def find_compiler() -> str | None:
    """The C compiler: $CC, otherwise the first of cc, gcc and clang that is installed."""
    wanted = (os.environ["CC"],) if os.environ.get("CC") else _COMPILERS
    return next((found for found in map(shutil.which, wanted) if found), None)


def binary_path(identifier: str, fmi: Fmi) -> str:
    """The path of this machine's binary inside the archive, as in FMI."""
    system, suffix = _SYSTEMS.get(platform.system(), (platform.system().lower(), ".so"))
    if fmi is Fmi.TWO:
        bits = 64 if sys.maxsize > 2**32 else 32
        return f"binaries/{'win' if system == 'windows' else system}{bits}/{identifier}{suffix}"
    machine = platform.machine().lower()
    return f"binaries/{_MACHINES.get(machine, machine)}-{system}/{identifier}{suffix}"


def compile_sources(compiler: str, texts: Mapping[str, str], identifier: str) -> bytes:
    """The shared library of C sources; CFLAGS are added to our flags."""
    with TemporaryDirectory() as folder:
        for name, text in texts.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        target = Path(folder) / f"{identifier}.bin"
        position = () if platform.system() == "Windows" else ("-fPIC",)
        units = [name for name in texts if name.endswith(".c")]
        given = shlex.split(os.environ.get("CFLAGS", ""))
        command = [compiler, *_FLAGS, *position, *given, *units, "-o", target.name, "-lm"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
        if done.returncode != 0:
            raise KernelError(
                f"{compiler} could not compile the FMU's sources: {done.stderr.strip()[:500]}\n"
                "  set CC to another compiler, or omit the binary (--no-binary)"
            )
        return target.read_bytes()


# One .fmu file: a ZIP archive, with the same bytes for the same contents.

_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest time in a ZIP archive


def archive(contents: Mapping[str, bytes], comment: str) -> bytes:
    """The archive. The comment at its end is plain text, so that an export recognizes its own files."""
    buffer = BytesIO()
    with ZipFile(buffer, "w") as file:
        file.comment = comment.encode()
        for name, content in contents.items():
            entry = ZipInfo(name, _TIME)
            entry.compress_type = ZIP_DEFLATED
            entry.external_attr = (0o755 if name.startswith("binaries/") else 0o644) << 16
            file.writestr(entry, content)
    return buffer.getvalue()


# From a mechanism to an FMU.


@dataclass(frozen=True)
class Fmu:
    """An FMU: its file, the functions in its C code, and notes for the user."""

    unit: Unit
    content: bytes
    notes: tuple[str, ...]


def make_fmu(source: Mechanism | Graph, options: ExportOptions) -> Fmu:
    """An FMU with sources, and with the binary of this machine if there is a C compiler."""
    if not isinstance(source, Mechanism):
        raise KernelError("a graph has no states to integrate: export its mechanism instead")
    if options.precision is Precision.FLOAT:
        raise KernelError("an FMU uses double precision: omit float")
    system = equations(source, options)
    unit = prepare_parts(source, parts(system), replace(options, layout=FunctionLayout.SEPARATE))
    known = variables(source, system, options)
    quaternions = _quaternions(source)
    token = _token(unit, known)
    texts = source_files(
        unit, system, ModelFacts(token, known.starts, quaternions, _declared(source, known)), options.fmi
    )
    identity = Identity(
        safe_name(source.name), unit.name, token, f"Kinegraph {unit.version}", _needs_projection(quaternions, system)
    )
    compiled = [name for name in texts if name.endswith(".c")]
    contents = {"modelDescription.xml": model_description(identity, known, compiled, options.fmi).encode()}
    contents |= {f"sources/{name}": text.encode() for name, text in texts.items()}
    if options.fmi is Fmi.THREE:
        contents["sources/buildDescription.xml"] = build_description(identity, compiled).encode()
    binary, notes = _binary(texts, identity.identifier, options)
    notes = (*notes, known.note) if known.note else notes
    return Fmu(unit, archive(contents | binary, f"{MARK} {unit.version}"), notes)


def _needs_projection(quaternions: list[int], system: FmuEquations) -> bool:
    """Whether states must be projected: quaternions to unit length, loops to closed ones."""
    return bool(quaternions) or system.closing is not None


def _token(unit: Unit, known: FmuVariables) -> str:
    """From the model's hash and the variables: with numbers for parameters, a model has fewer of them."""
    return sha256("\n".join([unit.digest, *(one.name for one in known.all)]).encode()).hexdigest()


def _binary(
    texts: Mapping[str, str], identifier: str, options: ExportOptions
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    if not options.binary:
        return {}, ()
    compiler = find_compiler()
    if compiler is None:
        note = "no C compiler (cc, gcc, clang) was found: the FMU contains only sources, for a host that compiles them"
        return {}, (note,)
    path = binary_path(identifier, options.fmi)
    return {path: compile_sources(compiler, texts, identifier)}, (f"{path} was compiled with {Path(compiler).name}",)


def _declared(mechanism: Mechanism, known: FmuVariables) -> list[bool]:
    """Which states start as the model declares."""
    return [name in known.independent for name in mechanism.layout.initial]


def _quaternions(mechanism: Mechanism) -> list[int]:
    """The first indices of the quaternions among the states."""
    places, place = [], 0
    for coordinate in mechanism.coordinates:
        if isinstance(coordinate, QuaternionCoordinates):
            places.append(place)
            place += 4
        else:
            place += 1
    return places
