"""The paper's programs under the paper's names, each one line to build.

Needs CVXPY (``pip install 'frugalsvm[paper]'``) when a model is built.
"""

from collections.abc import Callable

from .bound_problems import bound_problem
from .decomposed import dscomp, dscop, dsmp, scomp, scop, smp, sr_dlmp, sr_dscop
from .formulations import bigmp, boxmp, cop, elastic_net_svm, l1_fs_svm, l1_svm, svm
from .model import Model
from .weight_ranges import MRange, WeightBounds, big_m, m_range, weight_bounds

#: The functions that build the models, by the paper's names.
MODELS: dict[str, Callable[..., Model]] = {
    "SVM": svm,
    "BigMP": bigmp,
    "CoP": cop,
    "BoxMP": boxmp,
    "SMP": smp,
    "SCoP": scop,
    "SCoMP": scomp,
    "DSMP": dsmp,
    "DSCoP": dscop,
    "DSCoMP": dscomp,
    "SR-DSCoP": sr_dscop,
    "SR-DLMP": sr_dlmp,
}

__all__ = [
    "MODELS",
    "MRange",
    "Model",
    "WeightBounds",
    "big_m",
    "bigmp",
    "bound_problem",
    "boxmp",
    "cop",
    "dscomp",
    "dscop",
    "dsmp",
    "elastic_net_svm",
    "l1_fs_svm",
    "l1_svm",
    "m_range",
    "scomp",
    "scop",
    "smp",
    "sr_dlmp",
    "sr_dscop",
    "svm",
    "weight_bounds",
]
