"""Damaged files in the ordinary tests by the hundred, by the thousand with `pytest -m stress`."""

from pathlib import Path

import numpy as np
import pytest

import spdpeg
from stress import files, pool
from stress.outcome import DEFECTS, listed


@pytest.mark.parametrize("kind", [kind for kind in files.FORMATS if kind not in ("model", "state")])
def test_sound_files_are_read(kind: str, tmp_path: Path) -> None:
    """What is damaged was sound before, and means the same in each format."""
    path = tmp_path / f"sound.{files.SUFFIXES.get(kind, 'data')}"
    path.write_bytes(files.original(kind))
    (tmp_path / f"{path.name}.rclass").write_bytes(files.original("rclass"))
    X, y = spdpeg.files.read(path)
    rows, labels = files.data()
    assert np.allclose(X.toarray() if hasattr(X, "toarray") else X, rows)
    assert len(y) == len(labels)


def test_damaged_files() -> None:
    assert listed(pool.run(files.run, range(200)), DEFECTS) == []


@pytest.mark.stress
@pytest.mark.parametrize("kind", files.FORMATS)
def test_damaged_files_in_full(kind: str) -> None:
    assert listed(pool.run(files.run, range(10_000, 12_500), 2, format=kind), DEFECTS) == []
