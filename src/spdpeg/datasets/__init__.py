"""Data with a known truth."""

from .synthetic import Sample, clustered_graph, piecewise_constant

__all__ = ["Sample", "clustered_graph", "piecewise_constant"]
