"""Relaxations of FS-SVM: lower bounds, and rankings of the features."""

from .relaxation import Relaxation, relax

__all__ = ["Relaxation", "relax"]
