"""Weights chosen by cross-validation, columns of text, pages, signals: what a person asks of the command line."""

import json

import numpy as np
import pandas as pd
import pytest

import spdpeg
from spdpeg import cli
from spdpeg.cli import models
from spdpeg.model_file import load_model


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    """Prices by size and city, with a column that means nothing."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("homes") / "homes.csv"
    cities = np.array(["Oslo", "Rome", "Bern"])
    chosen, size = rng.integers(0, 3, 90), rng.standard_normal(90)
    price = 2.0 * size + np.array([0.0, 3.0, -1.0])[chosen] + 0.1 * rng.standard_normal(90)
    rows = [f"n{k},{cities[c]},{s},{p}" for k, (c, s, p) in enumerate(zip(chosen, size, price, strict=True))]
    path.write_text("\n".join(["id,city,size,price", *rows]) + "\n")
    return path


def told(capsys, *arguments):
    assert cli.main([*map(str, arguments), "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


def test_fit_with_text_cross_validation_and_a_report(homes, tmp_path, capsys):
    columns = ["--drop", "id", "--categorical", "city"]
    files = ["-o", tmp_path / "m", "--report", tmp_path / "fit.html"]
    out = told(capsys, "fit", homes, "--model", "fused-lasso", *columns, "--cv", 3, "--lam2", 0, *files)
    model = load_model(tmp_path / "m")
    assert type(model) is spdpeg.FusedLassoCV
    assert model.feature_names_in_.tolist() == ["city=Bern", "city=Oslo", "city=Rome", "size"]
    assert (out["lam1"], out["lam2"]) == (model.lam1_, 0.0)
    assert out["held_out_score"] == model.mean_scores_.max()
    assert "city=Rome" in (tmp_path / "fit.html").read_text()
    score = told(capsys, "predict", tmp_path / "m", homes, "--drop", "id", "-o", tmp_path / "p")["score"]
    assert score > 0.95


def test_a_family(tmp_path, capsys):
    counts = np.random.default_rng(0).poisson(np.where(np.arange(60) < 30, 2.0, 8.0))
    rows = np.c_[np.arange(60), counts]
    np.savetxt(tmp_path / "counts.csv", rows, delimiter=",", fmt="%d", header="week,calls", comments="")
    options = ["--model", "trend-filter", "--order", 1, "--family", "poisson", "--lam2", 0.3]
    told(capsys, "fit", tmp_path / "counts.csv", *options, "-o", tmp_path / "m")
    model = load_model(tmp_path / "m")
    assert model.family == "poisson"
    assert model.predict(pd.DataFrame({"week": [5.0, 50.0]})) == pytest.approx([2.0, 8.0], rel=0.3)


@pytest.mark.parametrize("name", models.MODELS)
def test_every_model_has_a_form_that_chooses(name):
    assert hasattr(spdpeg.estimators, f"{models.MODELS[name].__name__}CV")


def test_a_path_to_explore(homes, tmp_path, capsys):
    small = ["--n-lam1", 2, "--n-lam2", 2, "--drop", "id", "--categorical", "city"]
    out = told(capsys, "path", homes, "--model", "fused-lasso", *small, "--explore", tmp_path / "path.html")
    assert out["page"] == str(tmp_path / "path.html")
    assert 'id="lam2"' in (tmp_path / "path.html").read_text()


def test_denoise_a_file(tmp_path, capsys):
    years, flow = spdpeg.datasets.nile()
    (tmp_path / "nile.csv").write_text(
        "year,flow\n" + "\n".join(f"{y},{v:g}" for y, v in zip(years, flow, strict=True))
    )
    found = spdpeg.denoise(flow, 1000.0)
    files = ["-o", tmp_path / "out.csv", "--report", tmp_path / "nile.html"]
    out = told(capsys, "denoise", tmp_path / "nile.csv", "--lam2", 1000, *files)
    assert [(s["start"], s["stop"], s["value"]) for s in out["segments"]] == found.segments
    assert "proved" in out["certificate"]
    written = np.loadtxt(tmp_path / "out.csv", delimiter=",", skiprows=1)
    np.testing.assert_array_equal(written[:, 1], found.x)
    assert np.unique(written[:, 2]).size == found.n_pieces
    assert '"flow"' in (tmp_path / "nile.html").read_text()
    assert cli.main(["denoise", str(tmp_path / "nile.csv"), "--lam2", "bic"]) == 0
    assert "to 99: " in capsys.readouterr().out


def test_denoise_refuses_what_it_cannot_use(tmp_path, capsys):
    with pytest.raises(SystemExit):
        cli.main(["denoise", "x.csv", "--lam2", "much"])
    assert "usage: spdpeg denoise" in capsys.readouterr().err
