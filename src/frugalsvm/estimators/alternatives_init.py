"""Alternatives: all choices of features that are nearly as good as the best."""

from .listing import NearOptimal
from .roles import FeatureRole
from .search import near_optimal

__all__ = ["FeatureRole", "NearOptimal", "near_optimal"]
