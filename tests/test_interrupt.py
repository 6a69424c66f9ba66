"""The token of interruption: set once, seen by all, raised where a loop has nothing to keep."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from kinegraph.errors import Interrupted
from kinegraph.interrupt import Interrupt, delayed


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


@pytest.fixture
def handled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ctrl-C as Python handles it, also where tests run in the background, whose processes ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_deferring_holds_ctrl_c_back(handled: None) -> None:
    interrupt, done = Interrupt(), []
    with interrupt.deferring():
        signal.raise_signal(signal.SIGINT)
        done.append(interrupt.requested)
    assert done == [True]
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_delayed_raises_at_the_end(handled: None) -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), delayed():
        signal.raise_signal(signal.SIGINT)
        done.append("all of it")
    assert done == ["all of it"]
    with delayed():
        pass


def test_within_another_the_outer_one_decides(handled: None) -> None:
    interrupt = Interrupt()
    with interrupt.deferring():
        with delayed():
            signal.raise_signal(signal.SIGINT)
        assert interrupt.requested


def test_a_handler_of_the_user_stays(handled: None) -> None:
    seen: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    with delayed():
        signal.raise_signal(signal.SIGINT)
    assert seen == [signal.SIGINT]


def test_other_threads_are_left_alone() -> None:
    done: list[bool] = []

    def work() -> None:
        with delayed():
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]
