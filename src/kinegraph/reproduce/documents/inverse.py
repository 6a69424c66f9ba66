"""KiDyM: inverse dynamics of machines of any structure."""

from __future__ import annotations

import numpy as np

from kinegraph.compiler.compile import compile
from kinegraph.compiler.load import load
from kinegraph.jit.kernel import Kernel
from kinegraph.reproduce.document import Chapter, Document
from kinegraph.reproduce.entry import Entry, Verdict, fewer, measured, number
from kinegraph.tasks.forces.unknown_forces import inverse_dynamics
from kinegraph.tasks.forces.ways import compare_ways
from kinegraph.tasks.kinematics.follow import follow
from kinegraph.tasks.kinematics.spring_follow import follow_by_spring

_LUFFING = {"s": "(7.1 + 2.26 + (7.1 - 2.26)*cos(pi*t/40))/2"}
_EPITROCHOID = {
    "flange.x": "0.4",
    "flange.y": "0.3*cos(4*pi*t) - 0.4*cos(pi*t)",
    "flange.z": "1 - 0.3*sin(4*pi*t) + 0.4*sin(pi*t)",
}


def path_of_the_load() -> tuple[Entry, ...]:
    """How far the point F that carries the load moves sideways, and in height, while the jib swings in."""
    place = compile(load("crane"), "pose:Load")
    assert isinstance(place, Kernel)
    points = np.array([np.asarray(place([s]))[:2, 3] for s in np.linspace(7.1, 2.26, 400)])
    sideways, height = np.ptp(points, axis=0)
    reason = "the document prints no lengths; ours lead the load more levelly"
    return (
        number("sideways [m]", "26", float(sideways)),
        number("change of height [m]", "0.18", float(height), reason),
    )


def rack_force() -> tuple[Entry, ...]:
    """S_G along the motion, from triangles and from the linkage with its loops."""
    times = np.linspace(0, 40, 81)
    one, other = (inverse_dynamics(model, _LUFFING, times, unknown=["S"])["S"] for model in ("crane", "crane-linkage"))
    difference = float(np.abs(one - other).max() / np.abs(one).max())
    agrees = Verdict.AGREES if difference < 1e-11 else Verdict.UNEXPLAINED
    unread = "the document shows a curve without numbers, for lengths it does not print"
    return (
        Entry("S by triangles and as a linkage", "one curve", f"equal to {difference:.0e}", agrees),
        measured("largest |S|", "figure 2", f"{np.abs(one).max() / 1000:.1f} kN", unread),
    )


def two_ways() -> tuple[Entry, ...]:
    """A X = B, formed in the old and the new way."""
    found = [compare_ways(model, ("S",), repeats=3) for model in ("crane", "crane-linkage")]
    return tuple(
        entry
        for one in found
        for entry in (
            Entry(f"{one.model}: both ways", "equal", "proved equal", Verdict.AGREES)
            if one.proved
            else Entry(f"{one.model}: both ways", "equal", "not proved", Verdict.UNEXPLAINED),
            fewer(f"{one.model}: operations of the new way, at most those of the old", one.old.reduced.total,
                  one.new.reduced.total),
        )
    )  # fmt: skip


def drawing_arm() -> tuple[Entry, ...]:
    """The PUMA that draws: how far the curve reaches, and M1, M2, M3 from the exact path and from the spring."""
    times = np.linspace(0.1, 1.9, 19)
    phi = np.linspace(0, 2 * np.pi, 4001)
    away = np.hypot(0.3 * np.cos(4 * phi) - 0.4 * np.cos(phi), -0.3 * np.sin(4 * phi) + 0.4 * np.sin(phi))
    exact = follow("puma-drawing", _EPITROCHOID, times)
    pulled = follow_by_spring("puma-drawing", _EPITROCHOID, times, stiffness=1e8)
    torque = compile(load("puma-drawing"), "tau")
    assert isinstance(torque, Kernel)
    moments = [
        np.array([np.asarray(torque(*row)) for row in zip(one.motion.q, one.motion.v, one.motion.a, strict=True)])
        for one in (exact, pulled)
    ]
    scale = np.abs(moments[0]).max()
    difference = float(np.abs(moments[0] - moments[1]).max() / scale)
    off = max(pulled.deviation.values())
    same = Verdict.AGREES if difference < 1e-2 else Verdict.UNEXPLAINED
    unread = "the document shows curves; its masses and lengths are not printed, ours are those of the PUMA 560"
    return (
        number("the curve reaches from (0, 1) [m]", "0.7", float(away.max())),
        Entry("M1, M2, M3 by the spring and exactly", "identical", f"equal to {difference:.0e}", same),
        measured("the spring leaves the path by", "", f"{off:.1e} m", "a spring of 1e8 N/m lags behind what it pulls"),
        measured("largest moment", "figure 6", f"{scale:.1f} N m", unread),
    )


INVERSE = Document(
    "inverse",
    "KiDyM: inverse dynamics of machines of any structure",
    "Unknown forces sorted while the equations are formed; a portal crane, a PUMA and a Stanford arm that draw",
    (
        Chapter(
            "Portal crane: the path of the load",
            "The rack moves from 7.1 m to 2.26 m. The document prints no lengths: those of `crane` are ours.",
            "kinegraph eval crane -q pose:Load --at s=7.1",
            path_of_the_load,
        ),
        Chapter(
            "Portal crane: the force of the rack",
            "s(t) = (s0 + s1 + (s0 - s1) cos(pi t/T))/2, T = 40 s; written by triangles, and as a linkage with loops.",
            'kinegraph inverse crane --motion "s=(7.1 + 2.26 + (7.1 - 2.26)*cos(pi*t/40))/2" --unknown S --for 40',
            rack_force,
        ),
        Chapter(
            "The old and the new way",
            "A X = B by differentiating the finished equations (old), by sorting while elements are walked (new).",
            "kinegraph bench unknown-forces",
            two_ways,
        ),
        Chapter(
            "PUMA drawing an epitrochoid",
            "lambda = 3, R = 0.3 m, r = 0.1 m, x = 0.4 m, phi = pi t; the wrist is fixed. Exact path, and path "
            "by a fictitious spring.",
            'kinegraph ik puma-drawing --path flange.x=0.4 --path "flange.y=0.3*cos(4*pi*t) - 0.4*cos(pi*t)" '
            '--path "flange.z=1 - 0.3*sin(4*pi*t) + 0.4*sin(pi*t)" --for 2',
            drawing_arm,
        ),
    ),
)
