"""The problem: data, loss, penalties and operator put together, checked once, scaled in one place."""

import copy
import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import penalties
from ..certificate import Certificate, certify
from ..certificate.slopes import MOST_FREE, best_constant
from ..data import CSR, Block, Source, Stream, Tables, as_source
from ..data.base import no_weights
from ..data.selection import pieces
from ..data.stream import Chunk
from ..errors import InputError, UnsupportedError
from ..kernels.jit import CHUNK, as_reals
from ..kernels.rows import gradient_sum, sum_chunks
from ..kernels.terms import Terms
from ..lazy import is_dask
from ..losses import Loss
from ..operators import Empty, Identity, Operator, Repeated, as_operator
from ..parameters import as_number, numbers, require_parts, shown
from ..penalties import Penalty, SeparableSum, constrain
from ..sums import FarSums, LocalSums, RowStatistics, Sums
from ..sums.moments import Moments, Quadratic
from ..sums.portions import Read
from .checks import checked_bias, checked_loss, checked_penalty
from .gram_norm import gram_norm, rough_gram_norm
from .kept_moments import KeptMoments
from .labels import AT_A_TIME, as_labels, as_numbers, as_signs, classes_of_stream, shifted, two_classes
from .partitions import Partitions, Positive
from .weights import checked_weights, normalized

_SAMPLED_ROWS = 10_000
"""Rows that stand for all of them where those are read from far away."""


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

    Examples
    --------
    >>> import numpy as np, spdpeg
    >>> from spdpeg import losses, operators, penalties
    >>> problem = spdpeg.Problem(np.eye(3), [1, 0, 1], loss=losses.Logistic(), r1=penalties.L1(0.1),
    ...                          r2=penalties.L1(0.1), F=operators.FirstDifference())
    >>> round(problem.objective(np.zeros(3)), 6)
    0.693147
    """

    _first_chunk: Chunk | None = None
    """Of a stream: it makes `block`, and was checked with it."""

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
        self.loss = checked_loss(loss, X)
        if is_dask(X):
            X, y, sample_weight = Partitions.of(X, y, sample_weight, self.loss), None, None
        self.domain = domain
        self.classes: np.ndarray | None = None
        self.source = self._make_source(X, F)
        self.n_features = self.source.n_features
        self.bias = checked_bias(intercept)
        self.n_coordinates = self.n_features + int(self.bias != 0.0)
        self._set_penalties(r1, r2, F)
        if isinstance(self.source, Stream):
            if y is not None or sample_weight is not None or offset is not None:
                raise InputError(
                    "X is a stream and brings its labels and weights itself. Leave y, sample_weight and offset out."
                )
            self.n_samples: int | None = None
            chunk = self._first_chunk = self.source.peek()
            if self.loss.binary:
                self.classes = classes_of_stream(chunk[1], self.source.classes)
            self._block: Block | None = self.encode(*chunk)
        elif isinstance(self.source, Partitions):
            if offset is not None:
                raise UnsupportedError("offset is given, and X lives on a cluster, where rows have none. Leave it out.")
            self.n_samples, self._block = self.source.n_samples, None
            self._positive = self._positive_class(self.source, y)
        else:
            self.n_samples = self.source.n_samples
            self._labels = self._encode_labels(self.source.labels if y is None else y)
            self._weights = normalized(sample_weight, self.source.n_samples)
            if offset is not None:
                self._labels, self._weights = shifted(self.loss, self._labels, self._weights, offset)
            self._block = None
            if not isinstance(self.source, Tables):
                self._block = Block(self.source.rows._replace(bias=self.bias), self._labels, self._weights)
        if isinstance(intercept, bool | np.bool_) and intercept:
            self._choose_bias()
        if self._block is not None and not self.on_disk:  # rows on a disk are checked when they are first read
            self.check_block(self._block)
        self._moments = KeptMoments()

    def with_penalties(self, r1: Penalty | None = None, r2: Penalty | None = None, F: Any = None) -> "Problem":
        """The same data, loss, domain and intercept under other penalties; the data are shared and not read again.

        Examples
        --------
        >>> import numpy as np, spdpeg
        >>> from spdpeg import losses, penalties
        >>> ridge = spdpeg.Problem(np.eye(3), [1.0, 2.0, 3.0], loss=losses.Squared(), r1=penalties.L2Squared(0.1))
        >>> lasso = ridge.with_penalties(penalties.L1(0.1))
        >>> round(lasso.objective(np.ones(3)) - ridge.objective(np.ones(3)), 6)
        0.15
        """
        other = copy.copy(self)
        for name in ("fused", "joint_penalty", "free_directions"):  # what is kept for later use and depends on them
            vars(other).pop(name, None)
        other._set_penalties(r1, r2, F)
        return other

    # ------------------------------------------------------------------------------------------------ evaluation

    def objective(self, x: Any) -> float:
        """E[l] + r1(x) + r2(Fx); infinite outside the domain."""
        point = self._point(x)
        return self.loss_value(point) + self.penalty_value(point)

    def penalty_value(self, x: np.ndarray) -> float:
        """r1(x) + r2(F x); infinite outside the domain."""
        if self.joint_penalty is not None:
            return self.joint_penalty.value(x)
        return self.regularizer.value(x) + self.r2.value(self.F.forward(x))

    def loss_value(self, x: np.ndarray, block: Block | None = None) -> float:
        """Mean loss at x over the data, or over one block of a stream."""
        if block is None:
            self._require_finite_sum("objective and loss")
            if not x.any():
                return self.loss_at_zero
            return self.sums.loss(x)
        return LocalSums.of(block, self.loss).loss(x)

    def gradient(self, x: Any) -> np.ndarray:
        """Gradient of the mean loss at x."""
        self._require_finite_sum("gradient")
        point = self._point(x)
        if self._block is None:
            return self.sums.evaluate(point).gradient
        out = np.empty(self.n_coordinates)
        rows, labels, weights = self._block
        gradient_sum(rows, labels, weights, self.loss.derivative_term, point, out)
        out /= labels.size
        return out

    def certificate(self, x: Any, dual: Any, slopes: Any = None) -> Certificate:
        """Lower bound, duality gap and optimality residual at (x, dual), as `result.x` and `result.dual`.

        For a non-smooth loss `result.slopes` tells what x does not; they must lie in the domain of its conjugate.
        """
        self._require_finite_sum("certificate")
        multiplier = numbers("dual", dual)
        if multiplier.shape != (self.F.n_outputs,):
            raise InputError(f"dual has shape {multiplier.shape}. F has {self.F.n_outputs} rows.")
        if slopes is not None:
            slopes = numbers("slopes", slopes)
            if slopes.shape != (self.n_samples,):
                raise InputError(f"slopes has shape {slopes.shape}. The problem has {self.n_samples} rows.")
        return certify(self, self._point(x), multiplier, slopes=slopes)

    def split(self, x: Any) -> tuple[np.ndarray, float]:
        """Coefficients of the features and intercept, from x."""
        point = self._point(x)
        return point[: self.n_features].copy(), float(self.bias * point[-1]) if self.bias else 0.0

    def join(self, coefficients: Any, intercept: float = 0.0) -> np.ndarray:
        """x, from coefficients of the features and intercept."""
        if not math.isfinite(as_number(intercept)):
            raise InputError(f"intercept is {shown(intercept)}. Give a finite number.")
        if self.bias == 0.0:
            if intercept != 0.0:
                raise InputError(f"intercept is {intercept} but the problem has none. Build it with intercept=True.")
            return self._point(coefficients).copy()
        return self._point(np.append(numbers("coefficients", coefficients), intercept / self.bias))

    # ---------------------------------------------------------------------------------------------------- bounds

    @property
    def n_rows(self) -> int:
        """Rows of the data; those of the first chunk, for a stream."""
        return self.sums.n_rows

    @cached_property
    def sums(self) -> Sums:
        """The data as the exact methods and the certificate see them: sums over rows."""
        if isinstance(self.source, Partitions):
            return self.source.sums(self.loss, self.bias, self._positive)
        if isinstance(self.source, Tables):
            return FarSums(Read(self.source, self.bias), self._labels, self._weights, self.loss)
        return (FarSums if self.on_disk else LocalSums).of(self.block, self.loss)

    @property
    def labels(self) -> np.ndarray:
        """Of all rows, as the loss takes them; of the first chunk, for a stream. Refused where they are not here."""
        return self._labels if isinstance(self.source, Tables) else self.block.labels

    @property
    def block(self) -> Block:
        """All rows, as kernels take them; refused where they are not in memory."""
        if self._block is None:
            assert isinstance(self.source, Source)
            return Block(self.source.rows, self._labels, self._weights)  # which refuses
        return self._block

    @cached_property
    def statistics(self) -> RowStatistics:
        """Sizes of the rows."""
        return self.sums.statistics()

    @cached_property
    def lipschitz(self) -> float:
        """Upper bound on the Lipschitz constant of the gradient of the mean loss (of the first chunk, for a stream)."""
        if self.loss.curvature == 0.0 or self.statistics.mean_square == 0.0:
            return 0.0
        if not math.isfinite(self.loss.curvature):
            return math.inf
        block = self._block
        if block is None:
            sample = self.sums.sample(_SAMPLED_ROWS)
            block = None if sample is None else sample.block
        norm = math.inf if block is None else gram_norm(block, self.n_coordinates)
        return self.loss.curvature * min(norm, self.statistics.mean_square)

    @cached_property
    def rough_gram_norm(self) -> float:
        """Largest eigenvalue of A^T W A / N, roughly: eight products and no guarantee."""
        return self.rough_norm(np.ones(self.n_coordinates))

    def rough_norm(self, scale: np.ndarray) -> float:
        """Largest eigenvalue of S A^T W A S / N, S = diag(scale)^(1/2), as roughly."""
        return rough_gram_norm(self.block, scale)

    @property
    def lipschitz_max(self) -> float:
        """Largest Lipschitz constant of a single row's gradient: curvature * max w_i |a_i|^2."""
        return self.loss.curvature * self.statistics.max_square if self.statistics.max_square > 0.0 else 0.0

    @property
    def on_disk(self) -> bool:
        """Rows are read through a memory map."""
        return not isinstance(self.source, Stream) and self.source.on_disk

    @cached_property
    def column_sizes(self) -> np.ndarray:
        """Root of the mean of w a_ij^2, for each column."""
        return np.sqrt(self.sums.column_squares())

    @cached_property
    def free_directions(self) -> sp.csc_array | None:
        """Columns that span the directions in which no penalty grows; None if there are too many to find."""
        free = np.flatnonzero(self.regularizer.free(self.n_coordinates))
        if free.size == 0:
            return sp.csc_array((self.n_coordinates, 0))
        if self.r2.vanishes:
            basis = sp.eye_array(free.size, format="csc") if free.size <= MOST_FREE else None
        else:
            basis = self.F.null_space(free)
        if basis is None:
            return None
        lift = sp.csc_array((np.ones(free.size), (free, np.arange(free.size))), shape=(self.n_coordinates, free.size))
        return sp.csc_array(lift @ basis)

    @property
    def in_memory(self) -> bool:
        """Rows can be had one by one."""
        return self._block is not None

    @property
    def is_signal(self) -> bool:
        """The loss is squared and no row of X has more than one entry: X is the identity, or diagonal."""
        return self.n_samples is not None and self._moments.is_signal(self._block, self.loss)

    @property
    def quadratic(self) -> Quadratic:
        """The mean squared loss from its second moments: one read, kept for all problems `with_penalties`."""
        return self._moments.loss(self.sums, self._block, self.loss, self.bias)

    @property
    def knows_moments(self) -> bool:
        """Whether `quadratic` reads nothing."""
        return self._moments.known

    def adopt_moments(self, moments: Moments) -> None:
        """Take second moments that are known to be those of the rows, as those of a fold follow from the others."""
        self._moments.adopt(moments, self.bias)

    def uncounted_rows(self) -> int:
        """Rows that were read for `quadratic` since it was last asked here; a run counts them as its own."""
        return self._moments.uncounted_rows()

    @property
    def norm_F(self) -> float:
        """Upper bound on the largest singular value of F."""
        return self.F.norm

    @property
    def strong_convexity(self) -> float:
        """Modulus that r1 brings."""
        return self.r1.strong_convexity

    @cached_property
    def loss_at_zero(self) -> float:
        """Mean loss at x = 0, which reads no data."""
        return self._loss_of_constant(0.0)

    @cached_property
    def loss_size(self) -> float:
        """What an objective is small beside: that at x = 0, where a hinge as a penalty counts like one as the loss.

        Under a log link it is the loss of the best constant times e.
        """
        if not self.loss.log_link:
            penalty = self.penalty_value(np.zeros(self.n_coordinates))
            return self.loss_at_zero + (penalty if math.isfinite(penalty) else 0.0)
        return self._loss_of_constant(best_constant(self) + 1.0)

    @cached_property
    def fused(self) -> penalties.FusedL1 | None:
        """r1 + r2(F .) of the features as one proximable penalty, for l1 norms along a chain; None otherwise."""
        if self.domain is not None or not self.F.core.chain:
            return None
        l1, l2 = self._r1_of_features.l1_weights(self.n_features), self.r2.l1_weights(self.F.n_outputs)
        if l1 is None or l2 is None or np.any(l1 != l1[0]):
            return None
        return penalties.FusedL1(float(l1[0]), l2)

    @cached_property
    def joint_penalty(self) -> Penalty | None:
        """r1 + r2(F .) as one proximable penalty: where there is no r2, and for two l1 norms along a chain."""
        if self.r2.vanishes:
            return self.regularizer
        return None if self.fused is None else self._beside_intercept(self.fused)

    def chain_dual(self, x: np.ndarray, subgradient: np.ndarray) -> np.ndarray:
        """The y in the subdifferential of r2 at F x that a subgradient of the joint penalty at x contains.

        x is the prox at x + subgradient, which is total variation first and the threshold after it: y is the flow along
        the chain that the first takes.
        """
        if self.F.n_outputs == 0:
            return np.zeros(0)
        point = (x + subgradient)[: self.n_features]
        assert self.fused is not None
        flat = penalties.FusedL1(0.0, self.fused.l2).prox(point)
        return -np.cumsum(point - flat)[:-1]

    # ------------------------------------------------------------------------------------------- for the solvers

    def terms(self) -> Terms:
        """The problem as kernels take it."""
        return Terms(
            self.loss.derivative_term,
            self.regularizer.prox_term(self.n_coordinates),
            self.r2.dual_prox_term(self.F.n_outputs),
            self.F.forward_term,
            self.F.adjoint_term,
        )

    def encode(self, X: Any, y: np.ndarray, weights: np.ndarray | None = None) -> Block:
        """A chunk of a stream as a block."""
        source = as_source(X)
        scale = no_weights() if weights is None else as_reals(checked_weights(weights, source.n_samples))
        return Block(source.rows._replace(bias=self.bias), self._encode_labels(y, "y of a chunk"), scale)

    def checked_chunk(self, chunk: Chunk) -> Block:
        """A chunk of a stream as a block without NaN or infinite entries; the first one was looked at before."""
        if chunk is self._first_chunk and self._block is not None:
            return self._block
        block = self.encode(*chunk)
        self.check_block(block)
        return block

    def streamed(self) -> "Problem":
        """The same problem with its rows as a stream, each traversal of which is a pass; for data read in blocks."""
        signs = (-1.0, 1.0) if self.loss.binary else None
        stream = Stream(self._chunks, self.n_features, signs)
        other = copy.copy(self)
        for name in ("sums", "statistics", "lipschitz", "column_sizes", "loss_at_zero", "rough_gram_norm"):
            vars(other).pop(name, None)
        other.source, other.n_samples = stream, None
        other.classes = None if signs is None else np.array(signs)
        other._block = other.encode(*stream.peek())
        return other

    def _chunks(self) -> Iterator[tuple[Any, np.ndarray, np.ndarray | None]]:
        if isinstance(self.source, Partitions):
            yield from self.source.chunks(self.loss, self._positive)
            return
        assert isinstance(self.source, Tables)
        start = 0
        for table in self.source.blocks():
            some = slice(start, start + table.shape[0])
            start = some.stop
            yield table, self._labels[some], self._weights[some] if self._weights.size else None

    def check_rows(self) -> None:
        """Refuse rows that hold NaN or infinite entries, if nobody has looked yet."""
        if "statistics" not in vars(self):
            self.statistics = self.sums.statistics()

    def check_block(self, block: Block) -> None:
        """Refuse rows that hold NaN or infinite entries, such as those of a chunk of a stream."""
        statistics = LocalSums.of(block, self.loss).statistics()
        if block is self._block:
            self.statistics = statistics

    # --------------------------------------------------------------------------------------------------- private

    def _loss_of_constant(self, margin: float) -> float:
        """Mean loss where all margins are the same."""
        if isinstance(self.source, Partitions):
            x = np.zeros(self.n_coordinates)
            return self.sums.evaluate(x, self.sums.margins_at_zero(), margin).loss if margin else self.sums.loss(x)
        labels, weights = self.labels, self._weights if self._block is None else self._block.weights
        margins, term, total = np.full(min(labels.size, AT_A_TIME), margin), self.loss.read_term, 0.0
        for start in range(0, labels.size, AT_A_TIME):
            some = slice(start, start + AT_A_TIME)
            total += sum_chunks(term, margins[: labels[some].size], labels[some], weights[some], np.empty(CHUNK))
        return total / labels.size

    def _make_source(self, X: Any, F: Any) -> Source | Stream:
        if X is not None:
            return as_source(X)
        width = None if F is None else as_operator(F).known_inputs
        if width is None:
            raise InputError("X is None, so F must say how long x is. Give F as a matrix or bind the operator first.")
        empty = np.zeros(0)
        return CSR(empty, np.zeros(0, dtype=np.int32), np.zeros(2, dtype=np.int32), width)

    def _make_operator(self, F: Any) -> Operator:
        if self.r2.vanishes:
            return Empty().bind(self.n_coordinates)
        operator = Identity() if F is None else as_operator(F)
        require_parts(operator, Operator, ("n_outputs", "squared_norm", "kernel_forward", "kernel_adjoint"))
        operator = operator.bind(self.n_features)
        return operator if self.bias == 0.0 else Repeated(operator, skip=1).bind(self.n_coordinates)

    def _beside_intercept(self, penalty: Penalty) -> Penalty:
        return penalty if self.bias == 0.0 else SeparableSum([penalty, penalties.Zero()], [self.n_features, 1])

    def _choose_bias(self) -> None:
        """As long a column as the rows are on average; 1 if all of them are empty."""
        if isinstance(self.source, Partitions):
            self.bias = self.source.typical_bias
            return
        if isinstance(self.source, Source) and self.source.on_disk:
            # Any number will do; that of some rows saves a read of all of them.
            table = next(pieces(self.source))
            squares = table.power(2).sum(axis=1) if sp.issparse(table) else np.square(table, dtype=float).sum(axis=1)
            weights = self._weights[: table.shape[0]] if self._weights.size else np.ones(table.shape[0])
            square = (
                float(np.average(np.asarray(squares, dtype=float).ravel(), weights=weights)) if weights.any() else 0.0
            )
        else:
            alone = self.block._replace(rows=self.block.rows._replace(bias=0.0))
            square = LocalSums.of(alone, self.loss).statistics().mean_square
        self.bias = math.sqrt(square) if 0.0 < square < math.inf else 1.0
        if self._block is not None:
            self._block = self._block._replace(rows=self._block.rows._replace(bias=self.bias))

    def _set_penalties(self, r1: Penalty | None, r2: Penalty | None, F: Any) -> None:
        alone = checked_penalty("r1", r1)
        inside = constrain(alone, self.domain)
        inside.pack(self.n_features)  # refuses parameters that do not fit
        self._r1_of_features = alone
        self.r1, self.regularizer = self._beside_intercept(alone), self._beside_intercept(inside)
        self.r2 = checked_penalty("r2", r2)
        self.F = self._make_operator(F)
        self.r2.pack(self.F.n_outputs)

    def _encode_labels(self, y: Any, name: str = "y") -> np.ndarray:
        if isinstance(self.source, Source) and y is None:
            if self.loss.curvature > 0.0:
                raise InputError(f"y is missing. {type(self.loss).__name__} needs one label per row of X.")
            return as_reals(np.zeros(self.source.n_samples))
        labels = as_labels(y, name)
        if labels.ndim != 1 or (isinstance(self.source, Source) and labels.size != self.source.n_samples):
            expected = self.source.n_samples if isinstance(self.source, Source) else "as many as X"
            raise InputError(f"{name} has shape {labels.shape}. It must be a vector of {expected} entries.")
        if not self.loss.binary:
            found = as_numbers(labels, name)
            self.loss.check_labels(found, name)
            return as_reals(found)
        if self.classes is None:
            self.classes = two_classes(labels, name, self.loss)
        return as_signs(labels, self.classes, name)

    def _positive_class(self, source: Partitions, y: Any) -> Any:
        """The label of +1 among those on the cluster."""
        if isinstance(y, Positive):
            self.classes = np.array([-1.0, 1.0])
            return y.label
        if not self.loss.binary:
            return None
        self.classes = two_classes(source.classes, "y", self.loss)
        return self.classes[1]

    def _point(self, x: Any) -> np.ndarray:
        fitting = isinstance(x, np.ndarray) and x.dtype == np.float64
        point = np.ascontiguousarray(x) if fitting else numbers("x", x)
        if point.shape != (self.n_coordinates,):
            raise InputError(f"x has shape {point.shape}. The problem has {self.n_coordinates} coordinates.")
        # Kernels are compiled once, for writable vectors; a read-only x is copied rather than compiled for.
        return point if point.flags.writeable else point.copy()

    def _require_finite_sum(self, what: str) -> None:
        if isinstance(self.source, Stream):
            raise UnsupportedError(
                f"A stream has no {what} of its own. Build a Problem on held-out rows and evaluate x there."
            )

    def __repr__(self) -> str:
        rows = "a stream of rows" if self.n_samples is None else f"{self.n_samples} rows"
        return (
            f"Problem({rows}, {self.n_coordinates} coordinates, {self.loss!r}, r1={self.r1!r}, r2={self.r2!r}, "
            f"F={self.F!r})"
        )
