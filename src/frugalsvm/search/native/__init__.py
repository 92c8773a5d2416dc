"""Relaxations by our own engine, and what a dual point proves, whoever found it.

Needs no solver and no CVXPY. ``models``, the paper's programs, use this room, and
``relaxations`` use both: they take any relaxation to any solver.
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
