"""A case of the benchmark scale as JSON, computed in a process of its own.

Prints one line of JSON: processor seconds, memory, objective and gap.
"""

import json
import sys
import sysconfig
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.svm import LinearSVC

from .feature_selectors import bisect
from .timing import warm_up

# Weight of the loss, unless a case has its own.
WEIGHT = 1.0
# Rows generated at a time.
PIECE = 50_000
# Lines per chunk of the standard library, and the modules of the positive class.
LINES = 12
CONCURRENT = (
    "asyncio",
    "concurrent",
    "multiprocessing",
    "threading.py",
    "queue.py",
    "selectors.py",
    "socket.py",
    "socketserver.py",
    "subprocess.py",
)
EXCLUDED = ("site-packages", "dist-packages", "test", "idlelib", "lib2to3", "encodings")


def memory(name: str) -> float:
    """A line of the status of the process, in MB: VmRSS, or VmHWM for its peak."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"no {name} in /proc/self/status")


def forget_peak() -> None:
    """Reset the peak to the present memory, so that data generation does not count."""
    Path("/proc/self/clear_refs").write_text("5")


def _pieces(m: int) -> Iterator[tuple[slice, int]]:
    """Rows that are generated at a time, and their number."""
    for start in range(0, m, PIECE):
        stop = min(start + PIECE, m)
        yield slice(start, stop), stop - start


def tall(m: int, n: int, is_mixed: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Ten factors behind all features, fifteen true ones, noise, flipped labels."""
    rng = np.random.default_rng(0)
    true = rng.choice(n, 15, replace=False)
    w = rng.choice([-1, 1], 15) * rng.uniform(0.2, 1.0, 15)
    X, y = np.empty((m, n)), np.empty(m)
    third = n // 3
    factors = 0.5 * rng.normal(size=(n, 10))
    for rows, size in _pieces(m):
        Z = rng.normal(size=(size, 10)) @ factors.T + rng.normal(size=(size, n))
        if is_mixed:
            Z[:, :third] = Z[:, :third] > 0.8
            Z[:, third : 2 * third] = np.floor(np.exp(0.5 * Z[:, third : 2 * third]))
        X[rows] = Z
        score = Z[:, true] @ w + rng.normal(size=size)
        y[rows] = np.where(score > (2.2 if is_mixed else 0), 1.0, -1.0)
        if not is_mixed:
            y[rows] *= np.where(rng.random(size) < 0.05, -1.0, 1.0)
    return X, y


def mixed(m: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Binary features, counts and normal ones, standardised; classes that differ."""
    X, y = tall(m, n, is_mixed=True)
    X -= X.mean(axis=0)
    X /= X.std(axis=0)
    return X, y


def block_data(m: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Correlated features in fives; all are true, each 15 % less than another."""
    rng = np.random.default_rng(0)
    w = rng.choice([-1, 1], n) * 0.85 ** rng.permutation(n) * 0.8
    X, y = np.empty((m, n)), np.empty(m)
    for rows, size in _pieces(m):
        common = np.repeat(rng.normal(size=(size, n // 5)), 5, axis=1)
        single = rng.normal(size=(size, n))
        X[rows] = np.sqrt(0.7) * common + np.sqrt(0.3) * single
        score = X[rows] @ w + 0.7 * rng.normal(size=size)
        y[rows] = np.where(score > 0, 1.0, -1.0)
    return X, y


def wide(m: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Independent features in single precision, twenty of them true."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, n), dtype=np.float32)
    true = rng.choice(n, 20, replace=False)
    score = X[:, true] @ rng.choice([-1.0, 1.0], 20) + rng.normal(size=m)
    return X, np.where(score > 0, 1.0, -1.0)


def text(m: int, n: int, density: float) -> tuple[Any, np.ndarray]:
    """Words whose frequency falls with their rank, in rows of unit length."""
    rng = np.random.default_rng(0)
    count = int(m * n * density)
    shares = 1.0 / (np.arange(n) + 10.0)
    columns = rng.choice(n, count, p=shares / shares.sum())
    entries = (np.ones(count), (rng.integers(0, m, count), columns))
    X = sp.csr_matrix(entries, shape=(m, n))
    X.data = 1.0 + np.log(X.data)
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = sp.csr_matrix(sp.diags(1.0 / np.maximum(lengths, 1e-12)) @ X)
    true = rng.choice(300, 20, replace=False)
    score = X[:, true] @ (rng.choice([-1, 1], 20) * rng.uniform(2, 6, 20))
    score = score - np.median(score) + 0.3 * rng.normal(size=m)
    return X, np.where(score > 0, 1.0, -1.0)


def library() -> tuple[Any, np.ndarray]:
    """TF-IDF of the sources of the standard library; the target is concurrency."""
    root = Path(sysconfig.get_paths()["stdlib"])
    pieces, labels = [], []
    for path in sorted(root.rglob("*.py")):
        names = path.relative_to(root).parts
        if set(names) & set(EXCLUDED):
            continue
        lines = path.read_text(errors="ignore").splitlines()
        chunks = ["\n".join(lines[t : t + LINES]) for t in range(0, len(lines), LINES)]
        chunks = [chunk for chunk in chunks if chunk.strip()]
        pieces += chunks
        labels += [1.0 if names[0] in CONCURRENT else -1.0] * len(chunks)
    vectorizer = TfidfVectorizer(token_pattern=r"[A-Za-z_]{2,}", min_df=2)
    return vectorizer.fit_transform(pieces), np.array(labels)


def make(case: dict[str, Any]) -> tuple[Any, np.ndarray]:
    """Data of a case."""
    makers = {"tall": tall, "mixed": mixed, "blocks": block_data, "wide": wide}
    if case["kind"] == "text":
        return text(case["m"], case["n"], case["density"])
    if case["kind"] == "library":
        return library()
    return makers[case["kind"]](case["m"], case["n"])


def frugal(X: Any, y: np.ndarray, B: int, C: float, **options: Any) -> dict[str, Any]:
    """FrugalSVC with its defaults, or other options."""
    from frugalsvm import FrugalSVC

    model = FrugalSVC(B, C, random_state=0, n_jobs=1, **options).fit(X, y)
    values = {"objective": model.objective_, "gap": model.gap_}
    return {"selected": model.get_support(indices=True), **values}


def longer(X: Any, y: np.ndarray, B: int, C: float) -> dict[str, Any]:
    """A search on five times as many samples, with much more patience."""
    from frugalsvm import Problem, solve
    from frugalsvm.search.parameters import DEFAULTS, SearchParameters

    parameters = SearchParameters(n_drawn=5 * DEFAULTS.n_drawn)
    problem = Problem(X, y, C=C, max_features=B).with_parameters(parameters)
    patience: dict[str, Any] = {"method_options": {"patience": 2500}}
    result = solve(problem, method="swap", random_state=0, n_jobs=1, **patience)
    values = {"objective": result.objective, "gap": result.gap}
    return {"selected": result.selected, **values}


def rfe(X: Any, y: np.ndarray, B: int, C: float) -> dict[str, Any]:
    """Recursive elimination, a tenth of the features at a time."""
    selector = RFE(_linear(X, C), n_features_to_select=B, step=0.1).fit(X, y)
    return {"selected": np.flatnonzero(selector.support_)}


def select(X: Any, y: np.ndarray, B: int, C: float) -> dict[str, Any]:
    """The largest weights of one model."""
    selector = SelectFromModel(_linear(X, C), max_features=B, threshold=-np.inf)
    return {"selected": selector.fit(X, y).get_support(indices=True)}


def linear(X: Any, y: np.ndarray, B: int, C: float) -> dict[str, Any]:
    """The unit of time: one model with all features."""
    _linear(X, C).fit(X, y)
    return {}


def _linear(X: Any, C: float) -> LinearSVC:
    return LinearSVC(C=C, dual=X.shape[1] > X.shape[0], random_state=0)


def l1(X: Any, y: np.ndarray, B: int, C: float) -> dict[str, Any]:
    """Bisection on the C of the L1 norm, until B features are left.

    If there is no such C, the largest weights where a few more are left.
    """

    def weights(C: float) -> np.ndarray:
        model = LinearSVC(C=C, penalty="l1", dual=False, random_state=0)
        return np.abs(model.fit(X, y).coef_[0])

    path = bisect(weights, B, 1e-7, 1.0, 15)
    enough = (values for values in path if np.count_nonzero(values) >= B)
    best = min(enough, key=np.count_nonzero, default=np.zeros(X.shape[1]))
    return {"selected": np.sort(np.argsort(-best)[:B])}


def clarabel(X: Any, y: np.ndarray, B: int, C: float) -> dict[str, Any]:
    """The relaxation DSCoP, in the form that suits the shape."""
    from .kernels import dual_socp, primal_socp

    build = primal_socp if X.shape[0] > X.shape[1] else dual_socp
    return {"bound": abs(build(X, y, B, C).solve().obj_val)}


METHODS = {
    "frugal": frugal,
    "fast": lambda X, y, B, C: frugal(X, y, B, C, effort="fast"),
    "longer": longer,
    "linear": linear,
    "RFE": rfe,
    "L1": l1,
    "select": select,
    "Clarabel": clarabel,
}


def refit_objective(X: Any, y: np.ndarray, selected: np.ndarray, C: float) -> float:
    """Objective of the SVM on some features."""
    from frugalsvm import Problem, solve

    part = X[:, selected]
    part = part.toarray() if sp.issparse(part) else np.asarray(part, dtype=float)
    return solve(Problem(part, y, C=C), method="relax-and-round").objective


def limit_processor(seconds: float) -> None:
    """Let the system end this process after some processor seconds."""
    import resource

    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    limit = -1 if seconds < 0 else int(np.ceil(seconds))
    resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))


def run(case: dict[str, Any]) -> dict[str, Any]:
    """Processor seconds, memory, objective and gap of a case."""
    C = case.get("C", WEIGHT)
    warnings.simplefilter("ignore")
    X, y = make(case)
    size = X.data.nbytes + X.indices.nbytes if sp.issparse(X) else X.nbytes
    if case["method"] in ("frugal", "fast", "longer"):
        # Kernels are loaded before the clock starts.
        warm_up()
    forget_peak()
    before = memory("VmRSS")
    started = time.process_time()
    limit_processor(started + case["limit"])
    outcome = METHODS[case["method"]](X, y, case["B"], C)
    row = {
        "seconds": time.process_time() - started,
        "peak": memory("VmHWM"),
        "fit": memory("VmHWM") - before,
        "X": size / 2**20,
        "entries": X.nnz if sp.issparse(X) else X.size,
    }
    limit_processor(-1)
    selected = outcome.pop("selected", None)
    if selected is not None and "objective" not in outcome:
        outcome["objective"] = refit_objective(X, y, selected, C)
    return row | {name: float(value) for name, value in outcome.items()}


if __name__ == "__main__":
    print(json.dumps(run(json.loads(sys.argv[1]))))
