"""Archives whose headers lie: refused with a sentence before anything is allocated, converted or followed."""

import io
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from spdpeg import InputError, files
from spdpeg.files import archive as archives
from spdpeg.files.limits import VARIABLE

RNG = np.random.default_rng(0)
X = np.where(RNG.random((12, 20)) < 0.4, RNG.standard_normal((12, 20)), 0.0)


def parts_of(layout):
    matrix = layout(X)
    names = {"coo": ("row", "col", "data"), "dia": ("offsets", "data")}.get(
        matrix.format, ("indptr", "indices", "data")
    )
    return {name: getattr(matrix, name).copy() for name in names} | {
        "format": np.array(matrix.format.encode()),
        "shape": np.array(matrix.shape),
    }


def refusal(path):
    with pytest.raises(InputError) as error:
        files.read(path)
    message = str(error.value)
    assert str(path) in message
    assert "\n" not in message
    return message


LAYOUTS = [sp.csr_array, sp.csc_array, sp.bsr_array]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
@pytest.mark.parametrize(
    "damage",
    [
        lambda parts: parts["indices"].__setitem__(3, 10**8),
        lambda parts: parts["indices"].__setitem__(0, 25),
        lambda parts: parts["indices"].__setitem__(-1, -1),
        lambda parts: parts["indptr"].__setitem__(1, 10**8),
        lambda parts: parts["indptr"].__setitem__(2, -5),
        lambda parts: parts["indptr"].__setitem__(-1, 10**8),
        lambda parts: parts["indptr"].__setitem__(0, 2),
        lambda parts: parts.update(indptr=parts["indptr"][:-2]),
        lambda parts: parts.update(indptr=parts["indptr"].astype(float)),
        lambda parts: parts.update(indices=parts["indices"][:5]),
        lambda parts: parts.update(indices=parts["indices"].astype(float) + 0.5),
        lambda parts: parts.update(data=parts["data"][:-3]),
        lambda parts: parts.update(shape=np.array([12, 4])),
        lambda parts: parts.update(shape=np.array([12.0, 20.0])),
        lambda parts: parts.update(shape=np.array([-12, 20])),
        lambda parts: parts.update(shape=np.array([12])),
        lambda parts: parts.update(format=np.array(b"xyz")),
        lambda parts: parts.update(format=np.zeros((0, 3))),
        lambda parts: parts.update(format=np.arange(2.0)),
        lambda parts: parts.pop("indptr"),
    ],
)
def test_damaged_compressed_matrices(layout, damage, tmp_path):
    parts = parts_of(layout)
    damage(parts)
    np.savez(tmp_path / "bad.npz", **parts)
    refusal(tmp_path / "bad.npz")


@pytest.mark.parametrize("place", [10**8, -7])
@pytest.mark.parametrize("name", ["row", "col"])
def test_damaged_triples(name, place, tmp_path):
    parts = parts_of(sp.coo_array)
    parts[name][2] = place
    np.savez(tmp_path / "bad.npz", **parts)
    refusal(tmp_path / "bad.npz")


@pytest.mark.parametrize("layout", [*LAYOUTS, sp.coo_array, sp.dia_array], ids=lambda layout: layout.__name__)
def test_sound_ones_are_read(layout, tmp_path):
    np.savez(tmp_path / "good.npz", **parts_of(layout))
    np.testing.assert_array_equal(files.read(tmp_path / "good.npz").X.toarray(), X)


def npy(shape, dtype="<f8", body=b""):
    """A .npy file with a header of one's choice."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue() + body


@pytest.mark.parametrize(
    "shape", [(10**9, 4), (10**30,), (-1, 4), (2, 2), (10**18, 10**18), (0, 10**30)], ids=lambda shape: f"{shape}"
)
def test_claims_are_held_against_what_is_there(shape, tmp_path):
    with zipfile.ZipFile(tmp_path / "bad.npz", "w") as archive:
        archive.writestr("X.npy", npy(shape, body=bytes(64)))
    assert "X" in refusal(tmp_path / "bad.npz")


def test_shapes_that_no_vector_could_have(tmp_path):
    parts = parts_of(sp.csc_array)
    parts["shape"] = np.array([10**14, 20])
    np.savez(tmp_path / "bad.npz", **parts)
    assert VARIABLE in refusal(tmp_path / "bad.npz")
    (tmp_path / "bad.svm").write_text("1 1:1\n-1 100000000:1\n")
    assert VARIABLE in refusal(tmp_path / "bad.svm")


def test_a_small_archive_may_not_fill_the_memory(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "bomb.npz", X=np.zeros((36, 2**20)))
    assert VARIABLE in refusal(tmp_path / "bomb.npz")
    monkeypatch.setenv(VARIABLE, str(300 << 20))
    assert files.read(tmp_path / "bomb.npz").X.shape == (36, 2**20)
    monkeypatch.setenv(VARIABLE, "much")
    assert f"{VARIABLE} is 'much'" in refusal_anyhow(tmp_path / "bomb.npz")


def refusal_anyhow(path):
    with pytest.raises(InputError) as error:
        files.read(path)
    return str(error.value)


def test_nor_may_a_compressed_one(tmp_path, monkeypatch):
    import gzip

    monkeypatch.setenv(VARIABLE, "100000")
    np.savez(tmp_path / "data.npz", X=np.zeros((100, 200)))
    (tmp_path / "data.gz").write_bytes(gzip.compress((tmp_path / "data.npz").read_bytes()))
    assert "is compressed" in refusal(tmp_path / "data.gz")


@pytest.mark.parametrize("body", [b"", b"\x93NUMPY", b"\x93NUMPY\x09\x00" + bytes(200), b"\x93NUMPY\x01\x00\xff\xff("])
def test_members_that_are_no_arrays(body, tmp_path):
    with zipfile.ZipFile(tmp_path / "bad.npz", "w") as archive:
        archive.writestr("X.npy", body)
    refusal(tmp_path / "bad.npz")


def test_encrypted_members_and_unknown_methods(tmp_path):
    with zipfile.ZipFile(tmp_path / "bad.npz", "w") as archive:
        archive.writestr("X.npy", npy((2, 2), body=bytes(32)))
    content = (tmp_path / "bad.npz").read_bytes()
    directory = content.index(b"PK\x01\x02")
    for offset, value in ((8, 1), (10, 99)):  # the flag of encryption, the method
        changed = bytearray(content)
        changed[directory + offset] = changed[offset - 2] = value
        (tmp_path / "bad.npz").write_bytes(changed)
        assert "X.npy cannot be read" in refusal(tmp_path / "bad.npz")


def test_arrays_of_both_orders_and_byte_orders_can_be_written_to():
    for order, dtype in (("C", "<f8"), ("F", ">f8"), ("F", "<i2")):
        wanted = np.asarray(np.arange(6).reshape(2, 3), dtype=dtype, order=order)
        file = io.BytesIO()
        np.save(file, wanted)
        found = archives.array(file.getvalue(), "a")
        np.testing.assert_array_equal(found, wanted)
        assert found.dtype.isnative
        found[0, 0] = 9


class TestMatlab:
    def test_a_crash_of_the_parser_is_a_sentence(self, tmp_path, monkeypatch):
        scipy.io.savemat(tmp_path / "data.mat", {"X": X})
        script = tmp_path / "crash.py"
        script.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
        monkeypatch.setattr(files.matlab, "_CHILD", script)
        assert "reading it crashed" in refusal(tmp_path / "data.mat")

    def test_indices_are_made_sure_of(self, tmp_path):
        scipy.io.savemat(tmp_path / "data.mat", {"X": sp.csc_matrix(X), "y": np.ones(12)})
        content = (tmp_path / "data.mat").read_bytes()
        indices = sp.csc_matrix(X).indices.astype("<i4").tobytes()
        assert content.count(indices) == 1
        (tmp_path / "data.mat").write_bytes(content.replace(indices, b"\xff\xff\xff\x7f" + indices[4:]))
        refusal(tmp_path / "data.mat")

    def test_objects_are_refused(self, tmp_path):
        scipy.io.savemat(tmp_path / "data.mat", {"X": np.array([[{"a": 1}]], dtype=object)})
        assert "not numbers" in refusal(tmp_path / "data.mat")

    def test_the_reader_imports_nothing_of_the_package(self):
        child = files.matlab._CHILD
        code = f"import runpy, sys; runpy.run_path({str(child)!r}); sys.exit('spdpeg' in sys.modules)"
        assert subprocess.run([sys.executable, "-P", "-c", code]).returncode == 0
