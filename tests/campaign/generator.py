"""Random and adversarial problems: awkward data, weights, budgets and forced sets."""

from __future__ import annotations

import numpy as np


def chance(rng, probability: float) -> bool:
    return bool(rng.random() < probability)


def power(rng, low: float, high: float, size=None):
    """Numbers of any order between two powers of ten."""
    return 10.0 ** rng.uniform(low, high, size)


def random_data(rng, m: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """X and y with both classes, modified by the functions below."""
    kind = rng.choice(["normal", "integer", "heavy", "binary"], p=[0.5, 0.3, 0.1, 0.1])
    if kind == "normal":
        X = rng.normal(size=(m, n))
    elif kind == "integer":
        X = rng.integers(-2, 3, size=(m, n)).astype(float)
    elif kind == "heavy":
        X = rng.normal(size=(m, n)) * power(rng, -3, 3, (m, n))
    else:
        X = rng.integers(0, 2, size=(m, n)).astype(float)
    y = rng.choice([-1.0, 1.0], m)
    if chance(rng, 0.25):
        # Separable, by one feature or by a sum.
        score = X[:, 0] + (0.5 * X[:, -1] if chance(rng, 0.5) else 0.0)
        y = np.where(score > np.median(score), 1.0, -1.0)
    y[:2] = [-1.0, 1.0]
    X, y = _duplicates(rng, X, y)
    return _scaled(rng, X), y


def _duplicates(rng, X, y) -> tuple[np.ndarray, np.ndarray]:
    """Repeated rows (of the same or the other class) and columns, constant columns."""
    m, n = X.shape
    X = X.copy()
    if m > 2 and chance(rng, 0.2):
        copies = rng.integers(2, m, rng.integers(1, m))
        originals = rng.integers(0, 2, copies.size)
        X[copies] = X[originals]
        if chance(rng, 0.7):
            y[copies] = y[originals]
    if n > 1 and chance(rng, 0.2):
        factor = rng.choice([1.0, 1.0, -1.0, 2.0, 1 + 1e-9, 3.0])
        X[:, rng.integers(n)] = X[:, rng.integers(n)] * factor
    if chance(rng, 0.1):
        constant = rng.choice([0.0, 0.0, 1.0, rng.normal()])
        X[:, rng.integers(n)] = constant
        if chance(rng, 0.3):
            X[rng.integers(m), rng.integers(n)] += power(rng, -12, 0)
    return X, y


def _scaled(rng, X) -> np.ndarray:
    """Offsets, scales of features, and a scale of everything."""
    n = X.shape[1]
    if chance(rng, 0.25):
        X = X * power(rng, *[[-2, 2], [-6, 6], [-12, 12]][rng.integers(3)], n)
    if chance(rng, 0.25):
        columns = rng.random(n) < rng.choice([0.5, 1.0])
        X = X + np.where(columns, power(rng, 0, 8) * rng.choice([-1, 1], n), 0.0)
    reach = rng.choice([0, 6, 40, 150], p=[0.65, 0.2, 0.13, 0.02])
    return X * power(rng, -reach, reach) if reach else X


def random_classes(rng, X, y) -> np.ndarray:
    """Three or four classes, 0.0, 1.0, ...; X and y are those of two."""
    n_classes = min(int(rng.integers(3, 5)), y.size)
    if chance(rng, 0.5):
        # By one feature, so that some classes are easy to tell.
        ranks = np.argsort(np.argsort(X[:, rng.integers(X.shape[1])], kind="stable"))
        classes = ranks * n_classes // y.size
    else:
        classes = rng.integers(0, n_classes, y.size)
    classes = np.where((y > 0) & (classes > 0), classes, rng.integers(0, 2, y.size))
    classes[:n_classes] = np.arange(n_classes)
    return classes.astype(float)


def random_weights(rng, m: int, n_classes: int = 2) -> dict:
    """C and sample weights, mostly ordinary."""
    C = power(rng, -15, 15) if chance(rng, 0.2) else power(rng, -2, 3)
    arguments = {"C": float(rng.choice([C, C, 1.0]))}
    if chance(rng, 0.3):
        weights = [
            rng.choice([0.0, 0.5, 1.0, 3.0], m),
            power(rng, -3, 3, m),
            power(rng, -12, 12, m),
        ][rng.choice(3, p=[0.6, 0.3, 0.1])]
        # All classes keep a sample.
        weights[:n_classes] = np.maximum(weights[:n_classes], 0.25)
        arguments["sample_weight"] = weights
    return arguments


def random_costs(rng, n: int) -> np.ndarray:
    costs = [
        rng.integers(1, 5, n).astype(float),
        rng.choice([0.1, 0.2, 0.3, 0.7, 1.1], n),
        power(rng, -4, 4, n),
    ][rng.choice(3, p=[0.4, 0.4, 0.2])]
    return costs * power(rng, -40, 40) if chance(rng, 0.1) else costs


def random_max_cost(rng, costs: np.ndarray) -> float | None:
    """A budget, often exactly the sum of some costs."""
    kind = rng.integers(8)
    if kind < 5:
        some = rng.permutation(costs.size)[: rng.integers(1, costs.size + 1)]
        return float(costs[some].sum())
    if kind < 7:
        return float(costs.sum() * rng.uniform(0.1, 1.1))
    return [None, 0.0, float(costs.min())][rng.integers(3)]


def in_order(labels) -> np.ndarray:
    """Numbers of groups in the order of their first columns."""
    number: dict[int, int] = {}
    return np.array([number.setdefault(one, len(number)) for one in labels.tolist()])


def random_columns(rng, n: int) -> dict:
    """Feature groups, signs, both or neither, for n columns."""
    arguments: dict = {}
    if chance(rng, 0.5):
        most = int(rng.integers(1, n + 1))
        arguments["feature_groups"] = in_order(rng.integers(0, most, n))
    if chance(rng, 0.5):
        shares = [[0.2, 0.6, 0.2], [0.5, 0.0, 0.5], [0.0, 0.0, 1.0]]
        share = shares[rng.choice(3, p=[0.6, 0.3, 0.1])]
        arguments["signs"] = rng.choice([-1, 0, 1], n, p=share)
    return arguments


def random_constraints(rng, n: int) -> dict:
    """Budgets and forced sets; some are infeasible and will be rejected."""
    arguments: dict = {"fit_intercept": chance(rng, 0.75)}
    limit = int(rng.integers(0, n + 1)) if chance(rng, 0.2) else int(rng.integers(1, 4))
    arguments["max_features"] = None if chance(rng, 0.1) else limit
    if chance(rng, 0.3):
        costs = random_costs(rng, n)
        arguments["feature_costs"] = costs
        arguments["max_cost"] = random_max_cost(rng, costs)
    order = rng.permutation(n).tolist()
    if chance(rng, 0.25):
        arguments["include"] = tuple(order[: rng.integers(1, min(n, 2) + 1)])
    if chance(rng, 0.2):
        arguments["exclude"] = tuple(order[n - int(rng.integers(0, n // 2 + 1)) :])
    return arguments
