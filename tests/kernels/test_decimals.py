"""Numbers read from text have the bits that Python gives them."""

import struct

import numpy as np
import pytest

from spdpeg.kernels.decimals import LABEL, LABEL_BYTES, LEFT_OUT, powers, read_number, read_table


def found(text: str) -> float | None:
    """What the kernel makes of a number, None if it leaves it to Python; the length must be right in any case."""
    bits = np.empty(1, dtype=np.uint64)
    end = read_number(np.frombuffer(text.encode() + b"\0", dtype=np.uint8), powers(), bits)
    assert abs(end) == len(text), text
    return float(bits.view(np.float64)[0]) if end > 0 else None


def same(text: str) -> bool:
    """Whether the kernel gave the bits of Python's number; False if it left it alone."""
    number = found(text)
    if number is None:
        return False
    assert struct.pack("d", number) == struct.pack("d", float(text)), text
    return True


def test_all_floats_as_python_writes_them() -> None:
    words = np.random.default_rng(0).integers(0, 2**64, 20_000, dtype=np.uint64)
    numbers = words.view(np.float64)
    texts = [repr(float(number)) for number in numbers[np.isfinite(numbers)]]
    # The kernel is to read nearly all of them, not to leave them to Python: powers beyond 300 are some 4 %.
    assert np.mean([same(text) for text in texts]) > 0.9


@pytest.mark.parametrize("style", ["{:.6f}", "{:.3e}", "{:.17e}", "{:+.10g}", "{:.0f}", "{:E}"])
def test_numbers_of_everyday(style: str) -> None:
    rng = np.random.default_rng(1)
    for number in rng.standard_normal(2000) * 10.0 ** rng.integers(-9, 10, 2000):
        assert same(style.format(number))


def test_whole_numbers_and_powers() -> None:
    rng = np.random.default_rng(2)
    for digits in range(1, 20):
        for _ in range(100):
            whole = "".join(map(str, rng.integers(0, 10, digits)))
            same(whole)
            same(f"-{whole}e{rng.integers(-340, 330)}")
            point = int(rng.integers(0, digits + 1))
            same(f"{whole[:point]}.{whole[point:]}")


def test_halfway_cases() -> None:
    """Between two neighbours, where a tie goes to the even one, and as close beside as 19 digits can tell."""
    rng = np.random.default_rng(3)
    for base in rng.integers(2**52, 2**53, 500):
        for power in range(1, 9):
            middle = (2 * int(base) + 1) << (power - 1)
            for beside in (-1, 0, 1):
                if middle + beside < 10**19:
                    assert same(str(middle + beside))
    for whole in range(2**53, 2**53 + 200):
        assert same(str(whole))
        assert same(f"{whole}.5")


@pytest.mark.parametrize(
    "text",
    [
        "5e-324",
        "2.5e-324",
        "2.4703282292062327e-324",
        "4.9e-320",
        "2.2250738585072011e-308",
        "2.225073858507201e-308",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
        "1e309",
        "-1e400",
        "1e-400",
        "1e99999999999",
        "-0",
        "0e999",
        "0.0",
        "+.5",
        "5.",
        "-5.e-1",
        "0" * 400 + "1.5",
        "1" + "0" * 400,
        "0." + "0" * 400 + "1",
        "9" * 25 + "e-10",
        "1.00000000000000011102230246251565404236316680908203124",
        "1.00000000000000011102230246251565404236316680908203126",
    ],
)
def test_edges_of_the_range(text: str) -> None:
    same(text)  # or left to Python; never wrong


def test_signs() -> None:
    assert same("-0.0")  # its bits tell the sign
    assert found("+2") == 2.0
    assert found("-2e+1") == -20.0


@pytest.mark.parametrize("text", ["", "-", "+", ".", "-.", "e5", "1e", "1e+", "nan", "inf", "x1", " 1", "--1", "+-1"])
def test_what_is_no_number(text: str) -> None:
    ended = np.frombuffer(text.encode() + b"\0", dtype=np.uint8)
    assert read_number(ended, powers(), np.empty(1, dtype=np.uint64)) == 0


# ------------------------------------------------------------------------------------------------------------- tables


def table(
    text: str, places: tuple[int, ...] = (0, 1, LABEL), delimiter: str = ","
) -> tuple[int, list[list[float]], bool]:
    """Rows that the kernel finds, -1 if it refuses; values, and whether the labels are numbers."""
    rows, columns = text.count("\n"), sum(place >= 0 for place in places)
    values, labels = np.zeros((rows, columns), dtype=np.uint64), np.zeros(rows, dtype=np.uint64)
    texts, lines, left = np.zeros((rows, LABEL_BYTES), np.uint8), np.zeros(rows, np.int64), np.zeros((9, 3), np.int64)
    encoded, spare = np.frombuffer(text.encode(), dtype=np.uint8), np.empty(1, dtype=np.uint64)
    arguments = (encoded, powers(), spare, ord(delimiter), np.array(places), values, labels, texts, lines, left)
    n = int(read_table(*arguments))
    return n, values[: max(n, 0)].view(np.float64).tolist(), bool(left[0, 1])


def test_rows_of_a_table() -> None:
    assert table("1, 2.5 ,1\r\n\n -3e1,4,-1\n") == (2, [[1.0, 2.5], [-30.0, 4.0]], True)
    assert table("1\t2\tyes\n", delimiter="\t") == (1, [[1.0, 2.0]], False)
    assert table("7;any text;8;0.5\n", (1, LEFT_OUT, 0, LABEL), ";") == (1, [[8.0, 7.0]], True)
    # A whole number that float64 may not hold is left to those who look at all of them.
    assert table("1,2,1234567890123456\n") == (1, [[1.0, 2.0]], False)
    assert table("1,2,0.1234567890123456\n") == (1, [[1.0, 2.0]], True)


@pytest.mark.parametrize(
    "line",
    [
        "1,2",
        "1,2,3,4",
        "1,,3",
        "1,x,3",
        '1,"2",3',
        "1,2,",
        '1,2,"a"',
        "1,2,é",
        "1,2 3,4",
        "1,nan,3",
        "1_0,2,3",
        "1,2\r,3",
        "1,2,a\rb",
        "1,2," + "a" * (LABEL_BYTES + 1),
        "1,2,3,",
        ",1,2",
    ],
)
def test_lines_that_others_must_read(line: str) -> None:
    assert table(f"1,2,3\n{line}\n")[0] == -1
