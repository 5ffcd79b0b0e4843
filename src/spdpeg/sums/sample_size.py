"""How many rows a sample has that tells where to start."""

_SHARE = 0.02
"""Fraction of the rows in the sample, unless there are many coordinates."""
_ROWS_PER_COORDINATE = 20
"""Rows in the sample for each coordinate, at least."""
MOST_ENTRIES = 1 << 24
"""Numbers that the sample may hold."""
_LARGEST_SHARE = 0.125
"""Fraction of the rows beyond which a sample does not pay."""
_LEAST_PER_COORDINATE = 4
"""Rows for each coordinate below which there is no such start."""


def sample_size(n_rows: int, n_columns: int) -> int:
    """Rows of the sample; 0 if none pays."""
    wanted = int(max(_SHARE * n_rows, min(_ROWS_PER_COORDINATE * n_columns, _LARGEST_SHARE * n_rows)))
    wanted = min(wanted, MOST_ENTRIES // n_columns)
    return wanted if wanted >= _LEAST_PER_COORDINATE * n_columns else 0
