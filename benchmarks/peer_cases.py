"""The problems that the packages are compared on, and the one function that scores every x."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

import spdpeg
from common import FLR, GGRLR, DataSet, data_directory, fused_logistic, graph_guided_logistic
from spdpeg import datasets, graphs, losses, operators, penalties

TASKS = ("flr", "ggrlr", "lasso")
LASSO_SETS = ("a9a", "w8a")
LASSO = FLR[0]


@dataclass(frozen=True)
class Case:
    """Mean logistic loss + l1 |x|_1 + ridge / 2 |x|_2^2 + lam2 |F x|_1; without F where lam2 is 0."""

    task: str
    data: DataSet
    l1: float
    ridge: float
    lam2: float
    F: sp.csr_matrix
    graph: str

    @property
    def name(self) -> str:
        """As it is called in tables."""
        return f"{self.data.name}/{self.task}"

    def objective(self, x: np.ndarray) -> float:
        """In plain NumPy, sharing no code with any of the packages."""
        loss = float(np.logaddexp(0.0, -self.data.y * (self.data.X @ x)).mean())
        penalty = self.l1 * np.abs(x).sum() + 0.5 * self.ridge * (x @ x) + self.lam2 * np.abs(self.F @ x).sum()
        return loss + float(penalty)

    def problem(self) -> spdpeg.Problem:
        """As this package takes it."""
        X, y = self.data.X, self.data.y
        if self.task == "flr":
            return fused_logistic(X, y)
        if self.task == "ggrlr":
            return graph_guided_logistic(X, y, self.F)
        return spdpeg.Problem(X, y, loss=losses.Logistic(), r1=penalties.L1(self.l1))


def make_case(task: str, data: DataSet) -> Case:
    """One of the tasks on a data set."""
    d = data.X.shape[1]
    if task == "flr":
        chain = operators.FirstDifference().bind(d)
        return Case(task, data, FLR[0], 0.0, FLR[1], _csr(chain), "chain")
    if task == "ggrlr":
        F, origin = _graph(data)
        return Case(task, data, 0.0, GGRLR[0], GGRLR[1], _csr(F.bind(d)), origin)
    return Case(task, data, LASSO, 0.0, 0.0, sp.csr_matrix((0, d)), "none")


def _graph(data: DataSet) -> tuple[operators.Operator, str]:
    """The authors' matrix where they published one, otherwise edges of an estimated precision matrix."""
    if data.origin == "real":
        return datasets.graph(data.name, data_directory())
    return graphs.sics(data.X).operator(), "Differences across the edges of the estimated precision matrix."


def _csr(F: operators.Operator) -> sp.csr_matrix:
    matrix = sp.csr_array(F.matrix())
    short = (matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32))
    return sp.csr_matrix(short, shape=matrix.shape)
