"""Estimators with random parameters, and the problems that their documentation says they solve."""

import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import spdpeg
from spdpeg import losses, operators, penalties
from spdpeg.errors import ChoiceWarning, SpdpegError

from . import designs, terms
from .cases import Case
from .fuzz import judge, refusal, where
from .generator import TOLERANCES, scales_of
from .operators import matrix_of
from .outcome import Outcome, Verdict, gravest

NAMES = (
    "FusedLasso",
    "FusedLogisticRegression",
    "FusedSVC",
    "GeneralizedLasso",
    "GeneralizedLassoClassifier",
    "GraphGuidedRegressor",
    "GraphGuidedLogisticRegression",
    "LowRankRegressor",
    "LowRankClassifier",
    "TotalVariationRegressor",
    "TotalVariationClassifier",
    "TrendFilter",
    "CompositeRegressor",
    "CompositeClassifier",
)
_DENSE = ("C", "F", "float32", "csr", "csc", "coo", "integers", "view")


def run(seed: int) -> Outcome:
    """Fit the estimator with this number and judge the coefficients."""
    model, case = draw(seed)
    begun = time.perf_counter()
    outcome = Outcome(
        seed,
        Verdict.PASSED,
        case=f"{' '.join(repr(model).split())} {case}",
        kinds={**case.kinds, "tol": f"{case.tol:g}"},
    )
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ChoiceWarning)
            warnings.simplefilter("always", ConvergenceWarning)
            model.fit(case.given, case.y, sample_weight=case.weights)
        outcome.seconds = time.perf_counter() - begun
    except SpdpegError as error:
        outcome.verdict, outcome.reason = refusal(error)
        return outcome
    except Exception as error:
        outcome.verdict, outcome.reason = Verdict.RAW, where(error)
        return outcome
    if case.kinds["storage"] == "float32" and not told:
        case = replace(case, passes=0.0)  # finished, though rounding to such numbers may have lost the tolerance
    status = "TOLERANCE" if model.certificate_.met is not None else "NOT MET"
    found = judge(case, np.ravel(model.coef_), float(np.ravel(model.intercept_)[0]), model.certificate_, status)
    if found:
        (outcome.verdict, outcome.reason), *outcome.others = gravest(found)
    return outcome


def draw(seed: int) -> tuple[Any, Case]:
    """An estimator and its problem."""
    rng = np.random.default_rng([2, seed])
    name = str(rng.choice(NAMES))
    n, d = designs.sizes(rng)
    n, d = max(n, 4), max(d, 3)
    X, data = designs.rows(rng, n, d)
    given, X, storage = designs.stored(rng, X, _DENSE)
    binary = "Classifier" in name or "Logistic" in name or name == "FusedSVC"
    if binary:
        y, labels, target = designs.classes(rng, X)
    else:
        labels, target = designs.numbers(rng, X)
        y = labels
    weights, weighing = designs.row_weights(rng, n)
    size = float(np.median(np.abs(labels))) or 1.0
    kind = "Hinge" if name == "FusedSVC" else "Logistic" if binary else "Squared"
    scales = scales_of(X, labels, kind, size, weights)
    loss = terms.loss(rng, kind, size)
    lam1, lam2 = terms.strength(rng, scales.force), terms.strength(rng, scales.force)
    parameters, r1, r2, F = _model(rng, name, d, lam1, lam2, scales)
    if name.startswith("Composite"):
        names = ("Logistic", "SquaredHinge", "SmoothedHinge", "Hinge") if binary else ("Squared", "Huber", "Quantile")
        loss = terms.loss(rng, str(rng.choice(names)), size)
        parameters["loss"] = loss
    intercept = bool(rng.random() < 0.7)
    tol = float(rng.choice(TOLERANCES))
    model = getattr(spdpeg, name)(**parameters, fit_intercept=intercept, tol=tol, random_state=0)
    kinds = {"estimator": name, "data": data, "storage": storage, "labels": target, "weights": weighing}
    matrix = matrix_of(F, d)
    case = Case(seed, loss, r1, r2, F, None, given, X, y, labels, matrix, weights, intercept, tol, kinds=kinds)
    return model, replace(case, r2=r2 if len(matrix) else None)


def _model(
    rng: np.random.Generator, name: str, d: int, lam1: float, lam2: float, scales: terms.Scales
) -> tuple[dict[str, Any], Any, Any, Any]:
    """Parameters, r1, r2 and F."""
    weights: dict[str, Any] = {"lam1": lam1, "lam2": lam2}
    l1, l2 = penalties.L1(lam1), penalties.L1(lam2)
    if name.startswith("Fused"):
        return weights, l1, l2, operators.FirstDifference()
    if name.startswith("GeneralizedLasso"):
        F = terms.operator(rng, d)[0]
        return {**weights, "F": F}, l1, l2, F
    if name.startswith("GraphGuided"):
        edges = [(j, int(rng.integers(j))) for j in range(1, d)]
        ridge = bool(rng.random() < 0.5)
        first = penalties.L2Squared(lam1) if ridge else l1
        parameters = {**weights, "structure": edges, "r1": "ridge" if ridge else "l1"}
        return parameters, first, l2, operators.GraphDifference(edges)
    shape = terms.matrix_shape(rng, d)
    if name.startswith("LowRank"):
        return {**weights, "shape": shape}, l1, penalties.Nuclear(lam2, shape), None
    if name.startswith("TotalVariation"):
        return {**weights, "shape": shape}, l1, l2, operators.GridDifference(shape)
    if name == "TrendFilter":
        order = int(rng.integers(1, 4))
        return {"lam2": lam2, "order": order}, None, l2, operators.Difference(order)
    first, second = (terms.penalty(rng, scales)[0] for _ in range(2))
    return {"loss": losses.Squared(), "r1": first, "r2": second}, first, second, None
