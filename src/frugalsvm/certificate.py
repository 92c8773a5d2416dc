"""Certificate: the proof of a lower bound, as a file.

The file is what :func:`frugalsvm.verify` reads; its layout is described there. Nothing
in it has to be believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike

import numpy as np

from .checker import read_arrays, save_arrays


@dataclass(frozen=True, eq=False)
class Certificate:
    """A proof of a lower bound.

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

    def save(self, path: str | PathLike[str]) -> None:
        """Write a compressed ``.npz`` file, under exactly the given name."""
        with open(path, "wb") as file:
            save_arrays(file, self.arrays)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Certificate:
        """Read a file; nothing in it is executed, and nothing is checked but form."""
        return cls(read_arrays(path))
