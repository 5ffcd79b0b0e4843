"""The interface of a method: it starts a state, moves it forward, and reads the solution off it.

An author writes `about` and four methods: `check`, `start`, `advance`, `solution`. Three more have defaults that fit
most methods: `set_dual`, `sampler`, `default_batch`. What only some methods do is in small classes of their own:
`Periodic` (work that is due every now and then), `Watcher` (a method that uses certificates, or knows the loss where it
stands) and `FullReads` (both, with a read of all rows at the end of each step).
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeVar

import numpy as np

from ..certificate import Certificate
from ..data import Block
from ..errors import InputError, UnsupportedError
from ..kernels.terms import Terms
from ..parameters import Parameterized, as_number, shown
from ..result import Status
from ..state import State
from ..sums import Evaluation, Sweep, Token
from ..view import View
from .documentation import complete
from .sampling import InOrder, Sampler
from .sampling import make as make_sampler
from .steps import StepRule

LARGEST = 1e75
"""Largest parameter, and the smallest is its inverse, so that products of four do not overflow."""


@dataclass(frozen=True)
class About:
    """Description of a method: for the table of solvers, for its page, and for the loop.

    See Also
    --------
    Solver : Every method has one.

    Examples
    --------
    >>> from spdpeg.solvers import SGADM
    >>> SGADM.about.rate
    'O(1/sqrt(t))'
    """

    name: str
    summary: str
    """One line for the table of solvers."""
    update: str
    """One step, in the notation of docs/solvers.md."""
    cost: str
    """Cost of a step: batches of rows, products with F and F^T, proxes, and the flops of all other loops."""
    memory: str
    """Numbers kept beyond the data and the problem."""
    rate: str
    needs: str
    """What the problem must offer, in words."""
    assumptions: str = ""
    """Under which the rate is proved."""
    example: str = "loss=losses.Logistic(), r1=penalties.L1(1e-3)"
    """Terms of the problem in the example of its docstring."""
    batches_per_step: int = 1
    deterministic: bool = False
    """Every batch is the whole data set."""
    finite_sum: bool = False
    """Needs rows that can be read again: no stream."""
    converges: bool = False
    """Runs until a tolerance is met unless told otherwise; the others run for a few passes."""


class Solution(NamedTuple):
    """The solution that a state stands for.

    See Also
    --------
    Solver : Its `solution` returns one.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg.solvers import Solution
    >>> x = np.ones(2)
    >>> Solution(x, x.copy(), np.zeros(1), np.zeros(1)).slopes is None
    True
    """

    x: np.ndarray
    x_last: np.ndarray
    z: np.ndarray | None
    """None where it is F x itself."""
    dual: np.ndarray
    slopes: np.ndarray | None = None
    """Slopes of the loss, one for each row, where the method keeps them: at a kink x does not determine them."""
    slopes_gradient: np.ndarray | None = None
    """A^T W of these slopes over N, where the method knows it."""
    lower: float = -math.inf
    """A lower bound on the optimum that the method has proved itself."""


class Solver(Parameterized):
    """One algorithm. It never loops over passes, never stops, never prints: the engine does, once for all.

    Everything that changes lives in the state, as plain numbers and arrays by name; everything else is recomputed from
    the problem. So any run can be cut, saved and resumed with the same bits.

    The methods share these arguments: `problem` is the `View` of a problem, `terms` its loss, penalties and F as
    compiled code takes them (None for a method on sums), `state` the `State` of the run, which is changed in place,
    `batch_size` the number of rows in a batch, `x0` the start, `tol` the relative gap to reach or None.

    See Also
    --------
    Watcher, Periodic : What some methods have beside it.
    About : What a method says of itself.

    Examples
    --------
    >>> from spdpeg.solvers import SPDPEG, Solver
    >>> issubclass(SPDPEG, Solver), SPDPEG.about.name
    (True, 'spdpeg')
    """

    about: ClassVar[About]

    derived: ClassVar[tuple[str, ...]] = ()
    """Arrays of the state that are finite where the others are; the loop looks at those alone. Their rows may grow."""

    sampling: str = "auto"

    def __init_subclass__(cls) -> None:
        """Complete the docstring of a method by what its `about` says."""
        super().__init_subclass__()
        if "about" in vars(cls):
            complete(cls)

    @property
    def batches_per_step(self) -> int:
        """Batches of rows that a step reads."""
        return self.about.batches_per_step

    @property
    def buffer_rows(self) -> int:
        """Rows of a stream that are mixed with each other before they are used; 0 keeps the order of arrival."""
        return 0

    on_sums: ClassVar[bool] = False
    """Sees the data through sums over all rows only, so that they may live anywhere."""

    def check(self, problem: View) -> None:
        """Refuse a problem that the method does not cover by an `UnsupportedError` that names an alternative."""

    def start(self, problem: View, batch_size: int, x0: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """Numbers (constants, counters, flags) and vectors of a new state at x0, with the dual variable 0.

        Returns
        -------
        numbers : dict
            Constants, counters and flags.
        vectors : dict
            Arrays; "x" and "y" among them.
        """
        raise NotImplementedError

    def advance(
        self, problem: View, terms: Terms, state: State, block: Block, order: np.ndarray, steps: int
    ) -> int | None:
        """Take `steps` iterations on the rows `order` of `block`, in place.

        Parameters
        ----------
        block : Block
        order : array of int
            Rows of the block: for each iteration `batches_per_step` batches.
        steps : int

        Returns
        -------
        int or None
            Number of rows that were read, if not those in `order`.
        """
        raise NotImplementedError

    def solution(self, problem: View, state: State) -> Solution:
        """The output of the method at this state.

        Returns
        -------
        Solution
            Fresh arrays.
        """
        raise NotImplementedError

    def set_dual(self, problem: View, vectors: dict[str, np.ndarray], y: np.ndarray) -> None:
        """Start from this dual variable y = -lambda instead of 0; called after `start`.

        Parameters
        ----------
        vectors : dict
            Those of the state; changed in place.
        y : array
        """
        vectors["y"][: y.size] = y

    def sampler(self, problem: View, state: State) -> Sampler:
        """The sampler that chooses the rows of batches; not asked of a method that sees sums over all rows only.

        Returns
        -------
        Sampler
        """
        n = problem.sums.n_rows
        if self.about.deterministic:
            return InOrder(n)
        return make_sampler(self.sampling, n, state.batch_size, state.seed, problem.rows.on_disk)

    def default_batch(self, problem: View) -> int:
        """Batch size if the user names none.

        Returns
        -------
        int
        """
        return 1

    def vectors(self, problem: View, batch_size: int, x0: np.ndarray) -> dict[str, np.ndarray]:
        """The vectors of `start`. Override it where `start` reads data to choose constants.

        Returns
        -------
        dict
        """
        return self.start(problem, batch_size, x0)[1]

    def check_state(self, problem: View, state: State) -> None:
        """Refuse a state that no run on the problem can have left (`StateError`); its vectors have the right shapes."""

    def weigh(self, problem: View, state: State, rows: Block) -> None:
        """Choose how to polish, by rows of a stream that the state has not used yet.

        Parameters
        ----------
        rows : Block
        """

    def polish(self, problem: View, state: State, rows: Block | None) -> None:
        """Improve on what the state shows at the end of a stream, given rows that wait; the run goes on without it.

        Parameters
        ----------
        rows : Block or None
        """

    def fallback(self, problem: View, state: State) -> Solution | None:
        """A solution to report on finite data if it beats that of the state; none by default.

        Returns
        -------
        Solution or None
        """
        return None

    def step_rule(self, state: State) -> StepRule:
        """The step sizes in use, for messages; those that `start` put into the numbers, or 1.

        Returns
        -------
        StepRule
        """
        return StepRule.from_numbers(state.numbers)


class Periodic(Solver):
    """A method with work that is due every so many steps, such as a snapshot.

    See Also
    --------
    Solver : What every method has.

    Examples
    --------
    >>> from spdpeg.solvers import SGADM, SVRGADMM, Periodic
    >>> issubclass(SVRGADMM, Periodic), issubclass(SGADM, Periodic)
    (True, False)
    """

    def steps_ahead(self, state: State) -> float:
        """Steps that may be done before `prepare` has work to do again.

        Returns
        -------
        float
        """
        raise NotImplementedError

    def prepare(self, problem: View, terms: Terms, state: State) -> int:
        """Do the work that is due now, if any.

        Returns
        -------
        int
            Number of rows that were read.
        """
        return 0

    def ended(self, state: State) -> Status | None:
        """Why the method cannot go on, if it cannot.

        Returns
        -------
        Status or None
        """
        return None


class Watcher(Solver):
    """A method that learns from certificates, or that knows the loss at its solution and so makes them cheap.

    See Also
    --------
    Solver : What every method has.

    Examples
    --------
    >>> from spdpeg.solvers import SGADM, VRSPDPEG, Watcher
    >>> issubclass(VRSPDPEG, Watcher), issubclass(SGADM, Watcher)
    (True, False)
    """

    def on_certificate(
        self, problem: View, state: State, certificate: Certificate, evaluation: Evaluation, tol: float | None
    ) -> None:
        """Change course at a certificate, and only there.

        Parameters
        ----------
        certificate : Certificate
        evaluation : Evaluation
            Loss and gradient at the certified point.
        """

    def evaluation(self, state: State) -> Evaluation | None:
        """Loss and gradient at the solution if the method has them, so that a certificate needs no read.

        Returns
        -------
        Evaluation or None
        """
        return None

    def may_be_optimal(self, state: State, tol: float) -> bool:
        """Whether the point may meet a tolerance, as far as the method knows without a certificate.

        Returns
        -------
        bool
        """
        return True


class FullReads(Periodic, Watcher):
    """A method whose steps end with a read of all rows, of which the state keeps loss, gradient and margins (`_keep`).

    So certificates read nothing. Margins belong to the rows. Where these are elsewhere, on a cluster for instance, the
    state has an empty vector in their place, and only the run that made them still holds the token that stands for
    them. A run that is resumed without them reads the rows once more.

    See Also
    --------
    Solver : What every method has.
    """

    on_sums: ClassVar[bool] = True

    _reached: tuple[np.ndarray, Token] | None = None
    """The margins of the state's vector beside it."""

    def steps_ahead(self, state: State) -> float:
        return 1.0  # how many rows a step reads is known after it only

    def evaluation(self, state: State) -> Evaluation | None:
        kept = state.vectors["margins"]
        margins = kept_for(kept, self._reached)
        if margins is None and kept.size:
            margins = kept
        if math.isnan(state.numbers["loss"]) or margins is None:
            return None
        return Evaluation(state.numbers["loss"], margins, state.vectors["gradient"], None)

    @staticmethod
    def _vectors(problem: View, x: np.ndarray) -> dict[str, np.ndarray]:
        """The vectors of a new state at x, before the first read."""
        kept = problem.sums.length_kept()
        return {"x": x, "y": np.zeros(problem.F.n_outputs), "margins": np.zeros(kept), "gradient": np.zeros(x.size)}

    def _keep(self, problem: View, state: State, x: np.ndarray, sweep: Sweep) -> None:
        """Move to x, where all rows have been read."""
        v = state.vectors
        v["x"][:], v["gradient"][:], v["margins"] = x, sweep.gradient, problem.sums.kept(sweep.margins)
        self._reached = v["margins"], sweep.margins
        state.numbers["loss"] = sweep.loss


S = TypeVar("S", bound=Solver)
T = TypeVar("T")


def kept_for(vector: np.ndarray, kept: tuple[np.ndarray, T] | None) -> T | None:
    """The value that a method stored beside this vector of a state; None in another run, or a resumed one."""
    return kept[1] if kept is not None and kept[0] is vector else None


def per_problem(make: Callable[[S, View], T]) -> Callable[[S, View], T]:
    """Keep what a method makes of a problem, until it is asked about another one.

    For what follows from the problem and is expensive to compute, so that it need not be part of the state.
    """
    name = f"_last{make.__name__}"

    @functools.wraps(make)
    def made(self: S, problem: View) -> T:
        kept: tuple[View, T] | None = vars(self).get(name)
        if kept is None or kept[0] is not problem:
            kept = problem, make(self, problem)
            vars(self)[name] = kept
        return kept[1]

    return made


def require_positive(**values: float | None) -> None:
    """Refuse parameters that are neither None nor positive numbers."""
    for name, value in values.items():
        if value is None:
            continue
        if not 0.0 < as_number(value) < math.inf:
            raise InputError(f"{name} is {shown(value)}. It must be a positive number, or None to have it chosen.")
        if not 1.0 / LARGEST <= value <= LARGEST:
            raise InputError(f"{name} is {shown(value)}, and its square is no number. Choose one nearer to 1.")


def require_given(**values: float) -> None:
    """Refuse parameters that are no positive numbers, where there is nothing to choose."""
    for name, value in values.items():
        if value is None:
            raise InputError(f"{name} is None. It must be a positive number.")
    require_positive(**values)


def require_smooth(solver: Solver, problem: View) -> None:
    """Refuse a loss without a Lipschitz gradient."""
    require_differentiable(solver, problem)
    if not math.isfinite(problem.loss.curvature):
        raise UnsupportedError(
            f"{solver.about.name} takes steps from a bound on phi'', and that of {problem.loss!r} has none. "
            'Use "prox-newton" or "working-set".'
        )


def require_differentiable(solver: Solver, problem: View) -> None:
    """Refuse a loss that is not differentiable."""
    if not problem.loss.smooth:
        raise UnsupportedError(
            f"{solver.about.name} needs a smooth loss and {problem.loss!r} is not. "
            'Use "sdca-admm" or "spdhg-cers", a smoothed loss, or put the loss into r2.'
        )


def unweighted(problem: View, u: np.ndarray) -> np.ndarray:
    """Slopes of the loss, from dual variables that hold the weights of the rows as factors."""
    weights = problem.rows.block.weights
    return np.divide(u, weights, out=np.zeros_like(u), where=weights > 0.0) if weights.size else u.copy()
