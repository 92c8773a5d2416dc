"""Aligned tables that are Markdown, too, printed row by row as results arrive."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


class Table:
    """A table whose rows are printed as they come."""

    def __init__(self, title: str, columns: Sequence[str], width: int = 12):
        self.widths = [max(width, len(c)) for c in columns]
        print(f"\n## {title}\n")
        self.row(columns)
        self.row(["-" * w for w in self.widths])

    def row(self, cells: Sequence[Any]) -> None:
        """Print one row."""
        texts = [
            str(c).rjust(w) if i else str(c).ljust(w)
            for i, (c, w) in enumerate(zip(cells, self.widths, strict=True))
        ]
        print("| " + " | ".join(texts) + " |", flush=True)


def best_time(function: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """Shortest processor time of several runs, and the last value."""
    times = []
    value = None
    for _ in range(repeats):
        started = time.process_time()
        value = function()
        times.append(time.process_time() - started)
    return min(times), value


def geometric_mean(values: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))
