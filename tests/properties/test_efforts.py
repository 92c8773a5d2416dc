"""More effort is never worse: each begins with what the smaller one does."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from frugalsvm import Problem, solve
from frugalsvm.run.stopping import EFFORTS, Effort
from frugalsvm.search.evaluator import Evaluator
from frugalsvm.search.parameters import SearchParameters, TemperingParameters
from frugalsvm.search.tempering import Tempering, can_temper
from frugalsvm.solving.running import FINAL_TOL
from frugalsvm.tree.parameters import TreeParameters
from tests.reference import random_data


@pytest.fixture(autouse=True)
def short_efforts(set_efforts):
    """The proportions of the real ones, a fifth of their patience, less work."""
    set_efforts(
        fast=Effort(8, search_work=2e7, least_svms=50, tree_work=0.0),
        normal=Effort(50, search_work=1e8, least_svms=100, tree_work=4e7),
        thorough=Effort(
            200, search_work=3e8, least_svms=300, tree_work=1.5e8, closing_work=4e8
        ),
    )


# Tempering with less patience, rounds and SVMs; trees that check their payoff early.
SHORT = (
    SearchParameters(
        tempering=TemperingParameters(
            min_patience=20, cost=8, tries=40, swaps=4, min_svms=20
        )
    ),
    TreeParameters(first_check=1e7),
)


def blocks(rng, m, n, size):
    """Features in blocks that share most of their variance."""
    shared = rng.normal(size=(m, -(-n // size)))
    X = np.repeat(shared, size, axis=1)[:, :n] * 0.9 + 0.4 * rng.normal(size=(m, n))
    z = shared[:, :3].sum(axis=1) + 0.4 * rng.normal(size=m)
    return X, np.where(z > np.median(z), 1.0, -1.0)


def any_problem(seed):
    """A random problem: few or many features, independent or not, some sparse."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(20, 90)), int(rng.choice([6, 15, 40, 70, 150, 400]))
    if rng.random() < 0.5:
        X, y = blocks(rng, m, n, int(rng.integers(1, 12)))
    else:
        X, y = random_data(rng, m, n)
    if rng.random() < 0.3:
        X = sparse.csr_array(np.where(rng.random(X.shape) < 0.3, X, 0.0))
    C, budget = 10.0 ** rng.uniform(-2, 1), int(rng.integers(1, min(n, 8)))
    costs = {"feature_costs": rng.uniform(1.0, 2.0, n), "max_cost": 1.2 * budget}
    given = costs if seed % 7 == 0 else {}
    problem = Problem(X, y, C=C, max_features=budget, **given)
    return problem.with_parameters(*SHORT)


def block_problem(seed):
    """A problem with many local optima."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(30, 90)), int(rng.choice([60, 200, 500]))
    X, y = blocks(rng, m, n, int(rng.integers(2, 20)))
    C, budget = 10.0 ** rng.uniform(-0.5, 1.3), int(rng.integers(3, 7))
    return Problem(X, y, C=C, max_features=budget).with_parameters(*SHORT)


def check_order(problem, method, seed):
    runs = [
        solve(problem, method=method, effort=one, random_state=seed, n_jobs=1)
        for one in EFFORTS
    ]
    fast, normal, thorough = (one.objective for one in runs)
    assert thorough <= normal <= fast
    for counter in ("SVM solves", "nodes"):
        counts = [one.counters.get(counter, 0) for one in runs]
        assert counts == sorted(counts)


@pytest.mark.parametrize("method", ["auto", "swap"])
@pytest.mark.parametrize("seed", range(24))
def test_more_effort_is_not_worse(seed, method):
    check_order(any_problem(seed), method, seed)


@pytest.mark.parametrize("method", ["auto", "swap"])
# With the first five, efforts that share only a seed end in another order.
@pytest.mark.parametrize("seed", [11, 18, 61, 62, 76, 0, 1, 2])
def test_more_effort_is_not_worse_on_blocks(seed, method):
    check_order(block_problem(seed), method, seed)


@pytest.mark.parametrize("method", ["auto", "swap"])
@pytest.mark.parametrize("with_signs", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_more_effort_is_not_worse_on_groups(seed, with_signs, method):
    """Groups of columns that share variance with those of other groups."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(30, 90)), int(rng.choice([60, 200]))
    X, y = blocks(rng, m, n, int(rng.integers(2, 20)))
    signs = rng.integers(-1, 2, n) if with_signs else None
    problem = Problem(
        X, y, C=10.0 ** rng.uniform(-0.5, 1.0), max_features=4, signs=signs,
        feature_groups=rng.permutation(np.arange(n) // 3),
    )  # fmt: skip
    check_order(problem.with_parameters(*SHORT), method, seed)


@pytest.mark.parametrize("method", ["auto", "swap"])
@pytest.mark.parametrize("kind", ["subsample", "shortlist", "both"])
@pytest.mark.parametrize("seed", [0, 1])
def test_more_effort_is_not_worse_on_smaller_problems(seed, kind, method):
    """Where the search runs on a subsample or on a list of features."""
    rng = np.random.default_rng(seed)
    X, y = blocks(rng, 60, 200, 5)
    small = {}
    if kind != "shortlist":
        small |= {"sampled_min_samples": 50, "n_drawn": 40}
    if kind != "subsample":
        X = sparse.csc_array(np.where(np.abs(X) > 0.5, X, 0.0))
        small["max_listed"] = 40
    search, tree = SHORT
    parameters = SearchParameters(tempering=search.tempering, **small)
    problem = Problem(X, y, C=3.0, max_features=4).with_parameters(parameters, tree)
    assert (problem.source is not None) == (kind != "subsample")
    check_order(problem, method, seed)


class Record:
    """What a run does: the supports solved, and the chains that start."""

    def __init__(self, monkeypatch):
        self.steps = []
        solve_svm, run_chains = Evaluator.solve, Tempering.run

        def solve_and_note(evaluator, support, cutoff=np.inf, warm=None, tol=None):
            if tol != FINAL_TOL:
                self.steps.append(support.tobytes())
            return solve_svm(evaluator, support, cutoff, warm, tol)

        def run_and_note(tempering, *arguments):
            found = run_chains(tempering, *arguments)
            self.steps.append(("tempering", found.n_svms))
            return found

        monkeypatch.setattr(Evaluator, "solve", solve_and_note)
        monkeypatch.setattr(Tempering, "run", run_and_note)

    def of(self, problem, **options):
        self.steps = []
        result = solve(problem, random_state=1, n_jobs=1, **options)
        return self.steps, result


@pytest.mark.parametrize("method", ["auto", "swap"])
@pytest.mark.parametrize("seed", [2, 3, 7])
def test_a_larger_effort_begins_with_what_a_smaller_one_does(seed, method, monkeypatch):
    problem, record = block_problem(seed), Record(monkeypatch)
    assert can_temper(problem)
    runs = [record.of(problem, method=method, effort=one) for one in EFFORTS]
    for (few, less), (many, more) in itertools.pairwise(runs):
        assert 20 < len(few) < len(many)
        assert many[: len(few)] == few
        assert more.objective <= less.objective
    assert any("tempering" in step for step in runs[1][0] if isinstance(step, tuple))
    if method == "auto":
        nodes = [result.counters.get("nodes", 0) for _, result in runs]
        assert nodes[0] == 0 < nodes[2]


def test_a_given_patience_has_no_stages():
    problem = any_problem(1)
    runs = [
        solve(
            problem, method="swap", effort=one, random_state=0,
            method_options={"patience": 30},
        )
        for one in EFFORTS
    ]  # fmt: skip
    assert len({one.counters["SVM solves"] for one in runs}) == 1
