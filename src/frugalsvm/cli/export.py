"""``frugalsvm export``: a model in other languages."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from . import options as opt
from .outputs import STDOUT, check_output, printing_result, write_bytes, write_text
from .session import Session, UsageProblem

if TYPE_CHECKING:
    from ..export import PortableModel

EXAMPLES = (
    "frugalsvm export model.json --to sql",
    "frugalsvm export model.json --to sql --what label --dialect mysql",
    "frugalsvm export model.json --to python -o score.py",
    "frugalsvm export model.json --to onnx -o model.onnx",
)


class Form(StrEnum):
    """Languages and formats to which a model can be exported."""

    SQL = "sql"
    PYTHON = "python"
    ONNX = "onnx"


def export(
    session: Session,
    model: opt.ModelFile,
    to: Annotated[Form, typer.Option("--to", help="sql, python or onnx.")],
    what: Annotated[
        str, typer.Option(help="For SQL: score, label or probability.")
    ] = "score",
    dialect: Annotated[
        str, typer.Option(help="For SQL: ansi, mysql or sqlserver.")
    ] = "ansi",
    output: opt.Output = STDOUT,
) -> None:
    """Write a model as an SQL expression, a Python module or an ONNX graph.

    SQL and Python use the columns of the table, with categories as text. ONNX uses the
    features, with 0 or 1 for each category.
    """
    from ..export import input_columns, takes_columns
    from .models import load_model

    check_output("--output", output, model)
    loaded = load_model(model)
    if to is Form.ONNX:
        if output == STDOUT:
            raise UsageProblem(
                "--output: an ONNX graph is binary; give a file, e.g. -o model.onnx."
            )
        graph = loaded.model.to_onnx().SerializeToString()
        write_bytes(output, graph)
        is_raw = takes_columns(loaded.model)
        columns = list(input_columns(loaded.model)) if is_raw else loaded.model.names
        names = ", ".join(columns)
        session.say(f"written to {output}; its input columns are {names}")
        session.print_json({"to": str(to), "file": output, "columns": columns})
        return
    if to is Form.SQL:
        _check_sql(what, dialect, loaded.model)
        text = loaded.model.to_sql(what, dialect=dialect) + "\n"
    else:
        text = loaded.model.to_python()
    if session.json and output == STDOUT:
        session.print_json({"to": str(to), "text": text})
        return
    with printing_result(session, {"to": str(to), "text": text}):
        write_text(output, text)
        if output != STDOUT:
            session.say(f"written to {output}")


def _check_sql(what: str, dialect: str, model: PortableModel) -> None:
    from ..export import DIALECTS

    for option, value, choices in (
        ("--what", what, ("score", "label", "probability")),
        ("--dialect", dialect, DIALECTS),
    ):
        if value not in choices:
            raise UsageProblem(
                f"{option} must be one of {', '.join(choices)}; got {value!r}."
            )
    if what == "probability" and model.n_scores > 1:
        raise UsageProblem(
            f"--what probability: this model has {len(model.classes)} classes, and a "
            "score for each instead of probabilities; use --what score."
        )
    if what == "probability" and model.calibration is None:
        raise UsageProblem(
            "--what probability: this model has no probabilities; fit it again with "
            "--calibrate."
        )
