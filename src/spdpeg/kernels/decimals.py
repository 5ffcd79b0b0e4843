"""Decimal numbers, LIBSVM text and tables, read from bytes with the same outcome as Python's float, to the last bit.

A number of at most 19 digits is a whole number w times a power of ten. Its product with the power, known to 128 bits,
gives the nearest float64 in all but a few cases, which are left to Python.

Lemire: Number parsing at a gigabyte per second, Software: Practice and Experience 51, 2021.
"""

from functools import cache

import numpy as np

from .jit import inner, kernel

_LEAST, _MOST = -300, 300
"""Powers of ten that are looked up; beyond them products may leave the range of normal numbers."""

_U = np.uint64
_LOW = _U(0xFFFFFFFF)
_UNSURE = _U(0x1FF)
"""The bits of a product that decide its rounding, if all are set."""

_SPACE, _TAB, _NEWLINE, _RETURN, _QUOTE, _HASH, _COLON, _LAST_ASCII = 32, 9, 10, 13, 34, 35, 58, 127
_PLUS, _MINUS, _DOT, _ZERO, _NINE, _E, _SMALL_E = 43, 45, 46, 48, 57, 69, 101

_MOST_DIGITS = 19
"""Digits of a number that 64 bits certainly hold."""

_MOST_INDEX = 2**31 - 2

LABEL, LEFT_OUT = -1, -2
"""Columns of a table that are not numbers of X."""

LABEL_BYTES = 32
"""Longest label of a table that is read here."""

_WHOLE = 15
"""Characters of a label that is certainly the number it is read as; longer whole numbers may be rounded."""


@cache
def powers() -> np.ndarray:
    """The 128 leading bits of 10^q over a power of two, rounded down, for q from -300 to 300; a row is (high, low)."""
    table = np.empty((_MOST - _LEAST + 1, 2), dtype=np.uint64)
    for q in range(_LEAST, _MOST + 1):
        # 10^q and 5^q have the same leading bits; a negative power is rounded up, as the algorithm wants it.
        if q >= 0:
            value = 5**q
            bits = (value << 128) >> value.bit_length()
        else:
            divisor = 5**-q
            bits = (1 << 127 + divisor.bit_length()) // divisor + 1
            bits >>= bits.bit_length() - 128
        table[q - _LEAST] = bits >> 64, bits & 0xFFFFFFFFFFFFFFFF
    table.setflags(write=False)
    return table


@inner
def _times(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """a b, as (high, low)."""
    a1, a0, b1, b0 = a >> _U(32), a & _LOW, b >> _U(32), b & _LOW
    low, middle, cross = a0 * b0, a1 * b0, a0 * b1
    carried = (low >> _U(32)) + (middle & _LOW) + cross
    return a1 * b1 + (middle >> _U(32)) + (carried >> _U(32)), (carried << _U(32)) | (low & _LOW)


@inner
def _leading_zeros(w: np.uint64) -> int:
    count = 0
    for step in (32, 16, 8, 4, 2, 1):
        if w >> _U(64 - step) == _U(0):
            w <<= _U(step)
            count += step
    return count


@inner
def _nearest(w: np.uint64, q: int, table: np.ndarray, bits: np.ndarray) -> bool:
    """Leave the bits of the float64 nearest to w 10^q in bits[0]; False if that takes more than 128 bits to tell."""
    if w == _U(0):
        bits[0] = _U(0)
        return True
    if q < _LEAST or q > _MOST:
        return False
    zeros = _leading_zeros(w)
    w <<= _U(zeros)
    high, low = _times(w, table[q - _LEAST, 0])
    if (high & _UNSURE) == _UNSURE:
        more, _ = _times(w, table[q - _LEAST, 1])
        low += more
        if more > low:
            high += _U(1)
    if low == _U(0xFFFFFFFFFFFFFFFF) and (q < -27 or q > 55):
        return False
    top = high >> _U(63)
    shift = top + _U(9)
    mantissa = high >> shift
    power = ((217706 * q) >> 16) + 63 + np.int64(top) - zeros + 1023
    if power <= 0 or power >= 2046:
        return False
    # Halfway between two numbers: to the even one.
    if low <= _U(1) and -4 <= q <= 23 and (mantissa & _U(3)) == _U(1) and (mantissa << shift) == high:
        mantissa &= ~_U(1)
    mantissa = (mantissa + (mantissa & _U(1))) >> _U(1)
    if mantissa >= _U(1 << 53):
        mantissa = _U(1 << 52)
        power += 1
    bits[0] = (mantissa & _U((1 << 52) - 1)) | (_U(power) << _U(52))
    return True


@inner
def _number(text: np.ndarray, at: int, table: np.ndarray, bits: np.ndarray) -> int:
    """Where the decimal number that begins here ends, its bits in bits[0]; minus that if Python must read it.

    0 if there is no number.
    """
    negative = text[at] == _MINUS
    if negative or text[at] == _PLUS:
        at += 1
    first, w = at, _U(0)
    while _ZERO <= text[at] <= _NINE:
        w, at = w * _U(10) + _U(text[at] - _ZERO), at + 1
    digits, q = at - first, 0
    if text[at] == _DOT:
        at += 1
        point = at
        while _ZERO <= text[at] <= _NINE:
            w, at = w * _U(10) + _U(text[at] - _ZERO), at + 1
        q = point - at
        digits -= q
    if digits == 0:
        return 0
    if digits > _MOST_DIGITS:
        while text[first] == _ZERO or text[first] == _DOT:
            digits -= text[first] == _ZERO
            first += 1
    if text[at] == _SMALL_E or text[at] == _E:
        at += 1
        down = text[at] == _MINUS
        if down or text[at] == _PLUS:
            at += 1
        if not _ZERO <= text[at] <= _NINE:
            return 0
        exponent = 0
        while _ZERO <= text[at] <= _NINE:
            exponent = min(10 * exponent + text[at] - _ZERO, 100000)
            at += 1
        q += -exponent if down else exponent
    if digits > _MOST_DIGITS or not _nearest(w, q, table, bits):
        return -at
    if negative:
        bits[0] |= _U(1) << _U(63)
    return at


@kernel
def read_number(text: np.ndarray, table: np.ndarray, bits: np.ndarray) -> int:
    """Length of the number at the beginning of a text that ends with a zero byte, as `_number` returns it."""
    return _number(text, 0, table, bits)


@kernel
def read_libsvm(
    text: np.ndarray,
    table: np.ndarray,
    bits: np.ndarray,
    labels: np.ndarray,
    indptr: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    lines: np.ndarray,
    left: np.ndarray,
) -> int:
    """Lines `label index:value ...`, the last one ended like the others; returns the number of rows.

    Labels and values are filled with the bits of numbers. Numbers that Python must read are listed in `left`: where
    they begin and end, and which value each is, or minus one minus the row of a label; its first row counts them.
    Minus one minus the place where a line is anything else than that, or has indices that do not increase.
    """
    at, row, entry, line, listed = 0, 0, 0, 0, 0
    while at < text.size:
        begun = at
        if text[at] == _NEWLINE:
            at, line = at + 1, line + 1
            continue
        if text[at] == _HASH:
            while text[at] != _NEWLINE:
                at += 1
            continue
        end = _number(text, at, table, bits)
        if abs(end) - at > _WHOLE or end <= 0:  # a long label may stand for another one, which others judge
            return -1 - begun
        labels[row], lines[row], at, before = bits[0], line, end, -1
        while True:
            spaces = 0
            while text[at] == _SPACE or text[at] == _TAB or text[at] == _RETURN:
                at, spaces = at + 1, spaces + 1
            if text[at] == _NEWLINE or text[at] == _HASH:
                break
            index, start = 0, at
            while _ZERO <= text[at] <= _NINE and at - start < 11:
                index, at = 10 * index + text[at] - _ZERO, at + 1
            if spaces == 0 or at == start or index <= before or index > _MOST_INDEX or text[at] != _COLON:
                return -1 - begun
            at += 1
            end = _number(text, at, table, bits)
            if end == 0:
                return -1 - begun
            if end < 0:
                listed += 1
                if listed >= left.shape[0]:
                    return -1 - begun
                left[listed, 0], left[listed, 1], left[listed, 2] = at, -end, entry
                end = -end
            values[entry], indices[entry], at, before = bits[0], index, end, index
            entry += 1
        while text[at] != _NEWLINE:
            at += 1
        row += 1
        indptr[row] = entry
    left[0, 0] = listed
    return row


@inner
def _past_spaces(text: np.ndarray, at: int, delimiter: int) -> int:
    while text[at] == _SPACE or (text[at] == _TAB and delimiter != _TAB):
        at += 1
    return at


@inner
def _is_blank(text: np.ndarray, at: int) -> bool:
    """Whether nothing stands on a line."""
    while text[at] == _SPACE or text[at] == _TAB or text[at] == _RETURN:
        at += 1
    return text[at] == _NEWLINE


@inner
def _field(text: np.ndarray, at: int, delimiter: int) -> tuple[int, int]:
    """Where the text of a field ends, and where spaces after it do; (-1, -1) if it is not plain."""
    stop = at
    while text[at] != delimiter and text[at] != _NEWLINE:
        byte = text[at]
        if byte == _RETURN:
            if text[at + 1] != _NEWLINE:
                return -1, -1
            break
        if byte == _QUOTE or byte > _LAST_ASCII or (byte < _SPACE and byte != _TAB):
            return -1, -1
        at += 1
        if byte != _SPACE and byte != _TAB:
            stop = at
    return stop, at


@inner
def _is_exact(text: np.ndarray, start: int, stop: int) -> bool:
    """Whether a number is short, or not a whole one."""
    exact = stop - start <= _WHOLE
    for at in range(start, stop):
        exact |= text[at] == _DOT or text[at] == _E or text[at] == _SMALL_E
    return exact


@kernel
def read_table(
    text: np.ndarray,
    table: np.ndarray,
    bits: np.ndarray,
    delimiter: int,
    places: np.ndarray,
    values: np.ndarray,
    labels: np.ndarray,
    texts: np.ndarray,
    lines: np.ndarray,
    left: np.ndarray,
) -> int:
    """Lines of fields, the last one ended like the others; returns the number of rows.

    places[j] is the column of `values` for field j, or LABEL or LEFT_OUT. Values and labels are filled with the bits of
    numbers, `texts` with the labels as they are written. Numbers that Python must read are listed in `left`: where they
    begin and end, and which value each is; its first row counts them, and says whether all labels are numbers.
    -1 if a line is anything else than numbers and short labels without quotes.
    """
    at, row, line, listed, all_numbers, width = 0, 0, 0, 0, True, places.size
    while at < text.size:
        if _is_blank(text, at):
            while text[at] != _NEWLINE:
                at += 1
            at, line = at + 1, line + 1
            continue
        for field in range(width):
            place, at = places[field], _past_spaces(text, at, delimiter)
            if place >= 0:
                end = _number(text, at, table, bits)
                if end == 0:
                    return -1
                if end < 0:
                    listed, end = listed + 1, -end
                    if listed >= left.shape[0]:
                        return -1
                    left[listed, 0], left[listed, 1], left[listed, 2] = at, end, row * values.shape[1] + place
                values[row, place] = bits[0]
                at = _past_spaces(text, end, delimiter)
            else:
                start = at
                stop, at = _field(text, at, delimiter)
                if place == LABEL:
                    if stop <= start or stop - start > LABEL_BYTES:
                        return -1
                    for k in range(start, stop):
                        texts[row, k - start] = text[k]
                    if all_numbers:
                        all_numbers = _number(text, start, table, bits) == stop and _is_exact(text, start, stop)
                        labels[row] = bits[0]
                elif at < 0:
                    return -1
            if field == width - 1 and text[at] == _RETURN:
                at += 1
            if text[at] != (_NEWLINE if field == width - 1 else delimiter):
                return -1
            at += 1
        lines[row] = line
        row, line = row + 1, line + 1
    left[0, 0], left[0, 1] = listed, all_numbers
    return row
