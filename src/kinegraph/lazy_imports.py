"""Packages whose names are loaded when they are asked for, and functions that are imported when they are called.

A package that imports its own parts makes threads wait for each other: one that imports a part holds the lock of that
part and waits for the package, another one holds that of the package and waits for the part. So packages import none.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from types import ModuleType

from kinegraph.garbage_collection import gc_paused


class Package(ModuleType):
    """A package that knows in which modules its names are; a name without a module is a part of its own."""

    _homes: Mapping[str, str]

    def __getattr__(self, name: str) -> object:
        homes = self.__dict__["_homes"]
        if name not in homes:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        home = homes[name]
        with gc_paused():
            found = getattr(import_module(home), name) if home else import_module(f"{self.__name__}.{name}")
        super().__setattr__(name, found)
        return found

    def __setattr__(self, name: str, value: object) -> None:
        """Keeps names what they are: importing a part of the same name would hide them."""
        if not (self.__dict__["_homes"].get(name) and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *self.__dict__["_homes"]})


def load_on_demand(package: str, homes: Mapping[str, str]) -> None:
    """Let a package load names where they are first asked for; homes: the module of each, "" for a part of its own."""
    module = sys.modules[package]
    module.__dict__["_homes"] = homes
    module.__class__ = Package


class Functions:
    """Stands for a module of which functions are named long before one is called, if any is."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Callable[..., object]:
        """The function of this name; calling it imports the module."""
        if name.startswith("_"):
            raise AttributeError(name)
        return partial(_called, self._module, name)


def _called(module: str, name: str, *arguments: object, **named: object) -> object:
    function: Callable[..., object] = getattr(import_module(module), name)
    return function(*arguments, **named)
