"""A command line that presses Ctrl-C itself, once, at a place of the program: no clock decides.

    python pressing.py PLACE COUNT [--endless] COMMAND ...

PLACE is `module:function`, called for the COUNT-th time, or `import:module`. With --endless the process that compiles
does nothing until this one has ended: what happens meanwhile can be looked at.
"""

import os
import signal
import sys
from importlib import import_module


def press():
    os.kill(os.getpid(), signal.SIGINT)


def press_when_called(place, count):
    module, _, path = place.partition(":")
    owner, (*parts, name) = import_module(module), path.split(".")
    for part in parts:
        owner = getattr(owner, part)
    function, calls = getattr(owner, name), [0]

    def pressing(*values, **named):
        calls[0] += 1
        if calls[0] == count:
            press()
        return function(*values, **named)

    setattr(owner, name, pressing)


class PressWhenImported:
    """Looked at whenever a module is imported for the first time."""

    def __init__(self, module):
        self.module = module

    def find_spec(self, name, path=None, target=None):
        if name == self.module:
            self.module = None
            press()


if __name__ == "__main__":
    place, count, *command = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells make background processes ignore it
    if place.startswith("import:"):
        sys.meta_path.insert(0, PressWhenImported(place.removeprefix("import:")))
    else:
        press_when_called(place, int(count))
    sys.argv = ["kinegraph", *command]
    import_module("kinegraph.__main__").main()
