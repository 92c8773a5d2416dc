"""Linear SVM classifiers on at most B features, with a proved lower bound.

    from frugalsvm import FrugalSVC

fits in the manner of scikit-learn; ``Problem`` and ``solve`` are the layer below.
Names are loaded when they are first used, so that importing the package is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .alternatives import NearOptimal, near_optimal
    from .certificate import Certificate
    from .checker import InvalidCertificate, Verification, verify
    from .driver import solve
    from .estimators import FrugalSVC, FrugalSVCCV
    from .estimators.choice import ScoredPath
    from .monitor import Progress
    from .path import FrugalPath, frugal_path
    from .portable import InvalidModel, PortableModel, Scorecard
    from .problem import Problem
    from .relaxations import Relaxation, relax
    from .result import Result, Status
    from .stability import StabilitySelection, stability_selection

__version__ = "0.1.0.dev0"

_HOME = {
    "Certificate": "certificate",
    "FrugalPath": "path",
    "FrugalSVC": "estimators",
    "FrugalSVCCV": "estimators",
    "InvalidCertificate": "checker",
    "InvalidModel": "portable",
    "NearOptimal": "alternatives",
    "PortableModel": "portable",
    "Problem": "problem",
    "Progress": "monitor",
    "Relaxation": "relaxations",
    "Result": "result",
    "Scorecard": "portable",
    "ScoredPath": "estimators.choice",
    "StabilitySelection": "stability",
    "Status": "result",
    "Verification": "checker",
    "frugal_path": "path",
    "near_optimal": "alternatives",
    "relax": "relaxations",
    "solve": "driver",
    "stability_selection": "stability",
    "verify": "checker",
}

__all__ = [
    "Certificate",
    "FrugalPath",
    "FrugalSVC",
    "FrugalSVCCV",
    "InvalidCertificate",
    "InvalidModel",
    "NearOptimal",
    "PortableModel",
    "Problem",
    "Progress",
    "Relaxation",
    "Result",
    "Scorecard",
    "ScoredPath",
    "StabilitySelection",
    "Status",
    "Verification",
    "frugal_path",
    "near_optimal",
    "relax",
    "solve",
    "stability_selection",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
