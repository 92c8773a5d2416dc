"""Cost model: work is computed from sizes, so that it is machine-independent.

The figures are nanoseconds of one core of a small virtual machine, fitted to the
paper's data sets and to data of 100,000 x 30 and 20,000 x 200; single calls may take
half or twice as long.
"""

from __future__ import annotations

import numpy as np

from ..kernels.chain import REPRICE, SHORTLIST
from ..kernels.svm import near_samples
from .protocol import Engine, RelaxationRequest, RelaxationResult

# An SVM: once, per sample, per sample and feature, per sample and pair of features.
SVM_COSTS = 6e4, 450.0, 15.0, 0.35
# Fraction of it for a round of an SVM that begins with the samples near the margin.
NEAR_ROUND_PART = 0.4
# An iteration of a relaxation: once, per entry of its working set, per product in its
# matrix.
ITERATION_COSTS = 1e4, 13.0, 0.06
# A round of a relaxation, per entry of the data.
ROUND_COST = 3.0
# Before and after a relaxation: once, and per feature of the data.
REQUEST_COSTS = 1e5, 400.0
# A step of a relaxation in a batch: per entry of the state, per entry of its matrices.
STEP_COSTS = 4.0, 0.015
# The matrices of batches, per product in them; a step of a single state, per entry.
MATRIX_COST, SINGLE_STEP_COST = 0.07, 0.25

# A node of a tree on large data: its rounds, its iterations, and the fraction of the
# samples in its working set.
NODE_ROUNDS, NODE_ITERATIONS, NODE_FRACTION = 2, 40, 0.2
# Maximum number of free features in the working set of a node.
NODE_FEATURES = 300

# Chains, each once and per product: an SVM by active-set steps, one such step, a model
# of exchanges, one of its iterations.
CHAIN_COSTS = np.array(
    [[2_200.0, 0.31], [350.0, 0.096], [44_000.0, 0.043], [9_800.0, 0.1]]
)


def chain_costs(engine: Engine, n_columns: int, width: int) -> np.ndarray:
    """Work of SVMs, active-set steps, models and iterations of a chain."""
    n_samples = engine.n_samples
    n_near = near_samples(n_samples, n_columns)
    n_all = engine.columns.n_columns
    n_priced = min(SHORTLIST, n_all) + n_all / REPRICE
    products = [
        n_samples + n_near,
        (n_near + 4 * n_columns) * n_columns,
        # Pricing is memory-bound: the data are not in the cache.
        2.0 * n_priced * n_samples + width * n_near * n_columns,
        n_near * n_columns**2,
    ]
    once, per_product = CHAIN_COSTS.T
    return once + per_product * np.array(products)


def svm_work(
    n_samples: int, n_columns: int, warm: bool = False, n_machines: int = 1
) -> float:
    """Work of an SVM on a number of columns, or of a round with warm weights.

    With several machines, of the SVMs of them all.
    """
    if n_machines > 1:
        each = svm_work(n_samples // n_machines, n_columns // n_machines, warm)
        return n_machines * each
    once, per_sample, per_entry, per_product = SVM_COSTS
    products = n_columns * min(n_samples, n_columns)
    work = once + n_samples * (
        per_sample + per_entry * n_columns + per_product * products
    )
    begins_near = warm and near_samples(n_samples, n_columns) < n_samples
    return NEAR_ROUND_PART * work if begins_near else work


def product_work(engine: Engine) -> float:
    """Work of a product with the data."""
    return float(engine.n_entries)


def request_work(
    engine: Engine, request: RelaxationRequest, result: RelaxationResult
) -> float:
    """Work of a finished relaxation."""
    if result.working_set.state is not None and result.iterations > 0:
        return batched_work(engine, result.iterations)
    once, per_entry, per_product = ITERATION_COSTS
    n_columns = engine.columns.count(request.region.forced, request.start.features)
    n_fixed = min(
        np.count_nonzero(request.start.side), np.count_nonzero(result.working_set.side)
    )
    n_samples = engine.n_samples - int(n_fixed)
    entries = n_columns * n_samples
    per_iteration = once + entries * (
        per_entry + per_product * min(n_columns, n_samples)
    )
    per_round = ROUND_COST * engine.n_entries
    overhead = REQUEST_COSTS[0] + REQUEST_COSTS[1] * engine.n_features
    return overhead + result.iterations * per_iteration + result.rounds * per_round


def batched_work(engine: Engine, steps: int) -> float:
    """Work of a relaxation that is one of many in a batch."""
    per_entry, per_product = STEP_COSTS
    n, m = engine.n_features, engine.n_samples
    once = REQUEST_COSTS[0] + ROUND_COST * engine.n_entries / m
    return once + steps * (per_entry * (n + m) + per_product * n * (n + 2 * m))


def setup_work(engine: Engine, first_steps: int) -> float:
    """Work of the matrices of batches and of the first state."""
    n, m = engine.n_features, engine.n_samples
    each = MATRIX_COST * n + SINGLE_STEP_COST * first_steps
    return each * n * (n + 2 * m)


def node_work(engine: Engine) -> float:
    """Expected minimum work of a node of a tree on large data."""
    once, per_entry, per_product = ITERATION_COSTS
    per_feature = engine.columns.n_columns / engine.n_features
    n_columns = per_feature * min(engine.n_features, NODE_FEATURES)
    n_samples = NODE_FRACTION * engine.n_samples
    per_iteration = once + n_columns * n_samples * (
        per_entry + per_product * min(n_columns, n_samples)
    )
    per_round = ROUND_COST * engine.n_entries
    return NODE_ITERATIONS * per_iteration + NODE_ROUNDS * per_round
