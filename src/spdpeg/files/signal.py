"""One column of a text file: a signal, in which values may be missing."""

import os

import numpy as np

from ..errors import InputError
from .columns import position
from .delimited import MISSING, decoded, delimiter_of, fields_of, is_number
from .source import Source


def read_signal(path: str | os.PathLike[str], column: int | str | None = None) -> tuple[np.ndarray, str | None]:
    r"""The numbers of a column of CSV text, NaN where there is none, and the name of the column.

    Parameters
    ----------
    path : path
        "-" is standard input. Compression is undone on the way. A header is recognised.
    column : int or str, optional
        By position or by name; the last one by default.

    Returns
    -------
    array, str or None

    See Also
    --------
    read : A whole table.
    spdpeg.denoise : Takes the numbers, NaN included.

    Examples
    --------
    >>> import pathlib, spdpeg.files, tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = pathlib.Path(directory, "flow.csv")
    ...     _ = path.write_text("year,flow\n1871,1120\n1872,\n1873,963\n")
    ...     values, name = spdpeg.files.read_signal(path)
    >>> values.tolist(), name
    ([1120.0, nan, 963.0], 'flow')
    """
    with Source(path) as source:
        values: list[float] = []
        place, name, delimiter = -1, None, ","
        for number, line in enumerate(source.rows()):
            text = decoded(source, line)
            if number == 0:
                delimiter = delimiter_of(text)
            fields = fields_of(source, text, delimiter, source.numbers[-1])
            if number == 0:
                place = position(source.name, -1 if column is None else column, fields, "column")
                if isinstance(column, str) or not (is_number(fields[place]) or fields[place].lower() in MISSING):
                    name = fields[place]
                    continue
            if len(fields) <= place:
                raise InputError(f"{source.name}, {source.place(-1)}: there is no column {place + 1}. Repair the line.")
            values.append(_value(source, fields[place]))
        if not values:
            raise InputError(f"{source.name} holds no values. Check what should have written it.")
        return np.array(values), name


def _value(source: Source, text: str) -> float:
    if text.lower() in MISSING:
        return float("nan")
    if not is_number(text):
        raise InputError(
            f"{source.name}, {source.place(-1)}: {text!r} is no number. Choose another column, or write NA for what is "
            "missing."
        )
    return float(text)
