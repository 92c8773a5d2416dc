"""How well models with few features predict: FrugalSVCCV beside other selectors.

Everyone gets the same budget, the same outer folds, the same inner folds to tune the C
of the weights by balanced accuracy, and balanced class weights where a class has less
than a third of the samples. Selection, scaling and tuning see the training part only.
Differences come with corrected intervals (Nadeau and Bengio): the folds of a data set
share samples, so their scores vary less than those of new data.
"""

import json
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.feature_selection import RFE, SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from frugalsvm import FrugalSVCCV
from frugalsvm.paper import datasets

from .data import LARGE, SMALL
from .tables import Table

BUDGETS = (5, 10)
FOLDS, INNER = 5, 5
REFIT_C = tuple(10.0 ** np.arange(-2.5, 1.6, 0.5))
# Values of C between which that of an l1 model with at most B features is searched.
L1_C = (1e-4, 1e3)
L1_STEPS = 30
OURS = "FrugalSVCCV"


def run(folder: Path, quick: bool, sets: list[str], save: str | None) -> list[dict]:
    names = sets or (SMALL[:2] if quick else SMALL + LARGE)
    rows = []
    for budget in BUDGETS[:1] if quick else BUDGETS:
        table = Table(
            f"Balanced accuracy with B = {budget}: mean of {FOLDS} folds",
            ["data set", *PEERS], width=11,
        )  # fmt: skip
        for name in names:
            found = datasets.load(name, data_home=folder)
            scores = _scores(found.data, found.target, budget)
            rows += [{"set": name, "B": budget, **one} for one in scores]
            table.row([name, *(f"{_mean(scores, peer):.3f}" for peer in PEERS)])
        _summarise([one for one in rows if one["B"] == budget])
    if save:
        Path(save).write_text(json.dumps(rows, indent=1))
    return rows


def _scores(X, y, budget: int) -> list[dict]:
    """One row for each fold and peer."""
    y = np.where(y == np.unique(y)[1], 1, -1)
    rare = min((y > 0).mean(), (y < 0).mean()) < 1 / 3
    weight = "balanced" if rare else None
    outer = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    rows = []
    for fold, (train, test) in enumerate(outer.split(X, y)):
        scaler = StandardScaler().fit(X[train])
        A, T = scaler.transform(X[train]), scaler.transform(X[test])
        inner = StratifiedKFold(INNER, shuffle=True, random_state=1)
        for name, peer in PEERS.items():
            started = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model, support = peer(A, y[train], budget, weight, inner)
            score = model.decision_function(T[:, support])
            rows.append({
                "peer": name, "fold": fold, "features": len(support),
                "m": int(train.size), "m_test": int(test.size),
                "seconds": time.process_time() - started,
                "balanced accuracy": balanced_accuracy_score(
                    y[test], np.where(score > 0, 1, -1)
                ),
                "auc": roc_auc_score(y[test], score),
            })  # fmt: skip
    return rows


# --- peers: a classifier on some features, and these features -------------------------


def _frugal(X, y, budget, weight, inner):
    model = FrugalSVCCV(
        [budget], cv=inner, effort="fast", class_weight=weight, scale=False,
        refit_C=REFIT_C, random_state=0,
    ).fit(X, y)  # fmt: skip
    support = model.get_support(indices=True)
    return _Linear(model.coef_[0, support], model.intercept_[0]), support


def _l1_svm(X, y, budget, weight, inner):
    def coefs(C):
        model = LinearSVC(
            penalty="l1", dual=False, C=C, class_weight=weight, max_iter=3000
        )
        return model.fit(X, y).coef_[0]

    return _refit(X, y, _l1_support(coefs, budget), weight, inner)


def _l1_logistic(X, y, budget, weight, inner):
    def coefs(C):
        model = LogisticRegression(
            penalty="l1", solver="liblinear", C=C, class_weight=weight
        )
        return model.fit(X, y).coef_[0]

    return _refit(X, y, _l1_support(coefs, budget), weight, inner)


def _l1_support(coefs, budget) -> np.ndarray:
    """The support with most features that fits the budget, by bisection over C."""
    low, high = np.log(L1_C)
    best = np.empty(0, dtype=int)
    for _ in range(L1_STEPS):
        middle = 0.5 * (low + high)
        support = np.flatnonzero(coefs(np.exp(middle)))
        if support.size > budget:
            high = middle
            continue
        low, best = middle, max(best, support, key=len)
        if support.size == budget:
            break
    return best


def _rfe(X, y, budget, weight, inner):
    svm = LinearSVC(C=0.1, class_weight=weight, dual="auto")
    step = 0.1 if X.shape[1] > 100 else 1
    found = RFE(svm, n_features_to_select=budget, step=step).fit(X, y)
    return _refit(X, y, np.flatnonzero(found.support_), weight, inner)


def _k_best(X, y, budget, weight, inner):
    found = SelectKBest(f_classif, k=min(budget, X.shape[1])).fit(X, y)
    return _refit(X, y, found.get_support(indices=True), weight, inner)


PEERS = {
    OURS: _frugal, "L1 SVM": _l1_svm, "L1 logistic": _l1_logistic, "RFE": _rfe,
    "SelectKBest": _k_best,
}  # fmt: skip


class _Linear:
    """Weights and an intercept, as a classifier."""

    def __init__(self, coef, intercept):
        self.coef, self.intercept = coef, intercept

    def decision_function(self, X):
        return X @ self.coef + self.intercept


def _refit(X, y, support, weight, inner):
    """A linear SVM on some features, its C tuned by balanced accuracy."""
    if support.size == 0:
        return _Linear(np.empty(0), 1.0), support
    part = X[:, support]
    models = [
        LinearSVC(C=C, loss="hinge", class_weight=weight, max_iter=20_000)
        for C in REFIT_C
    ]
    means = [
        cross_val_score(one, part, y, cv=inner, scoring="balanced_accuracy").mean()
        for one in models
    ]
    return models[int(np.argmax(means))].fit(part, y), support


# --- summary --------------------------------------------------------------------------


def _mean(rows, peer: str, what: str = "balanced accuracy") -> float:
    return float(np.mean([one[what] for one in rows if one["peer"] == peer]))


def _summarise(rows) -> None:
    """Ours less each peer's, in points over all sets, with a corrected interval."""
    sets = list(dict.fromkeys(one["set"] for one in rows))
    table = Table(
        f"Over {len(sets)} sets",
        ["", "bal. acc.", "AUC", "features", "CPU [s]", "ours less [points]", "+/-"],
    )
    ours = {(one["set"], one["fold"]): one for one in rows if one["peer"] == OURS}
    for peer in PEERS:
        own = [one for one in rows if one["peer"] == peer]
        means, variances = [], []
        for name in sets:
            pairs = [one for one in own if one["set"] == name]
            gains = np.array([
                ours[one["set"], one["fold"]]["balanced accuracy"]
                - one["balanced accuracy"]
                for one in pairs
            ])  # fmt: skip
            ratio = pairs[0]["m_test"] / pairs[0]["m"]
            means.append(gains.mean())
            variances.append(gains.var(ddof=1) * (1 / gains.size + ratio))
        half = 1.96 * np.sqrt(np.sum(variances)) / len(sets)
        table.row([
            peer, f"{_mean(own, peer):.3f}", f"{_mean(own, peer, 'auc'):.3f}",
            f"{_mean(own, peer, 'features'):.1f}", f"{_mean(own, peer, 'seconds'):.2f}",
            f"{100 * np.mean(means):+.2f}", f"{100 * half:.2f}",
        ])  # fmt: skip
