"""The baselines of the paper's validation section, as scikit-learn estimators.

Fitting them needs ``pip install 'frugalsvm[paper]'``.
"""

from .elastic_net import ElasticNetPath, ElasticNetSVC, elastic_net_path
from .l1_frugal_svc import L1FrugalSVC

__all__ = ["ElasticNetPath", "ElasticNetSVC", "L1FrugalSVC", "elastic_net_path"]
