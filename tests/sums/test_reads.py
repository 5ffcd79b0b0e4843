"""How often the rows are really read, and that a pass counts each of these reads."""

import mmap
import os
import shutil
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import spdpeg
from spdpeg import data, losses, operators, penalties
from spdpeg.engine import memory
from spdpeg.kernels.rows import Rows
from spdpeg.sums import portions

CHAIN = {"r1": penalties.L1(0.003), "r2": penalties.L1(0.005), "F": operators.FirstDifference()}
GRAPH = {"r1": penalties.L1(0.003), "r2": penalties.L1(0.01), "F": operators.GraphDifference([(0, 5), (2, 9)])}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60_000, 12)).astype(np.float32)
    y = X @ np.repeat([0.5, -0.2, 0.1], 4) + rng.standard_normal(60_000) + 0.5
    place = tmp_path_factory.mktemp("rows")
    data.write_dense(place, [(X, y)])
    return place


def posed(directory: Path, loss: losses.Loss, terms: dict[str, object], intercept: bool) -> spdpeg.Problem:
    rows, y = data.open_dense(directory)
    assert y is not None
    return spdpeg.Problem(rows, y > 0 if loss.binary else y, loss=loss, intercept=intercept, **terms)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("terms", [CHAIN, GRAPH], ids=["chain", "graph"])
@pytest.mark.parametrize("loss", [losses.Logistic(), losses.Squared(), losses.Huber(1.0)], ids=repr)
def test_every_read_is_counted_and_a_sample_saves_some(
    loss: losses.Loss, terms: dict[str, object], intercept: bool, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(portions, "BLOCK_ENTRIES", 100_000)
    problem = posed(directory, loss, terms, intercept)
    before = problem.sums.reads
    result = spdpeg.solve(problem, tol=1e-6)
    assert result.certificate.met is not None
    assert problem.sums.reads - before <= result.passes <= problem.sums.reads - before + 0.3
    assert result.passes <= 6.5


def bytes_read() -> int:
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("read_bytes")).split()[1])


def evict(source: data.Source, path: Path) -> None:
    base = source.rows.values
    while not isinstance(base, mmap.mmap):
        base = base.base
    base.madvise(mmap.MADV_DONTNEED)
    descriptor = os.open(path, os.O_RDONLY)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


def test_the_disk_delivers_what_passes_say(directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = Path(shutil.copytree(directory, tmp_path / "rows"))  # that nobody else has mapped
    path = directory / "values.npy"
    if not Path("/proc/self/io").exists() or not hasattr(mmap, "MADV_DONTNEED"):
        pytest.skip("the system does not tell what the disk delivered")
    problem = posed(directory, losses.Logistic(), CHAIN, True)
    source, size = problem.source, path.stat().st_size
    os.sync()
    evict(source, path)
    before = bytes_read()
    path.read_bytes()
    if not 0.9 * size <= bytes_read() - before <= 1.3 * size:  # as of a file in memory
        pytest.skip("reads of this file system are not counted")
    honest = portions.Mapped.blocks

    def cold(self: portions.Mapped) -> Iterator[Rows]:
        evict(source, path)
        yield from honest(self)

    monkeypatch.setattr(portions.Mapped, "blocks", cold)
    before = bytes_read()
    result = spdpeg.solve(problem, tol=1e-6)
    assert bytes_read() - before <= 1.1 * result.passes * size


@pytest.mark.parametrize("loss", [losses.Logistic(), losses.Squared()], ids=repr)
def test_memory_is_told_before_it_is_taken(loss: losses.Loss, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portions, "BLOCK_ENTRIES", 100_000)
    monkeypatch.setattr(memory, "BLOCK_ENTRIES", 100_000)
    problem = posed(directory, loss, CHAIN, True)
    most = memory.needed(problem, 1)
    with pytest.raises(spdpeg.InputError, match="MiB beyond the data"):
        spdpeg.solve(problem, tol=1e-6, max_memory=most - 1)
    spdpeg.solve(problem, tol=1e-6, max_memory=most)  # compiles
    tracemalloc.start()
    spdpeg.solve(problem, tol=1e-6, max_memory=most)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= most
    with pytest.raises(spdpeg.UnsupportedError, match="max_memory"):
        spdpeg.solve(problem, "vr-spdpeg", max_memory=1e9)
    with pytest.raises(spdpeg.InputError, match="max_memory is -1"):
        spdpeg.solve(problem, max_memory=-1)
