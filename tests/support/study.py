"""A study small enough to run in seconds, and its curves."""

from pathlib import Path
from typing import Any

import numpy as np

from spdpeg import datasets, operators
from spdpeg.reproduce import TASKS, Data, Study, methods

SETTINGS = ["spdpeg-authors", "spdpeg-tuned", "spdpeg-one-tuned", "sgadm-authors"]
NAMES = ["spdpeg", *SETTINGS, "spdpeg-sc1", "spdpeg-sc2", "egadm", "sgadm", "vr-spdpeg"]


def make_study(**changes: Any) -> Study:
    """Two rounds of both tasks on 300 rows, two seeds in each."""
    X, y, _, edges = datasets.clustered_graph(300, 24, seed=1)
    data = Data("clusters", X, y, "300 rows & 24 columns, </script> and all.", operators.GraphDifference(edges))
    parts = {
        "title": "A small study",
        "data": {"clusters": data},
        "tasks": TASKS,
        "methods": methods.choose(TASKS, NAMES),
        "rounds": 2,
        "seeds": 2,
        "passes": 5.0,
        "seconds": 2.0,
    }
    return Study(**parts | changes)


def curves(directory: Path) -> dict[tuple[str, ...], np.ndarray]:
    """Curves by task, set, method, round and seed: passes, iterations, seconds, objective, test loss, score."""
    lines = [line.split(",") for line in (directory / "curves.csv").read_text().splitlines()[1:]]
    keys = dict.fromkeys(tuple(line[:5]) for line in lines)
    return {key: np.array([line[5:] for line in lines if tuple(line[:5]) == key], dtype=float) for key in keys}


def assert_same_curves(first: Path, second: Path) -> None:
    """Equal bits in every column but the seconds, at every record that both have."""
    one, other = curves(first), curves(second)
    assert one.keys() == other.keys()
    for key in one:
        common = min(len(one[key]), len(other[key]))
        assert common > 1
        timeless = [np.delete(found[key][:common], 2, axis=1) for found in (one, other)]
        np.testing.assert_array_equal(*timeless)
