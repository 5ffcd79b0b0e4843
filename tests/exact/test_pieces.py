"""Pieces are the connected parts of fused pairs, and penalties of points that are constant on them stay the same."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from spdpeg import operators, penalties
from spdpeg.exact.pieces import AbsolutePenalties


def random_lines(seed: int, long_rows: bool) -> AbsolutePenalties:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 30))
    ends = np.array([rng.choice(d, 2, replace=False) for _ in range(rng.integers(0, 3 * d))]).reshape(-1, 2)
    size = rng.uniform(0.5, 2.0, ends.shape[0])
    rows = np.repeat(np.arange(ends.shape[0]), 2)
    K = sp.csr_array((np.column_stack([size, -size]).ravel(), (rows, ends.ravel())), shape=(ends.shape[0], d))
    if long_rows:
        K = sp.csr_array(sp.vstack([K, sp.random_array((4, d), density=0.4, rng=rng)], format="csr"))
    return AbsolutePenalties.made(
        K, rng.uniform(0.1, 1.0, K.shape[0]), rng.integers(0, 2, d) * 0.3, rng.integers(0, 2, d) * 0.2
    )


@pytest.mark.parametrize("long_rows", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_pieces_and_their_penalties(seed: int, long_rows: bool) -> None:
    lines = random_lines(seed, long_rows)
    rng = np.random.default_rng(seed)
    d = lines.weight.size
    zero, fused = rng.uniform(size=d) < 0.15, rng.uniform(size=lines.cost.size) < 0.3
    pieces = lines.pieces(zero, fused)

    joined = lines.K[np.flatnonzero(fused & lines.pairs)]
    count, part = connected_components(abs(joined).T @ abs(joined), directed=False)
    kept = np.setdiff1d(np.arange(count), part[zero])
    assert pieces.number == kept.size
    np.testing.assert_array_equal(pieces.labels >= 0, np.isin(part, kept))
    for label in range(pieces.number):
        members = pieces.labels == label
        np.testing.assert_array_equal(members, part == part[members][0])
    firsts = [int(np.argmax(pieces.labels == label)) for label in range(pieces.number)]
    assert firsts == sorted(firsts)

    small = lines.collapsed(pieces)
    w = rng.normal(size=pieces.number)
    x = pieces.expand(w)
    assert small.value(w) == pytest.approx(lines.value(x), rel=1e-12)
    assert small.form.value(w) == pytest.approx(lines.value(x), rel=1e-12)
    np.testing.assert_array_equal(pieces.reduce(x), w)
    first = small.K.indices[small.K.indptr[:-1][small.pairs]]
    second = small.K.indices[small.K.indptr[:-1][small.pairs] + 1]
    assert np.unique(np.minimum(first, second) * d + np.maximum(first, second)).size == first.size


def test_equal_neighbours_count_once() -> None:
    chain = AbsolutePenalties.made(sp.csr_array(np.diff(np.eye(7), axis=0)), np.ones(6), np.ones(7), np.zeros(7))
    assert chain.count(np.array([0.0, 2.0, 2.0, 0.0, 2.0, -1.0, -1.0])) == 3
    assert chain.count(np.zeros(7)) == 0


@pytest.mark.parametrize("seed", range(10))
def test_rows_that_were_added_up_share_their_multipliers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = random_lines(seed, long_rows=True)
    d = pairs.weight.size
    again = pairs.K[rng.integers(0, pairs.cost.size, 5)] if pairs.cost.size else pairs.K
    K = sp.csr_array(sp.vstack([-again, 0.0 * again, rng.uniform(-1.0, 1.0) * sp.eye_array(d), pairs.K], format="csr"))
    lines = AbsolutePenalties.made(K, rng.uniform(0.1, 1.0, K.shape[0]), np.zeros(d), np.zeros(d))
    slopes, multipliers = (rng.uniform(-1.0, 1.0, most.size) * most for most in (lines.weight, lines.cost))
    y = lines.restored(slopes, multipliers)
    assert lines.source is not None
    assert np.all(np.abs(y) <= lines.source[1])
    np.testing.assert_allclose(K.T @ y, slopes + lines.K.T @ multipliers, atol=1e-12)


def test_the_lines_of_a_sum_are_those_of_its_parts() -> None:
    r1, F = penalties.ElasticNet(0.2, 0.1).conic_form(6), operators.FirstDifference().bind(6).matrix()
    r2 = penalties.L1(np.array([0.3, 0.0, 0.1, 0.2, 0.4])).conic_form(5).after(F)
    parts, whole = AbsolutePenalties.of(r1, r2), AbsolutePenalties.of(r1 + r2)
    assert parts is not None
    assert whole is not None
    x = np.random.default_rng(0).normal(size=6)
    assert parts.value(x) == whole.value(x) == pytest.approx((r1 + r2).value(x), rel=1e-14)
    assert AbsolutePenalties.of(r1, penalties.L2Squared(1.0).conic_form(5).after(F)) is None
