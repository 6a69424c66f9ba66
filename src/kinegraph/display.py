"""What notebooks display richly. `kinegraph.view.notebook` says how: it stands above all parts and is found by name."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast


class RichDisplay:
    """A class whose objects notebooks display as HTML or LaTeX; None leaves it to the text."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        return _notebook().html(self)

    def _repr_latex_(self) -> str | None:
        return _notebook().latex(self)


class _Notebook(Protocol):
    """What is used of `kinegraph.view.notebook`."""

    def html(self, thing: object) -> str | None: ...
    def latex(self, thing: object) -> str | None: ...


def _notebook() -> _Notebook:
    return cast("_Notebook", import_module("kinegraph.view.notebook"))
