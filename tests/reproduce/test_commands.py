"""`spdpeg reproduce` and `spdpeg compare` as they are typed."""

from dataclasses import replace

import numpy as np
import pytest

from spdpeg import cli, files, losses, operators, penalties
from spdpeg.cli import compare, terms
from spdpeg.reproduce import page, results, runner
from support.study import curves

SMALL = ["--rounds", "1", "--seeds", "1", "--passes", "2", "--seconds", "1", "--jobs", "1"]


def test_reproduce_ends_with_the_verdict_and_the_page(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    chosen = ["--sets", "clustered_graph", "--tasks", "flr", "--methods", "spdpeg", "egadm"]
    assert cli.main(["reproduce", *chosen, *SMALL]) == 0
    out = capsys.readouterr().out
    assert "What the paper says" in out
    assert "supported" in out or "contradicted" in out
    assert out.rstrip().endswith(str(tmp_path / "spdpeg-reproduce" / "report.html"))
    assert {key[2] for key in curves(tmp_path / "spdpeg-reproduce")} == {"spdpeg", "egadm"}


def test_compare_reads_a_file_of_ones_own(capsys, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 6))
    np.savetxt(tmp_path / "mine.csv", np.c_[X, X @ np.repeat([1.0, -1.0], 3) + rng.standard_normal(120)], delimiter=",")
    problem = ["--loss", "squared", "--r1", "l1:0.01", "--r2", "l1:0.05", "--F", "chain"]
    output = tmp_path / "there"
    solvers = ["--solvers", "vr-spdpeg", "pd3o"]
    assert cli.main(["compare", str(tmp_path / "mine.csv"), *problem, *solvers, *SMALL, "--output", str(output)]) == 0
    assert "vr-spdpeg" in capsys.readouterr().out
    found = curves(output)
    assert set(found) == {("task", "mine", name, "0", "0") for name in ("vr-spdpeg", "pd3o")}
    page = (output / "report.html").read_text()
    assert "Solvers on mine" in page
    assert '"score":"R^2"' in page


def test_compare_by_default_is_a_fused_lasso_at_weights_that_matter(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 6))
    np.savez(tmp_path / "mine.npz", X=X, y=np.sign(X[:, 0]))
    args = cli._parsed(["compare", str(tmp_path / "mine.npz")])
    r1, r2, F = compare._terms(args, files.read(tmp_path / "mine.npz"))
    largest = np.abs(X.T @ np.sign(X[:, 0]) / 200).max()
    assert r1.weight == r2.weight == pytest.approx(0.1 * largest, rel=0.05)
    assert isinstance(F, operators.FirstDifference)
    asked = cli._parsed(["compare", str(tmp_path / "mine.npz"), "--r1", "ridge:0.5"])
    assert [type(term) for term in compare._terms(asked, files.read(tmp_path / "mine.npz"))] == [
        penalties.L2Squared,
        penalties.Zero,
        operators.Identity,
    ]


def test_an_optimum_that_is_not_proved_is_not_shown(output, study):
    found = results.collect(study, runner.Parts(study, output / "parts"))
    assert all(o.proved for o in found.optima)
    assert page._optimum(found, "flr", "clusters")["objective"] > 0.0
    doubtful = replace(found, optima=[o._replace(proved=False) for o in found.optima])
    assert "objective" not in page._optimum(doubtful, "flr", "clusters")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["reproduce", "--sets", "iris"], "invalid choice: 'iris'"),
        (["reproduce", "--methods", "adam"], "invalid choice: 'adam'"),
        (["compare", "x.csv", "--loss", "cubic"], "'cubic' is none of logistic"),
        (["compare", "x.csv", "--r1", "l1:1,2"], "'l1:1,2' has more numbers than it takes"),
        (["compare", "x.csv", "--r1", "l1:a"], "could not convert"),
        (["compare", "x.csv", "--F", "nowhere.npz"], "'nowhere.npz' is no file and none of identity, chain"),
        (["compare", "x.csv", "--F", "grid:a"], "'grid:a'"),
    ],
)
def test_wrong_usage_is_refused(arguments, words, capsys):
    with pytest.raises(SystemExit) as exit_:
        cli.main(arguments)
    assert exit_.value.code == 2
    assert words in " ".join(capsys.readouterr().err.split())


def test_wrong_numbers_are_refused(capsys, tmp_path):
    chosen = ["reproduce", "--sets", "clustered_graph", "--output", str(tmp_path)]
    assert cli.main([*chosen, "--jobs", "0"]) == 1
    assert "--jobs is 0" in capsys.readouterr().err
    assert cli.main([*chosen, "--rounds", "9"]) == 1
    assert "choose 1 to 5" in capsys.readouterr().err


def test_a_file_without_labels_is_refused(capsys, tmp_path):
    np.savez(tmp_path / "rows.npz", X=np.eye(10))
    assert cli.main(["compare", str(tmp_path / "rows.npz")]) == 1
    assert "has no labels" in capsys.readouterr().err


def test_terms():
    assert isinstance(terms.loss("logistic"), losses.Logistic)
    assert terms.loss("huber:1.35").delta == 1.35
    net = terms.penalty("elastic-net:0.1,0.2")
    assert isinstance(net, penalties.ElasticNet)
    assert (net.l1, net.l2) == (0.1, 0.2)
    X = np.random.default_rng(0).standard_normal((30, 12))
    assert isinstance(terms.operator("chain")(X), operators.FirstDifference)
    assert terms.operator("difference:2")(X).bind(12).n_outputs == 10
    assert terms.operator("grid:3x4")(X).bind(12).n_outputs == 2 * 4 + 3 * 3
    assert isinstance(terms.operator("knn")(X), operators.GraphDifference)


def test_an_operator_from_a_file(tmp_path):
    F = np.array([[1.0, -1.0, 0.0], [0.0, 2.0, -2.0]])
    np.savez(tmp_path / "F.npz", X=F)
    made = terms.operator(str(tmp_path / "F.npz"))(np.eye(3)).bind(3)
    np.testing.assert_array_equal(made.forward(np.array([1.0, 2.0, 4.0])), F @ [1.0, 2.0, 4.0])
