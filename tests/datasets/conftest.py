"""A cache of its own for every test, and no data directory from the environment unless a test asks for it."""

import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("SPDPEG_DATA_DIR", raising=False)
    return tmp_path / "cache" / "spdpeg"
