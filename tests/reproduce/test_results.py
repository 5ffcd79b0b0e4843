"""What a finished study leaves behind."""

import csv
import json
import re
import struct
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

import spdpeg
from spdpeg.reproduce import figures, page
from support.study import curves


def test_every_curve_is_in_the_table(study, output):
    found = curves(output)
    expected = {
        (task, "clusters", method, str(fold), str(seed))
        for task in study.tasks
        for method in study.methods[task]
        for fold in (0, 1)
        for seed in ((0,) if method == "egadm" else (0, 1))
    }
    assert set(found) == expected
    for rows in found.values():
        assert np.all(np.isfinite(rows))
        assert np.all(np.diff(rows[:, 0]) > 0)
        assert np.all((rows[:, 5] >= 0) & (rows[:, 5] <= 1))


def test_no_curve_lies_below_the_proven_bound(output):
    with open(output / "optima.csv") as file:
        bounds = {(row["task"], row["round"]): float(row["bound"]) for row in csv.DictReader(file)}
    for (task, _, _, fold, _), rows in curves(output).items():
        assert np.all(rows[:, 3] >= bounds[task, fold] - 1e-12)


def test_settings_tell_how_it_was_made(output):
    settings = json.loads((output / "settings.json").read_text())
    assert settings["versions"]["spdpeg"] == spdpeg.__version__
    assert settings["study"]["rounds"] == 2
    assert settings["sets"]["clusters"].startswith("300 rows")
    assert settings["machine"]["processor"]
    chosen = settings["chosen by cross-validation, in powers of 4 (rho) and 3"]["flr/clusters"]
    assert len(chosen["sgadm"]) == 2
    assert set(chosen["sgadm"][0]) == {"rho", "kappa", "interior", "candidates"}
    assert "spdpeg" not in chosen


@pytest.mark.parametrize("name", ["flr_seconds", "flr_passes", "ggrlr_seconds", "ggrlr_passes"])
def test_figures_have_the_layout_of_the_paper(output, name):
    png = (output / "figures" / f"{name}.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    assert struct.unpack(">II", png[16:24])[1] > 900
    svg = ElementTree.parse(output / "figures" / f"{name}.svg")
    panels = [g for g in svg.iter("{http://www.w3.org/2000/svg}g") if re.fullmatch(r"axes_\d+", g.get("id", ""))]
    assert len(panels) == 3


def test_a_missing_library_is_told_before_anything_is_computed(monkeypatch):
    for module, check in (("plotly", page.require), ("matplotlib", figures.require)):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(spdpeg.UnsupportedError, match="pip install plotly matplotlib"):
            check()
