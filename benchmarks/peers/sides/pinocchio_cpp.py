"""Pinocchio's C++ templates, compiled on this machine against the `pin` wheel."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np

from benchmarks.peers.robots import RobotCase
from benchmarks.peers.sides.build import Unavailable, cpp_compiler, pinocchio_options, shared_library, work_folder
from benchmarks.peers.sides.peer import (
    THREADS,
    Loop,
    Peer,
    Sweep,
    in_threads,
    require_power_of_two,
    third_argument,
)
from benchmarks.peers.states import Array, State
from kinegraph.extras import Foreign

#: Some algorithms come in two variants, and wide registers do not always help: the faster of all is reported.
_VARIANTS = {"H": ("H", "H local"), "qdd": ("qdd", "qdd local")}
_BUILDS = {"native": ("-O3", "-march=native"), "plain": ("-O3",)}


@dataclass(frozen=True)
class PinocchioModel:
    """A robot as Pinocchio reads it, and the archive the compiled code loads."""

    model: Foreign
    archive: Path
    archive_as_read: Path
    floating: bool

    @property
    def joint_names(self) -> list[str]:
        """Joints in the order of Pinocchio's velocities, the floating base left out."""
        names = list(self.model.names)[1:]
        return names[1:] if self.floating else names


def read(case: RobotCase, path: Path) -> PinocchioModel:
    """Read the prepared file.

    `archive` has rounding dust swept from placements, so that symbolic peers see clean zeros and ones.
    """
    import pinocchio as pin

    root = (pin.JointModelFreeFlyer(),) if case.floating else ()
    model = pin.buildModelFromUrdf(str(path), *root)
    archive, as_read = work_folder() / f"{path.stem}.txt", work_folder() / f"{path.stem}_as_read.txt"
    model.saveToText(str(as_read))
    for placement in model.jointPlacements:
        placement.rotation = _swept(placement.rotation)
    model.saveToText(str(archive))
    return PinocchioModel(model, archive, as_read, case.floating)


def _swept(matrix: Array) -> Array:
    nearest = np.round(matrix)
    return np.where(np.abs(matrix - nearest) < 1e-15, nearest, matrix)


@cache
def _library(build: str) -> ctypes.CDLL:
    library = shared_library("pinocchio_peer.cpp", cpp_compiler(), (*_BUILDS[build], *pinocchio_options()))
    pointer, long = ctypes.c_void_p, ctypes.c_long
    library.peer_open.argtypes = [ctypes.c_char_p]
    library.peer_open.restype = pointer
    library.peer_result.argtypes = [pointer, ctypes.c_char_p, pointer, pointer]
    library.peer_result.restype = None
    library.peer_loop.argtypes = [pointer, ctypes.c_char_p, pointer, long, long, long, ctypes.c_ulong]
    library.peer_loop.restype = ctypes.c_double
    return library


class PinocchioCpp(Peer):
    """Pinocchio in compiled loops; results are read in place, so copying them out is not charged."""

    name = "Pinocchio"

    def __init__(self, robot: PinocchioModel, builds: Sequence[str] = tuple(_BUILDS)) -> None:
        self.robot = robot
        self.builds = tuple(builds)
        self._handles = {build: [self._handle_of(build) for _ in range(THREADS)] for build in self.builds}
        self._fastest: dict[str, tuple[str, str]] = {}

    def _handle_of(self, build: str) -> int:
        handle = _library(build).peer_open(str(self.robot.archive).encode())
        if not handle:
            raise Unavailable(f"the compiled Pinocchio cannot read {self.robot.archive}")
        return int(handle)

    def offers(self, quantity: str) -> bool:
        return True

    def rows(self, quantity: str, states: Sequence[State]) -> Array:
        """The arguments of a quantity, a row for each state."""
        return np.array([np.concatenate([one.q, one.v, third_argument(quantity, one)]) for one in states])

    def value(self, quantity: str, state: State) -> Array:
        n = self.robot.model.nv
        sizes = {"tau": n, "qdd": n, "H": n * n, "coriolis": n * n}
        result = np.zeros(sizes.get(quantity, 3 * n * n))
        row = self.rows(quantity, [state])
        library, handle = _library(self.builds[0]), self._handles[self.builds[0]][0]
        # The last variant, with local axes, is the default of Pinocchio and the more accurate one.
        variant = _VARIANTS.get(quantity, (quantity,))[-1]
        library.peer_result(handle, variant.encode(), row.ctypes.data, result.ctypes.data)
        return result

    def loop(self, quantity: str, states: Sequence[State]) -> Loop:
        rows = self.rows(quantity, states)
        require_power_of_two(len(rows))
        loops = {
            (build, variant): self._variant_loop(build, variant, rows)
            for build in self.builds
            for variant in _VARIANTS.get(quantity, (quantity,))
        }
        for one in loops.values():
            one(50, 0)
        self._fastest[quantity] = min(loops, key=lambda key: min(loops[key](100, seed) for seed in range(15)))
        return loops[self._fastest[quantity]]

    def _variant_loop(self, build: str, variant: str, rows: Array) -> Loop:
        library, handle, word = _library(build), self._handles[build][0], variant.encode()
        width, mask = rows.shape[1], len(rows) - 1
        return lambda calls, seed: float(
            library.peer_loop(handle, word, rows.ctypes.data, width, mask, calls, seed)
        )  # fmt: skip

    def sweep(self, quantity: str, states: Sequence[State]) -> Sweep:
        rows = self.rows(quantity, states)
        build, variant = self._fastest.get(quantity, (self.builds[0], quantity))
        library, word, share = _library(build), variant.encode(), len(rows) // THREADS

        def half(handle: int, seed: int, times: int) -> object:
            calls = share * times
            return library.peer_loop(handle, word, rows.ctypes.data, rows.shape[1], len(rows) - 1, calls, seed)

        return in_threads([partial(half, handle, seed) for seed, handle in enumerate(self._handles[build])])

    def remark(self, quantity: str) -> str:
        build, variant = self._fastest.get(quantity, ("", ""))
        return f"{build} build, {variant}" if build else ""
