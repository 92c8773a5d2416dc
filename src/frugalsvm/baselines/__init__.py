"""The baselines of the paper's validation section, as scikit-learn estimators.

Need ``pip install 'frugalsvm[paper]'`` when they are fitted.
"""

from .l1_frugal_svc import L1FrugalSVC

__all__ = ["L1FrugalSVC"]
