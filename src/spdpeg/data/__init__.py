"""Where rows come from: memory, disk or a stream. Solvers see only `Source`, `Stream` and `Block`."""

from .arrow import from_arrow, open_parquet
from .base import Block, Source
from .conversion import as_source
from .csr import CSR
from .dense import Dense
from .disk import open_csr, open_dense, open_rows, write_csr, write_dense
from .stream import Stream
from .tables import Tables

__all__ = [
    "CSR",
    "Block",
    "Dense",
    "Source",
    "Stream",
    "Tables",
    "as_source",
    "from_arrow",
    "open_csr",
    "open_dense",
    "open_parquet",
    "open_rows",
    "write_csr",
    "write_dense",
]
