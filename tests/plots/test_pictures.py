"""Pictures show the numbers they are made of."""

import sys
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

import spdpeg
from spdpeg import UnsupportedError, datasets, estimators, losses, operators, paths, penalties, plots

X, Y, _ = datasets.piecewise_constant(300, 24, seed=5)
TRIPLE = np.argmax(X[:, :3], axis=1)
EDGES = [(0, 1), (1, 2), (2, 0), (3, 4), (5, 6), (6, 7), (7, 8), (8, 5)]


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Draw into memory and leave no figure behind."""
    mpl.use("Agg")
    yield
    mpl.pyplot.close("all")


def drawn(figure: Any) -> Any:
    """The figure, after everything in it has been painted."""
    figure.canvas.draw()
    return figure


def panels(figure: Any) -> list[Any]:
    """Without those of colour bars."""
    return [panel for panel in figure.axes if panel.get_label() != "<colorbar>"]


@pytest.fixture(scope="module")
def result() -> spdpeg.Result:
    problem = spdpeg.Problem(
        X, Y, losses.Logistic(), penalties.L1(1e-3), penalties.L1(1e-2), operators.FirstDifference()
    )
    return spdpeg.solve(problem, "vr-spdpeg", tol=1e-6, max_passes=300)


def test_a_run(result: spdpeg.Result) -> None:
    shown = panels(drawn(result.plot()))
    history, bound = result.history, result.certificate.dual
    assert len(shown) == 6
    values = [history.objective, (history.objective - bound) / history.objective, history.violation]
    for row, expected in enumerate(values):
        for column, x in enumerate((history.passes, history.seconds)):
            line = shown[2 * row + column].get_lines()[0]
            np.testing.assert_array_equal(line.get_xdata(), x)
            np.testing.assert_allclose(line.get_ydata(), np.where(expected > 0.0, expected, np.nan), rtol=1e-12)
    assert shown[0].get_lines()[1].get_ydata()[0] == bound
    assert shown[2].get_yscale() == shown[4].get_yscale() == "log"


def test_a_run_without_a_bound() -> None:
    """A stream has no certificate, and its picture no gap."""
    chunks = spdpeg.data.Stream([(X[:200], Y[:200]), (X[200:], Y[200:])], classes=(-1.0, 1.0))
    problem = spdpeg.Problem(chunks, loss=losses.Logistic(), r1=penalties.L1(1e-3))
    shown = panels(drawn(plots.run(spdpeg.solve(problem, "spdpeg"))))
    assert [panel.get_ylabel() for panel in shown[::2]] == ["objective", "violation |Fx - z|"]


def test_steps_along_a_chain() -> None:
    model = estimators.FusedLogisticRegression(random_state=0).fit(X, Y)
    (panel,) = panels(drawn(model.plot_coefficients()))
    outline = panel.patches[0].get_data()
    np.testing.assert_array_equal(outline.values, model.coef_[0])
    np.testing.assert_array_equal(outline.edges, np.arange(25) - 0.5)
    assert panel.get_title().startswith(f"{np.count_nonzero(model.coef_)} of 24")


def test_a_curve_over_positions() -> None:
    t = np.sort(np.random.default_rng(0).uniform(0.0, 9.0, 20))
    model = estimators.TrendFilter(order=1, random_state=0).fit(t.reshape(-1, 1), np.sin(t))
    (steps,) = panels(drawn(plots.coefficients(model)))
    assert steps.get_xlabel() == "position"
    even = estimators.TrendFilter(random_state=0).fit(np.arange(12.0).reshape(-1, 1), np.arange(12.0))
    (panel,) = panels(drawn(plots.coefficients(even)))
    np.testing.assert_array_equal(panel.get_lines()[1].get_xdata(), even.knots_)
    np.testing.assert_array_equal(panel.get_lines()[1].get_ydata(), even.coef_)


@pytest.mark.parametrize(
    "model", [estimators.TotalVariationClassifier((4, 6)), estimators.LowRankClassifier((4, 6))], ids=["tv", "low rank"]
)
def test_an_image_for_each_class(model: Any) -> None:
    model.set_params(random_state=0).fit(X, TRIPLE)
    shown = panels(drawn(plots.coefficients(model)))
    images = [panel.images[0] for panel in shown if panel.images]
    assert [panel.get_title() for panel in shown[:3]] == ["class 0", "class 1", "class 2"]
    for image, coef in zip(images, model.coef_, strict=True):
        np.testing.assert_array_equal(image.get_array(), coef.reshape(4, 6))
        assert image.get_clim() == (-np.abs(model.coef_).max(), np.abs(model.coef_).max())


def test_slices_of_a_volume() -> None:
    model = estimators.TotalVariationClassifier((2, 3, 4), random_state=0).fit(X, Y)
    shown = panels(drawn(plots.coefficients(model)))
    assert [panel.get_title() for panel in shown] == ["slice 0", "slice 1"]
    np.testing.assert_array_equal(shown[1].images[0].get_array(), model.coef_.reshape(2, 3, 4)[1])


def test_a_graph() -> None:
    model = estimators.GraphGuidedLogisticRegression(EDGES, lam1=0.01, lam2=0.02, tol=1e-8, random_state=0)
    model.fit(X[:, :9], Y)
    (panel,) = panels(drawn(plots.coefficients(model)))
    nodes = panel.collections[0]
    np.testing.assert_array_equal(nodes.get_array(), model.coef_[0])
    places = np.asarray(nodes.get_offsets())
    lengths = [np.linalg.norm(places[i] - places[j]) for i, j in EDGES]
    assert min(lengths) > 0.1
    assert max(lengths) < np.ptp(places, axis=0).max()
    lines = {line.get_label(): np.isfinite(line.get_xdata()).sum() // 2 for line in panel.get_lines()}
    apart = np.array([abs(model.coef_[0, i] - model.coef_[0, j]) for i, j in EDGES])
    equal = int(np.sum(apart <= 1e-3 * np.abs(model.coef_).max()))
    assert lines == {"equal ends": equal, "others": len(EDGES) - equal}
    assert [text.get_text() for text in panel.texts] == [str(j) for j in range(9)]


def test_bars_where_there_is_no_structure() -> None:
    model = estimators.GeneralizedLassoClassifier(lam1=0.05, random_state=0).fit(X, Y)
    (panel,) = panels(drawn(plots.coefficients(model)))
    np.testing.assert_array_equal(panel.get_lines()[-1].get_ydata(), model.coef_[0])


def test_a_path() -> None:
    found = paths.path(estimators.FusedLogisticRegression(random_state=0), X, Y, n_lam1=4, n_lam2=3)
    surface, along1, along2 = panels(drawn(found.plot(at=(2, 1))))
    np.testing.assert_array_equal(surface.images[0].get_array(), found.nonzero)
    for panel, lines in ((along1, found.coef[:, 1, 0].T), (along2, found.coef[2, :, 0].T)):
        np.testing.assert_array_equal([line.get_ydata() for line in panel.get_lines()[1:]], lines)
        low, high = panel.get_ylim()
        assert low <= lines.min() <= lines.max() <= high
    assert [text.get_text() for text in along2.get_xticklabels()] == [f"{weight:.1g}" for weight in found.lam2]
    assert along1.get_title() == f"lam2 = {found.lam2[1]:.3g}"


def test_large_and_small_weights_on_an_axis() -> None:
    found = paths.path(estimators.FusedLasso(random_state=0), X, Y, lam1=[0.1], lam2=[25.0, 2.5, 0.25, 3e-3, 1e-4, 0.0])
    along2 = panels(drawn(found.plot()))[2]
    assert [text.get_text() for text in along2.get_xticklabels()] == ["25", "0.2", "0.0001"]


def test_scores_of_cross_validation() -> None:
    model = paths.FusedLogisticRegressionCV(n_lam1=4, n_lam2=3, cv=3, rule="one-standard-error", random_state=0)
    (panel,) = panels(drawn(model.fit(X, Y).plot_scores()))
    np.testing.assert_array_equal(panel.images[0].get_array(), model.mean_scores_)
    marks = {line.get_label(): (int(line.get_ydata()[0]), int(line.get_xdata()[0])) for line in panel.get_lines()}
    assert marks["best"] == np.unravel_index(model.mean_scores_.argmax(), (4, 3))
    i, j = marks["chosen"]
    assert (model.lam1_grid_[i], model.lam2_grid_[j]) == (model.lam1_, model.lam2_)


@pytest.mark.parametrize(("missing", "library"), [("matplotlib.pyplot", "matplotlib"), ("networkx", "networkx")])
def test_missing_libraries_are_named(missing: str, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = estimators.GraphGuidedLogisticRegression(EDGES, random_state=0).fit(X[:, :9], Y)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(UnsupportedError, match=f"pip install {library}"):
        plots.coefficients(model)
