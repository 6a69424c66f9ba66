"""The rows of contacts in a step: what touches, along which velocities it acts, and how these respond.

The inertia matrix is H = U^T U, factored from the end, so that branches of a tree stay apart: a force on a foot needs
only the velocities of its leg and of the trunk. The response of a row is U^-T j; products of two are the entries of
J H^-1 J^T, and U^-1 follows once, for all impulses together. If constraints tie velocities, the inverse on what they
allow is known in full, and responses are those of all velocities.
"""

from __future__ import annotations

from math import sqrt

from kinegraph.arrays import Floats
from kinegraph.jit.marks import part
from kinegraph.solve.loops.collision_points import append_point, find_collisions
from kinegraph.solve.loops.collision_shapes import Vector, across, cross, place_shapes
from kinegraph.solve.loops.contact_model import (
    BEGAN,
    BODIES,
    FORCES,
    GAPS,
    LIFTED,
    POSITIONS,
    VELOCITIES,
    ContactMemory,
    ContactModel,
)
from kinegraph.solve.loops.marks import call
from kinegraph.solve.loops.step import Work

_NOWHERE = (0.0, 0.0, 0.0)


@part
def find_candidates(work: Work, model: ContactModel, memory: ContactMemory, margin: float) -> bool:
    """All contacts within the margin; False if there is no room. Contacts by gaps have pairs after those of shapes."""
    touches = memory.touches
    touches.total[0] = 0
    if len(model.shapes.pairs) > 0:
        if model.sizes[BODIES] > 0:
            call(model.poses, work.x, memory.poses, 0)
        place_shapes(model.shapes, memory.poses, memory.collisions.frames)
        if not find_collisions(model.shapes, memory.collisions, margin, touches):
            return False
    if model.sizes[GAPS] > 0:
        call(model.gaps, work.x, memory.gaps, 0)
        for k in range(model.sizes[GAPS]):
            found = memory.gaps[k] <= margin
            if found and not append_point(touches, len(model.shapes.pairs) + k, _NOWHERE, _NOWHERE, memory.gaps[k]):
                return False
    return True


# ---- The response to forces


@part
def inertia_place(model: ContactModel) -> int:
    """Where the inertia matrix begins."""
    bodies, columns = model.sizes[BODIES], len(model.columns.bodies)
    return int(6 * (bodies + columns))


@part
def factor(model: ContactModel, memory: ContactMemory) -> bool:
    """The factor of the inertia matrix; False if it is not positive definite."""
    n, h, columns = model.sizes[VELOCITIES], memory.inertia, model.columns
    first, listed = columns.first_tie, columns.ties
    place = inertia_place(model)
    for k in range(n):
        for a in range(first[k], first[k + 1]):
            h[k, listed[a]] = memory.motion[place]
            place += 1
        h[k, k] = memory.motion[place]
        place += 1
    for k in range(n - 1, -1, -1):
        if not h[k, k] > 0.0:
            return False
        scale = 1.0 / sqrt(h[k, k])
        h[k, k] = scale
        for a in range(first[k], first[k + 1]):
            h[k, listed[a]] *= scale
        for a in range(first[k], first[k + 1]):
            i = listed[a]
            tied = h[k, i]
            for b in range(first[k], a):
                h[i, listed[b]] -= tied * h[k, listed[b]]
            h[i, i] -= tied * tied
    return True


@part
def first_half(model: ContactModel, memory: ContactMemory, values: Floats) -> None:
    """U^-T times values, in place."""
    h, first, listed = memory.inertia, model.columns.first_tie, model.columns.ties
    for k in range(model.sizes[VELOCITIES] - 1, -1, -1):
        value = values[k] * h[k, k]
        values[k] = value
        if value != 0.0:
            for a in range(first[k], first[k + 1]):
                values[listed[a]] -= h[k, listed[a]] * value


@part
def second_half(model: ContactModel, memory: ContactMemory, values: Floats) -> None:
    """U^-1 times values, in place; as they are if responses are those of all velocities."""
    if model.inverse:
        return
    h, first, listed = memory.inertia, model.columns.first_tie, model.columns.ties
    for k in range(model.sizes[VELOCITIES]):
        total = values[k]
        for a in range(first[k], first[k + 1]):
            total -= h[k, listed[a]] * values[listed[a]]
        values[k] = total * h[k, k]


@part
def held_response(model: ContactModel, memory: ContactMemory, x: Floats) -> None:
    """The accelerations that the constant forces cause."""
    n, start = model.sizes[VELOCITIES], model.sizes[FORCES]
    if model.inverse:
        place = inertia_place(model)
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += memory.motion[place + i * n + j] * x[start + j]
            memory.held[i] = total
        return
    for d in range(n):
        memory.held[d] = x[start + d]
    first_half(model, memory, memory.held)
    second_half(model, memory, memory.held)


@part
def respond(model: ContactModel, memory: ContactMemory) -> None:
    """The responses of all rows, and the matrix J H^-1 J^T."""
    rows = memory.rows
    for contact in range(rows.sizes[1]):
        pair, row, width = memory.touches.pairs[contact], rows.first[contact], rows.widths[contact]
        if model.inverse:
            for i in range(row, row + width):
                whole_response(model, memory, pair, i)
        else:
            if width >= 3:
                half_of_three(model, memory, pair, row)
            for i in range(row + (3 if width >= 3 else 0), row + width):
                half_response(model, memory, pair, i)
    left = rows.jacobian if model.inverse else rows.responses
    for contact in range(rows.sizes[1]):
        pair, row, width = memory.touches.pairs[contact], rows.first[contact], rows.widths[contact]
        for other in range(contact + 1):
            column = rows.first[other]
            if width == 3 and rows.widths[other] == 3:
                nine_entries(model, memory, left, pair, row, column)
                continue
            for i in range(row, row + width):
                for j in range(column, column + rows.widths[other]):
                    total = 0.0
                    for a in range(model.columns.first_pair[pair], model.columns.first_pair[pair + 1]):
                        d = model.columns.pairs[a]
                        total += left[i, d] * rows.responses[j, d]
                    rows.matrix[i, j], rows.matrix[j, i] = total, total


@part
def nine_entries(model: ContactModel, memory: ContactMemory, left: Floats, pair: int, row: int, column: int) -> None:
    """The entries of J H^-1 J^T of two contacts with sliding friction, in one pass over their velocities."""
    right, matrix = memory.rows.responses, memory.rows.matrix
    s00 = s01 = s02 = s10 = s11 = s12 = s20 = s21 = s22 = 0.0
    for a in range(model.columns.first_pair[pair], model.columns.first_pair[pair + 1]):
        d = model.columns.pairs[a]
        x, y, z = left[row, d], left[row + 1, d], left[row + 2, d]
        u, v, w = right[column, d], right[column + 1, d], right[column + 2, d]
        s00, s01, s02 = s00 + x * u, s01 + x * v, s02 + x * w
        s10, s11, s12 = s10 + y * u, s11 + y * v, s12 + y * w
        s20, s21, s22 = s20 + z * u, s21 + z * v, s22 + z * w
    matrix[row, column], matrix[row, column + 1], matrix[row, column + 2] = s00, s01, s02
    matrix[row + 1, column], matrix[row + 1, column + 1], matrix[row + 1, column + 2] = s10, s11, s12
    matrix[row + 2, column], matrix[row + 2, column + 1], matrix[row + 2, column + 2] = s20, s21, s22
    matrix[column, row], matrix[column + 1, row], matrix[column + 2, row] = s00, s01, s02
    matrix[column, row + 1], matrix[column + 1, row + 1], matrix[column + 2, row + 1] = s10, s11, s12
    matrix[column, row + 2], matrix[column + 1, row + 2], matrix[column + 2, row + 2] = s20, s21, s22


@part
def half_of_three(model: ContactModel, memory: ContactMemory, pair: int, row: int) -> None:
    """U^-T times three rows of the Jacobian, which stay within the velocities of their pair."""
    found, jacobian, h, columns = memory.rows.responses, memory.rows.jacobian, memory.inertia, model.columns.pairs
    begin, end = model.columns.first_pair[pair], model.columns.first_pair[pair + 1]
    for i in range(row, row + 3):
        for d in range(model.sizes[VELOCITIES]):
            found[i, d] = 0.0
    for a in range(begin, end):
        d = columns[a]
        found[row, d], found[row + 1, d], found[row + 2, d] = (
            jacobian[row, d],
            jacobian[row + 1, d],
            jacobian[row + 2, d],
        )
    for a in range(begin, end):
        k = columns[a]
        x, y, z = found[row, k] * h[k, k], found[row + 1, k] * h[k, k], found[row + 2, k] * h[k, k]
        found[row, k], found[row + 1, k], found[row + 2, k] = x, y, z
        for b in range(a + 1, end):
            d = columns[b]
            tied = h[k, d]
            if tied != 0.0:
                found[row, d] -= tied * x
                found[row + 1, d] -= tied * y
                found[row + 2, d] -= tied * z


@part
def half_response(model: ContactModel, memory: ContactMemory, pair: int, row: int) -> None:
    """U^-T times a row of the Jacobian."""
    rows, h = memory.rows, memory.inertia
    found, columns = rows.responses[row], model.columns.pairs
    begin, end = model.columns.first_pair[pair], model.columns.first_pair[pair + 1]
    for d in range(model.sizes[VELOCITIES]):
        found[d] = 0.0
    for a in range(begin, end):
        found[columns[a]] = rows.jacobian[row, columns[a]]
    for a in range(begin, end):
        k = columns[a]
        value = found[k] * h[k, k]
        found[k] = value
        for b in range(a + 1, end):
            found[columns[b]] -= h[k, columns[b]] * value


@part
def whole_response(model: ContactModel, memory: ContactMemory, pair: int, row: int) -> None:
    """The known inverse times a row of the Jacobian."""
    rows, n, place = memory.rows, model.sizes[VELOCITIES], inertia_place(model)
    columns, begin, end = model.columns.pairs, model.columns.first_pair[pair], model.columns.first_pair[pair + 1]
    for i in range(n):
        total = 0.0
        for a in range(begin, end):
            total += memory.motion[place + i * n + columns[a]] * rows.jacobian[row, columns[a]]
        rows.responses[row, i] = total


@part
def along_pair(model: ContactModel, memory: ContactMemory, pair: int, row: int, values: Floats) -> float:
    """The inner product of a row of the Jacobian with velocities."""
    total = 0.0
    for a in range(model.columns.first_pair[pair], model.columns.first_pair[pair + 1]):
        d = model.columns.pairs[a]
        total += memory.rows.jacobian[row, d] * values[d]
    return total


# ---- Rows


@part
def make_rows(work: Work, model: ContactModel, memory: ContactMemory, slack: float, h: float) -> None:
    """The rows of all contacts whose gaps would be smaller without the constant forces; others are dropped."""
    rows, touches, n = memory.rows, memory.touches, model.sizes[VELOCITIES]
    for d in range(n):
        place = model.sizes[POSITIONS] + d
        memory.back[d] = work.y[place] - work.x[place]
    row, taken = 0, 0
    for k in range(touches.total[0]):
        pair = touches.pairs[k]
        width = model.widths[pair]
        if pair < len(model.shapes.pairs):
            shape_rows(model, memory, k, row, width)
        else:
            rows_of_gap(model, memory, pair, row, width)
        bound = h * model.bounds[pair]
        lift = 0.5 * h * h * along_pair(model, memory, pair, row, memory.held) if bound == 0.0 else 0.0
        if touches.gaps[k] - lift > slack:
            continue
        memory.facts[taken, BEGAN] = rows.rates[row] + along_pair(model, memory, pair, row, memory.back)
        memory.facts[taken, LIFTED] = abs(lift)
        memory.ahead[taken] = touches.gaps[k] - lift
        for i in range(width):
            rows.free[row + i] = rows.rates[row + i] - h * along_pair(model, memory, pair, row + i, memory.held)
            rows.targets[row + i], rows.impulses[row + i] = 0.0, 0.0
        rows.first[taken], rows.widths[taken], rows.bounds[taken] = row, width, bound
        for d in range(3):
            rows.friction[taken, d] = model.friction[pair, d]
        touches.pairs[taken], touches.gaps[taken] = pair, touches.gaps[k]
        for d in range(3):
            touches.points[taken, d], touches.normals[taken, d] = touches.points[k, d], touches.normals[k, d]
        row, taken = row + width, taken + 1
    rows.sizes[0], rows.sizes[1] = row, taken
    touches.total[0] = taken


@part
def shape_rows(model: ContactModel, memory: ContactMemory, k: int, row: int, width: int) -> None:
    """The rows of a contact of two shapes; their rates with the velocities at the end of the step."""
    touches, rows, columns = memory.touches, memory.rows, model.columns
    pair = touches.pairs[k]
    point = (touches.points[k, 0], touches.points[k, 1], touches.points[k, 2])
    normal = (touches.normals[k, 0], touches.normals[k, 1], touches.normals[k, 2])
    side = across(normal)
    other = cross(normal, side)
    for i in range(width):
        rows.rates[row + i] = 0.0
        for a in range(columns.first_pair[pair], columns.first_pair[pair + 1]):
            rows.jacobian[row + i, columns.pairs[a]] = 0.0
    for end in range(2):
        body = model.shapes.bodies[model.shapes.pairs[pair, end]] - 1
        if body >= 0:
            sign = 1.0 if end == 1 else -1.0
            add_row(model, memory, body, point, normal, sign, row, False)
            if width >= 3:
                add_row(model, memory, body, point, side, sign, row + 1, False)
                add_row(model, memory, body, point, other, sign, row + 2, False)
            if width >= 4:
                add_row(model, memory, body, point, normal, sign, row + 3, True)
            if width == 6:
                add_row(model, memory, body, point, side, sign, row + 4, True)
                add_row(model, memory, body, point, other, sign, row + 5, True)


@part
def add_row(
    model: ContactModel, memory: ContactMemory, body: int, point: Vector, d: Vector, sign: float, row: int, turn: bool
) -> None:
    """Add the velocity (or angular velocity) of a body's point along d."""
    poses, motion, rows, columns = memory.poses, memory.motion, memory.rows, model.columns
    arm = (point[0] - poses[16 * body + 3], point[1] - poses[16 * body + 7], point[2] - poses[16 * body + 11])
    moment = d if turn else cross(arm, d)
    force = _NOWHERE if turn else d
    x, y, z = sign * force[0], sign * force[1], sign * force[2]
    a, b, c = sign * moment[0], sign * moment[1], sign * moment[2]
    v = 6 * body
    rows.rates[row] += x * motion[v] + y * motion[v + 1] + z * motion[v + 2]
    rows.rates[row] += a * motion[v + 3] + b * motion[v + 4] + c * motion[v + 5]
    at = 6 * (model.sizes[BODIES] + columns.first_body[body])
    for k in range(columns.first_body[body], columns.first_body[body + 1]):
        total = x * motion[at] + y * motion[at + 1] + z * motion[at + 2]
        total += a * motion[at + 3] + b * motion[at + 4] + c * motion[at + 5]
        rows.jacobian[row, columns.bodies[k]] += total
        at += 6


@part
def rows_of_gap(model: ContactModel, memory: ContactMemory, pair: int, row: int, width: int) -> None:
    """The rows of a contact that is given by a gap."""
    rows, n, gap = memory.rows, model.sizes[VELOCITIES], pair - len(model.shapes.pairs)
    first, total = model.gap_first[gap], model.gap_first[model.sizes[GAPS]]
    for i in range(width):
        rows.rates[row + i] = memory.gap_rows[first + i]
        for a in range(model.columns.first_pair[pair], model.columns.first_pair[pair + 1]):
            d = model.columns.pairs[a]
            rows.jacobian[row + i, d] = memory.gap_rows[total + (first + i) * n + d]
