"""The best intercept for given weights."""

from ._jit import jit_entry
from .hinge import best_intercept


@jit_entry
def intercept_of(scores, y, C):
    """The best intercept for given scores; see ``hinge.best_intercept``."""
    return best_intercept(scores, y, C, 0.0)
