"""Reports: a self-contained HTML page about a model."""

from .content import (
    AlternativesSummary,
    BudgetPath,
    CertificateSummary,
    DataSummary,
    DataWarning,
    FeatureAlternatives,
    ProgressCurve,
    Report,
    Reproduction,
    SelectedFeature,
    Verdict,
)
from .curves import cross_validation_of
from .gathering import (
    alternatives_of,
    certificate_of,
    path_of,
    progress_of,
    scored_path_of,
    verdict_of,
)
from .held_out import (
    CalibrationCurve,
    CrossValidation,
    ErrorCosts,
    RocCurve,
    Score,
    ScoreThreshold,
)
from .inspection import inspect_table
from .page import render, write_report

__all__ = [
    "AlternativesSummary",
    "BudgetPath",
    "CalibrationCurve",
    "CertificateSummary",
    "CrossValidation",
    "DataSummary",
    "DataWarning",
    "ErrorCosts",
    "FeatureAlternatives",
    "ProgressCurve",
    "Report",
    "Reproduction",
    "RocCurve",
    "Score",
    "ScoreThreshold",
    "SelectedFeature",
    "Verdict",
    "alternatives_of",
    "certificate_of",
    "cross_validation_of",
    "inspect_table",
    "path_of",
    "progress_of",
    "render",
    "scored_path_of",
    "verdict_of",
    "write_report",
]
