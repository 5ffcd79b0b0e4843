"""Random quadratic models with penalties, and a conic solver that minimises them independently."""

from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp

from spdpeg import penalties as pen
from spdpeg.penalties.conic import ConicForm, broken_lines
from spdpeg.quadratic import Model


def by_clarabel(model: Model, accuracy: float = 1e-10) -> tuple[str, float, np.ndarray]:
    """Status, optimal value and minimiser, through p, q and r for the lines and groups."""
    form, n = model.form, model.width
    lines, groups = form.n_lines, form.weight.size
    right = model.right()
    H = sp.csc_array(np.column_stack([model.times(unit) for unit in np.eye(n)]))
    up, down = np.flatnonzero(np.isfinite(form.up)), np.flatnonzero(np.isfinite(form.down))
    norms = np.flatnonzero(np.isfinite(form.weight))
    extra = up.size + down.size + norms.size
    cost = np.concatenate([-right, form.up[up], form.down[down], form.weight[norms]])
    P = sp.block_diag([H, sp.csc_array((extra, extra))], format="csc")
    none = sp.csr_array((lines, norms.size))
    blocks: list[Any] = [sp.hstack([form.K[:lines], -_units(up, lines), _units(down, lines), none])]
    sides: list[Any] = [form.offset[:lines]]
    cones: list[Any] = [clarabel.ZeroConeT(lines)]
    signs = up.size + down.size
    blocks.append(sp.hstack([sp.csr_array((signs, n)), -sp.eye_array(signs), sp.csr_array((signs, norms.size))]))
    sides.append(np.zeros(signs))
    cones.append(clarabel.NonnegativeConeT(signs))
    for g in range(groups):
        first, last = form.starts[g], form.starts[g + 1]
        head = np.zeros((1, n + extra))
        if np.isfinite(form.weight[g]):
            head[0, n + signs + int(np.searchsorted(norms, g))] = -1.0
        blocks += [head, sp.hstack([-form.K[first:last], sp.csr_array((last - first, extra))])]
        sides += [[form.radius[g]], -form.offset[first:last]]
        cones.append(clarabel.SecondOrderConeT(int(last - first) + 1))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = accuracy
    A = sp.csc_array(sp.vstack(blocks))
    P, A = (sp.csc_matrix((m.data, m.indices, m.indptr), shape=m.shape) for m in (sp.csc_array(sp.triu(P)), A))
    found = clarabel.DefaultSolver(P, cost, A, np.concatenate(sides), cones, settings).solve()
    return str(found.status), float(found.obj_val), np.array(found.x)[:n]


def _units(rows: np.ndarray, count: int) -> Any:
    return sp.csr_array((np.ones(rows.size), (rows, np.arange(rows.size))), shape=(count, rows.size))


def random_matrix(rng: np.random.Generator, n: int) -> Any:
    """H of any rank, zero included."""
    kind = rng.integers(5)
    rows = [2 * n, n, max(n // 2, 1), 0, 3 * n][kind]
    A = rng.standard_normal((rows, n)) * np.exp(rng.uniform(-1.0, 1.0, n))
    if kind == 4 and n > 1:
        A[:, 0] = A[:, 1]  # duplicated columns
    return A.T @ A / max(rows, 1)


def random_form(rng: np.random.Generator, n: int) -> ConicForm:
    """A penalty of w plus one after a sparse matrix, all kinds mixed."""
    l1, l2 = np.exp(rng.uniform(-4.0, 1.0, 2))
    labels = rng.integers(-1, max(n // 3, 1), n)
    first = [
        pen.Zero(),
        pen.L1(l1),
        pen.L1(l1 * rng.integers(0, 2, n)),
        pen.L2Squared(l1),
        pen.ElasticNet(l1, l2),
        pen.FusedL1(l1, l2),
        pen.GroupL2(l1, groups=labels) if labels.max() >= 0 else pen.GroupL2(l1),
        pen.LInf(l1),
        pen.HuberL1(l1, l2),
        pen.Box(-l1, l2),
        pen.Box(l2, np.where(rng.random(n) < 0.3, l2, np.inf)),
        pen.NonNegative(),
        pen.L2Ball(l1),
        pen.L1Ball(l1),
        pen.Simplex(l1),
    ][rng.integers(15)].conic_form(n)
    m = int(rng.integers(1, 2 * n + 2))
    F = sp.random_array((m, n), density=min(1.0, 3.0 / n), random_state=rng, data_sampler=rng.standard_normal)
    z = rng.standard_normal(m)
    second = [
        pen.Zero(),
        pen.L1(l2),
        pen.Quantile(z, 0.7, l2),
        pen.Hinge(np.where(z > 0.0, 1.0, -1.0), l2),
        pen.HuberL1(l2, l1),
        pen.GroupL2(l2, groups=1),
        pen.GroupL2(l2),
        pen.L2Squared(l1),
        pen.Box(-3.0 - np.abs(z), np.inf),
    ][rng.integers(9)].conic_form(m)
    return first + second.after(F)


def bounded(rng: np.random.Generator, n: int) -> ConicForm:
    """Keeps every variable within reach, so that each model has a solution."""
    return broken_lines(sp.eye_array(n), 0.0, rng.uniform(0.5, 1.0, n), rng.uniform(0.5, 1.0, n))


def random_model(seed: int, most: int = 12) -> Model:
    """A model that has a solution: where H may be singular, b is small beside l1 weights or in the range of H."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, most + 1))
    H = random_matrix(rng, n)
    form = random_form(rng, n)
    b = H @ rng.standard_normal(n) * np.exp(rng.uniform(-1.0, 2.0))
    if rng.random() < 0.5:
        form, b = form + bounded(rng, n), b + rng.uniform(-0.4, 0.4, n)
    return Model(H, b, form)
