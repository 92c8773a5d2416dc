"""Commands interrupted at random moments, sometimes with an empty cache of kernels.

A command must end by itself, with exit code 130 or, inside an import, as if killed by
SIGINT, without a traceback; and once there is a model, its file must be written.
"""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from .tally import Tally, Unit

NAME = "commands"
COMMANDS = {
    "fit": ("fit", "-k", "3", "--model", "m.json"),
    "fit --C auto": (
        "fit", "-k", "3", "--C", "auto", "--model", "m.json", "--effort", "fast",
    ),
    "fit -k auto": (
        "fit", "-k", "auto", "--C", "auto", "--model", "m.json", "--report", "r.html",
        "--certificate", "c.npz", "--effort", "fast",
    ),
    "path": ("path", "--budgets", "1-4", "--report", "r.html", "--effort", "fast"),
    "alternatives": ("alternatives", "-k", "3", "--certificate", "c.npz"),
}  # fmt: skip
# Words of standard error once there is a model that must be kept.
KEEPS = ("incumbent", "cross-validating", "alternatives for")
KEEPS_AFTER_CHOICE = (*KEEPS, "searching and proving")
# Seconds until a warm command or one that compiles is interrupted, at most, and until
# it must have ended: the function being compiled is finished first.
WARM, COLD, PATIENCE = 15.0, 80.0, 90.0
# Every so many commands have an empty cache.
EVERY = int(os.environ.get("CAMPAIGN_COLD_EVERY", "3"))
ENDED, KILLED = 130, -signal.SIGINT


def run(unit: Unit) -> Tally:
    """One command."""
    tally = Tally()
    rng = np.random.default_rng([unit.seed, unit.index])
    is_cold = unit.index % EVERY == EVERY - 1
    with tempfile.TemporaryDirectory() as folder:
        for text in _interrupted(rng, Path(folder), is_cold, tally):
            tally.violate(unit, text)
    return tally


def _interrupted(rng, folder: Path, is_cold: bool, tally: Tally):
    name = str(rng.choice(list(COMMANDS)))
    row = "empty cache" if is_cold else name
    tally.count(NAME, row, "tried")
    _write_table(rng, folder / "t.csv")
    words, options = COMMANDS[name][0], COMMANDS[name][1:]
    command = [sys.executable, "-X", "faulthandler", "-m", "frugalsvm", words]
    environment = dict(os.environ)
    if is_cold:
        environment["NUMBA_CACHE_DIR"] = str(folder / "cache")
    errors = folder / "errors"
    with open(errors, "wb") as stream:
        process = subprocess.Popen(
            [*command, "t.csv", "-t", "y", *options], cwd=folder, env=environment,
            stdout=subprocess.DEVNULL, stderr=stream,
        )  # fmt: skip
    time.sleep(float(rng.uniform(0.0, COLD if is_cold else WARM)))
    seen, twice = errors.read_text(), rng.random() < 0.15
    has_ended = process.poll() is not None
    process.send_signal(signal.SIGINT)
    if twice:
        time.sleep(float(rng.uniform(0.0, 0.5)))
        process.send_signal(signal.SIGINT)
    sent = time.perf_counter()
    try:
        code = process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        yield f"hang: {name}: more than {PATIENCE:g} s after Ctrl-C"
        return
    tally.measure(f"seconds after Ctrl-C, {row}", time.perf_counter() - sent)
    said = errors.read_text()
    if not has_ended and code in (ENDED, KILLED):
        tally.count(NAME, row, "interrupted")
    yield from _objections(name, folder, code, seen, said, has_ended, twice)


def _objections(name, folder, code, seen, said, has_ended, twice):
    tail = said[-1500:]
    # Ctrl-C while Python or NumPy is loaded may be any error.
    is_early = code == 1 and "reading t.csv" not in said
    if code not in (0, ENDED, KILLED) and not is_early:
        yield f"exit code: {name}: {code}: {tail}"
    for words in ("Traceback", "Exception ignored", "Fatal"):
        # Before our code is loaded, Python prints one itself, and a second Ctrl-C may
        # come while it ends.
        if words in said and "reading t.csv" in said and not twice:
            yield f"{words}: {name}: {code}: {tail}"
            break
    keeps = KEEPS_AFTER_CHOICE if "auto" in COMMANDS[name] else KEEPS
    must_keep = any(words in seen for words in keeps) and not twice
    model = folder / "m.json"
    if name.startswith("fit"):
        if model.exists():
            json.loads(model.read_text())
        elif must_keep or code == 0:
            yield f"no model: {name}: {code}: {tail}"
    if code == ENDED and "before a result" in said and model.exists():
        yield f"a model, and no result: {name}: {tail}"
    if has_ended and code != 0:
        yield f"failed: {name}: {tail}"


def _write_table(rng, path: Path) -> None:
    m, n = int(rng.integers(100, 600)), int(rng.integers(8, 60))
    X = rng.normal(size=(m, n)).round(3)
    colours = rng.choice(["red", "blue", "green"], m)
    y = np.where(X[:, 0] + X[:, 1] + rng.normal(size=m) > 0, "yes", "no")
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"x{j}" for j in range(n)), "colour", "y"])
        writer.writerows(
            [*row, colour, label]
            for row, colour, label in zip(X.tolist(), colours, y, strict=True)
        )
