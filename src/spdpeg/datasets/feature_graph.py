"""`graph`: the F that joins the columns of a data set in graph-guided regression."""

import os
from typing import NamedTuple

from ..errors import InputError
from ..graphs import sics
from ..operators import GraphDifference, Matrix, Operator
from ..parameters import one_of, shown
from . import storage
from .catalogue import CATALOGUE
from .loading import DataSet, load
from .synthetic import clustered_graph

FORMS = ("published", "difference", "signed")

_AUTHORS_WEIGHT = 0.005
_AUTHORS_THRESHOLD = 0.0025


class Graph(NamedTuple):
    """F and a sentence that says where it comes from.

    See Also
    --------
    graph : Makes one.

    Examples
    --------
    >>> from spdpeg import datasets, operators
    >>> datasets.Graph(operators.FirstDifference(), "a chain").origin
    'a chain'
    """

    F: Operator
    origin: str


def graph(data: str | DataSet, data_dir: str | os.PathLike[str] | None = None, *, form: str | None = None) -> Graph:
    """F for the graph-guided problems, from the columns of a data set and not from its labels.

    Parameters
    ----------
    data : str or DataSet
        A name for `load`, or what it returned.
    data_dir : path, optional
        As for `load`. Matrices that the authors published are found as graphs/F_<name>.npz in there.
    form : str, optional
        "published" is the authors' matrix. "difference" and "signed" come from `graphs.sics`, as edge differences or in
        the form of the authors' code; with their weight 0.005 and threshold 0.0025 for their sets that are no text,
        otherwise with the weight that `graphs.sics` chooses. By default the published matrix where there is one that
        fits, else the differences. clustered_graph has the differences across its true edges.

    Returns
    -------
    Graph
        What `graphs.sics` found is kept in the user's cache.

    See Also
    --------
    load : The rows of a set.
    spdpeg.graphs.sics : The graph of any other data.

    Examples
    --------
    >>> from spdpeg import datasets
    >>> datasets.graph("clustered_graph").origin
    'Differences across the true edges.'
    """
    if form is not None:
        one_of("form", form, FORMS)
    if isinstance(data, str):
        data = load(data, data_dir)
    if not isinstance(data, DataSet):
        raise InputError(f"data is {shown(data)}. Give the name of a data set, or what datasets.load returned.")
    if form in (None, "published"):
        found = _published(data, data_dir)
        if found is not None:
            return found
        if form == "published":
            raise InputError(
                f"There is no published matrix for {data.name} with {data.X.shape[1]:,} columns: "
                f"no graphs/F_{data.name}.npz of that size in the data directory. Choose another form."
            )
    if data.name == "clustered_graph" and form != "signed":
        return Graph(GraphDifference(clustered_graph()[3]), "Differences across the true edges.")
    return _selected(data, form or "difference")


def _published(data: DataSet, data_dir: str | os.PathLike[str] | None) -> Graph | None:
    from .. import files

    for place in storage.directories(data_dir):
        path = place / "graphs" / f"F_{data.name}.npz"
        if path.is_file():
            F = files.read(path).X
            if F.shape[1] == data.X.shape[1]:
                return Graph(Matrix(F), f"The matrix that the authors published, {path.name}.")
    return None


def _selected(data: DataSet, form: str) -> Graph:
    as_authors = data.name in CATALOGUE and not CATALOGUE[data.name].is_text
    weight, threshold = (_AUTHORS_WEIGHT, _AUTHORS_THRESHOLD) if as_authors else (None, 0.0)
    found = sics(data.X, weight, tol=1e-6, cache_dir=storage.user_cache() / "graphs")
    F = found.operator(form, threshold)
    chosen = "as the authors did" if as_authors else "chosen from the data"
    return Graph(
        F,
        f"Sparse inverse covariance selection with weight {found.weight:.3g}, {chosen}, and threshold {threshold:g}: "
        f"{len(found.edges):,} edges before the threshold, duality gap {found.gap:.1e}; {form} form.",
    )
