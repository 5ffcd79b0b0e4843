"""The small study and what it found."""

from pathlib import Path

import pytest

from spdpeg.reproduce import Study, publish
from support.study import make_study


@pytest.fixture(scope="session")
def study() -> Study:
    return make_study()


@pytest.fixture(scope="session")
def output(study, tmp_path_factory) -> Path:
    """Directory of the finished study."""
    directory = tmp_path_factory.mktemp("study")
    publish(study, directory, jobs=2)
    return directory
