"""How kernels are compiled: the choices a user has."""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.errors import KernelError


@dataclass(frozen=True)
class KernelOptions:
    """How a kernel is compiled.

    lanes: states a batch computes side by side, a power of two; None takes what is fastest on this processor.
    chunk: about how many operations one function of the generated code holds; None takes what runs fastest.
    cache: keep compiled code on disk.
    side_by_side: compute limbs of one shape (two arms, four legs) in the lanes of vectors where that is faster.
    threads: how many threads a batch uses; None takes all cores.
    """

    lanes: int | None = None
    chunk: int | None = None
    cache: bool = True
    threads: int | None = None
    side_by_side: bool = True

    def __post_init__(self) -> None:
        if self.lanes is not None and not (_is_whole(self.lanes) and self.lanes in (2, 4, 8, 16)):
            raise KernelError(f"lanes is {self.lanes!r}: give 2, 4, 8 or 16, or None for this processor's best")
        if self.chunk is not None and not (_is_whole(self.chunk) and self.chunk >= 10):
            raise KernelError(f"chunk is {self.chunk!r}: give at least 10 operations, or None for what runs fastest")
        if self.threads is not None and not (_is_whole(self.threads) and self.threads >= 1):
            raise KernelError(f"threads is {self.threads!r}: give at least 1, or None for all cores")
        for name in ("cache", "side_by_side"):
            if not isinstance(getattr(self, name), bool):
                raise KernelError(f"{name} is {getattr(self, name)!r}: give True or False")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def options_of(options: KernelOptions | None) -> KernelOptions:
    """The options given, or the usual ones."""
    if options is None:
        return KernelOptions()
    if not isinstance(options, KernelOptions):
        raise KernelError(f"options is {options!r:.80}: give KernelOptions, such as KernelOptions(threads=2)")
    return options
