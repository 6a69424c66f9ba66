"""A comparable model in MuJoCo: the same bodies, legs as tendons, the same pairs of shapes, its own soft contact.

MuJoCo's contact is a constraint with a stiffness for each unit of mass, not Hunt and Crossley's; its planes belong to
the world, so the face of the target is a box. Steps of 1 ms; latches are looked at every 5 ms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from kinegraph.docking.description import Docking
from kinegraph.docking.events import is_ring_first
from kinegraph.extras import extra
from kinegraph.model.elements import Capsule, CompliantContact, ContactShape, Plane, Sphere, anchors_of
from kinegraph.model.evaluate import number, parameter_values
from kinegraph.model.expressions import Expression
from kinegraph.model.mechanism import Body, Coordinate, Shift
from kinegraph.solve.problem import Floats

STEP, LOOK = 1e-3, 5
_HALF = 1.0  # half the side of the box that stands for a plane [m]


class MuJoCoDockings:
    """Dockings up to capture in MuJoCo."""

    def __init__(self, docking: Docking) -> None:
        self.docking = docking
        self.mujoco = extra("mujoco", "a comparison with MuJoCo")
        self.values = parameter_values(docking.mechanism, {})
        self.model = self.mujoco.MjModel.from_xml_string(self.text())
        self.data = self.mujoco.MjData(self.model)

    def captured(self, varied: Mapping[str, float], duration: float) -> float:
        """When a case is captured; NaN if it is not."""
        data, mujoco = self.data, self.mujoco
        mujoco.mj_resetData(self.model, data)
        self._start(varied)
        points = [(data.site(one.ring), data.site(one.target)) for one in self.docking.latches]
        before = None
        while data.time < duration:
            mujoco.mj_step(self.model, data, LOOK)
            apart = np.array([here.xpos - there.xpos for here, there in points])
            distances = np.linalg.norm(apart, axis=1)
            speeds = np.linalg.norm(apart - before, axis=1) / (LOOK * STEP) if before is not None else distances + 1e9
            if all(d < one.distance and s < one.speed
                   for d, s, one in zip(distances, speeds, self.docking.latches, strict=True)):  # fmt: skip
                return float(data.time)
            if distances.min() > self.docking.limits.away:
                return float("nan")
            before = apart
        return float("nan")

    def _start(self, varied: Mapping[str, float]) -> None:
        place = self.data.joint(self.docking.target)
        place.qpos[:2] = varied["offset_x"], varied["offset_y"]
        turn = np.array([1, varied["tilt_x"] / 2, varied["tilt_y"] / 2, varied["roll"] / 2])
        place.qpos[3:] = turn / np.linalg.norm(turn)
        place.qvel[:3] = varied["drift_x"], varied["drift_y"], -varied["closing"]
        place.qvel[3:] = varied["tilting_x"], varied["tilting_y"], varied["spinning"]

    # the model

    def text(self) -> str:
        """The model in MJCF."""
        docking = self.docking
        names = (docking.chaser, docking.ring, docking.target)
        bodies = "".join(self._body(docking.mechanism.body(name)) for name in names)
        pairs = "".join(self._pair(one) for one in docking.guides)
        legs = "".join(self._legs())
        return (
            f'<mujoco><option timestep="{STEP}" gravity="0 0 0" integrator="implicitfast"/>'
            f"<worldbody>{bodies}</worldbody><contact>{pairs}</contact><tendon>{legs}</tendon></mujoco>"
        )

    def _body(self, body: Body) -> str:
        starts = {one.name: one.position for one in self.docking.mechanism.coordinates if isinstance(one, Coordinate)}
        shifts = [one for one in body.transforms if isinstance(one, Shift)]
        position = [float(number(starts[one.distance.text], self.values)) for one in shifts]  # type: ignore[attr-defined]
        inertia = body.inertia
        center = [0.0, 0.0, sum(self._number(one.distance) for one in inertia.central if isinstance(one, Shift))]
        moments = [self._number(one) for one in (inertia.Jx, inertia.Jy, inertia.Jz)]
        sites = "".join(
            f'<site name="{one.name}" pos="{_text(self._point(one.position))}"/>'
            for one in self.docking.mechanism.points
            if one.body == body.name
        )
        shapes = "".join(self._shapes(body.name))
        return (
            f'<body name="{body.name}" pos="{_text(position)}"><freejoint name="{body.name}"/><inertial '
            f'pos="{_text(center)}" mass="{self._number(inertia.mass)}" diaginertia="{_text(moments)}"/>'
            f"{sites}{shapes}</body>"
        )

    def _shapes(self, body: str) -> Iterator[str]:
        for one in self.docking.guides:
            for side, shape in zip("ab", one.shapes, strict=True):
                if anchors_of(shape)[0].of == body:
                    yield self._geom(f"{one.name}.{side}", shape)

    def _geom(self, name: str, shape: ContactShape) -> str:
        off = f'name="{name}" contype="0" conaffinity="0" mass="0"'
        places = [self._point(one.position) for one in anchors_of(shape)]
        if isinstance(shape, Capsule):
            ends, radius = _text([*places[0], *places[1]]), self._number(shape.radius)
            return f'<geom {off} type="capsule" fromto="{ends}" size="{radius}"/>'
        if isinstance(shape, Sphere):
            return f'<geom {off} type="sphere" pos="{_text(places[0])}" size="{self._number(shape.radius)}"/>'
        assert isinstance(shape, Plane)
        normal = np.array([self._number(one) for one in shape.normal])
        middle = np.array(places[0]) - 0.05 * normal
        return f'<geom {off} type="box" pos="{_text(middle)}" size="{_HALF} {_HALF} 0.05"/>'

    def _pair(self, contact: CompliantContact) -> str:
        """A stiffness for each unit of mass, which is that of the ring, the lighter body."""
        ring = self._number(self.docking.mechanism.body(self.docking.ring).inertia.mass)
        stiffness, share = self._number(contact.stiffness), 0.9
        damping = 2 * np.sqrt(stiffness / ring) * 0.1
        law = f'solref="{-stiffness / ring / share:.6g} {-damping:.6g}" solimp="{share} {share} 0.001"'
        friction = self._number(contact.friction)
        sides = "ab" if is_ring_first(self.docking, contact) else "ba"
        return (
            f'<pair geom1="{contact.name}.{sides[0]}" geom2="{contact.name}.{sides[1]}" condim="3" {law} '
            f'friction="{friction} {friction} 0 0 0"/>'
        )

    def _legs(self) -> Iterator[str]:
        law = f'stiffness="{float(self.values["leg"])}" damping="{float(self.values["damp"])}"'
        rest = np.sqrt(0.65**2 + 0.6**2 - 2 * 0.65 * 0.6 * np.cos(2 * np.pi / 9) + 0.4**2)
        for letter in "ABCDEF":
            yield (
                f'<spatial {law} springlength="{rest:.17g}">'
                f'<site site="{letter}"/><site site="{letter.lower()}"/></spatial>'
            )

    def _point(self, position: Sequence[Expression]) -> list[float]:
        return [self._number(one) for one in position]

    def _number(self, expression: Expression) -> float:
        return float(number(expression, self.values))


def _text(numbers: Floats | list[float]) -> str:
    return " ".join(f"{one:.17g}" for one in numbers)
