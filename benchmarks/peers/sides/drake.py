"""A robot as Drake reads it from SDF, its inertia matrix and forces in our coordinates; see `benchmarks/wheels.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kinegraph.io.robot.findings import Robot
from kinegraph.model.evaluate import number
from kinegraph.model.mechanism import Coordinate, QuaternionCoordinates

Arrays = dict[str, np.ndarray]


class Drake:
    """Drake's model of the same file, answering in our coordinates. Raises RuntimeError if Drake refuses the file."""

    def __init__(self, path: Path, package: Path, robot: Robot) -> None:
        from pydrake.all import MultibodyPlant, Parser  # some seconds

        self.plant = MultibodyPlant(0.0)
        parser = Parser(self.plant)
        parser.package_map().PopulateFromFolder(str(package))
        parser.AddModels(str(path))
        gravity = [float(number(item, {})) for item in robot.mechanism.gravity]
        self.plant.mutable_gravity_field().set_gravity_vector(gravity)
        self.plant.Finalize()
        self.context = self.plant.CreateDefaultContext()
        self.robot = robot
        found = (self.plant.get_joint(index) for index in self.plant.GetJointIndices())
        self.joints = {joint.name(): joint for joint in found if joint.num_velocities()}
        ours = len(robot.mechanism.layout.velocities)
        if ours != self.plant.num_velocities():
            raise RuntimeError(f"{self.plant.num_velocities()} velocities, Kinegraph {ours}")
        for coordinate in robot.mechanism.coordinates:
            name = self._joint_of(coordinate)
            single = isinstance(coordinate, Coordinate)
            if name not in self.joints or (not single and self.joints[name].num_positions() != 7):
                raise RuntimeError(f"other coordinates of the joint {name}")

    def _joint_of(self, coordinate: Coordinate | QuaternionCoordinates) -> str:
        name = coordinate.name if isinstance(coordinate, Coordinate) else coordinate.names[0]
        return self.robot.joints[name]

    def state(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Drake's q, and the matrix T of v_drake = T v."""
        theirs = np.zeros(self.plant.num_positions())
        turn = np.zeros((self.plant.num_velocities(),) * 2)
        seen: dict[str, int] = {}
        at_q = at_v = 0
        for coordinate in self.robot.mechanism.coordinates:
            single = isinstance(coordinate, Coordinate)
            name = self._joint_of(coordinate)
            joint = self.joints[name]
            place = seen.get(name, 0)
            seen[name] = place + 1
            p, r = joint.position_start(), joint.velocity_start()
            free = joint.num_velocities() == 6
            if single:
                theirs[p + (4 + place if free else place)] = q[at_q]
                turn[r + (3 + place if free else place), at_v] = 1
                at_q, at_v = at_q + 1, at_v + 1
                continue
            e0, e1, e2, e3 = theirs[p : p + 4] = q[at_q : at_q + 4]
            turn[r : r + 3, at_v : at_v + 3] = [  # Drake's angular velocities are along the axes before the rotation
                [1 - 2 * (e2 * e2 + e3 * e3), 2 * (e1 * e2 - e0 * e3), 2 * (e1 * e3 + e0 * e2)],
                [2 * (e1 * e2 + e0 * e3), 1 - 2 * (e1 * e1 + e3 * e3), 2 * (e2 * e3 - e0 * e1)],
                [2 * (e1 * e3 - e0 * e2), 2 * (e2 * e3 + e0 * e1), 1 - 2 * (e1 * e1 + e2 * e2)],
            ]
            at_q, at_v = at_q + 4, at_v + 3
        return theirs, turn

    def quantities(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Arrays:
        """The inertia matrix, and the forces beside those of gravity, springs and dampers."""
        from pydrake.all import MultibodyForces

        theirs, turn = self.state(q)
        self.plant.SetPositions(self.context, theirs)
        self.plant.SetVelocities(self.context, turn @ v)
        forces = MultibodyForces(self.plant)
        self.plant.CalcForceElementsContribution(self.context, forces)
        needed = self.plant.CalcInverseDynamics(self.context, turn @ a, forces)
        return {"H": turn.T @ self.plant.CalcMassMatrix(self.context) @ turn, "tau": turn.T @ needed}
