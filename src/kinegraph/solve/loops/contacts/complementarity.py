"""Linear complementarity in loops; `solve.contacts.complementarity` explains the method and does the same in Python."""

from __future__ import annotations

from kinegraph.solve.loops.contacts.memory import Problem
from kinegraph.solve.loops.contacts.thresholds import SMALL, TIE
from kinegraph.solve.loops.marks import Floats, part


@part
def solve_complementarity(problem: Problem, size: int) -> bool:
    """z and the basis of w = M z + q, w >= 0, z >= 0, w z = 0; whether a solution was found."""
    level = 0.0
    least = 0.0
    for i in range(size):
        problem.z[i], problem.basic[i] = 0.0, 0
        level, least = max(level, abs(problem.right[i])), min(least, problem.right[i])
    if least >= 0.0:
        return True
    for slope in range(3):
        fill(problem, size, level, (0.0, 1.0, -0.5)[slope])
        if lemke(problem, size):
            take(problem, size, level)
            return True
    return False


@part
def fill(problem: Problem, size: int, level: float, slope: float) -> None:
    """Columns: w, z, the artificial variable, the right-hand side."""
    table = problem.tableau
    for i in range(size):
        problem.basis[i] = i
        for j in range(size):
            table[i, j] = 1.0 if i == j else 0.0
            table[i, size + j] = -problem.matrix[i, j]
        table[i, 2 * size] = -(1.0 + slope * i / size)
        table[i, 2 * size + 1] = problem.right[i] / level


@part
def lemke(problem: Problem, size: int) -> bool:
    """Pivot until the artificial variable leaves; False on a ray."""
    row, entering = first_row(problem, size), 2 * size
    for _ in range(50 * (size + 2)):
        leaving = problem.basis[row]
        pivot(problem.tableau, row, entering, size)
        problem.basis[row] = entering
        if leaving == 2 * size:
            return True
        entering = leaving + size if leaving < size else leaving - size
        row = leaving_row(problem, entering, size)
        if row < 0:
            return False
    return False


@part
def first_row(problem: Problem, size: int) -> int:
    """The row where the artificial variable must be largest; of equal ones the last."""
    table, most, row = problem.tableau, 0.0, 0
    for i in range(size):
        most = max(most, table[i, 2 * size + 1] / table[i, 2 * size])
    for i in range(size):
        if table[i, 2 * size + 1] / table[i, 2 * size] >= most * (1.0 - TIE):
            row = i
    return row


@part
def pivot(table: Floats, row: int, column: int, size: int) -> None:
    """Make a column a unit vector."""
    width = 2 * size + 2
    factor = 1.0 / table[row, column]
    for j in range(width):
        table[row, j] *= factor
    for i in range(size):
        factor = table[i, column]
        if i == row or factor == 0.0:
            continue
        for j in range(width):
            table[i, j] -= factor * table[row, j]


@part
def leaving_row(problem: Problem, entering: int, size: int) -> int:
    """The row whose variable first becomes zero as the entering one grows, ties by the lexicographic rule; -1: none."""
    table, tied = problem.tableau, problem.order
    largest = 1.0
    for i in range(size):
        largest = max(largest, abs(table[i, entering]))
    count = 0
    for i in range(size):
        if table[i, entering] > SMALL * largest:
            tied[count] = i
            count += 1
    if count == 0:
        return -1
    count = keep_least(problem, entering, 2 * size + 1, count, False)
    for place in range(count):
        if problem.basis[tied[place]] == 2 * size:
            return int(tied[place])
    for column in range(size):
        if count == 1:
            break
        count = keep_least(problem, entering, column, count, True)
    return int(tied[0])


@part
def keep_least(problem: Problem, entering: int, column: int, count: int, wide: bool) -> int:
    """Of the tied rows those with the least ratio of a column to the entering one; how many. wide: ties of any size."""
    table, tied = problem.tableau, problem.order
    least, size = 1e300, 0.0
    for place in range(count):
        ratio = table[tied[place], column] / table[tied[place], entering]
        least, size = min(least, ratio), max(size, abs(ratio))
    bound = least + TIE * max(1.0, size if wide else abs(least))
    left = 0
    for place in range(count):
        row = tied[place]
        if table[row, column] / table[row, entering] <= bound:
            tied[left] = row
            left += 1
    return left


@part
def take(problem: Problem, size: int, level: float) -> None:
    """z and its basis from the tableau."""
    for i in range(size):
        variable = problem.basis[i]
        if size <= variable < 2 * size:
            problem.z[variable - size] = level * max(problem.tableau[i, 2 * size + 1], 0.0)
            problem.basic[variable - size] = 1
