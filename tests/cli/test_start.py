"""The command line starts at once: what only some commands need is imported by them."""

from __future__ import annotations

import subprocess
import sys


def test_help_and_eval_do_not_wake_what_they_do_not_need() -> None:
    """SciPy, Numba, Matplotlib and the tasks take longer to import than a first result takes to compute."""
    code = "import sys, kinegraph.cli; print(sorted({name.partition('.')[0] for name in sys.modules}), *sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    for heavy in ("scipy", "numba", "matplotlib", "sympy", "pyarrow"):
        assert f"'{heavy}'" not in found, heavy
    for module in ("kinegraph.simulate.run", "kinegraph.tasks.equilibria", "kinegraph.studies.run"):
        assert f" {module} " not in found, module
