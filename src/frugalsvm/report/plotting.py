"""Plots in the style of scikit-learn's displays.

A display holds plain arrays and draws them: ``from_...`` creates one, draws it into
``ax`` or a new figure, and sets ``ax_`` and ``figure_``. Matplotlib is imported only
when something is drawn.
"""

from .budget_path import BudgetPathDisplay
from .displays import ProgressDisplay, ScoresDisplay, WeightsDisplay
from .selection import SelectionDisplay, SupportsDisplay

__all__ = [
    "BudgetPathDisplay",
    "ProgressDisplay",
    "ScoresDisplay",
    "SelectionDisplay",
    "SupportsDisplay",
    "WeightsDisplay",
]
