"""The processor code is made for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import llvmlite
from llvmlite import binding as llvm


@dataclass(frozen=True)
class Target:
    """A processor as LLVM names it."""

    triple: str
    cpu: str
    features: str

    @property
    def fused(self) -> bool:
        """Has it a fused multiply-add? All but older x86 processors have."""
        if not self.triple.startswith(("x86", "i386", "i486", "i586", "i686", "amd64")):
            return True
        return "+fma," in f"{self.features},"

    @property
    def lanes(self) -> int:
        """The number of lanes that is fastest for batches."""
        return 8 if "+avx512f," in f"{self.features}," else 4

    def machine(self) -> llvm.TargetMachine:
        """A new LLVM target machine."""
        initialize()
        target = llvm.Target.from_triple(self.triple)
        # Position independent and small: literals are read relative to the code, in one instruction.
        return target.create_target_machine(
            cpu=self.cpu, features=self.features, opt=3, reloc="pic", codemodel="small", jit=True
        )


@cache
def host() -> Target:
    """This machine."""
    initialize()
    features = llvm.get_host_cpu_features()
    return Target(llvm.get_process_triple(), llvm.get_host_cpu_name(), features.flatten() if features else "")


@cache
def initialize() -> None:
    """Prepare LLVM for this machine, once."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def versions() -> str:
    """What makes the code, for cache keys."""
    return f"llvmlite {llvmlite.__version__}, LLVM {'.'.join(map(str, llvm.llvm_version_info))}"
