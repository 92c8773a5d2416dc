"""Linear SVM classifiers on at most B features, with a proved lower bound.

    from frugalsvm import FrugalSVC

fits in the manner of scikit-learn; ``Problem`` and ``solve`` are the layer below.
"""

from .driver import solve
from .estimators import FrugalSVC
from .problem import Problem
from .relaxations import Relaxation, relax
from .result import Result, Status

__version__ = "0.1.0.dev0"

__all__ = ["FrugalSVC", "Problem", "Relaxation", "Result", "Status", "relax", "solve"]
