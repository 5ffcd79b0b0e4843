"""Remove what an interior point leaves of the optimality condition, by the smallest change of w and y.

Where H is singular, or multipliers are near the ends of their sets, the last systems of the central path are too badly
conditioned for it. Here w moves in the metric of H and each multiplier by the square of its room, so that neither goes
far: with G = H + K^T R^2 K and G m = -residual the changes are m and R^2 K m, and H m + K^T R^2 K m = -residual.
"""

import numpy as np
import scipy.linalg

from ..penalties.conic import ConicForm, group_norms
from .model import Model

_MOST = 400
"""Variables up to which this is done."""
ROUNDS = 3
EXACT = 32.0 * np.finfo(float).eps
"""Fraction of the sums of absolute values that rounding leaves."""
PRODUCT = 4.0 * np.finfo(float).eps
"""The same of the terms of H w, which are more and cancel."""
LEAST = 1e-14
"""Relative size of eigenvalues that count as 0."""
FARTHEST = 1e-6
"""Fraction of the largest entry of w that an entry may move by."""


def corrected(model: Model, w: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """w and y with a residual of rounding size where it was larger; unchanged if that fails."""
    form = model.form
    if model.width > _MOST or not isinstance(model.H, np.ndarray):
        return w, y
    right = model.right()
    residual = model.times(w) - right + form.adjoint(y)
    known = model.b.size
    sizes = np.abs(right) + np.abs(form.K).T @ np.abs(y)
    sizes[:known] += PRODUCT / EXACT * (np.abs(model.H) @ np.abs(w[:known]))
    if np.all(np.abs(residual) <= EXACT * sizes):
        return w, y
    H = form.quadratic.toarray()
    H[:known, :known] += model.H
    own = room(form, y)
    K = form.K.toarray()
    roundness = K.T @ (own[:, None] ** 2 * K)
    stiff, loose = float(np.trace(H)), float(np.trace(roundness))
    balance = stiff / loose if stiff > 0.0 and loose > LEAST * stiff else 1.0
    freedom = balance * own**2
    G = H + balance * roundness
    scale = np.sqrt(np.diagonal(G))
    scale = np.where(scale > 0.0, scale, 1.0)
    try:
        values, vectors = scipy.linalg.eigh(G / scale / scale[:, None])
    except (np.linalg.LinAlgError, ValueError):
        return w, y
    kept = values > LEAST * float(values[-1])
    inverse = np.where(kept, 1.0 / np.where(kept, values, 1.0), 0.0)
    best = w, y
    level = np.abs(residual).max()
    for _ in range(ROUNDS):
        move = vectors @ (inverse * (vectors.T @ (residual / scale))) / scale
        if np.abs(move).max() > FARTHEST * np.abs(w).max():
            break
        w, y = w - move, y - freedom * (K @ move)
        residual = model.times(w) - right + form.adjoint(y)
        if not np.abs(residual).max() < 0.5 * level:
            break
        best, level = (w, y), np.abs(residual).max()
    return best


def room(form: ConicForm, y: np.ndarray) -> np.ndarray:
    """How far each multiplier may move within its set; one without bounds, by its own size."""
    lines = form.n_lines
    own = np.minimum(form.up - y[:lines], y[:lines] + form.down)
    rows = np.abs(y).copy()
    rows[:lines] = np.where(np.isfinite(own), np.maximum(own, 0.0), np.abs(y[:lines]))
    if form.weight.size:
        left = np.maximum(form.weight - group_norms(y, form.starts), 0.0)
        left = np.repeat(left, np.diff(form.starts))
        rows[lines:] = np.where(np.isfinite(left), left, np.abs(y[lines:]))
    return rows
