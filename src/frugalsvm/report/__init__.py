"""Reports: a self-contained HTML page about a model, and plots.

The plots are displays in the style of scikit-learn's: a display holds plain arrays and
draws them. ``from_...`` creates one, draws it into ``ax`` or a new figure, and sets
``ax_`` and ``figure_``. Matplotlib is imported only when something is drawn.
"""

from .._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
