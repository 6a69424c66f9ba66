"""What Drake says about an SDF model.

    pip install drake
    python -m tests.io.drake_numbers

writes tests/data/sdf_drake.json for tests/io/data/sdf/tree.sdf; the tests then do not need Drake. States are stored by
joint: its positions and velocities in the order of its axes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

Numbers = dict[str, Any]

MODEL = Path(__file__).parent / "data" / "sdf" / "tree.sdf"
NUMBERS = Path(__file__).parents[1] / "data" / "sdf_drake.json"


def drake_numbers(text: str, states: int = 3) -> Numbers:
    """The inertia matrix, accelerations and poses of links at random states; the matrix in the order of the joints."""
    from pydrake.all import MultibodyPlant, Parser

    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(text, "sdf")
    plant.Finalize()
    context = plant.CreateDefaultContext()
    joints = [plant.get_joint(index) for index in plant.GetJointIndices()]
    moving = [joint for joint in joints if joint.num_velocities()]
    order = [joint.velocity_start() + k for joint in moving for k in range(joint.num_velocities())]
    random = np.random.default_rng(7)
    found = []
    for _ in range(states):
        q, v = random.uniform(-1, 1, plant.num_positions()), random.uniform(-1, 1, plant.num_velocities())
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        rates = plant.EvalTimeDerivatives(context).get_generalized_velocity().CopyToVector()
        bodies = (plant.get_body(index) for index in plant.GetBodyIndices(joints[0].model_instance()))
        poses = {body.name(): body.EvalPoseInWorld(context).GetAsMatrix4().tolist() for body in bodies}
        found.append(
            {
                "q": q[order].tolist(),
                "v": v[order].tolist(),
                "H": plant.CalcMassMatrix(context)[np.ix_(order, order)].tolist(),
                "qdd": rates[order].tolist(),
                "poses": poses,
            }
        )
    sizes = {joint.name(): joint.num_velocities() for joint in moving}
    return {"joints": sizes, "states": found}


def main() -> None:
    """Write the numbers."""
    from importlib.metadata import version

    source = f"Drake {version('drake')}, computed by tests/io/drake_numbers.py"
    NUMBERS.write_text(
        json.dumps({"source": source, **drake_numbers(MODEL.read_text("utf-8"))}) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
