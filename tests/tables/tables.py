"""Tables created in memory."""

import numpy as np
from pandas import factorize

from frugalsvm.tables import Numbers, Table
from frugalsvm.tables.columns import sorted_texts


def made(**columns):
    """A table from lists of numbers, or of strings and None."""
    found = {}
    for name, values in columns.items():
        is_text = any(isinstance(one, str) for one in values)
        if is_text:
            found[name] = sorted_texts(*factorize(np.array(values, dtype=object)))
        else:
            found[name] = Numbers(np.array(values, dtype=float))
    return Table(found, len(next(iter(columns.values()))), "made.csv")
