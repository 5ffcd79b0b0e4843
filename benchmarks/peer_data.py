"""Data sets of the comparison: those of the data directory, and generated ones."""

import bz2
import lzma
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from common import SHAPES, data_directory, load

TEXT = ("hitech", "k1b", "classic")
TALL = ("splice", "svmguide3", "20news_100word", "mushrooms", "a9a", "w8a", "ijcnn1", "covtype")
WIDE = "wide"
DESIGN, LARGE, PIXELS, IMAGE, FLAT = "design", "large design", "pixels", "image", "lasso"
"""Generated: 62 x 2,000, 2,000 x 200, 20,000 x 400, 1,000 x 30 x 30 pixels, an image of 256 x 256, and 500 x 5,000."""
SETS = (*TALL, *TEXT, WIDE, DESIGN, LARGE, PIXELS, IMAGE, FLAT)
NOISE = 0.5
"""Standard deviation beside that of the signal."""


@dataclass(frozen=True)
class Data:
    """Rows with labels -1 and +1 and numbers to regress on; of a set with classes these are the labels again."""

    name: str
    X: Any
    y: np.ndarray
    numbers: np.ndarray
    real: bool = False

    @property
    def d(self) -> int:
        """Columns."""
        return int(self.X.shape[1])


def load_data(name: str) -> Data:
    """A data set by its name."""
    if name in _GENERATED:
        return _GENERATED[name](np.random.default_rng(0))
    if name in SHAPES:
        found = load(name)
        return Data(name, sp.csr_array(found.X), found.y, found.y, real=found.origin == "real")
    directory = data_directory()
    assert directory is not None, "set SPDPEG_DATA_DIR"
    if name == "covtype":
        path = directory / "covtype.binary.npz"
        dense, labels = sp.load_npz(path).toarray().astype(float), np.load(path)["y"]
        X: Any = (dense - dense.mean(axis=0)) / dense.std(axis=0)
    else:
        path = next(directory.glob(f"{name}.[xb]z*"))
        with (lzma if path.suffix == ".xz" else bz2).open(path) as stream:
            X, labels = load_svmlight_file(stream)
        X = sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    y = np.where(labels == labels.max(), 1.0, -1.0)
    return Data(name, X, y, y, real=True)


def _responses(name: str, X: Any, truth: np.ndarray, rng: np.random.Generator) -> Data:
    signal = X @ truth
    numbers = signal + NOISE * signal.std() * rng.standard_normal(signal.size)
    return Data(name, X, np.where(numbers > 0, 1.0, -1.0), numbers)


def _wide(rng: np.random.Generator) -> Data:
    X = np.cumsum(rng.standard_normal((62, 2000)), axis=1) / np.sqrt(2000.0) + rng.standard_normal((62, 2000))
    return _responses(WIDE, X, np.repeat(rng.standard_normal(20) * (rng.random(20) < 0.3), 100), rng)


def _design(name: str, n: int, d: int) -> Callable[[np.random.Generator], Data]:
    """Coefficients along a line with seven bends."""

    def draw(rng: np.random.Generator) -> Data:
        truth = np.cumsum(np.repeat(rng.standard_normal(8), d // 8) / d)
        return _responses(name, rng.standard_normal((n, d)), truth, rng)

    return draw


def _pixels(side: int) -> np.ndarray:
    image = np.zeros((side, side))
    image[side // 8 : side // 2, side // 4 : side // 2] = 1.0
    image[side // 3 : 3 * side // 4, side // 2 : 7 * side // 8] -= 0.5
    return image.reshape(-1)


def _pixel_design(rng: np.random.Generator) -> Data:
    return _responses(PIXELS, rng.standard_normal((1000, 900)), _pixels(30), rng)


def _image(rng: np.random.Generator) -> Data:
    truth = _pixels(256)
    noisy = truth + 0.2 * rng.standard_normal(truth.size)
    return Data(IMAGE, sp.eye_array(truth.size, format="csr"), np.sign(noisy), noisy)


def _flat(rng: np.random.Generator) -> Data:
    return _responses(
        FLAT, rng.standard_normal((500, 5000)), rng.standard_normal(5000) * (rng.random(5000) < 0.01), rng
    )


_GENERATED: dict[str, Callable[[np.random.Generator], Data]] = {
    WIDE: _wide,
    DESIGN: _design(DESIGN, 2_000, 200),
    LARGE: _design(LARGE, 20_000, 400),
    PIXELS: _pixel_design,
    IMAGE: _image,
    FLAT: _flat,
}
