"""`kinegraph demo`: the legs of a walking robot, from the model to machine code and a walk, in half a minute."""

from __future__ import annotations

import json as json_module
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypedDict

import numpy as np
import typer
from rich.table import Table

import kinegraph as kg
from kinegraph.cli.common import JsonOption, console, print_json
from kinegraph.cli.count import known_values
from kinegraph.codegen.c import c_source
from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler import stored
from kinegraph.compiler.bind import kernel_of
from kinegraph.compiler.request import Request, quantities_of
from kinegraph.graph.count import Operations
from kinegraph.jit.kernel import StraightKernel
from kinegraph.notation.latex import latex
from kinegraph.solve.solution import Solution

# The motion of the demo: legs whose joints are led through a gait by springs and dampers.

DURATION = 5.0
#: How many moments are saved.
_INTERVALS = 500
#: Seconds in which a joint that is off its way comes back.
_DAMPING = 1 / 22


@dataclass(frozen=True)
class GaitSpring:
    """What leads a joint: a stiffness in N m/rad, and where the joint should be at the phase P of a step, in rad."""

    stiffness: float
    aim: str


_GAIT = {
    "gamma": GaitSpring(900, "0.18 + 0.42*sin(P)"),
    "beta": GaitSpring(500, "0.55 + 0.5*sin(P - 1.9)"),
    "nu": GaitSpring(90, "0.1 + 0.15*sin(P - 0.6)"),
    "alfa": GaitSpring(600, "0.02"),
    "teta": GaitSpring(120, "0"),
    "epsilon": GaitSpring(60, "0"),
}
_PHASES = {"L": "(5*t)", "R": "(5*t + pi)"}
_START = {"beta$L": 0.1, "beta$R": 1, "gamma$L": 0.18, "gamma$R": 0.18}


def walk(legs: kg.Mechanism, progress: bool | None = None) -> Solution:
    """The legs, hung up, walking in the air."""
    return kg.simulate(legs, DURATION, inputs=forces(), state=_START, times=_INTERVALS, progress=progress)


def forces() -> dict[str, str]:
    """The force in each joint as a formula."""
    return {
        f"{joint}${side}": _force(f"{joint}${side}", leading, phase)
        for side, phase in _PHASES.items()
        for joint, leading in _GAIT.items()
    }


def _force(name: str, leading: GaitSpring, phase: str) -> str:
    aim = leading.aim.replace("P", phase)
    return f"{leading.stiffness}*({aim} - {name}) - {leading.stiffness * _DAMPING}*{name}'"


# `kinegraph demo`: the legs of a walking robot, from records to machine code and to a walk, in half a minute.

NEW, OLD = "kidym-biped-new", "kidym-biped-old"
#: What is derived, and how hard frames are searched for: ten seconds for one of them is enough for a demo.
QUANTITIES = {"tau": kg.Effort.NORMAL, "qdd": kg.Effort.QUICK}
PAGE, PICTURE = "walk.html", "walk.png"
_TITLES = {"tau": "inverse dynamics (tau)", "qdd": "forward dynamics (qdd)"}


class QuantityFigures(TypedDict):
    """One quantity in the report."""

    before: dict[str, int]
    after: dict[str, int]
    proved: bool
    seconds_to_derive_reduce_prove_compile: float
    nanoseconds_per_call: float
    batched_per_second: int


class MotionFigures(TypedDict):
    """The walk in the report."""

    seconds: float
    steps: int
    energy_balance: float


class Figures(TypedDict):
    """The report."""

    model: str
    quantities: dict[str, QuantityFigures]
    both_forms_differ_by: float
    motion: MotionFigures


@dataclass(frozen=True)
class Measured:
    """One quantity: operations before and after, and how fast its kernel is."""

    kernel: StraightKernel
    before: Operations
    after: Operations
    proved: bool
    seconds: float
    nanoseconds: float
    rate: float

    def as_data(self) -> QuantityFigures:
        """The figures of the report."""
        return {
            "before": {"mul": self.before.mul, "add": self.before.add},
            "after": {"mul": self.after.mul, "add": self.after.add},
            "proved": self.proved,
            "seconds_to_derive_reduce_prove_compile": round(self.seconds, 3),
            "nanoseconds_per_call": round(self.nanoseconds, 1),
            "batched_per_second": round(self.rate),
        }


def run(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder of the files.")] = Path(
        "kinegraph-demo"
    ),
    json: JsonOption = False,
) -> None:
    """Derive, reduce, prove, compile, time and simulate the legs of a walking robot."""
    mechanism = kg.load(NEW)
    with console(stderr=True).status("deriving, reducing, proving and compiling ..."):
        measured = {quantity: measure(mechanism, quantity) for quantity in QUANTITIES}
        difference = disagreement(measured["tau"].kernel)
    motion = walk(mechanism, progress=False if json else None)
    figures: Figures = {
        "model": NEW,
        "quantities": {quantity: one.as_data() for quantity, one in measured.items()},
        "both_forms_differ_by": difference,
        "motion": {"seconds": DURATION, "steps": motion.statistics.steps, "energy_balance": _balance(motion)},
    }
    with console(stderr=True).status("writing the page, a picture and the equations ..."):
        files = export(mechanism, measured, figures, output) + draw(motion, output)
    if json:
        print_json({**figures, "files": [str(file) for file in files], "page": str(output / PAGE)})
    else:
        _report(mechanism, measured, figures, files)


def measure(mechanism: kg.Mechanism, quantity: str) -> Measured:
    """From the mechanism to a kernel, and how fast it runs."""
    started = time.perf_counter()
    request = Request(mechanism, quantities_of(quantity), known_values(mechanism), frames=QUANTITIES[quantity])
    reduced = stored.reduced(request, cache=False)
    kernel = kernel_of(mechanism, reduced.graph, quantity)
    seconds = time.perf_counter() - started
    after = kg.count(reduced.graph)
    return Measured(kernel, reduced.first, after, True, seconds, call_time(kernel), batch_rate(kernel))


def states(kernel: Kernel, count: int) -> list[np.ndarray]:
    """Random arguments of a kernel."""
    random = np.random.default_rng(0)
    return [random.uniform(-0.5, 0.5, (count, len(one.symbols))) for one in kernel.arguments]


def call_time(kernel: Kernel, calls: int = 20_000) -> float:
    """Nanoseconds of one call by a compiled caller, the best of a few runs."""
    import ctypes

    from kinegraph.jit.engine import repeated

    loop = repeated(kernel.address, calls)
    repeat = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(loop.address)
    x, y = np.concatenate([part[0] for part in states(kernel, 1)]), np.empty(kernel.output_size)
    return min(_seconds(lambda: repeat(x.ctypes.data, y.ctypes.data)) for _ in range(5)) / calls * 1e9


def batch_rate(kernel: Kernel, count: int = 200_000) -> float:
    """States per second on all cores, the best of a few runs."""
    arguments = states(kernel, count)
    kernel.batch(*arguments)
    return count / min(_seconds(lambda: kernel.batch(*arguments)) for _ in range(3))


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def disagreement(kernel: Kernel, count: int = 1000) -> float:
    """The largest relative difference of tau between the two record forms of the legs, over random states."""
    arguments = states(kernel, count)
    new = kernel.batch(*arguments)
    old = kg.compile(kg.load(OLD), "tau").batch(*arguments)
    return float(np.abs(new - old).max() / np.abs(new).max())


def export(mechanism: kg.Mechanism, measured: Mapping[str, Measured], figures: Figures, folder: Path) -> list[Path]:
    """The model, the equations, C source and the report as files."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {f"{mechanism.name}.kg": kg.library.text(NEW)}
    for quantity, one in measured.items():
        texts[f"{quantity}.tex"] = latex(one.kernel.graph, f"{mechanism.name}: {quantity}", mechanism=mechanism)
        texts[f"{quantity}.c"] = c_source(one.kernel.binding, quantity)
    texts["report.json"] = json_module.dumps(figures, indent=2) + "\n"
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]


def draw(motion: Solution, folder: Path) -> list[Path]:
    """The motion as a page and as a picture."""
    from kinegraph.view import page, plot

    return [page(motion, folder / PAGE, NEW), plot(motion, folder / PICTURE)]


def _balance(motion: Solution) -> float:
    """By how much energy was not conserved, relative to the largest energy."""
    return next(check.error for check in motion.checks if check.name.startswith("energy"))


def _report(mechanism: kg.Mechanism, measured: Mapping[str, Measured], figures: Figures, files: Sequence[Path]) -> None:
    out = console()
    out.print(
        f"Legs of a walking robot: {len(mechanism.bodies)} bodies, {len(mechanism.layout.velocities)} coordinates\n"
    )
    table = Table("", box=None, pad_edge=False, header_style="bold")
    for quantity in measured:
        table.add_column(_TITLES[quantity], justify="right")
    for title, cells in _rows(list(measured.values())).items():
        table.add_row(title, *cells)
    out.print(table)
    difference, motion = figures["both_forms_differ_by"], figures["motion"]
    out.print(f"\nOld and new record form give the same tau: largest difference {difference:.1e} of the largest force")
    out.print(
        f"A walk of {motion['seconds']:g} s: {motion['steps']} steps of the integrator, "
        f"energy accounted for to {motion['energy_balance']:.1e}"
    )
    out.print(f"Files: {', '.join(str(file) for file in files)}", soft_wrap=True)
    out.print(f"\nTo see the walk, open [bold]{files[-2]}[/bold] in a browser.", soft_wrap=True)


def _rows(measured: Sequence[Measured]) -> dict[str, list[str]]:
    return {
        "operations as derived": [_operations(one.before) for one in measured],
        "operations reduced": [_operations(one.after) for one in measured],
        "proved equal": ["yes" if one.proved else "NO" for one in measured],
        "derive, reduce, prove, compile": [f"{one.seconds:.1f} s" for one in measured],
        "one call": [f"{one.nanoseconds:.0f} ns" for one in measured],
        "batched, all cores": [f"{one.rate / 1e6:.1f} million/s" for one in measured],
    }


def _operations(operations: Operations) -> str:
    return f"{operations.mul} mul + {operations.add} add"
