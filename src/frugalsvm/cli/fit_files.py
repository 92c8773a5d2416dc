"""Files that ``frugalsvm fit`` writes: report, model and certificate."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .errors import UsageProblem
from .outputs import STDOUT, check_output
from .session import Session


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
