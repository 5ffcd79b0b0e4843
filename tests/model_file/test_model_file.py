"""Models on disk: what is read is what was written, and what is damaged is refused."""

import errno
import hashlib
import io
import json
import os
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spdpeg import InputError, UnsupportedError, datasets, estimators, losses, model_file, operators, penalties
from spdpeg.certificate import Certificate
from spdpeg.model_file import load_model, read_header, save_model
from spdpeg.result import History

RNG = np.random.default_rng(0)


def fitted(model=None, **attributes):
    """An estimator with the attributes of a fit, made up."""
    model = estimators.FusedLogisticRegression(lam1=1e-3, lam2=2e-3) if model is None else model
    found = {
        "n_features_in_": 4,
        "feature_names_in_": np.array(["a", "b", "ç", "d"], dtype=object),
        "classes_": np.array(["no", "yes"]),
        "coef_": RNG.standard_normal((1, 4)),
        "intercept_": np.array([0.25]),
        "objective_": 0.5,
        "certificate_": Certificate(0.5, -np.inf, 1e-5, "residual"),
        "history_": History(*RNG.random((5, 3))),
        "dual_": RNG.standard_normal(3),
        "n_iter_": 7,
        "F_": operators.FirstDifference().bind(4),
        "_learners": ["not to be saved"],
    }
    if not is_classifier(model):
        found |= {"coef_": found["coef_"][0], "intercept_": 0.25}
        del found["classes_"]
    vars(model).update({**found, **attributes})
    return model


def same(a, b):
    """Equal values of equal types, terms compared by what they are made of."""
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    elif sp.issparse(a):
        same(a.toarray(), b.toarray())
    elif isinstance(a, list | tuple):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        same(list(a.values()), list(b.values()))
    elif hasattr(a, "get_params"):
        same(a.get_params(deep=False), b.get_params(deep=False))
        assert getattr(a, "known_inputs", None) == getattr(b, "known_inputs", None)
    elif isinstance(a, History | Certificate):
        same(vars(a), vars(b))
    else:
        assert a == b


def round_trip(model, path):
    save_model(model, path)
    loaded = load_model(path)
    same(model, loaded)
    before = {name: value for name, value in vars(model).items() if not name.startswith("_")}
    assert set(before) == set(vars(loaded))
    same(before, {name: vars(loaded)[name] for name in before})
    return loaded


def test_round_trip(tmp_path):
    model = fitted()
    loaded = round_trip(model, tmp_path / "m.spdpeg")
    rows = RNG.standard_normal((20, 4))
    del model.feature_names_in_, loaded.feature_names_in_
    np.testing.assert_array_equal(loaded.predict_proba(rows), model.predict_proba(rows))


def test_several_classes(tmp_path):
    certificates = [Certificate(1.0, 0.9, 0.1), Certificate(2.0, 1.9, 0.1, "relative gap"), None]
    round_trip(
        fitted(
            classes_=np.array([1, 2, 5]),
            coef_=RNG.standard_normal((3, 4)),
            intercept_=RNG.standard_normal(3),
            certificate_=certificates,
            objective_=[0.1, float("inf"), float("-inf")],
            history_=[History(*RNG.random((5, 2)))] * 3,
        ),
        tmp_path / "m",
    )


@pytest.mark.parametrize(
    "F",
    [
        None,
        operators.FirstDifference(),
        operators.Difference(3),
        operators.GridDifference((2, 2), weights=[1.0, 2.0]),
        operators.GraphDifference(np.array([[0, 1], [2, 3]]), weights=np.array([1.0, 0.5]), n_nodes=4),
        operators.GraphDifference([(0, 1), (2, 3)]),
        operators.Matrix(sp.csr_array(np.eye(4)[:2])),
        operators.Stack(operators.Identity(), operators.Difference(1)),
        np.eye(4),
        sp.csr_array(np.eye(4)),
    ],
    ids=lambda F: type(F).__name__,
)
def test_operators(F, tmp_path):
    bound = F.bind(4) if isinstance(F, operators.Operator) else None
    loaded = round_trip(fitted(estimators.GeneralizedLasso(F), F_=bound), tmp_path / "m")
    if bound is not None:
        x = RNG.standard_normal(4)
        np.testing.assert_array_equal(loaded.F_ @ x, bound @ x)


@pytest.mark.parametrize(
    ("loss", "r1"),
    [
        (losses.Huber(2.0), penalties.ElasticNet(0.1, np.array([1.0, 2.0, 3.0, 4.0]))),
        (losses.Squared(), penalties.SeparableSum([penalties.L1(0.1), penalties.Box(-np.inf, 1.0)], [2, 2])),
        (losses.Squared(), penalties.GroupL2(0.1, groups=[[0, 1], [2, 3]])),
    ],
)
def test_terms(loss, r1, tmp_path):
    round_trip(fitted(estimators.CompositeRegressor(loss=loss, r1=r1)), tmp_path / "m")


def test_values_of_parameters(tmp_path):
    model = estimators.FusedLogisticRegression(
        lam1=np.array([0.1, 0.2, 0.3, np.inf]), class_weight={1: 0.5, "x": 2.0, -1: float("nan")}, random_state=3
    )
    save_model(fitted(model), tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    np.testing.assert_array_equal(loaded.lam1, model.lam1)
    assert list(loaded.class_weight) == [1, "x", -1]
    assert np.isnan(loaded.class_weight[-1])
    assert loaded.random_state == 3


def test_the_same_model_gives_the_same_bytes(tmp_path):
    model = fitted()
    save_model(model, tmp_path / "a")
    save_model(load_model(tmp_path / "a"), tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_numpy_and_json_alone_can_read_it(tmp_path):
    model = fitted()
    save_model(model, tmp_path / "m")
    with np.load(tmp_path / "m", allow_pickle=False) as archive:
        np.testing.assert_array_equal(archive["coef_"], model.coef_)
        header = json.loads(archive["header.json"])
    assert header == read_header(tmp_path / "m")
    assert header["format"] == "spdpeg model"
    assert header["version"] == 1
    assert header["class"] == "FusedLogisticRegression"
    assert header["parameters"]["lam2"] == 2e-3
    assert header["attributes"]["certificate_"]["fields"]["primal"] == 0.5


def test_loading_runs_nothing_of_the_file(tmp_path):
    """An array of objects, whose pickle would run code, is refused."""
    save_model(fitted(), tmp_path / "m")
    ran = tmp_path / "ran"

    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(ran),)

    content = io.BytesIO()
    np.lib.format.write_array(content, np.array([Evil()], dtype=object), allow_pickle=True)
    rewrite(tmp_path / "m", {"coef_.npy": content.getvalue()})
    with pytest.raises(InputError):
        load_model(tmp_path / "m")
    assert not ran.exists()


def rewrite(path, members=None, checked=True, **changes):
    """Replace members and entries of the header, with checksums that fit if `checked`."""
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    content.update(members or {})
    header = {**json.loads(content["header.json"]), **changes}
    if members and checked:
        header["sha256"] |= {name: hashlib.sha256(member).hexdigest() for name, member in members.items()}
    content["header.json"] = json.dumps(header).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, member in content.items():
            archive.writestr(name, member)


def test_a_newer_format_is_refused_with_what_to_do(tmp_path):
    save_model(fitted(), tmp_path / "m")
    rewrite(tmp_path / "m", version=2, spdpeg="9.1")
    with pytest.raises(UnsupportedError, match=r"format 2, written by spdpeg 9\.1.*Install a newer spdpeg"):
        load_model(tmp_path / "m")


def test_a_file_of_an_older_version_lacks_parameters_that_came_later(tmp_path):
    save_model(fitted(), tmp_path / "m")
    parameters = read_header(tmp_path / "m")["parameters"]
    del parameters["class_weight"]
    rewrite(tmp_path / "m", parameters=parameters, spdpeg="0.0.1")
    assert load_model(tmp_path / "m").class_weight is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"class": "MagicRegressor"}, "holds a MagicRegressor, which this version of spdpeg does not have"),
        ({"class": "base"}, "holds a base, which this version"),
        ({"parameters": {"temperature": 3}}, "temperature"),
        ({"attributes": {"__class__": 3}}, "'__class__' is no fitted attribute"),
        ({"attributes": {"predict": 3}}, "'predict' is no fitted attribute"),
        ({"attributes": {"coef_": {"is": "array", "name": "nowhere"}}}, "nowhere"),
        ({"attributes": {"coef_": {"is": "os.system", "fields": {}}}}, "os.system, which this version"),
        ({"attributes": {"coef_": {"is": "operators.as_operator", "fields": {}}}}, "as_operator, which this version"),
        ({"attributes": []}, "the header's attributes is a list"),
        ({"attributes": {}}, "n_features_in_ is missing"),
        ({"parameters": {"lam1": json.loads("[" * 900 + "]" * 900)}}, "nested more than 40 deep"),
        ({"spdpeg": 3}, "the header's spdpeg is a int"),
        ({"format": "other"}, "not a model of spdpeg or is damaged"),
        ({"version": "two"}, "not a model of spdpeg or is damaged"),
        ({"sha256": None}, "not a model of spdpeg or is damaged"),
    ],
)
def test_headers_that_cannot_be(changes, message, tmp_path):
    save_model(fitted(), tmp_path / "m")
    rewrite(tmp_path / "m", **changes)
    with pytest.raises(InputError) as error:
        load_model(tmp_path / "m")
    assert message in str(error.value)
    assert str(tmp_path / "m") in str(error.value)


def damaged(path, **attributes):
    """The message on loading a model whose attributes were changed, with checksums that fit."""
    save_model(fitted(**attributes), path)
    with pytest.raises(InputError) as error:
        load_model(path)
    assert str(path) in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"coef_": np.array([[1.0, np.nan, 0.0, 0.0]])}, "coef_ is no array of shape (1, 4) of finite numbers"),
        ({"coef_": np.zeros((1, 4, 2))}, "coef_ is no array of shape (1, 4)"),
        ({"coef_": np.zeros((1, 3))}, "coef_ is no array of shape (1, 4)"),
        ({"coef_": np.zeros((1, 4), dtype=int)}, "coef_ is no array"),
        ({"coef_": "none"}, "coef_ is no array"),
        ({"intercept_": np.array([np.inf])}, "intercept_ is not 1 finite number"),
        ({"classes_": np.array([1.0])}, "classes_ are not two labels or more"),
        ({"classes_": np.array([1.0, np.nan])}, "classes_ are not two labels or more"),
        ({"classes_": np.array([1.0, 2.0, 3.0])}, "intercept_ is not 3 finite"),
        ({"n_features_in_": 10**15}, "n_features_in_ is no number of columns"),
        ({"n_features_in_": True}, "n_features_in_ is no number of columns"),
        ({"feature_names_in_": np.array(["a"], dtype=object)}, "feature_names_in_ are not one name for each column"),
        ({"certificate_": ["yes", [1.0]]}, "certificate_ is none"),
        ({"certificate_": "yes"}, "certificate_ is none"),
        ({"objective_": "small"}, "objective_ is no number"),
        ({"lam1_": "\x1b[31m"}, "lam1_ is made of no numbers"),
        ({"mean_scores_": np.zeros((0, 2))}, "mean_scores_ is made of no numbers"),
        ({"n_iter_": -1}, "n_iter_ is no count"),
        ({"history_": 3}, "history_ is none"),
        ({"dual_": np.array([np.nan])}, "dual_ does not hold finite numbers"),
        ({"F_": 3}, "F_ is no operator"),
    ],
)
def test_models_that_could_not_predict(attributes, message, tmp_path):
    assert message in damaged(tmp_path / "m", **attributes)


@pytest.mark.parametrize("name", ["coef_", "intercept_", "classes_", "certificate_", "objective_", "n_iter_"])
def test_missing_parts_are_told_when_the_model_is_loaded(name, tmp_path):
    save_model(fitted(), tmp_path / "m")
    attributes = read_header(tmp_path / "m")["attributes"]
    del attributes[name]
    rewrite(tmp_path / "m", attributes=attributes)
    with pytest.raises(InputError, match=f"{name} is missing"):
        load_model(tmp_path / "m")


@pytest.mark.parametrize("shape", ["(1000000000000000000000000000000,)", "(100000, 1000000)", "(-1,)"])
def test_arrays_that_claim_too_much(shape, tmp_path):
    save_model(fitted(), tmp_path / "m")
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(64)
    rewrite(tmp_path / "m", {"coef_.npy": content})
    with pytest.raises(InputError, match="coef_"):
        load_model(tmp_path / "m")


def test_sparse_parts_are_made_sure_of(tmp_path):
    save_model(fitted(estimators.GeneralizedLasso(sp.csr_array(np.eye(4)))), tmp_path / "m")
    content = io.BytesIO()
    np.save(content, np.array([0, 1, 2, 10**8]))
    rewrite(tmp_path / "m", {"F.indices.npy": content.getvalue()})
    with pytest.raises(InputError, match="the index 100000000 lies outside"):
        load_model(tmp_path / "m")


def test_a_damaged_sparse_parameter_is_not_saved(tmp_path):
    matrix = sp.csc_array(np.eye(4))
    model = fitted(estimators.GeneralizedLasso(matrix))
    matrix.indices[2] = 10**6
    with pytest.raises(InputError, match="F is a damaged sparse matrix"):
        save_model(model, tmp_path / "m")


def test_a_model_may_not_fill_the_memory(tmp_path, monkeypatch):
    save_model(fitted(), tmp_path / "m")
    monkeypatch.setenv("SPDPEG_MAX_EXPANDED", "1000")
    with pytest.raises(InputError, match="SPDPEG_MAX_EXPANDED"):
        load_model(tmp_path / "m")


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null"])
def test_a_device_is_no_model(path):
    with pytest.raises(InputError, match="not a model of spdpeg"):
        load_model(path)


def test_a_curve_knows_its_positions(tmp_path):
    positions = np.arange(6.0).reshape(-1, 1)
    model = estimators.TrendFilter(lam2=0.1).fit(positions, positions[:, 0] ** 2)
    save_model(model, tmp_path / "m")
    np.testing.assert_array_equal(load_model(tmp_path / "m").predict(positions), model.predict(positions))
    model.knots_ = model.knots_[::-1].copy()
    save_model(model, tmp_path / "m")
    with pytest.raises(InputError, match="knots_ do not rise"):
        load_model(tmp_path / "m")


def test_an_exchanged_array_does_not_match_its_checksum(tmp_path):
    save_model(fitted(), tmp_path / "m")
    save_model(fitted(), tmp_path / "other")
    with zipfile.ZipFile(tmp_path / "other") as archive:
        rewrite(tmp_path / "m", {"coef_.npy": archive.read("coef_.npy")}, checked=False)
    with pytest.raises(InputError, match=r"coef_\.npy does not match its checksum"):
        load_model(tmp_path / "m")


def test_truncated_anywhere(tmp_path):
    save_model(fitted(), tmp_path / "m")
    content = (tmp_path / "m").read_bytes()
    for length in [0, 1, 4, 30, *range(60, len(content), 97), len(content) - 1]:
        (tmp_path / "m").write_bytes(content[:length])
        with pytest.raises(InputError, match="not a model of spdpeg or is damaged"):
            load_model(tmp_path / "m")


def test_every_flipped_byte_is_noticed_or_harmless(tmp_path):
    """Bytes that no reader looks at, such as dates, may change; the model may not."""
    model = fitted()
    save_model(model, tmp_path / "m")
    content = (tmp_path / "m").read_bytes()
    noticed = 0
    for place in RNG.permutation(len(content))[:400]:
        changed = bytearray(content)
        changed[place] ^= 0xFF
        (tmp_path / "m").write_bytes(changed)
        try:
            loaded = load_model(tmp_path / "m")
        except (InputError, UnsupportedError):
            noticed += 1
        else:
            same(model, loaded)
            np.testing.assert_array_equal(loaded.coef_, model.coef_)
    assert noticed > 300


@pytest.mark.parametrize("content", [b"", b"PK", b"1 1:2\n", b"<html>", bytes(range(256)) * 12])
def test_something_else(content, tmp_path):
    (tmp_path / "m").write_bytes(content)
    assert not model_file.is_model(tmp_path / "m")
    with pytest.raises(InputError, match="not a model of spdpeg or is damaged"):
        load_model(tmp_path / "m")


def test_a_data_archive_is_no_model(tmp_path):
    np.savez(tmp_path / "data.npz", X=np.eye(2))
    assert not model_file.is_model(tmp_path / "data.npz")
    with pytest.raises(InputError, match="header"):
        load_model(tmp_path / "data.npz")


def test_a_missing_file_is_the_usual_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "m")


def test_only_our_estimators_are_saved(tmp_path):
    with pytest.raises(InputError, match="no estimator of spdpeg"):
        save_model(LinearRegression().fit(np.eye(2), [0, 1]), tmp_path / "m")
    with pytest.raises(NotFittedError):
        save_model(estimators.FusedLasso(), tmp_path / "m")
    assert os.listdir(tmp_path) == []


def test_a_term_of_ones_own_is_refused_by_name(tmp_path):
    class Mine(penalties.L1):
        pass

    with pytest.raises(UnsupportedError, match="r1 is a Mine, which a model file cannot hold"):
        save_model(fitted(estimators.CompositeRegressor(loss=losses.Squared(), r1=Mine(0.1))), tmp_path / "m")
    with pytest.raises(UnsupportedError, match="random_state is a RandomState"):
        save_model(fitted(estimators.FusedLasso(random_state=np.random.RandomState(0))), tmp_path / "m")
    assert os.listdir(tmp_path) == []


def test_a_full_disk_leaves_the_old_model_and_nothing_else(tmp_path, monkeypatch):
    def fail(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    save_model(fitted(), tmp_path / "m")
    before = (tmp_path / "m").read_bytes()
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        save_model(fitted(), tmp_path / "m")
    assert os.listdir(tmp_path) == ["m"]
    assert (tmp_path / "m").read_bytes() == before


def test_a_path_that_is_none_is_not_even_printed():
    """The text of a sparse matrix whose arrays do not fit together would be made of foreign memory."""
    damaged = sp.csr_array(np.eye(3))
    damaged.indptr = np.array([0, 1, 10**6, 3])
    for read in (load_model, read_header, model_file.is_model):
        with pytest.raises(InputError, match=r"The path is .*\. Give the name of a file\."):
            read(damaged)


def test_skops_takes_pipelines(tmp_path):
    skops = pytest.importorskip("skops.io")
    X, y, _ = datasets.piecewise_constant(100, 6, n_pieces=2)
    pipeline = make_pipeline(StandardScaler(), estimators.FusedLogisticRegression()).fit(X, y)
    with pytest.raises(InputError, match=r"A Pipeline is no estimator of spdpeg.*skops"):
        save_model(pipeline, tmp_path / "m")
    skops.dump(pipeline, tmp_path / "p.skops")
    types = skops.get_untrusted_types(file=tmp_path / "p.skops")
    assert all(name.startswith("spdpeg.") for name in types)
    again = skops.load(tmp_path / "p.skops", trusted=types)
    np.testing.assert_array_equal(again.predict_proba(X), pipeline.predict_proba(X))
