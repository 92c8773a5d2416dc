"""PortableModel: a linear classifier as plain numbers, and model.json.

Reading needs only NumPy. Nothing in a file is executed, and its form is fully checked
against the schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..problem import decimals_of, rounded, write_whole
from ..run import by_class, gap_words
from .calibration import Calibration
from .content import (
    Feature,
    Group,
    Label,
    Numbers,
    Proof,
    check_classes,
    check_features,
    check_groups,
    check_numbers,
    from_content,
    to_content,
)
from .origins import columns_and_gaps, takes_columns
from .schema import InvalidModel, parse, shown
from .statistics import Statistics
from .text import python_text, sql_text

if TYPE_CHECKING:
    from .scorecard import Scorecard


@dataclass(frozen=True, repr=False)
class PortableModel:
    """A linear classifier, stored as ``model.json``.

    Its score is ``intercept + sum of weight * (value - mean) / scale`` over its
    features, rounded to ``decimals``. With more than two classes, each has weights,
    an intercept and a score of its own, and the class with the largest score is
    predicted, the first one of several. Create a model with :meth:`from_estimator` or
    :meth:`load`.

    Attributes
    ----------
    features : tuple of Feature
        Those with a weight, in the order of the columns.
    intercept : float or tuple of float
        One for each of more than two classes.
    classes : tuple of labels
        Of two, a positive score means the second one; if there is a calibration, a
        probability above one half does, as in
        :class:`~sklearn.calibration.CalibratedClassifierCV`, unless there is a
        threshold.
    n_features_in : int
        Number of columns of the table that the model was fitted to.
    calibration : Sigmoid, Isotonic or None
        Turns scores into probabilities; only of two classes, as are signs and a
        threshold.
    proof : Proof or None
        Objective, bound, and the fingerprint of the certificate.
    metadata : dict of str
        Any other information.
    groups : tuple of Group
        Features that count as one, such as the categories of a column.
    signs : dict of str
        "+" or "-" for weights whose sign was given, by feature.
    threshold : float or None
        A score above it, rounded like a score, means the second class, whatever its
        probability.
    statistics : Statistics or None
        Statistics of the rows that the model was fitted to; see
        :meth:`with_statistics`.
    is_single : bool
        Whether it was fitted to numbers in single precision; its scores are rounded to
        fewer decimals.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from frugalsvm import FrugalSVC, PortableModel
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> fitted = make_pipeline(StandardScaler(), FrugalSVC(2, random_state=0)).fit(X, y)
    >>> model = PortableModel.from_estimator(fitted)
    >>> model.names
    ['worst perimeter', 'worst smoothness']
    >>> model == PortableModel.from_json(model.to_json())
    True
    """

    features: tuple[Feature, ...]
    intercept: Numbers
    classes: tuple[Label, ...]
    n_features_in: int
    calibration: Calibration | None = None
    proof: Proof | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    groups: tuple[Group, ...] = ()
    signs: Mapping[str, str] = field(default_factory=dict)
    threshold: float | None = None
    statistics: Statistics | None = None
    is_single: bool = False

    def __post_init__(self) -> None:
        check_features(self.features, self.n_features_in, takes_columns(self))
        check_groups(self.groups, self.signs, set(self.names))
        check_classes(self.classes)
        for feature in self.features:
            check_numbers(
                f"the weight of {shown(feature.name)}", feature.weight, self.n_scores
            )
        check_numbers("intercept", self.intercept, self.n_scores)
        needs_two = self.signs or self.threshold is not None or self.calibration
        if self.n_scores > 1 and needs_two:
            raise InvalidModel(
                "a calibration, a threshold and signs are for models of two classes, "
                f"but this one has {len(self.classes)}: leave them out."
            )
        if self.statistics is not None:
            self.statistics.check(self)

    # --- creating and reading ----------------------------------------------------

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        units: Mapping[str, str] | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> PortableModel:
        """Convert a fitted classifier.

        Parameters
        ----------
        estimator : fitted estimator
            :class:`~frugalsvm.FrugalSVC` or another linear classifier, alone or behind
            scalers, selectors, imputers and encoders of categories in a pipeline, found
            by a search, or, with two classes, calibrated with
            ``CalibratedClassifierCV(..., ensemble=False)``. With more than two it must
            predict the one with the largest score, like ``LinearSVC``.
        X, y : array-likes, default=None
            The samples that it was fitted to, for :meth:`with_statistics`.
        units : mapping from names to str, default=None
            Units of measurement of the features.
        metadata : mapping from str to str, default=None

        Returns
        -------
        PortableModel
        """
        from .pipeline import read_estimator

        model = read_estimator(estimator, dict(units or {}), dict(metadata or {}))
        return model if X is None and y is None else model.with_statistics(X, y)

    def with_statistics(self, X: Any, y: Any) -> PortableModel:
        """The model with statistics of the samples that it was fitted to.

        They are the ranges, bins and gaps of its features, the same of its scores, and
        the counts of classes. A scorecard is made from them. No samples are stored, and
        each bin and each end of a range stands for five of them or more.

        Parameters
        ----------
        X, y : array-likes
            At least ten samples; see :meth:`select` for X.

        Returns
        -------
        PortableModel
        """
        from .statistics import class_codes

        values, gaps = columns_and_gaps(self, X)
        return self.with_values(values, gaps, class_codes(self, y, len(values)))

    def with_values(
        self, values: np.ndarray, gaps: np.ndarray, codes: np.ndarray
    ) -> PortableModel:
        """The model with statistics of feature values; see ``Statistics.of``."""
        from .scorecard import n_changed

        statistics = Statistics.of(self, values, gaps, codes)
        if self.n_scores == 1 and self.features:
            statistics = replace(
                statistics, changed=n_changed(self, statistics, values)
            )
        return replace(self, statistics=statistics)

    @classmethod
    def from_json(cls, text: str | bytes) -> PortableModel:
        """Read text from :meth:`to_json`; raises InvalidModel if it is invalid."""
        return cls(**from_content(parse(text)))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> PortableModel:
        """Read a file from :meth:`save`; raises InvalidModel if it is invalid."""
        return cls.from_json(Path(path).read_bytes())

    def to_json(self) -> str:
        """The model as JSON text; numbers are written without any loss."""
        content = to_content(self)
        return json.dumps(content, indent=2, ensure_ascii=True, allow_nan=False) + "\n"

    def save(self, path: str | PathLike[str]) -> None:
        """Write ``model.json``."""
        text = self.to_json().encode("ascii")
        write_whole(Path(path), lambda file: file.write(text))

    # --- predicting --------------------------------------------------------------

    @property
    def names(self) -> list[str]:
        """Names of the features."""
        return [feature.name for feature in self.features]

    @property
    def n_scores(self) -> int:
        """1 for two classes, else their number."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    @property
    def coef(self) -> np.ndarray:
        """Weights as in scikit-learn: a row for each score, columns for features."""
        return self.column("weight").reshape(len(self.features), self.n_scores).T

    @property
    def intercepts(self) -> np.ndarray:
        """Intercepts as in scikit-learn: one for each score."""
        return np.atleast_1d(np.array(self.intercept, dtype=float))

    @property
    def decimals(self) -> int:
        """Decimals to which scores are rounded, in all exports, too."""
        return decimals_of(self.coef, self.intercepts, is_single=self.is_single)

    def column(self, name: str) -> np.ndarray:
        """An attribute of all features, e.g. ``scale``, as an array."""
        return np.array(
            [getattr(feature, name) for feature in self.features], dtype=float
        )

    def select(self, X: Any) -> np.ndarray:
        """The columns of the model's features, in their order.

        Missing values are imputed if the model was fitted so; otherwise they are an
        error. A model of a pipeline that encodes categories or imputes takes the table
        that the pipeline takes, as do the exports.

        Parameters
        ----------
        X : data frame, mapping or array
            Columns are selected by name if X has names. An array must have the columns
            of the table that the model was fitted to, or only those of its features.

        Returns
        -------
        ndarray of shape (n_samples, n_selected)
        """
        return columns_and_gaps(self, X)[0]

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of samples; see :meth:`select` for X.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        scores = self.scores(X)
        return scores[:, 0] if self.n_scores == 1 else scores

    def scores(self, X: Any) -> np.ndarray:
        """Scores of samples, in one column for two classes; see :meth:`select` for X.

        Returns
        -------
        ndarray of shape (n_samples, n_scores)
        """
        return self.scores_of(self.select(X))

    def scores_of(self, values: np.ndarray) -> np.ndarray:
        """Scores for the values of the features."""
        # Feature by feature, in the order of summation of the exported text.
        scores = np.tile(self.intercepts, (len(values), 1))
        with np.errstate(over="ignore", invalid="ignore"):
            for feature, column in zip(self.features, values.T, strict=True):
                scores += np.outer(
                    (column - feature.mean) / feature.scale, feature.weight
                )
            scores = self._rounded(scores)
        finite = np.isfinite(scores).all(axis=1)
        if not finite.all():
            raise ValueError(
                f"the score of row {int(finite.argmin()) + 1:,} overflows: its values "
                "are too large for this model."
            )
        return scores

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the two classes, one row per sample."""
        self.needs_two_classes("probabilities", "use decision_function for scores")
        if self.calibration is None:
            raise ValueError(
                "this model has scores but no probabilities, because it was not "
                "calibrated; create it from CalibratedClassifierCV(..., "
                "ensemble=False)."
            )
        positive = self.calibration.probability(self.decision_function(X))
        return np.column_stack([1.0 - positive, positive])

    def predict(self, X: Any) -> np.ndarray:
        """Labels of samples."""
        labels = np.array(self.classes)
        is_exact = all(
            type(label) is type(original) and label == original
            for label, original in zip(labels.tolist(), self.classes, strict=True)
        )
        if not is_exact:
            # NumPy would change labels.
            labels = np.array(self.classes, dtype=object)
        return labels[self.codes(self.scores(X))]

    def codes(self, scores: np.ndarray) -> np.ndarray:
        """Indices of the predicted classes, for the result of :meth:`scores`."""
        if self.n_scores > 1:
            return scores.argmax(axis=1)
        return self.are_positive(scores[:, 0]).astype(np.intp)

    def are_positive(self, scores: np.ndarray) -> np.ndarray:
        """Whether scores mean the second class."""
        if self.threshold is not None or self.calibration is None:
            return scores > self.limit
        return self.calibration.probability(scores) > 0.5

    @property
    def limit(self) -> float:
        """The threshold, rounded like a score; zero without one."""
        return float(self._rounded(self.threshold or 0.0))

    def _rounded(self, scores: Any) -> Any:
        return rounded(scores, self.coef, self.intercepts, is_single=self.is_single)

    def needs_two_classes(self, what: str, instead: str) -> None:
        """Raise ValueError for more than two classes, with what to do instead."""
        if len(self.classes) > 2:
            raise ValueError(
                f"{what} need a model of two classes, and this one has "
                f"{len(self.classes)}; {instead}, or fit one class against all others."
            )

    # --- conversions ------------------------------------------------------------

    def to_pipeline(self) -> Any:
        """A fitted scikit-learn pipeline of a scaler and a FrugalSVC.

        Its input is the model's features only, in the order of :attr:`names`, or the
        columns that a model with categories needs, which a first step encodes. If the
        model is calibrated, the pipeline is inside a fitted ``CalibratedClassifierCV``.

        Returns
        -------
        sklearn.pipeline.Pipeline or sklearn.calibration.CalibratedClassifierCV
        """
        from .pipeline import build_pipeline

        return build_pipeline(self)

    def to_python(self) -> str:
        """Python source code that predicts without any package.

        Returns
        -------
        str
            A module with ``decision(row)``, ``predict(row)`` and, if the model is
            calibrated, ``probability(row)``, for a row that maps names to numbers, or
            columns to values if there are categories. ``decision`` returns a list of
            scores for more than two classes. All return None if a value is missing and
            not imputed, or unknown to an encoder that makes it an error, or if a score
            overflows.
        """
        return python_text(self)

    def to_sql(self, what: str = "score", *, dialect: str = "ansi") -> str:
        """An SQL expression over columns named like the features.

        It is NULL if a value is missing (NULL, NaN or infinite) and not imputed, or
        unknown to an encoder that makes it an error. The score of more than two classes
        is a list of expressions for ``SELECT``, one for each class, named ``score_a``
        for class a.

        Parameters
        ----------
        what : {"score", "label", "probability"}, default="score"
            A model with isotonic calibration supports only the score.
        dialect : {"ansi", "mysql", "sqlserver"}, default="ansi"
            How names are quoted: ``"name"``, as in PostgreSQL, SQLite, DuckDB, Oracle
            and Snowflake, ```name``` or ``[name]``.

        Returns
        -------
        str
        """
        return sql_text(self, what, dialect)

    def to_onnx(self) -> Any:
        """An ONNX model, in double precision; needs the package onnx.

        Returns
        -------
        onnx.ModelProto
            Its input ``X`` has the model's features as columns, in the order of
            :attr:`names`; a model of a pipeline with encoders or imputers has an input
            for each column instead, of shape [N, 1]. Its outputs are ``label``,
            ``score`` (of shape [N], or [N, K] for more than two classes) and, with a
            sigmoid calibration, ``probability``. If a feature is NaN or infinite and
            not imputed, or if a score overflows, the scores are NaN and the label is
            none of the classes: an empty string, -2^63 for integers, or NaN for floats.
            Booleans become 0 and 1.

        Raises
        ------
        ValueError
            If classes are integers of more than 64 bits.
        """
        from .onnx import build_onnx

        return build_onnx(self)

    def to_scorecard(
        self,
        X: Any = None,
        y: Any = None,
        *,
        points: int = 100,
        bins: int = 6,
        recalibrate: bool = False,
    ) -> Scorecard:
        """Integer points for ranges of each feature, to add up by hand.

        It is made from the model and its statistics, whatever X and y are.

        Parameters
        ----------
        X, y : array-likes, default=None
            Samples on which the card is evaluated, beside the model: accuracy, and
            observed shares of the classes. A model without statistics needs them, since
            its card is made from statistics of these samples.
        points : int, default=100
            Approximate maximum total of points.
        bins : int, default=6
            Maximum number of ranges per feature; there are ten at most.
        recalibrate : bool, default=False
            Whether probabilities are learned from X and y.

        Returns
        -------
        Scorecard
        """
        from .scorecard import build_scorecard

        self.needs_two_classes("scorecards", "hand on the model itself")
        return build_scorecard(
            self, X, y, points=points, bins=bins, recalibrate=recalibrate
        )

    def to_frame(self) -> Any:
        """Features as a DataFrame, the largest weight first.

        With more than two classes there are columns ``weight_c`` and
        ``weight_per_unit_c`` for each class c.
        """
        from ..estimators import pandas

        order = self._by_weight()
        features = [self.features[j] for j in order]
        weights, scales = self.coef[:, order], self.column("scale")[order]
        columns: dict[str, Any] = {}
        per_unit = weights / scales
        for name, rows in (("weight", weights), ("weight_per_unit", per_unit)):
            columns |= zip(by_class(name, self.classes), rows, strict=True)
        for name in ("mean", "scale", "unit", "index"):
            columns[name] = [getattr(feature, name) for feature in features]
        names = [feature.name for feature in features]
        index = pandas().Index(names, name="feature")
        frame = pandas().DataFrame(columns, index=index)
        intercept = self.intercept if self.n_scores == 1 else self.intercepts.tolist()
        frame.attrs["intercept"] = intercept
        return frame

    # --- display -----------------------------------------------------------------

    def __repr__(self) -> str:
        """One line."""
        n = len(self.classes)
        *others, last = map(repr, self.classes)
        # Longer lists of classes are not shown.
        classes = f"{n} classes" if n > 6 else f"{', '.join(others)} or {last}"
        gap = f", gap={self._gap()}" if self.proof else ""
        return (
            f"PortableModel({len(self.features)} of {self.n_features_in} features, "
            f"{classes}{gap})"
        )

    def __str__(self) -> str:
        """A line for each feature, the largest weight first; groups are blocks."""
        width = max(len(name) for name in [*self.names, "intercept"])
        width += 2 * bool(self.groups)
        titles = by_class("weight", self.classes)
        widths = [max(10, len(title)) for title in titles]
        heads = "".join(f" {text:>{n}}" for text, n in zip(titles, widths, strict=True))
        lines = [f"{'feature':<{width}}{heads} {'mean':>10} {'scale':>10}"]

        def cells(weights: np.ndarray) -> str:
            pairs = zip(weights, widths, strict=True)
            return "".join(f" {weight:>+{n}.4g}" for weight, n in pairs)

        def line(feature: Feature, width: int) -> str:
            unit = f" {feature.unit}" if feature.unit else ""
            return (
                f"{feature.name:<{width}}{cells(np.atleast_1d(feature.weight))} "
                f"{feature.mean:>10.4g} {feature.scale:>10.4g}{unit}"
            )

        group_of = {name: group for group in self.groups for name in group.features}
        written: set[str] = set()
        for j in self._by_weight():
            feature = self.features[j]
            group = group_of.get(feature.name)
            if group is None:
                lines.append(line(feature, width))
            elif group.name not in written:
                # The features of a group are one block.
                written.add(group.name)
                lines.append(f"{group.name}:")
                members = [f for f in self.features if f.name in group.features]
                lines += [f"  {line(member, width - 2)}" for member in members]
        lines.append(f"{'intercept':<{width}}{cells(self.intercepts)}")
        return "\n".join([repr(self), *lines])

    def _repr_html_(self) -> str:
        """For notebooks."""
        from ..report import notebook

        classes = list(map(str, self.classes))
        if self.n_scores == 1:
            table = notebook.weights_table(self.names, self.coef[0].tolist())
            labels = f"{classes[0]} or {classes[1]} (positive)"
        else:
            table = notebook.weights_by_class(self.names, classes, self.coef.T.tolist())
            labels = f"{', '.join(classes)} (that of the largest score is predicted)"
        intercepts = ", ".join(f"{value:+.4g}" for value in self.intercepts)
        pairs = [("intercept", intercepts), ("classes", labels)]
        if self.proof:
            pairs.append(("gap", f"{self._gap()} ({self.proof.status})"))
        if self.calibration:
            pairs.append(("calibration", self.calibration.to_dict()["method"]))
        return notebook.box(
            f"{len(self.features)} of {self.n_features_in} features",
            table,
            notebook.facts(pairs),
        )

    def _by_weight(self) -> np.ndarray:
        """Indices of the features, the largest weight first."""
        return np.argsort(-np.abs(self.coef).max(axis=0), kind="stable")

    def _gap(self) -> str:
        assert self.proof is not None
        difference = self.proof.objective - self.proof.lower_bound
        return gap_words(max(0.0, difference) / abs(self.proof.objective or 1.0))
