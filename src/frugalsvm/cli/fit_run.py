"""Run: one fit on the command line, from the input file to the output files."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from .data_options import DataOptions
from .deadline import Deadline
from .errors import ConstantFit, InterruptedFit, message
from .fit_files import Files
from .outputs import command_line, write_certificate, write_text
from .panel import Panel
from .session import Session
from .stages import Stages

# Parts of the time left that choice, search and proof may use if something follows, and
# the cross-validation if a report follows.
SHARE_OF_FIT, SHARE_OF_FOLDS = 0.5, 0.75


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
        from ..estimators.splits import possible_folds
        from .fitting import fit_all
        from .levels import check_signed_levels
        from .validation import inner_folds

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
                on_plan=lambda words: self.session.say(f"  {words}"),
                on_step=panel.step,
                certificate=self.files.certificate is not None
                or self.files.report is not None,
                hold=self.session.hold,
            )
            fitted = _with_preparation(fitted)
            if fitted.choice is not None and fitted.choice.remark:
                self.remarks.append(fitted.choice.remark)
            checked = Checked(interrupted=fitted.was_interrupted)
            if not checked.interrupted:
                seconds = in_folds = self.deadline.clock() - begun
                if fitted.choice is not None:
                    n_inner = inner_folds(self.search, folds, data.n_rows)
                    # What was compared is not fitted to all rows of a fold.
                    in_folds = n_inner * fitted.choice.seconds + fitted.result.seconds
                stages = Stages(panel, self.deadline, seconds, in_folds)
                self._check(data, conditions, fitted, folds, stages, checked)
        self._finish(data, fitted, checked)

    def _check(
        self, data: Any, conditions: Any, fitted: Any, folds: int, stages: Stages,
        checked: Checked,
    ) -> None:  # fmt: skip
        """Cross-validate, and compute what the report needs; Ctrl-C ends it."""
        hold = self.session.hold
        try:
            hold.end()
            if hold.count > 0:
                raise KeyboardInterrupt
            if folds:
                checked.validation = self._validate(data, conditions, folds, stages)
            if self.files.report is not None:
                checked.extras = self._extras(data, fitted, stages)
                # A list that Ctrl-C has cut short is still shown.
                found = checked.extras.get("alternatives")
                checked.interrupted = (
                    found is not None and found.status == "interrupted"
                )
            hold.begin(checked.interrupted)
        except KeyboardInterrupt:
            checked.interrupted = True
            hold.begin(checked.interrupted)

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
            on_step=stages.panel.step,
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

        return extras(data, fitted, self.search, stages.part_of_report, self.deadline)

    def _finish(self, data: Any, fitted: Any, checked: Checked) -> None:
        from .cautions import Cautions, too_many_weights
        from .results import constant_of, content_of, show_fit, verify_command
        from .shown import tie_words
        from .validation import scores_of_all

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
        too_large = checked.extras.get("too_large")
        left_out = [one for one in (self.deadline.remark, too_large) if one]
        for one in left_out:
            self.session.warn(one)
        if self.calibrate and validation is None:
            self.remarks.append(
                "calibration needs cross-validation: the model has no probabilities"
            )
        self.remarks += too_many_weights(data, fitted)
        scores = scores_of_all(data, fitted.preparation, fitted.model)
        if fitted.model.coef.any() and (words := tie_words(scores)):
            self.remarks.append(words)
        cautions = Cautions.of(data, fitted.preparation, self.remarks)
        cautions.show(self.session)
        if constant is not None and self.session.json:
            self.session.warn(constant.words_of_commands)
        form = self._form(fitted)
        show_fit(self.session, data, fitted, validation, form)
        extras = checked.extras | {"cautions": cautions, "left_out": left_out}
        saved, errors = self._save(data, fitted, validation, extras)
        if "certificate" in saved:
            mark = str(fitted.result.certificate.arrays["fingerprint"])
            self.session.show(
                f"Certificate for data with fingerprint {mark[:16]}...; check it with",
                f"  {verify_command(saved['certificate'], data)}",
            )
        self.session.give(
            content_of(data, fitted, validation, interrupted)
            | {"left_out": [*self.deadline.left_out, *[too_large] * bool(too_large)]}
            | {"warnings": cautions.texts, "files": saved}
            | {"errors": [message(error) for error in errors]}
        )
        if errors:
            raise errors[0]
        if interrupted or self.session.hold.count > 0:
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
                    saved.get("certificate"), self._form(fitted),
                )),
            ),
        }  # fmt: skip
        return saved, self.files.write(self.session, writers, saved)


def _with_preparation(fitted: Any) -> Any:
    """Store in the certificate how its numbers were made from the table."""
    proof = fitted.result.certificate
    if proof is None:
        return fitted
    proof = proof.with_preparation(fitted.preparation.to_json())
    return replace(fitted, result=replace(fitted.result, certificate=proof))
