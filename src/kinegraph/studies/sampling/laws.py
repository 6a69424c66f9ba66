"""Laws as text: `uniform(-0.1, 0.1)`, `normal(0, 1)`, `truncated(0, 1, -2, 2)`, `disc(0.1)`, `choice(1, 2, 3)`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.errors import KinegraphError, StudyError
from kinegraph.files import read_input_text
from kinegraph.model.evaluate import number
from kinegraph.model.names import did_you_mean
from kinegraph.simulate.formula import formula
from kinegraph.studies.sampling.distributions import Ball, Choice, Distribution, Normal, Uniform

#: What a user gives for the law of a name: the law, its text, or a list of values to choose from.
Law: TypeAlias = "Distribution | str | ArrayLike"

_CALL = re.compile(r"\s*(\w+)\s*\((.*)\)\s*", re.DOTALL)
_LARGEST_TABLE = 200_000_000

#: The laws by name: how many numbers each takes, and what makes it.
_LAWS: dict[str, tuple[tuple[int, ...], Callable[..., Distribution]]] = {
    "uniform": ((2,), Uniform),
    "normal": ((2,), Normal),
    "truncated": ((4,), Normal),
    "disc": ((1,), Ball),
    "ball": ((1,), Ball),
}


def read_law(given: Law, names: tuple[str, ...], folder: Path | None = None) -> Distribution:
    """The law a user means for these names, checked against their number; tables are read from `folder`."""
    law = _law(given, ", ".join(names), folder)
    if law.width is not None and law.width != len(names):
        raise StudyError(f"{', '.join(names)}: the law gives {law.width} numbers for {len(names)} names")
    law.values(np.full((1, law.dimensions(len(names))), 0.4), len(names))  # a ball of one number says so
    return law


def _law(given: Law, where: str, folder: Path | None) -> Distribution:
    if isinstance(given, Distribution):
        return given
    if not isinstance(given, str):
        try:
            return Choice.of(given)
        except (TypeError, ValueError):
            raise StudyError(f"{where}: {given!r:.80} is no law; write e.g. 'uniform(-0.1, 0.1)'") from None
    found = _CALL.fullmatch(given)
    known = (*_LAWS, "choice", "table")
    if found is None or found[1] not in known:
        word = found[1] if found else given.strip()
        raise StudyError(f"{where}: there is no law {word!r}\n  {did_you_mean(word, known)}")
    if found[1] == "table":
        return _table(found[2].strip().strip("'\""), where, folder)
    numbers = [_number(text, where) for text in _parts(found[2])]
    if found[1] == "choice":
        return Choice.of(numbers)
    counts, make = _LAWS[found[1]]
    if len(numbers) not in counts:
        raise StudyError(f"{where}: {found[1]} takes {counts[0]} numbers, here are {len(numbers)}")
    return make(*numbers)


def _parts(text: str) -> list[str]:
    return [part for part in re.split(r",(?![^()]*\))", text) if part.strip()]


def _number(text: str, where: str) -> float:
    try:
        return number(formula(text), {})
    except KinegraphError:
        raise StudyError(f"{where}: {text.strip()!r} is no number; write one, such as 0.1 or pi/3") from None


def _table(name: str, where: str, folder: Path | None) -> Choice:
    """The rows of a .csv file, one column for each name; a head is left out."""
    path = (folder or Path()) / name
    lines = read_input_text(path, _LARGEST_TABLE, "table").splitlines()
    head = bool(lines) and lines[0][:1].strip("+-.0123456789 ") != ""
    try:
        return Choice.of(np.loadtxt(lines[head:], delimiter=",", ndmin=2))
    except ValueError:
        raise StudyError(f"{where}: {path} does not hold columns of numbers between commas") from None


def read_laws(given: Mapping[str, Law] | Mapping[tuple[str, ...], Law], folder: Path | None = None) -> Laws:
    """Laws by name; names that belong together are a tuple, or stand between commas: "x, y"."""
    laws: dict[tuple[str, ...], Distribution] = {}
    seen: set[str] = set()
    for key, law in given.items():
        names = key if isinstance(key, tuple) else tuple(part.strip() for part in key.split(","))
        twice = seen & set(names) or {name for name in names if names.count(name) > 1}
        if twice:
            raise StudyError(f"vary: {min(twice)} is named twice")
        seen |= set(names)
        laws[names] = read_law(law, names, folder)
    return laws


Laws: TypeAlias = "dict[tuple[str, ...], Distribution]"
