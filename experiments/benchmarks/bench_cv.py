"""FrugalSVCCV against GridSearchCV over FrugalSVC, with the same effort and folds."""

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from frugalsvm import FrugalSVC, FrugalSVCCV, Problem, solve

from .data import load
from .results import Row
from .tables import Table

WEIGHTS = (0.01, 0.1, 1.0, 10.0, 100.0)
GRIDS = {"wdbc": tuple(range(1, 16)), "arrhythmia": (5, 10, 20)}
QUICK_GRIDS = {"wdbc": (2, 4, 6)}
# A fold's objective may be worse by this fraction.
ALLOWED = 1e-3


def run(folder: Path, quick: bool, jobs: int, efforts: list[str]) -> list[Row]:
    table = Table(
        f"Cross-validation, five folds and five C, n_jobs={jobs}: FrugalSVCCV against "
        "GridSearchCV over FrugalSVC",
        ["data set", "effort", "CV [s]", "grid [s]", "ratio", "CV CPU [s]",
         "grid CPU [s]", "CPU ratio", "worst [%]", "worse", "better", "of"],
        width=8,
    )  # fmt: skip
    rows: list[Row] = []
    for name, budgets in (QUICK_GRIDS if quick else GRIDS).items():
        X, y = load(folder, name)
        _warm_up(X, y)
        for effort in efforts:
            cv = FrugalSVCCV(
                budgets, WEIGHTS, cv=StratifiedKFold(5), effort=effort,
                scale=False, refit_C="same", scoring="accuracy", random_state=0,
                n_jobs=jobs,
            )  # fmt: skip
            ours = _timed(cv, X, y)
            model = FrugalSVC(effort=effort, random_state=0)
            grid = {"C": WEIGHTS, "max_features": budgets}
            peer = _timed(
                GridSearchCV(model, grid, cv=StratifiedKFold(5), n_jobs=jobs,
                             scoring=_score_and_objective, refit="score"),
                X, y,
            )  # fmt: skip
            ratios = _objectives(cv) / _peer_objectives(peer[2])
            worse, better = (ratios > 1 + ALLOWED).sum(), (ratios < 1 - ALLOWED).sum()
            rows.append({
                "set": name, "effort": effort, "seconds": ours[0], "grid": peer[0],
                "CPU": ours[1], "grid CPU": peer[1], "ratio": peer[1] / ours[1],
                "worst": ratios.max() - 1, "worse": worse, "better": better,
                "of": ratios.size,
            })  # fmt: skip
            table.row(
                [name, effort, f"{ours[0]:.1f}", f"{peer[0]:.1f}",
                 f"{peer[0] / ours[0]:.2f}", f"{ours[1]:.1f}", f"{peer[1]:.1f}",
                 f"{peer[1] / ours[1]:.2f}", f"{100 * (ratios.max() - 1):.3f}",
                 worse, better, ratios.size]
            )  # fmt: skip
    print(
        "\n'worst' compares objectives fold by fold, budget by budget and C by C; "
        f"'worse' and 'better' count those beyond {100 * ALLOWED:g} %. CPU times are "
        "of this process: with n_jobs above 1 they are meaningless."
    )
    return rows


def _score_and_objective(model: FrugalSVC, X: Any, y: Any) -> dict[str, float]:
    return {"score": model.score(X, y), "objective": model.objective_}


def _warm_up(X: np.ndarray, y: np.ndarray) -> None:
    """Load compiled code before the clock runs."""
    problem = Problem(X, y, max_features=2)
    solve(problem, max_nodes=20, random_state=0)
    FrugalSVCCV([1], [0.01], cv=2, effort="fast").fit(X[:, :5], y)


def _timed(model: Any, X: np.ndarray, y: np.ndarray) -> tuple[float, float, Any]:
    wall, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    return time.perf_counter() - wall, time.process_time() - cpu, model


def _objectives(cv: FrugalSVCCV) -> np.ndarray:
    """Objectives by fold and candidate."""
    return np.array([cv.cv_results_[f"split{k}_objective"] for k in range(5)])


def _peer_objectives(search: GridSearchCV) -> np.ndarray:
    # Parameters are sorted by name: C first, then max_features, as in FrugalSVCCV.
    return np.array([search.cv_results_[f"split{k}_test_objective"] for k in range(5)])
