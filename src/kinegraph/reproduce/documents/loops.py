"""Closed kinematic chains, recursive and in parallel."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from time import perf_counter

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler.compile import compile
from kinegraph.compiler.mechanism_source import load
from kinegraph.derive.quantities.mobility import mobility
from kinegraph.recursive.chains.dynamics import ChainSystem, Stabilized
from kinegraph.recursive.chains.exchange import Serial, Threads
from kinegraph.reproduce.document import Chapter, Document, Entry, Verdict, curves, held, measured
from kinegraph.reproduce.parallel_chains import PUBLISHED, STEPS, Timed, crank_run, loop_run, on_ranks, polygon
from kinegraph.simulate.run import simulate
from kinegraph.solve.problem import Floats

_CRANK = "spatial-slider-crank"
_SIZES = (15, 51, 151, 251, 301)
_DRIVE = {"crank": "0.01*exp(-t)"}
_GAINS = Stabilized(alpha=5.0, beta=7.0)
_MOMENT = 1e-4  # seconds, for differences


def reduced_to_the_base() -> tuple[Entry, ...]:
    """Chains cut at a joint and reduced to the base (1)-(5): the accelerations of the complete equations."""
    return (
        _same_accelerations(_CRANK, "slider-crank, cut at its ball joint: chains", *Assembler(load(_CRANK)).start({})),
        _same_accelerations(
            "loop-15", "loop of 15 joints, cut in the middle: chains", np.array(polygon(15)), np.zeros(14)
        ),
    )


def _same_accelerations(model: str, name: str, q: Floats, v: Floats) -> Entry:
    mechanism = load(model)
    system = ChainSystem(mechanism)
    whole = compile(mechanism, "qdd")
    assert isinstance(whole, Kernel)
    wanted = np.asarray(whole(q, v, 0 * v))
    difference = float(np.abs(system.evaluated(q, v, 0 * v).qdd - wanted).max() / np.abs(wanted).max())
    text = f"{len(system.chains.parts)}, accelerations equal to {difference:.0e}"
    return held(name, "2", text, len(system.chains.parts) == 2 and difference < 1e-10)


def stabilized() -> tuple[Entry, ...]:
    """Equation (6): the gap of the cut joint, a vector in fixed axes, obeys phi'' + 2 alpha phi' + beta^2 phi = 0."""
    mechanism = load(_CRANK)
    q, v = Assembler(mechanism).start({})
    q, v = q + 1e-3, v + 1e-2
    system = ChainSystem(mechanism, stabilized=_GAINS)
    qdd = system.evaluated(q, v, np.zeros(len(v))).qdd.copy()
    before, now, after = (_gap(system, q + h * v + h * h / 2 * qdd) for h in (-_MOMENT, 0.0, _MOMENT))
    found = (after - 2 * now + before) / _MOMENT**2
    wanted = -_GAINS.alpha * (after - before) / _MOMENT - _GAINS.beta**2 * now
    difference = float(np.abs(found - wanted).max() / np.abs(wanted).max())
    text = f"holds to {difference:.0e} by differences"
    return (held("phi'' of the ball joint, 1 mm open", "-2 alpha phi' - beta^2 phi", text, difference < 1e-4),)


def _gap(system: ChainSystem, q: Floats) -> Floats:
    """The gap of the ball joint, in fixed axes."""
    none = np.zeros(len(system.layout.velocities))
    return system.evaluated(q, none, none).missed.copy()


@cache
def _ranks() -> dict[str, Timed]:
    return on_ranks(_SIZES)


_OTHER = "another machine (Xeon 2.4 GHz, Fortran, BDF); here rk4 with the same steps, Python between compiled sweeps"


def table_1() -> tuple[Entry, ...]:
    """The slider-crank for 1 to 60 s, steps of 0.01 and 0.001 s, one and two processors."""
    return tuple(entry for column, step in enumerate(STEPS) for entry in _times(step, 2 * column))


def _times(step: float, column: int) -> Iterator[Entry]:
    """Every step takes the same time, so a thousand of them are measured."""
    one, two = crank_run(Serial(), step), _ranks().get(f"crank {step}") or crank_run(Threads(2), step)
    for duration, printed in PUBLISHED.items():
        factor = duration / step / 1000
        for number, run in enumerate((one, two)):
            name = f"{duration} s at {step:g} s, {number + 1} CPU"
            yield measured(name, f"{printed[column + number]:.3f} s", f"{run.times(factor).seconds:.3f} s", _OTHER)
    gain = one.seconds / two.seconds
    printed_gain = PUBLISHED[60][column] / PUBLISHED[60][column + 1]
    yield held(f"steps of {step:g} s: gain by two", f"{printed_gain:.2f}: none", f"{gain:.2f}", gain < 1)


def one_compiled_run() -> tuple[Entry, ...]:
    """The same 60 s by `simulate`: machine code for the equations and the loop around them, at 1e-8."""
    simulate(_CRANK, 0.6, inputs=_DRIVE, native=True, progress=False)
    begun = perf_counter()
    run = simulate(_CRANK, 60, inputs=_DRIVE, native=True, progress=False)
    seconds = perf_counter() - begun
    drift = run.drift["position"] or 0.0
    reason = "another machine; and the whole run is machine code here"
    return (
        measured("60 s of the slider-crank", f"{PUBLISHED[60][0]:.3f} s", f"{seconds:.3f} s", reason),
        held("the loop stays closed", "Baumgarte", f"open by {drift:.0e} m", drift < 1e-10),
    )


@cache
def _loop(joints: int) -> tuple[Timed, Timed]:
    """On one worker and on two."""
    return loop_run(joints, Serial()), _ranks().get(f"loop {joints}") or loop_run(joints, Threads(2))


def _figure() -> tuple[str, ...]:
    runs = [_loop(joints) for joints in _SIZES]
    one, two = (np.array([run[k].seconds for run in runs]) for k in (0, 1))
    sizes = np.array(_SIZES, dtype=float)
    return (
        curves("Figure 4a: time", "joints", sizes, "s", {"1 worker": one, "2 workers": two}),
        curves("Figure 4b: gain", "joints", sizes, "one / two", {"gain": one / two}),
    )


def figure_4() -> tuple[Entry, ...]:
    """The loop of N joints, 10 s at 0.01 s: one worker against two."""
    said = {15: "slightly above 1", 51: "above 1", 151: "level from here", 251: "below 2", 301: "below 2"}
    reason = (
        "one evaluation of such a loop takes less here than waking a second worker: gains begin at thousands of joints"
    )
    return tuple(entry for joints in _SIZES for entry in _loop_entries(joints, said[joints], reason))


def _loop_entries(joints: int, said: str, reason: str) -> Iterator[Entry]:
    one, two = _loop(joints)
    gain = one.seconds / two.seconds
    yield measured(
        f"{joints} joints: seconds on one", "figure 4a, a curve", f"{one.seconds:.2f} s", "no number printed"
    )
    verdict = Verdict.AGREES if 1 < gain < 2 else Verdict.EXPLAINED
    yield Entry(f"{joints} joints: gain by two", said, f"{gain:.2f}", verdict, "" if 1 < gain < 2 else reason)
    same = float(np.abs(np.array(one.last) - np.array(two.last)).max())
    yield held(f"{joints} joints: one and two give one motion", "yes", f"equal to {same:.0e}", same < 1e-9)


def conclusions() -> tuple[Entry, ...]:
    """Statements of the document's last section about its method."""
    found = mobility(load("loop-5"))
    names = ", ".join(found.redundant)
    rows = held("redundant constraints are found", "automatically", f"{names} of a planar loop", bool(found.redundant))
    ranks = _ranks()
    if "sprung loop 15" not in ranks:
        return (rows, measured("springs cost communication", "yes", "no MPI here", "pip install 'kinegraph[mpi]'"))
    unsprung, sprung = (ranks[f"{word}loop 15"] for word in ("", "sprung "))
    text = f"{unsprung.messages:.0f} message an evaluation, {sprung.messages:.0f} with a spring between the chains"
    return (rows, held("springs and dampers cost communication", "yes", text, sprung.messages > unsprung.messages))


LOOPS = Document(
    "loops",
    "Closed kinematic chains, recursive and in parallel",
    "Loops cut at a joint, chains reduced to one body in O(n), Baumgarte's stabilization, one chain per process",
    (
        Chapter(
            "Equations (1) to (5): reduction to the base",
            "Each chain is reduced to the base body; the remaining equations there and the forces in the "
            "cut are solved; accelerations are recovered outward. The same numbers as from the complete "
            "equations of the loop.",
            "kinegraph eval spatial-slider-crank -q qdd,multipliers",
            reduced_to_the_base,
        ),
        Chapter(
            "Equations (6) and (7): stabilization",
            "The state is displaced from the loop by a millimeter, alpha = 5 and beta = 7.",
            "kinegraph simulate spatial-slider-crank --for 1 --baumgarte 5,7",
            stabilized,
        ),
        Chapter(
            "Table 1: the slider-crank",
            "Gravity, and n(t) = 0.01 exp(-t) on the crank. The document prints no masses and lengths: "
            "those are of Haug's example, which it cites. Two workers are MPI ranks if available, otherwise "
            "threads.",
            "python -m benchmarks parallel-chains --sizes 15",
            table_1,
        ),
        Chapter(
            "The same run in machine code",
            "The cost of the chains of one small loop is mostly that of their calls; the compiled run has none.",
            "kinegraph simulate spatial-slider-crank --for 60 --input 'crank=0.01*exp(-t)'",
            one_compiled_run,
        ),
        Chapter(
            "Figure 4: a loop of N joints",
            "Gravity, 10 s at steps of 0.01 s, cut in the middle. The document gives curves and three statements.",
            "python -m benchmarks parallel-chains --sizes 15,51,151,251,301",
            figure_4,
            _figure,
        ),
        Chapter(
            "Section 4: statements about the method",
            "Redundant rows by name, and messages between processes.",
            "kinegraph check loop-5",
            conclusions,
        ),
    ),
)
