"""The one call that runs any method on a problem: checks its arguments, makes or resumes the state, starts the loop.

It warns if the run ended far from optimal.
"""

import functools
import inspect
import math
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

import numpy as np

from ..certificate import Certificate
from ..data import Stream
from ..errors import FarFromOptimalWarning, InputError, StateError
from ..kernels import jit
from ..parameters import as_number, shown, vector, whole_number
from ..problem import Problem
from ..result import Result, Status
from ..solvers.base import Solver
from ..state import State
from ..sums.threads import checked_jobs, using
from ..view import View
from . import auto, feed
from .budgets import Budget
from .loop import run
from .memory import check_memory
from .recorder import Progress
from .registry import resolve
from .stages import Planned, begin, single_stage

_FEW_PASSES, _MANY_PASSES = 5, 1000
"""Budgets if none is given, without and with a tolerance to stop at."""

_LEAST_SECONDS = 5.0
"""Seconds that a run with a tolerance and no budget may take, however many passes that is."""

_TOLERANCE = 1e-6
"""Default relative gap at which methods that converge stop."""

_FAR = 0.01
"""Fraction of the objective that is a large gap; a residual that is as large."""

_UNFINISHED = (Status.MAX_PASSES, Status.MAX_SECONDS, Status.MAX_ITERATIONS, Status.EXHAUSTED)
"""Ends at which a user may not know how far x is from optimal."""

_LARGEST_SEED = 2**63 - 1
"""The largest number that fits into 64 bits with a sign."""

P = ParamSpec("P")


def _warning_if_far(run: Callable[P, Result]) -> Callable[P, Result]:
    """Decorator: warn if the run ended far from the optimum."""

    @functools.wraps(run)
    def warned(*args: P.args, **kwargs: P.kwargs) -> Result:
        result = run(*args, **kwargs)
        reached = "" if result.certificate is None else _distance_in_words(result.certificate)
        if reached and result.iterations and result.status in _UNFINISHED:
            warnings.warn(f"{result.ran} ended {reached}: {result.status}. {_advice(result)}", FarFromOptimalWarning, 2)
        return result

    return warned


@_warning_if_far
def solve(
    problem: Problem,
    solver: str | Solver = "auto",
    *,
    max_passes: float | None = None,
    max_seconds: float | None = None,
    max_iterations: int | None = None,
    tol: float | None = None,
    seed: int = 0,
    batch_size: int | None = None,
    x0: Any = None,
    dual0: Any = None,
    state: State | None = None,
    record_every: float | None = None,
    callback: Callable[[Progress], Any] | None = None,
    progress: bool = False,
    n_jobs: int | None = None,
    max_memory: float | None = None,
    **parameters: Any,
) -> Result:
    """Solve min E[l(x, xi)] + r1(x) + r2(F x).

    Parameters
    ----------
    problem : Problem
    solver : str or Solver
        A name from `spdpeg.list_solvers()`, or an object such as `spdpeg.solvers.SPDPEG(rho=2.0)`. With "auto" a
        planner chooses the methods by what they are likely to cost; `result.stages` says which ran, and why.
    max_passes, max_seconds, max_iterations : number, optional
        Budgets; the first one used up ends the run. One pass is N row reads; seconds are those of the method alone,
        and a step that works without data is cut short where it would last much longer than they do.
        A run resumed from `state` gets these budgets on top of what it had. Without any, a method that converges runs
        until `tol` is met, for at most 1000 passes or five seconds, whichever is more; any other for 5 passes. A budget
        is a ceiling: a run that meets `tol` ends before. One that ends with a gap above 1 % warns.
    tol : float, optional
        Stop when the duality gap is at most this fraction of the objective. Where no gap is finite (r1 = 0, say) the
        relative residual of the optimality conditions takes its place; `result.certificate.met` says which. 1e-6 by
        default, for "auto" and for methods that converge; none for others, for streams, and if `max_iterations` counts
        the steps. 0 runs to the end of the budget. Checks come at ever longer intervals and are counted: a read of the
        data each.
    seed : int
        Same seed, same bits.
    batch_size : int, optional
        Rows in each of a step's batches; 1 unless the solver knows better.
    x0, dual0 : array, optional
        Start, zeros by default: `result.x` and `result.dual` of a similar problem, say.
    state : State, optional
        `result.state` of an earlier run, to go on as if it had never stopped.
    record_every : float, optional
        Passes between two records of objective and violation; by default 1, or more if that made over 20 records.
    callback : callable, optional
        Called with a `Progress` at each record; return True to stop.
    progress : bool
        Show a progress bar.
    n_jobs : int, optional
        Threads that add up sums over all rows: None is 1, -1 all processors. The result has the same bits for any
        number of them. Linear algebra takes one thread in all of the process while a solve runs. Steps on single rows
        are taken one after the other, and data of a few megabytes are one block.
    max_memory : float, optional
        Bytes beyond the data that the methods on sums over rows may take; what is likely to need more is refused before
        it begins.
    **parameters
        Of the solver, by name, if that is a name itself; "auto" has none.

    Returns
    -------
    Result
        x, the dual, a certificate of optimality, and an account of what ran.

    See Also
    --------
    Problem : What is solved.
    Result : What comes back.
    list_solvers : The names of all methods.

    Examples
    --------
    >>> import numpy as np, spdpeg
    >>> from spdpeg import losses, operators, penalties
    >>> X = np.random.default_rng(0).standard_normal((200, 10))
    >>> problem = spdpeg.Problem(X, X[:, 0] > 0, loss=losses.Logistic(), r1=penalties.L1(1e-3),
    ...                          r2=penalties.L1(1e-2), F=operators.FirstDifference())
    >>> result = spdpeg.solve(problem, "spdpeg", max_passes=10)
    >>> bool(result.objective < problem.objective(np.zeros(10)))
    True
    """
    if not isinstance(problem, Problem):
        raise InputError(f"The first argument is {shown(problem)}. Build it with spdpeg.Problem(X, y, loss=...).")
    if state is not None and not isinstance(state, State):
        raise InputError(f"state is {shown(state)}. Pass result.state of an earlier run or State.load(path).")
    if state is not None and (x0 is not None or dual0 is not None):
        raise InputError("Both a start and state are given. A state brings its own x; leave x0 and dual0 out.")
    view = problem.view
    budget = _checked_budget(max_passes, max_seconds, max_iterations)
    if tol is not None:
        _check_tolerance(tol, view)
    _check_cadence(record_every, view)
    _check_callback(callback)
    seed, jobs = _checked_seed(seed), checked_jobs(n_jobs)
    if _streams(view, solver):
        view, tol = view.streamed(), None  # a bound would be one for the rows of the first block alone
    name, plan = _planned(view, solver, parameters, tol if state is None else state.loop.planned_for)
    if max_memory is not None:
        check_memory(max_memory, view, plan[0].method, jobs)
    tol, budget = _aim(view, tol, budget, name == "auto" or plan[0].method.about.converges)
    begun, compiled = time.perf_counter(), jit.compile_seconds()
    batch_size = _batch_size(view, plan, batch_size, state)
    if state is None:
        state = State(name, {} if name == "auto" else plan[0].method.changed_params(), seed)
        state.loop.planned_for = tol
        begin(view, plan[0], state, batch_size, _checked_start(view, x0), _checked_dual(view, dual0))
        # Choosing batches and steps reads the data: it belongs to the time of the method.
        state.seconds = time.perf_counter() - begun - (jit.compile_seconds() - compiled)
    else:
        state = _resumed(view, name, plan, batch_size, state)
    start = functools.partial(run, view, plan, state, budget, tol=tol, record_every=record_every)
    with using(jobs):
        if not progress:
            return start(callback=callback)
        from .progress import with_bar  # which imports rich

        return with_bar(lambda show: start(callback=_both(show, callback)))


def _aim(problem: View, tol: float | None, budget: Budget, converges: bool) -> tuple[float | None, Budget]:
    """The tolerance, or None to run without one, and the budget; with their defaults filled in."""
    if tol is None and converges and budget.iterations is None and not isinstance(problem.rows.source, Stream):
        tol = _TOLERANCE
    tol = tol or None
    if budget == Budget(None, None, None):
        budget = Budget(_FEW_PASSES, None, None) if tol is None else Budget(_MANY_PASSES, None, None, _LEAST_SECONDS)
    return tol, budget


def _batch_size(problem: View, plan: Sequence[Planned], given: int | None, state: State | None) -> int:
    """Rows in a batch: as given, where there is a choice; as the state has it; or as the method chooses."""
    method = plan[0].method
    if given is None:
        chosen = method.default_batch(problem) if state is None else state.parameters.get("batch_size", 1)
        return _checked_batch(chosen, problem)
    if len(plan) > 1:
        names = " and ".join(dict.fromkeys(stage.method.about.name for stage in plan))
        raise InputError(
            f"batch_size is {shown(given)}, but auto plans with {names}, which choose their own. "
            "Leave it out, or name a solver."
        )
    if method.about.deterministic and as_number(given) != 1:
        raise InputError(
            f"batch_size is {shown(given)}, but {method.about.name} reads all rows at every step. Leave it out."
        )
    return _checked_batch(given, problem)


quietly: Callable[..., Result] = inspect.unwrap(solve)
"""`solve` without its warning, for callers that report how a run ended themselves."""


def _distance_in_words(certificate: Certificate) -> str:
    """How far from the optimum, in words; empty if it is close, or the distance is unknown."""
    if certificate.met is not None:
        return ""
    if math.isfinite(certificate.rel_gap):
        return f"up to {100.0 * certificate.rel_gap:.2g} % above the optimum" if certificate.rel_gap > _FAR else ""
    if _FAR < certificate.residual < math.inf:
        return f"with a residual of the optimality conditions of {certificate.residual:.2g}"
    return ""


def _advice(result: Result) -> str:
    if result.status is Status.EXHAUSTED:
        return "Scale the columns of X to similar size, or try another solver."
    if result.solver == "auto":
        return "Raise the budget."
    return 'Raise the budget, or leave the choice of the method to "auto".'


def _planned(
    problem: View, solver: str | Solver, parameters: dict[str, Any], tol: float | None
) -> tuple[str, Sequence[Planned]]:
    """The requested name, and the stages that it stands for on this problem."""
    if isinstance(solver, str) and solver == "auto":
        if parameters:
            raise InputError(
                f"auto has no parameter {next(iter(parameters))!r}: it chooses a method and its parameters. "
                "Name the solver that they belong to."
            )
        return "auto", auto.plan(problem, tol)
    if isinstance(solver, Solver):
        if parameters:
            raise InputError(
                f"The solver {solver!r} has its parameters already; {next(iter(parameters))!r} is given beside it. "
                "Pass it to the solver itself."
            )
    else:
        solver = resolve(solver, parameters)
    feed.check(problem, solver)
    solver.check(problem)
    return solver.about.name, single_stage(solver)


def _streams(problem: View, solver: str | Solver) -> bool:
    """Whether to read rows in blocks as a stream: for methods that need each of them only once."""
    if problem.rows.in_memory or (isinstance(solver, str) and solver == "auto"):
        return False
    about = (resolve(solver, {}) if isinstance(solver, str) else solver).about
    return not about.finite_sum and not about.deterministic


def _resumed(problem: View, name: str, plan: Sequence[Planned], batch_size: int, state: State) -> State:
    wanted = {**({} if name == "auto" else plan[0].method.changed_params()), "batch_size": batch_size}
    if state.solver != name or state.parameters != wanted:
        raise StateError(
            f"The state was made by {state.solver} with {state.parameters}, not by {name} with {wanted}. "
            "Resume with the same solver and parameters."
        )
    begun, planned = [stage.method for stage in state.loop.stages], [stage.method.about.name for stage in plan]
    if not begun or begun != planned[: len(begun)]:
        raise StateError(
            f"The state went through the stages {begun}, and the plan for this problem is {planned}. "
            "Resume with the same problem."
        )
    rule = plan[len(begun) - 1].method
    fresh = rule.vectors(problem, batch_size, np.zeros(problem.n_coordinates))
    # Of derived arrays a longer run has more rows.
    shapes, needed = (
        {name: vector.shape[name in rule.derived :] for name, vector in vectors.items()}
        for vectors in (state.vectors, fresh)
    )
    if shapes != needed:
        odd = sorted(name for name in {*shapes, *needed} if shapes.get(name) != needed.get(name))[0]
        raise StateError(
            f"The state's vector {odd!r} has shape {shapes.get(odd)} where this problem needs {needed.get(odd)}. "
            "Resume with the same problem."
        )
    if not all(np.isfinite(vector).all() for vector in state.vectors.values()):
        raise StateError("The state holds NaN or infinite numbers. Start a new run.")
    rule.check_state(problem, state)
    return state.copy()


def _both(show: Callable[[Progress], Any], callback: Callable[[Progress], Any] | None) -> Callable[[Progress], Any]:
    def call(progress: Progress) -> Any:
        show(progress)
        return callback(progress) if callback is not None else None

    return call


def _checked_budget(passes: Any, seconds: Any, iterations: Any) -> Budget:
    """Finite numbers of at least 0, or None."""
    for name, value in (("max_passes", passes), ("max_seconds", seconds), ("max_iterations", iterations)):
        if value is not None and not 0.0 <= as_number(value) < math.inf:
            raise InputError(f"{name} is {shown(value)}. It must be a finite number of at least 0, or None.")
    return Budget(passes, None if iterations is None else whole_number("max_iterations", iterations), seconds)


def _check_tolerance(tol: Any, problem: View) -> None:
    """A number of at least 0, for data that can be read as a whole."""
    if not as_number(tol) >= 0.0:
        raise InputError(f"tol is {shown(tol)}. It must be positive, or 0 to run to the end of the budget.")
    if tol > 0.0 and isinstance(problem.rows.source, Stream):
        raise InputError("tol needs a full gradient, which a stream does not have. Use a budget instead.")


def _checked_batch(batch_size: Any, problem: View) -> int:
    """A whole number between 1 and the rows of the data."""
    size = whole_number("batch_size", batch_size, least=1)
    if problem.rows.n_samples is not None and size > problem.rows.n_samples:
        raise InputError(f"batch_size is {size} but there are {problem.rows.n_samples} rows. Choose at most that many.")
    return size


def _checked_seed(seed: Any) -> int:
    """A whole number that a state can keep."""
    number = whole_number("seed", seed, least=0)
    if number > _LARGEST_SEED:
        raise InputError(f"seed is {number}. It must be at most {_LARGEST_SEED}.")
    return number


def _checked_start(problem: View, x0: Any) -> np.ndarray:
    """Zeros unless a start is given."""
    return np.zeros(problem.n_coordinates) if x0 is None else vector("x0", x0, problem.n_coordinates)


def _checked_dual(problem: View, dual0: Any) -> np.ndarray | None:
    """The dual variable y = -lambda, in the sign that methods use."""
    return None if dual0 is None else -vector("dual0", dual0, problem.F.n_outputs)


def _check_callback(callback: Callable[..., Any] | None) -> None:
    """Something to call, or None."""
    if callback is not None and not callable(callback):
        raise InputError(f"callback is {shown(callback)}. Give a function of one argument, the progress, or None.")


def _check_cadence(record_every: Any, problem: View) -> None:
    """A number of passes, for data that have any."""
    if record_every is None:
        return
    if not 0.0 < as_number(record_every) < math.inf:
        raise InputError(f"record_every is {shown(record_every)}. It counts passes and must be positive.")
    if isinstance(problem.rows.source, Stream):
        raise InputError("record_every counts passes, and a stream has no known length. Leave it out.")
