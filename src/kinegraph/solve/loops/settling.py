"""All impulses of contacts together, where sweeps do not settle: an interior point, then Newton's method.

Contacts at several points of a rigid body often cannot all stick: the points then slip by a trifle, at the speed of
rounding errors or of the curvature of a step. However slow, this slip has the full friction against it, and sweeps turn
it about without end. An interior point sees no such corners: with r = W f + c, normal rows keep f > 0 and
p = r - target > 0, friction keeps s = (R^2 - |f_t|^2) / 2 > 0 and p > 0 in r_t = -p f_t, and all products f p and s p
go to zero together. R follows the normal impulse, so this is Coulomb's law and not its convex relative. Steps are
those of Mehrotra (SIAM J. Optim. 2, 575, 1992), held back a little where responses depend on each other.

From there Newton's method finds the zero of what each impulse misses: its distance from the projection of f - r / w
onto its limits (Alart and Curnier, Comput. Methods Appl. Mech. Eng. 92, 353, 1991), damped as by Levenberg and
Marquardt, because impulses of dependent rows are not unique.
"""

from __future__ import annotations

from math import sqrt

from kinegraph.arrays import Floats
from kinegraph.jit.marks import part
from kinegraph.solve.loops.impulse_rows import Rows, apply_impulses, own_response

# Rows of `spare`. Of each row: the response of its contact (0: it takes no part); what it misses; the step; how far it
# is from its limit, and the slip (or approach) per impulse that this leaves; their steps; products and distances that
# steps remove; the diagonal of a matrix; impulses to come back to.
OWN, MISS, STEP, ROOM, PRICE, ROOM_STEP, PRICE_STEP, PRODUCT, BEYOND, DIAGONAL, SAVED = range(11)
SPARE = 11

_ATTEMPTS, _CLOSER = 3, 1e-3  # and how much closer to the limits each goes
_RAISED = 1e-6  # of responses: the least damping inside, so that rounding moves no impulses between dependent rows
_FAR = -1e200  # a target below: the contact is only watched
_INSIDE, _CLOSE, _TO_LIMIT, _HELD = 40, 1e-12, 0.99, 10.0  # steps, products at the end, parts of the way, damping
_NEWTON, _TRIALS, _SLOW = 24, 8, 3  # steps, tries of each, and how many may make little progress
_LEAST, _LARGEST = 1e-12, 1e-2  # damping


@part
def settle(rows: Rows, tolerance: float) -> float:
    """The impulses of all contacts, until none misses its law by more than the tolerance (a speed).

    If that is not reached, those which miss it least. Returns the largest miss.
    """
    take_part(rows)
    saved, count = rows.spare[SAVED], rows.sizes[0]
    apply_impulses(rows)
    least = misses(rows)
    for i in range(count):
        saved[i] = rows.impulses[i]
    close = _CLOSE
    for attempt in range(_ATTEMPTS):
        if attempt > 0:
            for i in range(count):
                rows.impulses[i] = saved[i]
            go_inside(rows, close)
            close *= _CLOSER
        found = newton(rows, tolerance)
        if found < least:
            least = found
            for i in range(count):
                saved[i] = rows.impulses[i]
        if largest_miss(rows) <= tolerance:
            break
    for i in range(count):
        rows.impulses[i] = saved[i]
    apply_impulses(rows)
    misses(rows)
    return largest_miss(rows)


@part
def take_part(rows: Rows) -> None:
    """Which rows have impulses, and their responses."""
    own = rows.spare[OWN]
    for contact in range(rows.sizes[1]):
        n = rows.first[contact]
        for i in range(n, n + rows.widths[contact]):
            own[i] = 0.0
        if not rows.matrix[n, n] > 0.0 or (rows.bounds[contact] == 0.0 and rows.targets[n] < _FAR):
            continue
        own[n] = own_response(rows, contact)
        for k in range(3):
            size, row = friction_rows(rows, contact, k), friction_row(rows, contact, k)
            most = 0.0
            for i in range(row, row + size):
                most = max(most, rows.matrix[i, i])
            for i in range(row, row + size):
                own[i] = 0.0 if most == 0.0 else own[n] if k == 0 else most
    for i in range(rows.sizes[0]):
        if own[i] == 0.0:
            rows.impulses[i] = 0.0


@part
def friction_rows(rows: Rows, contact: int, k: int) -> int:
    """How many rows have sliding (0), spin (1) or rolling (2) friction; dry friction of a joint counts as sliding."""
    width = rows.widths[contact]
    if rows.bounds[contact] > 0.0:
        return 1 if k == 0 else 0
    if not rows.friction[contact, k] > 0.0 or not rows.friction[contact, 0] > 0.0:
        return 0
    if k == 1:
        return 1 if width >= 4 else 0
    return 2 if width >= (3 if k == 0 else 6) else 0


@part
def friction_row(rows: Rows, contact: int, k: int) -> int:
    """The first row of a kind of friction."""
    if rows.bounds[contact] > 0.0:
        return int(rows.first[contact])
    return int(rows.first[contact] + (1 if k == 0 else k + 2))


@part
def reach(rows: Rows, contact: int, k: int, normal: float) -> float:
    """The largest friction with this normal impulse."""
    bound = rows.bounds[contact]
    return float(bound) if bound > 0.0 else float(rows.friction[contact, k] * normal)


# ---- Inside of all limits


@part
def go_inside(rows: Rows, close: float) -> None:
    """From the impulses at hand to those at which all products are small."""
    scale = start_inside(rows)
    for _ in range(_INSIDE):
        apply_impulses(rows)
        mean, most = look_at_products(rows)
        if most <= close * scale[0] * scale[1]:
            return
        if not inside_matrix(rows, max(_HELD * mean / (scale[1] * scale[1]), _RAISED)):
            return
        inside_step(rows)
        part_of = way_to_limit(rows)
        aim_at_center(rows, part_of, mean)
        inside_step(rows)
        go(rows, way_to_limit(rows))


@part
def start_inside(rows: Rows) -> tuple[float, float]:
    """Impulses within their limits, and a slip for each; returns the largest speed and impulse, by square root of own
    response."""
    own, room, price, f = rows.spare[OWN], rows.spare[ROOM], rows.spare[PRICE], rows.impulses
    speed, impulse = 1e-300, 0.0
    for i in range(rows.sizes[0]):
        if own[i] > 0.0:
            speed = max(speed, abs(rows.free[i]) / sqrt(own[i]), abs(rows.targets[i]) / sqrt(own[i]))
            impulse = max(impulse, abs(f[i]) * sqrt(own[i]))
    impulse = max(impulse, speed)
    for contact in range(rows.sizes[1]):
        n = rows.first[contact]
        if own[n] > 0.0 and rows.bounds[contact] == 0.0:
            f[n] = max(f[n], 0.1 * impulse / sqrt(own[n]))
        for k in range(3):
            row, size = friction_row(rows, contact, k), friction_rows(rows, contact, k)
            if size > 0 and own[row] > 0.0:
                limit, now = 0.5 * reach(rows, contact, k, f[n]), length(f, row, size)
                for i in range(row, row + size):
                    f[i] *= limit / now if now > limit else 1.0
    apply_impulses(rows)
    for contact in range(rows.sizes[1]):
        n = rows.first[contact]
        if own[n] > 0.0 and rows.bounds[contact] == 0.0:
            room[n], price[n] = f[n], max(rows.rates[n] - rows.targets[n], 0.1 * speed * sqrt(own[n]))
        for k in range(3):
            row, size = friction_row(rows, contact, k), friction_rows(rows, contact, k)
            if size > 0 and own[row] > 0.0:
                limit = reach(rows, contact, k, f[n])
                room[row] = 0.5 * (limit * limit - length(f, row, size) ** 2)
                price[row] = max(length(rows.rates, row, size), 0.1 * speed * sqrt(own[row])) / limit
    return speed, impulse


@part
def length(values: Floats, row: int, size: int) -> float:
    """The norm of one or two values."""
    return float(sqrt(values[row] ** 2 + values[row + 1] ** 2) if size == 2 else abs(values[row]))


@part
def look_at_products(rows: Rows) -> tuple[float, float]:
    """All products, and how far friction is beyond its limit; returns the mean and the largest product."""
    room, price, f = rows.spare[ROOM], rows.spare[PRICE], rows.impulses
    product, beyond = rows.spare[PRODUCT], rows.spare[BEYOND]
    total, most, count = 0.0, 0.0, 0
    for contact in range(rows.sizes[1]):
        n = rows.first[contact]
        for k in range(-1, 3):
            row = n if k < 0 else friction_row(rows, contact, k)
            size = friction_rows(rows, contact, max(k, 0))
            if not takes_part(rows, contact, k):
                continue
            beyond[row] = 0.0
            if k >= 0:
                limit = reach(rows, contact, k, f[n])
                beyond[row] = room[row] - 0.5 * (limit * limit - length(f, row, size) ** 2)
            product[row] = room[row] * price[row]
            total, most, count = total + product[row], max(most, product[row]), count + 1
    return (total / count if count > 0 else 0.0), most


@part
def takes_part(rows: Rows, contact: int, k: int) -> bool:
    """Whether a contact has a normal impulse (k = -1), or friction of a kind."""
    if k < 0:
        return bool(rows.bounds[contact] == 0.0 and rows.spare[OWN, rows.first[contact]] > 0.0)
    return bool(friction_rows(rows, contact, k) > 0 and rows.spare[OWN, friction_row(rows, contact, k)] > 0.0)


@part
def inside_matrix(rows: Rows, held: float) -> bool:
    """The factors of the matrix of steps; False if it is singular. held: what damps steps, by own response."""
    own, room, price, f = rows.spare[OWN], rows.spare[ROOM], rows.spare[PRICE], rows.impulses
    matrix, count = rows.factor, rows.sizes[0]
    for i in range(count):
        for j in range(count):
            matrix[i, j] = rows.matrix[i, j] if own[i] > 0.0 else 0.0
        matrix[i, i] += held * own[i] if own[i] > 0.0 else 1.0
    for contact in range(rows.sizes[1]):
        n = rows.first[contact]
        if takes_part(rows, contact, -1):
            matrix[n, n] += price[n] / room[n]
        for k in range(3):
            if not takes_part(rows, contact, k):
                continue
            row, size = friction_row(rows, contact, k), friction_rows(rows, contact, k)
            rate = price[row] / room[row]
            for i in range(row, row + size):
                matrix[i, i] += price[row]
                for j in range(row, row + size):
                    matrix[i, j] += rate * f[i] * f[j]
                if rows.bounds[contact] == 0.0:
                    matrix[i, n] -= rate * f[i] * rows.friction[contact, k] ** 2 * f[n]
    return factor_with_pivots(rows)


@part
def factor_with_pivots(rows: Rows) -> bool:
    """Factor `rows.factor` in place, with the largest pivot of each column; False if one is zero."""
    matrix, order, count = rows.factor, rows.order, rows.sizes[0]
    for k in range(count):
        best = k
        for i in range(k + 1, count):
            if abs(matrix[i, k]) > abs(matrix[best, k]):
                best = i
        order[k] = best
        if not abs(matrix[best, k]) > 0.0:
            return False
        if best != k:
            for j in range(count):
                matrix[k, j], matrix[best, j] = matrix[best, j], matrix[k, j]
        for i in range(k + 1, count):
            if matrix[i, k] != 0.0:
                ratio = matrix[i, k] / matrix[k, k]
                matrix[i, k] = ratio
                for j in range(k + 1, count):
                    matrix[i, j] -= ratio * matrix[k, j]
    return True


@part
def solve_with_pivots(rows: Rows, values: Floats) -> None:
    """The solution for the right side `values`, in place."""
    matrix, order, count = rows.factor, rows.order, rows.sizes[0]
    for k in range(count):
        values[k], values[order[k]] = values[order[k]], values[k]
    for i in range(count):
        for j in range(i):
            values[i] -= matrix[i, j] * values[j]
    for i in range(count - 1, -1, -1):
        for j in range(i + 1, count):
            values[i] -= matrix[i, j] * values[j]
        values[i] /= matrix[i, i]


@part
def inside_step(rows: Rows) -> None:
    """The step that removes what is in `PRODUCT` and `BEYOND`."""
    room, price, f, step = rows.spare[ROOM], rows.spare[PRICE], rows.impulses, rows.spare[STEP]
    room_step, price_step = rows.spare[ROOM_STEP], rows.spare[PRICE_STEP]
    product, beyond = rows.spare[PRODUCT], rows.spare[BEYOND]
    for i in range(rows.sizes[0]):
        step[i] = 0.0
    for contact in range(rows.sizes[1]):
        n = rows.first[contact]
        if takes_part(rows, contact, -1):
            step[n] = price[n] - (rows.rates[n] - rows.targets[n]) - product[n] / room[n]
        for k in range(3):
            if takes_part(rows, contact, k):
                row, size = friction_row(rows, contact, k), friction_rows(rows, contact, k)
                pull = (product[row] - price[row] * beyond[row]) / room[row]
                for i in range(row, row + size):
                    step[i] = (pull - price[row]) * f[i] - rows.rates[i]
    solve_with_pivots(rows, step)
    for contact in range(rows.sizes[1]):
        n = rows.first[contact]
        for k in range(-1, 3):
            if not takes_part(rows, contact, k):
                continue
            row = n if k < 0 else friction_row(rows, contact, k)
            room_step[row] = step[n]
            if k >= 0:
                change = -beyond[row]
                if rows.bounds[contact] == 0.0:
                    change += rows.friction[contact, k] ** 2 * f[n] * step[n]
                for i in range(row, row + friction_rows(rows, contact, k)):
                    change -= f[i] * step[i]
                room_step[row] = change
            price_step[row] = -(product[row] + price[row] * room_step[row]) / room[row]


@part
def way_to_limit(rows: Rows) -> float:
    """The part of the step, at most 1, that stays inside."""
    room, price = rows.spare[ROOM], rows.spare[PRICE]
    room_step, price_step, found = rows.spare[ROOM_STEP], rows.spare[PRICE_STEP], 1.0
    for contact in range(rows.sizes[1]):
        for k in range(-1, 3):
            if takes_part(rows, contact, k):
                row = rows.first[contact] if k < 0 else friction_row(rows, contact, k)
                if room_step[row] < 0.0:
                    found = min(found, -_TO_LIMIT * room[row] / room_step[row])
                if price_step[row] < 0.0:
                    found = min(found, -_TO_LIMIT * price[row] / price_step[row])
    return found


@part
def aim_at_center(rows: Rows, part_of: float, mean: float) -> None:
    """Aim at products as small as the first step could make them, all equal, and correct what is not linear in it."""
    room, price, step = rows.spare[ROOM], rows.spare[PRICE], rows.spare[STEP]
    room_step, price_step = rows.spare[ROOM_STEP], rows.spare[PRICE_STEP]
    product, beyond = rows.spare[PRODUCT], rows.spare[BEYOND]
    ahead, count = 0.0, 0
    for contact in range(rows.sizes[1]):
        for k in range(-1, 3):
            if takes_part(rows, contact, k):
                row = rows.first[contact] if k < 0 else friction_row(rows, contact, k)
                ahead += (room[row] + part_of * room_step[row]) * (price[row] + part_of * price_step[row])
                count += 1
    ratio = ahead / (count * mean)
    wanted = max(ratio * ratio * ratio, 1e-3) * mean
    for contact in range(rows.sizes[1]):
        n = rows.first[contact]
        for k in range(-1, 3):
            if not takes_part(rows, contact, k):
                continue
            row = n if k < 0 else friction_row(rows, contact, k)
            product[row] += part_of * part_of * room_step[row] * price_step[row] - wanted
            if k >= 0:
                limit = 0.0 if rows.bounds[contact] > 0.0 else rows.friction[contact, k] * step[n]
                turn = length(step, row, friction_rows(rows, contact, k)) ** 2 - limit * limit
                beyond[row] += 0.5 * part_of * part_of * turn


@part
def go(rows: Rows, part_of: float) -> None:
    """Take a part of the step. Friction that is farther inside than its linear equation says is there indeed."""
    room, price, f, step = rows.spare[ROOM], rows.spare[PRICE], rows.impulses, rows.spare[STEP]
    room_step, price_step = rows.spare[ROOM_STEP], rows.spare[PRICE_STEP]
    for i in range(rows.sizes[0]):
        f[i] += part_of * step[i]
    for contact in range(rows.sizes[1]):
        n = rows.first[contact]
        for k in range(-1, 3):
            if not takes_part(rows, contact, k):
                continue
            row = n if k < 0 else friction_row(rows, contact, k)
            price[row] += part_of * price_step[row]
            room[row] += part_of * room_step[row]
            if k >= 0:
                limit = reach(rows, contact, k, f[n])
                now = 0.5 * (limit * limit - length(f, row, friction_rows(rows, contact, k)) ** 2)
                room[row] = max(room[row], now)


# ---- Newton's method


@part
def newton(rows: Rows, tolerance: float) -> float:
    """Damped steps towards impulses that miss nothing; returns the sum of squares of what they miss."""
    step, f, damping, slow = rows.spare[STEP], rows.impulses, 1e-8, 0
    apply_impulses(rows)
    now = misses(rows)
    for _ in range(_NEWTON):
        if largest_miss(rows) <= tolerance or slow > _SLOW:
            break
        square_slopes(rows)
        before, better = now, False
        for _ in range(_TRIALS):
            damping = max(_LEAST, min(_LARGEST, damping))
            if damped_step(rows, damping):
                for i in range(rows.sizes[0]):
                    f[i] += step[i]
                apply_impulses(rows)
                now = misses(rows)
                if now < (1.0 - 1e-4) * before:
                    better = True
                    break
                for i in range(rows.sizes[0]):
                    f[i] -= step[i]
            if damping >= _LARGEST:
                break
            damping *= 10.0
        if not better:
            apply_impulses(rows)
            return misses(rows)
        if now < 0.25 * before:
            damping /= 30.0
        slow = slow + 1 if now > 0.5 * before else 0
    return now


@part
def misses(rows: Rows) -> float:
    """By how much each impulse misses its law, as a speed; returns the sum of squares."""
    own, miss, f, total = rows.spare[OWN], rows.spare[MISS], rows.impulses, 0.0
    for i in range(rows.sizes[0]):
        miss[i] = 0.0
    for contact in range(rows.sizes[1]):
        n = rows.first[contact]
        normal = pressed(rows, contact)
        if takes_part(rows, contact, -1):
            miss[n] = own[n] * (f[n] - normal)
        for k in range(3):
            if takes_part(rows, contact, k):
                row, size = friction_row(rows, contact, k), friction_rows(rows, contact, k)
                for i in range(row, row + size):
                    miss[i] = own[i] * f[i] - rows.rates[i]
                limit, now = own[row] * reach(rows, contact, k, normal), length(miss, row, size)
                for i in range(row, row + size):
                    miss[i] = own[i] * f[i] - miss[i] * (limit / now if now > limit else 1.0)
    for i in range(rows.sizes[0]):
        total += miss[i] * miss[i]
    return total


@part
def pressed(rows: Rows, contact: int) -> float:
    """The normal impulse after a step against its rate, at least 0."""
    n = rows.first[contact]
    if not takes_part(rows, contact, -1):
        return 0.0
    return float(max(0.0, rows.impulses[n] - (rows.rates[n] - rows.targets[n]) / rows.spare[OWN, n]))


@part
def largest_miss(rows: Rows) -> float:
    """The largest speed by which an impulse misses its law."""
    found = 0.0
    for i in range(rows.sizes[0]):
        found = max(found, abs(rows.spare[MISS, i]))
    return found


@part
def square_slopes(rows: Rows) -> None:
    """How what is missed depends on impulses (as the speeds they make of themselves): S, and S^T S above the diagonal
    of `factor`; its diagonal, and the right side -S^T miss in `PRODUCT`."""
    slopes, own, count, f = rows.slopes, rows.spare[OWN], rows.sizes[0], rows.impulses
    for i in range(count):
        for j in range(count):
            slopes[i, j] = 1.0 if i == j else 0.0
    for contact in range(rows.sizes[1]):
        n = rows.first[contact]
        normal = pressed(rows, contact)
        if takes_part(rows, contact, -1) and normal > 0.0:
            free_slopes(rows, n)
        for k in range(3):
            if not takes_part(rows, contact, k):
                continue
            row, size = friction_row(rows, contact, k), friction_rows(rows, contact, k)
            limit = reach(rows, contact, k, normal)
            x = f[row] - rows.rates[row] / own[row]
            y = f[row + 1] - rows.rates[row + 1] / own[row] if size == 2 else 0.0
            now = sqrt(x * x + y * y)
            for i in range(row, row + size):
                free_slopes(rows, i)
            if now > limit:
                slip_slopes(rows, contact, k, x / now, y / now, limit / now, normal > 0.0)
    for i in range(count):
        for j in range(i, count):
            rows.factor[i, j] = 0.0
        total = 0.0
        for k in range(count):
            total -= slopes[k, i] * rows.spare[MISS, k]
        rows.spare[PRODUCT, i] = total
    for k in range(count):
        for i in range(count):
            value = slopes[k, i]
            if value != 0.0:
                for j in range(i, count):
                    rows.factor[i, j] += value * slopes[k, j]
    for i in range(count):
        rows.spare[DIAGONAL, i] = rows.factor[i, i]


@part
def free_slopes(rows: Rows, row: int) -> None:
    """The slopes of a row within its limit: its rate."""
    own = rows.spare[OWN]
    for j in range(rows.sizes[0]):
        rows.slopes[row, j] = rows.matrix[row, j] / own[j] if own[j] > 0.0 else 0.0


@part
def slip_slopes(rows: Rows, contact: int, k: int, x: float, y: float, part_of: float, closed: bool) -> None:
    """The slopes of friction along (x, y) that is brought back to a part of what would stick."""
    slopes, own, n = rows.slopes, rows.spare[OWN], rows.first[contact]
    row, size = friction_row(rows, contact, k), friction_rows(rows, contact, k)
    grip = rows.friction[contact, k] * own[row] / own[n] if rows.bounds[contact] == 0.0 and closed else 0.0
    for j in range(rows.sizes[0]):
        # the change of what would stick, and across the slip; of the limit
        u = (1.0 if j == row else 0.0) - slopes[row, j]
        v = ((1.0 if j == row + 1 else 0.0) - slopes[row + 1, j]) if size == 2 else 0.0
        along = x * u + y * v
        limit = grip * ((1.0 if j == n else 0.0) - slopes[n, j]) if grip > 0.0 else 0.0
        slopes[row, j] = (1.0 if j == row else 0.0) - x * limit - part_of * (u - x * along)
        if size == 2:
            slopes[row + 1, j] = (1.0 if j == row + 1 else 0.0) - y * limit - part_of * (v - y * along)


@part
def damped_step(rows: Rows, damping: float) -> bool:
    """The step of impulses, by Cholesky's method below the diagonal; False if rounding makes the matrix indefinite."""
    factor, step, count = rows.factor, rows.spare[STEP], rows.sizes[0]
    for i in range(count):
        for j in range(i + 1):
            total = factor[j, i] if j < i else rows.spare[DIAGONAL, i] + damping
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            if i > j:
                factor[i, j] = total / factor[j, j]
            elif total > 0.0:
                factor[i, i] = sqrt(total)
            else:
                return False
    for i in range(count):
        total = rows.spare[PRODUCT, i]
        for j in range(i):
            total -= factor[i, j] * step[j]
        step[i] = total / factor[i, i]
    for i in range(count - 1, -1, -1):
        total = step[i]
        for j in range(i + 1, count):
            total -= factor[j, i] * step[j]
        step[i] = total / factor[i, i]
    for i in range(count):
        step[i] = step[i] / rows.spare[OWN, i] if rows.spare[OWN, i] > 0.0 else 0.0
    return True
