"""The result of a simulation: named columns over time, events and checks; and the files it is saved to."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypedDict, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from kinegraph.arrays import Floats
from kinegraph.errors import SolveError
from kinegraph.extras import Foreign, extra
from kinegraph.files import written_to
from kinegraph.graph.node import Graph
from kinegraph.model.expressions import Expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.solve.execution import Decision, DecisionFacts, Execution
from kinegraph.solve.problem import Signals
from kinegraph.solve.recording import Ending, EventRecord, Statistics, Status
from kinegraph.tabular import Tabular, time_series

if TYPE_CHECKING:
    import pyarrow


# Facts beside the columns of a solution in a file, as JSON.


class EndingFacts(TypedDict):
    """How a run ended; the status by its name."""

    status: str
    time: float
    component: str
    detail: str


class EventFacts(TypedDict):
    """One event."""

    name: str
    time: float
    state: list[float]


class CheckFacts(TypedDict):
    """One check."""

    name: str
    error: float
    limit: float | None


class StatisticsFacts(TypedDict):
    """The cost of the run."""

    steps: int
    rejected: int
    evaluations: int
    jacobians: int
    seconds: float
    loading: float


class SolutionFacts(TypedDict):
    """All facts that are not columns; `drift`, `states` and `outputs` are missing in older files."""

    model: str
    method: str
    positions: Sequence[str]
    velocities: Sequence[str]
    ending: EndingFacts
    events: list[EventFacts]
    checks: list[CheckFacts]
    statistics: StatisticsFacts
    decision: DecisionFacts
    drift: Mapping[str, float | None]
    states: Sequence[str]
    outputs: Sequence[str]


# Columns as files: .parquet and .npz with facts beside them, .csv for all other programs.

Columns: TypeAlias = Mapping[str, NDArray[np.generic]]

#: What the facts are called in the metadata of a table, and in an archive, where no column has this name.
_FACTS = "kinegraph"
_ENTRY = "kinegraph.json"


def require_format(path: str | Path) -> None:
    """SolveError or MissingPackageError unless columns can be written to files of this type; checked before a run."""
    path = Path(path)
    match path.suffix.lower():
        case ".parquet":
            extra("pyarrow.parquet", "a Parquet file (.csv and .npz need nothing)")
        case ".csv" | ".npz":
            pass
        case other:
            raise SolveError(f"cannot write {path.name}: the suffix {other!r} is not .parquet, .csv or .npz")
    if not path.absolute().parent.is_dir():
        raise SolveError(f"cannot write {path}: the folder {path.parent} does not exist")


def save_columns(path: str | Path, columns: Columns, facts: SolutionFacts | None = None) -> Path:
    """Write columns of one length to a file of the type of its suffix. Only .parquet and .npz keep facts."""
    path = Path(path)
    require_format(path)
    with written_to(path):
        match path.suffix.lower():
            case ".parquet":
                extra("pyarrow.parquet", "a Parquet file").write_table(arrow_table(columns, facts), path)
            case ".csv":
                _save_csv(path, columns)
            case _:
                _save_npz(path, columns, facts)
    return path


def load_columns(path: str | Path) -> tuple[dict[str, NDArray[np.generic]], SolutionFacts]:
    """The columns and facts of a .parquet or .npz file; SolveError if it has no facts."""
    path = Path(path)
    columns, facts = _read_npz(path) if path.suffix.lower() == ".npz" else _read_parquet(path)
    if facts is None:
        raise SolveError(f"{path} is not a solution: it has no metadata of Kinegraph")
    return columns, facts


def arrow_table(columns: Columns, facts: SolutionFacts | None = None) -> Foreign:
    """Columns as an Arrow table, with facts in its metadata."""
    table = extra("pyarrow", "an Arrow table").table(dict(columns))
    return table if facts is None else table.replace_schema_metadata({_FACTS: json.dumps(facts)})


def _read_parquet(path: Path) -> tuple[dict[str, NDArray[np.generic]], SolutionFacts | None]:
    table = extra("pyarrow.parquet", "a Parquet file").read_table(path)
    written = (table.schema.metadata or {}).get(_FACTS.encode())
    columns = {name: table.column(name).to_numpy() for name in table.column_names}
    return columns, None if written is None else json.loads(written)


def _save_csv(path: Path, columns: Columns) -> None:
    """Names in quotes; every number as the shortest decimal that is read back as the same double."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))


def _save_npz(path: Path, columns: Columns, facts: SolutionFacts | None) -> None:
    arrays: dict[str, NDArray[np.generic]] = {_entry(name): column for name, column in columns.items()}
    if facts is not None:
        arrays[_ENTRY] = np.array(json.dumps(facts))
    np.savez_compressed(path, allow_pickle=False, **arrays)


def _entry(name: str) -> str:
    """Names as they are: an archive of arrays takes any name but these two."""
    return f"{name}_" if name in ("file", "allow_pickle") else name


def _read_npz(path: Path) -> tuple[dict[str, NDArray[np.generic]], SolutionFacts | None]:
    with np.load(path, allow_pickle=False) as archive:
        columns = {name: archive[name] for name in archive.files if name != _ENTRY}
        facts = json.loads(str(archive[_ENTRY])) if _ENTRY in archive.files else None
    return columns, facts


T = TypeVar("T")
TIME = "t"
_WORTH_SAYING = 0.1  # seconds


@dataclass(frozen=True)
class Check:
    """A quantity that must not change: its error, and the acceptable limit (None: not known)."""

    name: str
    error: float
    limit: float | None = None

    @property
    def passed(self) -> bool:
        """Whether the error is acceptable; always true without a limit."""
        return self.limit is None or self.error <= self.limit

    def __str__(self) -> str:
        verdict = "" if self.limit is None else (" ok" if self.passed else f" ABOVE {self.limit:.1e}")
        return f"{self.name}: {self.error:.2e}{verdict}"


@dataclass(frozen=True)
class Chart:
    """Columns that are drawn together, and their unit."""

    title: str
    unit: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class SimulatedModel:
    """What was run: the mechanism, the values of all its parameters, and the relative tolerance if there was one.

    inputs: forces in joints (`tau:q1`) and inputs of the model that were given as formulas.
    sampled: the names of those that were given as samples, in the order of `signals`.
    quantities: those whose entries the formulas use.
    """

    mechanism: Mechanism
    parameters: Mapping[str, Expression]
    rtol: float | None = None
    inputs: Mapping[str, Expression] = field(default_factory=dict)
    sampled: tuple[str, ...] = ()
    signals: Signals | None = None
    quantities: Graph | None = None


@dataclass(frozen=True)
class Solution(Tabular, Mapping[str, Floats]):
    """Columns by name: `t`, positions, velocities, energies, output points. Behaves like a mapping.

    model, method: what was run and how. positions, velocities: which columns are coordinates and velocities.
    simulated: the mechanism with its numbers; None if the solution was read from a file.
    decision: whether it was interpreted or compiled, and why.
    drift: `position` and `velocity`, by how much saved states miss loops and constraints; the same `... integrating`,
    before they were taken back onto them; `energy`, relative, None where it is not kept.
    assembled: which declared initial values loops have moved, in words; None if all hold.
    states: which columns are first-order states. outputs: which are formulas that the user asked for.
    charts: further columns that plots and pages show first; not saved in files.
    """

    model: str
    method: str
    columns: Mapping[str, Floats]
    positions: tuple[str, ...]
    velocities: tuple[str, ...]
    ending: Ending
    events: tuple[EventRecord, ...] = ()
    checks: tuple[Check, ...] = ()
    statistics: Statistics = field(default_factory=Statistics)
    simulated: SimulatedModel | None = None
    decision: Decision = field(default_factory=lambda: Decision(Execution.NATIVE, forced=True))
    drift: Mapping[str, float | None] = field(default_factory=dict)
    assembled: str | None = None
    states: tuple[str, ...] = ()
    charts: tuple[Chart, ...] = ()
    outputs: tuple[str, ...] = ()

    # as a mapping

    def __getitem__(self, name: str) -> Floats:
        if name not in self.columns:
            raise SolveError(f"the solution has no column {name!r}; there are {', '.join(self.columns)}")
        return self.columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    @overload
    def get(self, name: str, /) -> Floats | None: ...
    @overload
    def get(self, name: str, /, default: Floats | T) -> Floats | T: ...
    def get(self, name: str, /, default: object = None) -> object:
        """A column, or the default if there is none of this name."""
        return self.columns.get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def t(self) -> Floats:
        """The times of the rows."""
        return self.columns[TIME]

    @property
    def status(self) -> Status:
        """How the run ended."""
        return self.ending.status

    @property
    def final(self) -> dict[str, float]:
        """The last row."""
        return {name: float(column[-1]) for name, column in self.columns.items()}

    def array(self, *names: str) -> Floats:
        """Columns side by side: rows are times. Without names: all positions, velocities and first-order
        states."""
        chosen = names or (*self.positions, *self.velocities, *self.states)
        return np.column_stack([self[name] for name in chosen])

    # files

    def table(self) -> pyarrow.Table:
        """An Arrow table; other facts are in its metadata."""
        return arrow_table(self.columns, self.facts())

    def save(self, path: str | Path) -> Path:
        """Write to a file: .npz or .parquet, which can be loaded again, or .csv for other programs."""
        return save_columns(path, self.columns, self.facts())

    def _table(self) -> Mapping[str, Floats]:
        return self.columns

    def to_xarray(self) -> Foreign:
        """All columns over `t` as an xarray Dataset. Needs the extra `tables`."""
        facts = {"model": self.model, "method": self.method, "status": self.status.name, "ending": str(self.ending)}
        return time_series(self.columns, TIME, facts)

    @classmethod
    def load(cls, path: str | Path) -> Solution:
        """Read a solution that was written to a .npz or .parquet file."""
        columns, facts = load_columns(path)
        ending = facts["ending"]
        return cls(
            model=facts["model"],
            method=facts["method"],
            columns=cast(dict[str, Floats], columns),
            positions=tuple(facts["positions"]),
            velocities=tuple(facts["velocities"]),
            ending=Ending(Status[ending["status"]], ending["time"], ending["component"], ending["detail"]),
            events=tuple(EventRecord(one["name"], one["time"], np.array(one["state"])) for one in facts["events"]),
            checks=tuple(Check(**one) for one in facts["checks"]),
            statistics=Statistics(**facts["statistics"]),
            decision=Decision.of_facts(facts["decision"]),
            drift=facts.get("drift", {}),
            states=tuple(facts.get("states", ())),
            outputs=tuple(facts.get("outputs", ())),
        )

    def facts(self) -> SolutionFacts:
        """All that is not a column, as files keep it."""
        ending = self.ending
        return {
            "model": self.model,
            "method": self.method,
            "positions": self.positions,
            "velocities": self.velocities,
            "ending": {
                "status": ending.status.name, "time": ending.time,
                "component": ending.component, "detail": ending.detail,
            },
            "events": [{"name": h.name, "time": h.time, "state": h.state.tolist()} for h in self.events],
            "checks": [{"name": c.name, "error": c.error, "limit": c.limit} for c in self.checks],
            "statistics": cast("StatisticsFacts", vars(self.statistics)),
            "decision": self.decision.facts(),
            "drift": dict(self.drift),
            "states": self.states,
            "outputs": self.outputs,
        }  # fmt: skip

    # to look at

    def __repr__(self) -> str:
        return f"<Solution of {self}\n  {len(self.t)} rows of {_listed(list(self.columns))}>"

    def __str__(self) -> str:
        cost = self.statistics
        steps = f"{cost.steps} steps ({cost.rejected} rejected), {cost.evaluations} evaluations"
        time = f"{cost.seconds - cost.loading:.3g} s"
        if cost.loading > _WORTH_SAYING:
            time += f", {cost.loading:.2g} s to make its loops ready"
        lines = [f"{self.model}: {self.ending}", f"  {self.method}, {steps}, {time}"]
        lines.append(f"  {self.decision}")
        lines += [f"  {self.assembled}"] if self.assembled else []
        lines += [f"  {check}" for check in self.checks]
        if self.events:
            lines.append(f"  {len(self.events)} events, the last: {self.events[-1].name}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, object]:
        """How the run ended, as JSON can hold it; `save` writes the columns."""
        return {
            "model": self.model, "method": self.method, "status": self.status.name, "message": str(self.ending),
            "t": self.ending.time, "final": self.final,
            "checks": [{"name": one.name, "error": one.error, "passed": one.passed} for one in self.checks],
            "events": [{"name": one.name, "t": one.time} for one in self.events],
            "drift": dict(self.drift), "assembled": self.assembled, "statistics": vars(self.statistics),
            "native": self.decision.facts(),
        }  # fmt: skip


def _listed(names: list[str], most: int = 12) -> str:
    """The first names of a list, and the number of the others."""
    return ", ".join(names[:most]) + (f", ... ({len(names) - most} more)" if len(names) > most else "")
