"""What a choice by cross-validation is scored by, with metadata routing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)

from .budgeted import BudgetedClassifier
from .samples import take
from .scoring import Scorer, takes_sample_weight


class ScoredChoice(BudgetedClassifier):
    """Base of classifiers with parameters ``cv`` and ``scoring``.

    What else ``fit`` takes goes to the splitter and the scorer.
    """

    cv: Any
    scoring: str | Callable[..., float] | None

    def score(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Score the fitted model by ``scoring``; by its accuracy if that is None.

        Parameters
        ----------
        X, y : array-likes of shape (n_samples, n_features) and (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        scorer = self._scorer()
        if scorer is None:
            return super().score(X, y, sample_weight)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return scorer(self, X, y, **weights)

    def get_metadata_routing(self) -> MetadataRouter:
        """Metadata routing of scikit-learn, to the splitter and the scorer.

        Returns
        -------
        MetadataRouter
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(
            splitter=check_cv(self.cv, classifier=True),
            method_mapping=MethodMapping().add(caller="fit", callee="split"),
        )
        scorer = self._scorer()
        if scorer is not None:
            router.add(
                scorer=scorer,
                method_mapping=MethodMapping().add(caller="fit", callee="score"),
            )
        return router

    def _scorer(self) -> Scorer | None:
        return None if self.scoring is None else check_scoring(self, self.scoring)

    def _route(
        self, sample_weight: ArrayLike | None, params: dict[str, Any]
    ) -> dict[str, dict[str, Any]]:
        """Extra parameters of the splitter and the scorer."""
        scorer = self._scorer()
        given = {name: value for name, value in params.items() if value is not None}
        if sklearn.get_config()["enable_metadata_routing"]:
            if sample_weight is not None:
                given["sample_weight"] = sample_weight
            routed = process_routing(self, "fit", **given)
            score = {} if scorer is None else dict(routed.scorer.score)
            return {"split": dict(routed.splitter.split), "score": score}
        for name in given:
            if name != "groups":
                raise TypeError(
                    f"fit got {name!r}; it takes sample_weight and groups, and other "
                    "metadata with sklearn.set_config(enable_metadata_routing=True)."
                )
        score = {}
        if sample_weight is not None and scorer is not None:
            score = {"sample_weight": sample_weight}
        if scorer is not None and not takes_sample_weight(scorer):
            score = {}
        return {"split": given, "score": score}


def part_of(params: dict[str, Any], samples: np.ndarray) -> dict[str, Any]:
    """Parameters of the scorer for some of the samples."""
    return {name: take(value, samples) for name, value in params.items()}
