"""``frugalsvm fit``: fit a model to a table, with a proof."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
import typer

from ..tables.formats import ALL_OPEN, FormatRules
from ..tables.gaps import INDICATOR, REFUSE
from ..tables.kinds import MIN_LEVEL
from ..tables.layout import USUAL, Layout
from . import options as opt
from .deadline import Deadline
from .errors import ConstantFit, InterruptedFit, UsageProblem, message
from .outputs import STDOUT, check_output, write_certificate, write_text
from .panel import Panel
from .session import Session

# Parts of the time left that choice, search and proof may use if something follows, and
# the cross-validation if a report follows.
SHARE_OF_FIT, SHARE_OF_FOLDS = 0.5, 0.75
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
    impute: opt.Impute = None,
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
        tuple(categorical or ()), parse_missing(session, missing, impute), encoding,
        costs, parse_formats(decimal, thousands), parse_class_weight(class_weight),
        split_categories, parse_unlabelled(unlabelled),
        Layout(sheet, transpose, labels), min_level=min_level,
    )  # fmt: skip
    wanted = parse_threshold(threshold, error_costs, calibrate=calibrate, folds=folds)
    Run(
        session, files, search, folds, calibrate, allow_constant, levels, wanted,
        deadline=deadline,
    ).start(source, conditions)  # fmt: skip


@dataclass(frozen=True)
class Files:
    """The requested output files."""

    report: str | None = None
    model: str | None = None
    certificate: str | None = None

    def check(self, *inputs: str | None) -> None:
        """Raise an error now for a file that cannot be written later."""
        given = [one for one in vars(self).values() if one is not None]
        for name, path in vars(self).items():
            check_output(f"--{name}", path, *inputs)
            if path == STDOUT:
                raise UsageProblem(
                    f"--{name}: give a file name; standard output is used for the "
                    "result."
                )
        if len(set(map(os.path.realpath, given))) < len(given):
            raise UsageProblem("two output files have the same name.")


def check_cost_options(costs: str | None, max_cost: float | None) -> None:
    """Raise an error unless costs and their limit are given together."""
    if (costs is None) != (max_cost is None):
        raise UsageProblem(
            "--costs and --max-cost must be given together: the cost of each column, "
            "and the maximum total cost."
        )
    if max_cost is not None and not 0 <= max_cost < np.inf:
        raise UsageProblem(f"--max-cost must be a number >= 0, got {max_cost:g}.")


@dataclass(frozen=True)
class DataOptions:
    """The data file and the user's options for reading it."""

    path: str
    target: str
    positive: str | None = None
    exclude: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    missing: str = INDICATOR
    encoding: str | None = None
    costs: str | None = None
    formats: FormatRules = ALL_OPEN
    class_weight: Any = "auto"
    is_split: bool = False
    drops_unlabelled: bool = False
    layout: Layout = USUAL
    min_level: int = MIN_LEVEL

    def load(self, session: Session, panel: Panel) -> tuple[Any, Any, Any]:
        """Load data, preparation and costs, and report how the file was read."""
        from .parsing import check_costs, read_costs
        from .study import load_data
        from .understanding import understood

        panel.phase(f"reading {self.path}")
        costs = None if self.costs is None else read_costs(self.costs)
        data = load_data(
            self.path, self.target, positive=self.positive, exclude=self.exclude,
            keep=self.keep, categorical=self.categorical, missing=self.missing,
            encoding=self.encoding, formats=self.formats,
            drops_unlabelled=self.drops_unlabelled, layout=self.layout,
            min_level=self.min_level, is_split=self.is_split,
        )  # fmt: skip
        check_costs(costs, data)
        preparation = data.prepare()
        for line in understood(data, preparation, self.is_split):
            session.say(line)
        return data, preparation, costs

    def weights(self, session: Session, target: Any) -> Any:
        """The weights of the classes, said if they differ."""
        from .class_weights import ClassWeights

        found = ClassWeights.of(self.class_weight, target)
        remark = found.said(target.signs)
        if remark:
            session.say(f"  {remark}")
        return found


@dataclass
class Checked:
    """What was computed about a fitted model, perhaps cut short by Ctrl-C.

    Attributes
    ----------
    validation : Validation or None
    extras : dict
        What only the report needs.
    interrupted : bool
    """

    validation: Any = None
    extras: dict[str, Any] = field(default_factory=dict)
    interrupted: bool = False


@dataclass
class Stages:
    """What is said of the stages after the fit, and how long they may take.

    Attributes
    ----------
    panel : Panel
    deadline : Deadline
    fit_seconds : float
        What the fit took; searches in the folds, and the sections of the report, are
        made to take no longer.
    """

    panel: Panel
    deadline: Deadline
    fit_seconds: float
    _begun: float = 0.0

    def fold(self, k: int, n: int) -> None:
        """The folds that are left, as long as those before."""
        if self.deadline.is_over:
            return
        now, seconds = self.deadline.clock(), self.fit_seconds
        if k == 1:
            self._begun = now
        else:
            seconds = (now - self._begun) / (k - 1) * (n - k + 1)
        self.phase(f"cross-validating: fold {k} of {n}", seconds)

    def part_of_report(self, words: str) -> None:
        """A section of the report."""
        self.phase(words, self.fit_seconds / 2)

    def phase(self, words: str, seconds: float) -> None:
        """A stage that takes about some seconds, or the time that is left."""
        left = self.deadline.left
        self.panel.phase(words, seconds if left is None else min(seconds, left))


@dataclass
class Run:
    """One fit, from the input file to the output files.

    ``remarks`` collects warnings about the run, which are shown before the result.
    """

    session: Session
    files: Files
    search: Any
    folds: int
    calibrate: bool = False
    allow_constant: bool = False
    levels: str | None = None
    wanted: Any = None
    remarks: list[str] = field(default_factory=list)
    deadline: Deadline = field(default_factory=Deadline)

    def start(self, source: DataOptions, conditions: Any) -> None:
        """Read, fit, cross-validate, show and save."""
        from ..api.validation.splits import possible_folds
        from .fitting import fit_all
        from .levels import check_signed_levels

        with Panel(self.session) as panel:
            data, preparation, costs = source.load(self.session, panel)
            weights = source.weights(self.session, data.target)
            conditions = replace(conditions, costs=costs, class_weight=weights)
            conditions.check(data, preparation)
            if self.levels is not None:
                check_signed_levels(conditions, preparation)
            if self.search.is_slow_for(data.n_rows):
                self.session.say(
                    "fitting this many rows takes a long time; --effort fast is quicker"
                )
            folds = possible_folds(data.target.positive, self.folds)
            if folds < self.folds:
                self._say_of_folds(folds)
            follows = folds > 0 or self.files.report is not None
            share = SHARE_OF_FIT if follows else 1.0
            begun = self.deadline.clock()
            fitted = fit_all(
                data,
                conditions,
                replace(self.search, time_limit=self.deadline.part(share)),
                folds=folds or self.folds,
                on_phase=panel.phase,
                callback=panel.progress,
                certificate=self.files.certificate is not None
                or self.files.report is not None,
            )
            fitted = _with_preparation(fitted)
            if fitted.choice is not None and fitted.choice.remark:
                self.remarks.append(fitted.choice.remark)
            checked = Checked(interrupted=fitted.was_interrupted)
            if not checked.interrupted:
                stages = Stages(panel, self.deadline, self.deadline.clock() - begun)
                self._check(data, conditions, fitted, folds, stages, checked)
        self._finish(data, fitted, checked)

    def _check(
        self, data: Any, conditions: Any, fitted: Any, folds: int, stages: Stages,
        checked: Checked,
    ) -> None:  # fmt: skip
        """Cross-validate, and compute what the report needs; Ctrl-C ends it."""
        try:
            if folds:
                checked.validation = self._validate(data, conditions, folds, stages)
            if self.files.report is not None:
                checked.extras = self._extras(data, fitted, stages)
                # A list that Ctrl-C has cut short is still shown.
                found = checked.extras.get("alternatives")
                checked.interrupted = (
                    found is not None and found.status == "interrupted"
                )
        except KeyboardInterrupt:
            checked.interrupted = True

    def _say_of_folds(self, folds: int) -> None:
        if folds:
            self.session.say(
                f"the rarer class has only {folds} rows: using {folds} folds"
            )
        else:
            self.remarks.append("the rarer class has only one row: no cross-validation")

    def _validate(self, data: Any, conditions: Any, folds: int, stages: Stages) -> Any:
        from .validation import cross_validate

        has_report = self.files.report is not None
        found = cross_validate(
            data,
            conditions,
            self.search,
            folds,
            on_fold=stages.fold,
            probabilities=has_report,
            deadline=self.deadline.within(SHARE_OF_FOLDS if has_report else 1.0),
        )
        n_done = 0 if found is None else found.n_folds
        if n_done < folds:
            what = "the cross-validation" if found is None else "folds"
            if found is not None:
                what = f"{folds - n_done} of {folds} folds of the cross-validation"
            self.deadline.leave_out(what, "a larger --time-limit has room for it")
        return found

    def _extras(self, data: Any, fitted: Any, stages: Stages) -> dict[str, Any]:
        from .reporting import extras

        found = extras(data, fitted, self.search, stages.part_of_report, self.deadline)
        return found | {"left_out": self.deadline.remark}

    def _finish(self, data: Any, fitted: Any, checked: Checked) -> None:
        from .cautions import Cautions
        from .results import constant_of, content_of, show_fit

        validation, interrupted = checked.validation, checked.interrupted
        if self.calibrate and validation is not None:
            sigmoid = validation.calibration(data.target.positive)
            fitted = replace(fitted, calibration=sigmoid)
        if self.wanted is not None and self.wanted.is_any:
            fitted = self._above(data, fitted, validation)
        constant = constant_of(data, fitted)
        if interrupted:
            self.remarks.append(
                "interrupted: this is the best model found so far"
                + ("" if validation else ", without cross-validation")
            )
        if validation is not None and validation.n_late > 0:
            self.remarks.append(
                f"--time-limit ended the choice in {validation.n_late} of the "
                f"{validation.n_folds} folds of the cross-validation, too"
            )
        if self.deadline.left_out:
            self.session.warn(self.deadline.remark)
        if self.calibrate and validation is None:
            self.remarks.append(
                "calibration needs cross-validation: the model has no probabilities"
            )
        cautions = Cautions.of(data, fitted.preparation, self.remarks)
        cautions.show(self.session)
        if constant is not None and self.session.json:
            self.session.warn(constant.words_of_commands)
        form = self._form(fitted)
        show_fit(self.session, data, fitted, validation, self.files.certificate, form)
        extras = checked.extras | {"cautions": cautions}
        saved, errors = self._save(data, fitted, validation, extras)
        self.session.give(
            content_of(data, fitted, validation, interrupted)
            | {"left_out": self.deadline.left_out}
            | {"warnings": cautions.texts, "files": saved}
            | {"errors": [message(error) for error in errors]}
        )
        if errors:
            raise errors[0]
        if interrupted:
            raise InterruptedFit
        if constant is not None and not self.allow_constant:
            raise ConstantFit

    def _above(self, data: Any, fitted: Any, validation: Any) -> Any:
        """The model with the threshold that was asked for."""
        from .thresholds import with_threshold

        found = with_threshold(self.wanted, data, fitted, validation)
        if found is None:
            self.remarks.append(
                "no threshold: it needs a cross-validation in which higher scores mean "
                "the positive class; the model predicts by a score above zero"
            )
            return fitted
        return found

    def _form(self, fitted: Any) -> Any:
        """How categories are shown; None for their weights as fitted."""
        from .levels import level_form

        return None if self.levels is None else level_form(fitted, self.levels)

    def _save(
        self, data: Any, fitted: Any, validation: Any, extras: Any
    ) -> tuple[dict[str, str], list[OSError]]:
        """Write all files that can be written."""
        from ..output.report import render
        from .models import portable_model
        from .reporting import report_of

        command = command_line()
        writers: dict[str, Any] = {
            "model": lambda path: write_text(
                path,
                portable_model(fitted, command=command).to_json(),
            ),
            "certificate": lambda path: write_certificate(
                path, fitted.result.certificate
            ),
            "report": lambda path: write_text(
                path,
                render(report_of(
                    data, fitted, validation, extras, self.session.seed, command,
                    self.files.certificate, self._form(fitted),
                )),
            ),
        }  # fmt: skip
        saved: dict[str, str] = {}
        errors: list[OSError] = []
        for name, write in writers.items():
            path = getattr(self.files, name)
            if path is None:
                continue
            try:
                write(path)
            except OSError as error:
                errors.append(error)
            else:
                saved[name] = path
                self.session.say(f"{name} written to {path}")
        return saved, errors


def _with_preparation(fitted: Any) -> Any:
    """Store in the certificate how its numbers were made from the table."""
    proof = fitted.result.certificate
    if proof is None:
        return fitted
    proof = proof.with_preparation(fitted.preparation.to_json())
    return replace(fitted, result=replace(fitted.result, certificate=proof))


def command_line() -> str:
    """The command line, quoted for a shell."""
    return shlex.join(["frugalsvm", *sys.argv[1:]])
