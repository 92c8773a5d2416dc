"""DataOptions: the data file, and how it is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..tables.formats import ALL_OPEN, FormatRules
from ..tables.gaps import INDICATOR
from ..tables.kinds import MIN_LEVEL
from ..tables.layout import USUAL, Layout
from .panel import Panel
from .session import Session


@dataclass(frozen=True)
class DataOptions:
    """The data file and the user's options for reading it."""

    path: str
    target: str
    positive: str | None = None
    exclude: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    missing: str = INDICATOR
    encoding: str | None = None
    costs: str | None = None
    formats: FormatRules = ALL_OPEN
    class_weight: Any = "auto"
    is_split: bool = False
    drops_unlabelled: bool = False
    layout: Layout = USUAL
    min_level: int = MIN_LEVEL

    def load(self, session: Session, panel: Panel) -> tuple[Any, Any, Any]:
        """Load data, preparation and costs, and report how the file was read."""
        from .parsing import check_costs, read_costs
        from .study import load_data
        from .understanding import understood

        panel.phase(f"reading {self.path}")
        costs = None if self.costs is None else read_costs(self.costs)
        data = load_data(
            self.path, self.target, positive=self.positive, exclude=self.exclude,
            keep=self.keep, categorical=self.categorical, missing=self.missing,
            encoding=self.encoding, formats=self.formats,
            drops_unlabelled=self.drops_unlabelled, layout=self.layout,
            min_level=self.min_level, is_split=self.is_split,
        )  # fmt: skip
        check_costs(costs, data)
        preparation = data.prepare()
        for line in understood(data, preparation, self.is_split):
            session.say(line)
        return data, preparation, costs

    def weights(self, session: Session, target: Any) -> Any:
        """The weights of the classes, said if they differ."""
        from .class_weights import ClassWeights

        found = ClassWeights.of(self.class_weight, target)
        remark = found.said(target.signs)
        if remark:
            session.say(f"  {remark}")
        return found
