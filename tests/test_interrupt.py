"""The token of interruption: set once, seen by all, raised where a loop has nothing to keep."""

from __future__ import annotations

import threading

import pytest

from kinegraph.errors import Interrupted
from kinegraph.interrupt import Interrupt


def test_a_request_stays() -> None:
    interrupt = Interrupt()
    assert not interrupt.requested
    interrupt.check()
    interrupt.request()
    interrupt.request()
    assert interrupt.requested
    with pytest.raises(Interrupted, match="interrupted"):
        interrupt.check()


@pytest.mark.parametrize("error", [KeyboardInterrupt, Interrupted])
def test_catching_makes_a_request_of_it(error: type[BaseException]) -> None:
    interrupt = Interrupt()
    done = []
    with interrupt.catching():
        done.append("begun")
        raise error
    assert interrupt.requested
    assert done == ["begun"]


def test_other_errors_pass_through() -> None:
    interrupt = Interrupt()
    with pytest.raises(ValueError, match="another"), interrupt.catching():
        raise ValueError("another")
    assert not interrupt.requested


def test_another_thread_can_request() -> None:
    interrupt = Interrupt()
    thread = threading.Thread(target=interrupt.request)
    thread.start()
    thread.join()
    assert interrupt.requested
