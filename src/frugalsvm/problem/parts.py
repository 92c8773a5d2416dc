"""The parts of a problem, set once and then immutable."""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any, NamedTuple, Self, TypeVar, cast

import numpy as np

from ..engine.columns import Columns
from ..engine.source import Source
from ..kernels.data import NEVER
from .constraints import Constraints, HingeLoss
from .data import SignedData, StackedData
from .validation import freeze

P = TypeVar("P")


class RunContext(NamedTuple):
    """The additions of a run to a problem.

    Attributes
    ----------
    stop_flag : array of one byte
        Set by another thread; compiled code ends early then.
    n_threads : int
        For products with large data.
    parameters : tuple of frozen dataclasses
        Parameters that differ from the defaults, at most one of each kind.
    """

    stop_flag: np.ndarray = NEVER
    n_threads: int = 1
    parameters: tuple[Any, ...] = ()


NO_RUN = RunContext()
_PARTS = ("data", "loss", "constraints", "columns", "context")


class Parts:
    """The parts of a problem, and shortcuts to their contents.

    They are documented in ``Problem``.
    """

    data: SignedData | StackedData
    loss: HingeLoss
    constraints: Constraints
    columns: Columns
    context: RunContext

    def _with(self, **parts: Any) -> Self:
        """The same problem with other parts."""
        other = object.__new__(type(self))
        vars(other).update({name: vars(self)[name] for name in _PARTS} | parts)
        return other

    def __setattr__(self, name: str, value: Any) -> None:
        # Parts are set once; all else is derived from them.
        if name not in _PARTS or name in vars(self):
            raise AttributeError(
                f"a Problem cannot be changed, so {name} cannot be set; see "
                "with_budget and with_C."
            )
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, Any]:
        # Without derived attributes, and not as a part of a run.
        state = {name: vars(self)[name] for name in _PARTS if name != "context"}
        return state | {"parameters": self.context.parameters}

    def __setstate__(self, state: dict[str, Any]) -> None:
        parts = dict(state)
        parameters = parts.pop("parameters")
        machines = getattr(parts["data"], "parts", ())
        for part in (*parts.values(), *machines):
            # Pickles forget that arrays are read-only, and compiled code would have to
            # be compiled once more for others.
            for value in vars(part).values():
                if isinstance(value, np.ndarray):
                    freeze(value)
        vars(self).update(parts | {"context": NO_RUN._replace(parameters=parameters)})

    # --- data, loss and constraints --------------------------------------------------

    @property
    def y(self) -> np.ndarray:
        """Labels of the samples of positive weight, one machine after the other."""
        return self.data.y

    @property
    def n_machines(self) -> int:
        """Number of SVMs that share the features."""
        return self.data.n_machines if isinstance(self.data, StackedData) else 1

    @cached_property
    def C(self) -> np.ndarray:
        """Loss weights of these samples."""
        if self.n_machines == 1:
            return self.loss.C
        return freeze(np.tile(self.loss.C, self.n_machines))

    @property
    def weights(self) -> np.ndarray:
        """Loss weights of all samples."""
        return self.loss.weights

    @property
    def fit_intercept(self) -> bool:
        """Whether the intercept is free."""
        return self.data.fit_intercept

    @property
    def A(self) -> np.ndarray:
        """Signed data, ``A[j, i] = y_i (X_ij - shift_j)``, one row per column of X.

        Built on first use if X was not copied. Callers that can do without it use
        products or a few rows from ``engine`` instead.
        """
        return self.data.A

    @property
    def source(self) -> Source | None:
        """The data source that holds X, if X was not copied."""
        return self.data.source

    @property
    def shift(self) -> np.ndarray:
        """The number that is subtracted from each column, see :class:`SignedData`."""
        return self.data.shift

    @property
    def norms(self) -> np.ndarray:
        """Upper bounds of the Euclidean norms of the rows of A."""
        return self.data.norms

    @property
    def n_features(self) -> int:
        """Number of features: columns, or groups of them."""
        return self.columns.n_features

    @property
    def n_columns(self) -> int:
        """Number of columns of X, of all machines together."""
        return self.columns.n_columns

    @property
    def n_samples(self) -> int:
        """Number of samples of positive weight, of all machines together."""
        return self.data.n_samples

    @property
    def max_features(self) -> int:
        """Maximum number of features."""
        return self.constraints.max_features

    @property
    def costs(self) -> np.ndarray:
        """Costs of the features; 1 by default."""
        return self.constraints.costs

    @property
    def max_cost(self) -> float:
        """Maximum total cost; infinite by default."""
        return self.constraints.max_cost

    @property
    def cost_budget(self) -> float:
        """``max_cost`` with an allowance for rounding in sums of costs."""
        return self.constraints.cost_budget

    @property
    def include(self) -> np.ndarray:
        """Features that are always selected."""
        return self.constraints.include

    @property
    def exclude(self) -> np.ndarray:
        """Features that are never selected."""
        return self.constraints.exclude

    @property
    def machine_columns(self) -> Columns:
        """The columns of X that features consist of, for one machine."""
        return (
            self.data.machine_columns
            if isinstance(self.data, StackedData)
            else self.columns
        )

    # --- a run -----------------------------------------------------------------------

    @property
    def is_watched(self) -> bool:
        """Whether a run has set a stop flag."""
        return self.context.stop_flag is not NEVER

    def parameters(self, kind: type[P]) -> P:
        """The parameters of a kind, by default its defaults."""
        for parameters in self.context.parameters:
            if type(parameters) is kind:
                return parameters
        return cast(P, _defaults(cast(Any, kind)))


@cache
def _defaults(kind: Any) -> Any:
    """The default parameters of a kind."""
    return kind()
