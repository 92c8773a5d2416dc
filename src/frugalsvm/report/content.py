"""The content of a report as plain values, which ``page`` renders.

All sections except the verdict and the features are optional. Texts are plain text;
the page escapes them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..checker import Statement
from ..estimators import FrugalPath, NearOptimal, ScoredPath, one_standard_error
from ..problem import Certificate
from ..run import relative_gap
from ..solving import Result
from .held_out import CrossValidation, ScoreThreshold

# The kinds of columns that features come from.
NUMBER, CATEGORY, MISSING = "number", "category", "missing"


@dataclass(frozen=True)
class Verdict:
    """The result of a fit, and its bound.

    Attributes
    ----------
    n_selected, n_available : int
        Features with a weight, and features to choose from.
    objective, lower_bound : float
        Of the problem that selected the features.
    status : str
        How the run ended, as in :class:`~frugalsvm.Status`.
    C : float
        Weight of the loss.
    max_features : int or None
        The budget, None for no limit.
    max_cost : float or None
        The budget of costs, None for none.
    seconds : float or None
        Time of the fit.
    chosen_by : str
        How feature limit and C were chosen: "set by the user", or "chosen by
        cross-validation (one-standard-error rule)".
    class_weight : str
        How much the classes count, if they count differently.
    constant : str
        The fault of a model that predicts one class for all training rows, and its
        remedies; empty for other models.
    signs : str
        The weights whose sign was given, if there are any.
    included : tuple of str
        Features that every choice has to include.
    """

    n_selected: int
    n_available: int
    objective: float
    lower_bound: float
    status: str
    C: float
    max_features: int | None = None
    max_cost: float | None = None
    seconds: float | None = None
    chosen_by: str = ""
    class_weight: str = ""
    constant: str = ""
    signs: str = ""
    included: tuple[str, ...] = ()

    @property
    def gap(self) -> float:
        """Relative gap between objective and bound."""
        return relative_gap(self.objective, self.lower_bound)


@dataclass(frozen=True)
class SelectedFeature:
    """A feature with a weight.

    Attributes
    ----------
    name : str
    weight : float
        Score change per unit, as measured. Positive scores mean the second class.
    standardised : float
        Score change per standard deviation.
    mean, scale : float or None
        Mean and standard deviation in the training data; the scale of a category is
        that of its column.
    unit : str or None
        Measuring unit.
    kind : str
        ``"number"``; or, for a column of zeros and ones, ``"category"`` if it is made
        from a value of a categorical column, ``"missing"`` if from gaps of a number.
    column, category : str or None
        The categorical column and the value, if it is one.
    folds_selecting : int or None
        Number of folds of the cross-validation that also selected it.
    group : str or None
        The name of the feature, if it has several columns and this is one of them.
    """

    name: str
    weight: float
    standardised: float
    mean: float | None = None
    scale: float | None = None
    unit: str | None = None
    kind: str = NUMBER
    column: str | None = None
    category: str | None = None
    folds_selecting: int | None = None
    group: str | None = None


@dataclass(frozen=True)
class BudgetPath:
    """How the result depends on the number of features.

    Attributes
    ----------
    budgets : ndarray of int
        In increasing order.
    chosen : int or None
        The budget of the model.
    objectives, lower_bounds : ndarray or None
        On all data.
    scores, errors : ndarray or None
        Mean cross-validated scores and their standard errors.
    score_name : str
    threshold : float or None
        Best mean score less one standard error, if that rule chose the budget.
    """

    budgets: np.ndarray
    chosen: int | None = None
    objectives: np.ndarray | None = None
    lower_bounds: np.ndarray | None = None
    scores: np.ndarray | None = None
    errors: np.ndarray | None = None
    score_name: str = "accuracy"
    threshold: float | None = None

    @property
    def chosen_score(self) -> float | None:
        """The score of the chosen budget; None if it is not known."""
        if self.scores is None or self.chosen not in self.budgets:
            return None
        score = float(self.scores[self.budgets.tolist().index(self.chosen)])
        return score if math.isfinite(score) else None


@dataclass(frozen=True)
class FeatureAlternatives:
    """The role of a feature among all models that are about as good.

    Attributes
    ----------
    name : str
    role : str
        ``"indispensable"``, ``"replaceable"`` or ``"in all found"``, see
        :class:`~frugalsvm.estimators.FeatureRole`.
    n_models : int
        Models that use it.
    replaced_by : tuple of str
        Features that replace it, the most frequent first.
    """

    name: str
    role: str
    n_models: int
    replaced_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class AlternativesSummary:
    """Other choices of features that are about as good.

    Attributes
    ----------
    tolerance : float
        0.01 is 1 % above the best objective.
    complete_up_to : float
        The tolerance up to which it is proved that no choice is missing.
    n_models : int
    roles : tuple of FeatureAlternatives
        One for each feature that some model uses.
    status : str
        Why an incomplete search ended: ``"time limit"`` and the like.
    n_exchanges : int
        Number of exchanges of single features of the best model that were tried.
    """

    tolerance: float
    complete_up_to: float
    n_models: int
    roles: tuple[FeatureAlternatives, ...]
    status: str = ""
    n_exchanges: int = 0

    @property
    def complete(self) -> bool:
        """Whether it is proved that no choice within the tolerance is missing."""
        return self.complete_up_to >= self.tolerance


@dataclass(frozen=True)
class ProgressCurve:
    """Best objective and lower bound over time.

    Attributes
    ----------
    seconds, objectives, lower_bounds : ndarray
        The history of a run.
    """

    seconds: np.ndarray
    objectives: np.ndarray
    lower_bounds: np.ndarray


@dataclass(frozen=True)
class CertificateSummary:
    """A proof that others can check.

    Attributes
    ----------
    fingerprint : str
        SHA-256 of the data as they were fitted.
    checksum : str
        SHA-256 of the certificate's content.
    statement : str
        The problem that the proof is about, as the checker prints it.
    objective, lower_bound : float
        The optimum is proved to lie between the two.
    n_leaves, n_fixings : int
        Size of the proof.
    file : str or None
        Name of the file, None if it was not saved.
    command : str or None
        How to check it.
    """

    fingerprint: str
    checksum: str
    statement: str
    objective: float
    lower_bound: float
    n_leaves: int = 0
    n_fixings: int = 0
    file: str | None = None
    command: str | None = None

    @property
    def gap(self) -> float:
        """Relative gap between objective and bound."""
        return relative_gap(self.objective, self.lower_bound)


@dataclass(frozen=True)
class DataWarning:
    """Something about the data that a reader should know.

    Attributes
    ----------
    kind : str
        ``"constant"``, ``"duplicate"``, ``"leak"``, ``"id"``, ``"imbalance"``,
        ``"scales"`` or ``"few"``.
    text : str
        A sentence or two.
    columns : tuple of str
        The columns it is about; none if it is about the table.
    """

    kind: str
    text: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class DataSummary:
    """How a table was read.

    Attributes
    ----------
    n_rows, n_columns : int
        Of the table as it was read; the target is one of the columns.
    target : str
    counts : tuple of two int
        Rows of the first and of the second class.
    source : str or None
        Name of the file.
    dropped : tuple of (column, reason)
    encoded : tuple of (column, n_categories)
        Categorical columns, each value of which became a feature.
    imputed : tuple of (column, n_values)
        Columns with imputed missing values.
    imputation : str or None
        How: "median".
    standardised : bool
    warnings : tuple of DataWarning or None
        None if the table was not checked.
    n_compared : int or None
        Number of sampled rows in which columns were compared; None for all rows.
    """

    n_rows: int
    n_columns: int
    target: str
    counts: tuple[int, int]
    source: str | None = None
    dropped: tuple[tuple[str, str], ...] = ()
    encoded: tuple[tuple[str, int], ...] = ()
    imputed: tuple[tuple[str, int], ...] = ()
    imputation: str | None = None
    standardised: bool = True
    warnings: tuple[DataWarning, ...] | None = None
    n_compared: int | None = None


@dataclass(frozen=True)
class Reproduction:
    """How to reproduce the model.

    Attributes
    ----------
    command : str or None
        The exact command line.
    versions : mapping from names to versions
    seed : int or None
    platform : str or None
    """

    command: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None
    platform: str | None = None


@dataclass(frozen=True)
class Report:
    """Everything that a page shows.

    Attributes
    ----------
    title : str
    classes : tuple of two str
        The labels; positive scores mean the second one.
    verdict : Verdict
    features : tuple of SelectedFeature
        The page sorts them by their standardised weights.
    intercept : float
        Of the score in the units of the features as measured.
    created : str or None
        Date and time, as shown.
    validation, path, alternatives, progress, certificate, data, reproduction
        Sections; None omits one.
    level_zero : str
        The weight of each column of categories that is shown as zero, "smallest" or
        "mean"; empty if weights are shown as fitted.
    threshold : ScoreThreshold or None
        Scores above it, instead of positive ones, mean the second class.
    remarks : tuple of str
        Warnings about the run, such as that it was interrupted.
    left_out : tuple of str
        Parts missing in the report, or not checked, and the reasons.
    split_categories : bool or None
        Whether each value of a categorical column counts as a feature; None if that is
        not known.
    """

    title: str
    classes: tuple[str, str]
    verdict: Verdict
    features: tuple[SelectedFeature, ...]
    intercept: float
    created: str | None = None
    validation: CrossValidation | None = None
    path: BudgetPath | None = None
    alternatives: AlternativesSummary | None = None
    progress: ProgressCurve | None = None
    certificate: CertificateSummary | None = None
    data: DataSummary | None = None
    reproduction: Reproduction | None = None
    level_zero: str = ""
    threshold: ScoreThreshold | None = None
    remarks: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    split_categories: bool | None = None

    def __post_init__(self) -> None:
        if len(self.classes) != 2:
            raise ValueError(f"a report must have two classes, got {self.classes!r}.")
        for name, fields in (
            ("progress", ("seconds", "objectives", "lower_bounds")),
            ("path", ("budgets", "objectives", "lower_bounds", "scores", "errors")),
        ):
            arrays = {f: getattr(getattr(self, name), f, None) for f in fields}
            lengths = {f: len(v) for f, v in arrays.items() if v is not None}
            if len(set(lengths.values())) > 1:
                raise ValueError(
                    f"the arrays of {name} must have the same length, got {lengths}."
                )


# --- Sections of a report from the package's results ----------------------------------


def verdict_of(
    result: Result,
    *,
    C: float,
    max_features: int | None = None,
    max_cost: float | None = None,
    chosen_by: str = "",
    class_weight: str = "",
    constant: str = "",
    signs: str = "",
    included: tuple[str, ...] = (),
) -> Verdict:
    """The verdict on the result of a fit."""
    return Verdict(
        n_selected=int(result.selected.size),
        n_available=result.n_features,
        objective=result.objective,
        lower_bound=result.lower_bound,
        status=str(result.status),
        C=C,
        max_features=max_features,
        max_cost=max_cost,
        seconds=result.seconds,
        chosen_by=chosen_by,
        class_weight=class_weight,
        constant=constant,
        signs=signs,
        included=included,
    )


def progress_of(result: Result) -> ProgressCurve | None:
    """The history of a run; None if it is too short to plot."""
    entries = np.array(result.history, dtype=np.float64).reshape(-1, 3)
    entries = entries[np.isfinite(entries).all(axis=1)]
    if entries.shape[0] < 2:
        return None
    return ProgressCurve(entries[:, 0], entries[:, 1], entries[:, 2])


def path_of(
    path: FrugalPath,
    *,
    chosen: int | None = None,
    result: Result | None = None,
    row: int = 0,
) -> BudgetPath:
    """Objectives and bounds along budgets, for one C.

    Parameters
    ----------
    path : FrugalPath
    chosen : int, default=None
        The budget of the model.
    result : Result, default=None
        Result of a fit with this budget, the same data and the same C. Its objective
        also holds for larger budgets, and its bound for smaller ones.
    row : int, default=0
        Which C of the path.

    Returns
    -------
    BudgetPath
    """
    budgets = path.max_features
    objectives, bounds = path.objectives[row], path.lower_bounds[row]
    if result is not None and chosen is not None:
        better = np.minimum(objectives, result.objective)
        objectives = np.where(budgets >= chosen, better, objectives)
        higher = np.maximum(bounds, result.lower_bound)
        bounds = np.where(budgets <= chosen, higher, bounds)
    return BudgetPath(
        budgets=budgets, chosen=chosen, objectives=objectives, lower_bounds=bounds
    )


def scored_path_of(
    path: ScoredPath, *, score_name: str = "accuracy", one_se: bool = True
) -> BudgetPath:
    """Scores along budgets at the chosen C.

    With ``one_se``, the threshold is that of the one-standard-error rule: the best mean
    score over all budgets and C, less its standard error.
    """
    row, column = path.best
    threshold = None
    if one_se:
        threshold = one_standard_error(path.score_mean, path.score_se)
    return BudgetPath(
        budgets=path.max_features,
        chosen=int(path.max_features[column]),
        objectives=path.objectives[row],
        lower_bounds=path.lower_bounds[row],
        scores=path.score_mean[row],
        errors=path.score_se[row],
        score_name=score_name,
        threshold=threshold,
    )


def alternatives_of(near_optimal: NearOptimal) -> AlternativesSummary:
    """The roles of features among the models that are about as good."""
    return AlternativesSummary(
        tolerance=near_optimal.tolerance,
        complete_up_to=near_optimal.complete_up_to,
        n_models=len(near_optimal),
        roles=tuple(
            FeatureAlternatives(
                role.name, role.role, role.n_models, tuple(role.replaced_by)
            )
            for role in near_optimal.roles
            if role.n_models
        ),
        status=near_optimal.status,
        n_exchanges=near_optimal.n_exchanges,
    )


def certificate_of(
    certificate: Certificate, *, file: str | None = None, command: str | None = None
) -> CertificateSummary:
    """The claims of a certificate, as the checker prints them."""
    arrays = certificate.arrays
    return CertificateSummary(
        fingerprint=str(arrays["fingerprint"]),
        checksum=str(arrays["checksum"]),
        statement=str(Statement.of(arrays)),
        objective=float(arrays["objective"]),
        lower_bound=float(arrays["lower_bound"]),
        n_leaves=int((arrays["point"] >= 0).sum()),
        n_fixings=int(arrays["fixing"].size),
        file=file,
        command=command,
    )
