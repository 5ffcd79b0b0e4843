"""The page in a real browser: choices change the plot, values are those of the tables, nothing leaves the machine."""

import csv
import json
from urllib.parse import urlsplit

import numpy as np
import pytest

from spdpeg.reproduce.methods import METHODS
from support.study import curves

pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

PLOT = "return document.getElementById('plot')"


@pytest.fixture
def page(browser, output):
    """The page as it is first seen; whatever the test does, the console must stay empty."""
    browser.get("about:blank")
    browser.get_log("performance")
    browser.get((output / "report.html").as_uri())
    yield browser
    assert browser.get_log("browser") == []


def lines(page):
    """The mean curves of the plot by the label of the method."""
    traces = page.execute_script(f"{PLOT}.data.map(t => ({{name: t.name, x: [...t.x], y: [...t.y]}}))")
    return {trace["name"]: trace for trace in traces if trace["name"]}


def press(page, group, value):
    page.find_element("css selector", f"input[name={group}][value={value}]").click()


def shown(page, group):
    return page.find_element("css selector", f"input[name={group}]:checked").get_attribute("value")


def test_nothing_is_requested_from_the_network(page):
    press(page, "axis", "seconds")
    messages = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    urls = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    assert urls
    assert {urlsplit(url).scheme for url in urls} <= {"file", "data", "about", "blob"}


@pytest.mark.parametrize("axis", ["seconds", "passes"])
@pytest.mark.parametrize(("metric", "column"), [("objective", 3), ("test_loss", 4), ("score", 5)])
@pytest.mark.parametrize(
    ("task", "labels"),
    [
        ("flr", {"SPDPEG, printed": "spdpeg", "SGADM": "sgadm"}),
        ("ggrlr", {"SPDPEG-SC2, printed": "spdpeg-sc2", "SGADM": "sgadm"}),
    ],
)
def test_values_are_those_of_the_table(page, output, axis, metric, column, task, labels):
    for group, value in (("task", task), ("metric", metric), ("axis", axis)):
        press(page, group, value)
    found, drawn = curves(output), lines(page)
    for label, name in labels.items():
        rounds = [found[task, "clusters", name, str(fold), str(seed)] for fold in range(2) for seed in range(2)]
        length = min(map(len, rounds))
        mean = np.mean([r[1:length] for r in rounds], axis=0)
        assert drawn[label]["x"] == pytest.approx(mean[:, 0 if axis == "passes" else 2], rel=1e-6)
        assert drawn[label]["y"] == pytest.approx(mean[:, column], rel=1e-6)


def test_the_excess_is_measured_from_the_bound(page, output):
    press(page, "metric", "excess")
    with open(output / "optima.csv") as file:
        bounds = [float(row["bound"]) for row in csv.DictReader(file) if row["task"] == "flr"]
    runs = [("flr", "clusters", "spdpeg", str(fold), str(seed)) for fold in range(2) for seed in range(2)]
    ends = [curves(output)[run][1, 3] - bounds[int(run[3])] for run in runs]
    assert lines(page)["SPDPEG, printed"]["y"][0] == pytest.approx(np.mean(ends), rel=1e-5)
    assert page.execute_script(f"{PLOT}.layout.yaxis.type") == "log"


OURS = {"SPDPEG, printed", "SPDPEG, authors'", "SPDPEG, tuned", "SPDPEG, one sample, tuned"}


def test_methods_come_and_go(page):
    # The authors' rivals wait for their button.
    assert set(lines(page)) == OURS | {"EGADM", "SGADM", "VR-SPDPEG"}
    page.find_element("css selector", "#method-list input[value=sgadm]").click()
    assert set(lines(page)) == OURS | {"EGADM", "VR-SPDPEG"}
    page.find_element("id", "none").click()
    assert lines(page) == {}
    page.find_element("id", "authors").click()
    assert set(lines(page)) == {"SPDPEG, authors'", "SGADM, authors'"}
    page.find_element("id", "all").click()
    assert set(lines(page)) == OURS | {"EGADM", "SGADM", "SGADM, authors'", "VR-SPDPEG"}
    press(page, "task", "ggrlr")
    regimes = {"SPDPEG-SC1, printed", "SPDPEG-SC2, printed"}
    assert set(lines(page)) == regimes | {"EGADM", "SGADM", "SGADM, authors'", "VR-SPDPEG"}


def test_the_range_over_the_rounds_can_be_hidden(page):
    count = f"{PLOT}.data.length"
    assert page.execute_script(count) == 3 * 7
    page.find_element("id", "range").click()
    assert page.execute_script(count) == 7


def test_it_opens_with_the_conclusion_and_the_strip_before_the_curves(page, output):
    paragraphs = [p.text for p in page.find_elements("css selector", "#conclusion p")]
    assert len(paragraphs) == 2
    assert paragraphs[1].startswith("So the paper's ranking")
    heights = [page.find_element("id", name).location["y"] for name in ("conclusion", "strip", "explorer", "verdict")]
    assert heights == sorted(heights)
    marks = page.execute_script(
        "return [...document.querySelectorAll('#strips .mark')].map(m => [m.textContent, m.title])"
    )
    assert len(marks) == 3 * sum(
        len(table.find_elements("css selector", "tbody tr"))
        for table in page.find_elements("css selector", "#strips table")
    )
    assert all(symbol in "▲●▼" and title for symbol, title in marks)


def test_passes_are_the_axis_where_a_run_takes_milliseconds(page):
    assert shown(page, "axis") == "passes"
    drawn = lines(page)["SGADM"]["x"]
    press(page, "axis", "reads")
    assert lines(page)["SGADM"]["x"] == pytest.approx([240 * x for x in drawn])


@pytest.mark.parametrize("stage", ["early", "end"])
def test_the_ranking_is_that_of_the_verdict(page, output, stage):
    press(page, "stage", stage)
    with open(output / "verdict.csv") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if (row["task"], row["metric"], row["axis"], row["stage"]) == ("flr", "objective", "passes", stage)
        ]
    cells = page.execute_script(
        "return [...document.querySelectorAll('#ranking tbody tr')].map(r => [...r.cells].map(c => c.textContent))"
    )
    labels = {name: method.label for name, method in METHODS["flr"].items()}
    assert [cell[1] for cell in cells] == [labels[row["method"]] for row in rows]
    assert [float(cell[2]) for cell in cells if cell[0].isdigit()] == pytest.approx(
        [float(row["mean"]) for row in rows if row["place"]], rel=1e-4
    )


def test_the_sentences_and_the_settings_are_there(page, study):
    text = page.find_element("tag name", "body").text
    assert "our method mostly achieves the best performance" in text
    assert study.data["clusters"].description in text
    settings = page.find_element("id", "settings").get_attribute("textContent")
    assert "chosen by cross-validation" in settings
    assert "spdpeg" in settings


def test_keys_are_enough(page):
    first = page.find_element("css selector", "input[name=metric][value=objective]")
    first.send_keys(Keys.ARROW_DOWN)
    assert shown(page, "metric") == "excess"
    # The controls are made anew at every choice, and the one in use keeps the focus.
    page.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    assert shown(page, "metric") == "test_loss"
    box = page.find_element("css selector", "#method-list input[value=spdpeg]")
    box.send_keys(Keys.SPACE)
    assert "SPDPEG, printed" not in lines(page)


def test_a_choice_can_be_shared_as_a_link(page, output):
    press(page, "task", "ggrlr")
    press(page, "metric", "score")
    address = page.current_url
    page.get("about:blank")
    page.get(address)
    assert (shown(page, "task"), shown(page, "metric")) == ("ggrlr", "score")


def test_it_fits_on_a_telephone(page):
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    )
    try:
        page.refresh()
        assert page.execute_script("return document.documentElement.scrollWidth") <= 360
        assert page.execute_script(f"{PLOT}.getBoundingClientRect().width") <= 360
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def luminance(color):
    """As the web's rules for contrast take it, of a colour like #1d2024."""
    parts = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return float(np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize(("media", "features"), [("screen", "dark"), ("print", "dark")])
def test_colours_follow_the_reader(page, media, features):
    def backgrounds():
        plot = page.execute_script(f"{PLOT}.layout.paper_bgcolor")
        return plot, page.execute_script("return getComputedStyle(document.body).backgroundColor")

    assert backgrounds() == ("#ffffff", "rgb(252, 252, 251)")
    setting = {"media": media, "features": [{"name": "prefers-color-scheme", "value": features}]}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", setting)
    try:
        expected = ("#fff", "rgb(255, 255, 255)") if media == "print" else ("#1d2024", "rgb(21, 23, 26)")
        WebDriverWait(page, 10).until(lambda _: backgrounds() == expected)
        hidden = page.execute_script("return getComputedStyle(document.getElementById('controls')).display")
        legend = page.execute_script(f"{PLOT}.layout.showlegend")
        assert (hidden == "none") == legend == (media == "print")
        if media == "screen":
            drawn = page.execute_script(f"{PLOT}.data.filter(t => t.name).map(t => t.line.color)")
            assert min(luminance(color) + 0.05 for color in drawn) >= 2.9 * (luminance(expected[0]) + 0.05)
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
