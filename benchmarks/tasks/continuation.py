"""Folds, branch points and Hopf points of equilibria beside AUTO-07p, from the same equations.

    python -m benchmarks continuation [--json]

The accelerations are exported as C and given to AUTO (Debian's auto-07p, with gcc and gfortran) as y' = f(y, p). Both
follow the branch through one start. Times are those of the run alone, without compiling; only ratios mean something.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from kinegraph.compiler.mechanism_source import load
from kinegraph.compiler.request import arguments_of
from kinegraph.errors import KinegraphError
from kinegraph.export.options import ExportOptions
from kinegraph.export.write import export
from kinegraph.model.evaluate import float_values, parameter_values
from kinegraph.model.mechanism import Mechanism
from kinegraph.reproduce.kernel_timing import cpu_model
from kinegraph.tasks.continuation import continuation

_AUTO = Path("/usr/lib/auto-07p")
#: AUTO's numbers for special points of equilibria.
_KINDS = {1: "branch point", 2: "fold", 3: "Hopf"}


@dataclass(frozen=True)
class Example:
    """A model of the library, what is varied, and the parameters that differ."""

    model: str
    over: str
    low: float
    high: float
    parameters: Mapping[str, float] = field(default_factory=dict)


EXAMPLES = (
    Example("bead-on-hoop", "omega", 1, 8),
    Example("column", "dead", 0, 200),
    Example("column", "follower", 0, 200, {"c": 0.05, "g": 0}),
    Example("column", "k1", 5, 60, {"dead": 10, "follower": 5, "c": 0.05}),
)


@dataclass(frozen=True)
class Side:
    """Special points (kind, value) that one program found on the branch through the first equilibrium, and its time."""

    points: list[tuple[str, float]]
    seconds: float


def ours(example: Example) -> Side:
    """The special points of the branch at rest with all coordinates zero."""
    best, found = np.inf, None
    for _ in range(3):
        start = time.perf_counter()
        found = continuation(example.model, example.over, example.low, example.high, _rest(example), starts=0,
                         parameters=example.parameters)  # fmt: skip
        best = min(best, time.perf_counter() - start)
    assert found is not None
    main = min(found, key=lambda one: float(np.max(np.abs(one.q))))
    return Side([(str(one.kind), one.value) for one in main.special], best)


def _rest(example: Example) -> dict[str, float]:
    return dict.fromkeys(load(example.model).layout.positions, 0.0)


def auto(example: Example) -> Side:
    """The same by AUTO-07p."""
    if not _AUTO.is_dir() or shutil.which("gfortran") is None or shutil.which("gcc") is None:
        raise KinegraphError(
            "`python -m benchmarks continuation` needs AUTO-07p, gcc and gfortran: apt install auto-07p gfortran"
        )
    mechanism = load(example.model)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        export(mechanism, "qdd", "c", place, ExportOptions(name="model", symbolic_parameters=True, self_test=False))
        (place / "equations.c").write_text(_equations(mechanism, example), "utf-8")
        _compile(place)
        start = time.perf_counter()
        subprocess.run(["./auto.exe"], cwd=place, input=_constants(mechanism, example), text=True,
                       capture_output=True, check=True)  # fmt: skip
        seconds = time.perf_counter() - start
        return Side(_special(place / "fort.7", place / "fort.8"), seconds)


def _equations(mechanism: Mechanism, example: Example) -> str:
    """AUTO's functions around the exported accelerations."""
    size = len(mechanism.layout.velocities)
    values = float_values(parameter_values(mechanism, example.parameters))
    names = [one.name for one in mechanism.parameters]
    arguments = {"q": "u", "v": f"u + {size}", "tau": "zero", "u": "zero", "t": "zero", "p": "p"}
    call = ", ".join(arguments[one.name] for one in arguments_of(mechanism, "qdd", names))
    numbers = ", ".join(repr(values[name]) for name in names)
    return f"""
#include "auto_f2c.h"
#include "model.h"
static double zero[{max(size, 1)}];
int func(integer ndim, const doublereal *u, const integer *icp, const doublereal *par, integer ijac,
         doublereal *f, doublereal *dfdu, doublereal *dfdp)
{{
    double p[] = {{{numbers}}};
    p[{names.index(example.over)}] = par[0];
    for (int k = 0; k < {size}; k++) f[k] = u[{size} + k];
    model_qdd({call}, f + {size});
    return 0;
}}
int stpnt(integer ndim, doublereal t, doublereal *u, doublereal *par)
{{
    par[0] = {example.low!r};
    for (int k = 0; k < {2 * size}; k++) u[k] = 0;
    return 0;
}}
int pvls(integer ndim, const doublereal *u, doublereal *par) {{ return 0; }}
int bcnd(integer ndim, const doublereal *par, const integer *icp, integer nbc, const doublereal *u0,
         const doublereal *u1, integer ijac, doublereal *f, doublereal *dbc) {{ return 0; }}
int icnd(integer ndim, const doublereal *par, const integer *icp, integer nint, const doublereal *u,
         const doublereal *uold, const doublereal *udot, const doublereal *upold, integer ijac, doublereal *fi,
         doublereal *dint) {{ return 0; }}
int fopt(integer ndim, const doublereal *u, const integer *icp, const doublereal *par, integer ijac,
         doublereal *fs, doublereal *dfdu, doublereal *dfdp) {{ return 0; }}
"""


def _compile(place: Path) -> None:
    for source in ("model", "equations"):
        subprocess.run(
            ["gcc", "-O2", "-I/usr/include", "-c", f"{source}.c"], cwd=place, check=True, capture_output=True
        )
    parts = ["equations.o", "model.o", *map(str, sorted((_AUTO / "lib").glob("*.o")))]
    command = ["gfortran", "-fopenmp", *parts, "-L" + str(_AUTO / "lib"), "-lauto_c", "-lm", "-o", "auto.exe"]
    subprocess.run(command, cwd=place, check=True, capture_output=True)


def _constants(mechanism: Mechanism, example: Example) -> str:
    step = (example.high - example.low) / 50
    return (
        f"NDIM={2 * len(mechanism.layout.velocities)}, IPS=1, IRS=0, ILP=1\nICP=[1]\nISP=2, ISW=1, MXBF=0\n"
        f"RL0={example.low - 1e-9!r}, RL1={example.high!r}, A0=-1e9, A1=1e9\n"
        f"NMX=2000, NPR=2000, ITMX=20, ITNW=12, NWTN=6, EPSL=1e-13, EPSU=1e-13, EPSS=1e-12\n"
        f"DS={step / 10!r}, DSMIN=1e-9, DSMAX={step!r}, IADS=1\n"
    )


def _special(diagram: Path, labeled: Path) -> list[tuple[str, float]]:
    """Special points by their labels in the diagram; their values, to more digits, from the labeled solutions."""
    kinds: dict[int, int] = {}
    for line in diagram.read_text().splitlines():
        words = line.split()
        if words and words[0] != "0" and int(words[3]):
            kinds[int(words[3])] = abs(int(words[2])) % 10
    values = _parameters(labeled.read_text().splitlines())
    return [(_KINDS[kind], values[label]) for label, kind in kinds.items() if kind in _KINDS]


def _parameters(lines: list[str]) -> dict[int, float]:
    """The first parameter of every labeled solution of fort.8."""
    found, place = {}, 0
    while place < len(lines):
        head = lines[place].split()
        label, length = int(head[3]), int(head[8])
        block = lines[place + 1 : place + 1 + length]
        count = -(-int(head[11]) // 7) if len(head) > 11 else 6
        found[label] = float(block[-count].split()[0])
        place += 1 + length
    return found


def main() -> None:
    """Print the table, or JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks continuation", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print machine-readable JSON and nothing else")
    as_json = parser.parse_args().json
    rows = [(example, ours(example), auto(example)) for example in EXAMPLES]
    if as_json:
        data = [
            {"model": one.model, "over": one.over, "kinegraph": vars(mine), "auto": vars(other)}
            for one, mine, other in rows
        ]
        print(json.dumps({"processor": cpu_model(), "examples": data}))
        return
    print(f"{cpu_model()}: special points on one branch; seconds of the run")
    for one, mine, other in rows:
        print(f"{one.model} over {one.over}: Kinegraph {mine.seconds:.3f} s, AUTO-07p {other.seconds:.3f} s")
        for name, side in (("Kinegraph", mine), ("AUTO-07p", other)):
            print(f"    {name:10} " + ", ".join(f"{kind} {value:.12g}" for kind, value in side.points))


if __name__ == "__main__":
    main()
