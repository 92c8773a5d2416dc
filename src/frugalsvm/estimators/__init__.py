"""scikit-learn estimators."""

from .frugal_svc import FrugalSVC
from .frugal_svc_cv import FrugalSVCCV

__all__ = ["FrugalSVC", "FrugalSVCCV"]
