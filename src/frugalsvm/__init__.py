"""Linear SVM classifiers on at most B features, with a proved lower bound.

    from frugalsvm import FrugalSVC

fits in the manner of scikit-learn; ``Problem`` and ``solve`` are the layer below.
Names are loaded when they are first used, so that importing the package is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .checker import InvalidCertificate, Verification, verify
    from .estimators import FrugalSVC, FrugalSVCCV, NearOptimal, near_optimal
    from .estimators.cells import ChoiceProgress
    from .estimators.choice import ScoredPath
    from .estimators.encoded_columns import encoded_groups
    from .estimators.path import FrugalPath, frugal_path
    from .estimators.stability import StabilitySelection, stability_selection
    from .export import InvalidModel, PortableModel, Scorecard
    from .export.onnx import register_onnx_converter
    from .problem.certificate import Certificate
    from .problem.problem import Problem
    from .run.monitor import Progress
    from .search.relaxations import Relaxation, relax
    from .solving.constant import ConstantModelWarning, NeverPredictedWarning
    from .solving.result import Result, Status
    from .solving.solver import solve

__version__ = "0.1.0.dev0"

_HOME = {
    "Certificate": "problem.certificate",
    "ConstantModelWarning": "solving.constant",
    "ChoiceProgress": "estimators.cells",
    "FrugalPath": "estimators.path",
    "FrugalSVC": "estimators",
    "FrugalSVCCV": "estimators",
    "InvalidCertificate": "checker",
    "InvalidModel": "export",
    "NeverPredictedWarning": "solving.constant",
    "NearOptimal": "estimators",
    "PortableModel": "export",
    "Problem": "problem.problem",
    "Progress": "run.monitor",
    "Relaxation": "search.relaxations",
    "Result": "solving.result",
    "Scorecard": "export",
    "ScoredPath": "estimators.choice",
    "StabilitySelection": "estimators.stability",
    "Status": "solving.result",
    "Verification": "checker",
    "encoded_groups": "estimators.encoded_columns",
    "frugal_path": "estimators.path",
    "near_optimal": "estimators",
    "register_onnx_converter": "export.onnx",
    "relax": "search.relaxations",
    "solve": "solving.solver",
    "stability_selection": "estimators.stability",
    "verify": "checker",
}

__all__ = [
    "Certificate",
    "ChoiceProgress",
    "ConstantModelWarning",
    "FrugalPath",
    "FrugalSVC",
    "FrugalSVCCV",
    "InvalidCertificate",
    "InvalidModel",
    "NearOptimal",
    "NeverPredictedWarning",
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
    "encoded_groups",
    "frugal_path",
    "near_optimal",
    "register_onnx_converter",
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
    return sorted(__all__)
