"""What a run found, in the form it is written to JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypedDict

from benchmarks.peers.agreement import Agreement
from benchmarks.peers.first_result import FirstResult
from benchmarks.peers.measure import Time


@dataclass
class QuantityResult:
    """One quantity of one robot."""

    quantity: str
    agreements: list[Agreement] = field(default_factory=list)
    calls: dict[str, Time] = field(default_factory=dict)
    batches: dict[str, Time] = field(default_factory=dict)
    public_batch: Time | None = None
    operations: dict[str, int] = field(default_factory=dict)
    remarks: dict[str, str] = field(default_factory=dict)
    target_calls: dict[str, float] = field(default_factory=dict)
    target_batches: dict[str, float] = field(default_factory=dict)
    load: float = 0.0
    compile_processor_seconds: float = 0.0


@dataclass
class RobotResult:
    """One robot."""

    name: str
    positions: int
    velocities: int
    floating: bool
    quantities: list[QuantityResult] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    first: dict[str, tuple[FirstResult, FirstResult]] = field(default_factory=dict)
    target_seconds: tuple[float, float] | None = None


class Machine(TypedDict):
    """What the figures depend on."""

    cpu: str
    compiler: str
    versions: dict[str, str]
    started: str


@dataclass
class Results:
    """A run."""

    machine: Machine
    robots: list[RobotResult] = field(default_factory=list)

    def write(self, path: Path) -> None:
        """Write everything as JSON."""
        path.write_text(json.dumps(asdict(self), indent=1))


def ratio(times: dict[str, Time], peer: str) -> float | None:
    """How many times faster Kinegraph is than a peer, by the medians."""
    if peer not in times or "Kinegraph" not in times:
        return None
    return times[peer].median / times["Kinegraph"].median
