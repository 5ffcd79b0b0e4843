"""Parameters that make no sense are refused where the size of the vector is known, with a sentence that says why."""

from typing import Any

import numpy as np
import pytest

from spdpeg import penalties as pen
from spdpeg.errors import InputError

SIZE = 6
ONES = np.ones(SIZE)

BAD_WEIGHTS = [-1.0, np.nan, np.inf, None, "heavy", [1.0, 2.0], -ONES, np.where(ONES > 0, np.nan, 0.0), np.ones((2, 3))]
WEIGHTED = [
    ("weight", pen.L1),
    ("weight", pen.L2Squared),
    ("l1", lambda w: pen.ElasticNet(l1=w)),
    ("l2", lambda w: pen.ElasticNet(l2=w)),
    ("l1", lambda w: pen.FusedL1(l1=w)),
    ("l2", lambda w: pen.FusedL1(l2=w)),
    ("weight", pen.HuberL1),
    ("weight", lambda w: pen.GroupL2(w, groups=1)),
    ("weight", lambda w: pen.Hinge(ONES, w)),
    ("weight", lambda w: pen.Quantile(ONES, weight=w)),
    ("weight", pen.LInf),
    ("weight", lambda w: pen.Nuclear(w, (2, 3))),
]

BAD_NUMBERS = [0.0, -1.0, np.nan, np.inf, None, "wide", [1.0, 2.0]]
POSITIVE = [
    ("delta", lambda x: pen.HuberL1(1.0, x)),
    ("radius", pen.L2Ball),
    ("radius", pen.L1Ball),
    ("total", pen.Simplex),
]

REFUSED = [
    (pen.Box(1.0, 0.0), "empty"),
    (pen.Box(np.nan), "empty"),
    (pen.Box(np.inf), "empty"),
    (pen.Box(upper=-np.inf), "empty"),
    (pen.Box([0.0, 0.0]), r"lower of Box has shape \(2,\) but acts on 6"),
    (pen.Box(upper=np.zeros((2, 3))), "upper of Box"),
    (pen.Box("low"), "lower of Box is 'low'"),
    (pen.LInf(ONES), "weight of LInf has shape"),
    (pen.FusedL1(l1=ONES), r"l1 of FusedL1 has shape \(6,\)"),
    (pen.FusedL1(l2=ONES), r"l2 of FusedL1 has shape \(6,\) but acts on 5 pairs of neighbours"),
    (pen.Nuclear(ONES, (2, 3)), "weight of Nuclear has shape"),
    (pen.Nuclear(1.0, (2, 2)), "6 entries"),
    (pen.Nuclear(1.0, (-2, -3)), "shape of Nuclear"),
    (pen.Nuclear(1.0, (2.0, 3.0)), "shape of Nuclear"),
    (pen.Nuclear(1.0, 6), "shape of Nuclear"),
    (pen.GroupL2(1.0, 4), "block size 4, which does not divide 6"),
    (pen.GroupL2(1.0, 0), "block size 0"),
    (pen.GroupL2(1.0, -2), "block size -2"),
    (pen.GroupL2(1.0, [0, 1, 1]), "3 labels but acts on 6"),
    (pen.GroupL2(1.0, [[0, 1], [1, 2]]), "overlap: coordinate 1 is listed 2 times"),
    (pen.GroupL2(1.0, [[0, 0], [2, 1]]), "overlap: coordinate 0"),
    (pen.GroupL2(1.0, [[0, 6], [1]]), "coordinate 6 of a vector of 6"),
    (pen.GroupL2(1.0, [[0, -1], [1]]), "coordinate -1 of a vector of 6"),
    (pen.GroupL2(1.0, [[0.5, 1.0], [2.0]]), "Give a block size"),
    (pen.GroupL2(1.0, 2.0), "Give a block size"),
    (pen.GroupL2(1.0, "ab"), "Give a block size"),
    (pen.GroupL2(1.0, []), "Give a block size"),
    (pen.GroupL2([1.0, 2.0], [[0, 1], [2], [3]]), r"shape \(2,\) but acts on 3 groups"),
    (pen.Hinge(ONES[:4]), r"shape \(4,\) but act on 6"),
    (pen.Hinge(np.arange(SIZE)), "hold 0.0 beside -1 and \\+1"),
    (pen.Hinge(np.full(SIZE, np.nan)), "NaN"),
    (pen.Hinge(["yes"] * SIZE), "labels of Hinge"),
    (pen.Hinge(1.0), "labels of Hinge have shape"),
    (pen.Quantile(ONES[:4]), r"shape \(4,\) but act on 6"),
    (pen.Quantile(np.full(SIZE, np.inf)), "infinite"),
    (pen.Quantile(ONES, 0.0), "level of Quantile is 0.0"),
    (pen.Quantile(ONES, 1.0), "level of Quantile is 1.0"),
    (pen.Quantile(ONES, np.nan), "level of Quantile is nan"),
    (pen.Quantile(ONES, "median"), "level of Quantile is 'median'"),
    (pen.SeparableSum([pen.L1()], [2, 4]), "1 parts and 2 sizes"),
    (pen.SeparableSum([], []), "0 parts"),
    (pen.SeparableSum([pen.L1(), pen.L1()], [2, 3]), "vector has 6 coordinates"),
    (pen.SeparableSum([pen.L1(), pen.L1()], [8, -2]), r"sizes \[8, -2\]"),
    (pen.SeparableSum([pen.L1(), pen.L1()], [2.5, 3.5]), r"sizes \[2.5, 3.5\]"),
    (pen.SeparableSum([pen.L1(), 3.0], [2, 4]), "A part of SeparableSum is 3.0"),
    (pen.SeparableSum([pen.L1(-1.0), pen.L1()], [2, 4]), "negative"),
]


@pytest.mark.parametrize("bad", BAD_WEIGHTS, ids=lambda bad: repr(bad)[:20])
@pytest.mark.parametrize(("name", "make"), WEIGHTED)
def test_bad_weights(name: str, make: Any, bad: Any) -> None:
    penalty = make(bad)
    with pytest.raises(InputError, match=f"{name} of {type(penalty).__name__}"):
        penalty.pack(SIZE)


@pytest.mark.parametrize("bad", BAD_NUMBERS)
@pytest.mark.parametrize(("name", "make"), POSITIVE)
def test_bad_numbers(name: str, make: Any, bad: Any) -> None:
    penalty = make(bad)
    with pytest.raises(InputError, match=f"{name} of {type(penalty).__name__} is .*positive"):
        penalty.pack(SIZE)


@pytest.mark.parametrize(("penalty", "reason"), REFUSED)
def test_refused(penalty: pen.Penalty, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        penalty.pack(SIZE)
    with pytest.raises(InputError, match=reason):
        penalty.dual_prox(ONES)


def test_every_message_has_two_sentences() -> None:
    for penalty, _ in REFUSED:
        with pytest.raises(InputError) as caught:
            penalty.pack(SIZE)
        assert ". " in str(caught.value)
        assert str(caught.value).endswith(".")


def test_empty_simplex() -> None:
    with pytest.raises(InputError, match="0 coordinates"):
        pen.Simplex().pack(0)


@pytest.mark.parametrize(
    "groups", [2, np.int64(2), [0, 0, 1, 1, 2, 2], np.array([5, 5, 6, 6, 9, 9]), [[0, 1], [2, 3], [4, 5]],
               np.arange(6).reshape(3, 2), (np.array([1, 0]), (3, 2), [5, 4])],
)  # fmt: skip
def test_groups_may_be_written_in_several_ways(groups: Any) -> None:
    v = np.array([3.0, 4.0, 0.1, 0.1, -5.0, 12.0])
    r = pen.GroupL2([2.5, 1.0, 6.5], groups)
    np.testing.assert_allclose(r.prox(v), [1.5, 2.0, 0.0, 0.0, -2.5, 6.0], atol=1e-15)
    assert r.value(v) == pytest.approx(2.5 * 5 + np.sqrt(0.02) + 6.5 * 13)


def test_empty_groups_are_allowed() -> None:
    r = pen.GroupL2([1.0, 1.0], [[], [0, 1]])
    np.testing.assert_allclose(r.prox([3.0, 4.0, 9.0]), [2.4, 3.2, 9.0])


def test_one_weight_in_a_list_serves_all_coordinates() -> None:
    np.testing.assert_array_equal(pen.L1([1.0]).prox([3.0, -3.0]), [2.0, -2.0])
