"""Random chains that fall on a floor and against a wall, by all laws: no hole in the floor, no pull, no energy made."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.simulate import Status
from tests.effort import SOAK


def random_chain(seed: int) -> str:
    random = np.random.default_rng(seed)
    links, friction = int(random.integers(1, 3)), random.choice([0, 0.1, 0.5])
    angles = ", ".join(f"q{k} = {random.uniform(-1.5, 1.5):.3f}" for k in range(links))
    bodies = [
        f"L{k}{f' ~ L{k - 1}' if k else ''} | {'Sx(0.5)' if k else 'Sx(x), Sz(z)'}, Ry(q{k}) "
        f"| Sx(0.25), m({random.uniform(0.3, 2):.2f}), Jy({random.uniform(0.01, 0.05):.3f});"
        for k in range(links)
    ]
    points = ["output P0 = L0 (0, 0, 0);", *(f"output P{k + 1} = L{k} (0.5, 0, 0);" for k in range(links))]
    restitution = random.choice([0, 0.3, 0.7])
    law = [f", friction({friction}), slip(P{k}.x')" if friction else "" for k in range(links + 1)]
    meet = [f"contact f{k} | P{k}.z >= 0 | restitution({restitution}){law[k]};" for k in range(links + 1)]
    meet += [f"contact w{k} | 1 - P{k}.x >= 0 | restitution({restitution});" for k in range(links + 1)]
    speeds = f"initial x' = {random.uniform(-2, 2):.3f}, q0' = {random.uniform(-4, 4):.3f};"
    order = random.choice(["simultaneous", "sequential"])
    head = f"model random; coordinates x = -0.5, z = 1.5, {angles}; {speeds} gravity 0, 0, -9.81;"
    return " ".join([head, *bodies, *points, *meet, f"impacts poisson, {order};"])


@pytest.mark.parametrize("seed", range(60 if SOAK else 3))
def test_random_chains(seed):
    model = kg.parse(random_chain(seed))
    found = kg.simulate(model, 2, native=False, times=20)
    assert found.status is Status.FINISHED, found.ending
    assert all(check.passed for check in found.checks)
    for contact in model.contacts:
        assert found[f"{contact.name}.gap"].min() > -1e-8
        assert found[f"{contact.name}.normal"].min() > -1e-6
