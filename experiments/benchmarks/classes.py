"""Several classes with one budget: FrugalSVCCV beside other selectors, and its proofs.

Everyone gets the same budget, the same outer folds and the same inner folds to tune the
C of the weights by balanced accuracy. Of large sets all train on the same few hundred
samples of each outer training part; the score is that of all samples of the test part.
The peers' features get two kinds of weights, one class against the rest: those of the
hinge loss, as ours are, and those of ``LinearSVC`` as it is, which squares the hinge.
abess has weights of its own, too, those of a multinomial regression.
"""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

from frugalsvm import FrugalSVC, Problem, Result, relax

from ..cells import Cell, cell
from ..datasets import DataSet
from ..experiment import Settings, benchmark, without
from ..store import Results, Row
from ..tables import Lines, columns
from ..tasks import mip
from .feature_selectors import (
    CLASS_SELECTORS,
    HINGE,
    MULTINOMIAL,
    OURS,
    SQUARED,
    TrainingPart,
    outer_parts,
)
from .prediction import ahead, mean
from .timing import grown, refitted, timed

OUTER, INNER = 5, 3
# The dual of the hinge has no other solver; the squared one is faster without.
LOSSES: dict[str, dict[str, Any]] = {HINGE: {"loss": "hinge"}, SQUARED: {"dual": False}}
# Classes with a smaller share than this of an equal one are rare: weights are balanced.
RARE = 2 / 3
# Zernike moments of mfeat, its last columns; relaxing all 649 takes minutes.
MOMENTS = 47
# Proofs beside SCIP: to which gap.
GAP = 1e-4
PROOFS = [(name, B, 1.0) for name in ("iris", "wine") for B in (2, 3)]
# How cost grows with the number of classes: digits, so many samples, budget, C, nodes.
CLASSES = (2, 3, 4, 6, 8, 10)
SAMPLES, BUDGET, WEIGHT, NODES = 300, 10, 0.1, 100

Sample = tuple[np.ndarray, np.ndarray]


class Case(NamedTuple):
    """Budgets of a data set, and how often and how it is cut."""

    budgets: tuple[int, ...]
    repeats: int = 1
    # Most samples to train on.
    trained: int = 10_000


CASES = {
    "iris": Case((2, 3), repeats=3),
    "wine": Case((2, 3, 5, 10), repeats=3),
    "digits": Case((3, 5, 10, 20), trained=600),
    "mfeat": Case((3, 5, 10, 20), trained=600),
    "lymphoma": Case((3, 5, 10, 20)),
}
LOADERS = {"iris": load_iris, "wine": load_wine, "digits": load_digits}


def _sample(name: str, data: DataSet | None) -> Sample:
    """Features and classes."""
    if data is None:
        return LOADERS[name](return_X_y=True)
    import pandas as pd

    if name == "mfeat":
        digits = pd.read_csv(data.companion("mfeat_digits"))["digit"]
        return data.X[:, -MOMENTS:], digits.to_numpy()
    # Three lymphomas, normal cells and cell lines, by the names of the samples.
    names = pd.read_csv(data.companion("lymphoma_samples"))["sample"]
    kinds = {kind: names.str.startswith(kind) for kind in ("DLCL", "FL", "CLL")}
    kinds["line"] = names.str.contains("OCI|SUDHL|WSU|Jurkat|U937")
    return data.X, np.select(list(kinds.values()), list(kinds), default="normal")


# --- prediction -----------------------------------------------------------------------


def class_scores(data: DataSet | None, *, name: str, B: int) -> Row:
    """A row for each selector and kind of weights; ours as it is against them."""
    scores = _scores(CASES[name], *_sample(name, data), B)
    ours = {row["part"]: row for row in scores if row["peer"] == (OURS, HINGE)}
    rows = []
    for peer in dict.fromkeys(row["peer"] for row in scores):
        parts = [row for row in scores if row["peer"] == peer]
        pair = [*({**ours[row["part"]], "peer": OURS} for row in parts), *parts]
        gain, half, _ = ahead(pair, peer) if peer != (OURS, HINGE) else (0.0, 0.0, 1)
        first = {key: parts[0][key] for key in ("m", "n", "classes", "trained")}
        rows.append(
            {
                "kind": "set",
                "set": name,
                **first,
                "parts": len(parts),
                "selector": peer[0],
                "weights": peer[1],
                "score": mean(parts, peer),
                "seconds": mean(parts, peer, "seconds"),
                "ours_less": gain,
                "half_width": half,
            }
        )
    return {"rows": rows}


def _scores(case: Case, X: np.ndarray, y: np.ndarray, B: int) -> list[Row]:
    """One row for each repeat, fold, selector and kind of weights."""
    share = np.unique(y, return_counts=True)[1] / y.size
    is_rare = bool(share.min() < RARE / share.size)
    cuts: dict[str, Any] = {"folds": OUTER, "inner": INNER, "repeats": case.repeats}
    parts = outer_parts(X, y, B, is_rare=is_rare, most=case.trained, **cuts)
    rows = []
    for sizes, part, X_test, y_test in parts:
        for selector, weights, seconds, predict in _models(part):
            score = balanced_accuracy_score(y_test, predict(X_test))
            row = {**sizes, "classes": share.size, "set": "", "seconds": seconds}
            row |= {"peer": (selector, weights), "balanced_accuracy": score}
            rows.append(row)
    return rows


def _models(
    part: TrainingPart,
) -> Iterator[tuple[str, str | None, float, Callable[[np.ndarray], np.ndarray]]]:
    """Selector, kind of weights, processor time, function that predicts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for selector, select in CLASS_SELECTORS.items():
            seconds, (support, predict, weights) = timed(select, part)
            if predict:
                yield selector, weights, seconds, predict
            for loss in (SQUARED,) if selector == OURS else (HINGE, SQUARED):
                more, model = timed(partial(part.tuned, support, **LOSSES[loss]))
                yield selector, loss, seconds + more, partial(_predict, model, support)


def _predict(model: Any, support: np.ndarray, X: np.ndarray) -> np.ndarray:
    return model.predict(X[:, support])


# --- proofs ---------------------------------------------------------------------------


def _stacked(y: np.ndarray) -> np.ndarray:
    """-1 and +1, a column for each class; one if there are two."""
    Y = np.where(y[:, None] == np.unique(y), 1.0, -1.0)
    return Y[:, 1] if Y.shape[1] == 2 else Y


def class_proof(data: None, *, name: str, B: int, C: float, seconds: float) -> Row:
    """Time to the proved optimum, beside SCIP if there is one."""
    X, y = _sample(name, data)
    X, Y = scale(X), _stacked(y)
    _search(X, Y, C, B)
    spent, result = timed(lambda: _search(X, Y, C, B))
    row: Row = {
        "kind": "proof",
        "set": name,
        "objective": result.objective,
        "bound": result.lower_bound,
        "seconds": spent,
        "nodes": result.counters.get("nodes", 0),
    }
    if importlib.util.find_spec("pyscipopt"):
        claim = mip.scip(X, Y, C, B, gap=GAP, seconds=seconds)
        row["SCIP"] = {
            "objective": sum(refitted(X, column, C, claim.support) for column in Y.T),
            "bound": claim.bound,
            "proved": claim.proved,
            "seconds": min(claim.seconds, seconds),
        }
    return row


def _search(
    X: np.ndarray, Y: np.ndarray, C: float, B: int, max_nodes: int | None = None
) -> Result:
    return grown(Problem(X, Y, C=C, max_features=B), gap_tol=GAP, max_nodes=max_nodes)


# --- cost -----------------------------------------------------------------------------


def class_growth(data: None, *, classes: int) -> Row:
    """Processor time of a relaxation and of a node for the first digits."""
    digits = load_digits()
    chosen = np.flatnonzero(digits.target < classes)
    chosen = train_test_split(
        chosen, train_size=SAMPLES, stratify=digits.target[chosen], random_state=0
    )[0]
    X, Y = scale(digits.data[chosen]), _stacked(digits.target[chosen])
    # The kernels of one machine, or those of several.
    _search(X, Y, WEIGHT, BUDGET, max_nodes=NODES)
    problem = Problem(X, Y, C=WEIGHT, max_features=BUDGET)
    relaxation, _ = timed(lambda: relax(problem))
    first, _ = timed(lambda: _search(X, Y, WEIGHT, BUDGET, max_nodes=1))
    spent, result = timed(lambda: _search(X, Y, WEIGHT, BUDGET, max_nodes=NODES))
    nodes = result.counters.get("nodes", NODES)
    return {
        "kind": "growth",
        "relaxation": relaxation,
        "nodes": nodes,
        "gap": result.gap,
        "node": (spent - first) / max(1, nodes - 1),
    }


def class_default(data: None) -> Row:
    """All digits with ten features and the defaults, on two threads."""
    X, y = load_digits(return_X_y=True)
    wall = time.perf_counter()
    cpu, model = timed(FrugalSVC(10, n_jobs=2, random_state=0).fit, scale(X), y)
    return {
        "kind": "default",
        "seconds": time.perf_counter() - wall,
        "cpu": cpu,
        "gap": model.gap_,
        "objective": model.objective_,
        "bound": model.lower_bound_,
    }


# --- plan and tables ------------------------------------------------------------------


def _plan(settings: Settings, *, seconds: float) -> list[Cell]:
    cells = [
        cell("class scores", "" if name in LOADERS else name, name=name, B=B)
        for name in settings.chosen(CASES, ("iris", "wine"))
        for B in settings.pick(CASES[name].budgets[:1], CASES[name].budgets)
    ]
    if settings.sets:
        return cells
    cells += [
        cell("class proof", name=name, B=B, C=C, seconds=seconds)
        for name, B, C in PROOFS
    ]
    counts = settings.pick(CLASSES[:2], CLASSES)
    cells += [cell("class growth", classes=count) for count in counts]
    return cells if settings.quick else [*cells, cell("class default")]


def score_table(results: Results, weights: str) -> Lines:
    """Balanced accuracy by data set, budget and selector, with one kind of weights.

    Those of a multinomial regression stand beside the squared hinge.
    """
    kinds = [weights] if weights == HINGE else [weights, MULTINOMIAL]
    rows = [row for row in _of_kind(results, "set") if row["weights"] in kinds]
    peers = list(dict.fromkeys((row["selector"], row["weights"]) for row in rows))
    names = [who if kind in kinds[:1] else f"{who}, {kind}" for who, kind in peers]
    table = [["data", "classes", "samples", "features", "B", *names]]
    for name, B in dict.fromkeys((row["set"], row["B"]) for row in rows):
        by_peer = {
            (row["selector"], row["weights"]): row
            for row in rows
            if (row["set"], row["B"]) == (name, B)
        }
        first = next(iter(by_peer.values()))
        sizes = [f"{first['classes']}", f"{first['m']:,}", f"{first['n']:,}", f"{B}"]
        table.append([name, *sizes, *(f"{by_peer[p]['score']:.3f}" for p in peers)])
    return table


def difference_table(results: Results) -> Lines:
    """Where FrugalSVCCV is ahead of a peer, or behind it, beyond the interval."""
    rows = _of_kind(results, "set")
    return columns(
        [row for row in rows if row["half_width"] < abs(row["ours_less"])],
        {
            "data": "{set}",
            "B": "{B}",
            "peer": "{selector}",
            "weights": "{weights}",
            "FrugalSVCCV less [points]": lambda row: f"{100 * row['ours_less']:+.1f}",
            "+/-": lambda row: f"{100 * row['half_width']:.1f}",
        },
    )


def proof_table(results: Results) -> Lines:
    """Time to proved optima of several classes, beside SCIP."""

    def seconds(row: Row) -> str:
        limit = "" if row["SCIP"]["proved"] else " (limit)"
        return f"{row['SCIP']['seconds']:.1f} s{limit}"

    def gap(row: Row) -> str:
        return f"{100 * (1 - row['SCIP']['bound'] / row['SCIP']['objective']):.2g} %"

    return columns(
        _of_kind(results, "proof"),
        {
            "data": "{set}",
            "B": "{B}",
            "optimum": "{objective:.3f}",
            "ours": "{seconds:.2f} s",
            "SCIP": seconds,
            "SCIP's gap": gap,
        },
    )


def growth_table(results: Results) -> Lines:
    """Processor time by the number of classes."""
    return columns(
        _of_kind(results, "growth"),
        {
            "classes": "{classes}",
            "relaxation": lambda row: f"{1e3 * row['relaxation']:.0f} ms",
            "node": lambda row: f"{1e3 * row['node']:.1f} ms",
        },
    )


def default_summary(results: Results) -> str:
    """All digits with ten features and the defaults."""
    (row,) = _of_kind(results, "default")
    return (
        f"All ten digits, ten features, defaults, two threads: {row['seconds']:.0f} s "
        f"({row['cpu']:.0f} s of processor time), gap {100 * row['gap']:.0f} %."
    )


def _of_kind(results: Results, kind: str) -> list[Row]:
    return [row for row in results.rows if row["kind"] == kind]


CLASS_BENCHMARK = benchmark(
    "classes",
    "Several classes: balanced accuracy beside other selectors, proofs, and cost",
    "Iris, wine, digits, mfeat and lymphoma; proofs are compared with SCIP's.",
    _plan,
    [class_scores, class_proof, class_growth, class_default],
    options={"seconds": 120.0},
    # They name their data set once.
    rows=partial(without, names=("name",)),
    figures={
        "classes-hinge": lambda results: score_table(results, HINGE),
        "classes-squared": lambda results: score_table(results, SQUARED),
        "classes-differences": difference_table,
        "classes-proofs": proof_table,
        "classes-growth": growth_table,
        "classes-default": default_summary,
    },
    sets=tuple(CASES),
)
