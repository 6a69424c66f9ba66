"""What can be chosen when code is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from kinegraph.errors import KernelError, one_of
from kinegraph.model.expressions import Scalar
from kinegraph.passes.effort import Effort


class Language(Enum):
    """What files are written in; the value is the word on the command line."""

    C = "c"
    CPP = "cpp"
    PYTHON = "python"
    MATLAB = "matlab"
    JULIA = "julia"
    RUST = "rust"
    FORTRAN = "fortran"
    LATEX = "latex"
    RECORDS = "records"
    URDF = "urdf"
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
            raise KernelError(f"{text!r} is no language code can be written in; known are {known}") from None


_OTHER_WORDS = {"c++": "cpp", "numpy": "python", "py": "python", "octave": "matlab", "m": "matlab", "jl": "julia"}
_OTHER_WORDS |= {"rs": "rust", "tex": "latex", "kg": "records", "c99": "c", "f90": "fortran", "f08": "fortran"}


class Precision(Enum):
    """What a number is in languages that must say so (C and Rust)."""

    DOUBLE = "double"
    FLOAT = "float"


class Sines(Enum):
    """Where sine and cosine come from in C and Rust: written into the file, or called from the language's library."""

    OWN = "own"
    LIBRARY = "library"


class Fmi(Enum):
    """The version of the standard an FMU follows."""

    TWO = "2"
    THREE = "3"


class FunctionLayout(Enum):
    """One function for every quantity, or one for all, which computes what they share once."""

    SEPARATE = "separate"
    COMBINED = "combined"


#: The options that are one of a few words, which may be given as such.
_WORDS: dict[str, type[Enum]] = {
    "precision": Precision, "sines": Sines, "layout": FunctionLayout, "effort": Effort, "fmi": Fmi
}  # fmt: skip


@dataclass(frozen=True)
class ExportOptions:
    """How code is written.

    name: what files and functions are called after; None takes the model's name.
    symbolic_parameters: parameters are an argument `p` of every function instead of numbers in the code; None takes
        what is usual, numbers in code and symbols on paper (LaTeX, SymPy); those of an FMU are its parameters.
    parameters: values of parameters that replace the model's.
    passes: what is run in place of the effort's own passes, as in 'products, monomials(degree=4)'.
    chunk: about how many operations one function of the generated code holds; longer code is split.
    self_test: states and results computed by the interpreter are written into the code, with a function to check them.
    fmi, binary: the version of an FMU, and whether it is compiled for this machine where there is a C compiler.
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
            raise KernelError(f"chunk is {self.chunk!r}: give at least 10 operations, 300 to 2000 are sensible")
        if self.name is not None and not self.name.strip():
            raise KernelError("the name is empty: give a name for files and functions, or None for the model's")
