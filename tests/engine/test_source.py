"""Two sources side by side form a source, as data in distributed blocks do."""

import numpy as np
import pytest

from frugalsvm import Problem
from frugalsvm.engine.column_generation import ColumnGenerationEngine
from frugalsvm.engine.parameters import EngineParameters
from frugalsvm.engine.perspective import perspective, region_request
from frugalsvm.engine.source import Prices
from frugalsvm.problem.sources import make_source
from tests.reference import random_data


class SideBySide:
    """A source that consists of independent parts."""

    def __init__(self, parts):
        self.parts = parts
        self.n_samples = parts[0].n_samples
        self.starts = np.cumsum([0] + [part.n_features for part in parts])
        self.n_features = int(self.starts[-1])
        self.n_entries = sum(part.n_entries for part in parts)
        self.shift = np.concatenate([part.shift for part in parts])
        self.norms = np.concatenate([part.norms for part in parts])
        self.varies = np.concatenate([part.varies for part in parts])

    def multiply(self, v, n_threads=1):
        return np.concatenate([part.multiply(v) for part in self.parts])

    def columns(self, features):
        rows = np.empty((features.size, self.n_samples))
        for part, start in zip(self.parts, self.starts, strict=False):
            own = (features >= start) & (features < start + part.n_features)
            rows[own] = part.columns(features[own] - start)
        return rows


@pytest.mark.parametrize("whole_bytes", [0, 2**24])
def test_sources_side_by_side_form_a_source(whole_bytes):
    X, y = random_data(np.random.default_rng(3), 40, 600)
    X[:, 20] += 900.0
    problem = Problem(X, y, C=0.5, max_features=4)
    parts = [make_source(X[:, a:b]) for a, b in ((0, 100), (100, 101), (101, 600))]
    engine = ColumnGenerationEngine(
        SideBySide(parts), problem.y, problem.C, True, problem.costs,
        parameters=EngineParameters(whole_bytes=whole_bytes),
    )  # fmt: skip
    wanted = perspective(problem.engine, problem.root_region(), tol=1e-9)
    found = perspective(engine, problem.root_region(), tol=1e-9)
    np.testing.assert_allclose(found.bound, wanted.bound, rtol=1e-7)
    support = np.array([20, 100, 599])
    assert engine.solve_svm(support).primal == problem.engine.solve_svm(support).primal


class Distant(SideBySide):
    """A distant source that returns as few prices as allowed, and counts requests."""

    def __init__(self, parts):
        super().__init__(parts)
        self.n_told = self.n_products = self.n_gathers = 0

    def columns(self, features):
        self.n_gathers += 1
        return super().columns(features)

    def multiply(self, v, n_threads=1):
        self.n_products += 1
        return super().multiply(v)

    def price(self, v, most, above):
        exact = np.abs(super().multiply(v))
        values, known = exact.copy(), exact > above
        if most is not None:
            known = np.zeros(exact.size, dtype=bool)
            known[np.argsort(-exact, kind="stable")[:most]] = True
        if not known.all():
            values[~known] = exact[~known].max()
        self.n_told += int(known.sum())
        return Prices(values, known)


CONDITIONS = [
    {},
    {"include": [7, 300]},
    {"exclude": range(100, 180)},
    {"max_features": 0},
]


@pytest.mark.parametrize("conditions", CONDITIONS)
def test_a_distant_source_transfers_only_relevant_prices(conditions):
    parameters = EngineParameters(whole_bytes=0, joining_long_rows=5)
    conditions = {"max_features": 4} | conditions
    X, y = random_data(np.random.default_rng(3), 40, 600)
    problem = Problem(X, y, C=0.5, **conditions)
    parts = [make_source(X[:, a:b]) for a, b in ((0, 100), (100, 101), (101, 600))]
    data = problem.y, problem.C, True, problem.costs
    near = ColumnGenerationEngine(SideBySide(parts), *data, parameters=parameters)
    source = Distant(parts)
    far = ColumnGenerationEngine(source, *data, parameters=parameters)
    region = problem.root_region()
    wanted = perspective(near, region, tol=1e-9)
    found = perspective(far, region, tol=1e-9)
    assert (found.rounds, found.iterations) == (wanted.rounds, wanted.iterations)
    assert found.bound == pytest.approx(wanted.bound, rel=1e-12)
    assert source.n_products == 0
    # Rows are transferred once per round, even without a cache.
    assert source.n_gathers <= found.rounds + 1
    # Other features have at most the returned bound, and less than the chosen ones. The
    # two dual points agree up to the accuracy of interior points.
    assert (found.squares >= wanted.squares * (1 - 1e-6)).all()
    one, other = (e.bound(region, wanted.alpha) for e in (near, far))
    assert other.bound == pytest.approx(one.bound, rel=1e-12)
    assert (other.squares >= one.squares * (1 - 1e-12)).all()
    if not conditions.get("exclude"):
        assert source.n_told < 0.6 * 600 * (found.rounds + 2)


@pytest.mark.parametrize("has_costs", [True, False])
def test_costs_and_screening_need_all_prices(has_costs):
    parameters = EngineParameters(whole_bytes=0)
    X, y = random_data(np.random.default_rng(3), 40, 600)
    conditions = {}
    if has_costs:
        costs = np.random.default_rng(0).uniform(1, 3, 600)
        conditions = {"feature_costs": costs, "max_cost": 7.0}
    problem = Problem(X, y, C=0.5, max_features=4, **conditions)
    data = problem.y, problem.C, True, problem.costs
    parts = [make_source(X)]
    source, region = Distant(parts), problem.root_region()
    relaxed = perspective(problem.engine, region).primal
    # So low that many features are missing.
    cutoff = np.inf if has_costs else 1.01 * relaxed
    answers = []
    for engine in (SideBySide(parts), source):
        engine = ColumnGenerationEngine(engine, *data, parameters=parameters)
        request = region_request(
            engine, region, None, tol=1e-3, fine_tol=1e-3, cutoff=cutoff, max_rounds=9
        )
        answers += engine.solve([request])
    wanted, found = answers
    assert found.bound == wanted.bound
    np.testing.assert_array_equal(found.squares, wanted.squares)
    np.testing.assert_array_equal(found.decision, wanted.decision)
    assert wanted.decision.any() == (not has_costs)
    assert source.n_products == found.rounds
