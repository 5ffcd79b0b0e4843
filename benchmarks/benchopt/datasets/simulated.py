"""Coefficients that are constant on stretches, every other one zero."""

from benchopt import BaseDataset
from spdpeg import datasets


class Dataset(BaseDataset):
    """`spdpeg.datasets.piecewise_constant`."""

    name = "Piecewise constant"
    parameters = {"size": [(500, 100), (5000, 500)], "noise": [3.0]}
    test_parameters = {"size": [(60, 20)]}
    requirements = ["pip::spdpeg"]

    def get_data(self):
        """Rows and numbers."""
        n_samples, n_features = self.size
        X, y, _ = datasets.piecewise_constant(n_samples, n_features, task="regression", noise=self.noise)
        return {"X": X, "y": y}
