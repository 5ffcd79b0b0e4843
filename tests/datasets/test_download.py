"""Downloads, from a server on this machine: what arrives is kept only if it is the data set."""

import dataclasses
import functools
import http.server
import logging
import sys
import threading
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from spdpeg import InputError, UnsupportedError, datasets
from spdpeg.datasets.catalogue import CATALOGUE

pooch = pytest.importorskip("pooch")


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch):
    """The directory that a local server offers; splice and hitech have their homes there."""
    monkeypatch.setattr(pooch.get_logger(), "level", logging.ERROR)
    root = tmp_path / "home"
    root.mkdir()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=root)) as service:
        address = f"http://127.0.0.1:{service.server_port}"
        for name, file in (("splice", "splice"), ("hitech", "docdata.zip")):
            monkeypatch.setitem(CATALOGUE, name, dataclasses.replace(CATALOGUE[name], home=f"{address}/{file}"))
        threading.Thread(target=service.serve_forever, daemon=True).start()
        yield root
        service.shutdown()


def write_splice(path, rows=1000):
    row = " ".join(f"{j}:{1 + j % 4}" for j in range(1, 61))
    path.write_text("".join(f"{1 - 2 * (i % 2):+d} {row}\n" for i in range(rows)))


def test_downloaded_once(server, cache):
    write_splice(server / "splice")
    first = datasets.load("splice")
    assert first.source == str(cache / "data" / "splice")
    (server / "splice").unlink()
    assert (datasets.load("splice").X != first.X).nnz == 0
    assert [file.name for file in (cache / "data").iterdir()] == ["splice"]


def test_text_sets_come_out_of_the_archive(server, cache):
    X = sp.random_array((2301, 10080), density=5e-4, format="csr", rng=np.random.default_rng(0))
    X.data[:] = np.arange(X.nnz) % 7 + 1
    lines = [
        " ".join(f"{j + 1} {v:g}" for j, v in zip(X.indices[a:b], X.data[a:b], strict=True))
        for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)
    ]
    with zipfile.ZipFile(server / "docdata.zip", "w") as archive:
        archive.writestr("docdata/hitech.mat", "\n".join([f"2301 10080 {X.nnz}", *lines]) + "\n")
        archive.writestr("docdata/hitech.mat.rclass", "".join(f"topic{i % 6}\n" for i in range(2301)))
        archive.writestr("docdata/k1b.mat", "of no use here")
    data = datasets.load("hitech", unit_rows=False)
    assert (data.X != X).nnz == 0
    assert np.array_equal(data.y > 0, np.arange(2301) % 6 == 0)
    assert sorted(file.name for file in (cache / "data").iterdir()) == ["hitech.mat", "hitech.mat.rclass"]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("<html><body>Moved</body></html>", "web page"),
        ("", "empty"),
        ("+1 1:2\n-1 2:3\n", "2 rows and 60 columns where splice has 1,000 x 60"),
    ],
)
def test_other_content_is_refused_and_not_kept(server, cache, content, found):
    (server / "splice").write_text(content)
    with pytest.raises(InputError, match=f"is not splice: .*{found}"):
        datasets.load("splice")
    assert list((cache / "data").iterdir()) == []


def test_archives_without_the_set_are_refused(server, cache):
    with zipfile.ZipFile(server / "docdata.zip", "w") as archive:
        archive.writestr("reviews.mat", "1 1 1\n1 1\n")
    with pytest.raises(InputError, match="no file called hitech"):
        datasets.load("hitech")
    (server / "docdata.zip").write_bytes(b"PK\x03\x04 cut")
    with pytest.raises(InputError, match="no zip archive"):
        datasets.load("hitech")
    assert list((cache / "data").iterdir()) == []


def test_no_answer(server):
    with pytest.raises(InputError, match=r"could not be downloaded from .*404.*SPDPEG_DATA_DIR"):
        datasets.load("splice")


def test_pooch_is_optional(monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(UnsupportedError, match=r"spdpeg\[data\]"):
        datasets.load("a9a")
