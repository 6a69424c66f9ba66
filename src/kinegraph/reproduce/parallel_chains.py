"""The chains of closed loops on one thread, on two, and on two MPI ranks, beside the figures of the source document.

    python -m benchmarks parallel-chains [--sizes 15,51,151,301,1001,10001] [--durations 1,5,60]

A loop of N joints cut in the middle (10 s at steps of 0.01 s), and a spatial slider-crank cut at its ball joint,
both with a method of order four; and the loop by BDF with its history saved. Times are the best of short runs, those
of BDF of one run. Ranks need mpi4py and an MPI: pip install 'kinegraph[mpi]'. Compare ratios, not absolute times.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from math import exp
from pathlib import Path

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.compiler.mechanism_source import load
from kinegraph.extras import Foreign, extra
from kinegraph.io import parse, write
from kinegraph.model.mechanism import Mechanism
from kinegraph.recursive.chains.dynamics import ChainSystem, Finished, Stabilized, integrated
from kinegraph.recursive.chains.exchange import Exchange, Ranks, Serial, Threads, Traffic
from kinegraph.reproduce.kernel_timing import cpu_model
from kinegraph.simulate.chains import simulate_chains
from kinegraph.solve.problem import Floats
from kinegraph.solve.solution import Solution

SIZES = (15, 51, 151, 301, 1001, 10001)
DURATIONS = (1, 5, 10, 20, 30, 40, 50, 60)
STEPS = (0.01, 0.001)
_BARS = 20_000  # bars times steps of one short run
_ROUNDS = 7
_MODULE = "kinegraph.reproduce.parallel_chains"
_SPEED = Stabilized(alpha=5.0, beta=5.0)

#: Table 1 of the source document: seconds by simulated time, for 1 and 2 processors at 0.01 s, then at 0.001 s.
PUBLISHED = {
    1: (0.058, 0.085, 0.165, 0.240), 5: (0.368, 0.530, 0.912, 1.342), 10: (0.792, 1.143, 1.865, 2.714),
    20: (1.594, 2.337, 3.766, 5.435), 30: (2.412, 3.468, 5.690, 8.192), 40: (3.229, 4.691, 7.572, 10.866),
    50: (3.985, 5.756, 9.370, 13.573), 60: (4.768, 6.951, 11.180, 16.336),
}  # fmt: skip


@dataclass(frozen=True)
class Timed:
    """A thousand steps: seconds, of which waiting for messages; bytes and messages of one evaluation; the last
    position."""

    seconds: float
    waiting: float
    bytes: float
    last: list[float]
    messages: float = 0.0

    def times(self, factor: float) -> Timed:
        """The time of `factor` times as many steps."""
        return replace(self, seconds=factor * self.seconds, waiting=factor * self.waiting)


def loop_run(joints: int, exchange: Exchange, sprung: bool = False) -> Timed:
    """A loop of N joints: the time of 10 s at steps of 0.01 s; `sprung` has a spring between its two chains."""
    q = np.array(polygon(joints))
    mechanism = _sprung(joints) if sprung else load(f"loop-{joints}")
    system = ChainSystem(mechanism, exchange=exchange, stabilized=_SPEED)
    steps = int(np.clip(_BARS // joints, 2, 20))
    return _timed(system, q, np.zeros(len(q)), steps, 0.01, None)


def _sprung(joints: int) -> Mechanism:
    """The loop with a spring and a damper between its first and its last bar."""
    unsprung = load(f"loop-{joints}")
    points = f"between({unsprung.bodies[0].name}(0.1, 0, 0), {unsprung.bodies[-1].name}(0.1, 0, 0))"
    return parse(
        f"{write(unsprung)}\nspring s | {points}, stiffness(10), rest(0.5); damper d | {points}, damping(0.1);\n"
    )


def polygon(joints: int) -> list[float]:
    """The library's loop at its start: a regular polygon."""
    turn, left = 2 * np.pi / joints, joints // 2
    return [np.pi - turn, *[-turn] * (left - 1), *[turn] * (joints - 1 - left)]


def crank_run(exchange: Exchange, step: float) -> Timed:
    """The spatial slider-crank under gravity, its crank driven by 0.01 exp(-t): the time of a thousand steps."""
    mechanism = load("spatial-slider-crank")
    q, v = Assembler(mechanism).start({})
    system = ChainSystem(mechanism, exchange=exchange, stabilized=_SPEED)
    crank = mechanism.layout.velocities.index("crank'")

    def force(t: float) -> Floats:
        tau = np.zeros(len(v))
        tau[crank] = 0.01 * exp(-t)
        return tau

    return _timed(system, q, v, 20, step, force)


def _timed(
    system: ChainSystem, q: Floats, v: Floats, steps: int, step: float, force: Callable[[float], Floats] | None
) -> Timed:
    """The best of some short runs, as the time of a thousand steps."""
    integrated(system, q, v, 2 * step, step, force)
    best: Timed | None = None
    for _ in range(_ROUNDS):
        if isinstance(system.exchange, Ranks):
            system.exchange.begin()
        run = integrated(system, q, v, steps * step, step, force)
        one = _of(run, system.exchange, steps)
        best = one if best is None or one.seconds < best.seconds else best
    assert best is not None
    return best


def _of(run: Finished, exchange: Exchange, steps: int) -> Timed:
    traffic = exchange.traffic if isinstance(exchange, Ranks) else Traffic()
    scale, last = 1000 / steps, run.q[: min(8, len(run.q))].tolist()
    sent = traffic.bytes / (4 * steps)
    return Timed(scale * run.seconds, scale * traffic.seconds, sent, last, traffic.messages / (4 * steps))


def main(sizes: Sequence[int] = SIZES, durations: Sequence[int] = DURATIONS) -> None:
    """Measure and print both tables."""
    print(f"{cpu_model()}; seconds of computing, two threads and two ranks share the chains")
    ranks = on_ranks(sizes)
    print("\nloop of N joints, 10 s at 0.01 s: the document gains from N = 15 on one node, no more beyond 151, never 2")
    heads = f"{'N':>6} {'serial':>9} {'threads':>9} {'ranks':>9} {'gain':>6} {'gain':>6}"
    print(f"{heads}  ranks: waiting, bytes an evaluation, difference")
    for joints in sizes:
        one, two = loop_run(joints, Serial()), loop_run(joints, Threads(2))
        print(_line(str(joints), one, two, ranks.get(f"loop {joints}")), flush=True)
    print("\nspatial slider-crank; every step takes the same time (document: 1 and 2 processors)")
    for step, column in zip(STEPS, (0, 2), strict=True):
        runs = crank_run(Serial(), step), crank_run(Threads(2), step), ranks.get(f"crank {step}")
        for duration in durations:
            old = PUBLISHED.get(duration, (0.0,) * 4)[column : column + 2]
            factor = duration / step / 1000
            shared = runs[2].times(factor) if runs[2] else None
            line = _line(f"{duration:>3} s, {step:g}", runs[0].times(factor), runs[1].times(factor), shared)
            print(line, f" document {old[0]:g}, {old[1]:g}", flush=True)
    bdf_table([joints for joints in BDF_SIZES if joints <= max(sizes)])


#: Loops, simulated seconds and tolerance of the runs by BDF.
BDF_SIZES, _BDF_DURATION, BDF_TOLERANCE = (15, 51, 151), 0.5, 1e-8


def bdf_run(joints: int, threads: int = 1, communicator: Foreign = None) -> Solution:
    """The loop of N joints by BDF of variable order with saved history."""
    model = load(f"loop-{joints}")
    start = dict(zip(model.layout.positions, polygon(joints), strict=True))
    return simulate_chains(
        model, _BDF_DURATION, state=start, threads=threads, communicator=communicator, rtol=BDF_TOLERANCE, times=50,
        progress=False,
    )  # fmt: skip


def bdf_table(sizes: Sequence[int]) -> None:
    """Serial runs by BDF beside those on two threads."""
    print(f"\nloop of N joints, {_BDF_DURATION:g} s by BDF, relative tolerance {BDF_TOLERANCE:g}; 51 saved times")
    print(f"{'N':>6} {'steps':>6} {'serial':>9} {'threads':>9} {'gain':>6}  largest difference of positions, open by")
    for joints in sizes:
        runs = [bdf_run(joints, threads) for threads in (1, 2)]
        one, two = runs
        seconds = [run.statistics.seconds - run.statistics.loading for run in runs]
        difference = max(float(np.abs(one[name] - two[name]).max()) for name in one.positions)
        start = f"{joints:>6} {one.statistics.steps:>6} {seconds[0]:>9.3f} {seconds[1]:>9.3f}"
        print(f"{start} {seconds[0] / seconds[1]:>6.2f}  {difference:.1e}, {one.drift['position']:.1e}", flush=True)


def _line(name: str, one: Timed, two: Timed, ranks: Timed | None) -> str:
    start = f"{name:>6} {one.seconds:>9.3f} {two.seconds:>9.3f}"
    if ranks is None:
        return f"{start} {'missing':>9} {one.seconds / two.seconds:>6.2f}"
    difference = max(abs(a - b) for a, b in zip(one.last, ranks.last, strict=True))
    gains = f"{one.seconds / two.seconds:>6.2f} {one.seconds / ranks.seconds:>6.2f}"
    waiting = f"{100 * ranks.waiting / ranks.seconds:.0f} %, {ranks.bytes:.0f}, {difference:.0e}"
    return f"{start} {ranks.seconds:>9.3f} {gains}  {waiting}"


def on_ranks(sizes: Sequence[int]) -> dict[str, Timed]:
    """All runs on two ranks, in one start of MPI, by name: `loop N`, `sprung loop N`, `crank STEP`; empty without
    MPI."""
    beside = Path(sys.executable).parent / "mpiexec"
    launcher = str(beside) if beside.exists() else shutil.which("mpiexec")
    if launcher is None:
        print("no mpiexec: pip install 'kinegraph[mpi]'", file=sys.stderr)
        return {}
    cases = f"--sizes={','.join(map(str, sizes))}"
    command = [launcher, "-n", "2", sys.executable, "-m", _MODULE, "--on-ranks", cases]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"no ranks: {done.stderr.strip()[-400:]}", file=sys.stderr)
        return {}
    return {name: Timed(**one) for name, one in json.loads(done.stdout.splitlines()[-1]).items()}


def ranks_main(sizes: Sequence[int]) -> None:
    """The program of every rank; the first prints."""
    world = extra("mpi4py.MPI", "computing chains on ranks").COMM_WORLD
    found = {f"loop {joints}": loop_run(joints, Ranks(world)) for joints in sizes}
    found |= {f"sprung loop {joints}": loop_run(joints, Ranks(world), sprung=True) for joints in sizes[:1]}
    for step in STEPS:
        found[f"crank {step}"] = crank_run(Ranks(world), step)
    if world.Get_rank() == 0:
        print(json.dumps({name: asdict(one) for name, one in found.items()}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of joints")
    parser.add_argument("--durations", default=",".join(map(str, DURATIONS)), help="simulated seconds")
    parser.add_argument("--on-ranks", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    numbers = [int(n) for n in given.sizes.split(",")]
    if given.on_ranks:
        ranks_main(numbers)
    else:
        main(numbers, [int(n) for n in given.durations.split(",")])
