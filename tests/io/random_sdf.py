"""Random SDF models: trees of links with frames, poses and axes stated in all ways the format has."""

from __future__ import annotations

import numpy as np

_KINDS = ("revolute", "prismatic", "continuous", "universal", "screw", "fixed")


class _Model:
    """Grows one model; what is placed or attached may refer to all that stands there already."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.frames = ["__model__"]
        self.links: list[str] = []
        self.parts = [f"<pose>{self.numbers(6)}</pose>"]

    def numbers(self, count: int) -> str:
        return " ".join(f"{value:.3f}" for value in self.random.uniform(-1, 1, count))

    def pose(self, *more: str) -> str:
        return f'<pose relative_to="{self.random.choice([*self.frames, *more])}">{self.numbers(6)}</pose>'

    def grow(self, number: int) -> None:
        parent = self.parent(number)
        link, joint = f"L{number}", f"J{number}"
        x, y, z = self.random.uniform(0.05, 0.07, 3)
        moments = f"<ixx>{x:.4f}</ixx><iyy>{y:.4f}</iyy><izz>{z:.4f}</izz><ixy>0.0007</ixy>"
        inertial = f"<pose>{self.numbers(6)}</pose><mass>{self.random.uniform(0.5, 2):.3f}</mass>"
        inside = f"<inertial>{inertial}<inertia>{moments}</inertia></inertial>"
        self.parts.append(f'<link name="{link}">{self.pose()}{inside}</link>')
        self.parts.append(self.joint(joint, parent, link))
        self.frames += [link, joint]
        self.links.append(link)

    def parent(self, number: int) -> str:
        if not self.links:
            return "world"
        link, frame = str(self.random.choice(self.links)), f"F{number}"
        self.parts.append(f'<frame name="{frame}" attached_to="{link}">{self.pose()}</frame>')
        self.frames.append(frame)
        return str(self.random.choice([link, frame]))

    def joint(self, name: str, parent: str, child: str) -> str:
        kind = str(self.random.choice(_KINDS))
        pose = self.random.choice(["", f"<pose>{self.numbers(6)}</pose>", self.pose(child)])
        ends = f"<parent>{parent}</parent><child>{child}</child>"
        return f'<joint name="{name}" type="{kind}">{pose}{ends}{self.axes(kind, name, child)}</joint>'

    def axes(self, kind: str, name: str, child: str) -> str:
        if kind == "fixed":
            return ""
        if kind == "universal":
            return "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>"
        frame = self.random.choice(["", *self.frames, name, child])
        expressed = f' expressed_in="{frame}"' if frame else ""
        damping = "<dynamics><damping>0.4</damping></dynamics>" if kind in ("revolute", "prismatic") else ""
        pitch = "<screw_thread_pitch>0.4</screw_thread_pitch>" if kind == "screw" else ""
        return f"<axis><xyz{expressed}>{self.numbers(3)}</xyz>{damping}</axis>{pitch}"


def random_model(seed: int) -> str:
    """The text of a model with one to four links."""
    model = _Model(seed)
    for number in range(1 + seed % 4):
        model.grow(number)
    return f'<sdf version="1.10"><model name="m">{"".join(model.parts)}</model></sdf>'
