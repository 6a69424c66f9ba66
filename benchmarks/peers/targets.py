"""The ratios Kinegraph has set itself: (peer, quantity) -> at least so many times faster."""

from __future__ import annotations

from benchmarks.peers.robots import RobotCase

_ARMS = {
    ("CasADi C", "tau"): 2.5, ("CasADi C", "H"): 4.0, ("CasADi C", "qdd"): 3.5,
    ("CasADi world", "tau"): 2.5, ("CasADi world", "H"): 4.0, ("CasADi world", "qdd"): 3.5,
    ("Pinocchio", "tau"): 7.0, ("Pinocchio", "H"): 6.0, ("Pinocchio", "qdd"): 6.0,
    ("Pinocchio", "d(tau)"): 4.0, ("Pinocchio", "d(qdd)"): 4.0,
}  # fmt: skip
_HUMANOIDS = {
    ("CasADi C", "tau"): 2.0, ("CasADi C", "H"): 3.0, ("CasADi C", "qdd"): 2.5,
    ("CasADi world", "tau"): 2.0, ("CasADi world", "H"): 3.0, ("CasADi world", "qdd"): 2.5,
    ("Pinocchio", "tau"): 3.0, ("Pinocchio", "H"): 3.0, ("Pinocchio", "qdd"): 3.0,
    ("Pinocchio", "d(tau)"): 2.0, ("Pinocchio", "d(qdd)"): 2.0,
}  # fmt: skip
_BATCHED_ARMS = {"tau": 8.0, "H": 10.0, "qdd": 12.0}
_BATCHED_HUMANOIDS = {"tau": 4.0, "H": 4.0, "qdd": 4.0}
_SECONDS = {False: (2.0, 0.5), True: (10.0, 1.0)}


def _promised(case: RobotCase) -> bool:
    return case.name in ("UR5", "Panda", "iCub", "Talos")


def per_call(case: RobotCase, peer: str, quantity: str) -> float | None:
    """Asked of single calls."""
    return (_HUMANOIDS if case.large else _ARMS).get((peer, quantity)) if _promised(case) else None


def batched(case: RobotCase, peer: str, quantity: str) -> float | None:
    """Asked of batches on two threads."""
    if not peer.startswith("CasADi") or not _promised(case):
        return None
    return (_BATCHED_HUMANOIDS if case.large else _BATCHED_ARMS).get(quantity)


def seconds(case: RobotCase) -> tuple[float, float] | None:
    """At most so many seconds to the first result, cold and cached."""
    return _SECONDS[case.large] if _promised(case) else None
