"""What every operator must satisfy, checked over one registry of instances."""

import inspect
import pickle
from collections.abc import Iterator

import numpy as np
import pytest
import scipy.sparse as sp

from spdpeg import operators
from spdpeg.errors import InputError
from spdpeg.kernels import jit
from spdpeg.operators import Operator


class EveryThird(Operator):
    """A user's operator: three times every third coordinate."""

    @property
    def n_outputs(self) -> int:
        return -(-self.n_inputs // 3)

    @property
    def squared_norm(self) -> float:
        return 9.0

    def pack(self) -> tuple[np.ndarray, np.ndarray]:
        return np.array([3.0]), np.array([3])

    def matrix(self) -> sp.csr_array:
        return 3.0 * sp.csr_array(sp.eye_array(self.n_inputs))[::3]

    @jit.linear
    @staticmethod
    def kernel_forward(vector: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        # Sizes, not only entries: a composite must hand over exactly the numbers of this part.
        for i in range(out.size):
            out[i] = reals[reals.size - 1] * vector[ints[ints.size - 1] * i]

    @jit.linear
    @staticmethod
    def kernel_adjoint(vector: np.ndarray, reals: np.ndarray, ints: np.ndarray, out: np.ndarray) -> None:
        out[:] = 0.0
        for i in range(vector.size):
            out[ints[ints.size - 1] * i] = reals[reals.size - 1] * vector[i]


rng = np.random.default_rng(7)
SPARSE = sp.random_array((30, 12), density=0.2, random_state=rng, data_sampler=rng.standard_normal)
EDGES = [(0, 1), (3, 1), (2, 5), (5, 0), (5, 4), (1, 0)]

# Operator, and how far above the truth its squared norm may lie.
CASES: dict[str, tuple[Operator, float]] = {
    "identity": (operators.Identity().bind(5), 1.0),
    "empty": (operators.Empty().bind(5), 1.0),
    "chain": (operators.FirstDifference().bind(17), 1.0),
    "chain of two": (operators.FirstDifference().bind(2), 1.0),
    "chain of one": (operators.FirstDifference().bind(1), 1.0),
    "order 1": (operators.Difference(order=1).bind(17), 1.0),
    "order 2": (operators.Difference(order=2).bind(17), 1.02),
    "order 2, one row": (operators.Difference(order=2).bind(3), 1.0),
    "order 3": (operators.Difference(order=3).bind(40), 1.02),
    "order 5": (operators.Difference(order=5).bind(11), 1.2),
    "order 3, no row": (operators.Difference(order=3).bind(3), 1.0),
    "graph": (operators.GraphDifference(EDGES).bind(8), 2.0),
    "weighted graph": (operators.GraphDifference(EDGES, weights=[1, -2, 0.5, 3, 0, 1], n_nodes=6), 2.0),
    "cycle": (operators.GraphDifference([(i, (i + 1) % 6) for i in range(6)]).bind(6), 1.0),
    "no edges": (operators.GraphDifference([]).bind(3), 1.0),
    "grid 1-d": (operators.GridDifference([9]), 1.0),
    "grid 2-d": (operators.GridDifference((4, 7)), 1.0),
    "grid 3-d": (operators.GridDifference((3, 4, 5), weights=(1.0, -2.0, 0.5)), 1.0),
    "grid 4-d": (operators.GridDifference((2, 3, 1, 4)), 1.0),
    "single cell": (operators.GridDifference((1, 1)), 1.0),
    "sparse matrix": (operators.Matrix(SPARSE), 1.0),
    "dense matrix": (operators.Matrix(rng.standard_normal((6, 9))), 1.0),
    "zero matrix": (operators.Matrix(np.zeros((4, 3))), 1.0),
    "matrix without rows": (operators.Matrix(np.zeros((0, 3))), 1.0),
    "fused lasso": (operators.Stack(operators.Identity(), operators.FirstDifference()).bind(12), 1.0),
    "stack of one": (operators.Stack(operators.Difference(2)).bind(9), 1.02),
    "stack": (
        operators.Stack(EveryThird(), operators.Empty(), SPARSE, operators.GridDifference((3, 4)), np.ones((1, 12))),
        5.0,
    ),
    "nested stack": (
        operators.Stack(
            operators.Stack(operators.Identity(), EveryThird()), EveryThird(), operators.Stack(operators.Identity())
        ).bind(10),
        1.0,
    ),
    "beside an intercept": (operators.Repeated(operators.FirstDifference(), skip=1).bind(8), 1.0),
    "copies of a matrix": (operators.Repeated(SPARSE, copies=3), 1.0),
    "copies with gaps": (operators.Repeated(EveryThird().bind(4), copies=3, skip=2), 1.0),
    "copies of no rows": (operators.Repeated(operators.Empty().bind(2), copies=2, skip=1), 1.0),
    "copies in a stack": (
        operators.Stack(operators.Repeated(operators.FirstDifference(), copies=2, skip=1), EveryThird()).bind(10),
        2.0,
    ),
    "copies of a stack": (
        operators.Repeated(operators.Stack(operators.Identity(), operators.FirstDifference()), copies=2).bind(12),
        1.0,
    ),
    "user-defined": (EveryThird().bind(10), 1.0),
}
HOLDING_USERS_OWN = ("stack", "nested stack", "copies with gaps", "copies in a stack", "user-defined")


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> tuple[Operator, float]:
    return CASES[request.param]


@pytest.fixture
def operator(case: tuple[Operator, float]) -> Operator:
    return case[0]


def pairs(operator: Operator, count: int = 3) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    draw = np.random.default_rng(0)
    for _ in range(count):
        yield draw.standard_normal(operator.n_inputs), draw.standard_normal(operator.n_outputs)


def test_every_exported_operator_is_covered() -> None:
    exported = [getattr(operators, name) for name in operators.__all__]
    classes = {c for c in exported if inspect.isclass(c) and issubclass(c, Operator) and c is not Operator}
    assert classes <= {type(operator) for operator, _ in CASES.values()}


def test_adjoint_is_the_adjoint(operator: Operator) -> None:
    for x, y in pairs(operator):
        left, right = (operator @ x) @ y, x @ operator.adjoint(y)
        assert left == pytest.approx(right, rel=1e-12, abs=1e-12)


def test_equals_its_matrix(operator: Operator) -> None:
    matrix = operator.matrix()
    assert isinstance(matrix, sp.csr_array)
    assert matrix.shape == (operator.n_outputs, operator.n_inputs)
    np.testing.assert_allclose(operator.column_sizes, np.linalg.norm(matrix.toarray(), axis=0), rtol=1e-12)
    for x, y in pairs(operator):
        np.testing.assert_allclose(operator @ x, matrix @ x, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(operator.adjoint(y), matrix.T @ y, rtol=1e-12, atol=1e-12)


def test_matrix_of_a_class_that_gives_none(operator: Operator) -> None:
    np.testing.assert_array_equal(Operator.matrix(operator).toarray(), operator.matrix().toarray())


def test_linear(operator: Operator) -> None:
    (x, y), (u, v) = pairs(operator, 2)
    np.testing.assert_allclose(operator @ (2 * x - 3 * u), 2 * (operator @ x) - 3 * (operator @ u), atol=1e-11)
    back = 2 * operator.adjoint(y) - 3 * operator.adjoint(v)
    np.testing.assert_allclose(operator.adjoint(2 * y - 3 * v), back, atol=1e-11)


def test_norm_bound_holds_and_is_tight(case: tuple[Operator, float]) -> None:
    operator, factor = case
    singular = np.linalg.svd(operator.matrix().toarray(), compute_uv=False)
    truth = float(np.max(singular, initial=0.0)) ** 2
    assert truth * (1 - 1e-12) <= operator.squared_norm <= truth * factor * (1 + 1e-12)
    assert operator.norm == pytest.approx(operator.squared_norm**0.5)


def test_inputs_are_untouched(operator: Operator) -> None:
    (x, y) = next(pairs(operator))
    for vector, apply in ((x, operator.forward), (y, operator.adjoint)):
        before = vector.copy()
        vector.flags.writeable = False
        first = apply(vector)
        np.testing.assert_array_equal(vector, before)
        np.testing.assert_array_equal(apply(list(vector)), first)
        assert not np.shares_memory(first, vector)


def test_wrong_lengths_are_refused(operator: Operator) -> None:
    with pytest.raises(InputError, match=f"takes a vector of {operator.n_inputs} entries here and got"):
        operator.forward(np.zeros(operator.n_inputs + 1))
    with pytest.raises(InputError, match=f"takes a vector of {operator.n_outputs} entries here and got"):
        operator.adjoint(np.zeros(operator.n_outputs + 1))


@pytest.mark.parametrize("name", [name for name in CASES if name not in HOLDING_USERS_OWN])
def test_survives_pickling(name: str) -> None:
    operator, _ = CASES[name]
    x, _ = next(pairs(operator))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(operator)) @ x, operator @ x)


def test_binding_leaves_the_original_unbound() -> None:
    chain = operators.FirstDifference()
    assert chain.bind(4).n_outputs == 3
    assert chain.bind(4).bind(6).n_outputs == 5
    with pytest.raises(InputError, match="does not know the length of x yet"):
        _ = chain.n_inputs
