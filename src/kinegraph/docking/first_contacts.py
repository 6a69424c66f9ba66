"""Many dockings with random first contacts: the probability of capture, and the size of forces.

The limits are those published for the international docking standard. They are limits, not distributions: a uniform
distribution within them is our assumption.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from math import inf, pi
from pathlib import Path

from kinegraph.compiler.mechanism_source import MechanismSource
from kinegraph.docking.description import Docking, docking_of, fields_from_texts
from kinegraph.docking.events import AWAY, CAPTURE, OVERLOAD, STROKE, TOUCH, contact_events, interface_square, leg_load
from kinegraph.errors import SolveError
from kinegraph.model.expressions import Name
from kinegraph.model.mechanism import Mechanism, QuaternionCoordinates, Shift
from kinegraph.solve.execution import Native
from kinegraph.solve.methods.step_control import Adaptive
from kinegraph.studies.plan import Plan, StudySettings
from kinegraph.studies.results import Study
from kinegraph.studies.sampling import DistributionLike
from kinegraph.studies.study import run_plan

_DEGREE = pi / 180


@dataclass(frozen=True)
class ContactLimits:
    """The limits of first contacts: of the target relative to the ring, in meters, radians and seconds.

    offset, drift: across the axis. tilt, roll and tilting, spinning (their rates): about axes across it and about
    it.
    """

    closing: tuple[float, float] = (0.05, 0.10)
    offset: float = 0.10
    drift: float = 0.04
    tilt: float = 4.0 * _DEGREE
    roll: float = 4.0 * _DEGREE
    tilting: float = 0.20 * _DEGREE
    spinning: float = 0.20 * _DEGREE

    def __post_init__(self) -> None:
        slow, fast = self.closing
        if not slow <= fast:
            raise SolveError(f"first contacts: closing is {slow!r} to {fast!r}: give the lower speed first")
        for one in fields(self):
            if one.name != "closing" and not 0 <= getattr(self, one.name) < inf:
                raise SolveError(f"first contacts: {one.name} is {getattr(self, one.name)!r}: give a limit from 0 on")

    def distributions(self) -> dict[str, str]:
        """Uniform distributions within the limits; limits of a vector sum are discs."""
        slow, fast = self.closing
        return {
            "offset_x, offset_y": f"disc({self.offset!r})",
            "drift_x, drift_y": f"disc({self.drift!r})",
            "closing": f"uniform({slow!r}, {fast!r})",
            "tilt_x, tilt_y": f"disc({self.tilt!r})",
            "roll": f"uniform({-self.roll!r}, {self.roll!r})",
            "tilting_x, tilting_y": f"disc({self.tilting!r})",
            "spinning": f"uniform({-self.spinning!r}, {self.spinning!r})",
        }


def contact_distributions(
    limits: ContactLimits, vary: Mapping[str, DistributionLike] | None = None
) -> dict[str, DistributionLike]:
    """The distributions within the limits, some of them replaced by the user's.

    Other names of the model (parameters, initial values) may be varied too. SolveError if only one of two names with
    a common distribution is replaced.
    """
    found: dict[str, DistributionLike] = dict(limits.distributions())
    own = {name.strip() for group in vary or {} for name in group.split(",")}
    for group in limits.distributions():
        names = {name.strip() for name in group.split(",")}
        if names & own:
            if missing := sorted(names - own):
                raise SolveError(
                    f"first contacts: {group} are varied together: give a distribution of {missing[0]} too"
                )
            del found[group]
    return found | dict(vary or {})


def contact_limits_of(given: Mapping[str, str]) -> ContactLimits:
    """Limits from texts by name, `closing` as `0.05:0.1`; SolveError for an unknown name or no number."""
    found: dict[str, object] = {}
    for name, text in given.items():
        parts = text.split(":") if name == "closing" else [text]
        numbers = [fields_from_texts(ContactLimits, {name: part}, "first contacts")[name] for part in parts]
        if len(numbers) > 2:
            raise SolveError(f"first contacts: closing is {text!r}: write one speed, or two as 0.05:0.1")
        found[name] = (numbers[0], numbers[-1]) if name == "closing" else numbers[0]
    return replace(ContactLimits(), **found)  # type: ignore[arg-type]


@dataclass(frozen=True)
class FreeBody:
    """The coordinates of a body that moves freely: three translations, then a quaternion with its angular velocity."""

    shifts: tuple[str, ...]
    quaternion: tuple[str, ...]
    angular_velocity: tuple[str, ...]

    @staticmethod
    def of(mechanism: Mechanism, name: str) -> FreeBody:
        """The coordinates of this body; SolveError if it does not move freely."""
        body = mechanism.body(name)
        used = tuple(
            part.text
            for one in body.transforms
            for part in ((one.distance,) if isinstance(one, Shift) else getattr(one, "components", ()))
            if isinstance(part, Name)
        )
        for group in mechanism.coordinates:
            if isinstance(group, QuaternionCoordinates) and group.names == used[3:]:
                return FreeBody(used[:3], group.names, group.velocities)
        raise SolveError(
            f"first contacts: {name} must move freely\n  write it as {name} | Sx(x), Sy(y), Sz(z), Q(...) | ...;"
        )


def first_contacts(
    model: MechanismSource | Docking,
    cases: int = 10_000,
    *,
    limits: ContactLimits | None = None,
    vary: Mapping[str, DistributionLike] | None = None,
    duration: float = 12.0,
    rtol: float = 1e-6,
    seed: int = 0,
    chunk: int | None = None,
    folder: str | Path | None = None,
    native: Native = True,
    progress: bool | None = None,
) -> Study:
    """Study random first contacts up to capture, bouncing off, overload, or a leg out of its stroke.

    limits: of the first contacts, by default those of the international standard. vary: distributions that replace
    the uniform ones within the limits, such as {"closing": "normal(0.07, 0.01)"}, or of further names of the model.
    Limits of legs, latches and rings are those of the `Docking`. See `contact_plan` for outcomes and classes.
    """
    plan = contact_plan(
        model, cases, limits=limits, vary=vary, duration=duration, rtol=rtol, seed=seed, chunk=chunk, native=native
    )
    return run_plan(plan, folder=folder, progress=progress)


def contact_plan(
    model: MechanismSource | Docking,
    cases: int,
    *,
    limits: ContactLimits | None = None,
    vary: Mapping[str, DistributionLike] | None = None,
    duration: float = 12.0,
    rtol: float = 1e-6,
    seed: int = 0,
    chunk: int | None = None,
    method: str = "dop853",
    native: Native = True,
) -> Plan:
    """The plan of such a study. The chaser and its ring are at rest, the target approaches; only its motion is varied.

    Outcomes: `captured_at` [s], `touches`, and the largest forces along legs and between the rings, `leg` and
    `interface` [N]. Classes: captured, out_of_stroke, overloaded, bounced, not_captured.
    """
    docking = model if isinstance(model, Docking) else docking_of(model)
    return StudySettings(
        docking.mechanism,
        duration,
        contact_distributions(limits or ContactLimits(), vary),
        cases,
        outcomes={
            "captured_at": f"time({CAPTURE})",
            "touches": f"count({TOUCH})",
            "leg": f"max({leg_load(docking)})",
            "interface": f"sqrt(max({interface_square(docking)}))",
        },
        classes={
            "captured": f"stopped_by({CAPTURE})",
            "out_of_stroke": f"stopped_by({STROKE})",
            "overloaded": f"stopped_by({OVERLOAD})",
            "bounced": f"stopped_by({AWAY})",
            "not_captured": "true",
        },
        success="captured",
        events=contact_events(docking),
        state=beginning(docking),
        method=method,
        control=Adaptive(rtol, 1e-2 * rtol),
        seed=seed,
        chunk=chunk,
        native=native,
    ).plan()


def beginning(docking: Docking) -> dict[str, str]:
    """The initial state of a case, by the varied names. For small rotations the quaternion is half of them."""
    target = FreeBody.of(docking.mechanism, docking.target)
    resting = [FreeBody.of(docking.mechanism, docking.chaser)]
    if docking.mechanism.body(docking.ring).base is None:  # a probe rests in its joints, as the model states it
        resting.append(FreeBody.of(docking.mechanism, docking.ring))
    x, y, z = target.shifts
    _, e1, e2, e3 = target.quaternion
    u, v, w = target.angular_velocity
    return {
        **{f"{name}'": "0" for body in resting for name in body.shifts},
        x: "offset_x", y: "offset_y", f"{x}'": "drift_x", f"{y}'": "drift_y", f"{z}'": "-closing",
        e1: "tilt_x/2", e2: "tilt_y/2", e3: "roll/2", u: "tilting_x", v: "tilting_y", w: "spinning",
    }  # fmt: skip
