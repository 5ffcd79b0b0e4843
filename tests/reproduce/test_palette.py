"""Colours that can be told apart, also by the colour-blind."""

import itertools

import numpy as np
import pytest

from spdpeg.reproduce.methods import METHODS, plain
from spdpeg.reproduce.palette import looks

# Machado, Oliveira, Fernandes (2009), severity 1, on linear RGB.
VISIONS = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}


def lab(color, vision):
    """CIELAB of a colour as seen."""
    part = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = to_xyz @ np.clip(vision @ linear, 0, 1) / np.array([0.9505, 1.0, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("task", METHODS)
def test_solvers_keep_apart(task, vision):
    of_solver = {METHODS[task][name].solver: look for name, look in looks(METHODS[task]).items()}
    for one, other in itertools.combinations(of_solver.values(), 2):
        assert np.linalg.norm(lab(one.color, VISIONS[vision]) - lab(other.color, VISIONS[vision])) > 20
        assert one.marker != other.marker


@pytest.mark.parametrize("task", METHODS)
def test_no_two_lines_look_alike(task):
    found = list(looks(METHODS[task]).values())
    assert len(set(found)) == len(found)


def test_other_solvers_take_what_is_left():
    found = looks(plain(["spdpeg", "pd3o", "ladmm"]))
    assert len({look.color for look in found.values()}) == 3
