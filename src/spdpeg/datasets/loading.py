"""`load`: a data set by its name, with every choice that was made on the way."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..parameters import shown, truth
from . import storage
from .catalogue import CATALOGUE, Entry
from .synthetic import clustered_graph, piecewise_constant


@dataclass(frozen=True, eq=False)
class DataSet:
    """Rows and labels of a binary problem.

    Attributes
    ----------
    name : str
    X : array or CSR matrix
    y : array
        -1 and +1.
    source : str
        The file, or what else the data came from.
    choices : tuple of str
        What was decided between the source and X and y, and how they differ from the paper's table.

    See Also
    --------
    load : Reads one by its name.

    Examples
    --------
    >>> import numpy as np
    >>> from spdpeg import datasets
    >>> data = datasets.DataSet("mine", np.eye(2), np.array([-1.0, 1.0]), "made by hand", ())
    >>> data.name, data.X.shape
    ('mine', (2, 2))
    """

    name: str
    X: Any
    y: np.ndarray
    source: str
    choices: tuple[str, ...]

    @property
    def description(self) -> str:
        """One paragraph that says all of the above; of a file the name alone, since pages are shown to others."""
        n, d = self.X.shape
        share = float(np.mean(self.y > 0))
        place = Path(self.source)
        source = place.name if place.is_absolute() else self.source
        size = f"{self.name}: {n:,} rows, {d:,} columns, {share:.1%} positive; {source}."
        return " ".join([size, *(f"{choice[0].upper()}{choice[1:]}." for choice in self.choices)])

    def __repr__(self) -> str:
        return f"DataSet({self.description})"


def names() -> list[str]:
    """The data sets that `load` knows: those of the paper, then those that need no file.

    Returns
    -------
    list of str

    See Also
    --------
    load : Loads one of them.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> datasets.names()[:2]
    ['splice', 'svmguide3']
    """
    return [*CATALOGUE, *_BUILT_IN]


def load(
    name: str,
    data_dir: str | os.PathLike[str] | None = None,
    *,
    positive: Any = None,
    unit_rows: bool | None = None,
    download: bool = True,
) -> DataSet:
    """A data set by its name, one of `names()`.

    The paper's sets are looked for in `data_dir`, else in the directory that SPDPEG_DATA_DIR names; then in the user's
    cache; then they are downloaded there over https. A file in the cache must be what it was when it was first used.
    Files may be LIBSVM text (plain, gz, bz2, xz), .npz, MATLAB's .mat or CLUTO's .mat with .rclass. A file whose size
    or number of classes is not that of the data set is refused.

    breast_cancer and digits come with scikit-learn; piecewise_constant and clustered_graph are generated.

    Parameters
    ----------
    name : str
    data_dir : path, optional
    positive : number, optional
        The class that becomes +1, all others being -1. By default the larger label of two, or the most frequent class
        of several.
    unit_rows : bool, optional
        Whether to scale the rows to unit Euclidean norm; by default for the text sets, which hold counts of words.
    download : bool
        False never uses the network.

    Returns
    -------
    DataSet

    See Also
    --------
    names : All sets that can be loaded.
    graph : The graph of the features that the experiments use.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> print(datasets.load("digits").description)
    digits: 1,797 rows, 64 columns, 49.9% positive; scikit-learn's load_digits. Pixels are divided by 16. The digits
    5 to 9 are positive.
    """
    if unit_rows is not None:
        truth("unit_rows", unit_rows)
    if isinstance(name, str) and name in CATALOGUE:
        return _from_file(name, CATALOGUE[name], data_dir, positive, unit_rows, download)
    if not isinstance(name, str) or name not in _BUILT_IN:
        raise InputError(f"There is no data set called {shown(name)}. Choose from: {', '.join(names())}.")
    if data_dir is not None or positive is not None:
        raise InputError(f"{name} comes with no file and two given classes. Leave out data_dir and positive.")
    X, y, source, choices = _BUILT_IN[name]()
    if unit_rows:
        X, choices = _unit_rows(X), (*choices, "rows are scaled to unit norm")
    return DataSet(name, X, y, source, choices)


def _from_file(
    name: str,
    entry: Entry,
    data_dir: str | os.PathLike[str] | None,
    positive: Any,
    unit_rows: bool | None,
    download: bool,
) -> DataSet:
    places = storage.directories(data_dir)
    path = storage.find(name, places)
    if path is None and not download:
        raise InputError(
            f"{name} is not in {' or '.join(map(str, places))}, and download is False. "
            f"Get it from {entry.home}, or allow the download."
        )
    if path is None:
        path = storage.download(name, entry.home, entry.sha256, lambda arrived: _read(arrived, name, entry))
    X, labels = _read(path, name, entry)
    y, choice = _binary(name, labels, positive)
    choices = [entry.shapes[X.shape], choice]
    if unit_rows if unit_rows is not None else entry.is_text:
        X = _unit_rows(X)
        choices.append("rows are scaled to unit norm")
    else:
        choices.append("values are as in the file")
    return DataSet(name, X, y, str(path), tuple(filter(None, choices)))


def _read(path: Path, name: str, entry: Entry) -> tuple[sp.csr_array, np.ndarray]:
    """The file, refused unless it has a size of the data set."""
    # Here and below, what imports scikit-learn is imported where it is used, for it takes a second.
    from .. import files

    widths = {columns for _, columns in entry.shapes}
    # LIBSVM text leaves zeros out, so it does not tell its width.
    X, labels = files.read(path, n_features=None if entry.is_text else widths.pop())
    expected = " or ".join(f"{rows:,} x {columns:,}" for rows, columns in entry.shapes)
    if X.shape not in entry.shapes:
        raise InputError(
            f"{path} holds {X.shape[0]:,} rows and {X.shape[1]:,} columns where {name} has {expected}. "
            f"It is truncated or another file; get it from {entry.home}."
        )
    found = 0 if labels is None else np.unique(labels).size
    if labels is None or found != entry.classes:
        raise InputError(
            f"{path} has {found} classes where {name} has {entry.classes}. Get it from {entry.home} with its labels."
        )
    return sp.csr_array(X), labels


def _unit_rows(X: Any) -> Any:
    """Each row divided by its Euclidean norm; rows of zeros stay."""
    from sklearn.preprocessing import normalize

    return normalize(X)


def _binary(name: str, labels: np.ndarray, positive: Any) -> tuple[np.ndarray, str]:
    """-1 and +1, and which class was made +1."""
    classes, counts = np.unique(labels, return_counts=True)
    if positive is None:
        chosen = classes[-1] if classes.size == 2 else classes[np.argmax(counts)]
        reason = "the larger label" if classes.size == 2 else f"the most frequent of {classes.size}"
    else:
        if np.ndim(positive) or positive not in classes.tolist():
            raise InputError(
                f"positive is {shown(positive)}, but {name} has the classes {', '.join(map(_shown, classes))}. "
                "Choose one of them."
            )
        chosen, reason = positive, "as asked for"
    return np.where(labels == chosen, 1.0, -1.0), f"class {_shown(chosen)} is positive, {reason}"


def _shown(label: Any) -> str:
    """A class as people write it: 1 and not 1.0, text as it is."""
    return label if isinstance(label, str) else f"{label:g}"


_Parts = tuple[np.ndarray, np.ndarray, str, tuple[str, ...]]


def _breast_cancer() -> _Parts:
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    choices = ("columns have mean 0 and variance 1", "benign is positive")
    return (
        (X - X.mean(axis=0)) / X.std(axis=0),
        np.where(y == 1, 1.0, -1.0),
        "scikit-learn's load_breast_cancer",
        choices,
    )


def _digits() -> _Parts:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    choices = ("pixels are divided by 16", "the digits 5 to 9 are positive")
    return X / 16.0, np.where(y >= 5, 1.0, -1.0), "scikit-learn's load_digits", choices


def _generated(generator: Callable[[], Any]) -> Callable[[], _Parts]:
    def parts() -> _Parts:
        X, y, *_ = generator()
        return X, y, f"drawn by datasets.{generator.__name__}() with its defaults", ()

    return parts


_BUILT_IN: dict[str, Callable[[], _Parts]] = {
    "breast_cancer": _breast_cancer,
    "digits": _digits,
    "piecewise_constant": _generated(piecewise_constant),
    "clustered_graph": _generated(clustered_graph),
}
