"""stability_selection: how often half-samples select a feature."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state, indexable
from sklearn.utils.parallel import Parallel, delayed

from ..run.threads import Shared, sent_once
from ..run.words import N_SHOWN, escaped, quote
from .feature_groups import FeatureGroups
from .feature_names import FeatureNames
from .fitted import open_fitted
from .parameters import integer


@dataclass(frozen=True, repr=False)
class StabilitySelection:
    """Features selected by half-samples of the data.

    Attributes
    ----------
    masks : ndarray of bool of shape (2 n_pairs, n_features)
        Features selected by each half-sample; rows 2k and 2k + 1 belong to
        complementary halves.
    feature_names : list of str
        Of columns, or of groups of them.
    """

    masks: np.ndarray
    feature_names: list[str]

    @property
    def frequencies(self) -> np.ndarray:
        """Fraction of the half-samples that selected each feature."""
        return self.masks.mean(axis=0)

    @property
    def simultaneous_frequencies(self) -> np.ndarray:
        """Fraction of the pairs in which both halves selected each feature."""
        return (self.masks[0::2] & self.masks[1::2]).mean(axis=0)

    @property
    def n_pairs(self) -> int:
        """Complementary pairs of half-samples."""
        return len(self.masks) // 2

    @property
    def stability(self) -> float:
        """Agreement of the supports; 1 if they are all the same.

        The measure of Nogueira, Sechidis and Brown (2018): about 0 for features
        selected at random; NaN if every half-sample selects all features, or none.
        """
        n_runs = len(self.masks)
        part = self.masks.mean()
        if not 0 < part < 1:
            return float("nan")
        f = self.frequencies
        spread = (f * (1 - f)).mean() * n_runs / (n_runs - 1)
        return float(1 - spread / (part * (1 - part)))

    def stable(self, threshold: float = 0.6) -> list[str]:
        """Features selected by at least this fraction of the half-samples.

        Parameters
        ----------
        threshold : float, default=0.6

        Returns
        -------
        list of str
            The most frequent first.
        """
        _check_threshold(threshold, 0.0)
        return [
            self.feature_names[j]
            for j in self.order()
            if self.frequencies[j] >= threshold
        ]

    def expected_low(self, threshold: float = 0.6) -> float:
        """Bound on the expected number of features that are stable by chance.

        Theorem 1 of Shah and Samworth (2013), which makes no assumptions: among the
        features that a half-sample selects no more often than the average feature (q /
        p if q of p features are selected), at most q^2 / (p (2 threshold - 1)) reach
        the threshold in expectation. q is estimated from the runs.

        Parameters
        ----------
        threshold : float, default=0.6
            Above one half.

        Returns
        -------
        float
        """
        _check_threshold(threshold, 0.5)
        n_selected = self.masks.sum(axis=1).mean()
        return float(n_selected**2 / (self.masks.shape[1] * (2 * threshold - 1)))

    def order(self) -> np.ndarray:
        """Features, the most frequent first."""
        keys = self.frequencies + 1e-6 * self.simultaneous_frequencies
        return np.argsort(-keys, kind="stable")

    def to_frame(self) -> Any:
        """Frequencies as a DataFrame, the most frequent feature first."""
        from .fitted import pandas

        order = self.order()
        names = [self.feature_names[j] for j in order]
        return pandas().DataFrame(
            {
                "frequency": self.frequencies[order],
                "simultaneous_frequency": self.simultaneous_frequencies[order],
            },
            index=pandas().Index(names, name="feature"),
        )

    def __repr__(self) -> str:
        return (
            f"StabilitySelection({self.n_pairs} pairs, {self.masks.shape[1]} features, "
            f"{self.masks.sum(axis=1).mean():.3g} selected on average, "
            f"stability={self.stability:.2f})"
        )

    def __str__(self) -> str:
        width = max((len(name) for name, _ in self._shown()), default=0)
        rows = [f"{name:<{width}} {100 * f:5.0f} %" for name, f in self._shown()]
        return "\n".join([repr(self), *rows])

    def _repr_html_(self) -> str:
        from ..report import notebook

        rows = [
            [escaped(name), f"{100 * f:.0f} %", notebook.bar(f, 1.0)]
            for name, f in self._shown()
        ]
        n_more = int((self.frequencies > 0).sum()) - len(rows)
        more = [("", f"and {n_more:,} more that were ever selected")] * (n_more > 0)
        facts = [*more, ("stability", f"{self.stability:.2f}")]
        return notebook.box(
            f"selected by {2 * self.n_pairs} half-samples",
            notebook.table(["feature", "frequency", ""], rows, "lrl"),
            notebook.facts(facts),
        )

    def _shown(self) -> list[tuple[str, float]]:
        """The most frequently selected features with their frequencies."""
        ever = [j for j in self.order() if self.frequencies[j] > 0]
        return [
            (self.feature_names[j], float(self.frequencies[j])) for j in ever[:N_SHOWN]
        ]


def stability_selection(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    n_pairs: int = 25,
    feature_groups: Any = None,
    signs: Any = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    verbose: int = 0,
) -> StabilitySelection:
    """Fit an estimator to complementary half-samples and count selected features.

    A feature that is selected on every half of the data is reliable; one that is
    selected on only some halves has substitutes, or is noise. Half-samples are
    stratified by class. Each pair splits all samples in two; one sample is omitted if a
    class has an odd number of them.

    Parameters
    ----------
    estimator : estimator
        With ``get_support`` or ``coef_``: :class:`~frugalsvm.FrugalSVC`, any linear
        classifier, any selector; or a pipeline that ends with one and whose other steps
        keep, select or encode columns, so that scaling happens inside the half-samples.
        A column that is encoded counts as selected if any column made of it is. The
        estimator is cloned. Any ``random_state`` in it that is None is set from the one
        given here.
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Labels, with at least two samples in each class.
    n_pairs : int, default=25
        Pairs of half-samples, so that ``2 * n_pairs`` models are fitted.
    feature_groups, signs : default=None
        As in :class:`~frugalsvm.FrugalSVC`, about the columns of X: the last step is
        given them if it has parameters of these names, and groups are counted instead
        of columns. Columns must keep their positions until then, or be given by name.
        By default, those of the estimator.
    n_jobs : int, default=None
        Processes, as in joblib. The result does not depend on it if the estimator is
        deterministic.
    random_state : int, RandomState or None, default=None
        Seed of the halves and of the estimators.
    verbose : int, default=0
        Passed to joblib.

    Returns
    -------
    StabilitySelection

    References
    ----------
    Meinshausen, N., and Bühlmann, P. (2010). Stability selection. Journal of the Royal
    Statistical Society B, 72, 417-473.

    Shah, R. D., and Samworth, R. J. (2013). Variable selection with error control:
    another look at stability selection. Journal of the Royal Statistical Society B,
    75, 55-80.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from frugalsvm import FrugalSVC, stability_selection
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler(), FrugalSVC(3, method="swap"))
    >>> selection = stability_selection(model, X, y, n_pairs=5, random_state=0)
    >>> selection.frequencies.shape
    (30,)
    """
    integer(1).check("n_pairs", n_pairs)
    X, y = indexable(X, y)
    estimator, taken = _with_parameters(
        clone(estimator), {"feature_groups": feature_groups, "signs": signs}
    )
    if "feature_groups" in taken and isinstance(feature_groups, str):
        # The names of encoded columns, which only that step sees.
        feature_groups = None
    features = FeatureGroups.of(FeatureNames.of(X), feature_groups, None, X)
    random = check_random_state(random_state)
    labels = np.asarray(y)
    halves = [half for _ in range(n_pairs) for half in _complementary(labels, random)]
    seeds = random.randint(2**31 - 1, size=len(halves))
    shared = Shared((X, y))
    with sent_once(shared):
        fits = Parallel(n_jobs=n_jobs, verbose=verbose)(
            delayed(_fit)(shared, (_seeded(clone(estimator), int(seed)), half))
            for half, seed in zip(halves, seeds, strict=True)
        )
    if not features.are_columns:
        numbers = np.arange(features.n_features)
        masks = [np.isin(numbers, features.features_of(mask)) for mask, _, _ in fits]
        return StabilitySelection(np.array(masks), features.names)
    if fits[0][2] is not None:
        # A half-sample that lacks a category may have other groups.
        groups = [selected or {} for _, _, selected in fits]
        names = list(dict.fromkeys(name for selected in groups for name in selected))
        rows = [[selected.get(name, False) for name in names] for selected in groups]
        return StabilitySelection(np.array(rows), names)
    return StabilitySelection(np.array([mask for mask, _, _ in fits]), fits[0][1])


def _with_parameters(
    estimator: Any, parameters: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Set parameters of the last step of an estimator; return those that it has."""
    last, prefix = estimator, ""
    while hasattr(last, "steps"):
        name, last = last.steps[-1]
        prefix += f"{name}__"
    accepted = last.get_params(deep=False)
    if parameters["signs"] is not None and "signs" not in accepted:
        raise ValueError(
            f"signs needs an estimator that takes them, such as FrugalSVC, but "
            f"{type(last).__name__} does not."
        )
    taken = {
        name: value
        for name, value in parameters.items()
        if value is not None and name in accepted
    }
    if taken:
        estimator.set_params(**{prefix + name: taken[name] for name in taken})
    return estimator, taken


def _complementary(
    labels: np.ndarray, random: np.random.RandomState
) -> Iterator[np.ndarray]:
    """Two disjoint halves of the samples, with the same class counts."""
    classes, codes = np.unique(labels, return_inverse=True)
    parts = []
    for code, label in enumerate(classes):
        members = random.permutation(np.flatnonzero(codes == code))
        if members.size < 2:
            raise ValueError(
                f"class {quote(label)} has one sample, which cannot be in both halves; "
                "every class needs at least two."
            )
        parts.append(members)
    for start in (0, 1):
        halves = [p[start * (p.size // 2) : (start + 1) * (p.size // 2)] for p in parts]
        yield np.sort(np.concatenate(halves))


def _fit(
    shared: Shared[tuple[Any, Any]], task: tuple[Any, np.ndarray]
) -> tuple[np.ndarray, list[str], dict[Any, bool] | None]:
    """Mask of the selected columns, the names of all, and the groups in use."""
    (X, y), (estimator, half) = shared.value, task
    fitted = open_fitted(estimator.fit(_rows(X, half), _rows(y, half)))
    return fitted.column_support(), fitted.column_names, fitted.group_support()


def _rows(table: Any, rows: np.ndarray) -> Any:
    """Rows of a data frame, an array, a sparse matrix or a list."""
    if hasattr(table, "iloc"):
        return table.iloc[rows]
    return (table if hasattr(table, "shape") else np.asarray(table))[rows]


def _seeded(estimator: Any, seed: int) -> Any:
    """The estimator with a seed for every ``random_state`` that is None."""
    names = [
        name
        for name, value in sorted(estimator.get_params(deep=True).items())
        if name.split("__")[-1] == "random_state" and value is None
    ]
    return estimator.set_params(**dict.fromkeys(names, seed)) if names else estimator


def _check_threshold(threshold: float, low: float) -> None:
    is_number = isinstance(threshold, Real) and not isinstance(threshold, bool)
    if not (is_number and low < threshold <= 1):
        raise ValueError(
            f"threshold must be a number above {low:g} and at most 1, the fraction of "
            f"half-samples that select a feature, got {threshold!r}."
        )
