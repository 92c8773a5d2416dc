"""Relaxations of FS-SVM: lower bounds, and rankings of the features."""

from .certified import certified_bound
from .relaxation import RELAXATIONS, Relaxation, relax

__all__ = ["RELAXATIONS", "Relaxation", "certified_bound", "relax"]
