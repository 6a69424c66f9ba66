"""The driver of exports: prepare, print in the language, write the files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.compiler.request import Quantities
from kinegraph.errors import KernelError
from kinegraph.export.fmu import make_fmu
from kinegraph.export.identifiers import prefix
from kinegraph.export.languages.c import c_files, cpp_files
from kinegraph.export.languages.fortran import fortran_files
from kinegraph.export.languages.javascript import javascript_files
from kinegraph.export.languages.julia import julia_files
from kinegraph.export.languages.latex import latex_files
from kinegraph.export.languages.matlab import matlab_files
from kinegraph.export.languages.python import python_files
from kinegraph.export.languages.rust import rust_files
from kinegraph.export.options import ExportOptions, Language, Precision
from kinegraph.export.prepare import prepare
from kinegraph.export.unit import MARK, Unit, kinegraph_version
from kinegraph.files import open_regular, written_to
from kinegraph.graph.count import Operations
from kinegraph.graph.node import Graph
from kinegraph.io.language.writer import write
from kinegraph.io.urdf.writer import write_urdf
from kinegraph.io.usd.writer import write_usd
from kinegraph.model.mechanism import Mechanism

# The mechanism in the model language.


def records_files(source: Mechanism | Graph, name: str | None) -> dict[str, str]:
    """One model file that is read back as the same mechanism."""
    if isinstance(source, Graph):
        raise KernelError("a graph has no records: export its mechanism instead")
    return {f"{prefix(name or source.name)}.kg": f"# {MARK} {kinegraph_version()}.\n{write(source)}"}


# The mechanism as URDF.


def urdf_files(source: Mechanism | Graph, options: ExportOptions) -> tuple[dict[str, str], tuple[str, ...]]:
    """One file and its notes; parameters become numbers."""
    if isinstance(source, Graph):
        raise KernelError("a graph has no links and joints: export its mechanism instead")
    urdf = write_urdf(source, options.parameters, f"{MARK} {kinegraph_version()}.")
    return {f"{prefix(options.name or source.name)}.urdf": urdf.text}, urdf.notes


# The mechanism as USD.


def usd_files(source: Mechanism | Graph, options: ExportOptions) -> tuple[dict[str, str], tuple[str, ...]]:
    """One file and its notes; parameters become numbers."""
    if isinstance(source, Graph):
        raise KernelError("a graph has no bodies and joints: export its mechanism instead")
    stage = write_usd(source, options.parameters)
    return {f"{prefix(options.name or source.name)}.usda": stage.text}, stage.notes


# The driver of exports.


@dataclass(frozen=True)
class FunctionReport:
    """One written function: its name in the code, what it computes, its cost."""

    name: str
    quantity: str
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    operations: Operations


@dataclass(frozen=True)
class ExportReport:
    """The result of an export; `digest` is the hash in the code, `notes` are for the user."""

    language: Language
    digest: str
    files: tuple[Path, ...]
    functions: tuple[FunctionReport, ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Files, and the functions with their arguments, results and operations."""
        return {
            "language": self.language.value,
            "sha256": self.digest,
            "files": [str(path) for path in self.files],
            "functions": [
                {
                    "name": one.name,
                    "quantity": one.quantity,
                    "arguments": list(one.arguments),
                    "results": list(one.results),
                    "operations": str(one.operations),
                }
                for one in self.functions
            ],
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Rendering:
    """The contents of every file, by its path below the directory of the export."""

    files: Mapping[str, str | bytes]
    digest: str = ""
    functions: tuple[FunctionReport, ...] = ()
    notes: tuple[str, ...] = ()


#: The languages printed from programs.
_PROGRAMS: dict[Language, Callable[[Unit], dict[str, str]]] = {
    Language.C: c_files,
    Language.CPP: cpp_files,
    Language.PYTHON: python_files,
    Language.MATLAB: matlab_files,
    Language.JULIA: julia_files,
    Language.RUST: rust_files,
    Language.JAVASCRIPT: javascript_files,
    Language.FORTRAN: fortran_files,
}
PROGRAM_LANGUAGES = tuple(_PROGRAMS)
_SINGLE = (Language.C, Language.RUST)


def export(
    model: MechanismSource | Graph,
    quantities: Quantities,
    language: Language | str,
    directory: str | Path,
    options: ExportOptions | None = None,
) -> ExportReport:
    """Write quantities as source code into a directory, which is created if needed.

    model: a Mechanism, a path, a library name, or a graph. language: c, cpp, python, matlab, julia, rust, ...
    directory: the folder; if a language has one file, the name of that file (`arm.fmu`).
    Files that an earlier export wrote are replaced; any other file in the way is a KernelError, and nothing is written.
    """
    chosen = language if isinstance(language, Language) else Language.parse(language)
    rendering = render(model, quantities, chosen, options)
    paths = write_files(rendering.files, directory)
    return ExportReport(chosen, rendering.digest, paths, rendering.functions, rendering.notes)


def write_files(files: Mapping[str, str | bytes], directory: str | Path, replace: bool = False) -> tuple[Path, ...]:
    """Write the files of an export; see `export` for `directory`. `replace` is for files without a mark."""
    paths = _paths(Path(directory), files)
    for path in () if replace else paths:
        _require_ours(path)
    for path, content in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_to(path):
            path.write_bytes(content.encode() if isinstance(content, str) else content)
    return tuple(paths)


def _paths(target: Path, files: Mapping[str, str | bytes]) -> dict[Path, str | bytes]:
    """The path of each file: below a directory, or the path itself if it has the extension of the only file."""
    if len(files) == 1:
        ((name, content),) = files.items()
        if target.suffix == Path(name).suffix and not target.is_dir():
            return {target: content}
    return {target / name: content for name, content in files.items()}


def render(
    source: MechanismSource | Graph, quantities: Quantities, language: Language, options: ExportOptions | None = None
) -> Rendering:
    """The files of an export; nothing is written."""
    source = source if isinstance(source, Graph) else mechanism_of(source)
    options = options or ExportOptions()
    if options.precision is Precision.FLOAT and language not in _SINGLE:
        raise KernelError(f"{language.value} does not support single precision: float is for c and rust")
    if language is Language.LATEX:
        return Rendering(latex_files(source, quantities, options))
    if language is Language.RECORDS:
        return Rendering(records_files(source, options.name))
    if language is Language.URDF:
        files, notes = urdf_files(source, options)
        return Rendering(files, notes=notes)
    if language is Language.USD:
        files, notes = usd_files(source, options)
        return Rendering(files, notes=notes)
    if language is Language.FMU:
        fmu = make_fmu(source, options)
        return Rendering({f"{fmu.unit.name}.fmu": fmu.content}, fmu.unit.digest, _functions(fmu.unit), fmu.notes)
    unit = prepare(source, quantities, options)
    return Rendering(files_of(unit, language), unit.digest, _functions(unit))


def files_of(unit: Unit, language: Language) -> dict[str, str]:
    """The files of a unit in a language that is printed from programs."""
    return _PROGRAMS[language](unit)


def _functions(unit: Unit) -> tuple[FunctionReport, ...]:
    return tuple(
        FunctionReport(
            routine.name,
            routine.title,
            tuple(f"{field.name}[{field.size}]" for field in routine.inputs),
            tuple(f"{field.name}[{', '.join(map(str, field.shape))}]" for field in routine.outputs),
            routine.operations,
        )
        for routine in unit.routines
    )


def _require_ours(path: Path) -> None:
    if path.exists() and not _is_ours(path):
        raise KernelError(f"{path} exists and was not written by an export: move it, or choose another directory")


def _is_ours(path: Path) -> bool:
    """Whether the head of the file says that an export wrote it."""
    try:
        with open_regular(path) as file:
            return MARK.encode() in file.read(_HEAD)
    except OSError:
        return False


_HEAD = 100_000  # bytes: the mark is in the first lines
