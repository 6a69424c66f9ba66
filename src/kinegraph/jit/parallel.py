"""Process blocks of rows on all cores. The called code releases Python's lock, so threads suffice."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Lock

_pools: dict[int, ThreadPoolExecutor] = {}
_pools_lock = Lock()


def cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def for_blocks(work: Callable[[int, int], None], rows: int, block: int, threads: int) -> None:
    """Call work(first, last) for blocks that cover all rows.

    Each thread takes the next block when it has finished one, so a slow thread does not delay the others. Blocks are
    short, so that an interrupt takes effect between two of them.
    """
    if 0 < rows <= block:
        work(0, rows)
        return
    blocks = _Blocks(rows, block)

    def run() -> None:
        for first, last in blocks:
            work(first, last)

    helpers = min(threads, len(blocks) // 2) - 1
    if helpers < 1:
        run()
        return
    futures = [_pool(threads).submit(run) for _ in range(helpers)]
    try:
        run()
    finally:
        blocks.stop()
        wait(futures)
    for future in futures:
        future.result()


class _Blocks:
    """A thread-safe iterator over ranges of rows."""

    def __init__(self, rows: int, block: int) -> None:
        self.rows = rows
        self.block = block
        self._next = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return -(-self.rows // self.block)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        while True:
            with self._lock:
                first = self._next
                self._next += self.block
            if first >= self.rows:
                return
            yield first, min(first + self.block, self.rows)

    def stop(self) -> None:
        """End the iteration."""
        with self._lock:
            self._next = self.rows


def _pool(threads: int) -> ThreadPoolExecutor:
    with _pools_lock:
        if threads not in _pools:
            _pools[threads] = ThreadPoolExecutor(threads, thread_name_prefix="kinegraph")
        return _pools[threads]


def _forget_pools() -> None:
    """Threads do not survive a fork; the child starts its own."""
    global _pools_lock
    _pools_lock = Lock()
    _pools.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pools)
