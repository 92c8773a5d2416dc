"""``solve``: run a method, polish its solution, recompute objective and bound.

``solver`` holds the run, ``methods`` the named methods, and ``result`` the result.
"""

from .._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
