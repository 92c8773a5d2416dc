"""Linear SVM classifiers on at most B features, with a proved lower bound.

    from frugalsvm import FrugalSVC

fits in the manner of scikit-learn; ``Problem`` and ``solve`` are the layer below.
Names are loaded when they are first used, so that importing the package is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api.alternatives import NearOptimal, near_optimal
    from .api.encoded_columns import encoded_groups
    from .api.estimators import FrugalSVC, FrugalSVCCV
    from .api.path import FrugalPath, frugal_path
    from .api.stability import StabilitySelection, stability_selection
    from .api.validation.cells import ChoiceProgress
    from .api.validation.choice import ScoredPath
    from .checker import InvalidCertificate, Verification, verify
    from .driver.constant import ConstantModelWarning, NeverPredictedWarning
    from .driver.result import Result, Status
    from .driver.solving import solve
    from .output.onnx_converter import register_onnx_converter
    from .output.portable import InvalidModel, PortableModel, Scorecard
    from .problem.certificate import Certificate
    from .problem.problem import Problem
    from .runtime.monitor import Progress
    from .search.relaxations import Relaxation, relax

__version__ = "0.1.0.dev0"

_HOME = {
    "Certificate": "problem.certificate",
    "ConstantModelWarning": "driver.constant",
    "ChoiceProgress": "api.validation.cells",
    "FrugalPath": "api.path",
    "FrugalSVC": "api.estimators",
    "FrugalSVCCV": "api.estimators",
    "InvalidCertificate": "checker",
    "InvalidModel": "output.portable",
    "NeverPredictedWarning": "driver.constant",
    "NearOptimal": "api.alternatives",
    "PortableModel": "output.portable",
    "Problem": "problem.problem",
    "Progress": "runtime.monitor",
    "Relaxation": "search.relaxations",
    "Result": "driver.result",
    "Scorecard": "output.portable",
    "ScoredPath": "api.validation.choice",
    "StabilitySelection": "api.stability",
    "Status": "driver.result",
    "Verification": "checker",
    "encoded_groups": "api.encoded_columns",
    "frugal_path": "api.path",
    "near_optimal": "api.alternatives",
    "register_onnx_converter": "output.onnx_converter",
    "relax": "search.relaxations",
    "solve": "driver.solving",
    "stability_selection": "api.stability",
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
