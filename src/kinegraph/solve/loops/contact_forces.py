"""Contact forces and impulses with Coulomb friction, as a linear complementarity problem.

The rows of a contact are its normal and its slip directions. With W the response of all rows to unit forces and q their
rates without forces, r = W f + q. Along the normal r >= 0, f >= 0, r f = 0; along the surface |f| <= mu f_n, and a
contact that slips has the force mu f_n against the slip. Accelerations and forces obey these laws, and so do impulses
and the velocities after an impact. Along one direction the laws are linear; round cones are in `contact_cones`.
"""

from __future__ import annotations

from math import sqrt

from kinegraph.arrays import Floats, Integers
from kinegraph.jit.marks import part
from kinegraph.solve.loops.contact_cones import respond_in_cones
from kinegraph.solve.loops.contact_memory import ComplementarityMemory, Contacts
from kinegraph.solve.loops.contact_tolerances import SMALL, TIE

# Lemke's method. The lexicographic rule breaks ties (Cottle, Pang, Stone, The Linear Complementarity Problem, 4.4 and
# 4.9), so no sequence of pivots repeats. The solution is basic: the columns of M in the basis are independent.

# How entries of covering vectors grow. With dependent rows, rounding may end on a ray; another vector seldom does.
_COVERINGS = (0.0, 1.0, -0.5)


@part
def solve_complementarity(problem: ComplementarityMemory, size: int) -> bool:
    """Solve w = M z + q, w >= 0, z >= 0, w z = 0 for z and its basis.

    False where Lemke's method ends on a ray: for the matrices of contacts there is no solution then.
    """
    level = 0.0
    least = 0.0
    for i in range(size):
        problem.z[i], problem.basic[i] = 0.0, 0
        level, least = max(level, abs(problem.right[i])), min(least, problem.right[i])
    if least >= 0.0:
        return True
    for slope in _COVERINGS:
        fill(problem, size, level, slope)
        if lemke(problem, size):
            take(problem, size, level)
            return True
    return False


@part
def fill(problem: ComplementarityMemory, size: int, level: float, slope: float) -> None:
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
def lemke(problem: ComplementarityMemory, size: int) -> bool:
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
def first_row(problem: ComplementarityMemory, size: int) -> int:
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
    """Make a column a unit vector, exactly: a reciprocal would leave rounding, which matters where rows depend."""
    width = 2 * size + 2
    factor = table[row, column]
    for j in range(width):
        table[row, j] /= factor
    for i in range(size):
        factor = table[i, column]
        if i == row or factor == 0.0:
            continue
        for j in range(width):
            table[i, j] -= factor * table[row, j]


@part
def leaving_row(problem: ComplementarityMemory, entering: int, size: int) -> int:
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
def keep_least(problem: ComplementarityMemory, entering: int, column: int, count: int, wide: bool) -> int:
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
def take(problem: ComplementarityMemory, size: int, level: float) -> None:
    """z and its basis from the tableau."""
    for i in range(size):
        variable = problem.basis[i]
        if size <= variable < 2 * size:
            problem.z[variable - size] = level * max(problem.tableau[i, 2 * size + 1], 0.0)
            problem.basic[variable - size] = 1


# Coulomb's law. The slip of a contact in one direction is known, or a part of the complementarity problem.

_CLEAR = 1e-6  # what is left of a row of unit size after those before it: with less, Python decides


@part
def is_linear(contacts: Contacts, who: Integers) -> bool:
    """Whether all contacts that take part have linear laws: none may stick along two directions."""
    for k in range(len(who)):
        if who[k] and contacts.slips[k] == 2 and contacts.friction[k] > 0.0 and not contacts.known[k]:
            return False
    return True


@part
def may_stick(contacts: Contacts, k: int) -> bool:
    """Whether friction of a contact is to be found."""
    return bool(contacts.slips[k] == 1 and contacts.friction[k] > 0.0 and not contacts.known[k])


@part
def respond(contacts: Contacts, compliance: Floats, who: Integers) -> bool:
    """Find forces for the rates without them (contacts.right), which contacts act, and the drag of those that slip.

    False where no forces obey the laws, and in compiled code also where the laws are not linear.
    """
    if not is_linear(contacts, who):
        return respond_in_cones(contacts, compliance, who)
    problem, scale = contacts.problem, contacts.problem.scale
    for row in range(len(contacts.right)):
        scale[row] = 1.0 / sqrt(max(compliance[row, row], 1e-300))
        contacts.forces[row] = 0.0
        for k in range(len(who)):
            if contacts.prior[k] > 0.0:
                contacts.right[row] += compliance[row, contacts.normals[k]] * contacts.prior[k]
    count = 0
    for k in range(len(who)):
        contacts.acts[k] = 0
        if who[k]:
            write_normal(contacts, compliance, who, k, count)
            count += 1
    size = count
    for k in range(len(who)):
        if who[k] and may_stick(contacts, k):
            write_friction(contacts, compliance, who, k, size)
            size += 3
    if not solve_complementarity(problem, size):
        return False
    take_forces(contacts, who, count)
    return True


@part
def effect(contacts: Contacts, compliance: Floats, k: int, row: int) -> float:
    """What a scaled unit of a normal force does on a scaled row, with the friction of a known slip."""
    scale, normal = contacts.problem.scale, contacts.normals[k]
    total = compliance[row, normal] * scale[row] * scale[normal]
    if contacts.known[k]:
        for place in range(contacts.slips[k]):
            other = normal + 1 + place
            total += contacts.drag[k, place] * scale[normal] * scale[row] * compliance[row, other]
    return float(total)


@part
def write_normal(contacts: Contacts, compliance: Floats, who: Integers, k: int, place: int) -> None:
    """The rows of normals: nothing penetrates. Their entries for friction are written with friction."""
    row, column = contacts.normals[k], 0
    for other in range(len(who)):
        if who[other]:
            contacts.problem.matrix[place, column] = effect(contacts, compliance, other, row)
            column += 1
    contacts.problem.right[place] = contacts.right[row] * contacts.problem.scale[row]


@part
def write_friction(contacts: Contacts, compliance: Floats, who: Integers, k: int, at: int) -> None:
    """Three rows and columns: slip to both sides, and what the normal force leaves of friction."""
    matrix, right, scale = contacts.problem.matrix, contacts.problem.right, contacts.problem.scale
    row = contacts.normals[k] + 1
    for j in range(at):
        for i in range(3):
            matrix[at + i, j] = matrix[j, at + i] = 0.0
    for i in range(3):
        for j in range(3):
            matrix[at + i, at + j] = 0.0
    column = 0
    for other in range(len(who)):
        if not who[other]:
            continue
        pressed = effect(contacts, compliance, other, row)
        matrix[at, column], matrix[at + 1, column] = pressed, -pressed
        entry = compliance[contacts.normals[other], row] * scale[contacts.normals[other]] * scale[row]
        matrix[column, at], matrix[column, at + 1] = entry, -entry
        if other == k:
            matrix[at + 2, column] = contacts.friction[k] * scale[contacts.normals[k]] / scale[row]
        column += 1
    there = column
    for other in range(len(who)):
        if who[other] and may_stick(contacts, other) and there <= at:
            along = contacts.normals[other] + 1
            write_pair(matrix, there, at, compliance[along, row] * scale[along] * scale[row])
            write_pair(matrix, at, there, compliance[row, along] * scale[along] * scale[row])
            there += 3
    matrix[at, at + 2] = matrix[at + 1, at + 2] = 1.0
    matrix[at + 2, at] = matrix[at + 2, at + 1] = -1.0
    right[at], right[at + 1] = contacts.right[row] * scale[row], -contacts.right[row] * scale[row]
    right[at + 2] = contacts.friction[k] * contacts.prior[k] / scale[row]


@part
def write_pair(matrix: Floats, i: int, j: int, entry: float) -> None:
    """Friction to both sides in two contacts."""
    matrix[i, j] = matrix[i + 1, j + 1] = entry
    matrix[i, j + 1] = matrix[i + 1, j] = -entry


@part
def take_forces(contacts: Contacts, who: Integers, count: int) -> None:
    """Forces by row, which normals act, and the drag of friction that is at its limit."""
    problem, place, at = contacts.problem, 0, count
    for k in range(len(who)):
        if not who[k]:
            continue
        normal = contacts.normals[k]
        contacts.forces[normal] = contacts.prior[k] + problem.z[place] * problem.scale[normal]
        contacts.acts[k] = problem.basic[place]
        if contacts.known[k]:
            for direction in range(contacts.slips[k]):
                contacts.forces[normal + 1 + direction] = contacts.drag[k, direction] * contacts.forces[normal]
        place += 1
    for k in range(len(who)):
        if not (who[k] and may_stick(contacts, k)):
            continue
        row = contacts.normals[k] + 1
        contacts.forces[row] = (problem.z[at] - problem.z[at + 1]) * problem.scale[row]
        contacts.drag[k, 0] = contacts.drag[k, 1] = 0.0
        contacts.known[k] = 0
        if problem.basic[at + 2] and problem.basic[at] != problem.basic[at + 1]:
            contacts.known[k] = 2  # friction is at its limit from now on
            contacts.drag[k, 0] = contacts.friction[k] if problem.basic[at] else -contacts.friction[k]
        at += 3


@part
def are_independent(square: Floats, compliance: Floats, rows: Integers, count: int) -> bool:
    """Whether the rows are clearly independent (Cholesky of the scaled matrix, the largest pivot first)."""
    for i in range(count):
        for j in range(count):
            level = sqrt(max(compliance[rows[i], rows[i]] * compliance[rows[j], rows[j]], 1e-300))
            square[i, j] = compliance[rows[i], rows[j]] / level
    for k in range(count):
        best = k
        for i in range(k + 1, count):
            if square[i, i] > square[best, best]:
                best = i
        if not square[best, best] > _CLEAR:
            return False
        exchange(square, k, best, count)
        for i in range(k + 1, count):
            factor = square[i, k] / square[k, k]
            for j in range(k + 1, count):
                square[i, j] -= factor * square[k, j]
    return True


@part
def exchange(square: Floats, one: int, other: int, count: int) -> None:
    """Exchange two rows and columns."""
    for j in range(count):
        square[one, j], square[other, j] = square[other, j], square[one, j]
    for i in range(count):
        square[i, one], square[i, other] = square[i, other], square[i, one]
