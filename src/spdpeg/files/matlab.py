"""MATLAB's .mat up to version 7: rows under X or A, labels under y or labels."""

from typing import Any

from ..errors import InputError, UnsupportedError
from .source import Source
from .table import Table, checked


def read(source: Source, n_features: int | None, target: int | str | None) -> Table:
    """The whole file."""
    import scipy.io

    try:
        variables = scipy.io.loadmat(source.binary())
    except NotImplementedError:
        raise UnsupportedError(
            f"{source.name} is a .mat file of version 7.3, which is HDF5. Save it in MATLAB with the option -v7."
        ) from None
    # SciPy's reader fails in many ways on what is not a .mat file, and each of them means just that.
    except Exception as error:
        raise InputError(f"{source.name} is no .mat file or is damaged ({error}). Write it anew.") from None
    X, y = _first(variables, "X", "A"), _first(variables, "y", "labels")
    if X is None:
        names = ", ".join(name for name in variables if not name.startswith("__"))
        raise InputError(
            f"{source.name} holds {names or 'nothing'}, but neither X nor A. Save the rows as X, one each."
        )
    return checked(source.name, X, y, n_features)


def _first(variables: dict[str, Any], *names: str) -> Any:
    return next((variables[name] for name in names if name in variables), None)
