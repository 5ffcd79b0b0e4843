"""lam1="auto" and lam2="auto" against weights chosen by cross-validation, on data of many kinds.

Run as `python benchmarks/defaults.py`. Each set is cut into halves for learning and testing; columns are scaled to unit
variance. The table has R^2 or accuracy on the test half for several fractions of the largest weights worth trying, the
one that "auto" takes among them, and for the weights that cross-validation chooses. The last two columns are without
scaling: "auto", which looks at the units of the columns, and a hundredth of the largest weights, which does not.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn import datasets as theirs
from sklearn.base import is_classifier
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from spdpeg import datasets, estimators
from spdpeg.estimators.fitting import suggested

FRACTIONS = (0.001, 0.003, 0.01, 0.03, 0.1)
WITHIN = 0.02
MOST_ROWS = 1500


def sets() -> Iterator[tuple[str, Any, Any, bool]]:
    """Name, rows, labels, and whether these are classes."""
    for name in ("breast_cancer", "iris", "wine"):
        yield name, *getattr(theirs, f"load_{name}")(return_X_y=True), True
    yield "digits 0 to 2", *theirs.load_digits(n_class=3, return_X_y=True), True
    yield "diabetes", *theirs.load_diabetes(return_X_y=True), False
    for informative in (5, 20):
        made = theirs.make_classification(600, 40, n_informative=informative, flip_y=0.1, random_state=informative)
        yield f"classification, {informative} of 40", *made, True
    for noise in (5.0, 50.0):
        made = theirs.make_regression(300, 60, n_informative=10, noise=noise, random_state=int(noise))
        yield f"regression, noise {noise:g}", *made, False
    yield "regression, 150 x 300", *theirs.make_regression(150, 300, n_informative=8, noise=5.0, random_state=0), False
    yield "friedman1", *theirs.make_friedman1(400, 20, noise=1.0, random_state=0), False
    for n, d in ((400, 60), (200, 200)):
        yield f"pieces, {n} x {d}, classes", *datasets.piecewise_constant(n, d, seed=0)[:2], True
        yield f"pieces, {n} x {d}, numbers", *datasets.piecewise_constant(n, d, seed=0, task="regression")[:2], False
    for name in ("svmguide3", "splice", "a9a"):
        try:
            data = datasets.load(name)
        except Exception as error:
            print(f"{name} is left out: {error}")
            continue
        rows = np.random.default_rng(0).permutation(data.y.size)[:MOST_ROWS]
        yield name, data.X[rows], data.y[rows], True


def part(model: Any, fraction: float, X: Any, y: Any) -> dict[str, float]:
    """A fraction of the largest weights."""
    tops = suggested(model, (X, y), {"lam1": 1, "lam2": 1}, 0.5)
    return {weight: fraction * float(top[0]) for weight, top in tops.items()}


def raw(model: Any, halves: Any, target: Any, truth: Any) -> tuple[float, float]:
    """Scores of "auto" and of a hundredth of the largest weights without scaling."""
    learn, test = halves
    auto = model.set_params(lam1="auto", lam2="auto").fit(learn, target).score(test, truth)
    largest = model.set_params(**part(model, 0.01, learn, target)).fit(learn, target).score(test, truth)
    return auto, largest


def main() -> None:
    """Print the table, and for each fraction on how many sets it is within two points."""
    close = np.zeros(len(FRACTIONS), dtype=int)
    total = 0
    print(
        f"| data | {' | '.join(f'{fraction:g}' for fraction in FRACTIONS)} | cross-validated | auto, raw | 0.01, raw |"
    )
    print("|---" * (len(FRACTIONS) + 4) + "|")
    for name, X, y, classes in sets():
        X = X.toarray() if hasattr(X, "toarray") else X
        split = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y if classes else None)
        scaler = StandardScaler().fit(split[0])
        learn, test = scaler.transform(split[0]), scaler.transform(split[1])
        target, truth = split[2], split[3]
        if not classes:
            size = target.std()
            target, truth = target / size, truth / size
        model = estimators.FusedLogisticRegression() if classes else estimators.FusedLasso()
        chosen = estimators.FusedLogisticRegressionCV(n_lam1=6, n_lam2=6, cv=3)
        chosen = chosen if is_classifier(model) else estimators.FusedLassoCV(n_lam1=6, n_lam2=6, cv=3)
        scores = [
            model.set_params(**part(model, f, learn, target)).fit(learn, target).score(test, truth) for f in FRACTIONS
        ]
        best = chosen.fit(learn, target).score(test, truth)
        untouched = raw(model, split[:2], target, truth)
        close += np.array(scores) >= best - WITHIN
        total += 1
        print(f"| {name} | {' | '.join(f'{score:.3f}' for score in [*scores, best, *untouched])} |", flush=True)
    for fraction, count in zip(FRACTIONS, close, strict=True):
        print(f"fraction {fraction:g}: within {100 * WITHIN:g} points on {count} of {total}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
