"""Times until an event, of which some were not seen: Cox regression."""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError, UnsupportedError
from ..exact.cox import Cox
from ..graphs import structure as structures
from ..kernels.survival import concordance
from ..operators import Operator
from ..parameters import is_dask, numbers, refuse_dask
from . import fitting, inputs
from .base import Estimator
from .fused import Fused

_FORMS = (
    "Give an array or data frame with two columns, times and events (1, or 0 for a row that was censored), or a "
    "structured array with a field of truth values for the events and one of numbers for the times, or times alone if "
    "all rows had their event."
)


def outcome(y: Any) -> np.ndarray:
    """Times and events, as two columns of numbers.

    Parameters
    ----------
    y
        As in `fit` of `FusedCoxRegression`.

    Returns
    -------
    array of shape (n_samples, 2)
    """
    if y is None:
        raise InputError(f"A Cox model requires y to be passed, but the target y is None. {_FORMS}")
    kind = getattr(y, "dtype", None)
    if getattr(kind, "kind", None) == "c":
        raise InputError(f"Complex data not supported in y. {_FORMS}")
    names = getattr(kind, "names", None)
    if names is not None:
        events = [name for name in names if y[name].dtype.kind == "b"]
        if len(names) != 2 or len(events) != 1:
            raise InputError(f"y is a structured array with the fields {', '.join(names)}. {_FORMS}")
        times = names[1 - names.index(events[0])]
        table = np.column_stack([numbers("y", y[times]), y[events[0]]])
    else:
        table = numbers("y", y)
        if table.ndim == 1:
            table = np.column_stack([table, np.ones(table.size)])
    if table.ndim != 2 or table.shape[1] != 2:
        raise InputError(f"y has shape {table.shape}. {_FORMS}")
    times, events = table.T
    odd = events[(events != 0.0) & (events != 1.0)]
    if odd.size:
        raise InputError(f"Events in y, its second column, hold {odd[0]:g}, which is neither 0 nor 1. {_FORMS}")
    wrong = times[~(np.isfinite(times) & (times >= 0.0))]
    if wrong.size:
        raise InputError(f"Times in y hold {wrong[0]:g}. Repair or drop rows whose times are missing or negative.")
    return table


def missed(model: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Half the deviance of rows held out over their weight, by which weights are chosen; 0 without any event."""
    table, scores = outcome(y), model._scores(X)
    weights = np.ones(len(table)) if sample_weight is None else numbers("sample_weight", sample_weight)
    used = weights > 0.0
    if not table[used, 1].any():
        return 0.0
    return Cox(scores[used, None], table[used, 0], table[used, 1], weights[used]).loss(np.ones(1))


@dataclass(eq=False, repr=False)
class FusedCoxRegression(Fused, Estimator):
    """Cox regression with coefficients that are sparse and equal for neighbouring features: survival analysis.

    The hazard of an event, of a row a at time t, is h(t) exp(<a, x>), with any h. Minimises

        1/W sum over events i of w_i ( log( sum over j at risk of w_j exp(<a_j, x>) / d_i ) - <a_i, x> )
        +  lam1 sum_j |x_j|  +  lam2 sum over neighbours (j, k) of |x_j - x_k|

    where w are the weights of the rows and W is their sum. At risk at an event are the rows whose times are not before
    it; d_i is the weight of all events at the same time (Breslow's ties). The loss is half the partial deviance over W.
    An intercept would cancel, so that there is none. All rows are in memory, and there are at most 5,000 features, or
    rows times features are at most 25 million.

    Parameters
    ----------
    lam2 : float or array with an entry for each pair of neighbours, or "auto", default="auto"
        The larger, the more neighbouring coefficients are equal. "auto" takes a hundredth of the largest weight worth
        trying, which `lam2_` tells.
    structure : str, tuple, sparse matrix, array, networkx graph or Operator, default="chain"
        Which features are neighbours. "chain": columns beside each other; "knn": each column and the 5 with the most
        similar direction; "sics": sparse inverse covariance selection; a tuple of ints: the shape of a grid; a sparse
        symmetric matrix: the weights of edges; a list of pairs (i, j) or triples (i, j, weight): edges between column
        numbers; a networkx graph over the names or numbers of the columns; an operator: F itself.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Logarithms of hazard ratios.
    intercept_ : float
        0.
    event_times_ : array of shape (n_times,)
        At which there were events, in rising order.
    log_hazards_ : array of shape (n_times,)
        Logarithms of `baseline_hazard_`, which are numbers even where it is none.
    n_events_ : float
        Weight of all events.

    See Also
    --------
    FusedCoxRegressionCV : Choose lam1 and lam2 by cross-validation.
    FusedLasso : Numbers instead of times.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg.estimators import FusedCoxRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((500, 6))
    >>> times = rng.exponential(np.exp(-X @ [0.0, 0.0, 1.0, 1.0, 1.0, 0.0]))
    >>> ends = rng.exponential(2.0, 500)  # of the study
    >>> y = np.column_stack([np.minimum(times, ends), times <= ends])
    >>> model = FusedCoxRegression(lam1=0.02, lam2=0.08, random_state=0).fit(X, y)
    >>> [(start, stop, round(value, 1)) for start, stop, value in model.segments_]
    [(0, 2, 0.0), (2, 5, 0.7), (5, 6, 0.2)]
    >>> model.score(X, y) > 0.8
    True
    """

    structure: Any = "chain"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to all rows, up to `tol`.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array or data frame of shape (n_samples, 2), or structured array of shape (n_samples,)
            The first column tells when a row was last seen, in any unit, the second whether it had its event then: 1,
            or 0 if it was censored. Or a structured array as scikit-survival has it, with a field of truth values for
            the events and one of numbers for the times. Times alone, of shape (n_samples,), are all events.
        sample_weight : array of shape (n_samples,), optional
            Weight k equals k copies of a row; weight 0 drops it.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def predict(self, X: Any) -> np.ndarray:
        """Logarithms of hazards, relative to that of a row of zeros: the higher, the earlier the event.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        refuse_dask("X", X)
        return self._scores(X)

    def predict_survival(self, X: Any, times: Any = None) -> np.ndarray:
        """Probabilities that the event of a row comes later than each of some times, by Breslow's estimator.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        times : array of shape (n_times,), optional
            `event_times_` by default. After the last of these, probabilities stay what they are there.

        Returns
        -------
        array of shape (n_samples, n_times)
        """
        scores = self.predict(X)
        cumulative = np.append(-np.inf, np.logaddexp.accumulate(self._log_hazards()))
        if times is None:
            places = np.arange(1, cumulative.size)
        else:
            wanted = np.atleast_1d(numbers("times", times))
            if wanted.ndim != 1 or np.any(np.isnan(wanted)):
                raise InputError(
                    "times are no list of numbers. Give those at which you want to know the probabilities."
                )
            places = np.searchsorted(self.event_times_, wanted, side="right")
        with np.errstate(over="ignore"):  # no chance at all
            return np.asarray(np.exp(-np.exp(scores[:, None] + cumulative[places])))

    @property
    def baseline_hazard_(self) -> np.ndarray:
        """Jumps of the cumulative hazard of a row of zeros at `event_times_`: Breslow's estimator."""
        check_is_fitted(self)
        return np.exp(self._log_hazards())

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Harrell's concordance index: how often the row with the higher predicted hazard has the earlier event.

        It counts the pairs of rows that can be compared: one has its event before the other's time, or at it if the
        other is censored then. Equal predictions count half.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : as in `fit`
        sample_weight : array of shape (n_samples,), optional
            A pair has the product of its weights.

        Returns
        -------
        float
            1 at best, 0.5 for guesses.
        """
        times, events = outcome(y).T
        scores = self.predict(X)
        if times.size != scores.size:
            raise InputError(f"X has {scores.size} rows and y {times.size}. Give as many.")
        weights = np.ones(times.size) if sample_weight is None else inputs.checked_weights(sample_weight, scores)
        order = np.lexsort((events, -times))  # the last first, and censored rows before events
        rows = np.flatnonzero(events[order])
        place = np.stack([-times[order], events[order]])
        first = np.r_[True, np.any(place[:, 1:] != place[:, :-1], axis=0)]  # of equal times and kinds
        outlived = np.maximum.accumulate(np.where(first, np.arange(times.size), 0))[rows]
        _, ranks = np.unique(scores[order], return_inverse=True)
        agree, every = concordance(ranks + 1, weights[order], rows, outlived, np.zeros(ranks.size + 1))
        if not every > 0.0:
            raise InputError("No two rows of y can be compared: none has its event before another's time. Give more.")
        return agree / every

    @property
    def bic_(self) -> Any:
        """The Bayesian information criterion, with the number of events for that of the rows."""
        return self._criterion(math.log(max(self.n_events_, 1.0)))

    def _criterion(self, price: float) -> Any:
        return 2.0 * self._spoken() * self._mean_loss(0) + price * self._freedom(0)

    def _operator(self, X: Any, weights: np.ndarray | None) -> Operator:
        return structures.resolve(self.structure, X, weights, getattr(self, "feature_names_in_", None))

    def _rows(self, X: Any, y: Any, sample_weight: Any, offset: Any = None) -> fitting.Data:
        if offset is not None:
            raise UnsupportedError(f"{type(self).__name__} takes no offset. Leave it out.")
        if is_dask(X):
            raise UnsupportedError(f"{type(self).__name__} needs all rows in memory for this fit. Call X.compute().")
        fitting.in_memory(self, inputs.found(X), "Take a part of them that fits.")
        X, table, weights = self._checked(X, outcome(y), sample_weight, True, y_numeric=True, multi_output=True)
        if not np.any(table[:, 1]):
            raise InputError("No row of y has an event, so that nothing can be learned. Events are 1, censored rows 0.")
        with np.errstate(over="ignore"):  # weights may be in any unit
            self.n_events_ = float(table[:, 1].sum() if weights is None else table[:, 1] @ weights)
        return fitting.Data(X, [table], weights)

    def _joint(self, data: fitting.Data) -> Cox:
        return Cox(data.X, data.targets[0][:, 0], data.targets[0][:, 1], data.weights)

    def _shaped(self, coef: np.ndarray, intercept: np.ndarray) -> tuple[np.ndarray, float]:
        return coef[0], 0.0

    def _conclude(self, plan: fitting.Plan, details: bool) -> None:
        joint = plan.joint
        assert isinstance(joint, Cox)
        self.event_times_ = joint.times[::-1].copy()
        self.log_hazards_ = joint.log_hazards(self.coef_.astype(float))[::-1].copy()

    def _log_hazards(self) -> np.ndarray:
        found: np.ndarray | None = self.log_hazards_
        if found is None:
            raise UnsupportedError(
                f"{type(self).__name__} comes from a path, which keeps coefficients and no hazards. Fit it with its "
                "weights."
            )
        return found
