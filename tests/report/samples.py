"""Sample reports for tests, made without a fit."""

from dataclasses import replace

import numpy as np

from frugalsvm.report import (
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
    cross_validation_of,
)

NASTY = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>"


def validation(n=300, seed=0):
    generator = np.random.default_rng(seed)
    truth = generator.random(n) < 0.4
    decisions = np.where(truth, 1.2, -1.2) + generator.normal(size=n)
    probabilities = 1 / (1 + np.exp(-1.6 * decisions))
    return cross_validation_of(
        truth, decisions, np.arange(n) % 5, probabilities=probabilities,
        repeated=("scaling", "feature selection", "choice of feature limit and C"),
    )  # fmt: skip


def path():
    budgets = np.array([1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20])
    return BudgetPath(
        budgets=budgets,
        chosen=4,
        objectives=40 + 60 / budgets,
        lower_bounds=38 + 50 / budgets,
        scores=0.95 - 0.2 / budgets**1.5,
        errors=np.full(budgets.size, 0.012),
        threshold=0.92,
    )


def features(name="worst area"):
    return (
        SelectedFeature(name, 0.0041, 2.35, 880.6, 569.0, "mm²", folds_selecting=5),
        SelectedFeature("worst texture", 0.146, 0.898, 25.7, 6.15, folds_selecting=4),
        SelectedFeature("age", -0.031, -0.38, 54.1, 12.3, "years", folds_selecting=2),
        SelectedFeature(
            "smoker=yes", 0.62, 0.29, 0.3, 0.46, kind="category", column="smoker",
            category="yes", folds_selecting=3,
        ),
    )  # fmt: skip


def alternatives(name="worst area"):
    roles = (
        FeatureAlternatives(name, "indispensable", 7),
        FeatureAlternatives("worst texture", "replaceable", 6, ("mean texture",)),
        FeatureAlternatives("age", "replaceable", 3, ("a", "b", "c", "d", "e", "f")),
    )
    return AlternativesSummary(0.01, 0.01, 7, roles)


def progress():
    seconds = np.array([0.0, 0.02, 0.05, 0.2, 0.9, 4.0, 30.0])
    objectives = np.array([60.0, 51.0, 48.0, 46.0, 46.0, 46.0, 46.0])
    bounds = np.array([20.0, 28.0, 35.0, 40.0, 43.0, 45.0, 45.99])
    return ProgressCurve(seconds, objectives, bounds)


def certificate():
    return CertificateSummary(
        "3f" * 32, "a7" * 32, "300 samples, at most 4 of 30 features, C = 1, intercept",
        46.0012, 45.9988, 366, 1045, "proof.npz", "frugalsvm verify proof.npz data.csv",
    )  # fmt: skip


def data(warnings=()):
    return DataSummary(
        300, 33, "diagnosis", (180, 120), "data.csv",
        dropped=(("patient", "text that is different in every row"),),
        encoded=(("smoker", 2),), imputed=(("age", 12),), imputation="median",
        warnings=warnings,
    )  # fmt: skip


def whole(**changes):
    """A report with every section."""
    report = Report(
        title="diagnosis from data.csv",
        classes=("benign", "malignant"),
        verdict=Verdict(
            4, 30, 46.0012, 45.9988, "optimal", 1.0, 4, seconds=1.234,
            chosen_by="chosen by cross-validation (one-standard-error rule)",
        ),
        features=features(),
        intercept=-7.301,
        created="2026-01-31 12:00 UTC",
        validation=validation(),
        path=path(),
        alternatives=alternatives(),
        progress=progress(),
        certificate=certificate(),
        data=data((DataWarning("leak", "age gives it away.", ("age",)),)),
        reproduction=Reproduction(
            "frugalsvm fit data.csv --target diagnosis --max-features auto",
            {"frugalsvm": "0.1.0", "numpy": "2.3"}, 0, "Linux, Python 3.13",
        ),
    )  # fmt: skip
    return replace(report, **changes)


def bare():
    """A report with only the required content."""
    verdict = Verdict(4, 30, 46.0, 30.0, "time limit", 1.0, 4)
    return Report("a model", ("0", "1"), verdict, features(), 0.5)


def nasty():
    """A report whose strings all try to inject HTML."""
    return filled_with(NASTY)


def long():
    """A report whose strings are all one long word."""
    return filled_with("x" * 200)


def filled_with(text):
    """A report whose strings are all the same."""
    verdict = replace(whole().verdict, chosen_by=text)
    validation_ = replace(validation(), repeated=(text,))
    return whole(
        title=text, classes=(text + "0", text + "1"), verdict=verdict,
        features=tuple(
            replace(one, name=text, unit=text, column=text, category=text)
            for one in features()
        ),
        created=text,
        validation=validation_,
        path=replace(path(), score_name=text),
        alternatives=replace(
            alternatives(),
            roles=(FeatureAlternatives(text, "replaceable", 3, (text,)),),
        ),
        certificate=replace(
            certificate(), fingerprint=text, checksum=text, statement=text,
            file=text, command=text,
        ),
        data=replace(
            data((DataWarning("leak", text, (text,)),)), target=text, source=text,
            dropped=((text, text),), encoded=((text, 2),), imputed=((text, 2),),
            imputation=text,
        ),
        reproduction=Reproduction(text, {text: text}, 0, text),
    )  # fmt: skip
