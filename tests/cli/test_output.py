"""What commands write and print: never over their own input, never with what steers a terminal."""

import os
import stat

import numpy as np
import pytest

from spdpeg import cli
from spdpeg.estimators import FusedLogisticRegression
from spdpeg.model_file import save_model

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 3)).round(3)
Y = np.where(X[:, 0] > 0, "yes", "no")
FIT = ["--model", "fused-logistic", "--tol", "0.1"]


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(
        "a,b,c,label\n" + "".join(",".join(map(str, [*row, y])) + "\n" for row, y in zip(X, Y, strict=True))
    )
    return path


@pytest.fixture
def model(tmp_path):
    save_model(FusedLogisticRegression(tol=0.1).fit(X, Y), tmp_path / "model")
    return tmp_path / "model"


def refused(capsys, *arguments):
    """The message of a command that fails."""
    assert cli.main([*map(str, arguments)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


def test_no_command_overwrites_what_it_reads(data, model, tmp_path, capsys):
    os.link(data, tmp_path / "link.csv")
    matrix = tmp_path / "F.npz"
    np.savez(matrix, X=np.eye(3))
    before = {path: path.read_bytes() for path in (data, model, matrix)}
    general = ["--model", "generalized-lasso-logistic", "--F", matrix]
    for arguments in (
        ["fit", data, *FIT, "-o", data],
        ["fit", data, *FIT, "-o", tmp_path / "link.csv"],
        ["fit", data, *FIT, "-o", tmp_path / "." / "data.csv"],
        ["fit", data, *general, "-o", matrix],
        ["predict", model, data, "-o", data],
        ["predict", model, data, "-o", model],
        ["path", data, *FIT, "-o", data],
    ):
        assert "that the command reads. Write to another one." in refused(capsys, *arguments)
    assert {path: path.read_bytes() for path in before} == before


def test_results_do_not_go_where_the_data_lie(data, tmp_path, capsys):
    assert "lies in the directory for the results" in refused(capsys, "compare", data, "--output", tmp_path)
    assert os.listdir(tmp_path) == ["data.csv"]


def test_a_directory_is_no_file_to_write_to(data, tmp_path, capsys):
    assert "is a directory. Name a file." in refused(capsys, "fit", data, *FIT, "-o", tmp_path)


def test_permissions_are_kept(data, tmp_path):
    (tmp_path / "old").write_text("")
    (tmp_path / "old").chmod(0o600)
    assert cli.main(["fit", str(data), *FIT, "-o", str(tmp_path / "old")]) == 0
    assert stat.S_IMODE((tmp_path / "old").stat().st_mode) == 0o600


def test_nothing_that_is_printed_steers_the_terminal(tmp_path, capsys):
    labels = np.where(X[:, 0] > 0, "\x1b[31myes", "no\x9b2J")
    fitted = FusedLogisticRegression(tol=0.1).fit(X, labels)
    fitted.feature_names_in_ = np.array(["\x1b]0;title\x07", "b", "c"], dtype=object)
    save_model(fitted, tmp_path / "model")
    np.savez(tmp_path / "data.npz", X=X, y=labels)
    for arguments in (["info", "model"], ["info", "data.npz"], ["predict", "model", "data.npz"]):
        assert cli.main([arguments[0], *(str(tmp_path / name) for name in arguments[1:])]) == 0
        out = capsys.readouterr().out
        assert not set(out) & {"\x1b", "\x9b", "\x07"}
        assert "\\x1b" in out


def test_letters_that_the_output_lacks_are_written_out(tmp_path, monkeypatch, capfd):
    import io
    import sys

    np.savez(tmp_path / "data.npz", X=X, y=np.where(X[:, 0] > 0, "größe", "no"))
    screen = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", screen)
    assert cli.main(["info", str(tmp_path / "data.npz")]) == 0
    assert b"gr\\xf6\\xdfe" in screen.buffer.getvalue()


def test_want_of_memory_is_one_line(monkeypatch, capsys, data):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(cli.info.files, "read", fail)
    assert "The memory does not suffice" in refused(capsys, "info", data)
