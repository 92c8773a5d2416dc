"""The SVM on a support against libsvm on supports of 5 to 30 features."""

from pathlib import Path

import numpy as np
from sklearn.svm import SVC

from frugalsvm.engine.native import NativeEngine

from .data import LARGE, SMALL, load
from .results import Row
from .tables import Table, best_time, geometric_mean

C = 10.0


def _objective(X, y, w, b):
    return 0.5 * w @ w + C * np.maximum(0.0, 1.0 - y * (X @ w + b)).sum()


def run(folder: Path, quick: bool) -> list[Row]:
    table = Table(
        "SVM on a support: frugalsvm (relative gap 1e-8) against libsvm (tol 1e-5), "
        "C = 10, one thread",
        ["data set", "features", "ours [ms]", "libsvm [ms]", "ratio", "excess libsvm"],
    )
    rows: list[Row] = []
    for name in ("wdbc", "arrhythmia", "colorectal") if quick else SMALL + LARGE:
        X, y = load(folder, name)
        weights = np.full(y.size, C)
        for p in (5, 10, 20, 30):
            if p > X.shape[1]:
                continue
            # The features most correlated with the labels, as in a search.
            support = np.sort(np.argsort(-np.abs(X.T @ y), kind="stable")[:p])
            A = np.ascontiguousarray((X[:, support] * y[:, None]).T)
            part = np.ascontiguousarray(X[:, support])
            features = np.arange(p)
            engine = NativeEngine.of(A, y, weights)
            ours, svm = best_time(lambda e=engine, f=features: e.solve_svm(f), 5)
            svc = SVC(kernel="linear", C=C, tol=1e-5)
            theirs, _ = best_time(lambda s=svc, X=part, y=y: s.fit(X, y), 1)
            mine = _objective(part, y, svm.w, svm.b)
            libsvm = _objective(part, y, svc.coef_[0], svc.intercept_[0])
            excess = (libsvm - mine) / mine
            rows.append({"set": name, "features": p, "ours": ours, "libsvm": theirs,
                         "excess": excess})  # fmt: skip
            table.row(
                [name, p, f"{1e3 * ours:.3f}", f"{1e3 * theirs:.2f}",
                 f"{theirs / ours:.1f}", f"{excess:+.1e}"]
            )  # fmt: skip
    ratios = [row["libsvm"] / row["ours"] for row in rows]
    print(
        f"\nGeometric mean of the ratios {geometric_mean(ratios):.1f}, smallest "
        f"{min(ratios):.1f}. A positive excess means that our objective is lower."
    )
    return rows
