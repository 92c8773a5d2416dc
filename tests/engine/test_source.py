"""Two sources side by side are a source: what data in blocks elsewhere rely on."""

import numpy as np
import pytest

from frugalsvm import Problem
from frugalsvm.engine import gathering
from frugalsvm.engine.gathering import GatheringEngine
from frugalsvm.engine.perspective import perspective
from frugalsvm.sources import make_source
from tests.reference import random_data


class SideBySide:
    """All that the protocol asks for, from parts that know nothing of each other."""

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
def test_parts_make_a_whole(monkeypatch, whole_bytes):
    monkeypatch.setattr(gathering, "WHOLE_BYTES", whole_bytes)
    X, y = random_data(np.random.default_rng(3), 40, 600)
    X[:, 20] += 900.0
    problem = Problem(X, y, C=0.5, max_features=4)
    parts = [make_source(X[:, a:b]) for a, b in ((0, 100), (100, 101), (101, 600))]
    engine = GatheringEngine(
        SideBySide(parts), problem.y, problem.C, True, problem.costs
    )
    wanted = perspective(problem.engine, problem.root_region(), tol=1e-9)
    found = perspective(engine, problem.root_region(), tol=1e-9)
    np.testing.assert_allclose(found.bound, wanted.bound, rtol=1e-8)
    support = np.array([20, 100, 599])
    assert engine.solve_svm(support).primal == problem.engine.solve_svm(support).primal
