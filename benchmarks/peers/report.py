"""One table on the terminal, one JSON file, one picture and one page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from benchmarks.peers.measure import BUSY
from benchmarks.peers.results import QuantityResult, Results, RobotResult, ratio
from benchmarks.peers.sides.peer import TITLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PEERS = ("CasADi C", "CasADi world", "Pinocchio", "MuJoCo")
BATCHED_PEERS = PEERS[:3]
_COLORS = {
    "CasADi C": "#d98e04",
    "CasADi world": "#ecc94b",
    "Pinocchio": "#2b6cb0",
    "MuJoCo": "#718096",
    "Kinegraph": "#c53030",
}


@dataclass(frozen=True)
class Row:
    """A line of the table, as text."""

    robot: str
    quantity: str
    cells: tuple[str, ...]


HEADINGS = (
    "ns per call", *(f"vs {peer}" for peer in PEERS),
    "batch ns", *(f"vs {peer}" for peer in BATCHED_PEERS), "kernel.batch ns",
    "mul+add", "CasADi C mul+add", "difference",
)  # fmt: skip


def rows(results: Results) -> Iterator[Row]:
    """The lines of the table."""
    for robot in results.robots:
        title = f"{robot.name}, {robot.velocities} dof{', floating' if robot.floating else ''}"
        for one in robot.quantities:
            yield Row(title, TITLES[one.quantity], _cells(one))


def _cells(one: QuantityResult) -> tuple[str, ...]:
    own, batch = one.calls.get("Kinegraph"), one.batches.get("Kinegraph")
    worst = max((found.error for found in one.agreements), default=float("nan"))
    return (
        f"{own.median:.0f}" if own else "",
        *(_against(ratio(one.calls, peer), one.target_calls.get(peer)) for peer in PEERS),
        f"{batch.median:.1f}" if batch else "",
        *(_against(ratio(one.batches, peer), one.target_batches.get(peer)) for peer in BATCHED_PEERS),
        f"{one.public_batch.median:.1f}" if one.public_batch else "",
        str(one.operations.get("Kinegraph", "")),
        str(one.operations.get("CasADi C", "")),
        f"{worst:.0e}",
    )


def _against(found: float | None, target: float | None) -> str:
    """A ratio, and beside it the one asked for with whether it was reached."""
    if found is None:
        return ""
    if target is None:
        return f"{found:.1f}x"
    return f"{found:.1f}x {'✓' if found >= target else '✗'} {target:g}x"


def first_rows(results: Results) -> Iterator[tuple[str, ...]]:
    """Lines of the second table: seconds from the file to the first result."""
    for robot in results.robots:
        for quantity, (cold, cached) in robot.first.items():
            target = robot.target_seconds
            yield (
                robot.name,
                TITLES[quantity],
                _seconds(cold.processor, cold.wall, target[0] if target else None),
                _seconds(cached.processor, cached.wall, target[1] if target else None),
                f"{cold.imports:.2f}",
            )


def _seconds(processor: float, wall: float, target: float | None) -> str:
    verdict = "" if target is None else f" {'✓' if processor < target else '✗'} < {target:g}"
    return f"{processor:.2f}{verdict} (wall {wall:.2f})"


FIRST_HEADINGS = ("robot", "quantity", "cold, s of processor", "cached, s of processor", "imports, s")


def print_tables(results: Results, console: Console) -> None:
    """The tables on the terminal."""
    table = Table(*("robot", "quantity", *HEADINGS), title="Kinegraph beside its peers", caption=note(results))
    before = ""
    for row in rows(results):
        if row.robot != before and before:
            table.add_section()
        table.add_row(row.robot if row.robot != before else "", row.quantity, *(_colored(c) for c in row.cells))
        before = row.robot
    console.print(table)
    second = Table(*FIRST_HEADINGS, title="From the file to the first result")
    for line in first_rows(results):
        second.add_row(*(_colored(cell) for cell in line))
    console.print(second)
    for robot in results.robots:
        for peer, reason in robot.missing.items():
            console.print(f"{robot.name}: {peer} did not take part: {reason}", markup=False)


def _colored(cell: str) -> str:
    color = "green" if "✓" in cell else "red" if "✗" in cell else ""
    return f"[{color}]{cell}[/{color}]" if color else cell


def note(results: Results) -> str:
    """What the reader must know about the machine and the moment."""
    machine = results.machine
    busy = [one.load for robot in results.robots for one in robot.quantities]
    text = f"{machine['cpu']}; {machine['compiler']}; " + ", ".join(f"{k} {v}" for k, v in machine["versions"].items())
    if busy and max(busy) > BUSY:
        text += (
            f". The machine was busy (up to {max(busy):.1f} other processes per processor): times are of the "
            "processor, but caches are shared: ratios have moved by up to a third between such runs, marks near the "
            "promised ratio are not settled by one of them"
        )
    return text


# the page


def write_page(results: Results, path: Path, picture: Path, command: str) -> None:
    """The page of the documentation."""
    parts = [
        "# Benchmarks",
        _INTRODUCTION.format(command=command),
        f"Measured on: {note(results)}\n\nStarted {results.machine['started']}.",
        f"![How many times faster Kinegraph is]({picture.name})",
        "## Per call and batched",
        _TABLE_NOTE,
        _markdown(("robot", "quantity", *HEADINGS), [(row.robot, row.quantity, *row.cells) for row in rows(results)]),
        "## From the file to the first result",
        _FIRST_NOTE,
        _markdown(FIRST_HEADINGS, list(first_rows(results))),
        "## Nanoseconds per call, all sides",
        _markdown(("robot", "quantity", "Kinegraph", *PEERS), list(_times(results))),
        *_missing(results.robots),
        *_notes(results.robots),
        _RULES,
    ]
    path.write_text("\n\n".join(parts) + "\n")


_INTRODUCTION = """Reproducible benchmarks: compare ratios, not absolute times. Both sides of a ratio are measured in
the same run, in turn. `{command}` writes this page. Before a quantity is timed, its
results are compared with those of every peer on the same states. A relative difference above 1e-9
ends the run with an error."""

_TABLE_NOTE = """`vs` columns are the time of the peer divided by that of Kinegraph; a target ratio follows the mark.
`batch ns` is the time per state with two threads, each computing half of the states into existing
arrays. `kernel.batch ns` is the same through the public call with `out=`, which distributes blocks
of states. `mul+add` are the operations of one call, `difference` is the largest relative difference
from any peer."""

_FIRST_NOTE = """Seconds of processor time in a fresh process, from opening the URDF to the first numbers. Imports of
NumPy, LLVM and Kinegraph are not included; the last column shows them. Cold: empty cache."""

_RULES = """## What is compared

* **Robots** come from the `example-robot-data` wheel. All sides read the same prepared file, without
  shapes, limits, friction and mimic tags, with right angles written to the last digit. Panda's two
  fingers are locked (7 dof); all joints of Talos' grippers are free (50 dof). solo12, iCub and Talos
  have a floating base.
* **States** are random: 256, in random order, so that branches in library functions are not learned.
* **Kinegraph**: kernels at default effort, called by address from a C loop.
* **CasADi C**: Pinocchio's algorithms on CasADi's symbols, compiled with `gcc -O3 -march=native`.
  Placements are cleaned of rounding so that CasADi sees exact zeros, and the convention (local or
  world) with fewer operations is used. **CasADi world** takes the model as read and the world
  convention; the target ratios were set against it.
* **Pinocchio**: its C++ templates compiled here against the `pin` wheel, with clang if available,
  with and without `-march=native`, in both conventions of `crba` and `aba`. The fastest counts.
  Results stay in place, and only the computed half of symmetric matrices is used.
* **MuJoCo**: `mj_inverse` and `mj_forward` with all constraints disabled. They compute more than
  the quantity that is compared.
* **Derivatives** are along displacements, one column for every velocity. Pinocchio displaces a
  floating base in its own axes, Kinegraph in fixed axes; they are converted for the comparison.
* The **Coriolis matrix** is not unique: where the matrices differ, C v is compared."""


def _markdown(headings: tuple[str, ...], lines: list[tuple[str, ...]]) -> str:
    table = [headings, ("---",) * len(headings), *lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in table)


def _times(results: Results) -> Iterator[tuple[str, ...]]:
    for robot in results.robots:
        for one in robot.quantities:
            times = (one.calls.get(side) for side in ("Kinegraph", *PEERS))
            yield robot.name, TITLES[one.quantity], *(f"{t.median:.0f}" if t else "" for t in times)


def _missing(robots: list[RobotResult]) -> list[str]:
    lines = [f"* {robot.name}: {peer}: {why}" for robot in robots for peer, why in robot.missing.items()]
    return ["Not measured:\n\n" + "\n".join(lines)] if lines else []


def _notes(robots: list[RobotResult]) -> list[str]:
    lines = [
        f"* {robot.name}, {TITLES[one.quantity]}, {found.peer}: {found.note}"
        for robot in robots
        for one in robot.quantities
        for found in one.agreements
        if found.note
    ]
    return ["Notes on accuracy:\n\n" + "\n".join(lines)] if lines else []


# the picture


def draw(results: Results, path: Path) -> None:
    """Bars: how many times faster, per robot and quantity, with a tick where a ratio was promised."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    quantities = [name for name in TITLES if any(name == one.quantity for r in results.robots for one in r.quantities)]
    figure, axes = pyplot.subplots(len(quantities), 1, figsize=(9, 1.9 * len(quantities)), sharex=True, squeeze=False)
    for axis, quantity in zip(axes[:, 0], quantities, strict=True):
        _draw_quantity(axis, results, quantity)
    axes[-1, 0].set_xticks(range(len(results.robots)), [robot.name for robot in results.robots])
    axes[0, 0].legend(fontsize=8, ncols=4, loc="upper right")
    figure.suptitle("How many times faster than the peer's a call of Kinegraph is (black: promised)", fontsize=11)
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def _draw_quantity(axis: Axes, results: Results, quantity: str) -> None:
    width = 0.8 / len(PEERS)
    for number, peer in enumerate(PEERS):
        places, heights = [], []
        for column, robot in enumerate(results.robots):
            one = next((found for found in robot.quantities if found.quantity == quantity), None)
            value = ratio(one.calls, peer) if one else None
            if one is None or value is None:
                continue
            place = column + (number - (len(PEERS) - 1) / 2) * width
            places.append(place)
            heights.append(value)
            if (target := one.target_calls.get(peer)) is not None:
                axis.plot([place - width / 2, place + width / 2], [target, target], color="black", linewidth=1.2)
        bars = axis.bar(places, heights, width, color=_COLORS[peer], label=peer)
        axis.bar_label(bars, fmt="%.1f", fontsize=6)
    axis.axhline(1, color="gray", linewidth=0.6)
    axis.set_yscale("log")
    axis.set_ylim(0.3, 200)
    axis.set_yticks([1, 2, 5, 10, 50], ["1x", "2x", "5x", "10x", "50x"], fontsize=7)
    axis.set_yticks([], minor=True)
    axis.set_ylabel(TITLES[quantity], fontsize=7)
