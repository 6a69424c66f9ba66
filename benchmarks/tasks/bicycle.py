"""The benchmark bicycle from its nonlinear model with rolling wheels: times beside published ones, and its speeds.

    python -m benchmarks bicycle [--json]

Published: one right-hand side of SymPy's equations, generated as C, in 8.34 microseconds after hours of deriving.
Nothing is taken from the cache. Times are the shortest of many; only ratios mean something.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass

import numpy as np

from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler.compile import compile
from kinegraph.compiler.mechanism_source import load
from kinegraph.jit.kernel import KernelOptions
from kinegraph.reproduce.kernel_timing import STATES, KernelCaller, cpu_model
from kinegraph.tasks.continuation import continuation

PUBLISHED_MICROSECONDS = 8.34
PUBLISHED_WEAVE, PUBLISHED_CAPSIZE = 4.29238253634111, 6.02426201538837


@dataclass(frozen=True)
class Figures:
    """Seconds from the model's text to machine code, microseconds of an acceleration, critical speeds in m/s."""

    compiling: float
    right_hand_side: float
    ratio: float
    weave: float
    capsize: float


def measure() -> Figures:
    """All figures in one run."""
    start = time.perf_counter()
    kernel = compile(load("bicycle"), "qdd", options=KernelOptions(cache=False), loops=False)
    compiling = time.perf_counter() - start
    assert isinstance(kernel, Kernel)
    driver = KernelCaller(kernel.input_size, kernel.output_size)
    driver.x[:] = _states(kernel)
    microseconds = driver.time([kernel.address], ordered=False)[0] / 1000
    weave, capsize = (one.value for one in continuation("bicycle", "x'", 3, 8, starts=0).special)
    return Figures(compiling, microseconds, PUBLISHED_MICROSECONDS / microseconds, weave, capsize)


def _states(kernel: Kernel) -> np.ndarray:
    """States around riding straight on at 4.6 m/s."""
    parts = kernel.arguments
    middle = {"x'": 4.6, "rear'": -4.6 / 0.3, "front'": -4.6 / 0.35, "z": -0.3}
    mean = [middle.get(symbol.name, 0.0) for part in parts for symbol in part.symbols]
    return np.array(mean) + np.random.default_rng(1).uniform(-0.1, 0.1, (STATES, len(mean)))


def main() -> None:
    """Print the table, or JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks bicycle", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print machine-readable JSON and nothing else")
    as_json = parser.parse_args().json
    found = measure()
    if as_json:
        print(json.dumps({"processor": cpu_model(), **asdict(found)}))
        return
    print(f"{cpu_model()}: benchmark bicycle, nonlinear, with rolling")
    print(f"derived, reduced, proved, compiled   {found.compiling:.2f} s")
    print(
        f"accelerations                        {found.right_hand_side:.3f} us, {found.ratio:.0f} times faster than the "
        f"published {PUBLISHED_MICROSECONDS} us"
    )
    print(f"weave speed                          {found.weave:.15g} m/s, off by {found.weave - PUBLISHED_WEAVE:.0e}")
    print(
        f"capsize speed                        {found.capsize:.15g} m/s, off by {found.capsize - PUBLISHED_CAPSIZE:.0e}"
    )


if __name__ == "__main__":
    main()
