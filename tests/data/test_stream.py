"""Chunks of any size and kind come out as the same rows, in order."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import spdpeg
from spdpeg.data import Stream, as_source
from spdpeg.errors import InputError

rng = np.random.default_rng(9)
X = rng.standard_normal((20, 3))
Y = np.arange(20.0)


def cut(*sizes: int) -> list[tuple[np.ndarray, np.ndarray]]:
    edges = np.cumsum([0, *sizes])
    return [(X[a:b], Y[a:b]) for a, b in itertools.pairwise(edges)]


def drain(stream: Stream, multiple: int) -> tuple[np.ndarray, np.ndarray]:
    tables, labels = [np.empty((0, 3))], [np.empty(0)]
    while (chunk := stream.take(multiple)) is not None:
        assert len(chunk[1]) % multiple == 0
        assert len(chunk[1]) == chunk[0].shape[0] > 0
        tables.append(chunk[0].toarray() if sp.issparse(chunk[0]) else chunk[0])
        labels.append(chunk[1])
    return np.vstack(tables), np.concatenate(labels)


@pytest.mark.parametrize("multiple", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("sizes", [(20,), (1,) * 20, (7, 0, 13), (0, 0, 1, 19), (5, 5, 5, 5), (19, 1)])
def test_rows_come_in_order_whatever_the_cut(sizes: tuple[int, ...], multiple: int) -> None:
    used = 20 - 20 % multiple
    for chunks in (cut(*sizes), iter(cut(*sizes)), lambda: iter(cut(*sizes))):
        table, labels = drain(Stream(chunks), multiple)
        np.testing.assert_array_equal(table, X[:used])
        np.testing.assert_array_equal(labels, Y[:used])


@pytest.mark.parametrize("multiple", [1, 4, 20])
def test_sparse_and_dense_chunks_mix(multiple: int) -> None:
    kinds: list[Callable[[np.ndarray], Any]] = [
        np.asarray, sp.csr_array, sp.coo_matrix, pd.DataFrame, np.asfortranarray, sp.csc_array, lambda A: A.tolist()
    ]  # fmt: skip
    chunks = [(kind(A), y) for kind, (A, y) in zip(kinds, cut(3, 3, 3, 3, 3, 3, 2), strict=True)]
    table, labels = drain(Stream(chunks), multiple)
    np.testing.assert_array_equal(table, X)
    np.testing.assert_array_equal(labels, Y)


def test_single_rows_without_a_second_dimension() -> None:
    table, labels = drain(Stream((x, y) for x, y in zip(X, Y, strict=True)), 4)
    np.testing.assert_array_equal(table, X)
    np.testing.assert_array_equal(labels, Y)


def test_empty_lists_are_empty_chunks() -> None:
    table, _ = drain(Stream([([], []), *cut(20), ([], [])]), 1)
    np.testing.assert_array_equal(table, X)


@pytest.mark.parametrize("multiple", [1, 3, 20])
def test_weights_stay_with_their_rows(multiple: int) -> None:
    chunks = [(A, y, y + 100.0) if k % 2 else (A, y, None) for k, (A, y) in enumerate(cut(4, 7, 1, 8))]
    stream = Stream(chunks)
    seen = []
    while (chunk := stream.take(multiple)) is not None:
        seen += [1.0] * len(chunk[1]) if chunk[2] is None else list(chunk[2])
    expected = np.concatenate([np.ones(4), Y[4:11] + 100, np.ones(1), Y[12:] + 100])
    np.testing.assert_array_equal(seen, expected[: len(seen)])
    assert len(seen) == 20 - 20 % multiple


def test_lists_and_callables_start_again_generators_do_not() -> None:
    assert Stream(cut(20)).restartable
    assert Stream(lambda: iter(cut(20))).restartable
    assert not Stream(iter(cut(20))).restartable
    assert not Stream(A for A in cut(20)).restartable
    stream = Stream(cut(6, 14))
    for _ in range(3):
        table, _ = drain(stream, 4)
        np.testing.assert_array_equal(table, X)
        assert stream.rows_per_traversal == 20
        stream.restart()


def test_looking_ahead_takes_nothing() -> None:
    stream = Stream(iter(cut(5, 15)))
    assert stream.n_features == 3
    assert len(stream.peek()[1]) == len(stream.peek()[1]) == 5
    np.testing.assert_array_equal(drain(stream, 1)[0], X)
    with pytest.raises(InputError, match="no rows left"):
        stream.peek()


def test_looking_ahead_at_the_end_of_a_list_begins_again() -> None:
    stream = Stream(cut(5, 15))
    drain(stream, 1)
    assert len(stream.peek()[1]) == 5
    np.testing.assert_array_equal(drain(stream, 1)[0], X)


@pytest.mark.parametrize("used", [0, 3, 8])
def test_rows_given_back_are_taken_again(used: int) -> None:
    stream = Stream(iter(cut(8, 12)))
    first = stream.take(4)
    assert first is not None
    stream.give_back(first, used)
    assert len(stream.peek()[1]) > 0
    np.testing.assert_array_equal(drain(stream, 1)[0], X[used:])


def test_endless_streams_are_read_as_far_as_needed() -> None:
    read = []

    def endless() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for k in itertools.count():
            read.append(k)
            yield X[:2], np.full(2, float(k))

    stream = Stream(endless())
    for _ in range(5):
        chunk = stream.take(3)
        assert chunk is not None
        assert len(chunk[1]) == 3
    assert len(read) == 8
    assert stream.rows_per_traversal is None


@pytest.mark.parametrize(
    "chunks", [iter([(X, Y)]), [(X, Y)], [[X, Y]], [(X.tolist(), Y.tolist())], [(sp.csr_array(X), Y)], lambda: [(X, Y)]]
)
def test_recognised_as_a_stream(chunks: Any) -> None:
    stream = as_source(chunks)
    assert isinstance(stream, Stream)
    np.testing.assert_array_equal(drain(stream, 1)[1], Y)


@pytest.mark.parametrize(
    ("chunk", "message"),
    [
        (X, "Chunk 2 of the stream is not a pair"),
        ((X,), "Chunk 2 of the stream is not a pair"),
        ((X, Y, Y, Y), "not a pair"),
        (None, "not a pair"),
        ((X, Y[:5]), r"X of shape \(20, 3\), y of shape \(5,\)"),
        ((X, Y.reshape(-1, 1)), r"y of shape \(20, 1\)"),
        ((X, Y, Y[:5]), r"weights of shape \(5,\)"),
        ((X, Y, ["heavy"] * 20), "weights that are not numbers"),
        ((X[:, :2], Y), "Chunk 2 of the stream has 2 columns where 3 were expected"),
        ((np.ones((20, 3, 1)), Y), r"X of shape \(20, 3, 1\)"),
        ((np.full((20, 3), "a"), Y), "Chunk 2 of the stream cannot be used. X has entries that are not real numbers"),
        (([[1.0], [1.0, 2.0]], Y[:2]), "Chunk 2 of the stream cannot be used"),
    ],
)
def test_bad_chunks_are_refused_by_number(chunk: Any, message: str) -> None:
    stream = Stream(iter([(X, Y), chunk]))
    assert stream.take(1) is not None
    with pytest.raises(InputError, match=message):
        stream.take(1)


@pytest.mark.parametrize("chunks", [[], [([], [])], iter([]), list])
def test_empty_streams_are_refused(chunks: Any) -> None:
    with pytest.raises(InputError, match="no rows left"):
        Stream(chunks).peek()


def test_fewer_rows_than_a_step_are_refused() -> None:
    with pytest.raises(InputError, match="ended after 20 rows and one step takes 21"):
        Stream(cut(10, 10)).take(21)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((3,), "chunks is a int"), ((cut(20), 0), "n_features of the stream is 0")],
)
def test_bad_streams_are_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Stream(*arguments)


def test_a_callable_must_return_an_iterator() -> None:
    with pytest.raises(InputError, match="returned a int"):
        Stream(lambda: 3).peek()  # type: ignore[arg-type,return-value]


def test_a_spent_callable_ends_the_stream() -> None:
    once = iter(cut(20))
    stream = Stream(lambda: once)
    drain(stream, 1)
    stream.restart()
    assert stream.take(1) is None
    assert stream.rows_per_traversal == 20


def test_width_may_be_given() -> None:
    with pytest.raises(InputError, match="3 columns where 4 were expected"):
        Stream(cut(20), n_features=4).peek()


def test_what_is_not_finite_is_told_with_its_chunk_and_row() -> None:
    X = np.ones((4, 3))
    broken = X.copy()
    broken[2, 1] = np.nan
    labels = np.array([1.0, -1.0, 1.0, -1.0])
    for bad in (broken, sp.csr_array(broken)):
        chunks = [(X, labels)] * 15 + [(bad, labels)]
        problem = spdpeg.Problem(Stream(chunks), loss=spdpeg.losses.Logistic())
        with pytest.raises(InputError, match=r"Chunk 16 of the stream has a NaN or infinite entry in row 2\."):
            spdpeg.solve(problem, "spdpeg", max_passes=1)
