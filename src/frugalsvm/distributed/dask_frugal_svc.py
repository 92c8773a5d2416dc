"""DaskFrugalSVC: FrugalSVC for dask arrays in column blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, ClassVar, Self

import dask
import dask.array as da
import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import assert_all_finite, check_is_fitted, column_or_1d

from distributed import Client, default_client

from ..estimators import FrugalSVC, parameters
from ..estimators.fitted import Moments, dense_columns
from ..estimators.parameters import Constraint, check_parameters
from ..problem.solution import rounded
from ..run.monitor import Callback
from .dask_source import ColumnBlocks

# --- The dask client, and labels that it computes -------------------------------------

# Seconds to wait for the first worker.
PATIENCE = 30


def find_client(client: Client | None) -> Client:
    """The client, or dask's default if it is None; an error if it cannot be used."""
    if client is None:
        try:
            client = default_client()
        except ValueError as error:
            raise ValueError(
                "there is no dask client; create one first, such as "
                "client = dask.distributed.Client(), or pass client."
            ) from error
    if not isinstance(client, Client):
        raise TypeError(
            f"client must be a dask.distributed.Client or None, got {client!r}."
        )
    if client.status != "running":
        raise ValueError(
            f"client is {client.status}; give one that is connected to a cluster."
        )
    if client.asynchronous:
        raise ValueError(
            "client is asynchronous, but a fit waits for its workers; create a client "
            "without asynchronous=True."
        )
    if not client.nthreads():
        # Adaptive clusters start workers on demand; others would wait forever.
        try:
            client.submit(int, pure=False).result(timeout=PATIENCE)
        except TimeoutError as error:
            raise ValueError(
                f"the cluster has no workers, and none joined in {PATIENCE} s; start "
                "some, such as client.cluster.scale(2)."
            ) from error
    return client


def fetched(values: Any, client: Client) -> Any:
    """Labels or weights in local memory, computed if they are on the cluster."""
    if not dask.is_dask_collection(values):
        return values
    return np.asarray(client.compute(values).result())


# --- Lazy predictions for dask arrays, chunk by chunk ---------------------------------


def check_features(X: Any, n_features: int) -> None:
    """Raise an error unless a dask array has the features of the model."""
    if X.ndim != 2 or X.shape[1] != n_features:
        raise ValueError(
            f"X has shape {X.shape}, but the model expects {n_features} features as "
            "columns."
        )


def scores_of(X: Any, coef: np.ndarray, intercept: float, is_single: bool) -> Any:
    """Scores of the samples of a dask array."""
    check_features(X, coef.size)
    support = np.flatnonzero(coef)
    if support.size == 0:
        # A column of weight zero, for the number of samples.
        support = np.array([0])
    return da.blockwise(
        _scores,
        "i",
        X[:, support],
        "ij",
        concatenate=True,
        coef=coef[support],
        intercept=intercept,
        is_single=is_single,
        dtype=np.float64,
        meta=np.empty(0),
    )


def _scores(X: Any, coef: np.ndarray, intercept: float, is_single: bool) -> np.ndarray:
    scores = dense_columns(X, np.arange(coef.size)) @ coef + intercept
    return np.asarray(rounded(scores, coef, intercept, is_single=is_single))


def _labels(scores: np.ndarray, classes: np.ndarray) -> np.ndarray:
    return classes[(scores > 0).astype(np.intp)]


# --- The estimator --------------------------------------------------------------------


class DaskFrugalSVC(FrugalSVC):
    """:class:`~frugalsvm.FrugalSVC` for data too large for one machine.

    X is a dask array whose chunks are blocks of columns; each stays on a worker. The
    process that calls ``fit`` sends dual points and receives prices and a few features.
    The problem, the bound and the model are those of ``FrugalSVC``.

    Parameters
    ----------
    max_features : int or None, default=10
        Maximum number of features the model may use.
    C : float, default=1.0
        Weight of the hinge loss.
    client : dask.distributed.Client, default=None
        The cluster; dask's default client if it is None. It is neither copied nor
        pickled with the estimator.
    refit_C, method, effort, gap_tol, time_limit, max_nodes, feature_costs, max_cost, \
    include, exclude, feature_groups, signs, class_weight, fit_intercept, \
    initial_support, method_options, n_jobs, random_state, verbose, callback, \
    certificate, on_interrupt
        As in :class:`~frugalsvm.FrugalSVC`. ``n_jobs`` is the number of threads in the
        calling process. Certificates need one pass that transfers all of X to that
        process, block by block. ``feature_groups`` cannot be "auto": the columns of a
        dask array have no names.

    Attributes
    ----------
    traffic_ : Traffic
        Rounds and bytes of the fit.
    coef_, intercept_, classes_, objective_, lower_bound_, gap_, refit_objective_, \
    refit_lower_bound_, status_, result_, n_iter_, n_features_in_
        Those of :class:`~frugalsvm.FrugalSVC`.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from frugalsvm.distributed import DaskFrugalSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> blocks = da.from_array(scale(X), chunks=(-1, 10))
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     clf = DaskFrugalSVC(2, client=client, random_state=0).fit(blocks, y)
    >>> clf.to_local().get_support(indices=True)
    array([22, 24])
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        **FrugalSVC._constraints,
        "client": parameters.ANYTHING,
    }

    _is_multiclass = False
    _advice = (
        "Fit one class against all others, or take FrugalSVC if the data fit into "
        "memory."
    )

    def __init__(
        self,
        max_features: int | None = 10,
        C: float = 1.0,
        *,
        client: Client | None = None,
        refit_C: float | None = None,
        method: str = "auto",
        effort: str = "normal",
        gap_tol: float = 1e-4,
        time_limit: float | None = None,
        max_nodes: int | None = None,
        feature_costs: ArrayLike | Mapping[str, float] | None = None,
        max_cost: float | None = None,
        include: Sequence[int | str | bool] | None = (),
        exclude: Sequence[int | str | bool] | None = (),
        feature_groups: ArrayLike | Mapping[str, Sequence[int | str]] | None = None,
        signs: ArrayLike | Mapping[str | int, str | int] | None = None,
        class_weight: dict[Any, float] | str | None = None,
        fit_intercept: bool = True,
        initial_support: Sequence[int | str] | None = None,
        method_options: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
        certificate: bool = False,
        on_interrupt: str = "raise",
    ) -> None:
        super().__init__(
            max_features,
            C,
            refit_C=refit_C,
            method=method,
            effort=effort,
            gap_tol=gap_tol,
            time_limit=time_limit,
            max_nodes=max_nodes,
            feature_costs=feature_costs,
            max_cost=max_cost,
            include=include,
            exclude=exclude,
            feature_groups=feature_groups,
            signs=signs,
            class_weight=class_weight,
            fit_intercept=fit_intercept,
            initial_support=initial_support,
            method_options=method_options,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            callback=callback,
            certificate=certificate,
            on_interrupt=on_interrupt,
        )
        self.client = client

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : dask array of shape (n_samples, n_features)
            Its chunks are NumPy arrays or SciPy sparse matrices. If rows are split into
            several chunks, X is rechunked to blocks of columns, which moves all data
            once.
        y : array-like or dask array of shape (n_samples,)
            Labels of exactly two classes.
        sample_weight : array-like or dask array of shape (n_samples,), default=None
            Multipliers of C; samples of weight zero are dropped.

        Returns
        -------
        self

        Raises
        ------
        KeyboardInterrupt
            As in :meth:`FrugalSVC.fit <frugalsvm.FrugalSVC.fit>`.
        """
        check_parameters(self)
        client = find_client(self.client)
        blocks: Any = ColumnBlocks(X, client)
        try:
            super().fit(blocks, fetched(y, client), fetched(sample_weight, client))
        finally:
            blocks.release()
        return self

    def _check_data(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Any, np.ndarray, np.ndarray]:
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        if labels.size != X.shape[0]:
            raise ValueError(
                f"y must have one label per row of X ({X.shape[0]}), got {labels.size}."
            )
        self.n_features_in_ = X.shape[1]
        self._is_single = X.dtype == np.float32
        return X, labels, self._encode(labels)

    def _set_moments(self, data: Any, sample_weight: np.ndarray) -> None:
        support = np.flatnonzero(self._get_support_mask())
        mask = sample_weight > 0
        columns = data.source.columns(support).T
        self._moments = Moments.of(columns, self.coef_[0, support], sample_weight[mask])
        # Set here, since interrupted fits are complete, too.
        self.traffic_ = data.traffic

    def decision_function(self, X: Any) -> Any:
        """Signed scores of samples; positive ones mean ``classes_[1]``.

        Parameters
        ----------
        X : dask array, array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        dask array or ndarray of shape (n_samples,)
            A lazy dask array if X is a dask array.
        """
        if not isinstance(X, da.Array):
            return super().decision_function(X)
        check_is_fitted(self, "coef_")
        return scores_of(X, self.coef_[0], self.intercept_[0], self._is_single)

    def predict(self, X: Any) -> Any:
        """Labels of samples.

        Parameters
        ----------
        X : dask array, array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        dask array or ndarray of shape (n_samples,)
            A lazy dask array if X is a dask array.
        """
        if not isinstance(X, da.Array):
            return super().predict(X)
        scores, classes = self.decision_function(X), self.classes_
        return scores.map_blocks(
            _labels, classes=classes, dtype=classes.dtype, meta=classes[:0]
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of the predictions.

        Parameters
        ----------
        X : dask array, array-like or sparse matrix of shape (n_samples, n_features)
        y : dask array or array-like of shape (n_samples,)
        sample_weight : dask array or array-like of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        if isinstance(X, da.Array):
            client = find_client(self.client)
            y, sample_weight = fetched(y, client), fetched(sample_weight, client)
            predicted = fetched(self.predict(X), client)
            return float(accuracy_score(y, predicted, sample_weight=sample_weight))
        return super().score(X, y, sample_weight)

    def transform(self, X: Any) -> Any:
        """The selected features.

        Parameters
        ----------
        X : dask array, array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        dask array, ndarray or sparse matrix of shape (n_samples, n_selected)
        """
        if not isinstance(X, da.Array):
            return super().transform(X)
        support = self.get_support(indices=True)
        check_features(X, self.coef_.size)
        return X[:, support]

    def to_local(self) -> FrugalSVC:
        """The same model, fitted, without dask.

        Returns
        -------
        FrugalSVC
        """
        check_is_fitted(self, "coef_")
        params = self.get_params(deep=False)
        del params["client"]
        local = FrugalSVC(**params)
        omitted = {*params, "client", "traffic_"}
        for name, value in vars(self).items():
            if name not in omitted:
                setattr(local, name, value)
        return local

    def __sklearn_clone__(self) -> Self:
        # Connections cannot be copied; copies have none.
        other = super(DaskFrugalSVC, copy(self)).__sklearn_clone__()
        other.client = self.client
        return other

    def __getstate__(self) -> dict[str, Any]:
        # Connections cannot be pickled.
        return {**super().__getstate__(), "client": None}
