"""The one call: a noisy signal, image or graph in, pieces out."""

import math
import warnings
from typing import Any

import numpy as np

from ..errors import InputError
from ..parameters import as_number, numbers, one_of, shown, whole_number
from ..sums.threads import using
from .choose import CRITERIA, choose
from .denoised import Denoised
from .fit import fit, tolerance_for
from .signal import Signal, as_signal


def denoise(
    y: Any,
    lam2: Any,
    lam1: float = 0.0,
    *,
    order: int = 1,
    structure: Any = None,
    weights: Any = None,
    isotropic: bool = False,
    sigma: float | None = None,
    folds: int = 5,
    tol: float | None = None,
) -> Denoised:
    """Take the noise out of a signal, an image, a volume or values on a graph.

    Minimises over x

        1/2 sum_i w_i (x_i - y_i)^2  +  lam1 sum_i |x_i|  +  lam2 sum_j |(F x)_j|

    a sum, not a mean, as R's flsa and genlasso have it. F takes differences of neighbours: along the line, along all
    axes of an image or a volume, or along the edges of a graph. So x is made of pieces of equal values. With `order` 2
    and more the pieces are straight lines, parabolas and so on (trend filtering).

    Parameters
    ----------
    y : array of any shape
        A vector is a signal, a matrix an image, an array with three axes a volume. NaN means missing, and
        so does what a masked array hides. If it holds float32, so does the solution.
    lam2 : float, array with an entry for each row of F, or {"cv", "sure", "bic"}
        The larger, the fewer pieces. "cv" chooses by cross-validation, where each fold holds out every fifth value;
        "sure" by Stein's unbiased estimate of the risk; "bic" by the Bayesian information criterion, which prefers
        fewer pieces.
    lam1 : float, default=0
        The larger, the more values are 0.
    order : int, default=1
        For signals: 1 for piecewise constant, 2 for piecewise linear, 3 for piecewise quadratic curves.
    structure : sparse matrix, array, networkx graph, tuple or Operator, optional
        What is connected, if not the neighbours in y: a symmetric sparse matrix of weights of edges, pairs
        (i, j) or triples (i, j, weight), a networkx graph, the shape of a grid, or F as an operator or as a sparse
        matrix that is not square.
    weights : array of the shape of y, optional
        How much each value counts, such as one over its variance; 0 is the same as missing.
    isotropic : bool, default=False
        For images and volumes: penalise the lengths of the gradients instead of their entries, so that slanted edges
        cost no more than others.
    sigma : float, optional
        Standard deviation of the noise of values of weight 1, for "sure" and "bic". By default it is estimated from the
        median of |F y|.
    folds : int, default=5
        For "cv".
    tol : float, optional
        Relative duality gap to reach: by default 1e-6, and 1e-4 for images and graphs of more than 5,000 values.
        Signals of order 1 are solved exactly whatever it is.

    Returns
    -------
    Denoised
        `x`, `segments`, `n_pieces`, `df`, `certificate`, `plot()`.

    See Also
    --------
    spdpeg.FusedLasso : The same penalty on the coefficients of a regression.
    spdpeg.TrendFilter : Positions that are not evenly spaced, and `predict` between them.

    Notes
    -----
    Signals of order 1 take a time proportional to their length (Johnson's dynamic program, also with weights and lam1),
    and so does each weight that is tried. Large images take accelerated steps in the dual unless `tol` is below
    1e-5; all else goes to `spdpeg.solve`, which finds images and values on graphs exactly, by minimum cuts.

    References
    ----------
    Johnson: A dynamic programming algorithm for the fused lasso and L0-segmentation. Journal of Computational and
    Graphical Statistics 22 (2013).
    Tibshirani, Taylor: Degrees of freedom in lasso problems. Annals of Statistics 40 (2012).

    Examples
    --------
    >>> import spdpeg
    >>> found = spdpeg.denoise([0.1, -0.1, 0.0, 3.1, 2.9, 3.0, float("nan"), 3.0], lam2=0.3)
    >>> found.x.round(2).tolist()
    [0.1, 0.1, 0.1, 2.92, 2.92, 2.92, 2.92, 2.92]
    >>> [(start, stop) for start, stop, value in found.segments]
    [(0, 3), (3, 8)]
    >>> found.certificate.rel_gap < 1e-12
    True
    """
    signal = as_signal(y, lam1, order, structure, weights, isotropic)
    if tol is None:
        tol = tolerance_for(signal)
    elif not 0.0 < as_number(tol) < math.inf:
        raise InputError(f"tol is {shown(tol)}. It must be a positive number.")
    if isinstance(lam2, str):
        one_of("lam2", lam2, CRITERIA)
        if sigma is not None and not 0.0 < as_number(sigma) < math.inf:
            raise InputError(f"sigma is {shown(sigma)}. Give a positive number, or None.")
        with using(1):
            choice, found = choose(signal, lam2, sigma, whole_number("folds", folds, least=2), tol)
            lam2 = choice.best
            if found is None:
                found = fit(signal, lam2, tol)
        if choice.at_edge:
            warnings.warn(
                f"The best lam2, {lam2:.3g}, is the smallest that was tried. The values may hold hardly any noise; try "
                "smaller ones by hand.",
                UserWarning,
                stacklevel=2,
            )
    else:
        choice, lam2 = None, _weight(lam2, signal)
        with using(1):
            found = fit(signal, lam2, tol)
    if found.certificate.met is None:
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(
            f"denoise ended with a relative duality gap of {found.certificate.rel_gap:.2g} where tol is {tol:g}. "
            "Raise tol, or lower lam2.",
            ConvergenceWarning,
            stacklevel=2,
        )
    single = getattr(y, "dtype", None) == np.float32
    return Denoised(signal, found, lam2, choice, np.dtype(np.float32 if single else np.float64))


def _weight(lam2: Any, signal: Signal) -> Any:
    """lam2 as a number or an array that fits F."""
    found = numbers("lam2", lam2)
    rows = signal.F.n_outputs
    fits = found.ndim == 0 or (found.shape == (rows,) and signal.groups is None)
    if not fits or not np.all(np.isfinite(found)) or np.any(found < 0.0):
        raise InputError(
            f"lam2 is {shown(lam2)}. Give a finite number of at least 0, one for each of the {rows} rows of F, or one "
            f"of {', '.join(CRITERIA)}."
        )
    return float(found) if found.ndim == 0 else found
