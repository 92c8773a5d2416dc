"""``frugalsvm fit``: fit a model to a table, with a proof."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..tables import MIN_LEVEL, REFUSE, Layout
from . import options as opt
from .options import DataOptions
from .outputs import STDOUT, check_output, command_line, write_certificate, write_text
from .panel import Panel
from .session import (
    ConstantFit,
    Deadline,
    InterruptedFit,
    Session,
    UsageProblem,
    message,
)

if TYPE_CHECKING:
    from .validation import Stages


@dataclass(frozen=True)
class Files:
    """The requested output files."""

    report: str | None = None
    model: str | None = None
    certificate: str | None = None

    def check(self, *inputs: str | None) -> None:
        """Raise an error now for a file that cannot be written later."""
        paths = [path for path in vars(self).values() if path is not None]
        for name, path in vars(self).items():
            check_output(f"--{name}", path, *inputs)
            if path == STDOUT:
                raise UsageProblem(
                    f"--{name}: give a file name; standard output is used for the "
                    "result."
                )
        if len(set(map(os.path.realpath, paths))) < len(paths):
            raise UsageProblem("two output files have the same name.")

    def write(
        self,
        session: Session,
        writers: Mapping[str, Callable[[str], None]],
        saved: dict[str, str],
    ) -> list[OSError]:
        """Write all files that can be written; add them to ``saved``.

        Returns
        -------
        list of OSError
            The errors of the others.
        """
        errors: list[OSError] = []
        for name, write in writers.items():
            path = getattr(self, name)
            if path is None:
                continue
            try:
                write(path)
            except OSError as error:
                errors.append(error)
            else:
                saved[name] = path
                session.say(f"{name} written to {path}")
        return errors


# Shares of the time left that choice, search and proof may use if a cross-validation or
# a report follows, and the cross-validation if a report follows.
SHARE_OF_FIT, SHARE_OF_FOLDS = 0.5, 0.75


@dataclass
class Assessment:
    """Results about a fitted model, perhaps cut short by Ctrl-C.

    Attributes
    ----------
    validation : Validation or None
    extras : dict
        Results that only the report shows.
    interrupted : bool
    """

    validation: Any = None
    extras: dict[str, Any] = field(default_factory=dict)
    interrupted: bool = False


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
    threshold: Any = None
    remarks: list[str] = field(default_factory=list)
    deadline: Deadline = field(default_factory=Deadline)

    def start(self, source: DataOptions, conditions: Any) -> None:
        """Read, fit, cross-validate, show and save."""
        from ..estimators import possible_folds
        from .choosing import fit_all
        from .levels import check_signed_levels
        from .validation import Stages, inner_folds

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
            if 0 < folds < self.folds:
                self.session.say(
                    f"the rarer class has only {folds} rows: using {folds} folds"
                )
            elif folds < self.folds:
                self.remarks.append(
                    "the rarer class has only one row: no cross-validation"
                )
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
                on_plan=lambda text: self.session.say(f"  {text}"),
                on_step=panel.step,
                certificate=self.files.certificate is not None
                or self.files.report is not None,
                hold=self.session.hold,
            )
            if (proof := fitted.result.certificate) is not None:
                # The certificate also says how its numbers were made from the table.
                proof = proof.with_preparation(fitted.preparation.to_json())
                result = replace(fitted.result, certificate=proof)
                fitted = replace(fitted, result=result)
            if fitted.choice is not None and fitted.choice.remark:
                self.remarks.append(fitted.choice.remark)
            assessment = Assessment(interrupted=fitted.was_interrupted)
            if not assessment.interrupted:
                seconds = in_folds = self.deadline.clock() - begun
                if fitted.choice is not None:
                    n_inner = inner_folds(self.search, folds, data.n_rows)
                    # The candidates are not fitted to all rows of a fold.
                    in_folds = n_inner * fitted.choice.seconds + fitted.result.seconds
                stages = Stages(panel, self.deadline, seconds, in_folds)
                self._assess(data, conditions, fitted, folds, stages, assessment)
        self._finish(data, fitted, assessment)

    def _assess(
        self,
        data: Any,
        conditions: Any,
        fitted: Any,
        folds: int,
        stages: Stages,
        assessment: Assessment,
    ) -> None:
        """Cross-validate, and compute the extras of the report; Ctrl-C ends it."""
        hold = self.session.hold
        try:
            hold.end()
            if hold.count > 0:
                raise KeyboardInterrupt
            if folds:
                assessment.validation = self._validate(data, conditions, folds, stages)
            if self.files.report is not None:
                from .reporting import extras

                assessment.extras = extras(
                    data, fitted, self.search, stages.part_of_report, self.deadline
                )
                # A list that Ctrl-C has cut short is still shown.
                listing = assessment.extras.get("alternatives")
                assessment.interrupted = (
                    listing is not None and listing.status == "interrupted"
                )
            hold.begin(assessment.interrupted)
        except KeyboardInterrupt:
            assessment.interrupted = True
            hold.begin(assessment.interrupted)

    def _validate(self, data: Any, conditions: Any, folds: int, stages: Stages) -> Any:
        from .validation import cross_validate

        has_report = self.files.report is not None
        validation = cross_validate(
            data,
            conditions,
            self.search,
            folds,
            on_fold=stages.fold,
            on_step=stages.panel.step,
            probabilities=has_report,
            deadline=self.deadline.within(SHARE_OF_FOLDS if has_report else 1.0),
        )
        n_done = 0 if validation is None else validation.n_folds
        if n_done < folds:
            part = "the cross-validation"
            if validation is not None:
                part = f"{folds - n_done} of {folds} folds of the cross-validation"
            self.deadline.omit(part, "a larger --time-limit has room for it")
        return validation

    def _finish(self, data: Any, fitted: Any, assessment: Assessment) -> None:
        """Warn, show the result, write the files and print the result as JSON."""
        from .levels import level_form, tie_text
        from .reporting import Cautions, too_many_weights
        from .results import constant_of, content_of, show_fit, verify_command
        from .validation import scores_of_all

        validation, interrupted = assessment.validation, assessment.interrupted
        if self.calibrate and validation is not None:
            sigmoid = validation.calibration(data.target.positive)
            fitted = replace(fitted, calibration=sigmoid)
        if self.threshold is not None and self.threshold.is_set:
            fitted = self._with_threshold(data, fitted, validation)
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
        too_large = assessment.extras.get("too_large")
        left_out = [text for text in (self.deadline.remark, too_large) if text]
        for text in left_out:
            self.session.warn(text)
        if self.calibrate and validation is None:
            self.remarks.append(
                "calibration needs cross-validation: the model has no probabilities"
            )
        self.remarks += too_many_weights(data, fitted)
        scores = scores_of_all(data, fitted.preparation, fitted.model)
        if fitted.model.coef.any() and (ties := tie_text(scores)):
            self.remarks.append(ties)
        cautions = Cautions.of(data, fitted.preparation, self.remarks)
        cautions.show(self.session)
        if constant is not None and self.session.json:
            self.session.warn(constant.command_line_message)
        form = None if self.levels is None else level_form(fitted, self.levels)
        show_fit(self.session, data, fitted, validation, form)
        extras = assessment.extras | {"cautions": cautions, "left_out": left_out}
        saved, errors = self._save(data, fitted, validation, extras, form)
        if "certificate" in saved:
            digest = str(fitted.result.certificate.arrays["fingerprint"])[:16]
            self.session.show(
                f"Certificate for data with fingerprint {digest}...; check it with",
                f"  {verify_command(saved['certificate'], data)}",
            )
        self.session.print_json(
            content_of(data, fitted, validation, interrupted)
            | {"left_out": [*self.deadline.omissions, *[too_large] * bool(too_large)]}
            | {"warnings": cautions.texts, "files": saved}
            | {"errors": [message(error) for error in errors]}
        )
        if errors:
            raise errors[0]
        if interrupted or self.session.hold.count > 0:
            raise InterruptedFit
        if constant is not None and not self.allow_constant:
            raise ConstantFit

    def _with_threshold(self, data: Any, fitted: Any, validation: Any) -> Any:
        """The model with the threshold that was asked for, if it can be learned."""
        from .thresholds import with_threshold

        moved = with_threshold(self.threshold, data, fitted, validation)
        if moved is None:
            self.remarks.append(
                "no threshold: it needs a cross-validation in which higher scores mean "
                "the positive class; the model predicts by a score above zero"
            )
            return fitted
        return moved

    def _save(
        self, data: Any, fitted: Any, validation: Any, extras: Any, form: Any
    ) -> tuple[dict[str, str], list[OSError]]:
        """Write all files that can be written."""
        from ..report import render
        from .models import portable_model
        from .reporting import report_of

        command = command_line()
        # A certificate that could not be written is not named in the report.
        saved: dict[str, str] = {}
        writers: dict[str, Any] = {
            "model": lambda path: write_text(
                path,
                portable_model(fitted, data, command=command).to_json(),
            ),
            "certificate": lambda path: write_certificate(
                path, fitted.result.certificate
            ),
            "report": lambda path: write_text(
                path,
                render(report_of(
                    data, fitted, validation, extras, self.session.seed, command,
                    saved.get("certificate"), form,
                )),
            ),
        }  # fmt: skip
        return saved, self.files.write(self.session, writers, saved)


# --- The command ----------------------------------------------------------------------

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
    from .levels import check_levels
    from .options import parse_formats
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
        parse_budget(max_features),
        parse_C(C),
        tuple(include or ()),
        None,
        max_cost,
        signs=parse_signs(signs),
        is_split=split_categories,
    )
    search = Search(effort, time_limit, jobs, session.seed)
    source = DataOptions(
        data, target, positive, tuple(exclude or ()), tuple(keep or ()),
        tuple(categorical or ()), parse_missing(missing), encoding,
        costs, parse_formats(decimal, thousands), parse_class_weight(class_weight),
        split_categories, parse_unlabelled(unlabelled),
        Layout(sheet, transpose, labels), min_level=min_level,
    )  # fmt: skip
    request = parse_threshold(threshold, error_costs, calibrate=calibrate, folds=folds)
    Run(
        session,
        files,
        search,
        folds,
        calibrate,
        allow_constant,
        levels,
        request,
        deadline=deadline,
    ).start(source, conditions)
