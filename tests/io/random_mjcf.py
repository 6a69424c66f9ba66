"""Random MJCF models, the same for the same seed: bodies and joints with everything that changes their dynamics."""

from __future__ import annotations

import struct
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

_PRIMITIVES = ("sphere", "capsule", "cylinder", "ellipsoid", "box")
_COMPILER = {
    'alignfree="true"': 0.3, 'inertiafromgeom="true"': 0.2, 'inertiagrouprange="0 2"': 0.2, 'fitaabb="true"': 0.2,
    'boundmass="0.5" boundinertia="0.05"': 0.1, 'balanceinertia="true"': 0.1, 'settotalmass="7"': 0.1,
    'angle="radian"': 0.2,
}  # fmt: skip
_FLAGS = {'spring="disable"': 0.1, 'damper="disable"': 0.1, 'gravity="disable"': 0.1}


def random_model(seed: int, folder: Path) -> Path:
    """Write a model with its meshes into a folder; returns its file."""
    file = folder / f"random{seed}.xml"
    file.write_text(_Generator(seed, folder).model(), "utf-8")
    return file


class _Generator:
    def __init__(self, seed: int, folder: Path) -> None:
        self.random = Random(seed)
        self.folder = folder
        self.count = 0

    def model(self) -> str:
        meshes = "\n".join(self.mesh(f"mesh{index}") for index in range(3))
        bodies = "".join(self.body(2, True) for _ in range(self.random.randrange(1, 3)))
        return (
            f"<mujoco><compiler {self.some(_COMPILER)}/>"
            f'<option gravity="{self.numbers(3, -10, 10)}"><flag {self.some(_FLAGS)}/></option>'
            f"<asset>{meshes}</asset><worldbody>{bodies}</worldbody></mujoco>"
        )

    # pieces

    def some(self, chances: dict[str, float]) -> str:
        return " ".join(words for words, chance in chances.items() if self.random.random() < chance)

    def numbers(self, count: int, low: float = -1, high: float = 1) -> str:
        return " ".join(str(round(self.random.uniform(low, high), 3)) for _ in range(count))

    def new(self, word: str) -> str:
        self.count += 1
        return f"{word}{self.count}"

    def place(self) -> str:
        turn = self.random.choice(
            [
                "",
                'quat="1 1 0 0"',
                f'quat="{self.numbers(4)}"',
                f'euler="{self.numbers(3, -90, 90)}"',
                f'axisangle="{self.numbers(3)} {self.numbers(1, -90, 90)}"',
                f'xyaxes="1 {self.numbers(3)} 1 {self.numbers(1)}"',
                f'zaxis="{self.numbers(3)}"',
            ]
        )
        return f'pos="{self.numbers(3)}" {turn}'

    def framed(self, content: str, chance: float = 0.15) -> str:
        return f"<frame {self.place()}>{content}</frame>" if self.random.random() < chance else content

    # meshes

    def mesh(self, name: str) -> str:
        rule = self.random.choice(["legacy", "convex", "shell", "exact"])
        corners, faces = self.surface()
        if rule == "legacy" and self.random.random() < 0.5:  # not convex any more
            corners[faces[0][0]] *= np.float32(0.2)
        scales = ("1 1 1", "2 1 0.5", "-1 1 2", "0.5 0.5 0.5")
        words = f'name="{name}" inertia="{rule}" scale="{self.random.choice(scales)}"'
        if self.random.random() < 0.4:
            words += f' refpos="{self.numbers(3)}" refquat="{self.numbers(4)}"'
        if self.random.random() < 0.3:
            words += f' maxhullvert="{self.random.randrange(4, 9)}"'
        kind = self.random.choice(["", "stl", "obj", "msh"])
        if kind:
            file = self.folder / f"{name}.{kind}"
            file.write_bytes(_WRITERS[kind](corners, faces))
            return f'<mesh {words} file="{file.name}"/>'
        words += f' vertex="{" ".join(f"{number:.9g}" for number in corners.ravel())}"'
        if self.random.random() < 0.6:
            words += f' face="{" ".join(str(corner) for face in faces for corner in face)}"'
        return f"<mesh {words}/>"

    def surface(self) -> tuple[NDArray[np.float32], list[list[int]]]:
        """A few corners and the triangles of their convex hull."""
        source = np.random.default_rng(self.random.randrange(10**9))
        count = self.random.randrange(5, 9)
        corners = (source.uniform(-0.3, 0.3, (count, 3)) + source.uniform(-0.2, 0.2, 3)).astype(np.float32)
        hull = ConvexHull(corners.astype(float))
        faces = []
        for (i, j, k), normal in zip(hull.simplices.tolist(), hull.equations[:, :3], strict=True):
            a, b, c = corners[[i, j, k]].astype(float)
            faces.append([i, j, k] if np.cross(b - a, c - a) @ normal > 0 else [i, k, j])
        return corners, faces

    # bodies

    def geom(self) -> str:
        kind = self.random.choice([*_PRIMITIVES, "mesh", "fitted", "between"])
        primitive, mesh = self.random.choice(_PRIMITIVES), f"mesh{self.random.randrange(3)}"
        if kind == "mesh":
            words = f'{self.place()} type="mesh" mesh="{mesh}"'
        elif kind == "fitted":
            words = f'{self.place()} type="{primitive}" mesh="{mesh}" fitscale="{self.numbers(1, 0.8, 1.2)}"'
        elif kind == "between":
            primitive = self.random.choice(_PRIMITIVES[1:])
            words = f'type="{primitive}" fromto="{self.numbers(6)}" size="{self.numbers(1, 0.05, 0.2)}"'
        else:
            words = f'{self.place()} type="{kind}" size="{self.numbers(3, 0.05, 0.3)}"'
        if kind != "mesh" and self.random.random() < 0.2:
            words += ' shellinertia="true"'
        weights = [f'mass="{self.numbers(1, 0.1, 3)}"', f'density="{self.numbers(1, 100, 3000)}"', 'mass="0"', "", ""]
        return f'<geom {words} {self.random.choice(weights)} group="{self.random.choice([0, 0, 0, 1, 3])}"/>'

    def inertial(self) -> str:
        source = np.random.default_rng(self.random.randrange(10**9))
        root = source.normal(size=(3, 3))
        second = 0.01 * root @ root.T
        tensor = np.trace(second) * np.eye(3) - second
        mass = f'mass="{self.numbers(1, 0.1, 3)}"'
        if self.random.random() < 0.5:
            entries = (*np.diag(tensor), tensor[0, 1], tensor[0, 2], tensor[1, 2])
            full = " ".join(f"{entry:.12g}" for entry in entries)
            return f'<inertial pos="{self.numbers(3)}" {mass} fullinertia="{full}"/>'
        moments = " ".join(f"{moment:.12g}" for moment in np.linalg.eigvalsh(tensor))
        return f'<inertial {self.place()} {mass} diaginertia="{moments}"/>'

    def joint(self, kind: str) -> str:
        words = f'name="{self.new("joint")}" type="{kind}"'
        for name in ("armature", "stiffness", "damping"):
            most = 1 if name == "armature" else 3
            if self.random.random() < 0.3:
                words += f' {name}="{self.numbers(self.random.randint(1, most), 0, 3)}"'
        if self.random.random() < 0.2:
            words += f' springdamper="{self.numbers(2, 0.1, 3)}"'
        if kind in ("hinge", "slide"):
            words += f' axis="{self.numbers(3)}" ref="{self.numbers(1)}" springref="{self.numbers(1)}"'
        if kind == "free":
            return f"<joint {words}/>"
        return self.framed(f'<joint {words} pos="{self.numbers(3)}"/>')

    def joints(self, top: bool) -> tuple[str, bool]:
        """The joints of a body, and whether it moves freely."""
        kinds = self.random.choice([("hinge",), ("slide", "hinge"), ("ball",), ("hinge", "hinge"), ("slide",), ()])
        if not top or self.random.random() > 0.3:
            return "".join(self.joint(kind) for kind in kinds), False
        align = self.random.choice(["true", "false", "auto"])
        return (self.joint("free") if self.random.random() < 0.5 else f'<freejoint align="{align}"/>'), True

    def body(self, depth: int, top: bool) -> str:
        joints, free = self.joints(top)
        content = joints + (self.inertial() if self.random.random() < 0.25 else "")
        content += "".join(self.framed(self.geom()) for _ in range(self.random.randrange(1, 4)))
        if depth and not (free and self.random.random() < 0.5):
            for _ in range(self.random.randrange(3)):
                content += self.replicated(self.body(depth - 1, False))
        return f'<body name="{self.new("body")}" {self.place()}>{content}</body>'

    def replicated(self, body: str) -> str:
        if self.random.random() > 0.15:
            return body
        step = f'offset="{self.numbers(3)}" euler="{self.numbers(3, -90, 90)}"'
        return f'<replicate count="{self.random.randrange(1, 4)}" {step}>{body}</replicate>'


def _stl(corners: NDArray[np.float32], faces: list[list[int]]) -> bytes:
    triangles = [struct.pack("<12fH", 0, 0, 0, *corners[face].ravel(), 0) for face in faces]
    return bytes(80) + struct.pack("<I", len(faces)) + b"".join(triangles)


def _obj(corners: NDArray[np.float32], faces: list[list[int]]) -> bytes:
    lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in corners.tolist()]
    lines += [f"f {i + 1} {j + 1} {k + 1}" for i, j, k in faces]
    return ("\n".join(lines) + "\n").encode()


def _msh(corners: NDArray[np.float32], faces: list[list[int]]) -> bytes:
    return struct.pack("<4i", len(corners), 0, 0, len(faces)) + corners.tobytes() + np.array(faces, np.int32).tobytes()


_WRITERS = {"stl": _stl, "obj": _obj, "msh": _msh}
