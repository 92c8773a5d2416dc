"""Speed: typical calls, alone or in turn with another version of the library.

``python -m experiments speed --with against=PYTHON`` compares with the library that
another interpreter finds, such as that of an environment with an earlier commit: both
take turns, each in a process of its own. Stored cells know nothing of changes of the
other version: say ``--again`` after them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from ..cells import grid
from ..experiment import benchmark
from ..statistics import geometric_mean
from ..store import Row
from .speed_case import INSTANCES
from .timing import in_process

CASE = Path(__file__).with_name("speed_case.py")
# Targets for a change that should not be slower: mean and largest ratio.
MEAN, LARGEST = 1.02, 1.10


def speed(data: None, *, instance: str, turns: int, against: str) -> Row:
    """Median seconds of a call, those of the other version, and mean ratio."""
    runs = [
        [_run(python, instance) for python in (sys.executable, against) if python]
        for _ in range(turns)
    ]
    row: Row = {
        "seconds": float(np.median([ours["seconds"] for ours, *_ in runs])),
        "value": runs[-1][0]["value"],
    }
    if against:
        ratios = [ours["seconds"] / other["seconds"] for ours, other in runs]
        others = [other["seconds"] for _, other in runs]
        row["seconds, other"] = float(np.median(others))
        row["ratio"] = geometric_mean(ratios)
        row["same value"] = all(ours["value"] == other["value"] for ours, other in runs)
    return row


def _run(python: str, instance: str) -> dict[str, float]:
    process = in_process(["-P", str(CASE), instance], python)
    if process.returncode:
        raise RuntimeError(f"{python}: {process.stderr.strip().splitlines()[-1]}")
    return json.loads(process.stdout)


def _note(rows: list[Row]) -> str:
    ratios = [row["ratio"] for row in rows if "ratio" in row]
    if not ratios:
        return "--with against=PYTHON compares with what another interpreter imports."
    same = sum(row["same value"] for row in rows)
    return (
        f"Time by the other's: geometric mean {geometric_mean(ratios):.3f} (at most "
        f"{MEAN:g} where nothing should be slower), largest {max(ratios):.3f} (at most "
        f"{LARGEST:g}). The same values in {same} of {len(rows)}."
    )


SPEED = benchmark(
    "speed",
    "Typical calls: fits, trees, cross-validation, lists and proofs, one thread",
    "Processor seconds of a second call, the median of several processes; with "
    "against=PYTHON beside the library that another interpreter imports, in turn.",
    lambda settings, turns, against: grid(
        "speed", instance=INSTANCES, turns=settings.pick(1, turns), against=against
    ),
    [speed],
    options={"turns": 10, "against": ""},
    note=_note,
    sets=(),
)
