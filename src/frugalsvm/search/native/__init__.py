"""Relaxations by the native engine, and bounds from any dual point.

This package needs neither a solver nor CVXPY. ``models``, the paper's programs, uses
it, and ``relaxations`` uses both to solve any relaxation by any solver.
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
