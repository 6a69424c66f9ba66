"""In which order the pins of a linkage are eliminated: few neighbours first, those that close loops last."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinegraph.large.records import Integers


@dataclass(frozen=True)
class Order:
    """`order`, `other`, `target` and `pair` of a linkage."""

    order: Integers
    other: Integers
    target: Integers
    pair: Integers


def elimination_order(pins: Sequence[tuple[int, int]], bars: int) -> Order:
    """The order for pins given by the bars they join (-1 the ground); the first `bars` pins close no loop."""
    on_bar: list[list[int]] = [[] for _ in range(bars)]
    for number, ends in enumerate(pins):
        for bar in set(ends) - {-1}:
            on_bar[bar].append(number)
    beside = _neighbours(on_bar, len(pins))
    sequence, later = _least_degree(beside, bars)
    rank = {pin: k for k, pin in enumerate(sequence)}
    entry: dict[tuple[int, int], int] = {}
    first = [0]
    for pin in sequence:
        entry |= {(pin, one): len(entry) + k for k, one in enumerate(later[pin])}
        first.append(len(entry))
    target = [entry[a, b] for pin in sequence for i, a in enumerate(later[pin]) for b in later[pin][i + 1 :]]
    pairs = []
    for bar, own in enumerate(on_bar):
        own.sort(key=rank.__getitem__)
        pairs += [(bar, a, b, entry[a, b]) for i, a in enumerate(own) for b in own[i + 1 :]]
    return Order(
        np.array(list(zip([*sequence, -1], first, strict=True)), dtype=np.int64),
        np.array([one for pin in sequence for one in later[pin]], dtype=np.int64),
        np.array(target, dtype=np.int64),
        np.array(pairs, dtype=np.int64).reshape(-1, 4),
    )


def _neighbours(on_bar: Sequence[Sequence[int]], count: int) -> list[set[int]]:
    """The pins that share a bar with each pin."""
    beside: list[set[int]] = [set() for _ in range(count)]
    for own in on_bar:
        for pin in own:
            beside[pin].update(own)
    for pin, others in enumerate(beside):
        others.discard(pin)
    return beside


def _least_degree(beside: list[set[int]], bars: int) -> tuple[list[int], list[list[int]]]:
    """The order, and by pin its neighbours at the time it goes, in that order."""
    waiting = [(pin >= bars, len(others), pin) for pin, others in enumerate(beside)]
    heapq.heapify(waiting)
    sequence: list[int] = []
    gone: list[set[int]] = [set() for _ in beside]
    done = [False] * len(beside)
    while waiting:
        _, degree, pin = heapq.heappop(waiting)
        if done[pin] or degree != len(beside[pin]):
            continue
        done[pin] = True
        sequence.append(pin)
        gone[pin] = beside[pin]
        for one in gone[pin]:
            beside[one] |= gone[pin]
            beside[one] -= {one, pin}
            heapq.heappush(waiting, (one >= bars, len(beside[one]), one))
    rank = {pin: k for k, pin in enumerate(sequence)}
    return sequence, [sorted(others, key=rank.__getitem__) for others in gone]
