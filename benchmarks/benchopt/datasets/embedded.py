"""Small sets that come with scikit-learn."""

from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.preprocessing import StandardScaler

from benchopt import BaseDataset

_SETS = {"breast_cancer": load_breast_cancer, "diabetes": load_diabetes}


class Dataset(BaseDataset):
    """Columns and numbers scaled alike."""

    name = "Embedded"
    parameters = {"data": ["breast_cancer", "diabetes"]}
    requirements = ["scikit-learn"]

    def get_data(self):
        """Rows and numbers."""
        X, y = _SETS[self.data](return_X_y=True)
        y = y - y.mean()
        return {"X": StandardScaler().fit_transform(X), "y": y / y.std()}
