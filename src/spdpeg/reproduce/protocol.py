"""The protocol of a study: data sets, tasks, methods, folds and budgets."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import Problem, losses, operators, penalties
from ..errors import InputError
from ..losses import Loss
from ..operators import Operator, as_operator
from ..penalties import Penalty
from .methods import Method

_OPTIMUM_SECONDS = 10.0
"""The least that the search for an optimum is given."""

FOLDS = 5
"""A round trains on four fifths of the rows and tests on the last one."""


@dataclass(frozen=True)
class Data:
    """Rows and labels, and the graph of the features where a task asks for one."""

    name: str
    X: Any
    y: np.ndarray
    description: str
    graph: Any = None


@dataclass(frozen=True)
class Task:
    """A loss and two penalties; without an F of its own it takes the graph of the data set."""

    name: str
    title: str
    loss: Loss
    r1: Penalty
    r2: Penalty
    F: Any = None

    def problem(self, data: Data, rows: np.ndarray) -> Problem:
        """The task on some rows of the data."""
        F = self.operator(data)
        return Problem(data.X[rows], data.y[rows], loss=self.loss, r1=self.r1, r2=self.r2, F=F)

    def operator(self, data: Data) -> Operator:
        """F on this data."""
        return as_operator(data.graph if self.F is None else self.F)

    def __str__(self) -> str:
        F = "the graph of the features" if self.F is None else repr(self.F)
        return f"mean {self.loss!r} + r1(x) + r2(F x), r1 = {self.r1!r}, r2 = {self.r2!r}, F = {F}"


FLR = Task(
    "flr",
    "Fused logistic regression",
    losses.Logistic(),
    penalties.L1(5e-4),
    penalties.L1(5e-3),
    operators.FirstDifference(),
)
GGRLR = Task(
    "ggrlr",
    "Graph-guided regularized logistic regression",
    losses.Logistic(),
    penalties.L2Squared(1e-2),
    penalties.L1(1e-5),
)
TASKS = {task.name: task for task in (FLR, GGRLR)}
"""The paper's two tasks with its weights; lambda is the weight of r2, gamma that of r1."""


@dataclass(frozen=True)
class Study:
    """Everything that decides what is computed.

    Attributes
    ----------
    title : str
    data : dict of Data
    tasks : dict of Task
    methods : dict
        For each task its methods by name. The first one sets the pace: every curve lasts at least as long as it takes
        for `passes` passes.
    rounds : int
        How many of the five folds are tested on.
    seeds : int
        Runs of every stochastic method in each round.
    passes : float
        Every curve covers this many passes, if `seconds` allow.
    seconds : float
        No curve goes on beyond this time.
    seed : int
    """

    title: str
    data: dict[str, Data]
    tasks: dict[str, Task]
    methods: dict[str, dict[str, Method]]
    rounds: int = FOLDS
    seeds: int = 1
    passes: float = 20.0
    seconds: float = 2.0
    seed: int = 0
    folds: dict[str, np.ndarray] = field(init=False, repr=False)
    """The fold that each row of each set belongs to."""

    def __post_init__(self) -> None:
        if not 1 <= self.rounds <= FOLDS:
            raise InputError(f"rounds is {self.rounds}. There are {FOLDS} folds to test on: choose 1 to {FOLDS}.")
        if self.seeds < 1:
            raise InputError(f"seeds is {self.seeds}. Every method must run at least once.")
        for name in ("passes", "seconds"):
            if not 0.0 < getattr(self, name) < np.inf:
                raise InputError(f"{name} is {getattr(self, name)}. It must be a positive number.")
        if not any(self.methods.values()):
            raise InputError("None of the methods belongs to one of the tasks. Choose others.")
        binary = any(task.loss.binary for task in self.tasks.values())
        folds = {name: assign_folds(data, self.seed, binary) for name, data in self.data.items()}
        object.__setattr__(self, "folds", folds)

    def training(self, data: str, *without: int) -> np.ndarray:
        """Rows of all folds but these."""
        return np.flatnonzero(~np.isin(self.folds[data], without))

    def testing(self, data: str, fold: int) -> np.ndarray:
        """Rows of one fold."""
        return np.flatnonzero(self.folds[data] == fold)

    def runs(self, task: str, method: str) -> list[tuple[int, int]]:
        """Round and seed of every run of a method; one seed does for a deterministic one."""
        seeds = 1 if self.methods[task][method].deterministic else self.seeds
        return [(fold, seed) for fold in range(self.rounds) for seed in range(seeds)]

    @property
    def optimum_seconds(self) -> float:
        """Seconds that the search for an optimum may take."""
        return max(_OPTIMUM_SECONDS, 5 * self.seconds)

    def most_seconds(self, jobs: int) -> float:
        """Seconds that all curves and optima take at most in so many processes, without tuning and compiling."""
        curves = sum(1 + len(self.runs(task, method)) for task in self.tasks for method in self.methods[task])
        optima = self.rounds * len(self.tasks)
        return len(self.data) * (curves * self.seconds + optima * self.optimum_seconds) / jobs

    def reference(self, task: str) -> Method:
        """The method that sets the pace."""
        return next(iter(self.methods[task].values()))


def assign_folds(data: Data, seed: int, binary: bool) -> np.ndarray:
    """The fold of each row; classes are spread evenly."""
    from sklearn.model_selection import KFold, StratifiedKFold

    labels, counts = np.unique(data.y, return_counts=True)
    if data.y.size < FOLDS or (binary and counts.min() < FOLDS):
        raise InputError(
            f"{data.name} has {data.y.size} rows and {counts.min()} of the class {labels[counts.argmin()]}. "
            f"Every one of {FOLDS} folds needs a row of each class."
        )
    splitter = (StratifiedKFold if binary else KFold)(FOLDS, shuffle=True, random_state=seed)
    folds = np.empty(data.y.size, dtype=np.int64)
    for number, (_, rows) in enumerate(splitter.split(np.zeros(data.y.size), data.y)):
        folds[rows] = number
    return folds
