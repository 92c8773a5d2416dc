"""scikit-learn faces of the solvers."""

from .frugal_svc import FrugalSVC
from .frugal_svc_cv import FrugalSVCCV

__all__ = ["FrugalSVC", "FrugalSVCCV"]
