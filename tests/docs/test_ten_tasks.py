"""Ten tasks of new users, written from what the documentation says. The user's part of each has fewer than 15 lines."""

import inspect
import json
import re

import numpy as np
import pytest

import spdpeg
from spdpeg import cli

RNG = np.random.default_rng(0)
LEVELS = np.repeat([0.0, 1.0, -0.5], [40, 30, 50])
PROFILE = LEVELS + 0.1 * RNG.standard_normal(120)
X, Y, TRUTH = spdpeg.datasets.piecewise_constant(300, 24, n_pieces=4, seed=3)


def copy_numbers():
    """README, docs/api/signals: segments of a copy-number profile with missing probes."""
    profile = PROFILE.copy()
    profile[[5, 77]] = np.nan
    found = spdpeg.denoise(profile, lam2="bic")
    gained = [(start, stop) for start, stop, value in found.segments if value > 0.5]
    assert gained[0][0] in (39, 40, 41)
    assert gained[-1][1] in (69, 70, 71)


def trend():
    """docs/choosing, docs/translation: a curve made of straight lines, and where it bends."""
    t = np.arange(100.0)
    y = np.abs(t - 60.0) + 0.5 * RNG.standard_normal(100)
    found = spdpeg.denoise(y, lam2=50.0, order=2)
    bends = [start for start, _, _ in found.segments[1:]]
    assert any(abs(bend - 60) <= 2 for bend in bends)
    assert found.certificate.rel_gap < 1e-5


def counts():
    """The estimators' families: counts over time with an exposure."""
    hours = RNG.uniform(1.0, 5.0, 120)
    calls = RNG.poisson(np.where(np.arange(120) < 70, 2.0, 6.0) * hours)
    model = spdpeg.TrendFilter(order=1, lam2=0.4, family="poisson")
    model.fit(np.arange(120.0)[:, None], calls, exposure=hours)
    rates = model.predict([[10.0], [110.0]])
    assert rates == pytest.approx([2.0, 6.0], rel=0.35)


def pipeline():
    """README: a model among those of scikit-learn, its weights searched, saved and loaded."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    steps = make_pipeline(StandardScaler(), spdpeg.FusedLogisticRegression())
    search = GridSearchCV(steps, {"fusedlogisticregression__lam2": [1e-3, 1e-2]}, cv=2).fit(X, Y)
    spdpeg.save_model(search.best_estimator_[-1], "fused.model")
    again = spdpeg.load_model("fused.model")
    np.testing.assert_array_equal(again.coef_, search.best_estimator_[-1].coef_)
    assert search.best_score_ > 0.7


def brain_mask():
    """The tutorial on masks: voxels inside a mask, neighbours joined."""
    from sklearn.feature_extraction.image import grid_to_graph

    mask = np.ones((4, 5, 3), dtype=bool)
    mask[0, 0, :] = mask[3, :, 2] = False
    voxels = RNG.standard_normal((80, mask.sum()))
    condition = voxels[:, :10].sum(axis=1) > 0
    graph = grid_to_graph(*mask.shape, mask=mask)
    model = spdpeg.GraphGuidedLogisticRegression(graph, r1="l1", lam1=0.01, lam2=0.01).fit(voxels, condition)
    image = np.zeros(mask.shape)
    image[mask] = model.coef_[0]
    assert np.abs(image[mask][:10]).mean() > 5 * np.abs(image[mask][10:]).mean()


def solver_research():
    """README, docs/solvers: one problem, several methods, their gaps against reads."""
    problem = spdpeg.Problem(X, Y, loss=spdpeg.losses.Logistic(), r1=spdpeg.penalties.L1(0.01))
    best = spdpeg.solve(problem, tol=1e-8)
    for name in ("spdpeg", "vr-spdpeg"):
        run = spdpeg.solve(problem, name, max_passes=20, tol=1e-8)
        assert run.objective >= best.certificate.dual - 1e-12
        assert len(run.history) > 1
    assert "proved" in str(best)


def stream():
    """README, the tutorial on streams: rows that come once."""
    model = spdpeg.FusedLogisticRegression(lam1=1e-3, lam2=1e-2, random_state=0)
    for first in range(0, 300, 50):
        model.partial_fit(X[first : first + 50], Y[first : first + 50], classes=[-1, 1])
    assert model.certificate_ is None
    assert model.score(X, Y) > 0.8


def image():
    """README, docs/api/signals: an image without its noise, and its regions."""
    clean = np.zeros((24, 24))
    clean[6:18, 8:20] = 1.0
    found = spdpeg.denoise(clean + 0.2 * RNG.standard_normal(clean.shape), lam2=0.4, isotropic=True)
    error = np.sqrt(np.mean((found.x - clean) ** 2))
    assert error < 0.1
    assert found.certificate.rel_gap < 1e-3


def weights():
    """docs/paths: cross-validation, the path on the same grids, and a page with two sliders."""
    model = spdpeg.FusedLogisticRegressionCV(n_lam1=3, n_lam2=3, cv=2, rule="one-standard-error").fit(X, Y)
    grids = {"lam1": model.lam1_grid_, "lam2": model.lam2_grid_}
    found = spdpeg.path(spdpeg.FusedLogisticRegression(), X, Y, **grids)
    found.explore("path.html", scores=model)
    model.report("fit.html")
    for page in ("path.html", "fit.html"):
        with open(page, encoding="utf-8") as file:
            assert "<!DOCTYPE html>" in file.read()


def command_line():
    """docs/command_line: a table with text, weights by cross-validation, a report, predictions."""
    ill = np.where(Y > 0, "yes", "no")
    rows = [f"{'ab'[k % 2]},{X[k, 0]:.6g},{X[k, 1]:.6g},{ill[k]}" for k in range(300)]
    with open("train.csv", "w", encoding="utf-8") as file:
        file.write("\n".join(["site,first,second,ill", *rows]))
    fit = ["fit", "train.csv", "--model", "fused-logistic", "--categorical", "site", "--cv", "2", "--lam2", "0"]
    assert cli.main([*fit, "-o", "ill.model", "--report", "ill.html"]) == 0
    assert cli.main(["predict", "ill.model", "train.csv", "-o", "said.txt", "--json"]) == 0
    with open("said.txt", encoding="utf-8") as file:
        assert set(file.read().split()) <= {"yes", "no"}


TASKS = [copy_numbers, trend, counts, pipeline, brain_mask, solver_research, stream, image, weights, command_line]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.__name__)
def test_a_new_user_gets_it_done(task, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    task()
    if task is command_line:
        told = capsys.readouterr().out.strip().splitlines()[-1]
        assert json.loads(told)["rows"] == 300


def test_ten_tasks_of_few_lines():
    assert len(TASKS) == 10
    for task in TASKS:
        source = inspect.getsource(task).partition('"""\n')[2]
        own = [line for line in source.splitlines() if line.strip() and not re.match(r"\s*assert\b", line)]
        assert len(own) < 15, task.__name__
