"""Estimators, paths, alternatives and stability: the Python interface.

``frugal_svc`` and ``frugal_svc_cv`` hold the estimators, ``base`` what they share. A
cross-validation is one loop over ``folds``; each cell of budget and C is in ``grid``,
the choice among them in ``choice``, and the fit to all data in ``final_fit``.
``near_optima`` searches all choices of features that are nearly as good as the best;
``alternatives`` holds the list, and ``exchanges`` what it says about each feature.
"""

from .._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
