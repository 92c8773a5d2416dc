"""scikit-learn faces of the solvers."""

from .frugal_svc import FrugalSVC

__all__ = ["FrugalSVC"]
