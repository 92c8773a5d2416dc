"""FrugalSVC against common alternatives: RFE and an L1-penalised LinearSVC.

Both peers choose a support within the budget; the SVM is then refitted exactly on it,
so that all three are compared in the same objective.
"""

import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE
from sklearn.svm import LinearSVC

from frugalsvm import FrugalSVC
from frugalsvm.engine.native import NativeEngine

from .data import LARGE, load
from .results import Row
from .tables import Table

C = 10.0
# Set explicitly, so that the time limit and not the effort ends long searches.
PATIENCE = 250
# Eliminations of RFE: fits, whatever the number of features.
RFE_FITS = 50


def _refit(X, y, support) -> float:
    A = np.ascontiguousarray((X[:, support] * y[:, None]).T)
    engine = NativeEngine.of(A, y, np.full(y.size, C))
    return engine.solve_svm(np.arange(support.size)).primal


def rfe_objective(X, y, budget) -> float:
    """Recursive feature elimination by a LinearSVC, at most RFE_FITS fits."""
    step = max(1, (X.shape[1] - budget) // RFE_FITS)
    selector = RFE(
        LinearSVC(C=C, loss="hinge", random_state=0),
        n_features_to_select=budget,
        step=step,
    )
    return _refit(X, y, np.flatnonzero(selector.fit(X, y).support_))


def l1_objective(X, y, budget) -> float:
    """Best refit over the supports within the budget on a bisection path of C."""
    low, high = 1e-6, 1e2
    best = np.inf
    for _ in range(25):
        c = np.sqrt(low * high)
        model = LinearSVC(C=c, penalty="l1", dual=False, max_iter=3000, random_state=0)
        support = np.flatnonzero(model.fit(X, y).coef_[0])
        if support.size > budget:
            high = c
            continue
        low = c
        best = min(best, _refit(X, y, support))
        if support.size == budget:
            break
    return best


def run(folder: Path, quick: bool, seconds: float) -> list[Row]:
    table = Table(
        f'FS-SVM: FrugalSVC(B, C=10, method="swap", time_limit={seconds:g}, n_jobs=2) '
        "against RFE and L1-LinearSVC, both refitted",
        ["data set", "B", "ours", "RFE / ours", "L1 / ours", "bound", "gap [%]",
         "time [s]", "last [s]", "RFE [s]", "L1 [s]"],
        width=9,
    )  # fmt: skip
    rows: list[Row] = []
    for name in LARGE[:2] if quick else LARGE:
        X, y = load(folder, name)
        for budget in (10, 20, 30):
            clf = FrugalSVC(
                budget, C, method="swap", time_limit=seconds, n_jobs=2, random_state=0,
                method_options={"patience": PATIENCE},
            )  # fmt: skip
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                result = clf.fit(X, y).result_
            last = next(
                t
                for t, value, _ in result.history
                if value <= result.objective * 1.00001
            )
            peers, times = [], []
            for peer in (rfe_objective, l1_objective):
                started = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    peers.append(peer(X, y, budget))
                times.append(time.perf_counter() - started)
            rows.append({"set": name, "B": budget, "ours": result.objective,
                         "RFE": peers[0], "L1": peers[1],
                         "seconds": result.seconds})  # fmt: skip
            table.row(
                [name, budget, f"{result.objective:.7g}",
                 *(f"{peer / result.objective:.3f}" for peer in peers),
                 f"{result.lower_bound:.6g}", f"{100 * result.gap:.1f}",
                 f"{result.seconds:.1f}", f"{last:.1f}",
                 *(f"{t:.1f}" for t in times)]
            )  # fmt: skip
    won = sum(row["ours"] < min(row["RFE"], row["L1"]) for row in rows)
    print(
        f"\nLower objective than both peers on {won} of {len(rows)} instances. 'last' "
        "is when our best solution was found."
    )
    return rows
