"""The paper's programs under the paper's names, each one line to build.

Needs CVXPY (``pip install 'frugalsvm[paper]'``) when a model is built.
"""

from .decomposed import dscomp, dscop, dsmp
from .exact import bigmp, boxmp, cop, svm
from .model import Model
from .semi import sr_dlmp, sr_dscop
from .shor import scomp, scop, smp

__all__ = [
    "Model",
    "bigmp",
    "boxmp",
    "cop",
    "dscomp",
    "dscop",
    "dsmp",
    "scomp",
    "scop",
    "smp",
    "sr_dlmp",
    "sr_dscop",
    "svm",
]
