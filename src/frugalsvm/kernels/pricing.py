"""Screening as a function that Python can call, for engines that price elsewhere."""

from ._jit import jit_strict
from .screening import screen


@jit_strict
def screen_region(alpha, squares, forced, free, k, costs, budget, cutoff):
    """Decide free features; see ``screening.screen``."""
    return screen(alpha, squares, forced, free, k, costs, budget, cutoff)
