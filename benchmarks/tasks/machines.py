"""The machines of KiDyM's second paper: the crane's rack force, and the curves that PUMA and Stanford arm draw.

    python -m benchmarks machines [--pictures FOLDER] [--json]

Crane: travel of the load, the rack force by both ways and both models, and a crane found by synthesis. Arms: torques of
the exact path beside those of the spring method, and how near a run under the torques comes to the curve.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from kinegraph.compiler.compile import compile
from kinegraph.reproduce.documents.inverse import CRANE_LAW, DRAWINGS, Drawing
from kinegraph.simulate.run import simulate
from kinegraph.solve.problem import Sampled
from kinegraph.tasks.follow import follow, follow_by_spring
from kinegraph.tasks.force_equations import Formation
from kinegraph.tasks.operating_point import Floats
from kinegraph.tasks.prescribed_motion import SampledMotion
from kinegraph.tasks.synthesize import synthesize_path
from kinegraph.tasks.unknown_forces import UnknownForces, unknown_forces

_CRANE_BOUNDS = {
    "DF": (16.0, 20.0), "Ex": (-6.0, -4.0), "Ey": (-1.0, 1.5), "EL": (24.0, 32.0), "Lx": (-4.5, -3.4),
    "Ly": (14.5, 15.6), "AC": (12.0, 13.5), "level": (10.0, 25.0),
}  # fmt: skip
STIFFNESSES = (1e6, 1e7, 1e8)
_SAMPLES = 16_000


@dataclass(frozen=True)
class SpringFigures:
    """One stiffness: how far off the curve, and the largest difference of a torque by the largest torque."""

    stiffness: float
    deviation: float
    torques: float


@dataclass(frozen=True)
class DrawingFigures:
    """One arm: springs of several stiffnesses, and how far a run under the exact torques leaves the curve."""

    model: str
    springs: tuple[SpringFigures, ...]
    drawn_again: float


@dataclass(frozen=True)
class CraneFigures:
    """Travel of the load in meters; largest relative differences of the rack force between ways and models."""

    sideways: float
    height: float
    ways: float
    models: float
    synthesized_sideways: float
    synthesized_height: float
    dimensions: dict[str, float]


def crane() -> CraneFigures:
    """All figures of the crane."""
    times = np.linspace(0, 40, 25)
    old, new = (unknown_forces("crane", CRANE_LAW, times, unknown=["S"], method=way)["S"] for way in Formation)
    linkage = unknown_forces("crane-linkage", CRANE_LAW, times, unknown=["S"])["S"]
    found = synthesize_path(
        "crane", CRANE_LAW, {"F.y": "level", "F.x": "34 - 26.1*t/40"}, _CRANE_BOUNDS, np.linspace(0, 40, 61),
        only_at={"F.x": [0, 40]},
    )  # fmt: skip
    dimensions = {name: found[name] for name in found.free if name != "level"}
    scale = float(np.abs(new).max())
    return CraneFigures(
        *travel({}),
        float(np.abs(old - new).max()) / scale,
        float(np.abs(linkage - new).max()) / scale,
        *travel(dimensions),
        dimensions,
    )


def load_path(parameters: dict[str, float]) -> Floats:
    """Where the load goes: rows of x and y."""
    s = (7.1 + 2.26 + (7.1 - 2.26) * np.cos(np.linspace(0, np.pi, 2001))) / 2
    return np.asarray(compile("crane", "pose:F", parameters=parameters).batch(s[:, None])[:, :2, 3])


def travel(parameters: dict[str, float]) -> tuple[float, float]:
    """How far the load goes sideways, and by how much its height changes."""
    x, y = np.ptp(load_path(parameters), axis=0)
    return float(x), float(y)


def torques(drawing: Drawing, samples: int) -> tuple[SampledMotion, UnknownForces]:
    """The exact motion and its torques."""
    motion = follow(drawing.model, drawing.path, np.linspace(0, drawing.duration, samples + 1)).motion
    return motion, unknown_forces(drawing.model, motion, unknown=drawing.drives)


def springs(drawing: Drawing) -> tuple[SpringFigures, ...]:
    """The spring method for several stiffnesses."""
    motion, exact = torques(drawing, 400)
    found = []
    for stiffness in STIFFNESSES:
        pulled = follow_by_spring(drawing.model, drawing.path, motion.times, stiffness=stiffness, native=True)
        forces = unknown_forces(drawing.model, pulled.motion, unknown=drawing.drives).values
        apart = np.abs(forces - exact.values).max(axis=0) / np.abs(exact.values).max(axis=0)
        found.append(SpringFigures(stiffness, max(pulled.deviation.values()), float(apart.max())))
    return tuple(found)


def drawn_again(drawing: Drawing) -> float:
    """How far a run under the exact torques leaves the curve."""
    motion, forces = torques(drawing, _SAMPLES)
    every = slice(None, None, _SAMPLES // 400)
    run = simulate(
        drawing.model,
        drawing.duration,
        inputs={name: Sampled(motion.times, forces[name], smooth=True) for name in drawing.drives},
        state=np.concatenate([motion.q[0], motion.v[0]]),
        rtol=1e-13, atol=1e-14, times=motion.times[every], native=True, progress=False,
    )  # fmt: skip
    pose = compile(drawing.model, f"pose:{drawing.point}")
    places = [pose.batch(rows)[:, :3, 3] for rows in (run.array(*run.positions), motion.q[every])]
    return float(np.abs(places[0] - places[1]).max())


def main() -> None:
    """Print the figures, or JSON; draw the pictures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks machines", description=__doc__)
    parser.add_argument("--pictures", type=Path, help="draw crane.png and drawing-arms.png into this folder")
    parser.add_argument("--json", action="store_true", help="print machine-readable JSON and nothing else")
    options = parser.parse_args()
    if options.pictures is not None:
        from benchmarks.tasks.machine_pictures import draw

        draw(options.pictures)
    found = crane()
    arms = [DrawingFigures(one.model, springs(one), drawn_again(one)) for one in DRAWINGS]
    if options.json:
        print(json.dumps({"crane": asdict(found), "arms": [asdict(one) for one in arms]}))
        return
    print(f"crane: load {found.sideways:.4f} m sideways, {found.height:.4f} m of height")
    print(f"  rack force, old and new way differ by {found.ways:.1e}, triangles and linkage by {found.models:.1e}")
    dimensions = ", ".join(f"{name} = {value:.4f}" for name, value in found.dimensions.items())
    print(f"  by synthesis {found.synthesized_sideways:.4f} m, {found.synthesized_height:.4f} m: {dimensions}")
    for arm in arms:
        print(f"{arm.model}: a run under the exact torques stays within {arm.drawn_again:.1e} m of the curve")
        for one in arm.springs:
            print(f"  springs of {one.stiffness:g} N/m: {one.deviation:.1e} m off, torques differ by {one.torques:.1e}")


if __name__ == "__main__":
    main()
