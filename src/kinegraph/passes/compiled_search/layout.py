"""How the compiled search lays out its state: one array of 64-bit integers.

The head holds numbers and where each section starts; a section is a table of rows of fixed width; lists are linked
through row numbers, -1 ends them. One array keeps compiling fast and calls cheap. A step that runs out of room, or
needs a product of coefficients not met before, sets STATUS, is undone and tried again after the driver has helped:
exact arithmetic stays in `CoefficientTable`, compiled code only looks results up.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

#: The largest degree of a monomial.
DEGREE = 16

#: Operations are counted in this many parts, so that a sine may cost a fraction of one.
PARTS = 16

_head = count()
# numbers
(COST, FREE_TERM, FREE_PLACE, FREE_ENTRY, DIRTY, HEAP, TOUCHED, JOURNAL, FREE_LITERALS, STAMP, STATUS, MISS, WORK,
 BEST_TERMS, ITERATION, LITERALS, UNDOING, RANDOM, PRESENT, BEST, BUCKET_MASK, MEMO_MASK, ENTRIES, HEAP_ROOM,
 JOURNAL_ROOM, MISS_ROOM, FUNCTION_PARTS, SWITCHABLE, LARGEST, CYCLE, FIRST_RELATION, RELATIONS) = (
    next(_head) for _ in range(32)
)  # fmt: skip
# where sections start
(LITERAL, TERM, PLACE, ENTRY, BUCKETS, DIRTY_LIST, HEAP_ROWS, TOUCHED_LIST, FREE_LIST, JOURNAL_ROWS, MEMO, MISSES,
 CHOSEN, BUFFER, LIST_ONE, LIST_TWO, WAY_ROOT, WAY_FIRST, WAY_START, WAY_ROWS, BEST_ROWS, EQUATION,
 INSIDE_LIST) = (
    next(_head) for _ in range(23)
)  # fmt: skip
HEAD = next(_head)

# columns of LITERAL
(HASH, KIND, ROOT, FIRST, SIZE, USES, USE_COUNT, ARGUMENT, PRICED, FLAG, MARK, ARGUMENT_WAY, INSIDE, INSIDE_END,
 LITERAL_WIDTH) = range(15)  # fmt: skip
# columns of TERM; the last three are DEGREE wide
EXPRESSION, COUNT, COEFFICIENT, T_HASH, NEXT, PREVIOUS, HALF, T_MARK, LITERALS_OF = range(9)
USE_NEXT = LITERALS_OF + DEGREE
USE_PREVIOUS = USE_NEXT + DEGREE
TERM_WIDTH = USE_PREVIOUS + DEGREE
# columns of PLACE: where a candidate occurs; half edges lead from its terms
OF_ENTRY, OUTER, LEFT, RIGHT, PLACE_NEXT, PLACE_PREVIOUS, HALF_NEXT, _HN, HALF_PREVIOUS, _HP, PLACE_WIDTH = range(11)
# columns of ENTRY: a candidate
KEY, SORT, A, B, DEGREE_A, DEGREE_B, PLACES, PLACE_COUNT, IS_DIRTY, VERSION, CHAIN, ENTRY_WIDTH = range(12)
# columns of JOURNAL_ROWS
J_KIND, J_EXPRESSION, J_COEFFICIENT, J_COUNT, J_HASH, J_LITERALS = range(6)
JOURNAL_WIDTH = J_LITERALS + DEGREE
MEMO_WIDTH, HEAP_WIDTH, CHOSEN_WIDTH = 4, 3, 3
WAY_WIDTH = 2 + DEGREE
BEST_WIDTH = 3 + DEGREE

#: Equations of more terms are not used for rewriting.
LONGEST = 48

# values of STATUS
FINE, MISSING, FULL = 0, 1, 2
# operations of the memo
MULTIPLY, ADD, DIVIDE, NORMAL, NEGATE = 1, 2, 3, 4, 5
# sorts of candidates
DIVISOR, PAIR, SCALED = 0, 1, 2


@dataclass(frozen=True)
class Room:
    """The number of rows of each section."""

    literals: int
    terms: int
    places: int
    entries: int
    memo: int
    way_roots: int
    way_starts: int
    way_rows: int
    inside: int

    @property
    def buckets(self) -> int:
        """Size of the hash table, a power of two."""
        return 1 << max(10, self.entries.bit_length())

    @property
    def journal(self) -> int:
        """Entries of the record that lets a step be undone."""
        return 3 * self.terms + 1024

    @property
    def heap(self) -> int:
        """Entries of the heap of candidates."""
        return 2 * self.entries + 1024

    def sections(self) -> dict[int, int]:
        """Head position of every section and the integers it takes."""
        return {
            LITERAL: self.literals * LITERAL_WIDTH, TERM: self.terms * TERM_WIDTH, PLACE: self.places * PLACE_WIDTH,
            ENTRY: self.entries * ENTRY_WIDTH, BUCKETS: self.buckets, DIRTY_LIST: self.entries + 1,
            HEAP_ROWS: self.heap * HEAP_WIDTH, TOUCHED_LIST: self.literals + 1, FREE_LIST: self.literals + 1,
            JOURNAL_ROWS: self.journal * JOURNAL_WIDTH, MEMO: self.memo * MEMO_WIDTH, MISSES: 4096,
            CHOSEN: self.terms * CHOSEN_WIDTH, BUFFER: 4 * (DEGREE + 1), LIST_ONE: self.literals + self.terms,
            LIST_TWO: self.literals + self.terms, WAY_ROOT: self.way_roots, WAY_FIRST: self.way_roots + 1,
            WAY_START: self.way_starts, WAY_ROWS: self.way_rows * WAY_WIDTH, BEST_ROWS: self.terms * BEST_WIDTH,
            EQUATION: (LONGEST + 1) * WAY_WIDTH, INSIDE_LIST: self.inside + 1,
        }  # fmt: skip
