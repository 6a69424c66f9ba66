"""What MuJoCo says about the mass of meshes, and how far our own numbers are from it.

    pip install mujoco
    python -m tests.io.mesh_numbers

writes tests/data/meshes_mujoco.json for random solids whose faces have many corners; the tests then do not need MuJoCo.

    python -m tests.io.mesh_numbers FOLDER...

compares all meshes below folders (STL, OBJ and MSH files) by each of MuJoCo's four rules and prints a table.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import ModelError
from kinegraph.io.mjcf import load_mjcf
from kinegraph.model.evaluate import number
from kinegraph.model.poses import pose

Floats = NDArray[np.float64]

NUMBERS = Path(__file__).parents[1] / "data" / "meshes_mujoco.json"
RULES = ("legacy", "exact", "convex", "shell")
SOLIDS = 30


def model(file: str, rule: str) -> str:
    """A body that is nothing but a mesh."""
    return (
        f'<mujoco><asset><mesh name="m" file="{file}" inertia="{rule}"/></asset><worldbody>'
        '<body name="b"><freejoint align="false"/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
    )


def solid(seed: int) -> str:
    """A prism as an OBJ file: corners of both ends, which have five to eleven, do not lie in a plane."""
    random = np.random.default_rng(seed)
    n = int(random.integers(5, 12))
    angles = np.sort(random.uniform(0, 2 * np.pi, n))
    radii = random.uniform(0.4, 1, n)
    ring = np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)
    ends = [np.column_stack([ring, level + random.normal(0, 0.2, n)]) for level in (-0.8, 0.8)]
    turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    corners = random.choice([1.0, 0.02]) * np.concatenate(ends) @ turn.T + random.choice([0, 1]) * random.normal(size=3)
    faces = [list(range(n, 0, -1)), list(range(n + 1, 2 * n + 1))]
    faces += [[i + 1, (i + 1) % n + 1, n + (i + 1) % n + 1, n + i + 1] for i in range(n)]
    lines = [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in corners]
    return "\n".join([*lines, *("f " + " ".join(map(str, face)) for face in faces)]) + "\n"


def mujoco_numbers(folder: Path, file: str, rule: str) -> dict[str, list[float]] | None:
    """Mass, center and inertia by MuJoCo; None if it refuses the mesh."""
    import mujoco

    path = folder / "model.xml"
    path.write_text(model(file, rule), "utf-8")
    try:
        body = mujoco.MjModel.from_xml_path(str(path)).body("b")
    except ValueError:
        return None
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, body.iquat)
    axes = turn.reshape(3, 3)
    tensor = axes @ np.diag(body.inertia) @ axes.T
    return {"mass": body.mass.tolist(), "center": body.ipos.tolist(), "tensor": tensor.ravel().tolist()}


def own_numbers(folder: Path, file: str, rule: str) -> dict[str, list[float]] | None:
    """The same as we read it; None if we refuse the mesh."""
    path = folder / "model.xml"
    path.write_text(model(file, rule), "utf-8")
    try:
        inertia = load_mjcf(path).mechanism.body("b").inertia
    except ModelError:
        return None
    x, y, z, xy, yz, xz = (
        float(number(item, {})) for item in (inertia.Jx, inertia.Jy, inertia.Jz, inertia.Jxy, inertia.Jyz, inertia.Jxz)
    )
    axes, center = pose(inertia.central)
    tensor = axes @ np.array([[x, -xy, -xz], [-xy, y, -yz], [-xz, -yz, z]]) @ axes.T
    mass = [float(number(inertia.mass, {}))]
    return {"mass": mass, "center": center.tolist(), "tensor": tensor.ravel().tolist()}


def difference(own: dict[str, list[float]], other: dict[str, list[float]]) -> float:
    """How far two answers are apart: masses and moments by their own size, centers by the radius of gyration."""
    mass, tensor = other["mass"][0], np.array(other["tensor"])
    size = np.sqrt(np.abs(tensor).max() / mass)
    parts = [
        abs(own["mass"][0] - mass) / mass,
        np.abs(np.array(own["center"]) - other["center"]).max() / size,
        np.abs(own["tensor"] - tensor).max() / np.abs(tensor).max(),
    ]
    return float(max(parts))


def compared(files: list[Path]) -> Iterator[tuple[Path, str, float | str]]:
    """Each mesh by each rule: by how much we differ, or who refuses it."""
    for file in files:
        for rule in RULES:
            own = own_numbers(file.parent, file.name, rule)
            other = mujoco_numbers(file.parent, file.name, rule)
            if own is None or other is None:
                both = own is None and other is None
                yield file, rule, "refused" if both else "refused by us" if own is None else "refused by MuJoCo"
            else:
                yield file, rule, difference(own, other)


def main() -> None:
    """Write the numbers of our own solids, or compare the meshes of folders."""
    with TemporaryDirectory() as folder:
        if len(sys.argv) > 1:
            _compare(Path(folder), [Path(name) for name in sys.argv[1:]])
            return
        found: list[dict[str, Any]] = []
        for seed in range(SOLIDS):
            file = f"m{seed}.obj"  # MuJoCo remembers files by their names
            (Path(folder) / file).write_text(solid(seed), "utf-8")
            wanted = RULES if seed < SOLIDS // 6 else RULES[:1]
            rules = {rule: mujoco_numbers(Path(folder), file, rule) for rule in wanted}
            found.append({"obj": solid(seed), "rules": {rule: one for rule, one in rules.items() if one}})
        NUMBERS.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


def _compare(folder: Path, roots: list[Path]) -> None:
    copies: dict[Path, Path] = {}
    for root in roots:
        for file in sorted(root.rglob("*")):
            if file.suffix.lower() in (".stl", ".obj", ".msh"):
                copy = folder / f"m{len(copies)}{file.suffix.lower()}"
                copy.write_bytes(file.read_bytes())
                copies[copy] = file
    outcomes: dict[str, int] = {}
    worst = 0.0
    for copy, rule, found in compared(list(copies)):
        far = isinstance(found, float) and not found <= 1e-6
        word = found if isinstance(found, str) else "differ" if far else "agree"
        outcomes[word] = outcomes.get(word, 0) + 1
        if far or word.startswith("refused by"):
            print(f"{copies[copy]} {rule}: {found}")
        elif isinstance(found, float):
            worst = max(worst, found)
    print(f"{len(copies)} meshes by {len(RULES)} rules: {outcomes}, largest difference of those that agree {worst:.1e}")


if __name__ == "__main__":
    main()
