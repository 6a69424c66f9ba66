"""Impulses of contacts with friction: Gauss-Seidel over whole contacts, and steps of all at once in their modes.

Rows act along directions of the velocities. With W the response of all rows to unit impulses and c the rates without
impulses, r = W f + c. Of each contact the first row is its normal: r >= target, f >= 0, one of them with equality. The
next two rows are along the surface: |f| <= mu f_n, and a contact that slips has mu f_n against the slip, in a round
cone. Then spin about the normal and two rows of rolling, each within its radius times f_n. Dry friction of a joint is a
contact of one row with a bound: r = 0 if |f| is below it, and f is the bound against r if not.
"""

from __future__ import annotations

from math import sqrt

from kinegraph.arrays import Floats
from kinegraph.jit.marks import part
from kinegraph.solve.loops.impulse_rows import Rows, apply_impulses, own_response
from kinegraph.solve.loops.settling import settle

_INNER = 12  # rounds within one contact
_SETTLED, _ROUNDED = 1e-14, 2e-14
_SWEEPS, _MODES = 6, 10  # sweeps between steps, and steps in a row
_SEVERAL, _GRADIENTS = 6, 300  # contacts for which the convex problem is solved first, and the most steps for it
_RAISED = 1e-7  # of the largest response: added to the diagonal, so that rounding moves little between dependent rows
_TOGETHER, _MOST_ROWS = 12, 96  # sweeps until all impulses are sought together; for so many rows at most
_FIRM = 1e-10  # of the largest response: rows that respond less cannot move


@part
def change_impulse(rows: Rows, row: int, value: float) -> float:
    """Set one impulse and update all rates; returns how fast it makes its own row."""
    step = value - rows.impulses[row]
    if step == 0.0:
        return 0.0
    rows.impulses[row] = value
    column = rows.matrix[row]  # symmetric
    for i in range(rows.sizes[0]):
        rows.rates[i] += step * column[i]
    return float(abs(step * column[row]))


@part
def solve_impulses(rows: Rows, tolerance: float, rounds: int) -> float:
    """Sweeps over all contacts, and steps to the solution with the present modes in between, until no sweep changes a
    rate by more than the tolerance (a speed); returns the last change. Contacts that jam each other, so that the least
    slip turns their friction, are left to `settle`."""
    begin(rows)
    apply_impulses(rows)
    change = 0.0
    for number in range(rounds):
        change = sweep(rows, number % 2 == 0)
        if change <= tolerance or (change <= 1e4 * tolerance and change <= rounding(rows)):
            break
        if number % _SWEEPS == _SWEEPS - 1:
            if number == _SWEEPS - 1 and rows.sizes[1] >= _SEVERAL:
                relax(rows, tolerance)
            step_in_mode(rows)
        if rows.sizes[0] <= _MOST_ROWS:
            if number == rounds - 1:
                return settle(rows, 0.1 * tolerance)
            if number == _TOGETHER - 1:
                settle(rows, 0.1 * tolerance)
    return change


@part
def rounding(rows: Rows) -> float:
    """What the rates are uncertain by, as large impulses cancel each other."""
    most = 0.0
    for i in range(rows.sizes[0]):
        most = max(most, rows.matrix[i, i] * abs(rows.impulses[i]))
    return _ROUNDED * most


@part
def begin(rows: Rows) -> None:
    """Without impulses to begin with: those that would stop all approaching contacts, brought into their cones."""
    total, count = 0.0, 0
    for i in range(rows.sizes[0]):
        total += abs(rows.impulses[i])
        rows.steps[i], rows.rates[i] = 0.0, rows.free[i]
    if total > 0.0:
        return
    for contact in range(rows.sizes[1]):
        n = rows.first[contact]
        if rows.rates[n] < rows.targets[n] or rows.bounds[contact] > 0.0:
            for k in range(min(rows.widths[contact], 3)):
                if k == 0 or rows.friction[contact, 0] > 0.0:
                    rows.chosen[count] = n + k
                    count += 1
    if count == 0 or not factor_free(rows, count):
        return
    residual_of_free(rows, count)
    for contact in range(rows.sizes[1]):
        n, bound = rows.first[contact], rows.bounds[contact]
        rows.impulses[n] = min(max(rows.steps[n], -bound), bound) if bound > 0.0 else max(0.0, rows.steps[n])
        if rows.widths[contact] >= 3:
            y, z = rows.steps[n + 1], rows.steps[n + 2]
            size, limit = sqrt(y * y + z * z), rows.friction[contact, 0] * rows.impulses[n]
            factor = limit / size if size > limit else 1.0
            rows.impulses[n + 1], rows.impulses[n + 2] = factor * y, factor * z


@part
def sweep(rows: Rows, forth: bool) -> float:
    """The impulses of all contacts, one after the other; returns the largest change of a rate."""
    change, contacts = 0.0, rows.sizes[1]
    for k in range(contacts):
        change = max(change, solve_contact(rows, k if forth else contacts - 1 - k))
    return change


# ---- All contacts at once, without regard to modes


@part
def relax(rows: Rows, tolerance: float) -> None:
    """Towards the impulses in their cones with the least f (c + W f / 2): gradients, accelerated by Nesterov's rule.

    Contacts at rest have the same impulses here and there, and only one velocity solves this problem; the sweeps can
    find others where many contacts with friction jam each other. Slipping contacts would open: sweeps mend that. Spin
    and rolling friction stay as they are. (Mazhar, Heyn, Negrut, Tasora, ACM Trans. Graph. 34, 32, 2015.)
    """
    count, before, point, gradient = rows.sizes[0], rows.factor[0], rows.factor[1], rows.steps
    length = 1.0 / stiffness(rows)
    for i in range(count):
        before[i], point[i] = rows.impulses[i], rows.impulses[i]
    weight = 1.0
    for _ in range(_GRADIENTS):
        for i in range(count):
            total = rows.free[i] - rows.targets[i]
            for j in range(count):
                total += rows.matrix[i, j] * point[j]
            gradient[i] = total
        change, turned = 0.0, 0.0
        for contact in range(rows.sizes[1]):
            project_step(rows, contact, point, length)
            n = rows.first[contact]
            for i in range(n, n + min(rows.widths[contact], 3)):
                step = rows.impulses[i] - before[i]
                change = max(change, abs(step) * rows.matrix[i, i])
                turned += gradient[i] * step
        following = 0.5 + sqrt(0.25 + weight * weight)
        reach = (weight - 1.0) / following if turned <= 0.0 else 0.0
        weight = following if turned <= 0.0 else 1.0
        for i in range(count):
            point[i] = rows.impulses[i] + reach * (rows.impulses[i] - before[i])
            before[i] = rows.impulses[i]
        if change <= tolerance:
            break
    apply_impulses(rows)


@part
def stiffness(rows: Rows) -> float:
    """A bound of the largest response, if each contact is measured by its own."""
    most = 0.0
    for contact in range(rows.sizes[1]):
        own = own_response(rows, contact)
        for i in range(rows.first[contact], rows.first[contact] + rows.widths[contact]):
            total = 0.0
            for other in range(rows.sizes[1]):
                scale = sqrt(own * own_response(rows, other))
                for j in range(rows.first[other], rows.first[other] + rows.widths[other]):
                    total += abs(rows.matrix[i, j]) / scale if scale > 0.0 else 0.0
            most = max(most, total)
    return most if most > 0.0 else 1.0


@part
def project_step(rows: Rows, contact: int, point: Floats, length: float) -> None:
    """The impulses of one contact after a step against the gradient, brought into the cone at the nearest point."""
    n, own, mu = rows.first[contact], own_response(rows, contact), rows.friction[contact, 0]
    if not own > 0.0:
        return
    step, bound = length / own, rows.bounds[contact]
    x = point[n] - step * rows.steps[n]
    if bound > 0.0:
        rows.impulses[n] = min(max(x, -bound), bound)
        return
    if rows.widths[contact] < 3:
        rows.impulses[n] = max(0.0, x)
        return
    y, z = point[n + 1] - step * rows.steps[n + 1], point[n + 2] - step * rows.steps[n + 2]
    size = sqrt(y * y + z * z)
    if size > mu * x:
        x = max(0.0, (x + mu * size) / (1.0 + mu * mu))
        factor = mu * x / size if size > 0.0 else 0.0
        y, z = factor * y, factor * z
    rows.impulses[n], rows.impulses[n + 1], rows.impulses[n + 2] = x, y, z


# ---- All contacts at once, in the present modes


@part
def step_in_mode(rows: Rows) -> None:
    """Towards the impulses at which all closed contacts have their target, and those that stick do not move.

    A step ends where the first contact would open or leave its cone. The next step takes that as its mode, until the
    following sweeps. Responses that depend on each other make the matrix singular, so its diagonal is raised a little.
    """
    for _ in range(_MODES):
        count = free_rows(rows)
        if count == 0 or not factor_free(rows, count):
            return
        if take_free_step(rows, count) == 1.0:
            take_free_step(rows, count)  # removes what the raised diagonal left
            return


@part
def take_free_step(rows: Rows, count: int) -> float:
    """A step with the factor at hand; returns the part of it that was taken."""
    residual_of_free(rows, count)
    part_of = longest_step(rows, count)
    for i in range(count):
        row = rows.chosen[i]
        rows.impulses[row] = rows.impulses[row] + part_of * rows.steps[row]
    for contact in range(rows.sizes[1]):
        n = rows.first[contact]
        if rows.impulses[n] < 1e-14 * abs(rows.steps[n]) and rows.bounds[contact] == 0.0:
            for k in range(rows.widths[contact]):
                rows.impulses[n + k] = 0.0
    apply_impulses(rows)
    return part_of


@part
def free_rows(rows: Rows) -> int:
    """List the rows whose impulses are within their limits; how many there are."""
    count = 0
    for contact in range(rows.sizes[1]):
        n, width, bound = rows.first[contact], rows.widths[contact], rows.bounds[contact]
        normal = rows.impulses[n]
        for k in range(width):
            rows.steps[n + k] = 0.0
        if not (normal > 0.0 if bound == 0.0 else abs(normal) < bound):
            continue
        rows.chosen[count] = n
        count += 1
        if width >= 3 and inside_cone(rows, contact, n):
            rows.chosen[count], rows.chosen[count + 1] = n + 1, n + 2
            count += 2
    return count


@part
def inside_cone(rows: Rows, contact: int, n: int) -> bool:
    """Whether a contact sticks."""
    limit = rows.friction[contact, 0] * rows.impulses[n]
    return bool(rows.impulses[n + 1] ** 2 + rows.impulses[n + 2] ** 2 < (1.0 - 1e-9) * limit * limit)


@part
def factor_free(rows: Rows, count: int) -> bool:
    """The Cholesky factor of the listed rows' responses; False if rounding makes them indefinite."""
    largest, factor = 0.0, rows.factor
    for i in range(count):
        largest = max(largest, rows.matrix[rows.chosen[i], rows.chosen[i]])
    for i in range(count):
        for j in range(i + 1):
            total = rows.matrix[rows.chosen[i], rows.chosen[j]]
            if i == j:
                total += _RAISED * largest
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            if i == j:
                if not total > 0.0:
                    return False
                factor[i, i] = sqrt(total)
            else:
                factor[i, j] = total / factor[j, j]
    return True


@part
def residual_of_free(rows: Rows, count: int) -> None:
    """The steps of the listed impulses that bring their rates to the targets."""
    factor = rows.factor
    for i in range(count):
        row = rows.chosen[i]
        total = rows.targets[row] - rows.rates[row]
        for j in range(i):
            total -= factor[i, j] * rows.steps[rows.chosen[j]]
        rows.steps[row] = total / factor[i, i]
    for i in range(count - 1, -1, -1):
        row = rows.chosen[i]
        total = rows.steps[row]
        for j in range(i + 1, count):
            total -= factor[j, i] * rows.steps[rows.chosen[j]]
        rows.steps[row] = total / factor[i, i]


@part
def longest_step(rows: Rows, count: int) -> float:
    """The part of the step, at most 1, after which the first contact opens or begins to slip."""
    found = 1.0
    for contact in range(rows.sizes[1]):
        n, least = rows.first[contact], -rows.bounds[contact]
        if rows.steps[n] < 0.0 and rows.impulses[n] + found * rows.steps[n] < least:
            found = (least - rows.impulses[n]) / rows.steps[n]
        if least < 0.0 and rows.impulses[n] + found * rows.steps[n] > -least:
            found = (-least - rows.impulses[n]) / rows.steps[n]
        if rows.widths[contact] >= 3 and inside_cone(rows, contact, n):
            found = min(found, leaves_cone(rows, contact, n))
    return max(0.0, found)


@part
def leaves_cone(rows: Rows, contact: int, n: int) -> float:
    """Where along its step the impulse of a contact leaves the cone; 1 if it does not."""
    mu = rows.friction[contact, 0]
    x, y, z = rows.impulses[n], rows.impulses[n + 1], rows.impulses[n + 2]
    u, v, w = rows.steps[n], rows.steps[n + 1], rows.steps[n + 2]
    a = v * v + w * w - mu * mu * u * u
    b = y * v + z * w - mu * mu * x * u
    c = y * y + z * z - mu * mu * x * x  # negative: inside
    if a + 2.0 * b + c <= 0.0 and x + u >= 0.0:
        return 1.0
    square = b * b - a * c
    if not square > 0.0:
        return 1.0
    root = sqrt(square)
    found = (root - b) / a if b <= 0.0 and a != 0.0 else -c / (b + root)
    return found if 0.0 <= found < 1.0 else 1.0


@part
def solve_contact(rows: Rows, contact: int) -> float:
    """The impulses of one contact while all others stay; returns the largest change of a rate."""
    n, width = rows.first[contact], rows.widths[contact]
    if rows.bounds[contact] > 0.0:
        return solve_bounded(rows, n, rows.bounds[contact])
    if width == 1 or rows.friction[contact, 0] == 0.0:
        change = solve_normal(rows, n)
        for k in range(1, min(width, 3)):
            change = max(change, change_impulse(rows, n + k, 0.0))
    else:
        change = solve_sliding(rows, contact, n)
    if width >= 4:
        limit = rows.friction[contact, 1] * rows.impulses[n]
        change = max(change, solve_bounded(rows, n + 3, limit))
    if width == 6:
        change = max(change, solve_disk(rows, n + 4, rows.friction[contact, 2] * rows.impulses[n]))
    return change


@part
def solve_normal(rows: Rows, n: int) -> float:
    """A normal row alone."""
    response = rows.matrix[n, n]
    if not response > 0.0:
        return change_impulse(rows, n, 0.0)
    return change_impulse(rows, n, max(0.0, rows.impulses[n] - (rows.rates[n] - rows.targets[n]) / response))


@part
def solve_bounded(rows: Rows, row: int, limit: float) -> float:
    """A row whose impulse has a limit on both sides."""
    response = rows.matrix[row, row]
    if not response > 0.0:
        return change_impulse(rows, row, 0.0)
    return change_impulse(rows, row, min(max(rows.impulses[row] - rows.rates[row] / response, -limit), limit))


@part
def solve_disk(rows: Rows, row: int, limit: float) -> float:
    """Two rows whose impulse is within a circle."""
    a, b, c = rows.matrix[row, row], rows.matrix[row, row + 1], rows.matrix[row + 1, row + 1]
    stiffest = largest_response(a, b, c)
    if not stiffest > 0.0:
        return max(change_impulse(rows, row, 0.0), change_impulse(rows, row + 1, 0.0))
    x = rows.impulses[row] - rows.rates[row] / stiffest
    y = rows.impulses[row + 1] - rows.rates[row + 1] / stiffest
    size = sqrt(x * x + y * y)
    factor = limit / size if size > limit else 1.0
    change = change_impulse(rows, row, factor * x)
    return max(change, change_impulse(rows, row + 1, factor * y))


@part
def largest_response(a: float, b: float, c: float) -> float:
    """The larger eigenvalue of [[a, b], [b, c]]."""
    return 0.5 * (a + c) + sqrt(0.25 * (a - c) ** 2 + b * b)


@part
def solve_sliding(rows: Rows, contact: int, n: int) -> float:
    """Normal and sliding impulses of one contact: open, sticking or slipping."""
    w, mu = rows.matrix, rows.friction[contact, 0]
    p0, p1, p2 = rows.impulses[n], rows.impulses[n + 1], rows.impulses[n + 2]
    # rates without the impulses of this contact
    c0 = rows.rates[n] - w[n, n] * p0 - w[n, n + 1] * p1 - w[n, n + 2] * p2 - rows.targets[n]
    c1 = rows.rates[n + 1] - w[n + 1, n] * p0 - w[n + 1, n + 1] * p1 - w[n + 1, n + 2] * p2
    c2 = rows.rates[n + 2] - w[n + 2, n] * p0 - w[n + 2, n + 1] * p1 - w[n + 2, n + 2] * p2
    if c0 >= 0.0 or not w[n, n] > 0.0:
        x, y, z = 0.0, 0.0, 0.0
    else:
        x, y, z = sticking(w, n, c0, c1, c2)
        if not (x > 0.0 and y * y + z * z <= mu * mu * x * x):
            x, y, z = slipping(w, n, c0, c1, c2, mu, (p0, p1, p2))
    change = change_impulse(rows, n, x)
    change = max(change, change_impulse(rows, n + 1, y))
    return max(change, change_impulse(rows, n + 2, z))


@part
def sticking(w: Floats, n: int, c0: float, c1: float, c2: float) -> tuple[float, float, float]:
    """The impulses that stop a contact: the solution of three equations, by Cholesky's method."""
    least = _FIRM * max(w[n, n], w[n + 1, n + 1], w[n + 2, n + 2])
    a = w[n, n]
    l10, l20 = w[n + 1, n] / a, w[n + 2, n] / a
    b = w[n + 1, n + 1] - l10 * w[n + 1, n]
    firm_b = b > least
    l21 = (w[n + 2, n + 1] - l20 * w[n + 1, n]) / b if firm_b else 0.0
    c = w[n + 2, n + 2] - l20 * w[n + 2, n] - (l21 * l21 * b if firm_b else 0.0)
    y0 = -c0
    y1 = -c1 - l10 * y0
    y2 = -c2 - l20 * y0 - l21 * y1
    z = y2 / c if c > least else 0.0
    y = y1 / b - l21 * z if firm_b else 0.0
    return y0 / a - l10 * y - l20 * z, y, z


@part
def slipping(
    w: Floats, n: int, c0: float, c1: float, c2: float, mu: float, start: tuple[float, float, float]
) -> tuple[float, float, float]:
    """The impulses of a contact that slips: on the cone, against the slip."""
    x, y, z = start
    if not x > 0.0:
        x, y, z = -c0 / w[n, n], 0.0, 0.0
    stiffest = largest_response(w[n + 1, n + 1], w[n + 1, n + 2], w[n + 2, n + 2])
    for _ in range(_INNER):
        before, first, second = x, y, z
        if stiffest > 0.0:
            y -= (c1 + w[n + 1, n] * x + w[n + 1, n + 1] * y + w[n + 1, n + 2] * z) / stiffest
            z -= (c2 + w[n + 2, n] * x + w[n + 2, n + 1] * first + w[n + 2, n + 2] * z) / stiffest
        size, limit = sqrt(y * y + z * z), mu * x
        if size > limit:
            y, z = y * limit / size, z * limit / size
        x = max(0.0, -(c0 + w[n, n + 1] * y + w[n, n + 2] * z) / w[n, n])
        moved = abs(x - before) + abs(y - first) + abs(z - second)
        if moved <= _SETTLED * x:
            break
    size, limit = sqrt(y * y + z * z), mu * x
    if size > limit:
        y, z = y * limit / size, z * limit / size
    return x, y, z


@part
def solve_pushes(rows: Rows, gaps: Floats, pushes: Floats, tolerance: float, rounds: int) -> None:
    """Displacements along the normals that bring all gaps to zero at least: as impulses `pushes`, none negative."""
    count = rows.sizes[1]
    for contact in range(count):
        pushes[contact] = 0.0
    for _ in range(rounds):
        change = 0.0
        for contact in range(count):
            n = rows.first[contact]
            response = rows.matrix[n, n]
            if not response > 0.0 or rows.bounds[contact] > 0.0:
                continue
            gap = gaps[contact]
            for other in range(count):
                gap += rows.matrix[n, rows.first[other]] * pushes[other]
            following = max(0.0, pushes[contact] - gap / response)
            change = max(change, abs(following - pushes[contact]) * response)
            pushes[contact] = following
        if change <= tolerance:
            break


@part
def energy_gain(rows: Rows) -> float:
    """The kinetic energy that the impulses add, if nothing else moves: f (c + W f / 2)."""
    total = 0.0
    for i in range(rows.sizes[0]):
        total += 0.5 * rows.impulses[i] * (rows.free[i] + rows.rates[i])
    return total
