"""``python -m frugalsvm demo``: a fit on a data set that scikit-learn ships."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ..checker import verify
from ..estimators import FrugalSVC

BUDGET = 5
FOLDS = 5


def run_demo(
    effort: str = "normal", seed: int = 0, verbose: bool = True
) -> dict[str, Any]:
    """Fit WDBC with five features; print the model and what is proved about it.

    Returns the main results by name.
    """
    data = load_breast_cancer()
    # Positive decisions mean malignant.
    X, y = data.data, np.where(data.target == 0, "malignant", "benign")
    print(
        f"Wisconsin breast cancer: {X.shape[0]} tumours, {X.shape[1]} features.\n"
        f"Looking for the {BUDGET} features that best separate malignant from benign.\n"
        "The first run compiles the kernels once, which takes up to a minute.\n",
        flush=True,
    )
    started = time.perf_counter()
    clf = FrugalSVC(
        BUDGET,
        C=1.0,
        effort=effort,
        random_state=seed,
        verbose=int(verbose),
        certificate=True,
    )
    model = make_pipeline(StandardScaler(), clf)
    model.fit(X, y)
    training = model.score(X, y)
    print("\nCross-validating ...", flush=True)
    quiet = make_pipeline(
        StandardScaler(), FrugalSVC(BUDGET, C=1.0, effort=effort, random_state=seed)
    )
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    scores = cross_val_score(quiet, X, y, cv=folds)
    _print_model(clf, data.feature_names)
    print(f"\n{clf.result_}\n")
    print(f"training accuracy         {100 * training:.1f} %")
    print(
        f"cross-validated accuracy  {100 * scores.mean():.1f} % "
        f"(+/- {100 * scores.std():.1f}, {FOLDS} folds)"
    )
    print(
        f"\nProved: no linear SVM on {BUDGET} features has an objective below "
        f"{clf.lower_bound_:.4f}.\nThis one has {clf.objective_:.4f}; "
        f"{clf.result_.verdict.removeprefix('proved: ')}."
    )
    checked = verify(clf.result_.certificate, StandardScaler().fit_transform(X), y)
    print(f"Checked: {checked}.")
    print(f"Total {time.perf_counter() - started:.1f} s.")
    return {
        "features": [str(name) for name in data.feature_names[clf.get_support()]],
        "objective": clf.objective_,
        "lower_bound": clf.lower_bound_,
        "gap": clf.gap_,
        "status": clf.status_,
        "training_accuracy": training,
        "accuracy": float(scores.mean()),
        "accuracy_spread": float(scores.std()),
    }


def _print_model(clf: FrugalSVC, names: np.ndarray) -> None:
    print(f"\n{'feature':<26} {'weight':>9}   (standardised; + means malignant)")
    print("-" * 36)
    order = np.argsort(-np.abs(clf.coef_[0]))[: clf.get_support().sum()]
    for j in order:
        print(f"{names[j]:<26} {clf.coef_[0, j]:>+9.4f}")
    print(f"{'intercept':<26} {clf.intercept_[0]:>+9.4f}")
