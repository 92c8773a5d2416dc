"""How well models with few features predict: FrugalSVCCV beside other selectors.

Everyone gets the same budget, the same outer folds, the same inner folds to tune the C
of the weights by balanced accuracy, and balanced class weights where a class has less
than a third of the samples. Selection, scaling and tuning see the training part only.
Data sets with few samples are cut into folds several times, since a fold of twelve
samples says little. Differences come with corrected intervals (Nadeau and Bengio): the
folds of a data set share samples, so their scores vary less than those of new data.
"""

import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.feature_selection import (
    RFE,
    SelectKBest,
    SequentialFeatureSelector,
    f_classif,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from experiments import datasets
from frugalsvm import FrugalSVCCV

from .data import LARGE, SMALL
from .results import Row
from .tables import Table

BUDGETS = (5, 10)
FOLDS, INNER = 5, 5
# Folds are repeated until so many samples have been predicted, so often at most.
PREDICTED, MOST_REPEATS = 400, 10
REFIT_C = tuple(10.0 ** np.arange(-2.5, 1.6, 0.5))
# Values of C between which that of an l1 model with at most B features is searched.
L1_C = (1e-4, 1e3)
L1_STEPS = 30
# Most features for which forward selection, whose time grows as n B, is tried.
FORWARD = 40
OURS = "FrugalSVCCV"
WHAT = {
    "balanced accuracy": "balanced_accuracy", "AUC": "auc", "features": "features",
    "CPU [s]": "seconds",
}  # fmt: skip


def run(folder: Path, quick: bool, sets: list[str]) -> list[Row]:
    """Print the scores; return them, and differences, with a ``kind`` in each row."""
    if not find_spec("abess"):
        print("\nabess is not installed (extra bench), so it does not take part.")
    # In the order of the paper, then scikit-learn's.
    known = [*SMALL, *LARGE, *SCIKIT_LEARN]
    names = sets or (SMALL[:2] if quick else known)
    rows: list[Row] = []
    for budget in BUDGETS[:1] if quick else BUDGETS:
        table = Table(
            f"Balanced accuracy with B = {budget}",
            ["data set", "m", "n", "repeats", *PEERS], width=11,
        )  # fmt: skip
        scores: list[Row] = []
        for name in names:
            X, y = _load(folder, name)
            own = [{"set": name, "B": budget} | one for one in _scores(X, y, budget)]
            scores += own
            rows += [_of_set(own, peer) for peer in _peers(own)]
            table.row([
                name, *X.shape, repeats(len(y)),
                *(f"{mean(own, peer):.3f}" for peer in PEERS),
            ])  # fmt: skip
        wide = [one for one in scores if one["n"] > one["m"]]
        rows += _summarise("all sets", scores)
        if wide:
            rows += _summarise("more features than samples", wide)
    return rows


# --- data -----------------------------------------------------------------------------


def _digits(positive: list[int], negative: list[int]) -> tuple[np.ndarray, np.ndarray]:
    found = load_digits()
    kept = np.isin(found.target, positive + negative)
    return found.data[kept], np.where(np.isin(found.target[kept], positive), 1, -1)


def _wine(positive: int) -> tuple[np.ndarray, np.ndarray]:
    found = load_wine()
    return found.data, np.where(found.target == positive, 1, -1)


# Its breast cancer data are wdbc; iris has no more than four features.
SCIKIT_LEARN: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "digits 3/8": partial(_digits, [3], [8]),
    "digits odd": partial(_digits, [1, 3, 5, 7, 9], [0, 2, 4, 6, 8]),
    "wine 1/rest": partial(_wine, 1),
}


def _load(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Data as they are, labels -1 and +1."""
    if name in SCIKIT_LEARN:
        return SCIKIT_LEARN[name]()
    found = datasets.load(name, data_home=folder)
    return found.data, np.where(found.target == np.unique(found.target)[1], 1, -1)


def repeats(m: int) -> int:
    return min(-(-PREDICTED // m), MOST_REPEATS)


def _scores(X, y, budget: int) -> list[Row]:
    """One row for each repeat, fold and peer."""
    rare = min((y > 0).mean(), (y < 0).mean()) < 1 / 3
    weight = "balanced" if rare else None
    rows = []
    for repeat in range(repeats(len(y))):
        outer = StratifiedKFold(FOLDS, shuffle=True, random_state=repeat)
        for (fold, (train, test)), (name, peer) in product(
            enumerate(outer.split(X, y)), PEERS.items()
        ):
            if name == FORWARD_NAME and X.shape[1] > FORWARD:
                continue
            scaler = StandardScaler().fit(X[train])
            A, T = scaler.transform(X[train]), scaler.transform(X[test])
            inner = StratifiedKFold(INNER, shuffle=True, random_state=1)
            started = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model, support = peer(A, y[train], budget, weight, inner)
            seconds = time.process_time() - started
            score = model.decision_function(T[:, support])
            rows.append({
                "m": len(y), "n": X.shape[1], "peer": name, "part": (repeat, fold),
                "ratio": test.size / train.size, "features": len(support),
                "seconds": seconds,
                "balanced_accuracy": balanced_accuracy_score(
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


def _forward(X, y, budget, weight, inner):
    if budget >= X.shape[1]:
        return _refit(X, y, np.arange(X.shape[1]), weight, inner)
    svm = LinearSVC(C=0.1, class_weight=weight, dual="auto")
    found = SequentialFeatureSelector(
        svm, n_features_to_select=budget, scoring="balanced_accuracy", cv=inner
    ).fit(X, y)
    return _refit(X, y, np.flatnonzero(found.support_), weight, inner)


def _abess(X, y, budget, weight, inner):
    from abess import LogisticRegression as Abess

    # It refuses constant features.
    kept = np.flatnonzero(np.ptp(X, axis=0) > 0)
    each = np.ones(len(y))
    if weight:
        each = np.where(y > 0, 0.5 / (y > 0).mean(), 0.5 / (y < 0).mean())
    found = Abess(support_size=[min(budget, kept.size)]).fit(
        X[:, kept], (y > 0).astype(int), sample_weight=each
    )
    return _refit(X, y, kept[np.flatnonzero(np.ravel(found.coef_))], weight, inner)


FORWARD_NAME = "forward"
PEERS = {
    OURS: _frugal, "L1 SVM": _l1_svm, "L1 logistic": _l1_logistic, "abess": _abess,
    "RFE": _rfe, "SelectKBest": _k_best, FORWARD_NAME: _forward,
}  # fmt: skip
if not find_spec("abess"):
    del PEERS["abess"]


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


def _peers(rows: list[Row]) -> list[str]:
    """Those that took part, in order."""
    return list(dict.fromkeys(one["peer"] for one in rows))


def mean(rows: list[Row], peer: str, what: str = "balanced_accuracy") -> float:
    """Mean over data sets of the means of their folds."""
    sets: dict[str, list[float]] = {}
    for one in rows:
        if one["peer"] == peer:
            sets.setdefault(one["set"], []).append(one[what])
    means = [np.mean(values) for values in sets.values()]
    return float(np.mean(means)) if means else np.nan


def _of_set(rows: list[Row], peer: str) -> Row:
    """A peer on one data set."""
    first = {key: rows[0][key] for key in ("set", "B", "m", "n")}
    gain, half, _ = ahead(rows, peer)
    return {
        "kind": "set", **first, "repeats": repeats(first["m"]), "peer": peer,
        **{key: mean(rows, peer, key) for key in WHAT.values()},
        "ours_less": gain, "half_width": half,
    }  # fmt: skip


def ahead(rows: list[Row], peer: str) -> tuple[float, float, int]:
    """Mean balanced accuracy of ours less a peer's, half its interval, number of sets.

    Over those data sets that the peer took part in.
    """
    ours = {
        (one["set"], one["part"]): one["balanced_accuracy"]
        for one in rows if one["peer"] == OURS
    }  # fmt: skip
    gains: dict[str, list[float]] = {}
    ratios = {}
    for one in rows:
        if one["peer"] == peer:
            gain = ours[one["set"], one["part"]] - one["balanced_accuracy"]
            gains.setdefault(one["set"], []).append(gain)
            ratios[one["set"]] = one["ratio"]
    variances = [
        np.var(values, ddof=1) * (1 / len(values) + ratios[name])
        for name, values in gains.items()
    ]
    half = 1.96 * np.sqrt(np.sum(variances)) / len(gains)
    return float(np.mean([np.mean(v) for v in gains.values()])), half, len(gains)


def _summarise(group: str, rows: list[Row]) -> list[Row]:
    """Ours less each peer's over some data sets, with a corrected interval."""
    table = Table(
        f"{group[:1].upper()}{group[1:]}, B = {rows[0]['B']}",
        ["", "sets", *WHAT, "ours, same sets", "ours less [points]", "+/-"],
    )
    found = []
    for peer in _peers(rows):
        gain, half, sets = ahead(rows, peer)
        means = {key: mean(rows, peer, key) for key in WHAT.values()}
        ours = means["balanced_accuracy"] + gain
        found.append({
            "kind": "group", "group": group, "B": rows[0]["B"], "sets": sets,
            "peer": peer, **means, "ours_on_these": ours, "ours_less": gain,
            "half_width": half,
        })  # fmt: skip
        table.row([
            peer, sets, f"{means['balanced_accuracy']:.3f}", f"{means['auc']:.3f}",
            f"{means['features']:.1f}", f"{means['seconds']:.2f}", f"{ours:.3f}",
            f"{100 * gain:+.2f}", f"{100 * half:.2f}",
        ])  # fmt: skip
    return found
