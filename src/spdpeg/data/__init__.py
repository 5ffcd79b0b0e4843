"""Where rows come from: memory, disk or a stream. Solvers see only `Source`, `Stream` and `Block`."""

from .arrow import from_arrow, open_parquet
from .conversion import as_source
from .disk import open_csr, open_dense, open_rows, write_csr, write_dense
from .sources import CSR, Block, Dense, Source
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
