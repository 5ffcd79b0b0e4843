"""Sparse inverse covariance selection: which columns of X depend on each other, given all the others."""

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import CacheWarning, InputError
from ..parameters import as_number, shown, truth, whole_number
from . import cache, glasso_admm
from .components import least_weight, split
from .covariance import Covariance, GivenCovariance, Pairs
from .precision import SparsePrecision

_TIGHT, _SETTLED = 1e-13, 1e-6
"""Gaps per column if none is asked for: what is tried, and what is enough."""

_PAIRS_PER_COLUMN = 4
"""For a weight chosen here: no more pairs of columns than this per column are above it."""


def sics(
    X: Any = None,
    weight: float | None = None,
    *,
    covariance: Any = None,
    sample_weight: Any = None,
    standardize: bool = False,
    penalize_diagonal: bool = False,
    max_nodes: int = 1000,
    tol: float | None = None,
    max_iterations: int = 10_000,
    cache_dir: str | os.PathLike[str] | None = None,
) -> SparsePrecision:
    """min over T of -log det T + <S, T> + weight sum_{i != j} |T_ij|, S being the covariance of the columns of X.

    The problem separates into the connected components of |S_ij| > weight, found from blocks of S; each is solved by
    alternating directions with one eigendecomposition per iteration, until its duality gap is small. Collinear columns
    are allowed, and so are constant ones, which have no edges.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        None if the covariance is given.
    weight : float, optional
        By default the smallest one that at most 4 d pairs of columns, at most half of all pairs, and no component of
        more than `max_nodes` columns exceed. The authors of SPDPEG used 0.005.
    covariance : array of shape (d, d), optional
        S itself, instead of X.
    sample_weight : array of n numbers, optional
        Weights of the rows; a row of weight 2 counts as two.
    standardize : bool
        Correlations instead of covariances, so that the units of the columns do not matter.
    penalize_diagonal : bool
        Adds weight sum_i |T_ii|, as Scheinberg, Ma and Goldfarb do. By default the diagonal is free, as in
        scikit-learn's `graphical_lasso`.
    max_nodes : int
        Largest component that is accepted; one of m columns takes some 100 m^2 bytes, and m^3 operations per iteration.
    tol : float, optional
        Largest duality gap, per column; one as small as rounding is always enough. By default 1e-13, which is about
        seven digits of T, where Newton's steps get there from what alternating directions found, in components of up
        to 200 columns; 1e-6 elsewhere.
    max_iterations : int
        For each component. Where the gap is not met by then, a warning names it.
    cache_dir : path, optional
        Directory to keep the result in, and to find it in when data and parameters are the same.

    Returns
    -------
    SparsePrecision
        T, its objective and gaps, its edges.

    See Also
    --------
    knn : A graph of nearest neighbours.
    spdpeg.GraphGuidedRegressor : Learns such a graph by default.

    References
    ----------
    Scheinberg, Ma, Goldfarb: Sparse inverse covariance selection via alternating linearization methods. NIPS 2010.
    Mazumder, Hastie: Exact covariance thresholding into connected components for large-scale graphical lasso. Journal
    of Machine Learning Research, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg import graphs
    >>> rng = np.random.default_rng(0)
    >>> first, second = rng.standard_normal((2, 500, 1))
    >>> X = np.hstack([first, second, first, second]) + 0.5 * rng.standard_normal((500, 4))
    >>> graph = graphs.sics(X, weight=0.2)
    >>> graph.edges.tolist()
    [[0, 2], [1, 3]]
    >>> graph.operator()
    GraphDifference(edges=<array (2, 2)>, n_nodes=4)
    """
    _check(weight, max_nodes, tol, max_iterations)
    truth("standardize", standardize)
    truth("penalize_diagonal", penalize_diagonal)
    if (X is None) == (covariance is None) or (X is None and sample_weight is not None):
        raise InputError("Give either X, with sample_weight if there are weights, or covariance.")
    S = Covariance(X, standardize, sample_weight) if X is not None else GivenCovariance(covariance, standardize)
    parameters: dict[str, Any] = {
        "weight": None if weight is None else float(weight),
        "penalize_diagonal": bool(penalize_diagonal),
        "max_nodes": int(max_nodes),
        "tol": None if tol is None else float(tol),
        "max_iterations": int(max_iterations),
    }
    if cache_dir is None:
        return _select(S, **parameters)
    key = cache.key(S.X, S.weights, parameters | {"standardize": bool(standardize)})
    if not isinstance(cache_dir, str | os.PathLike):
        raise InputError(f"cache_dir is {shown(cache_dir)}. Give the name of a directory, or None.")
    path = Path(cache_dir) / f"sics-{key}.npz"
    kept = SparsePrecision.from_arrays(cache.load(path), S.n_columns)
    if kept is not None:
        return kept
    graph = _select(S, **parameters)
    try:
        cache.save(path, graph.arrays())
    except OSError as error:
        warnings.warn(
            f"The graph could not be kept in {os.fspath(cache_dir)} ({error}). It will be computed again next time; "
            "give a cache_dir that can be written.",
            CacheWarning,
            stacklevel=2,
        )
    return graph


def _select(
    S: Covariance, weight: float | None, penalize_diagonal: bool, max_nodes: int, tol: float | None, max_iterations: int
) -> SparsePrecision:
    pairs = _pairs(S, weight, max_nodes)
    weight = pairs.floor
    # With |T_ii| penalised, the problem is the same with the weight on the diagonal of S.
    ridge = weight if penalize_diagonal else 0.0
    variances = S.variances + ridge
    alone = variances > 0.0
    rows, columns, entries, gaps, allowed, objective = [], [], [], [], [], 0.0
    groups = split(pairs, S.n_columns)
    for group in groups:
        block = S.block(group, group)
        np.fill_diagonal(block, variances[group])
        solution = glasso_admm.solve(block, weight, tol or _TIGHT, max_iterations, 0.0 if tol else _SETTLED)
        i, j = np.nonzero(solution.precision)
        rows.append(group[i])
        columns.append(group[j])
        entries.append(solution.precision[i, j])
        gaps.append(solution.gap)
        allowed.append(glasso_admm.enough(tol or _SETTLED, group.size, solution.objective))
        objective += solution.objective
        alone[group] = False
    single = np.flatnonzero(alone)
    objective += float(np.sum(np.log(variances[single]) + 1.0))
    sizes = np.array([group.size for group in groups], dtype=np.int64)
    _warn(sizes, np.array(gaps), np.array(allowed), max_iterations)
    places = (np.concatenate([*rows, single]), np.concatenate([*columns, single]))
    T = sp.csr_array((np.concatenate([*entries, 1.0 / variances[single]]), places), shape=(S.n_columns, S.n_columns))
    return SparsePrecision(T, weight, objective, sizes, np.array(gaps), np.flatnonzero(S.constant))


def _pairs(S: Covariance, weight: float | None, max_nodes: int) -> Pairs:
    """The pairs above the weight, which is the floor of what is returned."""
    d = S.n_columns
    if weight is None:
        pairs = S.strongest_pairs(0.0, min(_PAIRS_PER_COLUMN * d, d * (d - 1) // 4))
        chosen = least_weight(pairs, d, max_nodes)
        # No pair is left out: any weight below the smallest will do.
        return pairs.above(chosen or 0.5 * float(pairs.sizes.min(initial=S.variances.max())))
    # Components of at most max_nodes columns hold no more pairs than this.
    pairs = S.strongest_pairs(weight, d * max_nodes // 2)
    least = least_weight(pairs, d, max_nodes)
    if least > weight:
        raise InputError(
            f"At weight {weight:.3g} the covariance of {d} columns has a component of more than {max_nodes}. "
            f"Raise weight to at least {_rounded_up(least)}, or max_nodes if there is memory and time."
        )
    return pairs


def _rounded_up(value: float) -> str:
    """Three digits that are not below the value."""
    text = f"{value:.2e}"
    return text if float(text) >= value else f"{value + 0.01 * 10 ** np.floor(np.log10(value)):.2e}"


def _warn(sizes: np.ndarray, gaps: np.ndarray, allowed: np.ndarray, max_iterations: int) -> None:
    if np.any(gaps > allowed):
        from sklearn.exceptions import ConvergenceWarning

        worst = int(np.argmax(gaps / allowed))
        warnings.warn(
            f"The duality gap of a component of {sizes[worst]} columns is {gaps[worst] / sizes[worst]:.1e} per column "
            f"after {max_iterations} iterations, above {allowed[worst] / sizes[worst]:.1e}. "
            "Raise max_iterations, weight or tol.",
            ConvergenceWarning,
            stacklevel=4,
        )


def _check(weight: float | None, max_nodes: int, tol: float | None, max_iterations: int) -> None:
    for name, value in {"weight": weight, "tol": tol}.items():
        if value is not None and not 0 < as_number(value) < np.inf:
            raise InputError(f"{name} is {value!r}. It must be a positive number.")
    for name, count in {"max_nodes": max_nodes, "max_iterations": max_iterations}.items():
        whole_number(name, count, least=1)
