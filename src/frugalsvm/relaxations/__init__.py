"""Relaxations of FS-SVM: lower bounds, and rankings of the features."""

from ..native import Relaxation, certified_bound
from .relaxation import RELAXATIONS, relax

__all__ = ["RELAXATIONS", "Relaxation", "certified_bound", "relax"]
