"""Closed loops by loops over chains beside graphs, in a process of its own: run by test_chains.py.

Prints one JSON object: for every case the largest relative difference of accelerations, and what else was found.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.linkages.long_loops import residual

import kinegraph as kg
from kinegraph.assembly.assemble import Assembler
from kinegraph.derive.dynamics.state_rate import NO_FORCES
from kinegraph.errors import KernelError, ProofError
from kinegraph.model.mechanism import Mechanism
from kinegraph.recursive.chains import closing
from kinegraph.recursive.chains.dynamics import ChainSystem, integrated
from kinegraph.recursive.chains.exchange import Threads
from kinegraph.recursive.linkages.assembly import closing_jacobian
from kinegraph.recursive.linkages.pins import LinkageSystem
from kinegraph.recursive.linkages.recognition import planar_linkage
from kinegraph.recursive.proof import prove
from kinegraph.recursive.proof.prove import INSTEAD, proved
from kinegraph.recursive.systems import ClosedSystem
from kinegraph.reproduce.parallel_chains import polygon
from kinegraph.simulate.equations import VelocityForm

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.derive.constraints.planar_loops import ring
from tests.interpreted import interpreted

PLATFORM = """
    model platform;
    gravity 0, -9.81, 0.3;
    coordinates x = 0.1, y = 1, p = 0.1, a1 = 1.9, a2 = -1.2, b1 = 1.2, b2 = 1, c1 = 2.5, c2 = -1.2, d1 = 1, d2 = 0.9;
    Slide    | Sx(x), Sy(y), Rz(p) | m(3), Jx(0.3), Jy(0.3), Jz(0.4);
    A1~Slide | Sx(-0.5), Rz(a1)    | Sx(1/2), m(1), Jz(1/12);
    A2~A1    | Sx(1), Rz(a2)       | Sx(1/2), m(1), Jz(1/12);
    B1~Slide | Sx(0.5), Rz(b1)     | Sx(1/2), m(1), Jz(1/12);
    B2~B1    | Sx(1), Rz(b2)       | Sx(1/2), m(1), Jz(1/12);
    C1~Slide | Sy(-0.2), Rz(c1)    | Sx(1/2), m(1), Jz(1/12);
    C2~C1    | Sx(1), Rz(c2)       | Sx(1/2), m(1), Jz(1/12);
    D1~Slide | Sy(0.2), Rz(d1)     | Sx(1/2), m(1), Jz(1/12);
    D2~D1    | Sx(1), Rz(d2)       | Sx(1/2), m(1), Jz(1/12);
    spring strut | between(A1(0.5, 0, 0), B2(0.5, 0, 0)), stiffness(40), rest(0.3);
    damper shock | between(C1(0.5, 0, 0), D2(0.5, 0, 0)), damping(2);
    loop left  | spherical | A2: Sx(1) | Sx(-1), Sy(2);
    loop right | spherical | B2: Sx(1) | Sx(1), Sy(2);
    loop inner | spherical | C2: Sx(1) | D2: Sx(1);
"""

GIMBAL = """
    model gimbal;
    gravity 0.1, 0.2, -9.81;
    quaternion (w, x, y, z) velocity (wx, wy, wz) = (1, 0, 0, 0);
    coordinates a = 0.4, s = 0.3, b = 0.2, c = -0.3, d = 0.6, e = 0.1;
    Top        | Q(w, x, y, z)     | Sz(-0.3), m(1), Jx(0.1), Jy(0.1), Jz(0.05);
    Arm~Top    | Sz(-0.6), Rx(a)   | Sz(-0.2), m(1), Jx(0.1), Jy(0.1), Jz(0.05);
    Slide~Arm  | Sz(-0.4 - s)      | m(0.5), Jx(0.1), Jy(0.1), Jz(0.1);
    Other      | Sx(1), Ry(b), Rx(c) | Sz(-0.5), m(1), Jx(0.1), Jy(0.1), Jz(0.02);
    Last~Other | Sz(-1), Ry(d), Rz(e) | Sz(-0.2), m(1), Jx(0.1), Jy(0.1), Jz(0.02);
    loop hinge | revolute(y) | Slide: Sx(0.1) | Last: Sz(-0.4);
"""

#: Two loops, one inside the other: the rung is on a bar of the outer one; angles are shared in several ways.
TRUSS = """
    model truss;
    gravity 0.5, -9.81, 0;
    coordinates a = 1.4, b = 0.2, c = 1.2, d = 0.1, e = 0.9;
    Left      | Sy(0.1), Rz(a)            | Sx(0.6), Sy(0.05), m(2), Jz(0.3);
    Top~Left  | Sx(1.1), Rz(b - 2*a + 0.3) | Sx(0.4), m(1), Jz(0.1);
    Right     | Sx(2), Rz(c)              | Sx(0.5), m(1), Jz(0.2);
    Rung~Left | Sx(0.5), Sy(0.1), Rz(d - a) | Sx(0.3), m(0.5), Jz(0.05);
    Prop      | Sx(1), Rz(e)              | Sx(0.2), m(0.5), Jz(0.05);
    loop upper | revolute  | Top: Sx(1.9) | Right: Sx(1.2);
    loop inner | spherical | Rung: Sx(0.8) | Prop: Sx(0.7);
"""


@cache
def state(mechanism: Mechanism) -> tuple[Any, Any, Any]:
    """An assembled state that moves, and forces."""
    assembler, random = Assembler(mechanism), np.random.default_rng(1)
    q, v = assembler.start({})
    found = assembler.assembled(q + random.normal(scale=0.02, size=len(q)), v + random.normal(size=len(v)))
    return np.array(found.q), np.array(found.v), random.normal(size=len(v))


@cache
def derived(mechanism: Mechanism) -> Any:
    """The derived graph of accelerations: several cases are about one mechanism."""
    return interpreted(mechanism, "qdd")


def compared(mechanism: Mechanism, **options: Any) -> dict[str, Any]:
    """Accelerations by chains beside those of the derived graph."""
    q, v, tau = state(mechanism)
    system = ChainSystem(mechanism, **options)
    found = system.evaluated(q, v, tau)
    wanted = derived(mechanism)(q, v, tau)
    return {
        "difference": float(np.max(np.abs(found.qdd - wanted)) / np.max(np.abs(wanted))),
        "chains": len(system.chains.parts),
        "rows": list(system.rows),
        "pivots": found.pivots.tolist(),
        "missed": float(np.max(np.abs(found.missed))),
    }


def pivots(name: str) -> dict[str, Any]:
    """Pivots by chains and by the graph."""
    mechanism = kg.library.mechanism(name)
    q, v, tau = state(mechanism)
    graph = interpreted(mechanism, "pivots")
    wanted = np.asarray(graph(*([q] if len(graph.arguments) == 1 else [q, v, tau])))
    found = ChainSystem(mechanism).evaluated(q, v, tau).pivots
    return {"difference": float(np.max(np.abs(found - wanted[: len(found)])))}


def planar(mechanism: Mechanism) -> dict[str, Any]:
    """A planar loop beside graphs: accelerations and pivots."""
    q, v, tau = state(mechanism)
    system = ClosedSystem(mechanism)
    wanted = derived(mechanism)(q, v, tau)
    found = system.qdd(q, v, tau)
    pivots = np.asarray(interpreted(mechanism, "pivots")(q))
    return {
        "code": system.closed_method.code,
        "difference": float(np.max(np.abs(found - wanted)) / np.max(np.abs(wanted))),
        "pivots": float(np.max(np.abs(system.pivots(q) - pivots))),
    }


def pins(mechanism: Mechanism) -> dict[str, Any]:
    """A planar linkage pin by pin beside graphs: accelerations, and one step back onto its loops from beside them."""
    q, v, tau = state(mechanism)
    linkage = planar_linkage(mechanism)
    assert linkage is not None
    system = LinkageSystem(*linkage)
    wanted = derived(mechanism)(q, v, tau)
    found, pivots = system.evaluated(q, v, tau)
    form, random = VelocityForm(mechanism, {}, NO_FORCES), np.random.default_rng(2)
    q, v = q + random.normal(scale=0.01, size=len(q)), v + random.normal(scale=0.1, size=len(v))
    graph = form.projected_states(np.zeros(1), q[None], v[None], np.zeros(0))
    place, speed, _, missed = system.projected_states(q, v)
    jacobian = closing_jacobian(system.linkage, q)
    return {
        "code": ClosedSystem(mechanism).closed_method.code,
        "difference": float(np.max(np.abs(found - wanted)) / np.max(np.abs(wanted))),
        "back": float(max(np.max(np.abs(place - graph.q)), np.max(np.abs(speed - graph.v)))),
        "missed": abs(float(np.max(np.abs(missed[:, :2]))) - graph.position),
        "rates": float(np.max(np.abs(jacobian @ v - missed[:, 2:].ravel()))),
        "least pivot": float(np.min(pivots)),
    }


def long_loop(joints: int) -> dict[str, Any]:
    """What the equations of a long loop miss, pin by pin and by chains; relative to the largest force."""
    return {
        code: residual(f"loop-{joints}", code == "pins", polygon(joints), np.random.default_rng(3))
        for code in ("pins", "chains")
    }


def refused() -> dict[str, str]:
    """What is said of a singular position."""
    try:
        ClosedSystem(kg.library.mechanism("loop-4")).qdd(np.zeros(3), np.zeros(3), np.zeros(3))
    except KernelError as error:
        return {"said": str(error)}
    return {"said": ""}


def proof(mechanism: Mechanism) -> dict[str, Any]:
    """The rows of loops in the proof of its loops over chains."""
    system = ClosedSystem(mechanism)
    return {"code": system.closed_method.code, "rows": proved(system, mechanism, ("qdd", "energy"), None).rows}


def unproved(mechanism: Mechanism) -> dict[str, str]:
    """What is said of loops over chains that forget the forces of the loops."""
    prove.INSTEAD = {**INSTEAD, closing._transferred: lambda *given: None}
    try:
        proved(ClosedSystem(mechanism), mechanism, ("qdd",), None)
    except ProofError as error:
        return {"said": str(error)}
    finally:
        prove.INSTEAD = INSTEAD
    return {"said": ""}


def singular() -> dict[str, Any]:
    """The pivots of a loop in a stretched position."""
    mechanism = kg.library.mechanism("loop-4")
    found = ChainSystem(mechanism).evaluated(np.array([0.0, 0.0, 0.0]), np.zeros(3), np.zeros(3))
    return {"pivot": float(np.min(found.pivots))}


def broken() -> dict[str, str]:
    """What is said of a run that becomes infinite."""
    q = np.array(polygon(5))
    try:
        integrated(ChainSystem(kg.library.mechanism("loop-5")), q, np.full(len(q), 1e200), 1.0, 0.5)
    except KernelError as error:
        return {"said": str(error)}
    return {"said": ""}


def main() -> None:
    platform, gimbal = kg.parse(PLATFORM), kg.parse(GIMBAL)
    cases = {
        "loop-9": lambda: compared(kg.library.mechanism("loop-9")),
        "slider-crank": lambda: compared(kg.library.mechanism("spatial-slider-crank")),
        "threads": lambda: compared(kg.library.mechanism("loop-9"), exchange=Threads(2)),
        "platform": lambda: compared(platform),
        "four chains": lambda: compared(platform, body="Slide"),
        "four chains on threads": lambda: compared(platform, body="Slide", exchange=Threads(3)),
        "gimbal": lambda: compared(gimbal),
        "gimbal on its top": lambda: compared(gimbal, body="Top"),
        "proof": lambda: proof(gimbal),
        "proof of a slider-crank": lambda: proof(kg.library.mechanism("spatial-slider-crank")),
        "wrong chains": lambda: unproved(gimbal),
        "pivots": lambda: pivots("loop-9"),
        "singular": singular,
        "refused": refused,
        "broken": broken,
        "planar loop": lambda: planar(kg.library.mechanism("loop-9")),
        "unequal bars": lambda: planar(ring(4, 3)),
        "bars about y": lambda: planar(ring(4, 3, "y")),
        "bars closed on the ground": lambda: planar(ring(5, 0)),
        "pins": lambda: pins(kg.library.mechanism("n-four-bar-3")),
        "pins of one loop": lambda: pins(ring(4, 3, "y")),
        "pins of a truss": lambda: pins(kg.parse(TRUSS)),
        "long": lambda: long_loop(300),
    }
    print(json.dumps({name: run() for name, run in cases.items()}))


if __name__ == "__main__":
    sys.exit(main())
