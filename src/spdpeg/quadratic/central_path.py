"""One step along the central path: what does not depend on how the linear systems are solved.

The model is 1/2 w^T H w - b^T w + sum_i g_i(K_i w - t_i) + sum_g c_g |K_g w - t_g| (see penalties.conic). A line is
K_i w - t_i = p_i - q_i with p, q >= 0; its multiplier y_i leaves u_i = up_i - y_i and v_i = down_i + y_i, and on the
path p u = q v = mu. An infinite slope means that p (or q) and its slack do not exist; an equation has neither, and its
zero in the diagonal below is replaced by a small number, which changes the steps but not where they end (proximal
method of multipliers). A rounded kink adds smoothing_i y_i to p_i - q_i. A group is a second-order cone: (head, body)
with body = K_g w - t_g, and (lead, -y_g) in the same cone. A norm has lead = c_g throughout, a ball has head = radius.
Cones are scaled after Nesterov and Todd (SIAM J. Optimization 8, 1998); predictor and corrector after Mehrotra (SIAM J.
Optimization 2, 1992).

Eliminating everything but w and y leaves

    H dw + K^T dy = -slope,      K dw - D dy = -rest,

with D diagonal for lines and diagonal plus rank one for groups. All arrays over rows hold the lines first, then the
rows of the groups.
"""

from typing import NamedTuple

import numpy as np

from ..kernels.jit import shared

ALMOST = 0.995
"""Fraction of the way to the border that a step may go."""

EQUATION = 1e-9
"""D of an equation."""


class Terms(NamedTuple):
    """Lines and groups of a model, scaled."""

    pointers: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    offset: np.ndarray
    up: np.ndarray
    """0 where infinite."""
    down: np.ndarray
    above: np.ndarray
    """1 where p and u exist, otherwise 0."""
    below: np.ndarray
    starts: np.ndarray
    weight: np.ndarray
    """0 for a ball."""
    radius: np.ndarray
    balls: np.ndarray
    smoothing: np.ndarray


class Point(NamedTuple):
    """A point on the path."""

    w: np.ndarray
    y: np.ndarray
    p: np.ndarray
    q: np.ndarray
    u: np.ndarray
    v: np.ndarray
    body: np.ndarray
    head: np.ndarray
    lead: np.ndarray


class Work(NamedTuple):
    """Everything that a step computes."""

    image: np.ndarray
    """K w - t."""
    slope: np.ndarray
    """H w - b + K^T y."""
    missed: np.ndarray
    """K w - t - (p - q) - smoothing y, or minus the body."""
    inverse: np.ndarray
    """1 / D of lines; 1 / eta^2 on the rows of groups."""
    bar: np.ndarray
    """The scaling point of a group without its first entry."""
    bar_head: np.ndarray
    fold: np.ndarray
    """D^-1 of a group is inverse * (1 + fold bar bar^T)."""
    low: np.ndarray
    """The scaled point of a group, without and with its first entry."""
    low_head: np.ndarray
    det: np.ndarray
    """The square of the first entry minus those of the others."""
    rest: np.ndarray
    move_image: np.ndarray
    """K dw."""
    aim_p: np.ndarray
    aim_q: np.ndarray
    aim_head: np.ndarray
    """What dhead (norms) or dlead (balls) is apart from its linear part."""
    dw: np.ndarray
    dy: np.ndarray
    dp: np.ndarray
    dq: np.ndarray
    dbody: np.ndarray
    dhead: np.ndarray
    dlead: np.ndarray


def new_work(width: int, terms: Terms) -> Work:
    """Memory for one run."""
    lines, rows, groups = terms.up.size, terms.offset.size, terms.weight.size
    row = {"image", "missed", "inverse", "bar", "low", "rest", "move_image", "dy", "dbody"}
    line = {"aim_p", "aim_q", "dp", "dq"}
    sizes = {
        name: rows if name in row else lines if name in line else width if name in ("slope", "dw") else groups
        for name in Work._fields
    }
    return Work(**{name: np.zeros(size) for name, size in sizes.items()})


def start(width: int, terms: Terms, spread: float = 1.0) -> Point:
    """w = 0, slacks of size `spread`, multipliers as near to 0 as leaves room to both sides, up to that size."""
    up = np.where(terms.above > 0.0, terms.up, np.inf)
    down = np.where(terms.below > 0.0, terms.down, np.inf)
    lines, rows = up.size, terms.offset.size
    # Near the border of its interval a multiplier would keep the first steps short.
    room = np.where(np.isinf(up + down), spread, np.minimum(0.5 * (up + down), 1.0))
    y = np.zeros(rows)
    y[:lines] = np.clip(0.0, room - down, up - room)
    balls = terms.balls > 0
    return Point(
        w=np.zeros(width),
        y=y,
        p=terms.above * (np.maximum(-terms.offset[:lines], 0.0) + spread),
        q=terms.below * (np.maximum(terms.offset[:lines], 0.0) + spread),
        u=np.where(terms.above > 0.0, terms.up - y[:lines], 1.0),
        v=np.where(terms.below > 0.0, terms.down + y[:lines], 1.0),
        body=np.zeros(rows),
        head=np.where(balls, terms.radius, spread),
        lead=np.where(balls, spread, terms.weight),
    )


@shared
def times(terms: Terms, w: np.ndarray, out: np.ndarray) -> None:
    """out = K w."""
    for e in range(out.size):
        total = 0.0
        for k in range(terms.pointers[e], terms.pointers[e + 1]):
            total += terms.values[k] * w[terms.columns[k]]
        out[e] = total


@shared
def add_adjoint(terms: Terms, y: np.ndarray, sign: float, out: np.ndarray) -> None:
    """out += sign K^T y."""
    for e in range(y.size):
        value = sign * y[e]
        for k in range(terms.pointers[e], terms.pointers[e + 1]):
            out[terms.columns[k]] += terms.values[k] * value


@shared
def measure(terms: Terms, point: Point, work: Work) -> tuple[float, float]:
    """The sum of products of slacks, and what the misses cost; the scaling of lines and groups is written into `work`.

    `work.image` is up to date.
    """
    gap = 0.0
    cost = 0.0
    for e in range(terms.up.size):
        p, q, u, v = point.p[e], point.q[e], point.u[e], point.v[e]
        above, below = terms.above[e], terms.below[e]
        smoothing = terms.smoothing[e]
        missed = work.image[e] - p + q - smoothing * point.y[e]
        work.missed[e] = missed
        gap += p * u + q * v
        # A miss costs the objective at most its size times the steepest slope of the line; a constraint has none, so
        # that its multiplier stands for it.
        price = max(max(terms.up[e], terms.down[e]), abs(point.y[e]))
        if smoothing > 0.0 and above * below == 0.0:  # a parabola, whose slope grows with the miss
            price += 0.5 * abs(missed) / smoothing
        cost += abs(missed) * (price if above * below > 0.0 or smoothing > 0.0 else max(price, 1.0))
        work.inverse[e] = 1.0 / (p / u + q / v + smoothing) if above + below + smoothing > 0.0 else 1.0 / EQUATION
    for g in range(terms.weight.size):
        gap += _scale_group(terms, point, work, g)
        missed = 0.0
        for e in range(terms.starts[g], terms.starts[g + 1]):
            missed += work.missed[e] * work.missed[e]
        price = max(terms.weight[g], point.lead[g])
        cost += np.sqrt(missed) * (max(price, 1.0) if terms.balls[g] else price)
    return gap, cost


@shared
def _scale_group(terms: Terms, point: Point, work: Work, g: int) -> float:
    """The Nesterov-Todd scaling of a group; returns the product of its two points."""
    first, last = terms.starts[g], terms.starts[g + 1]
    square_body = square_y = both = 0.0
    # Sums have loops of their own, here and below: LLVM adds up in another order where a loop also writes and the
    # arrays of small groups happen to lie next to each other.
    for e in range(first, last):
        work.missed[e] = work.image[e] - point.body[e]
    for e in range(first, last):
        square_body += point.body[e] * point.body[e]
        square_y += point.y[e] * point.y[e]
        both += point.body[e] * point.y[e]
    head, lead = point.head[g], point.lead[g]
    size_body, size_y = np.sqrt(square_body), np.sqrt(square_y)
    # As a product: a difference of squares loses all digits near the border of the cone.
    det_s = np.sqrt(max((head - size_body) * (head + size_body), 1e-300))
    det_l = np.sqrt(max((lead - size_y) * (lead + size_y), 1e-300))
    # s = (head, body) / det_s and l = (lead, -y) / det_l; the scaling point is (s + J l) / (2 gamma).
    # At least 1 in exact arithmetic; below it gamma would lose its meaning.
    inner_product = max((head * lead - both) / (det_s * det_l), 1.0)
    gamma = np.sqrt(0.5 * (1.0 + inner_product))
    eta = np.sqrt(det_s / det_l)
    square_bar = 0.0
    for e in range(first, last):
        work.bar[e] = 0.5 * (point.body[e] / det_s + point.y[e] / det_l) / gamma
    for e in range(first, last):
        square_bar += work.bar[e] * work.bar[e]
    bar_head = np.sqrt(1.0 + square_bar)
    work.bar_head[g] = bar_head
    work.fold[g] = 2.0 if terms.balls[g] else -2.0 / (1.0 + 2.0 * square_bar)
    # The scaled point W l = W^-1 s, by a formula that does not multiply by W.
    root = np.sqrt(det_s * det_l)
    whole = root / (head / det_s + lead / det_l + 2.0 * gamma)
    from_body, from_y = whole * (gamma + lead / det_l) / det_s, whole * (gamma + head / det_s) / det_l
    work.low_head[g] = root * gamma
    work.det[g] = root * root
    for e in range(first, last):
        work.inverse[e] = 1.0 / (eta * eta)
        work.low[e] = from_body * point.body[e] - from_y * point.y[e]
    return head * lead - both


@shared
def aim(terms: Terms, point: Point, work: Work, target: float, second: float) -> None:
    """The right-hand side `rest` for products of slacks that equal `target`, with second-order terms times `second`."""
    for e in range(terms.up.size):
        turn = second * work.dy[e]
        to_p = terms.above[e] * (target + work.dp[e] * turn)
        to_q = terms.below[e] * (target - work.dq[e] * turn)
        work.aim_p[e], work.aim_q[e] = to_p, to_q
        work.rest[e] = work.missed[e] - to_p / point.u[e] + point.p[e] + to_q / point.v[e] - point.q[e]
    for g in range(terms.weight.size):
        _aim_group(terms, work, g, target, second)


@shared
def _aim_group(terms: Terms, work: Work, g: int, target: float, second: float) -> None:
    first, last = terms.starts[g], terms.starts[g + 1]
    bar_head, low_head = work.bar_head[g], work.low_head[g]
    eta = 1.0 / np.sqrt(work.inverse[first])
    # a = W^-1 ds, b = W dl; aim at target * e - low o low - a o b, divided by low.
    dhead, dlead = work.dhead[g], work.dlead[g]
    bar_body = bar_y = 0.0
    for e in range(first, last):
        bar_body += work.bar[e] * work.dbody[e]
        bar_y -= work.bar[e] * work.dy[e]
    a_head = (bar_head * dhead - bar_body) / eta
    b_head = eta * (bar_head * dlead + bar_y)
    a_shift = -dhead + bar_body / (1.0 + bar_head)
    b_shift = dlead + bar_y / (1.0 + bar_head)
    top = target - second * a_head * b_head
    cross = 0.0
    for e in range(first, last):
        a = (work.dbody[e] + a_shift * work.bar[e]) / eta
        b = eta * (-work.dy[e] + b_shift * work.bar[e])
        work.rest[e] = -second * (a_head * b + b_head * a)
    for e in range(first, last):
        top -= second * (work.dbody[e] + a_shift * work.bar[e]) * (-work.dy[e] + b_shift * work.bar[e])
        cross += work.low[e] * work.rest[e]
    to_head = (low_head * top - cross) / work.det[g]
    for e in range(first, last):
        work.rest[e] = (work.rest[e] - to_head * work.low[e]) / low_head - work.low[e]
    to_head -= low_head
    # `rest` now holds the aim d; multiply by W (norm), or by D W^-1 (ball).
    along = 0.0
    square_bar = bar_head * bar_head - 1.0
    for e in range(first, last):
        along += work.bar[e] * work.rest[e]
    if terms.balls[g]:
        work.aim_head[g] = (bar_head * to_head - along) / eta
        shift = -to_head + along / (1.0 + bar_head)
        folded = (along + shift * square_bar) * 2.0 / (1.0 + 2.0 * square_bar)
        for e in range(first, last):
            body = work.rest[e] + shift * work.bar[e]
            work.rest[e] = work.missed[e] - eta * (body - folded * work.bar[e])
    else:
        work.aim_head[g] = eta * (bar_head * to_head + along)
        shift = to_head + along / (1.0 + bar_head)
        for e in range(first, last):
            work.rest[e] = work.missed[e] - eta * (work.rest[e] + shift * work.bar[e])


@shared
def weigh(terms: Terms, work: Work, vector: np.ndarray, out: np.ndarray) -> None:
    """out = D^-1 vector."""
    for e in range(terms.up.size):
        out[e] = work.inverse[e] * vector[e]
    for g in range(terms.weight.size):
        along = 0.0
        for e in range(terms.starts[g], terms.starts[g + 1]):
            along += work.bar[e] * vector[e]
        along *= work.fold[g]
        for e in range(terms.starts[g], terms.starts[g + 1]):
            out[e] = work.inverse[e] * (vector[e] + along * work.bar[e])


@shared
def complete(terms: Terms, point: Point, work: Work) -> float:
    """The rest of the move from dy and K dw; returns how far along it all slacks stay positive, at most 1 / ALMOST."""
    # Not more than a full step once ALMOST is taken off.
    room = 1.0 / ALMOST
    for e in range(terms.up.size):
        dy, p, q, u, v = work.dy[e], point.p[e], point.q[e], point.u[e], point.v[e]
        dp = (work.aim_p[e] + p * dy) / u - p
        dq = (work.aim_q[e] - q * dy) / v - q
        work.dp[e], work.dq[e] = dp, dq
        if dp < 0.0:
            room = min(room, -p / dp)
        if dq < 0.0:
            room = min(room, -q / dq)
        if dy * terms.above[e] > 0.0:
            room = min(room, u / dy)
        if dy * terms.below[e] < 0.0:
            room = min(room, -v / dy)
    for g in range(terms.weight.size):
        first, last = terms.starts[g], terms.starts[g + 1]
        bar_y = bar_body = 0.0
        for e in range(first, last):
            work.dbody[e] = work.move_image[e] + work.missed[e]
        for e in range(first, last):
            bar_y += work.bar[e] * work.dy[e]
            bar_body += work.bar[e] * work.dbody[e]
        if terms.balls[g]:
            work.dhead[g] = 0.0
            work.dlead[g] = work.aim_head[g] + 2.0 * work.inverse[first] * work.bar_head[g] * bar_body
        else:
            work.dhead[g] = work.aim_head[g] + 2.0 / work.inverse[first] * work.bar_head[g] * bar_y
            work.dlead[g] = 0.0
        room = min(room, _cone_room(point.head[g], point.body, work.dhead[g], work.dbody, first, last))
        room = min(room, _cone_room(point.lead[g], point.y, work.dlead[g], work.dy, first, last))
    return room


@shared
def _cone_room(head: float, body: np.ndarray, dhead: float, dbody: np.ndarray, first: int, last: int) -> float:
    """The largest a with |body + a dbody| <= head + a dhead."""
    square = moved = cross = 0.0
    for e in range(first, last):
        square += body[e] * body[e]
        moved += dbody[e] * dbody[e]
        cross += body[e] * dbody[e]
    size = np.sqrt(square)
    # As a product, for the same reason as in the scaling.
    left = (head - size) * (head + size)
    curvature = dhead * dhead - moved
    tilt = head * dhead - cross
    inside = tilt * tilt - curvature * left
    if (curvature < 0.0 or tilt < 0.0) and inside >= 0.0:
        # The smaller root in the form that does not subtract equal numbers.
        down = np.sqrt(inside) - tilt
        if down > 0.0:
            return left / down
    return np.inf


@shared
def products_after(terms: Terms, point: Point, work: Work, step: float) -> float:
    """The sum of products of slacks after a step."""
    total = 0.0
    for e in range(terms.up.size):
        change = step * work.dy[e]
        total += terms.above[e] * (point.p[e] + step * work.dp[e]) * (point.u[e] - change)
        total += terms.below[e] * (point.q[e] + step * work.dq[e]) * (point.v[e] + change)
    for g in range(terms.weight.size):
        total += (point.head[g] + step * work.dhead[g]) * (point.lead[g] + step * work.dlead[g])
        for e in range(terms.starts[g], terms.starts[g + 1]):
            total -= (point.body[e] + step * work.dbody[e]) * (point.y[e] + step * work.dy[e])
    return total


@shared
def move(terms: Terms, point: Point, work: Work, step: float) -> None:
    """Take the step."""
    for j in range(point.w.size):
        point.w[j] += step * work.dw[j]
    for e in range(point.y.size):
        point.y[e] += step * work.dy[e]
        point.body[e] += step * work.dbody[e]
    for e in range(terms.up.size):
        change = step * work.dy[e]
        point.p[e] += step * work.dp[e]
        point.q[e] += step * work.dq[e]
        point.u[e] -= terms.above[e] * change
        point.v[e] += terms.below[e] * change
    for g in range(terms.weight.size):
        point.head[g] += step * work.dhead[g]
        point.lead[g] += step * work.dlead[g]


@shared
def copy_point(source: Point, out: Point) -> None:
    """out = source."""
    for j in range(source.w.size):
        out.w[j] = source.w[j]
    for e in range(source.y.size):
        out.y[e], out.body[e] = source.y[e], source.body[e]
    for e in range(source.p.size):
        out.p[e], out.q[e], out.u[e], out.v[e] = source.p[e], source.q[e], source.u[e], source.v[e]
    for g in range(source.head.size):
        out.head[g], out.lead[g] = source.head[g], source.lead[g]


@shared
def far(terms: Terms, point: Point) -> float:
    """The largest entry of w and of the multipliers without bounds."""
    largest = 0.0
    for j in range(point.w.size):
        largest = max(largest, abs(point.w[j]))
    for e in range(terms.up.size):
        if terms.above[e] * terms.below[e] == 0.0:
            largest = max(largest, abs(point.y[e]))
    for g in range(terms.weight.size):
        if terms.balls[g]:
            largest = max(largest, point.lead[g])
    return largest


@shared
def length(work: Work) -> float:
    """The sum of absolute values of a move; not a number if an entry is none."""
    total = 0.0
    for j in range(work.dw.size):
        total += abs(work.dw[j])
    for e in range(work.dy.size):
        total += abs(work.dy[e]) + abs(work.dbody[e])
    return total
