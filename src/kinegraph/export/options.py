"""Options of an export."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from kinegraph.errors import KernelError, one_of
from kinegraph.model.expressions import Scalar
from kinegraph.passes.effort import Effort


class Language(Enum):
    """The language of the files; the value is the name on the command line."""

    C = "c"
    CPP = "cpp"
    PYTHON = "python"
    MATLAB = "matlab"
    JULIA = "julia"
    RUST = "rust"
    JAVASCRIPT = "javascript"
    FORTRAN = "fortran"
    LATEX = "latex"
    RECORDS = "records"
    URDF = "urdf"
    USD = "usd"
    FMU = "fmu"

    @classmethod
    def parse(cls, text: object) -> Language:
        """The language of this name; some have several."""
        word = str(text).strip().lower()
        word = _OTHER_WORDS.get(word, word)
        try:
            return cls(word)
        except ValueError:
            known = ", ".join(language.value for language in cls)
            raise KernelError(f"unknown language {text!r}; choose from {known}") from None


_OTHER_WORDS = {"c++": "cpp", "numpy": "python", "py": "python", "octave": "matlab", "m": "matlab", "jl": "julia"}
_OTHER_WORDS |= {"js": "javascript", "mjs": "javascript"}
_OTHER_WORDS |= {"rs": "rust", "tex": "latex", "kg": "records", "c99": "c", "f90": "fortran", "f08": "fortran"}


class Precision(Enum):
    """The type of numbers in languages that must declare it (C and Rust)."""

    DOUBLE = "double"
    FLOAT = "float"


class Sines(Enum):
    """The origin of sine and cosine in C and Rust: written into the file, or called from the language's library."""

    OWN = "own"
    LIBRARY = "library"


class Fmi(Enum):
    """The version of the standard for an FMU."""

    TWO = "2"
    THREE = "3"


class FunctionLayout(Enum):
    """One function per quantity, or one for all, which computes shared terms once."""

    SEPARATE = "separate"
    COMBINED = "combined"


#: The options with a few values, which may be given by name.
_WORDS: dict[str, type[Enum]] = {
    "precision": Precision, "sines": Sines, "layout": FunctionLayout, "effort": Effort, "fmi": Fmi
}  # fmt: skip


@dataclass(frozen=True)
class ExportOptions:
    """How code is written.

    name: the name of files and functions; None uses the model's name.
    symbolic_parameters: parameters are an argument `p` of every function instead of numbers in the code; None is the
        usual choice, numbers in code and symbols on paper (LaTeX, SymPy); those of an FMU are its parameters.
    parameters: values that replace the model's.
    passes: passes that replace those of the effort, as in 'products, monomials(degree=4)'.
    chunk: the approximate number of operations of one generated function; longer code is split.
    self_test: write states and results computed by the interpreter into the code, with a function to check them.
    fmi, binary: the version of an FMU, and whether it is compiled for this machine if there is a C compiler.
    """

    name: str | None = None
    precision: Precision = Precision.DOUBLE
    sines: Sines = Sines.OWN
    layout: FunctionLayout = FunctionLayout.SEPARATE
    symbolic_parameters: bool | None = None
    parameters: Mapping[str, Scalar] = field(default_factory=dict, hash=False)
    effort: Effort = Effort.QUICK
    passes: str = ""
    chunk: int = 1000
    self_test: bool = True
    fmi: Fmi = Fmi.THREE
    binary: bool = True

    def __post_init__(self) -> None:
        for name, kind in _WORDS.items():
            object.__setattr__(self, name, one_of(kind, getattr(self, name), name, KernelError))
        if self.chunk < 10:
            raise KernelError(f"chunk is {self.chunk!r}: give at least 10 operations; 300 to 2000 are reasonable")
        if self.name is not None and not self.name.strip():
            raise KernelError("the name is empty: give a name for files and functions, or None for the model's")
