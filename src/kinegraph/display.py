"""What a notebook shows richly. How is written in `kinegraph.view.notebook`, above all parts: it is asked by name."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Shown:
    """A class whose objects notebooks show as HTML or LaTeX; None leaves it to the plain text."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        return _notebook().html(self)  # type: ignore[no-any-return]

    def _repr_latex_(self) -> str | None:
        return _notebook().latex(self)  # type: ignore[no-any-return]


def _notebook() -> Any:
    return import_module("kinegraph.view.notebook")
