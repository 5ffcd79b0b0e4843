"""Collections that are not computed yet: told by the module of their class, so that nothing has to be imported."""

import sys
from typing import Any

from .errors import InputError


def is_dask(item: Any) -> bool:
    """Whether this is an array, a data frame, a column or anything else of dask."""
    if "dask" not in sys.modules:
        return False
    return any(kind.__module__.partition(".")[0] in ("dask", "dask_expr") for kind in type(item).__mro__)


def refuse_dask(name: str, item: Any) -> None:
    """Refuse what would be gathered into the memory of this process without anybody having asked for it."""
    if is_dask(item):
        raise InputError(
            f"{name} is a {type(item).__name__} of dask, which is not gathered here. Call {name}.compute() first if "
            "it fits into memory."
        )
