"""Long programs are cut into functions: compile time stays linear and registers are used better.

A value used in a later chunk than its own goes through a scratch array. Slots are used again once their value has
had its last use.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from kinegraph.codegen.program.program import LEAVES, Op, Program

_NO_VALUE = LEAVES | {Op.SINCOS, Op.STORE}
_TRAFFIC_WEIGHT = 2
_STAYS_WITH_PREDECESSOR = frozenset((Op.SIN, Op.COS))


@dataclass(frozen=True)
class Chunks:
    """Ranges of instructions, and the scratch slot of every value that crosses a border."""

    ranges: tuple[range, ...]
    slots: dict[int, int]
    scratch_size: int


def cut(program: Program, limit: int, whole: int = 0) -> Chunks:
    """Cut a program into chunks of about `limit` instructions; one chunk if it is not much longer, or up to `whole`.

    Where many values cross, chunks are shorter: a compiler's time grows with the square of the loads and stores in a
    function. How many cross is known after a first cut.
    """
    work = [int(one.op not in LEAVES) for one in program.instructions]
    ranges = _ranges(program, work, limit)
    if len(ranges) == 1 or sum(work) <= whole:
        ranges = [range(len(work))]
        return Chunks(tuple(ranges), {}, 0)
    home = _home(ranges)
    traffic = _traffic(program, home)
    ranges = _ranges(program, [one + _TRAFFIC_WEIGHT * more for one, more in zip(work, traffic, strict=True)], limit)
    home = _home(ranges)
    slots, size = _slots(program, _last_uses(program, home), home, len(ranges))
    return Chunks(tuple(ranges), slots, size)


def _ranges(program: Program, costs: list[int], limit: int) -> list[range]:
    total = sum(costs)
    if total <= limit + limit // 2:
        return [range(len(costs))]
    target = total / round(total / limit)
    ranges: list[range] = []
    start, done = 0, 0
    for index, one in enumerate(program.instructions):
        if done >= target * (len(ranges) + 1) and one.op not in _STAYS_WITH_PREDECESSOR:
            ranges.append(range(start, index))
            start = index
        done += costs[index]
    ranges.append(range(start, len(costs)))
    return ranges


def _home(ranges: list[range]) -> list[int]:
    """The chunk of every instruction."""
    return [number for number, one in enumerate(ranges) for _ in one]


def _crossing(program: Program, home: list[int]) -> Iterator[tuple[int, int]]:
    """Every value from an earlier chunk, with the instruction that uses it."""
    for index, one in enumerate(program.instructions):
        for operand in one.operands:
            if home[operand] != home[index] and program.instructions[operand].op not in _NO_VALUE:
                yield operand, index


def _traffic(program: Program, home: list[int]) -> list[int]:
    """How many loads and stores of the scratch array each instruction causes."""
    traffic = [0] * len(home)
    stored: set[int] = set()
    loaded: set[tuple[int, int]] = set()
    for value, user in _crossing(program, home):
        if value not in stored:
            stored.add(value)
            traffic[value] += 1
        if (value, home[user]) not in loaded:
            loaded.add((value, home[user]))
            traffic[user] += 1
    return traffic


def _last_uses(program: Program, home: list[int]) -> dict[int, int]:
    """The last chunk that needs each value from an earlier chunk."""
    return {value: home[user] for value, user in _crossing(program, home)}


def _slots(program: Program, last: dict[int, int], home: list[int], chunks: int) -> tuple[dict[int, int], int]:
    ending: list[list[int]] = [[] for _ in range(chunks)]
    slots: dict[int, int] = {}
    free: defaultdict[int, list[int]] = defaultdict(list)
    size = chunk = 0
    for value in sorted(last):
        # A slot is free only in the chunks after its last use: inside a chunk loads and stores may be reordered.
        while chunk < home[value]:
            for old in ending[chunk]:
                free[program.width(old)].append(slots[old])
            chunk += 1
        width = program.width(value)
        if free[width]:
            slots[value] = free[width].pop()
        else:
            # A vector that begins at a multiple of its own length lies in one line of the cache.
            room = 1 << (width - 1).bit_length()
            slots[value] = -(-size // room) * room
            size = slots[value] + width
        ending[last[value]].append(value)
    return slots, size
