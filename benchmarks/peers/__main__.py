"""The bench: Kinegraph beside CasADi C, Pinocchio C++ and MuJoCo. `python -m benchmarks peers --help`.

Needs `pip install pin cmeel-eigen casadi mujoco example-robot-data matplotlib`, gcc, and clang (or g++) for
Pinocchio. The first run compiles Pinocchio, which takes some minutes and 3 GB.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TypeVar

from rich.console import Console

from benchmarks.peers import agreement, measure, report, robots, targets
from benchmarks.peers.first_result import first_result
from benchmarks.peers.results import Machine, QuantityResult, Results, RobotResult
from benchmarks.peers.sides.build import Unavailable, cpp_compiler, work_folder
from benchmarks.peers.sides.casadi_c import CasadiC
from benchmarks.peers.sides.kinegraph import Kinegraph
from benchmarks.peers.sides.mujoco import Mujoco
from benchmarks.peers.sides.peer import QUANTITIES, Peer
from benchmarks.peers.sides.pinocchio_cpp import PinocchioCpp, read
from benchmarks.peers.states import State, random_states
from kinegraph.reproduce.kernel_timing import cpu_model

STATES = 256
#: Bytes of a batch's inputs and results: what caches hold, so that computing is measured and not memory.
BATCH_BYTES = 1 << 20
MOST_STATES = 4096
_PUBLIC = "kernel.batch"
#: CasADi's C for derivatives of humanoids is too much for gcc.
CASADI_DERIVATIVES_UP_TO = 10

T = TypeVar("T")


def machine() -> Machine:
    """What the figures depend on."""
    compiler = subprocess.run([cpp_compiler(), "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    gcc = subprocess.run(["gcc", "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    packages = ("kinegraph", "pin", "casadi", "mujoco", "llvmlite", "numpy")
    return {
        "cpu": cpu_model(),
        "compiler": f"Pinocchio by {compiler}, C by {gcc}",
        "versions": {"Python": platform.python_version()} | {name: _version(name) for name in packages},
        "started": time.strftime("%Y-%m-%d %H:%M"),
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "from source"


def attempt(make: Callable[[], T], name: str, missing: dict[str, str]) -> T | None:
    """A peer, or None with the reason noted."""
    try:
        return make()
    except (Unavailable, ImportError) as error:
        missing[name] = str(error)
        return None


def measure_robot(case: robots.RobotCase, options: argparse.Namespace, console: Console) -> RobotResult:
    """Everything about one robot."""
    path = robots.prepare(case, work_folder())
    reference = read(case, path)
    model = reference.model
    result = RobotResult(case.name, model.nq, model.nv, case.floating, target_seconds=targets.seconds(case))
    small = model.nv <= CASADI_DERIVATIVES_UP_TO
    casadi_quantities = QUANTITIES if small else QUANTITIES[:4]
    ours = Kinegraph(case, path, reference.joint_names, options.effort)
    possible = (
        attempt(lambda: PinocchioCpp(reference, options.builds), "Pinocchio", result.missing),
        attempt(lambda: CasadiC(reference, casadi_quantities), "CasADi C", result.missing),
        attempt(lambda: CasadiC(reference, QUANTITIES[:3], world=True), "CasADi world", result.missing),
        attempt(lambda: Mujoco(case, path, reference.joint_names), "MuJoCo", result.missing),
    )
    peers: list[Peer] = [peer for peer in possible if peer is not None]
    states = random_states(model.nq, model.nv, case.floating, STATES)
    batch = random_states(model.nq, model.nv, case.floating, MOST_STATES, seed=2)
    for quantity in options.quantities:
        console.print(f"{case.name}: {quantity}", style="dim")
        some = batch[: batch_size(ours, quantity)]
        result.quantities.append(measure_quantity(case, quantity, ours, peers, states, some, options))
    for quantity in options.first:
        result.first[quantity] = first_result(case, path if case.locked else case.source, quantity)
    return result


def batch_size(ours: Kinegraph, quantity: str) -> int:
    """The largest power of two whose arrays fit in the cache; some tens of states at least."""
    kernel = ours.kernel(quantity)
    fitting = BATCH_BYTES // (8 * int(kernel.input_size + kernel.output_size))
    return max(64, min(MOST_STATES, 1 << (fitting.bit_length() - 1)))


def measure_quantity(
    case: robots.RobotCase,
    quantity: str,
    ours: Kinegraph,
    peers: Iterable[Peer],
    states: list[State],
    batch: list[State],
    options: argparse.Namespace,
) -> QuantityResult:
    """Agreement first, then times."""
    result = QuantityResult(quantity, compile_processor_seconds=ours.compile_seconds[quantity])
    present = [peer for peer in peers if peer.offers(quantity)]
    judge = next((peer for peer in present if peer.name == "Pinocchio"), None)
    for peer in present:
        found = agreement.compare(quantity, ours, peer, states[: options.checked], judge)
        if not found.good:
            raise SystemExit(f"{case.name}, {quantity}: {found.error:.1e} off {peer.name}; nothing was timed")
        result.agreements.append(found)
    ours.check_batch(quantity, batch[:40])
    sides: list[Peer] = [ours, *present]
    result.calls = measure.time_calls({side.name: side.loop(quantity, states) for side in sides}, options.rounds)
    sweeps = {side.name: sweep for side in sides if (sweep := side.sweep(quantity, batch)) is not None}
    if options.batch_rounds and "d(" not in quantity:
        result.batches = measure.time_sweeps(
            sweeps | {_PUBLIC: ours.public_sweep(quantity, batch)}, len(batch), options.batch_rounds
        )
        result.public_batch = result.batches.pop(_PUBLIC)
    counted = {side.name: side.operations(quantity) for side in sides}
    result.operations = {name: number for name, number in counted.items() if number is not None}
    result.remarks = {side.name: side.remark(quantity) for side in sides if side.remark(quantity)}
    names = [peer.name for peer in present]
    wanted = {name: targets.per_call(case, name, quantity) for name in names}
    result.target_calls = {name: value for name, value in wanted.items() if value is not None}
    wanted = {name: targets.batched(case, name, quantity) for name in names}
    result.target_batches = {name: value for name, value in wanted.items() if value is not None}
    result.load = measure.load()
    return result


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [case.name for case in robots.CASES]
    parser.add_argument("--robots", type=_words, default=names, help=f"separated by commas, of: {', '.join(names)}")
    parser.add_argument("--quantities", type=_words, default=list(QUANTITIES), help=f"of: {', '.join(QUANTITIES)}")
    parser.add_argument("--first", type=_words, default=["tau", "H", "qdd"], help="timed from the file; '' for none")
    parser.add_argument("--effort", default="quick", help="Kinegraph's effort: quick, normal or search")
    parser.add_argument("--builds", type=_words, default=["native", "plain"], help="of Pinocchio: native, plain")
    parser.add_argument("--rounds", type=int, default=150, help="slices per side")
    parser.add_argument("--batch-rounds", type=int, default=80, help="batches per side")
    parser.add_argument("--checked", type=int, default=20, help="states on which results are compared")
    parser.add_argument("--json", type=Path, default=work_folder() / "bench.json")
    parser.add_argument("--page", type=Path, help="write a page of Markdown here, and bench.png beside it")
    return parser.parse_args()


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def main() -> None:
    """Measure the robots that were asked for, and print one table for each."""
    options = arguments()
    console = Console(width=None if sys.stdout.isatty() else 200)
    results = Results(machine())
    for case in robots.CASES:
        if case.name in options.robots:
            results.robots.append(measure_robot(case, options, console))
            results.write(options.json)  # what was measured is kept if the run is interrupted
    report.print_tables(results, console)
    console.print(f"written: {options.json}", markup=False)
    if options.page:
        picture = options.page.with_name("bench.png")
        report.draw(results, picture)
        report.write_page(results, options.page, picture, "python -m benchmarks peers --page docs/bench.md")
        console.print(f"written: {options.page}, {picture}", markup=False)


if __name__ == "__main__":
    main()
