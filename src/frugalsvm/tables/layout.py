"""Layout: where in a file, and in which direction, a table is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Layout:
    """Where in a file a table is, and which way its rows run.

    Attributes
    ----------
    sheet : str or None
        Name or number of the sheet of an Excel file; None for the first one.
    is_transposed : bool
        Whether its columns are the samples.
    labels : str or None
        Path of another table that has the target.
    """

    sheet: str | None = None
    is_transposed: bool = False
    labels: str | None = None

    @property
    def names_samples(self) -> bool:
        """Whether the first column has the names of the samples, which are text."""
        return self.is_transposed or self.labels is not None

    @property
    def arguments(self) -> list[str]:
        """The same as options of the command line."""
        found = [] if self.sheet is None else ["--sheet", self.sheet]
        found += ["--transpose"] * self.is_transposed
        return found if self.labels is None else [*found, "--labels", self.labels]


# One table with samples in rows.
USUAL = Layout()
