"""A process that computes for the studio: requests as lines of JSON in, answers out, until its input ends.

Each answer is a line that begins with a letter: `D` the answer, `P` progress, `F` a frame of a live simulation.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import queue
import sys
import threading
import warnings
from collections.abc import Mapping
from importlib import import_module

from kinegraph.errors import KinegraphError
from kinegraph.studio.model_text import described
from kinegraph.studio.requests import OPERATIONS, Channel

#: Bytes of memory that a process may have: a model that needs more ends with an error.
MOST_MEMORY = 6 * 2**30


def main() -> None:
    """Answer requests until the input ends."""
    lines = _own_output()
    _limit_memory()
    warnings.simplefilter("ignore")
    inbox: queue.SimpleQueue[dict[str, object] | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(inbox,), daemon=True).start()
    import_module("kinegraph.studio.scene")  # most requests need it
    channel = Channel(inbox, lambda kind, content: lines.write(_line(kind, content)))
    while (request := inbox.get()) is not None:
        if request["do"] in OPERATIONS:
            lines.write(_line("D", answered(request, channel)))
    os._exit(0)


def answered(request: Mapping[str, object], channel: Channel) -> dict[str, object]:
    """The answer to a request: its result, or its error."""
    answer = {"id": request["id"], "do": request["do"]}
    module, _, name = OPERATIONS[str(request["do"])].function.partition(":")
    channel.request = answer
    try:
        with contextlib.suppress(KeyboardInterrupt):
            return answer | {"result": getattr(import_module(module), name)(request.get("with") or {}, channel)}
        return answer | {"error": {"message": "canceled"}}
    except KinegraphError as error:
        return answer | {"error": described(error)}
    except MemoryError:
        return answer | {"error": {"message": "this needs more memory than a studio gives: use the command line"}}
    except RecursionError:
        return answer | {"error": {"message": "the model is nested too deeply"}}
    except (TypeError, ValueError, KeyError, ArithmeticError, OSError) as error:
        return answer | {"error": {"message": f"{type(error).__name__}: {str(error)[:500]}"}}


class _Lines:
    """The output, one line at a time from any thread."""

    def __init__(self, descriptor: int) -> None:
        self._file = os.fdopen(descriptor, "wb", buffering=0)
        self._lock = threading.Lock()

    def write(self, line: bytes) -> None:
        with self._lock, contextlib.suppress(BrokenPipeError):
            view = memoryview(line)
            while view:
                view = view[self._file.write(view) or 0 :]


def _own_output() -> _Lines:
    """The output of this process; what libraries print goes to the errors."""
    found = _Lines(os.dup(1))
    os.dup2(2, 1)
    return found


def _read(inbox: queue.SimpleQueue[dict[str, object] | None]) -> None:
    for line in sys.stdin.buffer:
        inbox.put(json.loads(line))
    os._exit(0)  # the studio has ended


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def _line(kind: str, content: object) -> bytes:
    try:
        text = json.dumps(content, allow_nan=False)
    except ValueError:
        text = json.dumps(finite(content))
    return kind.encode() + text.encode() + b"\n"


def finite(content: object) -> object:
    """The content with null for numbers that JSON cannot hold."""
    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if isinstance(content, Mapping):
        return {key: finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [finite(value) for value in content]
    return content


if __name__ == "__main__":
    main()
