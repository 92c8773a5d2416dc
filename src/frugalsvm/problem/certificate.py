"""Certificate: the proof of a lower bound, as a file.

:func:`frugalsvm.verify` reads the file and documents its layout. Nothing in it needs to
be trusted.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..checker import checksum, read_arrays, save_arrays

# --- Atomic writing of files: whole or not at all -------------------------------------
#
# A file is written under an unpredictable temporary name and then renamed. No process
# ever sees a partial file, and an old file is replaced only by a complete new one.


def write_whole(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file atomically.

    Parameters
    ----------
    path : Path
        If it is a link, the file that it points to is replaced.
    write : callable
        Called with a new file that is open for writing.
    """
    target = path.resolve()
    # Exclusive creation: a link planted at this name is not followed.
    # Only the beginning of the name: names of files have a maximum length.
    handle, name = tempfile.mkstemp(
        dir=target.parent, prefix=f".{target.name[:50]}.", suffix=".partial"
    )
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _mode(target))
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _mode(target: Path) -> int:
    """The permissions of the existing file, or those of a new one."""
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        # The umask can be read only by setting it.
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


# --- Certificate ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Certificate:
    """The proof of a lower bound.

    Attributes
    ----------
    arrays : mapping from names to arrays
        The content of the file.
    """

    arrays: Mapping[str, np.ndarray]

    def __repr__(self) -> str:
        n_leaves = int((self.arrays["point"] >= 0).sum())
        return (
            f"Certificate(objective={float(self.arrays['objective']):.6g}, "
            f"lower_bound={float(self.arrays['lower_bound']):.6g}, "
            f"leaves={n_leaves:,})"
        )

    def with_preparation(self, text: str) -> Certificate:
        """The same proof with a note on how its data were derived from a table.

        Parameters
        ----------
        text : str
            It is covered by the checksum but not part of the proof.

        Returns
        -------
        Certificate
        """
        return self._with(preparation=np.frombuffer(text.encode(), dtype=np.uint8))

    def with_scaling(self, mean: np.ndarray, scale: np.ndarray) -> Certificate:
        """The same proof for data that were standardised for it.

        Parameters
        ----------
        mean, scale : ndarrays of shape (n_columns,)
            The proof is about ``(X - mean) / scale``.

        Returns
        -------
        Certificate
        """
        return self._with(mean=mean, scale=scale)

    def with_refit(
        self,
        weights: np.ndarray,
        coef: np.ndarray,
        intercept: Any,
        objective: float,
        lower_bound: float,
        alpha: np.ndarray,
    ) -> Certificate:
        """The same proof, and a second one for weights computed with another C.

        Parameters
        ----------
        weights : ndarray
            The other C times the sample weights, for all samples.
        coef : ndarray
            Weights of the columns of the features selected or included, one feature
            after the other in increasing order, for each machine in turn.
        intercept : float or ndarray
            One for each of several machines.
        objective, lower_bound : float
        alpha : ndarray
            The dual point of the bound, for samples of positive weight.

        Returns
        -------
        Certificate
        """
        samples = np.flatnonzero(alpha)
        several = (
            {"refit_intercepts": np.array(intercept)} if np.ndim(intercept) else {}
        )
        return self._with(
            refit_weights=weights,
            refit_coef=coef,
            refit_sample=samples,
            refit_alpha=alpha[samples],
            refit_intercept=np.array(0.0 if several else intercept),
            refit_objective=np.array(objective),
            refit_lower_bound=np.array(lower_bound),
            **several,
        )

    def _with(self, **entries: np.ndarray) -> Certificate:
        arrays = {**self.arrays, **entries}
        return Certificate(arrays | {"checksum": np.array(checksum(arrays))})

    @property
    def preparation(self) -> str | None:
        """How the data were derived from a table, if recorded."""
        note = self.arrays.get("preparation")
        return None if note is None else note.tobytes().decode("utf-8", "replace")

    def save(self, path: str | PathLike[str]) -> None:
        """Write a compressed ``.npz`` file of exactly this name."""
        write_whole(Path(path), self.write)

    def write(self, file: IO[bytes]) -> None:
        """Write to an open file."""
        save_arrays(file, self.arrays)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Certificate:
        """Read a file; its content is never executed, and only its form is checked."""
        return cls(read_arrays(path))
