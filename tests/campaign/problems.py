"""Tiny problems solved by every method, and claims their results must never make."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from frugalsvm import InvalidCertificate, Problem, near_optimal, solve, verify
from frugalsvm.checker import Alternatives
from tests.classes import one_against_rest

from .generator import (
    chance,
    random_classes,
    random_columns,
    random_constraints,
    random_data,
    random_weights,
)
from .machines import reference_of
from .reference import WINDOW, Reference, Stated, varying
from .tally import Tally, Unit

NAME = "problems"
# Most samples and columns of a problem.
SAMPLES, FEATURES = 9, 5
# How often each method is drawn: the slow ones less.
METHODS = {
    "auto": 3, "branch-and-bound": 6, "swap": 2, "relax-and-round": 3,
    "local-search": 2, "kernel-search": 2, "heuristic": 0.5, "exact": 3,
    "near-optimal": 3,
}  # fmt: skip
# How often a problem has feature groups or signs, how often more than two classes, and
# methods that take none of them.
GROUPED, CLASSES = 0.4, 0.25
# Methods with trees, and how often they relax nodes in batches if they can.
TREES, BATCHED = ("auto", "branch-and-bound"), 0.5
PLAIN_ONLY = ("local-search", "kernel-search", "heuristic", "exact")
# Gaps below this are rounding errors, whatever the tolerance.
LEAST_GAP = 1e-8
# How much weaker than the result a certificate may be.
PROOF_TOL = 1e-9


@dataclass(frozen=True)
class Case:
    """Data, arguments of Problem and arguments of solve.

    ``y`` has labels -1 and 1, or the numbers of more than two classes.
    """

    X: np.ndarray
    y: np.ndarray
    arguments: dict
    options: dict

    @property
    def labels(self) -> np.ndarray:
        """Labels -1 and 1, with a column for each of more than two classes."""
        return self.y if self.y.min() < 0 else one_against_rest(self.y)

    @property
    def stated(self) -> Stated:
        given = self.arguments
        weight = given.get("sample_weight")
        m, n = self.X.shape
        C = given["C"] * (np.ones(m) if weight is None else weight)
        limit, max_cost = given["max_features"], given.get("max_cost")
        return Stated(
            self.X, self.labels, C, n if limit is None else limit,
            given.get("feature_costs"), math.inf if max_cost is None else max_cost,
            given.get("include", ()), given.get("exclude", ()), given["fit_intercept"],
            given.get("feature_groups"), given.get("signs"),
        )  # fmt: skip

    @property
    def is_plain(self) -> bool:
        is_given = {"feature_groups", "signs"} & self.arguments.keys()
        return self.labels.ndim == 1 and not is_given


def random_case(rng) -> Case:
    m, n = int(rng.integers(2, SAMPLES + 1)), int(rng.integers(1, FEATURES + 1))
    X, y = random_data(rng, m, n)
    columns = random_columns(rng, n) if chance(rng, GROUPED) else {}
    if "feature_groups" in columns:
        n = int(columns["feature_groups"].max()) + 1
    n_classes = 2
    if m > 2 and chance(rng, CLASSES):
        y = random_classes(rng, X, y)
        n_classes = int(y.max()) + 1
        # Signs are for two classes only.
        columns.pop("signs", None)
    is_plain = n_classes == 2 and not columns
    weights = random_weights(rng, m, n_classes)
    arguments = {**weights, **random_constraints(rng, n), **columns}
    options = random_options(rng, n, is_plain=is_plain)
    takes_batches = is_plain and arguments.get("max_cost") is None
    if takes_batches and options["method"] in TREES and chance(rng, BATCHED):
        options["method_options"]["engine"] = "batched"
    return Case(X, y, arguments, options)


def random_options(rng, n: int, *, is_plain: bool) -> dict:
    names, weights = list(METHODS), np.array(list(METHODS.values()))
    if not is_plain:
        weights = np.where(np.isin(names, PLAIN_ONLY), 0.0, weights)
    method = str(rng.choice(names, p=weights / weights.sum()))
    if method == "near-optimal":
        return list_options(rng)
    options = {
        "method": method,
        "gap_tol": float(rng.choice([1e-4, 1e-6, 0.0])),
        "certificate": chance(rng, 0.5),
        "n_jobs": 2 if chance(rng, 0.15) else 1,
        "random_state": int(rng.integers(100)),
        "method_options": method_options(rng, method),
    }
    if chance(rng, 0.1):
        options["max_nodes"] = int(rng.integers(1, 8))
    if chance(rng, 0.05):
        options["time_limit"] = float(rng.choice([0.0, 1e-3, 1e-2]))
    if chance(rng, 0.2):
        some = rng.permutation(n)[: rng.integers(1, n + 1)]
        options["initial_support"] = some.tolist()
    return options


def list_options(rng) -> dict:
    """Options of near_optimal, with the name of a method."""
    options = {
        "method": "near-optimal",
        "tolerance": float(rng.choice([0.0, 1e-3, 0.05, 0.5, 3.0])),
        "limit": int(rng.choice([1, 3, 1000, 1000])),
        "certificate": chance(rng, 0.7),
        "n_jobs": 2 if chance(rng, 0.15) else 1,
        "random_state": int(rng.integers(100)),
    }
    if chance(rng, 0.1):
        options["max_nodes"] = int(rng.integers(1, 8))
    if chance(rng, 0.05):
        options["time_limit"] = float(rng.choice([0.0, 1e-3, 1e-2]))
    return options


def method_options(rng, method: str) -> dict:
    """Native options that make small problems interesting and fast."""
    tree = {"patience": int(rng.choice([0, 0, 5, 20]))}
    groups = {"rho": int(rng.integers(1, 4)), "passes": int(rng.integers(1, 3))}
    excess = {"k": int(rng.integers(0, 3))}
    strategy = {"strategy": str(rng.choice(["kernel-search", "local-search"]))}
    return {
        "auto": tree,
        "branch-and-bound": tree,
        "swap": {"patience": int(rng.choice([0, 5, 20]))},
        "relax-and-round": {},
        "local-search": excess,
        "kernel-search": groups,
        "heuristic": {**groups, **excess, **strategy},
        "exact": {**groups, **excess, **strategy, "s": int(rng.integers(1, 4))},
    }[method]


def run(unit: Unit) -> Tally:
    """One problem: built, solved, compared."""
    case = random_case(np.random.default_rng([unit.seed, unit.index]))
    method, tally = case.options["method"], Tally()
    tally.count(NAME, method, "tried")
    if not case.is_plain:
        tally.count(NAME, method, "not plain")
    if case.labels.ndim > 1:
        tally.count(NAME, method, "classes")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            problem = Problem(case.X, case.labels, **case.arguments)
        except ValueError:
            tally.count(NAME, method, "refused")
            return tally
        reference = reference_of(case.stated)
        if not (reference.optimum.is_tight and reference.generous.is_tight):
            tally.count(NAME, method, "loose")
            return tally
        tally.count(NAME, method, "counted")
        is_list = method == "near-optimal"
        options = {
            k: v for k, v in case.options.items() if k != "method" or not is_list
        }
        try:
            result = (near_optimal if is_list else solve)(problem, **options)
        except Exception as error:
            tally.violate(unit, f"exception: {method}: {error!r}")
            return tally
        found = (list_objections if is_list else objections)(case, reference, result)
        for text in found:
            tally.violate(unit, text)
        if result.certificate is not None:
            tally.count(NAME, method, "verified")
    return tally


def objections(case: Case, reference: Reference, result) -> Iterator[str]:
    """What is wrong with a result; comparisons are exact unless said otherwise."""
    method = case.options["method"]
    numbers = np.hstack(
        [result.objective, result.lower_bound, result.intercept, result.coef.ravel()]
    )
    if not np.isfinite(numbers).all():
        yield f"not finite: {method}: {numbers}"
        return
    yield from budget_objections(case.stated, result.coef, result.intercept)
    objective, bound = Fraction(result.objective), Fraction(result.lower_bound)
    exact = reference.objective(result.coef, result.intercept)
    if bound > reference.optimum.upper:
        yield f"invalid bound: {method}: {excess(bound, reference.optimum.upper)}"
    if bound < 0:
        yield f"negative bound: {method}: {result.lower_bound!r}"
    if objective < exact:
        yield f"objective too small: {method}: {excess(exact, objective)}"
    if objective < reference.generous.lower:
        yield (
            f"objective below the optimum: {method}: "
            f"{excess(reference.generous.lower, objective)}"
        )
    yield from status_objections(case, result)
    if case.options["certificate"]:
        yield from proof_objections(case, reference, result)


def list_objections(case: Case, reference: Reference, found) -> Iterator[str]:
    """What is wrong with a list of near-optimal supports."""
    stated = case.stated
    if Fraction(found.lower_bound) > reference.optimum.upper:
        yield f"invalid bound: list: {found.lower_bound!r}"
    if found.complete != (found.complete_up_to == found.tolerance):
        yield f"complete or not: list: {found.complete_up_to!r}"
    each = zip(found.supports, found.coefs, found.intercepts, found.objectives,
               strict=True)  # fmt: skip
    for support, weights, intercept, objective in each:
        coef = np.zeros((*weights.shape[:-1], stated.X.shape[1]))
        coef[..., stated.columns(support)] = weights
        yield from budget_objections(stated, coef, intercept)
        exact = reference.objective(coef, intercept)
        if Fraction(objective) < exact:
            yield f"objective too small: list: {excess(exact, Fraction(objective))}"
    # The list claims that nothing below this is missing.
    below = found.objectives[0] * (1 + found.complete_up_to - PROOF_TOL)
    sets = [one.support for group in found._sets for one in group]
    listed = Alternatives(sets, np.empty(0), below)
    yield from missing_objections(listed, reference)
    if found.certificate is not None:
        try:
            proved = verify(found.certificate, case.X, case.y)
        except Exception as error:
            yield f"certificate rejected: list: {error!r}"
            return
        if not proved.alternatives.threshold >= below:
            yield f"proof weaker than the list: {proved.alternatives.threshold!r}"
        yield from missing_objections(proved.alternatives, reference)


def missing_objections(found: Alternatives, reference: Reference) -> Iterator[str]:
    """Supports below the threshold of a list that are not in it."""
    stated, threshold = reference.stated, found.threshold
    useful = {*varying(stated), *stated.include}
    listed = [{*support.tolist()} for support in found.supports]
    for support in {tuple(sorted(useful & {*s})) for s in stated.supports()}:
        if any({*support} <= other for other in listed):
            continue
        if math.isinf(threshold):
            yield f"forged list: {support} is missing, everything is claimed"
        elif Fraction(threshold) > reference.bracket(support, threshold).upper:
            yield f"forged list: {support} is missing, below {threshold!r}"


def excess(above: Fraction, below: Fraction) -> str:
    relative = float((above - below) / max(abs(above), abs(below)))
    return f"{float(below)!r} should not be exceeded by a relative {relative:.3g}"


def budget_objections(stated: Stated, coef, intercept) -> Iterator[str]:
    features = range(stated.n_features)
    nonzero = [g for g in features if np.any(coef[..., stated.columns((g,))])]
    used = tuple(sorted({*nonzero, *stated.include}))
    if not stated.admits(used, WINDOW):
        yield f"over budget: {used}"
    if set(used) & set(stated.exclude):
        yield f"excluded features: {used}"
    signs = 0 if stated.signs is None else stated.signs
    wrong = np.flatnonzero(coef * signs < 0)
    if wrong.size:
        yield f"wrong signs: {wrong.tolist()}"
    if np.any(intercept) and not stated.intercept:
        yield f"an intercept: {intercept!r}"


def status_objections(case: Case, result) -> Iterator[str]:
    method = case.options["method"]
    gap = max(0.0, result.objective - result.lower_bound)
    allowed = max(case.options["gap_tol"], LEAST_GAP) * (1 + 1e-12)
    if result.status == "optimal" and gap > allowed * result.objective:
        yield f"not optimal: {method}: gap {gap / result.objective:.3g}"
    if result.status == "interrupted":
        yield f"interrupted without a signal: {method}"
    if result.status == "time limit" and "time_limit" not in case.options:
        yield f"unrequested time limit: {method}"


def proof_objections(case: Case, reference: Reference, result) -> Iterator[str]:
    """What is wrong with the certificate of a result."""
    method = case.options["method"]
    try:
        proved = verify(result.certificate, case.X, case.y)
    except InvalidCertificate as error:
        yield f"certificate rejected: {method}: {error}"
        return
    except Exception as error:
        yield f"exception of verify: {method}: {error!r}"
        return
    exact = reference.objective(result.coef, result.intercept)
    if Fraction(proved.lower_bound) > reference.optimum.upper:
        yield f"invalid proof: {method}: {proved.lower_bound!r}"
    if Fraction(proved.objective) < exact:
        text = excess(exact, Fraction(proved.objective))
        yield f"objective of the proof too small: {method}: {text}"
    if proved.lower_bound < result.lower_bound - PROOF_TOL * abs(result.lower_bound):
        yield f"proof weaker than the result: {method}: {proved.lower_bound!r}"
