"""Groups of coefficients that are 0 together: the group lasso and the sparse group lasso."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..operators import Identity
from ..parameters import as_number, numbers, shown
from ..penalties import L1, GroupL2, Penalty
from .base import weight, weighted
from .classification import LogisticClassifier
from .regression import Regressor


def group_norm(model: Any, n_features: int) -> Penalty | None:
    """lam2 times the norms of the groups; None if that is 0."""
    lam2 = as_number(weight(model, "lam2"))
    if not lam2 >= 0.0:
        raise InputError(
            f"lam2 of {type(model).__name__} is {shown(model.lam2)}. Give one number; group_weights has one for each "
            "group."
        )
    sizes = np.array([members.size for members in members_of(model.groups, n_features)], dtype=float)
    factors = np.sqrt(sizes) if model.group_weights is None else numbers("group_weights", model.group_weights)
    if factors.shape != sizes.shape:
        raise InputError(
            f"group_weights of {type(model).__name__} has shape {factors.shape} and there are {sizes.size} groups. "
            "Give one for each."
        )
    if lam2 == 0.0:
        return None
    if sizes.size == n_features:  # lengths of single numbers, which solvers know better as these
        return L1(lam2 * factors[0] if np.ptp(factors) == 0.0 else _of_features(model.groups, lam2 * factors))
    return GroupL2(lam2 * factors, model.groups)


def _of_features(groups: Any, factors: np.ndarray) -> np.ndarray:
    """Factors of groups of one, in the order of the features."""
    found = np.empty(factors.size)
    found[np.concatenate(members_of(groups, factors.size))] = factors
    return found


def members_of(groups: Any, n_features: int) -> list[np.ndarray]:
    """The features of each group."""
    reals, ints = GroupL2(1.0, 1 if groups is None else groups).pack(n_features)
    starts, order = ints[: reals.size + 1], ints[reals.size + 1 :]
    return np.split(order, starts[1:-1])[: reals.size - 1]


class InGroups:
    """Base of the group models.

    Parameters
    ----------
    groups : int, array of int, list of index lists or None, default=None
        Which features belong together: a block size, one label per feature (a negative one means no group), or the
        features of each group. Features in no group are free of this penalty. None makes each feature a group of its
        own.
    lam2 : float, or "auto", default="auto"
        The larger, the more groups are 0. "auto" takes a hundredth of the largest weight worth trying, kept in `lam2_`.
    group_weights : array with an entry for each group, default=None
        Factors of lam2; None is the square root of the size of a group, so that large groups have no advantage.

    Attributes
    ----------
    active_groups_ : list of arrays
        The features of each group that is not 0, in any class.
    """

    def _operator(self, X: Any, weights: np.ndarray | None) -> Identity:
        return Identity()

    def _derive(self) -> None:
        fitted: Any = self
        used = np.any(np.atleast_2d(fitted.coef_), axis=0)
        self.active_groups_ = [members for members in members_of(fitted.groups, used.size) if used[members].any()]


@dataclass(eq=False, repr=False)
class Grouped(InGroups):
    """The penalty of the group models."""

    groups: Any = None
    lam2: Any = "auto"
    group_weights: Any = None

    def _penalties(self, n_features: int) -> tuple[Penalty | None, Penalty | None]:
        return None, group_norm(self, n_features)


@dataclass(eq=False, repr=False)
class SparseGrouped(InGroups):
    """The penalty of the sparse group models.

    Parameters
    ----------
    lam1 : float or array of shape (n_features,), or "auto", default="auto"
        The larger, the more coefficients are 0, within groups too. "auto" takes a hundredth of the largest weight worth
        trying, kept in `lam1_`.
    """

    groups: Any = None
    lam1: Any = "auto"
    lam2: Any = "auto"
    group_weights: Any = None

    def _penalties(self, n_features: int) -> tuple[Penalty | None, Penalty | None]:
        return weighted(self, "lam1"), group_norm(self, n_features)


@dataclass(eq=False, repr=False)
class GroupLasso(Grouped, Regressor):
    """Group lasso: least squares in which groups of coefficients are 0 together.

    Minimises, over x and the intercept c,

        mean of (<a_i, x> + c - y_i)^2 / 2  +  lam2 sum over groups g of w_g |x_g|_2

    where the mean over the rows a_i counts their weights.

    See Also
    --------
    SparseGroupLasso : Zeros within groups, too.
    GroupLassoClassifier : The same for classes.

    References
    ----------
    Yuan, Lin: Model selection and estimation in regression with grouped variables. Journal of the Royal Statistical
    Society B 68 (2006).

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg.estimators import GroupLasso
    >>> X = np.random.default_rng(0).standard_normal((200, 6))
    >>> model = GroupLasso(groups=2, lam2=0.1, random_state=0).fit(X, X @ [1.0, 2.0, 0.0, 0.0, 0.0, 0.0])
    >>> [group.tolist() for group in model.active_groups_]
    [[0, 1]]
    """


@dataclass(eq=False, repr=False)
class GroupLassoClassifier(Grouped, LogisticClassifier):
    """Logistic regression in which groups of coefficients are 0 together.

    Minimises, over x and the intercept c, with y_i = -1 or +1,

        mean of log(1 + exp(-y_i (<a_i, x> + c)))  +  lam2 sum over groups g of w_g |x_g|_2

    where the mean over the rows a_i counts their weights.

    See Also
    --------
    GroupLasso : The same for numbers.
    SparseGroupLassoClassifier : Zeros within groups, too.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg.estimators import GroupLassoClassifier
    >>> X = np.random.default_rng(0).standard_normal((200, 6))
    >>> model = GroupLassoClassifier(groups=2, lam2=0.05, random_state=0).fit(X, X[:, 0] + X[:, 1] > 0.0)
    >>> [group.tolist() for group in model.active_groups_]
    [[0, 1]]
    """


@dataclass(eq=False, repr=False)
class SparseGroupLasso(SparseGrouped, Regressor):
    """Sparse group lasso: least squares in which groups are 0 together, and single coefficients too.

    Minimises, over x and the intercept c,

        mean of (<a_i, x> + c - y_i)^2 / 2  +  lam1 |x|_1  +  lam2 sum over groups g of w_g |x_g|_2

    where the mean over the rows a_i counts their weights.

    See Also
    --------
    GroupLasso : Without the l1 norm.
    SparseGroupLassoClassifier : The same for classes.

    References
    ----------
    Simon, Friedman, Hastie, Tibshirani: A sparse-group lasso. Journal of Computational and Graphical Statistics 22
    (2013).

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg.estimators import SparseGroupLasso
    >>> X = np.random.default_rng(0).standard_normal((200, 6))
    >>> model = SparseGroupLasso(groups=3, lam1=0.1, lam2=0.05, random_state=0)
    >>> np.flatnonzero(model.fit(X, X @ [1.0, 2.0, 0.0, 0.0, 0.0, 0.0]).coef_).tolist()
    [0, 1]
    """


@dataclass(eq=False, repr=False)
class SparseGroupLassoClassifier(SparseGrouped, LogisticClassifier):
    """Logistic regression in which groups are 0 together, and single coefficients too.

    Minimises, over x and the intercept c, with y_i = -1 or +1,

        mean of log(1 + exp(-y_i (<a_i, x> + c)))  +  lam1 |x|_1  +  lam2 sum over groups g of w_g |x_g|_2

    where the mean over the rows a_i counts their weights.

    See Also
    --------
    SparseGroupLasso : The same for numbers.
    GroupLassoClassifier : Without the l1 norm.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg.estimators import SparseGroupLassoClassifier
    >>> X = np.random.default_rng(0).standard_normal((200, 6))
    >>> model = SparseGroupLassoClassifier(groups=3, lam1=0.02, lam2=0.02, random_state=0)
    >>> model.fit(X, X[:, 0] > 0.0).score(X, X[:, 0] > 0.0) > 0.9
    True
    """
