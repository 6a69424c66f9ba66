"""The robot files of all installed packages, read and compared with MuJoCo, Pinocchio and Drake at random states.

    pip install mujoco pin drake
    pip install --no-deps dm_control gymnasium robosuite pybullet ...       (only their files are used)
    python -m benchmarks robots --wheels [--states 3] [--every 10] [--folder DIR] [--json FILE] [NAME ...]

Of every file that describes a mechanism (it has a body, and the engine reads it): is it read, do the forces
tau(q, v, a) and the inertia matrix agree to 1e-9, and if not, what does the report say is left out? NAME is part of a
path. `--every 10` takes each tenth file, `--folder` the files of a folder in place of those of the packages, each
folder inside it being a package.
"""

from __future__ import annotations

import json
import sysconfig
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from benchmarks.wheel_peers import APART, FileOutcome, Verdict, compare_mjcf, compare_sdf, compare_urdf, compare_usd
from kinegraph.errors import KinegraphError
from kinegraph.io.model_format import ModelFormat, format_by_name, format_by_root, holds_xml
from kinegraph.io.robot.xml import read_xml

#: The endings of robot files; the root element then says which format a file has.
_ENDINGS = frozenset([".xml", ".mjcf", ".mjz", ".urdf", ".xacro", ".sdf", ".world", ".usd", ".usda", ".usdc", ".usdz"])
#: Folders that count as the package of their name although they are not importable.
_SHARED = "cmeel.prefix/share"
#: A thousand objects of one link each.
_REPEATED = "random_urdfs"

_COMPARISONS = {
    ModelFormat.MJCF: compare_mjcf,
    ModelFormat.URDF: compare_urdf,
    ModelFormat.SDF: compare_sdf,
    ModelFormat.USD: compare_usd,
}


def packages(folder: Path | None) -> list[Path]:
    """The folders of all installed packages, or those inside a folder."""
    around = folder or Path(sysconfig.get_path("purelib"))
    inside = [*around.iterdir(), *(around / _SHARED).glob("*")]
    return sorted((one for one in inside if one.is_dir()), key=lambda one: one.name.lower())


def files_of(package: Path) -> list[Path]:
    """The files of a package that may describe robots."""
    if package.name == Path(_SHARED).parts[0]:
        return []
    return sorted(path for path in package.rglob("*") if path.suffix in _ENDINGS and _REPEATED not in path.parts)


def format_of(path: Path) -> ModelFormat | None:
    """The format of a file, by its root element; None if it is not a model."""
    if path.suffix == ".mjz":
        return ModelFormat.MJCF
    try:
        return format_by_root(read_xml(path)) if holds_xml(path) else format_by_name(path)
    except (KinegraphError, OSError):
        return None


def outcomes(names: Iterable[str], states: int, folder: Path | None, every: int) -> Iterator[FileOutcome]:
    """All files, package by package."""
    listed = [(package, path) for package in packages(folder) for path in files_of(package)]
    chosen = [pair for pair in listed if not names or any(name in str(pair[1]) for name in names)]
    for package, path in chosen[::every]:
        found = format_of(path)
        if found in _COMPARISONS:
            yield _COMPARISONS[found](path, package, states)


#: What becomes of a mechanism, in the order of the columns.
_COLUMNS = {
    Verdict.AGREES: "agree",
    Verdict.LEFT_OUT: "left out, said",
    Verdict.PARTLY: "partly driven",
    Verdict.DIFFERS: "differ",
    Verdict.READ: "read, not compared",
    Verdict.STILL: "nothing moves",
    Verdict.REFUSED: "refused",
}


def summary(found: list[FileOutcome]) -> str:
    """Files by format, package and verdict, as tables of Markdown."""
    formats = dict.fromkeys(one.format for one in found)
    return "\n\n".join(_table(name, [one for one in found if one.format == name]) for name in formats)


def _table(name: str, found: list[FileOutcome]) -> str:
    head = (name, "mechanisms", *_COLUMNS.values(), "read", "no bodies", "engine refuses")
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for package in [*dict.fromkeys(one.package for one in found), "all"]:
        counts = Counter(one.verdict for one in found if package in (one.package, "all"))
        row = [counts[verdict.name] for verdict in _COLUMNS]
        total, refused = sum(row), counts[Verdict.REFUSED.name]
        share = f"{100 * (total - refused) / total:.1f} %" if total else "-"
        apart = [counts[verdict.name] for verdict in APART]
        if total:
            lines.append(f"| {package} | {total} | {' | '.join(map(str, row))} | {share} | {apart[0]} | {apart[1]} |")
    return "\n".join(lines)


def run(names: list[str], states: int, file: Path | None, folder: Path | None = None, every: int = 1) -> int:
    """Compare and print; 0 if every file that is read agrees or says why not."""
    found: list[FileOutcome] = []
    for one in outcomes(names, states, folder, every):
        found.append(one)
        numbers = f"{one.velocities:3d} {one.error:.0e}"
        print(f"{one.format:5s} {one.package:12s} {one.file:75s} {one.verdict:12s} {numbers}  {one.words}", flush=True)
        if file:
            file.write_text(json.dumps([asdict(one) for one in found], indent=1), encoding="utf-8")
    print(summary(found))
    return 1 if any(one.verdict == Verdict.DIFFERS.name for one in found) else 0
