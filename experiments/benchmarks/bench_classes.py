"""Several classes with one budget: FrugalSVCCV beside other selectors, and its proofs.

Everyone gets the same budget, the same outer folds and the same inner folds to tune the
C of the weights by balanced accuracy. Of large sets all train on the same few hundred
samples of each outer training part; the score is that of all samples of the test part.
The peers' features get two kinds of weights, one class against the rest: those of the
hinge loss, as ours are, and those of ``LinearSVC`` as it is, which squares the hinge.
abess has weights of its own, too, those of a multinomial regression.
"""

import importlib.util
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.feature_selection import RFE, SelectKBest, f_classif
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import (
    StratifiedKFold,
    cross_val_score,
    train_test_split,
)
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import LinearSVC
from sklearn.utils.class_weight import compute_sample_weight

from experiments import datasets
from frugalsvm import FrugalSVC, FrugalSVCCV, Problem, relax, solve

from . import mip_solvers
from .bench_exact import refit
from .bench_predict import L1_C, OURS, REFIT_C, ahead, mean
from .results import Row
from .tables import Table

OUTER, INNER = 5, 3
HINGE, SQUARED, OWN = "hinge", "squared hinge", "multinomial"
# Classes with a smaller share than this of an equal one are rare: weights are balanced.
RARE = 2 / 3
# Zernike moments of mfeat.
MOMENTS = 47
# Steps of bisection over C of the l1 penalty.
STEPS = 15
# Proofs beside SCIP: to which gap.
GAP = 1e-4
PROOFS = [(name, budget, 1.0) for name in ("iris", "wine") for budget in (2, 3)]
# How cost grows with the number of classes: digits, so many samples, budget, C, nodes.
CLASSES = (2, 3, 4, 6, 8, 10)
SAMPLES, BUDGET, WEIGHT, NODES = 300, 10, 0.1, 100

Sample = tuple[np.ndarray, np.ndarray]


class Case(NamedTuple):
    """A data set, and how often and how it is cut."""

    load: Callable[[Path], Sample]
    budgets: tuple[int, ...]
    repeats: int = 1
    # Most samples to train on.
    trained: int = 10_000


# --- data -----------------------------------------------------------------------------


def _mfeat(folder: Path) -> Sample:
    """The Zernike moments, its last columns; relaxing all 649 takes minutes."""
    digits = pd.read_csv(folder / "mfeat_digits.csv.gz")["digit"]
    X = datasets.load("mfeat", data_home=folder).data
    return X[:, -MOMENTS:], digits.to_numpy()


def _lymphoma(folder: Path) -> Sample:
    """Three lymphomas, normal cells and cell lines, by the names of the samples."""
    names = pd.read_csv(folder / "lymphoma_samples.csv.gz")["sample"]
    kinds = {kind: names.str.startswith(kind) for kind in ("DLCL", "FL", "CLL")}
    kinds["line"] = names.str.contains("OCI|SUDHL|WSU|Jurkat|U937")
    y = np.select(list(kinds.values()), list(kinds), default="normal")
    return datasets.load("lymphoma", data_home=folder).data, y


CASES = {
    "iris": Case(lambda _: load_iris(return_X_y=True), (2, 3), repeats=3),
    "wine": Case(lambda _: load_wine(return_X_y=True), (2, 3, 5, 10), repeats=3),
    "digits": Case(lambda _: load_digits(return_X_y=True), (3, 5, 10, 20), trained=600),
    "mfeat": Case(_mfeat, (3, 5, 10, 20), trained=600),
    "lymphoma": Case(_lymphoma, (3, 5, 10, 20)),
}


def run(folder: Path, quick: bool, sets: list[str], seconds: float) -> list[Row]:
    """Print scores, proofs and costs; return them with a ``kind`` in each row."""
    names = sets or (["iris", "wine"] if quick else list(CASES))
    table = Table(
        "Balanced accuracy",
        ["data", "B", "selector", "weights", "score", "ours less", "+/-", "CPU [s]"],
    )
    rows: list[Row] = []
    for name in names:
        case = CASES[name]
        X, y = case.load(folder)
        for budget in case.budgets[:1] if quick else case.budgets:
            own = _of_set(name, budget, _scores(case, X, y, budget))
            rows += own
            for row in own:
                table.row([
                    name, budget, row["selector"], row["weights"],
                    f"{row['score']:.3f}", f"{100 * row['ours_less']:+.1f}",
                    f"{100 * row['half_width']:.1f}", f"{row['seconds']:.2f}",
                ])  # fmt: skip
    if sets:
        return rows
    return [
        *rows, *_proofs(folder, seconds), *_growth(quick),
        *([] if quick else _default()),
    ]  # fmt: skip


# --- prediction -----------------------------------------------------------------------


def _scores(case: Case, X, y, budget: int) -> list[Row]:
    """One row for each repeat, fold, selector and kind of weights."""
    share = np.unique(y, return_counts=True)[1] / y.size
    is_rare = share.min() < RARE / share.size
    rows = []
    for repeat in range(case.repeats):
        outer = StratifiedKFold(OUTER, shuffle=True, random_state=repeat)
        for fold, (train, test) in enumerate(outer.split(X, y)):
            if train.size > case.trained:
                train = train_test_split(
                    train, train_size=case.trained, stratify=y[train], random_state=0
                )[0]
            scaler = StandardScaler().fit(X[train])
            part = _Part(scaler.transform(X[train]), y[train], budget, is_rare)
            T = scaler.transform(X[test])
            for selector, weights, seconds, predict in _models(part):
                rows.append({
                    "m": y.size, "n": X.shape[1], "classes": share.size,
                    "trained": train.size, "set": "",
                    "part": (repeat, fold), "ratio": test.size / train.size,
                    "peer": (selector, weights), "seconds": seconds,
                    "balanced_accuracy": balanced_accuracy_score(y[test], predict(T)),
                })  # fmt: skip
    return rows


class _Part:
    """Training data, and what to do with them."""

    def __init__(self, X, y, budget: int, is_rare: bool):
        self.X, self.y, self.budget = X, y, min(budget, X.shape[1])
        self.class_weight = "balanced" if is_rare else None
        self.weight = compute_sample_weight(self.class_weight, y)
        self.inner = StratifiedKFold(INNER, shuffle=True, random_state=1)


def _models(part: _Part):
    """Selector, kind of weights, processor time, function that predicts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for selector, select in SELECTORS.items():
            started = time.process_time()
            support, predict, weights = select(part)
            seconds = time.process_time() - started
            if predict:
                yield selector, weights, seconds, predict
            for loss in (SQUARED,) if selector == OURS else (HINGE, SQUARED):
                started = time.process_time()
                model = _tuned(part, support, loss)
                more = time.process_time() - started
                yield selector, loss, seconds + more, partial(_predict, model, support)


def _predict(model, support, X):
    return model.predict(X[:, support])


def _tuned(part: _Part, support, loss: str):
    """LinearSVC on some features, its C tuned by balanced accuracy."""
    X, given = part.X[:, support], {"sample_weight": part.weight}
    best, chosen = -np.inf, None
    for C in REFIT_C:
        # The dual of the hinge has no other solver; the squared one is faster without.
        how = {"loss": "hinge"} if loss == HINGE else {"dual": False}
        model = LinearSVC(C=C, max_iter=20_000, random_state=0, **how)
        score = cross_val_score(
            model, X, part.y, cv=part.inner, scoring="balanced_accuracy", params=given
        ).mean()
        if score > best:
            best, chosen = score, model
    return chosen.fit(X, part.y, **given)


# --- selectors: features, and a function that predicts with weights of their own ------


def _frugal(part: _Part):
    model = FrugalSVCCV(
        [part.budget], cv=part.inner, effort="fast", class_weight=part.class_weight,
        scale=False, refit_C=REFIT_C, random_state=0,
    ).fit(part.X, part.y)  # fmt: skip
    return model.get_support(indices=True), model.predict, HINGE


def _l1(part: _Part):
    """The features with the largest weights where an l1 penalty leaves enough."""
    low, high = np.log(L1_C)
    size = np.zeros(part.X.shape[1])
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        model = LinearSVC(
            penalty="l1", dual=False, C=np.exp(middle), max_iter=3000, random_state=0
        ).fit(part.X, part.y, sample_weight=part.weight)
        found = np.abs(model.coef_).max(axis=0)
        n_found = np.count_nonzero(found)
        if n_found < part.budget:
            low = middle
            continue
        high, size = middle, found
        if n_found == part.budget:
            break
    return np.sort(np.argsort(-size)[: part.budget]), None, None


def _rfe(part: _Part):
    svm = LinearSVC(C=0.1, dual="auto", random_state=0)
    step = 0.1 if part.X.shape[1] > 100 else 1
    found = RFE(svm, n_features_to_select=part.budget, step=step)
    found.fit(part.X, part.y, sample_weight=part.weight)
    return np.flatnonzero(found.support_), None, None


def _k_best(part: _Part):
    found = SelectKBest(f_classif, k=part.budget).fit(part.X, part.y)
    return found.get_support(indices=True), None, None


def _abess(part: _Part):
    from abess import MultinomialRegression

    # It refuses constant features.
    kept = np.flatnonzero(np.ptp(part.X, axis=0) > 0)
    model = MultinomialRegression(support_size=[min(part.budget, kept.size)])
    model.fit(part.X[:, kept], part.y, sample_weight=part.weight)
    support = kept[np.flatnonzero(model.coef_.any(axis=1))]
    return support, lambda X: model.predict(X[:, kept]), OWN


SELECTORS = {
    OURS: _frugal, "L1 SVM": _l1, "RFE": _rfe, "SelectKBest": _k_best, "abess": _abess,
}  # fmt: skip
if not importlib.util.find_spec("abess"):
    del SELECTORS["abess"]


def _of_set(name: str, budget: int, scores: list[Row]) -> list[Row]:
    """A row for each selector and kind of weights; ours as it is against them."""
    ours = {one["part"]: one for one in scores if one["peer"] == (OURS, HINGE)}
    rows = []
    for peer in dict.fromkeys(one["peer"] for one in scores):
        own = [one for one in scores if one["peer"] == peer]
        pair = [*({**ours[one["part"]], "peer": OURS} for one in own), *own]
        gain, half, _ = ahead(pair, peer) if peer != (OURS, HINGE) else (0.0, 0.0, 1)
        first = {key: own[0][key] for key in ("m", "n", "classes", "trained")}
        rows.append({
            "kind": "set", "set": name, "B": budget, **first, "parts": len(own),
            "selector": peer[0], "weights": peer[1],
            "score": mean(own, peer), "seconds": mean(own, peer, "seconds"),
            "ours_less": gain, "half_width": half,
        })  # fmt: skip
    return rows


# --- proofs ---------------------------------------------------------------------------


def _stacked(y) -> np.ndarray:
    """-1 and +1, a column for each class; one if there are two."""
    Y = np.where(y[:, None] == np.unique(y), 1.0, -1.0)
    return Y[:, 1] if Y.shape[1] == 2 else Y


def _proofs(folder: Path, seconds: float) -> list[Row]:
    """Time to the proved optimum, beside SCIP if there is one."""
    table = Table(
        f"Time to a gap of {GAP:g}, at most {seconds:g} s, one thread each",
        ["data", "B", "objective", "bound", "ours [s]", "nodes", "SCIP objective",
         "SCIP bound", "SCIP [s]"],
    )  # fmt: skip
    rows = []
    for name, budget, C in PROOFS:
        X, y = CASES[name].load(folder)
        X, Y = scale(X), _stacked(y)
        _search(X, Y, C, budget)
        started = time.process_time()
        result = _search(X, Y, C, budget)
        row = {
            "kind": "proof", "set": name, "B": budget, "C": C,
            "objective": result.objective, "bound": result.lower_bound,
            "seconds": time.process_time() - started,
        }  # fmt: skip
        cells = [
            name, budget, f"{result.objective:.4f}", f"{result.lower_bound:.4f}",
            f"{row['seconds']:.2f}", result.counters.get("nodes", 0),
        ]  # fmt: skip
        if importlib.util.find_spec("pyscipopt"):
            theirs = mip_solvers.scip(X, Y, C, budget, gap=GAP, seconds=seconds)
            own = sum(refit(X, y, C, theirs.support) for y in Y.T)
            row["SCIP"] = {
                "objective": own, "bound": theirs.bound, "proved": theirs.proved,
                "seconds": min(theirs.seconds, seconds),
            }  # fmt: skip
            limit = "" if theirs.proved else "*"
            cells += [f"{own:.4f}", f"{theirs.bound:.4f}",
                      f"{theirs.seconds:.2f}{limit}"]  # fmt: skip
        rows.append(row)
        table.row([*cells, *[""] * (len(table.widths) - len(cells))])
    return rows


def _search(X, Y, C: float, budget: int, max_nodes: int | None = None):
    return solve(
        Problem(X, Y, C=C, max_features=budget), method="branch-and-bound",
        gap_tol=GAP, max_nodes=max_nodes, random_state=0,
        n_jobs=1,
    )  # fmt: skip


# --- cost by the number of classes ----------------------------------------------------


def _growth(quick: bool) -> list[Row]:
    """Processor time of a relaxation and of a node for the first digits."""
    table = Table(
        f"{SAMPLES} digits, B = {BUDGET}, C = {WEIGHT:g}",
        ["classes", "relaxation [s]", "node [ms]", "gap after them"],
    )
    digits = load_digits()
    rows = []
    for n_classes in CLASSES[:2] if quick else CLASSES:
        kept = np.flatnonzero(digits.target < n_classes)
        kept = train_test_split(
            kept, train_size=SAMPLES, stratify=digits.target[kept], random_state=0
        )[0]
        X, Y = scale(digits.data[kept]), _stacked(digits.target[kept])
        problem = Problem(X, Y, C=WEIGHT, max_features=BUDGET)
        if n_classes in CLASSES[:2]:
            # The kernels of one machine, and those of several.
            _search(X, Y, WEIGHT, BUDGET, max_nodes=NODES)
        started = time.process_time()
        relax(problem)
        relaxation = time.process_time() - started
        seconds = []
        for nodes in (1, NODES):
            started = time.process_time()
            result = _search(X, Y, WEIGHT, BUDGET, max_nodes=nodes)
            seconds.append(time.process_time() - started)
        done = result.counters.get("nodes", NODES)
        row = {
            "kind": "growth", "classes": n_classes, "relaxation": relaxation,
            "nodes": done, "gap": result.gap,
            "node": (seconds[1] - seconds[0]) / max(1, done - 1),
        }  # fmt: skip
        rows.append(row)
        table.row([
            n_classes, f"{relaxation:.3f}", f"{1e3 * row['node']:.1f}",
            f"{result.gap:.3f}",
        ])  # fmt: skip
    return rows


def _default() -> list[Row]:
    """All digits with ten features and the defaults, on two threads."""
    X, y = load_digits(return_X_y=True)
    times = time.perf_counter(), time.process_time()
    model = FrugalSVC(10, n_jobs=2, random_state=0).fit(scale(X), y)
    wall, cpu = time.perf_counter() - times[0], time.process_time() - times[1]
    print(
        f"\nAll {y.size} digits, B = 10, defaults, two threads: {wall:.1f} s, "
        f"{cpu:.1f} s of processor time, gap {model.gap_:.3f}."
    )
    return [{
        "kind": "default", "seconds": wall, "cpu": cpu, "gap": model.gap_,
        "objective": model.objective_, "bound": model.lower_bound_,
    }]  # fmt: skip
