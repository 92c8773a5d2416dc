import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import norm
from sklearn.metrics import brier_score_loss, confusion_matrix, roc_auc_score

from frugalsvm.report import cross_validation_of
from frugalsvm.report.held_out import GRID, calibration_of, roc_of, wilson_interval


def outcomes(n=500, seed=1):
    generator = np.random.default_rng(seed)
    truth = generator.random(n) < 0.3
    return truth, np.where(truth, 0.7, -0.7) + generator.normal(size=n)


def test_scores_are_means_over_folds():
    truth, decisions = outcomes()
    folds = np.arange(500) % 5
    found = cross_validation_of(truth, decisions, folds)
    scores = {one.name: one for one in found.scores}
    each = [roc_auc_score(truth[folds == k], decisions[folds == k]) for k in range(5)]
    assert scores["AUC"].mean == pytest.approx(np.mean(each))
    assert scores["AUC"].spread == pytest.approx(np.std(each))
    right = [((decisions > 0) == truth)[folds == k].mean() for k in range(5)]
    assert scores["accuracy"].mean == pytest.approx(np.mean(right))
    np.testing.assert_array_equal(
        found.confusion, confusion_matrix(truth, decisions > 0)
    )
    assert found.n_folds == 5
    assert found.calibration is None


def test_sensitivity_and_specificity_are_not_exchanged():
    truth = np.array([1, 1, 1, 1, 0, 0, 0, 0], dtype=bool)
    said = np.array([1, 0, 0, 0, 0, 0, 0, 1], dtype=bool)
    found = cross_validation_of(truth, said - 0.5, np.zeros(8), predicted=said)
    scores = {one.name: one.mean for one in found.scores}
    assert scores["sensitivity"] == 0.25
    assert scores["specificity"] == 0.75


def test_rows_without_a_fold_are_ignored():
    truth, decisions = outcomes()
    folds = np.where(np.arange(500) < 100, -1, np.arange(500) % 4)
    found = cross_validation_of(truth, decisions, folds, probabilities=truth * 0.5)
    assert found.confusion.sum() == 400
    assert found.calibration.counts.sum() == 400


def test_a_fold_of_one_class_has_no_auc():
    truth = np.array([1, 1, 0, 1, 0, 1], dtype=bool)
    found = cross_validation_of(truth, truth - 0.5, [0, 0, 1, 1, 2, 2])
    scores = {one.name: one.mean for one in found.scores}
    assert scores["AUC"] == 1.0
    nothing = cross_validation_of(truth, truth - 0.5, np.arange(6))
    assert nothing.roc is None
    assert {one.name for one in nothing.scores} == {"accuracy"}


def test_the_curve_of_one_fold_is_its_own():
    truth, decisions = outcomes()
    found = roc_of(truth, decisions, [np.ones(500, dtype=bool)])
    assert found.auc == roc_auc_score(truth, decisions)
    mine = trapezoid(found.true_positives, found.false_positives)
    assert mine == pytest.approx(found.auc, abs=0.02)
    assert (np.diff(found.true_positives) >= 0).all()
    assert found.false_positives.size == GRID.size + 1


def test_true_probabilities_are_calibrated():
    generator = np.random.default_rng(0)
    probabilities = generator.random(5000)
    truth = generator.random(5000) < probabilities
    found = calibration_of(truth, probabilities)
    assert found.counts.sum() == 5000
    assert np.abs(found.observed - found.predicted).max() < 0.06
    assert found.brier == pytest.approx(brier_score_loss(truth, probabilities))
    assert (found.low <= found.observed).all()
    assert (found.observed <= found.high).all()


def test_few_rows_make_few_bins():
    found = calibration_of(np.array([True, False, True]), np.array([0.9, 0.2, 0.7]))
    assert found.counts.tolist() == [3]


def test_wilson_solves_its_equation():
    shares, counts = np.array([0.0, 0.25, 0.5]), np.array([10, 40, 100])
    for ends in wilson_interval(shares, counts):
        inner = (ends > 1e-12) & (ends < 1 - 1e-12)
        spread = np.sqrt(ends * (1 - ends) / counts)[inner]
        z = np.abs(shares - ends)[inner] / spread
        np.testing.assert_allclose(z, norm.ppf(0.975), rtol=1e-4)


def test_scores_that_are_equal_to_ten_digits_have_no_auc():
    rng = np.random.default_rng(0)
    truth = rng.random(60) < 0.5
    folds = np.repeat([0, 1, 2], 20)
    decisions = rng.normal(size=60) + truth
    usual = cross_validation_of(truth, decisions, folds)
    assert usual.roc is not None
    assert "AUC" in {one.name for one in usual.scores}
    # In one fold the order is one of rounding errors.
    decisions[folds == 1] = -1.0 + 1e-12 * decisions[folds == 1]
    found = cross_validation_of(truth, decisions, folds)
    assert found.roc is None
    names = [one.name for one in usual.scores if one.name != "AUC"]
    assert [one.name for one in found.scores] == names
    # Small scores are not the same as equal ones.
    decisions = 1e-12 * (rng.normal(size=60) + truth)
    assert cross_validation_of(truth, decisions, folds).roc is not None
