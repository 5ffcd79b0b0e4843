"""Pages of models and paths in a real browser, and what notebooks show."""

import json
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import pytest

from spdpeg import (
    FusedLasso,
    FusedLassoCV,
    FusedLogisticRegression,
    InputError,
    TotalVariationClassifier,
    datasets,
    denoise,
    path,
)
from spdpeg.pages import frame, notebook

pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver.common.keys import Keys

EVIL = "</script><b>&"
X, Y, _ = datasets.piecewise_constant(200, 12, n_pieces=4, task="regression", seed=1)
SIGNS = np.where(Y > 0.0, EVIL, "no")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def model():
    frame_of_data = pd.DataFrame(X, columns=[EVIL, *(f"gene {j}" for j in range(11))])
    return FusedLasso(0.05, 0.2).fit(frame_of_data, Y)


@pytest.fixture(scope="module")
def found():
    return path(FusedLasso(), X[:150], Y[:150], n_lam1=5, n_lam2=3)


@pytest.fixture
def open_page(browser):
    """A function that opens a file; whatever the test does, the console stays empty and the network is left alone."""

    def opened(file):
        browser.get("about:blank")
        browser.get_log("performance")
        browser.get(file.as_uri())
        return browser

    yield opened
    assert browser.get_log("browser") == []
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    assert {urlsplit(url).scheme for url in urls} <= {"file", "data", "about", "blob"}


def text_of(page):
    return page.find_element("tag name", "body").text


def telephone(page, width=360):
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    )
    try:
        page.refresh()
        return page.execute_script("return document.documentElement.scrollWidth")
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_report_of_a_model(open_page, model, directory):
    model.report(directory / "fit.html")
    page = open_page(directory / "fit.html")
    text = text_of(page)
    assert "FusedLasso" in text
    assert str(model.certificate_)[1:] in text
    cells = page.execute_script(
        "return [...document.querySelectorAll('section tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
    )
    cells = [row for row in cells if len(row) == 4]
    lengths = [int(row[2]) for row in cells]
    values = [float(row[3]) for row in cells]
    np.testing.assert_allclose(np.repeat(values, lengths), model.coef_, rtol=1e-4, atol=1e-12)
    assert cells[0][0] == EVIL
    assert page.execute_script("return document.querySelectorAll('svg').length") == 2
    settings = page.execute_script("return [...document.querySelectorAll('details')].map(d => d.textContent).join()")
    for word in ("lam2", "numba", "degrees of freedom"):
        assert word in settings
    assert telephone(page) <= 360


def test_report_has_an_image_or_a_panel_for_each_class(open_page, directory):
    TotalVariationClassifier((3, 4), lam1=0.01, lam2=0.02).fit(X, SIGNS).report(directory / "image.html")
    page = open_page(directory / "image.html")
    assert page.execute_script("const c = document.querySelector('canvas'); return [c.width, c.height]") == [4, 3]
    FusedLogisticRegression().fit(X, np.digitize(Y, [-1.0, 1.0])).report(directory / "classes.html")
    page = open_page(directory / "classes.html")
    assert page.execute_script("return document.querySelectorAll('svg').length") == 6
    assert "class 2" in text_of(page)


def test_report_of_a_stream_proves_nothing(open_page, directory):
    model = FusedLogisticRegression().partial_fit(X, Y > 0.0, classes=[False, True])
    model.report(directory / "stream.html")
    assert "nothing is known" in text_of(open_page(directory / "stream.html"))


@pytest.mark.parametrize(("y", "drawn"), [(Y[:50], "svg"), (Y[:24].reshape(2, 3, 4), "canvas")], ids=["line", "volume"])
def test_report_of_what_was_denoised(open_page, directory, y, drawn):
    found = denoise(np.where(y == y.flat[0], np.nan, y), 0.5)
    found.report(directory / "denoised.html", EVIL)
    page = open_page(directory / "denoised.html")
    assert page.find_elements("css selector", drawn)
    assert str(found.certificate) in text_of(page)
    assert page.title == EVIL
    assert telephone(page) <= 360


def test_sliders_show_the_fit_at_each_pair_of_weights(open_page, found, directory):
    scores = found.scores(X[150:], Y[150:])
    found.explore(directory / "path.html", scores)
    page = open_page(directory / "path.html")

    def shown():
        rows = page.execute_script(
            "return [...document.querySelectorAll('#numbers div')].map(d => [...d.children].map(c => c.textContent))"
        )
        return {name: float(value) for name, value in rows}

    i, j = np.unravel_index(scores.argmax(), scores.shape)
    assert shown()["score"] == pytest.approx(scores.max(), rel=1e-4)
    assert not page.find_element("id", "go").is_enabled()
    page.find_element("id", "lam1").send_keys(Keys.HOME)
    page.find_element("id", "lam2").send_keys(Keys.END)
    assert shown() == pytest.approx(
        {
            "score": scores[-1, 0],
            "coefficients other than 0": found.nonzero[-1, 0],
            "pieces": found.pieces[-1, 0],
            "objective": found.objective[-1, 0],
            "relative gap": found.gap[-1, 0],
        },
        rel=1e-4,
    )
    label = page.find_element("id", "lam2-label").text
    assert float(label.removeprefix("lam2 = ")) == pytest.approx(found.lam2[0], rel=1e-2)
    before = page.execute_script("return document.querySelector('svg path').getAttribute('d')")
    page.find_element("id", "go").click()
    assert shown()["score"] == pytest.approx(scores[i, j], rel=1e-4)
    assert page.execute_script("return document.querySelector('svg path').getAttribute('d')") != before
    page.find_element("id", "map").click()  # its middle
    assert "lam1=2&lam2=1" in page.current_url
    assert telephone(page) <= 360


def test_colours_follow_the_reader(open_page, found, directory):
    found.explore(directory / "plain.html")
    page = open_page(directory / "plain.html")
    corner = "return [...document.getElementById('map').getContext('2d').getImageData(0, 0, 1, 1).data]"
    light = page.execute_script(corner)
    assert not page.find_element("id", "chosen").is_displayed()
    setting = {"media": "screen", "features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", setting)
    try:
        page.refresh()
        assert page.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(21, 23, 26)"
        assert page.execute_script(corner) != light
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def test_a_path_gives_the_model_of_a_pair(found):
    alone = FusedLasso(found.lam1[2], found.lam2[1]).fit(X[:150], Y[:150])
    model = found.at(2, 1)
    assert (model.lam1, model.lam2) == (found.lam1[2], found.lam2[1])
    np.testing.assert_allclose(model.predict(X), alone.predict(X), rtol=1e-2, atol=1e-2)
    assert found.scores(X[150:], Y[150:])[2, 1] == model.score(X[150:], Y[150:])


def test_explorer_takes_a_model_that_chose_on_the_same_grid(found, directory):
    chooser = FusedLassoCV(lam1=found.lam1, lam2=found.lam2, cv=2).fit(X, Y)
    values, place = found._judged(chooser)
    assert values is not None
    assert (found.lam1[place[0]], found.lam2[place[1]]) == (chooser.lam1_, chooser.lam2_)
    with pytest.raises(InputError, match="5 x 3 weights"):
        found.explore(directory / "no.html", np.zeros((3, 5)))
    assert not (directory / "no.html").exists()


def test_notebooks_show_sentences_and_tables(model, found):
    for shown in (model.certificate_, found):
        assert shown._repr_html_().count("<tr>") >= 4
    assert str(model.certificate_) in model.certificate_._repr_html_()
    assert "<b>" not in notebook.card(EVIL, {EVIL: EVIL})


def test_numbers_that_json_has_no_word_for():
    assert frame.numbers([[1.0, np.nan], [np.inf, 1 / 3]]) == [[1.0, None], [None, 0.3333333]]
