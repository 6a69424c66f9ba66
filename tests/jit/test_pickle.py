"""Kernels are pickled as recipes, never as addresses: another process gets the same numbers."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np

import kinegraph as kg
from kinegraph.codegen.program.interpreted import InterpretedKernel
from kinegraph.compiler.request import arguments_of
from tests.cli.run import ENVIRONMENT

SCRIPT = """
import pickle, sys
import numpy as np
functions, q, v, a = pickle.load(open(sys.argv[1], "rb"))
straight, solved, sparse, looped, interpreted = functions
found = [straight(q, v, a), solved(q, v, a), sparse(q).toarray(), looped(q, v, a), interpreted(q, v, a)]
assert straight.proof is not None
pickle.dump([np.asarray(one) for one in found], open(sys.argv[2], "wb"))
"""


def test_kernels_of_all_forms_reach_a_fresh_process(tmp_path: Path) -> None:
    arm = kg.load("puma560")
    q, v, a = np.random.default_rng(3).uniform(-1, 1, (3, 6))
    interpreted = InterpretedKernel(kg.derive(arm, "tau", numeric=True), arguments_of(arm, "tau"))
    straight, solved = kg.compile(arm, "tau"), kg.compile(arm, "d(qdd)/d(v)")
    sparse, looped = kg.compile(arm, "H", sparse=True), kg.compile(arm, "tau", loops=True)
    expected = [straight(q, v, a), solved(q, v, a), sparse(q).toarray(), looped(q, v, a)]
    expected.append(interpreted(q, v, a))
    sent, received = tmp_path / "sent", tmp_path / "received"
    sent.write_bytes(pickle.dumps(((straight, solved, sparse, looped, interpreted), q, v, a)))
    command = [sys.executable, "-c", SCRIPT, str(sent), str(received)]
    subprocess.run(command, env=ENVIRONMENT, check=True)
    for one, other in zip(pickle.loads(received.read_bytes()), expected, strict=True):
        np.testing.assert_array_equal(one, other)
