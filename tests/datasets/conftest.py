"""A cache of its own for every test, and no data directory from the environment unless a test asks for it."""

import pytest

from spdpeg.datasets import storage


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "user_cache", lambda: tmp_path / "cache" / "spdpeg")
    monkeypatch.delenv("SPDPEG_DATA_DIR", raising=False)
    return tmp_path / "cache" / "spdpeg"
