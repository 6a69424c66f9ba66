"""A process that runs cases one after the other and says how each went.

`python -m tests.fuzz.worker SUBJECT SEED FIRST LAST SECONDS` prints a line of JSON before and after each case. It ends
itself when a case takes more than its processor time or memory: what is wrong may be in C code, which no exception
reaches.
"""

from __future__ import annotations

import faulthandler
import json
import os
import re
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import TextIO

from kinegraph.errors import KinegraphError
from tests.fuzz.subject import Depth, Subject
from tests.fuzz.traps import TRAPS

#: Bytes of memory one case may take beyond those of the program at rest.
BYTES = 2 * 1024**3

_LONGEST_TRACE = 3000


def outcome(subject: Subject, text: str, depth: Depth) -> tuple[str, str]:
    """How a case went: `read`, `refused`, or `fault` and its traceback."""
    try:
        subject.run(text, depth)
    except KinegraphError:
        return "refused", ""
    except Exception:  # whatever it is: that is what the fuzzer looks for
        return "fault", traceback.format_exc()[-_LONGEST_TRACE:]
    return "read", ""


def limit_memory() -> None:
    """From here on the process cannot get more than BYTES beyond what it has."""
    import resource  # Windows has none, and runs the quick cases all the same

    size = re.search(r"VmSize:\s*(\d+) kB", Path("/proc/self/status").read_text("ascii"))
    if size:  # other systems have no such file, and run without this limit
        most = int(size[1]) * 1024 + BYTES
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def run_cases(subject: Subject, seed: int, numbers: range, limit: float, report: TextIO) -> None:
    """All cases of these numbers, each within `limit` seconds of processor time; two lines each in `report`."""
    for number in numbers:
        print(json.dumps({"begun": number}), file=report, flush=True)
        text, depth = subject.case(seed, number)
        begun = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, limit)  # its signal ends the process
        how, trace = outcome(subject, text, depth)
        signal.setitimer(signal.ITIMER_PROF, 0)
        seconds = time.process_time() - begun
        print(json.dumps({"case": number, "how": how, "seconds": seconds, "trace": trace}), file=report, flush=True)


def _subject(name: str) -> Subject:
    if name == TRAPS.name:
        return TRAPS
    from tests.fuzz.subjects import BY_NAME  # brings the whole program with it

    return BY_NAME[name]


def main() -> None:
    """The cases of the command line; what the program prints meanwhile goes nowhere."""
    subject, seed, first, last = _subject(sys.argv[1]), *map(int, sys.argv[2:5])
    limit = float(sys.argv[5])
    report = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    faulthandler.register(signal.SIGPROF, chain=True)  # say where it was, then end
    warnings.simplefilter("ignore")
    for number in range(3 if subject.share else 0):  # what is imported and made once belongs to no case
        outcome(subject, subject.case(-1, number)[0], Depth.COMPILE)
    limit_memory()
    run_cases(subject, seed, range(first, last), limit, report)


if __name__ == "__main__":
    main()
