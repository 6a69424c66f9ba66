"""Four chains with springs between them on the ranks of MPI beside one process: run by test_chains.py on two ranks."""

from __future__ import annotations

import numpy as np
from mpi4py import MPI

import kinegraph as kg
from kinegraph.recursive.chains.dynamics import ChainSystem, Stabilized, integrated
from kinegraph.recursive.chains.exchange import Ranks
from tests.recursive.chains_case import PLATFORM, state


def main() -> None:
    mechanism = kg.parse(PLATFORM)
    q, v, _ = state(mechanism)
    ranks = Ranks(MPI.COMM_WORLD)
    last = []
    for exchange in (ranks, None):
        system = ChainSystem(mechanism, body="Slide", exchange=exchange, stabilized=Stabilized(5, 5))
        last.append(integrated(system, q, v, 0.01, 0.01))
    if MPI.COMM_WORLD.Get_rank() == 0:
        print(float(np.max(np.abs(last[0].q - last[1].q))), float(np.max(np.abs(last[0].v - last[1].v))))
        print(ranks.traffic.messages, last[0].missed)


if __name__ == "__main__":
    main()
