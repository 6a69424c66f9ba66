"""KiDyM: inverse dynamics of machines of any structure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler.compile import compile
from kinegraph.compiler.mechanism_source import load
from kinegraph.errors import KinegraphError
from kinegraph.model.expressions import Scalar
from kinegraph.reproduce.document import Chapter, Document, Entry, Floats, Verdict, curves, held, measured, number
from kinegraph.tasks.follow import PathMotion, follow, follow_by_spring
from kinegraph.tasks.unknown_forces import compare_formations, unknown_forces

CRANE_LAW: dict[str, Scalar] = {"s": "(7.1 + 2.26 + (7.1 - 2.26)*cos(pi*t/40))/2"}


@dataclass(frozen=True)
class Drawing:
    """An arm, its drives, the curve it draws and its duration."""

    model: str
    drives: tuple[str, ...]
    path: dict[str, Scalar]
    duration: float

    @property
    def point(self) -> str:
        """The output point whose path is drawn."""
        return next(iter(self.path)).partition(".")[0]


DRAWINGS = (
    Drawing(
        "puma-drawing",
        ("tau:φ1", "tau:φ2", "tau:φ3"),
        {
            "flange.x": "0.4",
            "flange.y": "0.3*cos(4*pi*t) - 0.4*cos(pi*t)",
            "flange.z": "1 - 0.3*sin(4*pi*t) + 0.4*sin(pi*t)",
        },
        2.0,
    ),
    Drawing(
        "stanford",
        ("tau:θ1", "tau:θ2", "tau:d32"),
        {"gripper.x": "1.15", "gripper.y": "0.6*cos(t)^3", "gripper.z": "0.6*sin(t)^3"},
        2 * np.pi,
    ),
)


_PUMA, _STANFORD = DRAWINGS


def path_of_the_load() -> tuple[Entry, ...]:
    """The horizontal and vertical motion of the point F that carries the load, while the jib swings in."""
    place = compile(load("crane"), "pose:Load")
    assert isinstance(place, Kernel)
    points = np.array([np.asarray(place([s]))[:2, 3] for s in np.linspace(7.1, 2.26, 400)])
    sideways, height = np.ptp(points, axis=0)
    reason = "the document prints no lengths; ours keep the load more level"
    return (
        number("sideways [m]", "26", float(sideways)),
        number("change of height [m]", "0.18", float(height), reason),
    )


def rack_force() -> tuple[Entry, ...]:
    """S_G along the motion, from triangles and from the linkage with its loops."""
    times = np.linspace(0, 40, 81)
    one, other = (unknown_forces(model, CRANE_LAW, times, unknown=["S"])["S"] for model in ("crane", "crane-linkage"))
    difference = float(np.abs(one - other).max() / np.abs(one).max())
    agrees = Verdict.AGREES if difference < 1e-11 else Verdict.UNEXPLAINED
    unread = "the document shows a curve without numbers, for lengths it does not print"
    return (
        Entry("S by triangles and as a linkage", "one curve", f"equal to {difference:.0e}", agrees),
        measured("largest |S|", "figure 2", f"{np.abs(one).max() / 1000:.1f} kN", unread),
    )


def two_formations() -> tuple[Entry, ...]:
    """A X = B, formed by the old and the new method."""
    found = [compare_formations(model, ("S",), repeats=3) for model in ("crane", "crane-linkage")]
    return tuple(
        entry
        for one in found
        for entry in (
            Entry(f"{one.model}: both methods", "equal", "proved equal", Verdict.AGREES)
            if one.proved
            else Entry(f"{one.model}: both methods", "equal", "not proved", Verdict.UNEXPLAINED),
            held(f"{one.model}: operations of the new method", "at most those of the old",
                 f"{one.new.reduced.total} beside {one.old.reduced.total}",
                 one.new.reduced.total <= one.old.reduced.total),
        )
    )  # fmt: skip


@dataclass(frozen=True)
class Drawn:
    """An arm along its curve: times, the exact motion, its efforts, and those of the spring method."""

    times: Floats
    motion: PathMotion
    efforts: Floats
    difference: float
    off: float


@cache
def _drawn(model: str) -> Drawn:
    drawing = next(one for one in DRAWINGS if one.model == model)
    times = np.linspace(0.02, 0.98, 97) * drawing.duration
    exact = follow(drawing.model, drawing.path, times)
    pulled = follow_by_spring(drawing.model, drawing.path, times, stiffness=1e8)
    effort = compile(load(drawing.model), "tau")
    assert isinstance(effort, Kernel)
    found = [
        np.array([np.asarray(effort(*row)) for row in zip(one.motion.q, one.motion.v, one.motion.a, strict=True)])
        for one in (exact, pulled)
    ]
    difference = float(np.abs(found[0] - found[1]).max() / np.abs(found[0]).max())
    return Drawn(times, exact, found[0], difference, max(pulled.deviation.values()))


def drawing_puma() -> tuple[Entry, ...]:
    """The drawing PUMA: the extent of the curve, and M1, M2, M3 from the exact path and from the spring."""
    phi = np.linspace(0, 2 * np.pi, 4001)
    away = np.hypot(0.3 * np.cos(4 * phi) - 0.4 * np.cos(phi), -0.3 * np.sin(4 * phi) + 0.4 * np.sin(phi))
    return (number("the curve reaches from (0, 1) [m]", "0.7", float(away.max())), *_arm_entries(_PUMA, "M1, M2, M3"))


def drawing_stanford() -> tuple[Entry, ...]:
    """The Stanford arm that draws an astroid, first at the position in the document."""
    reason = "the printed lengths do not reach the curve there: the arm's shoulder and offset take more than 0.4 m"
    plane = {**_STANFORD.path, "gripper.x": "0.4"}
    try:
        follow(_STANFORD.model, plane, np.linspace(0.1, 6.2, 30))
        reached = True
    except KinegraphError:
        reached = False
    ours = "reached" if reached else "out of reach; drawn at 1.15 m"
    return (held("the plane x = 0.4 m", "0.4 m", ours, reached, reason), *_arm_entries(_STANFORD, "M1, M2, F32"))


def _arm_entries(drawing: Drawing, efforts: str) -> Iterator[Entry]:
    found = _drawn(drawing.model)
    same = found.difference < 1e-2
    unread = "the document shows curves without numbers"
    yield held(f"{efforts} by the spring and exactly", "identical", f"equal to {found.difference:.0e}", same)
    lag = "a spring of 1e8 N/m lags behind its path"
    yield measured("deviation of the spring from the path", "", f"{found.off:.1e} m", lag)
    largest = ", ".join(f"{item:.1f}" for item in np.abs(found.efforts).max(axis=0))
    yield measured(f"largest {efforts} [N m, N]", "a figure", largest, unread)


def _crane_figures() -> tuple[str, ...]:
    times = np.linspace(0, 40, 81)
    force = unknown_forces("crane", CRANE_LAW, times, unknown=["S"])["S"]
    return (curves("Figure 2: force of the rack", "t [s]", times, "S [kN]", {"S": force / 1000}),)


def _path_figure() -> tuple[str, ...]:
    place = compile(load("crane"), "pose:Load")
    assert isinstance(place, Kernel)
    x, y = np.array([np.asarray(place([s]))[:2, 3] for s in np.linspace(7.1, 2.26, 200)]).T
    return (curves("Figure 3: path of the load's suspension", "x [m]", x, "y [m]", {"F": y}),)


def _puma_figures() -> tuple[str, ...]:
    return _arm_figures(_PUMA, "Figures 5 and 6: PUMA")


def _stanford_figures() -> tuple[str, ...]:
    return _arm_figures(_STANFORD, "Figures 9 and 10: Stanford arm")


def _arm_figures(drawing: Drawing, title: str) -> tuple[str, ...]:
    found = _drawn(drawing.model)
    layout = load(drawing.model).layout
    moved = {name: found.motion.motion.q[:, k] for k, name in enumerate(layout.positions)}
    efforts = {name: found.efforts[:, k] for k, name in enumerate(layout.positions)}
    return (
        curves(f"{title}, coordinates", "t [s]", found.times, "rad, m", moved),
        curves(f"{title}, efforts", "t [s]", found.times, "N m, N", efforts),
    )


INVERSE = Document(
    "inverse",
    "KiDyM: inverse dynamics of machines of any structure",
    "Unknown forces sorted while the equations are formed; a portal crane, a PUMA and a Stanford arm that draw",
    (
        Chapter(
            "Portal crane: the path of the load",
            "The rack moves from 7.1 m to 2.26 m. The document prints no lengths: those of `crane` are ours.",
            "kinegraph eval crane -q pose:Load --state s=7.1",
            path_of_the_load,
            _path_figure,
        ),
        Chapter(
            "Portal crane: the force of the rack",
            "s(t) = (s0 + s1 + (s0 - s1) cos(pi t/T))/2, T = 40 s; written by triangles, and as a linkage with loops.",
            'kinegraph unknown-forces crane --motion "s=(7.1 + 2.26 + (7.1 - 2.26)*cos(pi*t/40))/2" --unknown S '
            "--for 40",
            rack_force,
            _crane_figures,
        ),
        Chapter(
            "The old and the new method",
            "A X = B by differentiating the complete equations (old), and by sorting the elements (new).",
            "python -m benchmarks unknown-forces",
            two_formations,
        ),
        Chapter(
            "PUMA drawing an epitrochoid",
            "lambda = 3, R = 0.3 m, r = 0.1 m, x = 0.4 m, phi = pi t; the wrist is fixed. Exact path, and "
            "path by a fictitious spring.",
            "kinegraph inverse-kinematics puma-drawing --path flange.x=0.4 "
            '--path "flange.y=0.3*cos(4*pi*t) - 0.4*cos(pi*t)" '
            '--path "flange.z=1 - 0.3*sin(4*pi*t) + 0.4*sin(pi*t)" --for 2',
            drawing_puma,
            _puma_figures,
        ),
        Chapter(
            "Stanford arm drawing an astroid",
            "R = 0.6 m, the numbers of the document. Coordinates theta1, theta2 and d32.",
            "kinegraph inverse-kinematics stanford --path gripper.x=1.15 --path 'gripper.y=0.6*cos(t)^3' "
            "--path 'gripper.z=0.6*sin(t)^3' --for 6.28",
            drawing_stanford,
            _stanford_figures,
        ),
    ),
)
