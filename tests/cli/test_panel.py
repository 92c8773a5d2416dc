import io
import logging
import math

from rich.console import Console

from frugalsvm.cli import panel as panel_module
from frugalsvm.cli.panel import Panel
from frugalsvm.cli.session import Session
from frugalsvm.estimators.cells import ChoiceProgress
from frugalsvm.run.monitor import Progress, logger


def session(is_terminal, **options):
    console = Console(
        file=io.StringIO(), force_terminal=is_terminal, width=90, markup=False
    )
    return Session(err=console, **options), console.file


def test_a_terminal_shows_time_incumbent_bound_gap_and_phase():
    made, file = session(True)
    with Panel(made) as panel:
        panel.phase("searching [and] proving")
        logger.warning("compiling kernels: a while")
        panel._live.refresh()
        panel.progress(Progress(1.0, 1234, 5, 44.25, 40.125, 0.0932))
        panel._live.refresh()
    text = file.getvalue()
    for words in (
        "searching [and] proving", "compiling kernels", "44.25", "40.125", "9.32 %",
        "1,234", "Ctrl-C",
    ):  # fmt: skip
        assert words in text


def test_before_there_is_a_solution_there_are_no_numbers():
    made, file = session(True)
    with Panel(made) as panel:
        panel.progress(Progress(0.1, 0, 0, float("inf"), float("-inf"), float("inf")))
        panel._live.refresh()
    assert "inf" not in file.getvalue()


def test_without_a_terminal_each_phase_is_a_line():
    made, file = session(False)
    with Panel(made) as panel:
        panel.phase("reading")
        logger.warning("compiling")
        panel.progress(Progress(0.0, 1, 1, 2.0, -math.inf, math.inf))
        for seconds in (10.5, 12.0, 13.0, 21.5):
            panel.progress(Progress(seconds, 1, 1, 2.0, 1.0, 0.5))
    assert file.getvalue().splitlines() == [
        "reading ...",
        "  compiling",
        "  0 s: incumbent 2, no bound yet",
        "  10 s: incumbent 2, bound 1, gap 50 %",
        "  22 s: incumbent 2, bound 1, gap 50 %",
    ]


def test_quiet_prints_nothing_and_keeps_the_logging_configuration():
    made, file = session(True, quiet=True)
    before = (list(logger.handlers), logger.propagate)
    with Panel(made) as panel:
        panel.phase("reading")
        logger.log(logging.WARNING, "compiling")
    assert file.getvalue() == ""
    assert (list(logger.handlers), logger.propagate) == before


def test_steps_of_a_choice_are_lines_with_an_estimate(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(panel_module.time, "monotonic", lambda: now[0])
    made, file = session(False)
    with Panel(made) as panel:
        panel.phase("choosing")
        for k in range(1, 5):
            panel.step(ChoiceProgress(3.0 * k, k % 2, 5, 0.1, 0.8, k, 4, 60.0 - k))
            now[0] += 6.0
    assert file.getvalue().splitlines() == [
        "choosing ...",
        "  3 s: step 1 of 4 (feature limit 5, fold 2), about 1 min to go",
        "  9 s: step 3 of 4 (feature limit 5, fold 2), about 55 s to go",
    ]
    made, file = session(True)
    with Panel(made) as panel:
        panel.step(ChoiceProgress(3.0, 0, 5, 0.1, 0.8, 1, 4, 60.0))
        panel._live.refresh()
    assert "step 1 of 4" in file.getvalue()
