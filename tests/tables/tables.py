"""Tables created in memory."""

import numpy as np

from frugalsvm.tables import Numbers, Table, Texts


def made(**columns):
    """A table from lists of numbers, or of strings and None."""
    read = {
        name: _texts(values)
        if any(isinstance(value, str) for value in values)
        else Numbers(np.array(values, dtype=float))
        for name, values in columns.items()
    }
    return Table(read, len(next(iter(columns.values()))), "made.csv")


def _texts(values):
    """As a file is read: stripped, with empty cells missing."""
    texts = [None if value is None else value.strip() for value in values]
    levels = sorted({text for text in texts if text})
    codes = {text: code for code, text in enumerate(levels)}
    return Texts(np.array([codes.get(text, -1) for text in texts], np.int32), levels)
