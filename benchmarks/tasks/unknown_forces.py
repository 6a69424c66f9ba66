"""A X = B for unknown forces formed in two ways (KiDyM), in one run: operations, time to form, time of a call.

    python -m benchmarks unknown-forces [--json]

Old: the finished equations are differentiated by the unknowns. New: sorted while the elements are walked. Both are
derived by the same plan and proved equal. Times are the shortest of many; only ratios mean something.
"""

from __future__ import annotations

import argparse
import json
import re

from kinegraph import library
from kinegraph.io import parse
from kinegraph.model.mechanism import Mechanism
from kinegraph.reproduce.kernel_timing import KernelCaller, cpu_model
from kinegraph.tasks.unknown_forces import FormationsCompared, Formed, compare_formations

#: An arm that presses on a wall: one unknown in two components of a force.
_PRESSING_ARM = """
    model pressing-arm;
    parameters b = 0.3, mu = 0.25;
    coordinates q1, q2, q3;
    gravity 0, -9.81, 0;
    unknown N;
    A   | Rz(q1)           | Sx(0.22), m(4),   Jz(0.09);
    B~A | Sx(0.5), Rz(q2)  | Sx(0.19), m(2.5), Jz(0.035);
    C~B | Sx(0.4), Rz(q3)  | Sx(0.13), m(1.2), Jz(0.01);
    output tip = C (0.3, 0, 0);
    spring s | on(q3) stiffness(6) rest(0.4);
    force contact | at(tip), world(N*(-sin(b) + mu*cos(b)), N*(cos(b) + mu*sin(b)), 0);
"""

#: Mechanisms of the library loaded with unknown forces.
_LOADED = {
    "puma560": "force grip | at(flange), world(Fx, Fy, Fz); moment twist | at(L6), world(Mx, My, Mz);",
    "stanford": "force grip | at(gripper), body(Fx, Fy, Fz);",
    "ur5": "force wheel | at(flange), body(0.3*N, 0, N);",
    "four-bar": "moment drive | at(Crank), body(0, 0, M); force press | at(tip), world(0, -P, 0);",
    "pendulum-6": "force pull | at(tip), world(X, 0, Z);",
    "cart-double-pendulum": "force drive | value(F), on(x); force wind | at(tip), world(W, 0, 0);",
    "five-link-tree": "force hook | at(Bar4), world(X, Y, Z); moment motor | at(Bar2), body(0, 0, M);",
    "kidym-biped-new": "force ground | at(StL), world(Fx, Fy, Fz); moment sole | at(StL), body(Mx, My, 0);",
}
_FORCES = re.compile(r"\b(?:[FM][xyz]|[FMNPWXYZ])\b")


def examples() -> list[tuple[Mechanism, tuple[str, ...]]]:
    """Mechanisms with what is unknown in them."""
    found: list[tuple[Mechanism, tuple[str, ...]]] = [(parse(_PRESSING_ARM), ("N",))]
    found += [(library.mechanism(name), ("S",)) for name in ("crane", "crane-linkage")]
    for name, forces in _LOADED.items():
        unknown = tuple(dict.fromkeys(_FORCES.findall(forces)))
        loaded = parse(f"{library.text(name)}\nunknown {', '.join(unknown)};\n{forces}")
        found.append((loaded, unknown))
    return found


def nanoseconds(compared: FormationsCompared) -> tuple[float, float]:
    """Per call of each way's kernel, taking turns."""
    kernels = compared.old.kernel, compared.new.kernel
    driver = KernelCaller(kernels[0].input_size, kernels[0].output_size)
    driver.x[:] = abs(driver.x) / 4 + 2.5  # inside what the crane's triangles allow
    old, new = driver.time([kernel.address for kernel in kernels], ordered=False)
    return old, new


def main() -> None:
    """Print the table, or JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks unknown-forces", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print machine-readable JSON and nothing else")
    as_json = parser.parse_args().json
    rows = []
    for mechanism, unknown in examples():
        compared = compare_formations(mechanism, unknown)
        rows.append((compared, unknown, nanoseconds(compared)))
    if as_json:
        print(json.dumps({"processor": cpu_model(), "examples": [_data(*row) for row in rows]}))
        return
    print(
        f"{cpu_model()}: operations (+, *, functions) as formed and reduced, milliseconds to form, nanoseconds a call"
    )
    print(f"{'mechanism, unknowns':34}{'way':6}{'formed':>8}{'reduced':>9}{'ms':>8}{'ns':>7}  equal")
    for compared, unknown, times in rows:
        for formed, time in zip((compared.old, compared.new), times, strict=True):
            name = f"{compared.model}, {len(unknown)}" if formed is compared.old else ""
            print(
                f"{name:34}{formed.way.value:6}{_total(formed, False):8}{_total(formed, True):9}"
                f"{1e3 * formed.seconds:8.2f}{time:7.0f}  {'proved' if compared.proved else 'NOT PROVED'}"
            )


def _total(formed: Formed, reduced: bool) -> int:
    return (formed.reduced if reduced else formed.formed).total


def _data(compared: FormationsCompared, unknown: tuple[str, ...], times: tuple[float, float]) -> dict[str, object]:
    ways = {
        formed.way.value: {
            "formed": vars(formed.formed),
            "reduced": vars(formed.reduced),
            "seconds": formed.seconds,
            "nanoseconds": time,
        }
        for formed, time in zip((compared.old, compared.new), times, strict=True)
    }
    return {"model": compared.model, "unknown": unknown, "proved": compared.proved, **ways}


if __name__ == "__main__":
    main()
