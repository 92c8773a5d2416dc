"""Pictures in the manner of scikit-learn's displays.

A display holds plain arrays and draws them: ``from_...`` makes one and draws it into
``ax``, or into a new figure, and leaves ``ax_`` and ``figure_``. Matplotlib is loaded
when something is drawn.
"""

from .budget_path import BudgetPathDisplay
from .progress import ProgressDisplay
from .scores import ScoresDisplay
from .selection import SelectionDisplay
from .supports import SupportsDisplay
from .weights import WeightsDisplay

__all__ = [
    "BudgetPathDisplay",
    "ProgressDisplay",
    "ScoresDisplay",
    "SelectionDisplay",
    "SupportsDisplay",
    "WeightsDisplay",
]
