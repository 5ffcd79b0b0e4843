"""Data sets by name: those of the SPDPEG paper, small ones that need no download, and generators with a known truth."""

from .feature_graph import Graph, graph
from .loading import DataSet, load, names
from .nile import Nile, nile
from .synthetic import Sample, clustered_graph, piecewise_constant

__all__ = [
    "DataSet",
    "Graph",
    "Nile",
    "Sample",
    "clustered_graph",
    "graph",
    "load",
    "names",
    "nile",
    "piecewise_constant",
]
