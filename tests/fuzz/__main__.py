"""`python -m tests.fuzz --cases 200000 --seed 1`, or one case again: `--subject urdf --seed 1 --case 17`."""

from __future__ import annotations

import argparse
import os
import sys

from kinegraph.errors import KinegraphError
from tests.fuzz.campaign import Campaign, Fault, Tally
from tests.fuzz.subjects import BY_NAME, SUBJECTS


def main() -> None:
    """Run the campaign or the case; exit code 1 if anything was wrong."""
    options = _options()
    subjects = (BY_NAME[options.subject],) if options.subject else SUBJECTS
    if options.case is not None:
        _again(options.subject, options.seed, options.case)
        return
    campaign = Campaign(options.cases, options.seed, options.jobs, _tell)
    tallies = campaign.run(subjects)
    _show(tallies, options.seed)
    sys.exit(any(tally.faults for tally in tallies.values()))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=200_000, help="how many in all")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other cases")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="worker processes side by side")
    parser.add_argument("--subject", choices=sorted(BY_NAME), help="this one alone")
    parser.add_argument("--case", type=int, help="show this one case and run it here")
    options = parser.parse_args()
    if options.case is not None and not options.subject:
        parser.error("--case needs --subject")
    return options


def _again(name: str, seed: int, number: int) -> None:
    subject = BY_NAME[name]
    text, depth = subject.case(seed, number)
    print(f"{depth.name.lower()}: {text}", flush=True)
    try:
        subject.run(text, depth)
    except KinegraphError as error:
        print(f"refused: {error}")


def _tell(fault: Fault) -> None:
    print(f"FAULT {fault}\n", flush=True)


def _show(tallies: dict[str, Tally], seed: int) -> None:
    print(
        f"seed {seed}\n{'subject':12}{'cases':>9}{'read':>9}{'refused':>9}{'faults':>8}{'ms/case':>9}{'slowest s':>11}"
    )
    for name, tally in tallies.items():
        cases, counts = tally.counts.total(), tally.counts
        each = 1e3 * tally.seconds / max(cases, 1)
        row = f"{name:12}{cases:9}{counts['read']:9}{counts['refused']:9}{counts['fault']:8}"
        print(f"{row}{each:9.1f}{tally.slowest[0]:11.2f} (case {tally.slowest[1]})")
    faults = sum(len(tally.faults) for tally in tallies.values())
    print(f"{sum(tally.counts.total() for tally in tallies.values())} cases, {faults} faults")


if __name__ == "__main__":
    main()
