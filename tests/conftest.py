"""Random tests are quick and repeatable by default; `make soak` runs many more cases, different each time."""

import gc
import logging
import os
import signal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import none

from tests.effort import SOAK

settings.register_profile("quick", max_examples=30, deadline=None, derandomize=True)
settings.register_profile("soak", max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile("soak" if SOAK else "quick")


# Graphs are millions of tuples without cycles: looking for cycles after every 700 of them takes a fifth of the suite,
# after every 100,000 a seventh. Quick runs do it between files, and only where memory might become scarce.
if SOAK:
    gc.set_threshold(100_000, 20, 5)
else:
    gc.disable()
_MANY_OBJECTS = 30_000_000  # some gigabytes

# Where no bytecode is written, each of a hundred processes compiles all sources again, for half a second.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell that starts the tests in the background lets them ignore Ctrl-C; those about interrupts would never end.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config, items):
    """What is marked `soak` runs in `make soak` alone."""
    if SOAK:
        return
    quick = [item for item in items if item.get_closest_marker("soak") is None]
    config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("soak") is not None])
    items[:] = quick


@given(none())
def use_hypothesis(nothing):
    """Nothing is tried."""


@pytest.hookimpl(trylast=True)
def pytest_sessionstart():
    """At its first use Hypothesis looks through all objects: few now, millions when the first random test comes."""
    use_hypothesis()


@pytest.fixture(autouse=True)
def log_as_it_was():
    """A command with --json quietens the log of its process; the next test in the process hears it again."""
    yield
    logging.getLogger("kinegraph").setLevel(logging.NOTSET)


def pytest_runtest_teardown(item, nextitem):
    """What files left in memory is looked through once, and not again and again in later files."""
    if nextitem is not None and nextitem.path == item.path:
        return
    if SOAK:  # the rare full collections would let a process grow to ten gigabytes
        gc.collect()
    elif gc.get_count()[0] > _MANY_OBJECTS:
        gc.collect()
        gc.freeze()


def pytest_sessionfinish():
    """At the end pytest looks five times for what nobody holds, among millions of objects: none of them is for it."""
    gc.freeze()
