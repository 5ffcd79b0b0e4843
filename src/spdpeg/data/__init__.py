"""Where rows come from: memory, disk or a stream. Solvers see only `Source`, `Stream` and `Block`."""

from .base import Block, Source, as_source
from .csr import CSR
from .dense import Dense
from .disk import open_csr, open_dense, write_csr, write_dense
from .stream import Stream

__all__ = [
    "CSR",
    "Block",
    "Dense",
    "Source",
    "Stream",
    "as_source",
    "open_csr",
    "open_dense",
    "write_csr",
    "write_dense",
]
