"""`kinegraph bench`: measurements that anyone can repeat."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import typer
from rich.table import Table

import kinegraph
from kinegraph.cli.common import JsonOption, console, print_json
from kinegraph.errors import KinegraphError

bench_app = typer.Typer(help="Measurements that anyone can repeat; only ratios mean something.", no_args_is_help=True)

#: Benches that need the source tree (the tests' models, C++ compilers, other programs): what each is for.
_SCRIPTS = {
    "simulate": "Simulations beside SciPy with Pinocchio, Exudyn and MuJoCo (--peers) at equal accuracy.",
    "counts": "Operation counts beside published ones, with kernel times before and after reduction.",
    "kernels": "Kernels: compile time, time per call, batches.",
    "loops": "Loops over bodies: time against the length of a chain.",
    "store": "The model database: saving and loading.",
    "robots": "Every robot of example-robot-data compared with Pinocchio.",
    "run_peers": "Kernels beside Pinocchio C++, CasADi C and MuJoCo.",
}
_NAMES = {"run_peers": "peers"}


@bench_app.command()
def kidym(json: JsonOption = False) -> None:
    """The three examples of KiDyM's Table 2, without and with native code."""
    from kinegraph.bench.kidym import EXAMPLES, measure

    rows = [measure(example) for example in EXAMPLES]
    if json:
        print_json({"examples": [
            {"model": row.example.model, "duration": row.example.duration, "without": row.without,
             "source_kb": row.source, "compile": row.compiling, "with": row.native, "ratio": row.ratio,
             "published": vars(row.example.published) | {"ratio": row.example.published.ratio}}
            for row in rows
        ]})  # fmt: skip
        return
    columns = "example", "by", "without", "source", "compiling", "with", "ratio", "ratio with compiling"
    table = Table(*columns, box=None, pad_edge=False)
    for row in rows:
        old = row.example.published
        table.add_row(
            f"{row.example.title}, {row.example.duration:g} s", "Kinegraph", f"{row.without:.2f} s",
            f"{row.source:.1f} KB", f"{row.compiling:.2f} s", f"{row.native:.4f} s", f"{row.ratio:.0f}",
            f"{row.ratio_with_compiling:.1f}",
        )  # fmt: skip
        table.add_row(
            "", "KiDyM, published", f"{old.without:g} s", f"{old.source:g} KB", f"{old.compiling:g} s",
            f"{old.native:g} s", f"{old.ratio:.2f}", f"{old.without / (old.native + old.compiling):.2f}",
        )  # fmt: skip
    console().print(table)


@bench_app.command()
def stiff(json: JsonOption = False) -> None:
    """A model with joint limits from soft to very stiff, integrated by BDF."""
    from kinegraph.bench.stiff import STIFFNESSES, measure

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


def _add(script: str, text: str) -> None:
    def run(context: typer.Context) -> None:
        raise typer.Exit(_run_script(script, context.args))

    name = _NAMES.get(script, script)
    settings = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
    bench_app.command(name, help=f"{text} Needs the source tree.", context_settings=settings)(run)


def _run_script(script: str, arguments: list[str]) -> int:
    """Run a bench of the source tree this package stands in."""
    root = Path(kinegraph.__file__).resolve().parents[2]
    if not (root / "bench" / f"{script}.py").is_file():
        raise KinegraphError(
            f"the bench {script!r} is not part of the installed package\n"
            "  get the source tree, install it with `pip install -e '.[bench]'`, and run the command again"
        )
    paths = [str(root), str(root / "src"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    return subprocess.call([sys.executable, "-m", f"bench.{script}", *arguments], cwd=root, env=environment)


for _script, _text in _SCRIPTS.items():
    _add(_script, _text)
