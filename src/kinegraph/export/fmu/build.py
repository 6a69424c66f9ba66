"""The way from a mechanism to an FMU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from kinegraph.errors import KernelError
from kinegraph.export.fmu.archive import archive
from kinegraph.export.fmu.binary import binary_path, compile_sources, find_compiler
from kinegraph.export.fmu.description import Identity, build_description, model_description
from kinegraph.export.fmu.equations import FmuEquations, equations, parts
from kinegraph.export.fmu.sources import Facts, source_files
from kinegraph.export.fmu.variables import Variables, safe_name, variables
from kinegraph.export.options import ExportOptions, Fmi, FunctionLayout, Precision
from kinegraph.export.prepare import prepare_parts
from kinegraph.export.text import MARK
from kinegraph.export.unit import Unit
from kinegraph.graph.node import Graph
from kinegraph.model.mechanism import Mechanism, QuaternionCoordinates


@dataclass(frozen=True)
class Fmu:
    """An FMU: its file, the functions in its C code, and what a user should know."""

    unit: Unit
    content: bytes
    notes: tuple[str, ...]


def make_fmu(source: Mechanism | Graph, options: ExportOptions) -> Fmu:
    """An FMU with sources, and with the binary of this machine if there is a C compiler."""
    if not isinstance(source, Mechanism):
        raise KernelError("a graph has no states to integrate: export the mechanism it came from")
    if options.precision is Precision.FLOAT:
        raise KernelError("FMI computes in double precision: leave out float")
    system = equations(source, options)
    unit = prepare_parts(source, parts(system), replace(options, layout=FunctionLayout.SEPARATE))
    known = variables(source, system, options)
    quaternions = _quaternions(source)
    token = _token(unit, known)
    texts = source_files(unit, system, Facts(token, known.starts, quaternions, _declared(source, known)), options.fmi)
    identity = Identity(
        safe_name(source.name), unit.name, token, f"Kinegraph {unit.version}", _settles(quaternions, system)
    )
    compiled = [name for name in texts if name.endswith(".c")]
    contents = {"modelDescription.xml": model_description(identity, known, compiled, options.fmi).encode()}
    contents |= {f"sources/{name}": text.encode() for name, text in texts.items()}
    if options.fmi is Fmi.THREE:
        contents["sources/buildDescription.xml"] = build_description(identity, compiled).encode()
    binary, notes = _binary(texts, identity.identifier, options)
    notes = (*notes, known.note) if known.note else notes
    return Fmu(unit, archive(contents | binary, f"{MARK} {unit.version}"), notes)


def _settles(quaternions: list[int], system: FmuEquations) -> bool:
    """Whether states have to be brought back: quaternions to unit length, loops to their closing."""
    return bool(quaternions) or system.closing is not None


def _token(unit: Unit, known: Variables) -> str:
    """From the model's hash and the variables: with numbers for parameters, a model has fewer of them."""
    return sha256("\n".join([unit.digest, *(one.name for one in known.all)]).encode()).hexdigest()


def _binary(
    texts: Mapping[str, str], identifier: str, options: ExportOptions
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    if not options.binary:
        return {}, ()
    compiler = find_compiler()
    if compiler is None:
        note = "no C compiler (cc, gcc, clang) was found: the FMU holds sources only, for a host that compiles them"
        return {}, (note,)
    path = binary_path(identifier, options.fmi)
    return {path: compile_sources(compiler, texts, identifier)}, (f"{path} was compiled with {Path(compiler).name}",)


def _declared(mechanism: Mechanism, known: Variables) -> list[bool]:
    """Which states start as the model declares."""
    layout = mechanism.layout
    return [name in known.independent for name in (*layout.positions, *layout.velocities)]


def _quaternions(mechanism: Mechanism) -> list[int]:
    """Where among the states the quaternions begin."""
    places, place = [], 0
    for coordinate in mechanism.coordinates:
        if isinstance(coordinate, QuaternionCoordinates):
            places.append(place)
            place += 4
        else:
            place += 1
    return places
