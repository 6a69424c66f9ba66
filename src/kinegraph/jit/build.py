"""From a bound graph to loaded machine code, through the cache."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from kinegraph import codegen
from kinegraph.codegen import llvm
from kinegraph.codegen.llvm.emission import Emission
from kinegraph.codegen.program.binding import Bound
from kinegraph.graph import text
from kinegraph.jit import cache as disk
from kinegraph.jit.contents import digest
from kinegraph.jit.engine import LoadedCode, object_code
from kinegraph.jit.target import Target, versions
from kinegraph.version import __version__


@dataclass(frozen=True)
class BuildReport:
    """Seconds spent on one function: writing LLVM, compiling it, loading; `cached` if the code came from disk."""

    emit: float
    compile: float
    load: float
    cached: bool

    @property
    def seconds(self) -> float:
        """Seconds in all."""
        return self.emit + self.compile + self.load


@dataclass(frozen=True)
class Source:
    """Everything the code of a kernel depends on."""

    binding: Bound
    emission: Emission
    target: Target

    @cached_property
    def identity(self) -> str:
        """A digest of it all, for the cache."""
        binding = self.binding
        return digest(
            text.dump(binding.graph),
            binding.arguments,
            binding.parameters,
            self.emission,
            self.target,
            versions(),
            _emitter_version(),
        )

    def text(self, entry: str) -> str:
        """The LLVM assembly of the function `entry`."""
        return llvm.module_text(entry, self.binding, self.emission)

    def build(self, entry: str, use_cache: bool) -> tuple[LoadedCode, BuildReport]:
        """The loaded function `entry`, from the cache where possible."""
        started = time.perf_counter()
        name = f"{entry}-{self.identity}" if use_cache else ""
        code = disk.load(name) if use_cache else None
        cached = code is not None
        emitted = compiled = time.perf_counter()
        if code is None:
            written = self.text(entry)
            emitted = time.perf_counter()
            code = object_code(written, self.target)
            compiled = time.perf_counter()
            if use_cache:
                disk.save(name, code)
        loaded = LoadedCode(code, entry)
        done = time.perf_counter()
        return loaded, BuildReport(emitted - started, compiled - emitted, done - compiled, cached)


@cache
def _emitter_version() -> str:
    """The package's version and a digest of the code generators."""
    return f"kinegraph {__version__} {disk.sources_digest(Path(codegen.__file__).parent)}"
