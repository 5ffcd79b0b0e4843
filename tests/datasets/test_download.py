"""Downloads, from a server on this machine: what arrives is kept only if it is the data set."""

import dataclasses
import functools
import http.server
import json
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from spdpeg import InputError, datasets
from spdpeg.datasets import fetching
from spdpeg.datasets.catalogue import CATALOGUE


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        """A file, or where a file called `elsewhere` says."""
        target = Path(self.directory) / "elsewhere"
        if not target.exists():
            return super().do_GET()
        self.send_response(302)
        self.send_header("Location", target.read_text())
        return self.end_headers()


@pytest.fixture
def server(tmp_path, monkeypatch):
    """The directory that a local server offers; splice and hitech have their homes there."""
    monkeypatch.setattr(fetching, "_SCHEMES", ("https", "http"))
    root = tmp_path / "home"
    root.mkdir()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=root)) as service:
        address = f"http://127.0.0.1:{service.server_port}"
        for name, file in (("splice", "splice"), ("hitech", "docdata.zip")):
            monkeypatch.setitem(CATALOGUE, name, dataclasses.replace(CATALOGUE[name], home=f"{address}/{file}"))
        threading.Thread(target=service.serve_forever, daemon=True).start()
        yield root
        service.shutdown()


def kept(cache):
    return sorted(file.name for file in (cache / "data").iterdir())


def write_splice(path, rows=1000):
    row = " ".join(f"{j}:{1 + j % 4}" for j in range(1, 61))
    path.write_text("".join(f"{1 - 2 * (i % 2):+d} {row}\n" for i in range(rows)))


def test_downloaded_once(server, cache):
    write_splice(server / "splice")
    first = datasets.load("splice")
    assert first.source == str(cache / "data" / "splice")
    (server / "splice").unlink()
    assert (datasets.load("splice").X != first.X).nnz == 0
    assert kept(cache) == ["checksums.json", "splice"]


def test_text_sets_come_out_of_the_archive(server, cache):
    X = sp.random_array((2301, 10080), density=5e-4, format="csr", random_state=np.random.default_rng(0))
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
    assert kept(cache) == ["checksums.json", "hitech.mat", "hitech.mat.rclass"]


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


def test_addresses_without_encryption_are_refused(monkeypatch, server, cache):
    write_splice(server / "splice")
    monkeypatch.setattr(fetching, "_SCHEMES", ("https",))
    with pytest.raises(InputError, match="http is not https"):
        datasets.load("splice")
    assert kept(cache) == []


@pytest.mark.parametrize("target", ["ftp://127.0.0.1/splice", "file:///etc/hostname"])
def test_no_answer_leads_to_other_schemes(target, server, cache):
    (server / "elsewhere").write_text(target)
    with pytest.raises(InputError, match="could not be downloaded"):
        datasets.load("splice")
    assert kept(cache) == []


def test_all_homes_are_encrypted():
    assert {entry.home.partition(":")[0] for entry in CATALOGUE.values()} == {"https"}


@pytest.mark.parametrize("honest", [True, False])
def test_a_server_may_not_fill_the_disk(honest, server, cache, monkeypatch):
    write_splice(server / "splice")
    monkeypatch.setattr(fetching, "_MOST", 1000)
    if not honest:
        monkeypatch.setattr(_Quiet, "send_header", hide(_Quiet.send_header))
    with pytest.raises(InputError, match="more than any data set here"):
        datasets.load("splice")
    assert kept(cache) == []


def hide(send):
    """As `send`, but for the length."""
    return lambda self, name, value: None if name == "Content-Length" else send(self, name, value)


def test_what_ends_too_early_is_refused(server, cache, monkeypatch):
    write_splice(server / "splice")
    send = _Quiet.send_header

    def longer(self, name, value):
        send(self, name, str(int(value) + 9) if name == "Content-Length" else value)

    monkeypatch.setattr(_Quiet, "send_header", longer)
    with pytest.raises(InputError, match="could not be downloaded"):
        datasets.load("splice")
    assert kept(cache) == []


def test_a_known_checksum_must_fit(server, cache, monkeypatch):
    write_splice(server / "splice")
    monkeypatch.setitem(CATALOGUE, "splice", dataclasses.replace(CATALOGUE["splice"], sha256="0" * 64))
    with pytest.raises(InputError, match="is not splice: its SHA-256 is not the one that is known"):
        datasets.load("splice")
    assert kept(cache) == []


def test_a_file_must_stay_what_it_was_at_first(server, cache):
    write_splice(server / "splice")
    datasets.load("splice")
    path = cache / "data" / "splice"
    path.write_text(path.read_text().replace("1:2", "1:3", 1))
    with pytest.raises(InputError, match=r"has changed since it was first used.*Delete the file"):
        datasets.load("splice")
    path.unlink()
    assert datasets.load("splice").X.shape == (1000, 60)


def test_a_file_put_into_the_cache_is_remembered_at_first_use(cache):
    (cache / "data").mkdir(parents=True)
    write_splice(cache / "data" / "splice")
    datasets.load("splice", download=False)
    assert list(json.loads((cache / "data" / "checksums.json").read_text())) == ["splice"]


def damaged_archives(path):
    """Archives that hold the set and cannot be read, each in its own way."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("hitech.mat", "1 1 1\n1 1\n" * 100)
    content = path.read_bytes()
    directory = content.index(b"PK\x01\x02")
    for offset, value in ((8, 1), (10, 99)):  # the flag of encryption, the method
        changed = bytearray(content)
        changed[directory + offset] = changed[offset - 2] = value
        yield bytes(changed)
    changed = bytearray(content)
    changed[45:50] = bytes(5)
    yield bytes(changed)


def test_damaged_encrypted_and_unknown_archives(server, cache):
    for content in damaged_archives(server / "docdata.zip"):
        (server / "docdata.zip").write_bytes(content)
        with pytest.raises(InputError, match="is not hitech: it is no zip archive that can be read"):
            datasets.load("hitech")
    assert kept(cache) == []


def test_what_a_killed_download_left_goes_with_the_next(server, cache):
    write_splice(server / "splice")
    code = (
        "import os, pathlib, signal, sys\n"
        "from spdpeg.datasets import storage\n"
        "storage.user_cache = lambda: pathlib.Path(sys.argv[1])\n"
        "with storage._arrivals() as directory:\n"
        "    (directory / 'half').write_text('')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(cache)]).returncode == -9
    assert len(kept(cache)) == 1
    datasets.load("splice")
    assert kept(cache) == ["checksums.json", "splice"]
