"""Relaxations by our own engine, and what a dual point proves, whoever found it.

Needs no solver and no CVXPY. The paper's other programs are in ``models``, above this;
``relaxations``, above both, takes any relaxation to any solver.
"""

from .certified import CertifiedBound, certified_bound
from .relaxation import NATIVE, Relaxation, relax_natively

__all__ = [
    "NATIVE",
    "CertifiedBound",
    "Relaxation",
    "certified_bound",
    "relax_natively",
]
