"""A user's own code is checked against the types of the package."""

import subprocess
import sys
from pathlib import Path

import pytest

import spdpeg

USER = """
import numpy as np
import spdpeg

found = spdpeg.denoise(np.zeros(3), 1.0)
result: spdpeg.Result = spdpeg.solve(spdpeg.Problem(np.eye(2), np.ones(2), loss=spdpeg.losses.Squared()))
reveal_type(found.n_pieces)
reveal_type(result.objective)
model = spdpeg.FusedLasso(lam1=0.1).fit(np.eye(2), np.ones(2))
reveal_type(model)
spdpeg.solve("no problem")
"""


def test_mypy_knows_what_users_call(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text(USER)
    root = Path(spdpeg.__file__).parents[2]
    # The settings and the cache of the package's own check, which has read all of it already.
    settings = ["--config-file", "pyproject.toml", "--no-error-summary"]
    arguments = [sys.executable, "-m", "mypy", *settings, str(tmp_path / "user.py")]
    out = subprocess.run(arguments, capture_output=True, text=True, cwd=root).stdout
    told = [line.partition("user.py:")[2] for line in out.splitlines() if "user.py:" in line]
    assert told[0].replace("builtins.", "").endswith('is "int"')
    assert told[1].replace("builtins.", "").endswith('is "float"')
    assert "FusedLasso" in told[2]
    assert "arg-type" in told[3]
    assert len(told) == 4
