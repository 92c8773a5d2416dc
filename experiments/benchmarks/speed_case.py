"""An instance of the benchmark speed, timed in a process of its own.

It uses public names only, so that other versions of the library can run it. Prints one
line of JSON: processor seconds of the second call, and its objective or number of
models.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.preprocessing import scale

from frugalsvm import FrugalSVC, FrugalSVCCV, Problem, near_optimal, solve, verify

Sample = tuple[Any, np.ndarray]


def wdbc() -> Sample:
    """The breast cancer data of scikit-learn."""
    X, labels = load_breast_cancer(return_X_y=True)
    return scale(X), np.where(labels == 1, 1.0, -1.0)


def digits() -> Sample:
    """Odd digits and even ones."""
    X, y = load_digits(return_X_y=True)
    return scale(X), np.where(y % 2, 1.0, -1.0)


def random(m: int, n: int) -> Sample:
    """Common factors, ten true features and noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, n)) + rng.normal(size=(m, 5)) @ rng.normal(size=(5, n))
    score = X[:, :10].sum(axis=1) + 3.0 * rng.normal(size=m)
    return X, np.where(score > 0, 1.0, -1.0)


def sparse() -> Sample:
    """Few entries, and a class that depends on ten columns."""
    X = sp.random(2000, 4000, 0.01, "csr", random_state=np.random.default_rng(0))
    return X, np.where(X[:, :400].sum(axis=1).A1 > 1.9, 1.0, -1.0)


def _fit(sample: Sample, budget: int, **options: Any) -> Callable[[], Any]:
    return lambda: FrugalSVC(budget, random_state=0, n_jobs=1, **options).fit(*sample)


def _tree(sample: Sample, budget: int, **options: Any) -> Callable[[], Any]:
    problem = Problem(*sample, C=10.0, max_features=budget)
    tree: dict[str, Any] = {"method": "branch-and-bound", "random_state": 0}
    return lambda: solve(problem, n_jobs=1, **tree, **options)


def _cv() -> Callable[[], Any]:
    model = FrugalSVCCV([2, 5, 10], cv=5, effort="fast", random_state=0, n_jobs=1)
    return lambda: model.fit(*wdbc())


def _list() -> Callable[[], Any]:
    problem = Problem(*wdbc(), max_features=5)
    return lambda: near_optimal(problem, tolerance=0.01, n_jobs=1, random_state=0)


def _proof() -> Callable[[], Any]:
    result = _tree(wdbc(), 5, certificate=True)()
    return lambda: verify(result.certificate, *wdbc())


#: Instances by name; each makes the call that is timed.
INSTANCES: dict[str, Callable[[], Callable[[], Any]]] = {
    "fit, 569 x 30": lambda: _fit(wdbc(), 5),
    "fit, 1797 x 64": lambda: _fit(digits(), 10),
    "fit, 100 x 5000": lambda: _fit(random(100, 5000), 5),
    "fit, sparse": lambda: _fit(sparse(), 10),
    "fit, three classes": lambda: _fit(
        (scale(load_wine().data), load_wine().target), 3
    ),
    "fast fit, 20000 x 100": lambda: _fit(random(20_000, 100), 10, effort="fast"),
    "fast fit, 300 x 2000": lambda: _fit(random(300, 2000), 10, effort="fast"),
    "tree, closed": lambda: _tree(wdbc(), 5),
    "tree, 100 nodes": lambda: _tree(random(300, 100), 10, max_nodes=100),
    "cross-validation": _cv,
    "list": _list,
    "verify": _proof,
}


def measured(name: str) -> dict[str, float]:
    """Processor seconds of the second call, and what it came to."""
    warnings.simplefilter("ignore")
    call = INSTANCES[name]()
    call()
    started = time.process_time()
    result = call()
    seconds = time.process_time() - started
    for attribute in ("objective_", "objective", "lower_bound"):
        if hasattr(result, attribute):
            return {"seconds": seconds, "value": float(getattr(result, attribute))}
    return {"seconds": seconds, "value": float(len(result))}


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1])))
