"""`python -m benchmarks NAME`: reproducible benchmarks, of this source and beside other programs."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer
from rich.table import Table

from kinegraph.cli.common import JsonOption, console, print_json
from kinegraph.errors import KinegraphError

if TYPE_CHECKING:
    from kinegraph.reproduce.kidym_native_code import Row

app = typer.Typer(help="Reproducible benchmarks. Compare ratios, not absolute times.", no_args_is_help=True)

#: Benchmarks with options of their own: what each is for.
_MODULES = {
    "counts": "Operation counts beside published ones, with kernel times before and after reduction.",
    "reduction": "Operation counts after each pass, beside published ones.",
    "kernels": "Kernels: compile time, time per call, batches (needs gcc).",
    "loops": "Loops over bodies: time against the length of a chain.",
    "closed-loops": "Accelerations of closed loops beside Pinocchio C++ (needs a C++ compiler).",
    "closures": "Compare loop-closure methods: multipliers, coordinate partitioning, closed forms.",
    "parallel-chains": "Chains of closed loops on one thread, two threads, two MPI ranks, beside published times.",
    "iftomm": "The IFToMM problems A01 to A05: error and time beside published ones.",
    "long-runs": "Loops over a million steps: how far they open, how well energy is kept.",
    "linkages": "Four-bar and slider-crank beside Exudyn's generalized-alpha at equal accuracy.",
    "bounces": "A thousand bounces of a ball, by a contact and by an event that resets.",
    "unknown-forces": "Unknown forces: the equations formed in two ways, operations and times.",
    "machines": "The crane, and arms that draw: forces, paths and springs beside each other; --pictures.",
    "ik": "Inverse kinematics: all solutions, time per pose beside EAIK.",
    "bicycle": "The benchmark bicycle: time to compile, time per call, weave and capsize speeds.",
    "continuation": "Special points of equilibria beside AUTO-07p (needs auto-07p, gcc and gfortran).",
    "gradients": "Derivatives of a run by many parameters, forwards and backwards in time.",
    "platforms": "A Gough-Stewart platform beside Pinocchio C++ and MuJoCo (needs a C++ compiler).",
    "kidym-rule": "KiDyM's rule of thumb, gain by native code against the size of its source (needs gcc).",
    "store": "The model database: saving and loading.",
    "simulate": "Simulations beside SciPy with Pinocchio, Exudyn and MuJoCo (--peers) at equal accuracy.",
    "stepping": "Robots stepped from outside, one and thousands at once, beside MuJoCo.",
    "feet": "A quadruped stands, is pushed and trots, beside MuJoCo: speed and penetration.",
    "robots": "Robots of example-robot-data beside Pinocchio; --wheels: files of other packages, MuJoCo too.",
    "robot-calls": "The calls of Pinocchio and MuJoCo used most, beside `kg.robot`: do they agree?",
    "runtime-parameters": "Kernels with all inertias as run-time parameters beside kernels with constants.",
    "study": "Studies: cases a second beside a plain SciPy loop; --dask: the overhead of a cluster.",
    "studio": "The studio in a browser: from key to view, frames a second, time to open (needs Chromium).",
    "sizes": "Lines of modules and functions, modules of folders, of this source or others (--source).",
    "walk": "Functions, modules, depth and hops of everyday requests, of this source or others (--source).",
    "kernels-in-turn": "Kernels of this source and of another copy (--source), timed in turn: what changed?",
    "first-result": "From a file to a first result in a new process, with an empty cache and a full one.",
    "first-use": "Everyday commands with an empty cache and again, and the size of an installation (--source).",
    "docking": "Ten thousand dockings: capture probability, cases a second beside a plain SciPy loop; --mujoco.",
    "peers": "Kernels beside Pinocchio C++, CasADi C and MuJoCo (needs a C++ compiler).",
}
#: The modules of benchmarks that are not named as their file.
_ROOMS = {
    "robot-calls": "benchmarks.robot_calls",
    "runtime-parameters": "benchmarks.runtime_parameters",
    "unknown-forces": "benchmarks.tasks.unknown_forces",
    "kidym-rule": "kinegraph.reproduce.kidym_native_code",
    "ik": "benchmarks.tasks.inverse_kinematics",
    "machines": "benchmarks.tasks.machines",
    "continuation": "benchmarks.tasks.continuation",
    "bicycle": "benchmarks.tasks.bicycle",
    "parallel-chains": "kinegraph.reproduce.parallel_chains",
    "closures": "benchmarks.linkages.closures",
    "iftomm": "benchmarks.linkages.iftomm",
    "long-runs": "benchmarks.linkages.long_runs",
    "linkages": "benchmarks.linkages.beside_exudyn",
    "gradients": "benchmarks.tasks.gradients",
    "sizes": "benchmarks.self.sizes",
    "walk": "benchmarks.self.walk",
    "first-result": "benchmarks.self.first_result",
    "first-use": "benchmarks.self.first_use",
    "kernels-in-turn": "benchmarks.self.kernels_in_turn",
}
#: The programs of others that benches compare with; they come with the extra `bench`.
_PEERS = ("pinocchio", "mujoco", "casadi", "exudyn", "example_robot_data", "cmeel", "eaik")


@app.command()
def kidym(json: JsonOption = False) -> None:
    """The three examples of KiDyM's Table 2, without and with native code."""
    from kinegraph.reproduce.kidym_native_code import EXAMPLES, measure_table_2

    rows = [measure_table_2(example) for example in EXAMPLES]
    if json:
        print_json({"examples": [_kidym_data(row) for row in rows]})
    else:
        console().print(_kidym_table(rows))


def _kidym_data(row: Row) -> dict[str, object]:
    return {
        "model": row.example.model, "duration": row.example.duration, "without": row.without,
        "source_kb": row.source, "object_kb": row.sizes.object if row.sizes else None,
        "library_kb": row.sizes.library if row.sizes else None, "compile": row.compiling, "with": row.native,
        "ratio": row.ratio, "published": vars(row.example.published) | {"ratio": row.example.published.ratio},
    }  # fmt: skip


_KIDYM = (
    "example", "by", "without", "source", "object", "library", "compiling", "with", "ratio", "ratio with compiling",
)  # fmt: skip


def _kidym_table(rows: Sequence[Row]) -> Table:
    table = Table(*_KIDYM, box=None, pad_edge=False)
    for row in rows:
        old = row.example.published
        table.add_row(
            f"{row.example.title}, {row.example.duration:g} s", "Kinegraph", f"{row.without:.2f} s",
            f"{row.source:.1f} KB", _size(row.sizes.object if row.sizes else None),
            _size(row.sizes.library if row.sizes else None), f"{row.compiling:.2f} s", f"{row.native:.4f} s",
            f"{row.ratio:.0f}", f"{row.ratio_with_compiling:.1f}",
        )  # fmt: skip
        table.add_row(
            "", "KiDyM, published", f"{old.without:g} s", f"{old.source:g} KB", _size(old.object),
            _size(old.library), f"{old.compiling:g} s",
            f"{old.native:g} s", f"{old.ratio:.2f}", f"{old.without / (old.native + old.compiling):.2f}",
        )  # fmt: skip
    return table


def _size(kilobytes: float | None) -> str:
    return "no gcc" if kilobytes is None else f"{kilobytes:.1f} KB"


@app.command()
def stiff(json: JsonOption = False) -> None:
    """A model with joint limits from soft to very stiff, integrated by BDF."""
    from benchmarks.stiff import STIFFNESSES, measure

    rows = [measure(stiffness) for stiffness in STIFFNESSES]
    if json:
        print_json({"runs": [vars(row) for row in rows]})
        return
    table = Table("stiffness", "seconds", "ratio", "steps", "evaluations", "Jacobians", "energy", box=None)
    for row in rows:
        table.add_row(
            f"{row.stiffness:g}", f"{row.seconds:.4f}", f"{row.seconds / rows[0].seconds:.2f}", str(row.steps),
            str(row.evaluations), str(row.jacobians), f"{row.balance:.1e}",
        )  # fmt: skip
    console().print(table)


def _add(name: str, text: str) -> None:
    def run(context: typer.Context) -> None:
        _run(name, context.args)

    settings = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
    app.command(name, help=text, context_settings=settings)(run)


def module_of(name: str) -> str:
    """The module of a benchmark."""
    return _ROOMS.get(name, f"benchmarks.{name.replace('-', '_')}")


def _run(name: str, arguments: list[str]) -> None:
    """Run a benchmark in this process, as if its module were a program."""
    before = sys.argv
    sys.argv = [f"python -m benchmarks {name}", *arguments]
    try:
        runpy.run_module(module_of(name), run_name="__main__")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _PEERS:
            raise
        raise KinegraphError(
            f"`python -m benchmarks {name}` compares with {error.name}, which is not installed\n"
            "  install the peers: pip install -e '.[bench]'"
        ) from None
    finally:
        sys.argv = before


for _name, _text in _MODULES.items():
    _add(_name, _text)

if __name__ == "__main__":
    try:
        app(prog_name="python -m benchmarks", standalone_mode=True)
    except KinegraphError as error:
        sys.exit(f"error: {error}")
