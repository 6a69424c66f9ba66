"""Inertias at run time: kernels with all inertial numbers as run-time parameters beside kernels with constants.

`python -m benchmarks runtime-parameters [FILE ...]` takes robot files, by default arms and robots of the library and,
if it is installed, of example-robot-data. Each kernel runs in short bursts in turn with its partner, so only the ratio
means something. A batch has one row of parameters for every state, or one row that all states share.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

import kinegraph as kg
from kinegraph.codegen.kernel import Kernel
from kinegraph.model.changes import with_inertial_parameters
from kinegraph.model.evaluate import parameter_values

LIBRARY = ("puma560", "rackovic-14r")
FILES = ("panda_description/urdf/panda.urdf", "talos_data/robots/talos_reduced.urdf")
STATES = 4096
_BURSTS, _BURST = 15, 0.02


@dataclass(frozen=True)
class Row:
    """One quantity of a robot: parameters, nanoseconds with constants and with parameters, of calls and of batches.

    shared: of a batch whose states share the parameters, times the ratio of the two runs with constants.
    """

    robot: str
    quantity: str
    parameters: int
    call_constant: float
    call: float
    batch_constant: float
    batch: float
    shared: float
    difference: float


def in_turn(first: Callable[[], object], second: Callable[[], object]) -> tuple[float, float]:
    """The least seconds of a call of each, in short bursts in turn."""
    best = [np.inf, np.inf]
    for _ in range(_BURSTS):
        for place, function in enumerate((first, second)):
            count, begun = 0, perf_counter()
            while (spent := perf_counter() - begun) < _BURST:
                function()
                count += 1
            best[place] = min(best[place], spent / max(count, 1))
    return best[0], best[1]


def arguments(kernel: Kernel, given: dict[str, NDArray[np.float64]]) -> list[NDArray[np.float64]]:
    """The arguments of a kernel, in its order."""
    return [given[one.name] for one in kernel.arguments]


def measured(name: str, mechanism: kg.Mechanism, quantity: str) -> Row:
    """Times of one quantity, and the largest relative difference of its values."""
    free = with_inertial_parameters(mechanism)
    runtime = [one.name for one in free.parameters if one not in mechanism.parameters]
    kernels = kg.compile(mechanism, quantity), kg.compile(free, quantity, runtime=runtime)
    draw = np.random.default_rng(1)
    sizes = {"q": len(mechanism.layout.positions), "v": len(mechanism.layout.velocities)}
    rows = {word: draw.normal(size=(STATES, size)) for word, size in sizes.items()}
    for start in mechanism.layout.quaternions:
        part = rows["q"][:, start : start + 4]
        part /= np.linalg.norm(part, axis=1)[:, None]
    rows |= {word: draw.normal(size=(STATES, sizes["v"])) for word in ("a", "tau")}
    numbers = parameter_values(free)
    values = np.array([float(numbers[one]) for one in runtime])
    rows["p"] = np.tile(values, (STATES, 1))
    one = {word: np.ascontiguousarray(array[0]) for word, array in rows.items()}
    many = [arguments(kernel, rows) for kernel in kernels]
    single = [arguments(kernel, one) for kernel in kernels]
    outs = [kernel.batch(*given) for kernel, given in zip(kernels, many, strict=True)]
    difference = float(np.abs(outs[0] - outs[1]).max() / np.abs(outs[0]).max())
    calls = in_turn(*(lambda k=k, g=g: k(*g) for k, g in zip(kernels, single, strict=True)))
    batches = in_turn(*(lambda k=k, g=g, o=o: k.batch(*g, out=o) for k, g, o in zip(kernels, many, outs, strict=True)))
    shared = [*many[0:1], arguments(kernels[1], rows | {"p": values})]
    same = in_turn(*(lambda k=k, g=g, o=o: k.batch(*g, out=o) for k, g, o in zip(kernels, shared, outs, strict=True)))
    plain, with_parameters = (1e9 * one / STATES for one in batches)
    ratio = same[1] / same[0]
    return Row(
        name, quantity, len(runtime), 1e9 * calls[0], 1e9 * calls[1], plain, with_parameters, ratio * plain, difference
    )


def robots(files: Sequence[str]) -> list[tuple[str, kg.Mechanism]]:
    """The named files, or those of the library and of example-robot-data."""
    if files:
        return [(Path(one).stem, kg.load(one)) for one in files]
    found = [(name, kg.load(name)) for name in LIBRARY]
    if importlib.util.find_spec("example_robot_data") or importlib.util.find_spec("pinocchio"):
        import pinocchio

        folder = Path(pinocchio.__file__).parents[4] / "share" / "example-robot-data" / "robots"
        found += [(Path(one).stem, kg.load(folder / one)) for one in FILES if (folder / one).exists()]
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = [measured(name, one, word) for name, one in robots(options.files) for word in ("tau", "qdd")]
    print(
        "| robot | quantity | parameters | call, ns | with parameters | ratio | batch, ns | a row each | ratio | "
        "shared | ratio | difference |"
    )
    print("|---" * 12 + "|")
    for row in rows:
        ratios = (row.call / row.call_constant, row.batch / row.batch_constant, row.shared / row.batch_constant)
        print(
            f"| {row.robot} | {row.quantity} | {row.parameters} | {row.call_constant:.0f} | {row.call:.0f} | "
            f"{ratios[0]:.2f} | {row.batch_constant:.1f} | {row.batch:.1f} | {ratios[1]:.2f} | "
            f"{row.shared:.1f} | {ratios[2]:.2f} | {row.difference:.0e} |"
        )
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
