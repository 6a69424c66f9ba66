"""What notebooks display richly. `kinegraph.view.notebook` says how: it stands above all parts and is found by name."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class RichDisplay:
    """A class whose objects notebooks display as HTML or LaTeX; None leaves it to the text."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        return _notebook().html(self)  # type: ignore[no-any-return]

    def _repr_latex_(self) -> str | None:
        return _notebook().latex(self)  # type: ignore[no-any-return]


def _notebook() -> Any:
    return import_module("kinegraph.view.notebook")
