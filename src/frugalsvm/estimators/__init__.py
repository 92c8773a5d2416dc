"""Estimators, paths, alternatives and stability: the Python interface.

``frugal_svc`` and ``frugal_svc_cv`` hold the estimators, ``base`` what they share. A
cross-validation is one loop over ``folds``; each cell of budget and C is in ``grid``,
the choice among them in ``choice``, and the fit to all data in ``final_fit``.
``near_optimal`` searches all choices of features that are nearly as good as the best;
``alternatives`` holds the list, and ``exchanges`` what it says about each feature.
"""

from .alternatives import NearOptimal
from .exchanges import FeatureRole
from .frugal_svc import FrugalSVC
from .frugal_svc_cv import FrugalSVCCV
from .near_optima import near_optimal

__all__ = ["FeatureRole", "FrugalSVC", "FrugalSVCCV", "NearOptimal", "near_optimal"]
