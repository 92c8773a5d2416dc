"""render and write_report: one HTML file without script, network or pictures beside it.

Whatever comes from users is escaped: the template by Jinja2, figures by ``drawing``.
"""

from __future__ import annotations

import os
import tempfile
from importlib import import_module
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

from .content import Report


def render(report: Report) -> str:
    """The page of a report, as text.

    Parameters
    ----------
    report : Report

    Returns
    -------
    str
        A complete HTML document.
    """
    folder = files(__package__)
    environment = _jinja().Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=_jinja().StrictUndefined,
    )  # fmt: skip
    template = environment.from_string((folder / "page.html").read_text("utf-8"))
    style = (folder / "style.css").read_text("utf-8")
    return template.render(report=report, style=style)


def write_report(report: Report, path: str | PathLike[str]) -> None:
    """Write the page of a report to a file.

    It is written under another name first, so that no half of a page is ever there.

    Parameters
    ----------
    report : Report
    path : path of the file
    """
    text = render(report)
    target = Path(path)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    """What files are not allowed by default; it can be read by setting it only."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _jinja() -> Any:
    """The package, or an error that says how to get it."""
    try:
        return import_module("jinja2")
    except ImportError as error:
        raise ImportError(
            "a report needs Jinja2, which is not installed: "
            "pip install 'frugalsvm[cli]'."
        ) from error
