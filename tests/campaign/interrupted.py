"""Estimators, paths and lists to interrupt, and what must be there afterwards."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.model_selection import cross_val_score

from frugalsvm import (
    FrugalSVC,
    FrugalSVCCV,
    frugal_path,
    near_optimal,
    stability_selection,
)

EFFORTS = ("fast", "normal")
NAMES = ("FrugalSVC", "FrugalSVCCV", "path", "list", "stability", "cross_val_score")
# Bounds may exceed objectives by this fraction: both are rounded.
ROUNDING = 1e-12


@dataclass
class Task:
    """A call that is interrupted.

    ``must_keep`` becomes true once Ctrl-C must leave a model in the estimator.
    """

    name: str
    call: Callable[[], Any]
    estimator: Any = None
    must_keep: bool = False

    def objections(self, outcome: Any, had_to_keep: bool) -> Iterator[str]:
        """What is wrong with the result, an exception or a value."""
        is_error = isinstance(outcome, BaseException)
        if is_error and not isinstance(outcome, KeyboardInterrupt):
            yield f"exception: {self.name}: {outcome!r}"
        elif self.estimator is not None:
            if hasattr(self.estimator, "coef_"):
                yield from self._of_fit()
            elif had_to_keep or not is_error:
                yield f"no model: {self.name}: {outcome!r}"
        elif not is_error and self.name == "path":
            yield from self._of_bounds(outcome.lower_bounds, outcome.objectives)
        elif not is_error and self.name == "list":
            yield from self._of_bounds(outcome.lower_bound, outcome.objectives)

    def _of_fit(self) -> Iterator[str]:
        model = self.estimator
        for name in ("coef_", "intercept_", "objective_", "lower_bound_", "status_"):
            if not hasattr(model, name):
                yield f"half the attributes: {self.name}: no {name}"
                return
        if not (np.isfinite(model.coef_).all() and np.isfinite(model.intercept_).all()):
            yield f"not finite: {self.name}"
        used = (np.atleast_2d(model.coef_) != 0).any(axis=0).sum()
        if used > model.n_features_in_:
            yield f"over budget: {self.name}"
        yield from self._of_bounds(model.lower_bound_, model.objective_)

    def _of_bounds(self, bounds: Any, objectives: Any) -> Iterator[str]:
        limit = np.asarray(objectives) * (1.0 + ROUNDING)
        if not np.all(np.asarray(bounds) <= limit):
            yield f"invalid bound: {self.name}: {bounds} > {objectives}"


def draw_task(rng: np.random.Generator, instance: Any) -> Task:
    """One of the calls on the data of an instance, with random options."""
    name = str(rng.choice(NAMES))
    X, y = instance.X, _labels(rng, instance.y)
    if name in ("FrugalSVC", "FrugalSVCCV") and rng.random() < 0.2:
        X = csr_array(np.where(np.abs(X) > 1.0, X, 0.0))
    budget, seed = instance.limit, int(rng.integers(1000))
    n_jobs = int(rng.choice([1, 2]))
    options = {
        "effort": str(rng.choice(EFFORTS)), "random_state": seed, "n_jobs": n_jobs,
    }  # fmt: skip
    make = {
        "FrugalSVC": _fit, "FrugalSVCCV": _choice, "path": _path, "list": _list,
        "stability": _stability, "cross_val_score": _scores,
    }[name]  # fmt: skip
    return make(rng, X, y, budget, options)


def _labels(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """The labels, or three classes."""
    if rng.random() < 0.8:
        return y
    return np.where(rng.random(y.size) < 0.2, 2.0, y)


def _sides(rng: np.random.Generator, n: int, is_binary: bool) -> dict[str, Any]:
    """Sometimes groups, signs or a C of the weights."""
    sides: dict[str, Any] = {}
    if rng.random() < 0.2:
        sides["feature_groups"] = np.arange(n) // 2
    if is_binary and rng.random() < 0.2:
        sides["signs"] = rng.integers(-1, 2, size=n)
    return sides


def _fit(rng, X, y, budget, options) -> Task:
    options = options | _sides(rng, X.shape[1], np.unique(y).size == 2)
    if rng.random() < 0.3:
        options["refit_C"] = 10.0
    model = FrugalSVC(budget, C=float(rng.choice([0.03, 1.0])), **options)
    task = Task("FrugalSVC", lambda: model.fit(X, y), model)

    def note(_: Any) -> None:
        task.must_keep = True

    model.callback = note
    return task


def _choice(rng, X, y, budget, options) -> Task:
    n_folds, budgets = int(rng.choice([2, 3])), [1, 2, budget]
    options |= {"n_jobs": 1, "effort": "fast"}
    options |= _sides(rng, X.shape[1], np.unique(y).size == 2)
    model = FrugalSVCCV(max_features=budgets, cv=n_folds, **options)
    task = Task("FrugalSVCCV", lambda: model.fit(X, y), model)

    def note(progress: Any) -> None:
        task.must_keep = progress.n_done >= n_folds

    model.callback = note
    return task


def _two_classes(y: np.ndarray) -> np.ndarray:
    return np.where(y > 0, 1.0, -1.0)


def _path(rng, X, y, budget, options) -> Task:
    budgets, weights = range(1, budget + 1), [0.1, 1.0][: int(rng.choice([1, 2]))]
    return Task(
        "path",
        lambda: frugal_path(
            X, _two_classes(y), max_features=budgets, C=weights, **options
        ),
    )


def _list(rng, X, y, budget, options) -> Task:
    del options["effort"]
    certificate = bool(rng.random() < 0.5)
    return Task(
        "list",
        lambda: near_optimal(
            X, _two_classes(y), max_features=min(budget, 4), tolerance=0.05,
            max_nodes=2000, certificate=certificate, **options,
        ),
    )  # fmt: skip


def _stability(rng, X, y, budget, options) -> Task:
    model = FrugalSVC(budget, method="swap", effort="fast")
    return Task("stability", lambda: stability_selection(model, X, y, n_pairs=3))


def _scores(rng, X, y, budget, options) -> Task:
    model = FrugalSVC(budget, effort="fast", n_jobs=options["n_jobs"])

    def call() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return cross_val_score(model, X, y, cv=3, error_score="raise")

    return Task("cross_val_score", call)
