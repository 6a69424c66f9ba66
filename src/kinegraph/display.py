"""Rich display in notebooks. `kinegraph.view.notebook`, imported by name at the first use, does the work."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Protocol, cast


class RichDisplay:
    """Base of classes that notebooks display as HTML or LaTeX; None means plain text."""

    __slots__ = ()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Mapping[str, object] | None:
        """A widget, where there are widgets; the other forms are added to it for notebooks that are only read."""
        return _notebook().mimebundle(self)

    def _repr_html_(self) -> str | None:
        return _notebook().html(self)

    def _repr_latex_(self) -> str | None:
        return _notebook().latex(self)


class _Notebook(Protocol):
    """The functions used from `kinegraph.view.notebook`."""

    def mimebundle(self, thing: object) -> Mapping[str, object] | None: ...
    def html(self, thing: object) -> str | None: ...
    def latex(self, thing: object) -> str | None: ...


def _notebook() -> _Notebook:
    return cast("_Notebook", import_module("kinegraph.view.notebook"))
