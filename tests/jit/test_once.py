"""`once` computes a result once, also with concurrent threads."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Thread

import pytest

from kinegraph.jit.engine import once
from kinegraph.solve.methods.runge_kutta import sums_code
from kinegraph.solve.methods.tableau import DORMAND_PRINCE_5

THREADS = 8


def asked_at_once(make):
    """The results of many concurrent threads."""
    ready = Barrier(THREADS)

    def ask(_):
        ready.wait(timeout=30)
        return make()

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(ask, range(THREADS)))


@pytest.mark.parametrize("trial", range(5))
def test_code_of_sums_is_loaded_once(trial):
    """A thread with an address of replaced code would run freed memory."""
    fresh = once(sums_code.__wrapped__)
    found = asked_at_once(lambda: fresh(DORMAND_PRINCE_5))
    assert len({id(code) for code in found}) == 1


def test_other_arguments_are_made_apart_and_errors_are_not_kept():
    tried = []

    @once
    def inverse(number):
        tried.append(number)
        return 1 / number

    assert (inverse(2), inverse(4), inverse(2)) == (0.5, 0.25, 0.5)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            inverse(0)
    assert tried == [2, 4, 0, 0]


def test_one_may_ask_for_another():
    inner = once(lambda: object())
    outer = once(lambda: (inner(),))
    assert outer()[0] is inner()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process.*multi-threaded:DeprecationWarning")
def test_a_child_can_make_things_while_its_parent_made_some():
    begun, finish = Event(), Event()

    def make():
        begun.set()
        finish.wait(timeout=30)

    maker = Thread(target=once(make))
    maker.start()
    assert begun.wait(timeout=30)
    Thread(target=lambda: finish.wait(timeout=0.2) or finish.set()).start()  # the fork waits for what is being made
    child = os.fork()
    if child == 0:
        os._exit(once(lambda: 7)())
    maker.join(timeout=30)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
