"""The ``frugalsvm`` command and its subcommands."""

from __future__ import annotations

from typing import Annotated

import typer

from . import alternatives, builtin, export, fit, info, path, predict, scorecard, verify
from .session import command
from .versions import own_version

app = typer.Typer(
    name="frugalsvm",
    help="Linear classifiers that use only a few features of a table, with a proof of "
    "how good the choice of features is.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(own_version())
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version."
        ),
    ] = False,
) -> None:
    pass


for _name, _function, _examples, _words in (
    ("fit", fit.fit, fit.EXAMPLES, "Fit a model to a table, with a proof."),
    (
        "path",
        path.path,
        path.EXAMPLES,
        "Show how accuracy depends on the number of features.",
    ),
    (
        "alternatives",
        alternatives.alternatives,
        alternatives.EXAMPLES,
        "List other choices of features that are about as good.",
    ),
    (
        "predict",
        predict.predict,
        predict.PREDICT_EXAMPLES,
        "Predict the classes of new rows.",
    ),
    (
        "explain",
        predict.explain,
        predict.EXPLAIN_EXAMPLES,
        "Show what each feature adds to a row's score.",
    ),
    (
        "scorecard",
        scorecard.scorecard,
        scorecard.EXAMPLES,
        "Turn a model into a scorecard of integer points.",
    ),
    (
        "export",
        export.export,
        export.EXAMPLES,
        "Export a model as SQL, Python or ONNX.",
    ),
    ("verify", verify.verify, verify.EXAMPLES, "Check a proof against the table."),
    ("demo", builtin.demo, builtin.DEMO_EXAMPLES, "Fit a model to built-in data."),
    (
        "warmup",
        builtin.warmup,
        builtin.WARMUP_EXAMPLES,
        "Compile all kernels in advance.",
    ),
    (
        "info",
        info.info,
        info.EXAMPLES,
        "Show versions, solvers, threads and the cache.",
    ),
):
    command(app, _name, examples=_examples, short_help=_words)(_function)
