"""This package. What is called here is old enough for `--before`, too."""

import math
import warnings

import spdpeg
from peer_cases import CHAIN, GRID, LOGISTIC, NONE, TRENDS, Case
from peer_runs import BUSY, LEVELS, Budgeted, Found, Method, Traced, Watch
from spdpeg import losses, operators, penalties

OURS, PROVED, BEFORE = "spdpeg", "spdpeg, proved", "before, proved"


def problem(case: Case) -> spdpeg.Problem:
    """As a user writes it."""
    loss = losses.Logistic() if case.loss == LOGISTIC else losses.Squared()
    if case.structure == NONE:
        return spdpeg.Problem(case.X, case.y, loss=loss, r1=_r1(case))
    return spdpeg.Problem(case.X, case.y, loss=loss, r1=_r1(case), r2=penalties.L1(case.lam2), F=_operator(case))


def _operator(case: Case) -> operators.Operator:
    if case.structure in TRENDS:
        return operators.Difference(TRENDS[case.structure])
    if case.structure == GRID:
        return operators.GridDifference((case.side, case.side))
    return operators.FirstDifference() if case.structure == CHAIN else operators.Matrix(case.F)


def _r1(case: Case) -> penalties.Penalty:
    if case.group > 0.0:
        return penalties.GroupL2(case.group, case.size)
    if case.ridge > 0.0:
        return penalties.ElasticNet(case.l1, case.ridge) if case.l1 > 0.0 else penalties.L2Squared(case.ridge)
    return penalties.L1(case.l1) if case.l1 > 0.0 else penalties.Zero()


def traced(case: Case, cap: float) -> Traced:
    """`solve` as it goes, its records included in the time."""

    def run(watch: Watch) -> None:
        spdpeg.solve(problem(case), tol=LEVELS[-1], max_seconds=BUSY * cap, callback=lambda progress: watch(progress.x))

    return Traced(run, compiles=True)


def proved(case: Case, cap: float) -> Budgeted:
    """The whole call, until the certificate meets the tolerance."""

    def solve(tol: float) -> Found:
        result = spdpeg.solve(problem(case), tol=tol, max_seconds=BUSY * cap)
        certificate = result.certificate
        assert certificate is not None
        proved = math.inf if certificate.met is None else min(tol, certificate.rel_gap)
        return Found([result.x], reads=result.passes, proved=proved)

    def along(tol: float) -> Found:
        model = _model(case)(fit_intercept=False, tol=tol)
        fused = case.structure == CHAIN
        scaled = [(case.lam2 if fused else case.l1) * scale for scale in case.scales]
        lam1, lam2 = ([case.l1], scaled) if fused else (scaled, [0.0])
        with warnings.catch_warnings(action="ignore"):
            found = spdpeg.path(model, case.X, case.y, lam1=lam1, lam2=lam2)
        xs = list(found.coef.reshape(len(scaled), -1))
        return Found(xs, reads=float(found.passes.sum()), proved=float(found.gap.max()))

    return Budgeted(along if case.is_path else solve, LEVELS, compiles=True)


def _model(case: Case) -> type:
    return spdpeg.FusedLogisticRegression if case.loss == LOGISTIC else spdpeg.FusedLasso


METHODS = {
    OURS: Method(traced, lambda case: not case.is_path, "spdpeg"),
    PROVED: Method(proved, lambda case: True, "spdpeg"),
    BEFORE: Method(proved, lambda case: True, "spdpeg"),
}
