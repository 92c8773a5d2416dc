"""Certificates survive round trips, and forgeries never prove too much."""

import ast
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import frugalsvm.checker
from frugalsvm import Certificate, FrugalSVC, InvalidCertificate, Problem, solve, verify
from frugalsvm.checker import checksum
from frugalsvm.solving.polish import with_refit
from tests.checker.grouped import random_grouped
from tests.reference import brute_force
from tests.tree.problems import KINDS, small_problem

TRUSTED = {"numpy"} | set(sys.stdlib_module_names)


def proof_of(kind, seed):
    problem, X, y = small_problem(kind, seed)
    result = solve(
        problem, method="branch-and-bound", certificate=True, random_state=0,
        method_options={"patience": 0},
    )  # fmt: skip
    return problem, X, y, result


@pytest.fixture(scope="module")
def proof():
    return proof_of("random", 12)


@pytest.fixture(scope="module")
def proofs():
    """Proofs with leaves and fixings, and the optima they must not exceed."""
    cases = []
    for kind in KINDS:
        for seed in range(30, 33):
            problem, X, y, result = proof_of(kind, seed)
            cases.append((X, y, result.certificate.arrays, brute_force(problem)[0]))
    return cases


def sealed(arrays):
    return {**arrays, "checksum": np.array(checksum(arrays))}


def test_certificates_survive_a_file(proof, tmp_path):
    _, X, y, result = proof
    path = tmp_path / "proof"
    result.save_certificate(path)
    direct, loaded = verify(result.certificate, X, y), verify(path, X, y)
    assert direct.lower_bound == loaded.lower_bound
    assert loaded.gap <= 1e-4
    assert loaded.n_leaves > 1
    np.testing.assert_array_equal(loaded.selected, result.selected)
    assert repr(Certificate.load(path)) == repr(result.certificate)
    assert "proved" in str(loaded)


def test_the_tree_has_fixings_to_check(proofs):
    assert sum(arrays["fixing"].size for _, _, arrays, _ in proofs) > 20


@pytest.mark.parametrize("method", ["swap", "relax-and-round"])
def test_a_run_without_a_tree_has_a_proof_too(method):
    problem, X, y = small_problem("random", 4)
    result = solve(problem, method=method, certificate=True)
    proved = verify(result.certificate, X, y)
    assert proved.n_nodes == 1
    np.testing.assert_allclose(proved.lower_bound, result.lower_bound, rtol=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_groups_and_signs_are_stated(seed):
    grouped = random_grouped(seed)
    problem = Problem(grouped.X, grouped.y, **grouped.arguments())
    result = solve(
        problem, method="branch-and-bound", certificate=True, random_state=0,
        method_options={"patience": 0},
    )  # fmt: skip
    arrays = result.certificate.arrays
    assert ("groups" in arrays) == (grouped.n_features < grouped.groups.size)
    assert ("signs" in arrays) == grouped.signs.any()
    proved = verify(arrays, grouped.X, grouped.y, **grouped.expected())
    np.testing.assert_allclose(proved.objective, grouped.optimum, rtol=1e-4)
    assert result.lower_bound * (1 - 1e-9) <= proved.lower_bound
    assert proved.lower_bound <= grouped.optimum * (1 + 1e-9)
    np.testing.assert_array_equal(proved.selected, result.selected)
    np.testing.assert_array_equal(proved.selected_columns, result.selected_columns)
    both = with_refit(problem, result, 7.0).certificate
    refit = verify(both, grouped.X, grouped.y, refit_C=7.0, **grouped.expected()).refit
    support = tuple(np.union1d(result.selected, grouped.include).astype(int).tolist())
    optimum = replace(grouped, C=7.0 * grouped.C).svm(support).value
    np.testing.assert_allclose(refit.objective, optimum, rtol=1e-6)
    assert refit.lower_bound <= optimum * (1 + 1e-9)


def test_plain_problems_have_no_section_of_columns():
    problem, X, y = small_problem("random", 4)
    arrays = solve(problem, method="swap", certificate=True).certificate.arrays
    assert not {"groups", "signs"} & set(arrays)
    verify(arrays, X, y, feature_groups=None, signs=None)


def test_no_certificate_unless_asked_for(tmp_path):
    problem, _, _ = small_problem("random", 4)
    with pytest.raises(ValueError, match="certificate=True"):
        solve(problem).save_certificate(tmp_path / "proof")


def test_the_estimator_makes_certificates_with_weights_and_labels(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 8))
    y = np.where(X[:, 0] + rng.normal(size=40) > 0, "yes", "no")
    weight = rng.choice([0.0, 1.0, 2.0], 40)
    model = FrugalSVC(2, C=2.0, certificate=True, random_state=0).fit(X, y, weight)
    model.result_.save_certificate(tmp_path / "proof.npz")
    proved = verify(tmp_path / "proof.npz", X, y, C=2.0, sample_weight=weight)
    assert proved.gap <= 1e-4


def test_other_data_are_rejected(proof):
    _, X, y, result = proof
    other = X.copy()
    other[3, 2] += 1e-9
    for data, labels in ((other, y), (X, -y), (X[::-1], y)):
        with pytest.raises(InvalidCertificate, match="other data"):
            verify(result.certificate, data, labels)
    with pytest.raises(InvalidCertificate, match="shape"):
        verify(result.certificate, X[:, 1:], y)
    with pytest.raises(ValueError, match="two classes"):
        verify(result.certificate, X, np.ones(y.size))


def test_another_problem_is_rejected(proof):
    problem, X, y, result = proof
    C = float(problem.C[0])
    verify(result.certificate, X, y, C=C, max_features=problem.max_features)
    for expected in (
        {"C": 2 * C}, {"max_features": problem.max_features + 1}, {"include": [0]},
        {"fit_intercept": not problem.fit_intercept}, {"max_cost": 3.0},
    ):  # fmt: skip
        with pytest.raises(InvalidCertificate, match="another"):
            verify(result.certificate, X, y, **expected)
    with pytest.raises(TypeError, match="no parameter 'B'"):
        verify(result.certificate, X, y, B=3)


def test_damaged_files_are_rejected(proof, tmp_path):
    _, X, y, result = proof
    path = tmp_path / "proof.npz"
    result.save_certificate(path)
    content = path.read_bytes()
    for cut in (0, 10, len(content) // 2, len(content) - 5):
        path.write_bytes(content[:cut])
        with pytest.raises(InvalidCertificate, match="cannot be read"):
            verify(path, X, y)
    pickled = {**result.certificate.arrays, "format": np.array(2, dtype=object)}
    np.savez(path, **pickled)
    with pytest.raises(InvalidCertificate, match="format has dtype object"):
        verify(path, X, y)
    with pytest.raises(FileNotFoundError):
        verify(tmp_path / "nothing.npz", X, y)


def names():
    *_, result = proof_of("random", 12)
    return sorted(result.certificate.arrays)


def _changed(array, rng):
    """The array with one entry changed."""
    array = array.copy()
    if array.dtype.kind == "U":
        return np.array(str(array)[::-1] + "0")
    at = rng.integers(array.size) if array.ndim else ()
    if array.dtype.kind == "b":
        array[at] = ~array[at]
    elif array.dtype.kind == "u":
        array[at] ^= rng.integers(1, 256)
    elif array.dtype.kind == "f":
        value = float(array[at]) if np.isfinite(array[at]) else 1.0
        scale = rng.choice([-1.0, 0.5, 2.0, 1e3])
        array[at] = rng.choice([value * scale, 0.0, np.nan, np.inf])
    else:
        array[at] += rng.choice([-3, -1, 1, 2, 100])
    return array


@pytest.mark.parametrize("name", names())
def test_a_change_in_any_field_is_rejected(proof, name):
    _, X, y, result = proof
    arrays = result.certificate.arrays
    rng = np.random.default_rng(0)
    attacks = [{k: v for k, v in arrays.items() if k != name}]
    attacks.append({**arrays, name: np.array([["x"]])})
    if arrays[name].size:
        attacks.append({**arrays, name: _changed(arrays[name], rng)})
    for attack in attacks:
        with pytest.raises(InvalidCertificate):
            verify(attack, X, y)


# Fields of the proof; the other fields identify the problem.
PROOF = (
    "objective", "lower_bound", "selected", "coef", "intercept", "parent", "feature",
    "inside", "point", "price", "fixing_point", "fixing_price", "fixing_start",
    "fixing", "point_full", "point_between", "point_steps", "point_grid",
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_no_forgery_proves_more_than_the_optimum(proofs, data):
    X, y, arrays, optimum = proofs[data.draw(st.integers(0, len(proofs) - 1))]
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    forged = dict(arrays)
    # A weak claim, so that only the proof itself is tested.
    forged["lower_bound"] = np.array(-1e300)
    for _ in range(data.draw(st.integers(1, 3))):
        name = data.draw(st.sampled_from(PROOF))
        if forged[name].size:
            forged[name] = _changed(forged[name], rng)
    try:
        proved = verify(sealed(forged), X, y)
    except InvalidCertificate:
        return
    assert proved.lower_bound <= optimum * (1 + 1e-9)
    assert proved.objective >= optimum * (1 - 1e-9)


def test_missing_nodes_are_rejected(proofs):
    rejected = 0
    for X, y, arrays, _ in proofs:
        size = arrays["parent"].size
        if size < 3:
            continue
        # Cutting off the last node, always a child, leaves its sibling alone.
        cut = {
            **arrays,
            "fixing_start": arrays["fixing_start"][:-1],
            "fixing": arrays["fixing"][: arrays["fixing_start"][-2]],
        }
        for name in (
            "parent", "feature", "inside", "point", "price", "fixing_point",
            "fixing_price",
        ):  # fmt: skip
            cut[name] = arrays[name][:-1]
        with pytest.raises(InvalidCertificate, match="do not cover"):
            verify(sealed(cut), X, y)
        rejected += 1
    assert rejected > 5


def test_claims_above_the_proof_are_rejected(proof):
    _, X, y, result = proof
    for name, factor in (("lower_bound", 1 + 1e-3), ("objective", 1 - 1e-3)):
        arrays = dict(result.certificate.arrays)
        arrays[name] = arrays[name] * factor
        with pytest.raises(InvalidCertificate, match="is claimed"):
            verify(sealed(arrays), X, y)


def test_the_checker_imports_nothing_of_the_solver():
    files = sorted(Path(frugalsvm.checker.__file__).parent.glob("*.py"))
    assert len(files) == 10
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in getattr(node, "names", [])]
            if isinstance(node, ast.ImportFrom):
                # Its own modules, the standard library or NumPy.
                assert node.level <= 1
                names = [node.module or ""] if node.level == 0 else []
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                assert {name.split(".")[0] for name in names} <= TRUSTED


def test_stored_points_keep_the_proof():
    # Points were once rounded for storage, which lost bounds that just sufficed.
    problem, X, y = small_problem("separable", 90363)
    result = solve(
        problem, method="branch-and-bound", gap_tol=1e-6, certificate=True,
        random_state=0, method_options={"patience": 0},
    )  # fmt: skip
    assert result.status == "optimal"
    assert verify(result.certificate, X, y).gap <= 1e-6


def test_a_bound_of_zero_is_proved():
    """The dual point zero only proves that losses are not negative."""
    problem, X, y = small_problem("random", 4)
    result = solve(problem, method="relax-and-round", certificate=True)
    arrays = dict(result.certificate.arrays)
    for name in ("point_full", "point_between"):
        arrays[name] = np.zeros_like(arrays[name])
    arrays["point_steps"] = arrays["point_steps"][:0]
    arrays["lower_bound"] = np.array(0.0)
    del arrays["checksum"]
    arrays["checksum"] = np.array(checksum(arrays))
    assert verify(Certificate(arrays), X, y).lower_bound == 0.0


@pytest.mark.parametrize(("C", "type_"), [(1.0, np.uint32), (1e10, np.uint64)])
def test_a_huge_C_takes_longer_steps(C, type_):
    """With 32 bits the certificate of the large one would leave a gap of 0.7 %."""
    rng = np.random.default_rng(3)
    X = 1e3 * rng.normal(size=(60, 8))
    y = np.where(X[:, 0] + X[:, 1] + 1e3 * rng.normal(size=60) > 0, 1.0, -1.0)
    X = X if C > 1.0 else X / 1e3
    problem = Problem(X, y, C=C, max_features=3)
    found = solve(problem, method="branch-and-bound", certificate=True, random_state=0)
    assert found.certificate.arrays["point_steps"].dtype == type_
    assert verify(found.certificate, X, y).gap <= 1e-4
