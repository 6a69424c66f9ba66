"""The data of a page's scene: links and how they stand, bodies, and what is drawn on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from kinegraph.model.evaluate import Value, number, parameter_values
from kinegraph.model.expression import Expression
from kinegraph.model.mechanism import Body, Mechanism
from kinegraph.solve.problem.problem import Floats
from kinegraph.version import __version__
from kinegraph.view.page.drawing import Drawer, Drawing, ellipsoid
from kinegraph.view.page.frames import FrameOnLink, Frames, LinkPoses
from kinegraph.view.page.geometry.packing import packed
from kinegraph.view.page.states import States
from kinegraph.view.page.units import units


@dataclass(frozen=True)
class Scene:
    """A mechanism at some times: its frames, their motion and the parts to be drawn."""

    mechanism: Mechanism
    bound: Mapping[str, Expression]
    values: Mapping[str, Value]
    frames: Frames
    times: Floats
    motion: LinkPoses
    drawing: Drawing

    @cached_property
    def units(self) -> dict[str, str]:
        """The unit of every coordinate and velocity, as far as it is known."""
        return units(self.mechanism, self.frames)

    def data(self) -> dict[str, object]:
        """What the page's script reads."""
        return {
            "model": self.mechanism.name,
            "version": __version__,
            "times": packed(self.times.astype("<f8")),
            "links": len(self.frames.tree.links) - 1,
            "motion": packed(self.motion.numbers.astype("<f4")),
            "gravity": self.frames.gravity(float(self.times[0])).tolist(),
            "bodies": [self._body(body) for body in self.mechanism.bodies],
            "parts": self.drawing.parts,
            "meshes": [
                {"corners": packed(mesh.corners.astype("<f4")), "triangles": packed(mesh.triangles.astype("<u4"))}
                for mesh in self.drawing.meshes
            ],
        }

    def _body(self, body: Body) -> dict[str, object]:
        place, centre = self.frames.body(body.name), self.frames.centre(body)
        found = ellipsoid(body, self.values)
        if found is not None:
            centre = FrameOnLink(centre.link, centre.rotation @ found[0], centre.position)
        base = [one.name for one in self.mechanism.bodies].index(body.base) if body.base is not None else -1
        return {
            "name": body.name, "base": base, "link": place.link, "place": place.numbers, "centre": centre.numbers,
            "mass": number(body.inertia.mass, self.values), "ellipsoid": found[1] if found else None,
        }  # fmt: skip


def scene_of(mechanism: Mechanism, bound: Mapping[str, Expression], states: States) -> Scene:
    """The scene at the times of the states."""
    frames = Frames(mechanism, bound)
    motion = frames.motion(states.columns)
    drawing = Drawer(mechanism, frames, motion, bound, states).draw()
    return Scene(mechanism, bound, parameter_values(mechanism, bound), frames, states.times, motion, drawing)
