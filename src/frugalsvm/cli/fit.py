"""``frugalsvm fit``: fit a model to a table, with a proof."""

from __future__ import annotations

from typing import Annotated

import typer

from ..tables.gaps import REFUSE
from ..tables.kinds import MIN_LEVEL
from ..tables.layout import Layout
from . import options as opt
from .data_options import DataOptions
from .deadline import Deadline
from .errors import UsageProblem
from .fit_files import Files
from .fit_run import Run
from .session import Session

EXAMPLES = (
    "frugalsvm fit data.csv --target diagnosis",
    "frugalsvm fit data.csv -t diagnosis -k auto --C auto --report out.html",
    "frugalsvm fit data.csv -t default --include age --exclude zip --model model.json",
    "frugalsvm fit data.csv -t sick --costs costs.csv --max-cost 100",
    "zcat data.csv.gz | frugalsvm fit - -t y --json",
)


def fit(
    session: Session,
    data: opt.DataFile,
    target: opt.TargetName,
    max_features: opt.MaxFeatures = "5",
    C: opt.LossWeight = "1",
    class_weight: opt.ClassWeight = "auto",
    effort: opt.Effort = "normal",
    time_limit: opt.TimeLimit = None,
    include: opt.Include = None,
    exclude: opt.Exclude = None,
    keep: opt.Keep = None,
    categorical: opt.Categorical = None,
    split_categories: opt.SplitCategories = False,
    signs: opt.Signs = None,
    levels: opt.Levels = None,
    costs: opt.Costs = None,
    max_cost: opt.MaxCost = None,
    positive: opt.Positive = None,
    missing: opt.Missing = None,
    min_level: opt.MinLevel = MIN_LEVEL,
    unlabelled: opt.Unlabelled = REFUSE,
    folds: opt.Folds = 5,
    calibrate: Annotated[
        bool,
        typer.Option(
            "--calibrate",
            help="Add probabilities to the model, learned by cross-validation; who is "
            "predicted does not change.",
        ),
    ] = False,
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="SCORE",
            help="Score above which a row is positive, 0 by default; with --calibrate, "
            "a probability.",
        ),
    ] = None,
    error_costs: Annotated[
        str | None,
        typer.Option(
            metavar="fp=1,fn=5",
            help="What a false alarm (fp) and a missed positive row (fn) cost: the "
            "threshold is learned from rows that were held out.",
        ),
    ] = None,
    report: opt.ReportFile = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Write the model (JSON), for the other commands."
        ),
    ] = None,
    certificate: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the proof for frugalsvm verify."),
    ] = None,
    allow_constant: Annotated[
        bool,
        typer.Option(
            "--allow-constant",
            help="Exit with code 0 even if the model predicts one class for all rows; "
            "otherwise the code is then 3, and the files are written as well.",
        ),
    ] = False,
    sheet: opt.Sheet = None,
    transpose: opt.Transpose = False,
    labels: opt.Labels = None,
    encoding: opt.Encoding = None,
    decimal: opt.Decimal = None,
    thousands: opt.Thousands = None,
    jobs: opt.Jobs = 1,
) -> None:
    """Fit a model on at most B features of a table, and prove how good the choice is.

    Numbers are standardised, and a column of categories is one feature with a weight
    for each category. Columns without useful information (constants, identifiers, free
    text) are dropped and listed. The exit code is 3 if the model predicts the same
    class for all rows.
    """
    from .class_weights import parse_class_weight
    from .formats import parse_formats
    from .levels import check_levels
    from .parsing import (
        check_cost_options,
        check_search,
        parse_budget,
        parse_C,
        parse_missing,
        parse_signs,
        parse_unlabelled,
    )
    from .study import Conditions, Search
    from .thresholds import parse_threshold

    deadline = Deadline.after(time_limit)
    files = Files(report, model, certificate)
    files.check(data, costs, labels)
    check_search(effort, time_limit, jobs, folds)
    check_cost_options(costs, max_cost)
    check_levels(levels, split_categories)
    if calibrate and folds == 0:
        raise UsageProblem("--calibrate needs cross-validation; remove --folds 0.")
    conditions = Conditions(
        parse_budget(max_features), parse_C(C), tuple(include or ()), None, max_cost,
        signs=parse_signs(signs), is_split=split_categories,
    )  # fmt: skip
    search = Search(effort, time_limit, jobs, session.seed)
    source = DataOptions(
        data, target, positive, tuple(exclude or ()), tuple(keep or ()),
        tuple(categorical or ()), parse_missing(missing), encoding,
        costs, parse_formats(decimal, thousands), parse_class_weight(class_weight),
        split_categories, parse_unlabelled(unlabelled),
        Layout(sheet, transpose, labels), min_level=min_level,
    )  # fmt: skip
    wanted = parse_threshold(threshold, error_costs, calibrate=calibrate, folds=folds)
    Run(
        session, files, search, folds, calibrate, allow_constant, levels, wanted,
        deadline=deadline,
    ).start(source, conditions)  # fmt: skip
