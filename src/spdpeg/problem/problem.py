"""The problem that users make: data, loss, penalties and operator put together and checked once."""

import math
from typing import Any

import numpy as np

from .. import losses, penalties
from ..certificate import Certificate, certify
from ..data import CSR, Source, Stream, as_source
from ..errors import InputError
from ..losses import Loss
from ..operators import as_operator
from ..parameters import as_number, is_dask, numbers, require_parts, shown
from ..penalties import Penalty
from ..view import Partitions, View
from ..view.regularization import Regularization
from ..view.rows import LabelledRows


class Problem:
    """min over x in X of  E[l(x, xi)] + r1(x) + r2(F x).

    With data of N rows a_i, labels b_i and weights w_i the expectation is
    (1 / sum w) sum_i w_i phi(<a_i, x>, b_i); with a stream it is the mean over what the stream yields.

    Parameters
    ----------
    X : array, sparse matrix, data frame, memory map, source, stream of (X chunk, y chunk), dask collection, or None
        Rows of a dask array or data frame stay on the workers of the active client, and so do y and sample_weight. None
        means that there is no smooth loss: the data may then sit in F (exact hinge and quantile losses do so).
    y : array, optional
        Labels; two classes of any kind for classification losses (the larger one is positive), numbers otherwise.
        A stream brings its own.
    loss : Loss
    r1, r2 : Penalty, optional
    F : Operator, sparse matrix or array, optional
        The identity by default.
    domain : Penalty, optional
        A convex set that x must stay in; refused where prox of r1 plus the set has no exact closed form.
    sample_weight : array, optional
        Non-negative; weight k equals k copies of a row.
    intercept : bool or float
        Give x one more coordinate, the last, that no penalty, set or operator sees: the coefficient of a column that
        holds `bias` in every row. True chooses the bias so that the column is as long as the data's rows, which gives
        the intercept a step of its own; a number is taken as it is. `split` and `join` convert.
    offset : array, optional
        Numbers added to the margins <a_i, x>, as of a column with the coefficient 1; for losses of numbers.

    Attributes
    ----------
    loss, r1, r2, F, domain
        The terms, as given or as their defaults; F without rows where r2 is zero.
    n_samples : int or None
        Rows of X; None for a stream.
    n_features, n_coordinates : int
        Columns of X; length of x, which is one more with an intercept.
    bias : float
        What the column of the intercept holds; 0 if there is none.
    classes : array of two labels, or None
        Negative and positive class.
    view : View
        What a method sees of the problem.

    See Also
    --------
    solve : Minimises it.
    spdpeg.estimators : Models with fit and predict.

    Examples
    --------
    >>> import numpy as np, spdpeg
    >>> from spdpeg import losses, operators, penalties
    >>> problem = spdpeg.Problem(np.eye(3), [1, 0, 1], loss=losses.Logistic(), r1=penalties.L1(0.1),
    ...                          r2=penalties.L1(0.1), F=operators.FirstDifference())
    >>> round(problem.objective(np.zeros(3)), 6)
    0.693147
    """

    def __init__(
        self,
        X: Any,
        y: Any = None,
        loss: Loss | None = None,
        r1: Penalty | None = None,
        r2: Penalty | None = None,
        F: Any = None,
        domain: Penalty | None = None,
        sample_weight: Any = None,
        intercept: bool | float = False,
        offset: Any = None,
    ) -> None:
        loss = _checked_loss(loss, X)
        if is_dask(X):
            X, y, sample_weight = Partitions(X, y, sample_weight, loss), None, None
        source = _as_source(X, F)
        has_intercept = _checked_bias(intercept) != 0.0
        terms = _checked_penalty("r1", r1), _checked_penalty("r2", r2), F
        penalty = Regularization(*terms, domain, source.n_features, has_intercept)
        rows = LabelledRows(source, loss, y, sample_weight, intercept, offset)
        self._set_view(View(rows, penalty))

    def _set_view(self, view: View) -> None:
        self.view = view
        self.loss, self.r1, self.r2, self.F = view.loss, view.penalty.r1, view.r2, view.F
        self.domain = view.penalty.domain
        rows = view.rows
        self.n_samples, self.n_features, self.n_coordinates = rows.n_samples, rows.n_features, rows.n_coordinates
        self.bias, self.classes = rows.bias, rows.classes

    def with_penalties(self, r1: Penalty | None = None, r2: Penalty | None = None, F: Any = None) -> "Problem":
        """The same data, loss, domain and intercept under other penalties; the data are shared and not read again.

        Parameters
        ----------
        r1, r2 : Penalty, optional
            None is no penalty.
        F : operator or matrix, optional
            The identity by default.

        Returns
        -------
        Problem

        Examples
        --------
        >>> import numpy as np, spdpeg
        >>> from spdpeg import losses, penalties
        >>> ridge = spdpeg.Problem(np.eye(3), [1.0, 2.0, 3.0], loss=losses.Squared(), r1=penalties.L2Squared(0.1))
        >>> lasso = ridge.with_penalties(penalties.L1(0.1))
        >>> round(lasso.objective(np.ones(3)) - ridge.objective(np.ones(3)), 6)
        0.15
        """
        penalty = self.view.penalty.with_terms(_checked_penalty("r1", r1), _checked_penalty("r2", r2), F)
        other = Problem.__new__(Problem)
        other._set_view(self.view.with_penalty(penalty))
        return other

    def objective(self, x: Any) -> float:
        """E[l] + r1(x) + r2(F x); infinite outside the domain.

        Parameters
        ----------
        x : array of shape (n_coordinates,)

        Returns
        -------
        float

        Examples
        --------
        >>> import numpy as np, spdpeg
        >>> from spdpeg import losses, penalties
        >>> problem = spdpeg.Problem(np.eye(2), [1.0, 2.0], loss=losses.Squared(), r1=penalties.L1(0.5))
        >>> problem.objective([0.0, 1.0])
        1.0
        """
        return self.view.objective(as_point(x, self.n_coordinates))

    def penalty_value(self, x: Any) -> float:
        """r1(x) + r2(F x), which is the objective without the loss; infinite outside the domain.

        Parameters
        ----------
        x : array of shape (n_coordinates,)

        Returns
        -------
        float

        Examples
        --------
        >>> import numpy as np, spdpeg
        >>> from spdpeg import losses, penalties
        >>> problem = spdpeg.Problem(np.eye(2), [1.0, 2.0], loss=losses.Squared(), r1=penalties.L1(0.5))
        >>> problem.penalty_value([0.0, 1.0])
        0.5
        """
        return self.view.penalty.value(as_point(x, self.n_coordinates))

    def gradient(self, x: Any) -> np.ndarray:
        """Gradient of the mean loss at x.

        Parameters
        ----------
        x : array of shape (n_coordinates,)

        Returns
        -------
        array of shape (n_coordinates,)

        Examples
        --------
        >>> import numpy as np, spdpeg
        >>> from spdpeg import losses, penalties
        >>> problem = spdpeg.Problem(np.eye(2), [1.0, 2.0], loss=losses.Squared(), r1=penalties.L1(0.5))
        >>> problem.gradient([0.0, 1.0]).tolist()
        [-0.5, -0.5]
        """
        return self.view.gradient(as_point(x, self.n_coordinates))

    def certificate(self, x: Any, dual: Any, slopes: Any = None) -> Certificate:
        """Lower bound, duality gap and optimality residual at (x, dual), as `result.x` and `result.dual`.

        Parameters
        ----------
        x : array of shape (n_coordinates,)
        dual : array with an entry for each row of F
            lambda, of which -lambda is near a subgradient of r2 at F x.
        slopes : array of shape (n_samples,), optional
            Derivatives of the loss, one for each row, within the domain of its conjugate. For a non-smooth loss give
            `result.slopes`, which x does not determine.

        Returns
        -------
        Certificate

        Examples
        --------
        >>> import numpy as np, spdpeg
        >>> from spdpeg import losses, penalties
        >>> problem = spdpeg.Problem(np.eye(2), [1.0, 2.0], loss=losses.Squared(), r1=penalties.L1(0.5))
        >>> problem.certificate([0.0, 1.0], []).gap
        0.0
        """
        self.view.rows.require_finite_sum("certificate")
        multiplier = numbers("dual", dual)
        if multiplier.shape != (self.F.n_outputs,):
            raise InputError(f"dual has shape {multiplier.shape}. F has {self.F.n_outputs} rows.")
        if slopes is not None:
            slopes = numbers("slopes", slopes)
            if slopes.shape != (self.n_samples,):
                raise InputError(f"slopes has shape {slopes.shape}. The problem has {self.n_samples} rows.")
        return certify(self.view, as_point(x, self.n_coordinates), multiplier, slopes=slopes)

    def split(self, x: Any) -> tuple[np.ndarray, float]:
        """Coefficients of the features and intercept, from x.

        Parameters
        ----------
        x : array of shape (n_coordinates,)

        Returns
        -------
        coefficients : array of shape (n_features,)
        intercept : float
            0 if the problem has none.

        See Also
        --------
        join : The other way round.

        Examples
        --------
        >>> import numpy as np, spdpeg
        >>> problem = spdpeg.Problem(np.eye(2), [1.0, 2.0], loss=spdpeg.losses.Squared(), intercept=True)
        >>> coefficients, intercept = problem.split(problem.join([1.0, 2.0], 3.0))
        >>> coefficients.tolist(), round(intercept, 9)
        ([1.0, 2.0], 3.0)
        """
        point = as_point(x, self.n_coordinates)
        return point[: self.n_features].copy(), float(self.bias * point[-1]) if self.bias else 0.0

    def join(self, coefficients: Any, intercept: float = 0.0) -> np.ndarray:
        """x, from coefficients of the features and intercept.

        Parameters
        ----------
        coefficients : array of shape (n_features,)
        intercept : float, default=0.0

        Returns
        -------
        array of shape (n_coordinates,)

        See Also
        --------
        split : The other way round.

        Examples
        --------
        >>> import numpy as np, spdpeg
        >>> problem = spdpeg.Problem(np.eye(2), [1.0, 2.0], loss=spdpeg.losses.Squared())
        >>> problem.join([1.0, 2.0]).tolist()
        [1.0, 2.0]
        """
        if not math.isfinite(as_number(intercept)):
            raise InputError(f"intercept is {shown(intercept)}. Give a finite number.")
        if self.bias == 0.0:
            if intercept != 0.0:
                raise InputError(f"intercept is {intercept} but the problem has none. Build it with intercept=True.")
            return as_point(coefficients, self.n_coordinates).copy()
        x = np.append(numbers("coefficients", coefficients), intercept / self.bias)
        return as_point(x, self.n_coordinates)

    def __repr__(self) -> str:
        rows = "a stream of rows" if self.n_samples is None else f"{self.n_samples} rows"
        return (
            f"Problem({rows}, {self.n_coordinates} coordinates, {self.loss!r}, r1={self.r1!r}, r2={self.r2!r}, "
            f"F={self.F!r})"
        )


def as_point(x: Any, n_coordinates: int) -> np.ndarray:
    """x as a vector of this length that compiled code takes; a copy only where it must be."""
    fitting = isinstance(x, np.ndarray) and x.dtype == np.float64
    point = np.ascontiguousarray(x) if fitting else numbers("x", x)
    if point.shape != (n_coordinates,):
        raise InputError(f"x has shape {point.shape}. The problem has {n_coordinates} coordinates.")
    # Kernels are compiled once, for writable vectors; a read-only x is copied rather than compiled for.
    return point if point.flags.writeable else point.copy()


def _checked_loss(loss: Any, X: Any) -> Loss:
    """A loss of this package or a whole one of the user's; none is needed where there are no data."""
    if loss is None and X is None:
        return losses.Zero()
    if isinstance(loss, Loss):
        require_parts(loss, Loss, ("curvature", "kernel_value", "kernel_derivative"))
        loss.pack()  # refuses parameters that make no sense
    else:
        raise InputError(
            f"loss is {shown(loss)}. Give one of spdpeg.losses, such as losses.Logistic() or losses.Squared()."
        )
    return loss


def _checked_penalty(name: str, penalty: Any) -> Penalty:
    """A penalty of this package or a whole one of the user's; none is that of value 0."""
    if penalty is None:
        return penalties.Zero()
    if not isinstance(penalty, Penalty):
        raise InputError(
            f"{name} is {shown(penalty)}. Give one of spdpeg.penalties, such as penalties.L1(0.01), or None."
        )
    require_parts(penalty, Penalty, ("value", "pack", "kernel_prox"))
    return penalty


def _checked_bias(intercept: Any) -> float:
    """The number in every row of the intercept's column, 1 until the data are measured; 0 for no intercept."""
    if isinstance(intercept, bool | np.bool_):
        return float(intercept)
    if not 0.0 < as_number(intercept) < math.inf:
        raise InputError(
            f"intercept is {shown(intercept)}. Give True, False or the positive number its column shall hold."
        )
    return float(intercept)


def _as_source(X: Any, F: Any) -> Source | Stream:
    if X is not None:
        return as_source(X)
    width = None if F is None else as_operator(F).known_inputs
    if width is None:
        raise InputError("X is None, so F must say how long x is. Give F as a matrix or bind the operator first.")
    empty = np.zeros(0)
    return CSR(empty, np.zeros(0, dtype=np.int32), np.zeros(2, dtype=np.int32), width)
