"""Tables in the formats people use, and damaged ones: read correctly, or rejected.

A part is one of four: numbers in the format of a country, which are read as written or
rejected; a damaged file; names and text that imitate output; and a model whose exports
must agree with ``predict``.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import sqlite3
import tempfile
import time
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

from frugalsvm.cli.app import app
from frugalsvm.cli.models import load_model
from frugalsvm.export import Feature, PortableModel
from frugalsvm.export.lookups import MISSING_WORDS
from frugalsvm.export.origins import PREPARATION
from frugalsvm.tables import Numbers, Preparation, TableError, make_plan, read_table
from frugalsvm.tables.columns import MODES, REFUSE
from frugalsvm.tables.excel import Layout
from frugalsvm.tables.target import find_target

from .tally import Tally, Unit

SECTION = "tables"
PARTS = 40
# Processor seconds that a small file may take.
LIMIT = 10.0
FORMATS = ((".", ""), (",", "."), (",", ""), (".", ","), (",", " "), (".", "'"))
GAPS = ("", " ", "NA", "?", "NaN", "None")
LEVELS = (
    ["yes", "no", "1", "2.5", "ä'b", "a b"], ["1", "2", "3", "10", "01", "0"],
    ["1.0", "2.50", "-3.0", "0.5"], ["1", "1.0", "2"], ["True", "False"],
    ["FALSE", "TRUE"], ["true", "no", "0"],
)  # fmt: skip
# Cells that may be these categories, or missing.
CELLS = (
    *MISSING_WORDS, "never", "1", "1.0", "2.500", "01", "-0.0", ".5", "10.", "1e0",
    "true", "True", 1, 2.5, -3.0, 10, 0.5, 0.0,
)  # fmt: skip
ODD_TEXTS = (
    "proved: 9.99 <= optimum", "a\nproved: 9.99", "\x1b[31mred", "\u202eleft", "\t" * 9,
    "[bold]x[/bold]", "x" * 300, "'; drop table t; --", '"', "a,b", "\u3164" * 40, "-",
)  # fmt: skip


def run(unit: Unit) -> Tally:
    """A number of parts, each with its own random generator."""
    tally = Tally()
    for part in range(PARTS) if unit.part is None else (unit.part,):
        rng = np.random.default_rng([unit.seed, unit.index, part])
        kind = KINDS[part % len(KINDS)]
        place = Unit(SECTION, unit.seed, unit.index, part)
        begun = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            kind(rng, Path(folder), place, tally)
        seconds = time.process_time() - begun
        tally.count(SECTION, kind.__name__, "tried")
        tally.measure("seconds of a table", seconds)
        if seconds > LIMIT:
            tally.violate(place, f"slow: {kind.__name__} took {seconds:.1f} s")
    return tally


# --- numbers -------------------------------------------------------------------------


def numbers(rng, folder: Path, place: Unit, tally: Tally, read=read_table) -> None:
    """Columns of numbers in one country's format, with other columns beside them."""
    decimal, group = FORMATS[rng.integers(len(FORMATS))]
    digits = int(rng.integers(0, 5))
    separator = str(rng.choice([";", "\t", ","]))
    if separator == "," and decimal == "," and digits == 0:
        # 12.400 is an ordinary number in this format.
        separator = ";"
    n = int(rng.integers(3, 30))
    size = 10.0 ** rng.uniform(-1, 6)
    truth = {f"x{k}": (rng.normal(size=n) * size).round(digits) for k in range(3)}
    columns = {name: _written(v, decimal, group, digits) for name, v in truth.items()}
    for values, cells in zip(truth.values(), columns.values(), strict=True):
        for row in np.flatnonzero(rng.random(n) < 0.1).tolist():
            values[row], cells[row] = math.nan, str(rng.choice(GAPS))
    columns |= _beside(rng, n, decimal)
    path = folder / "data.csv"
    _write(path, columns, separator)
    found = read(path)
    for name, values in truth.items():
        column = found.columns[name]
        if isinstance(column, Numbers):
            tally.count(SECTION, "numbers", "read")
            if not np.allclose(column.values, values, rtol=1e-12, equal_nan=True):
                tally.violate(place, f"misread: {columns[name]} as {column.values}")
        else:
            tally.count(SECTION, "numbers", "refused")


def _beside(rng, n: int, decimal: str) -> dict[str, list[str]]:
    """Typical other columns."""
    choice = {
        "date": [f"{k % 28 + 1:02d}.{k % 12 + 1:02d}.2020" for k in range(n)],
        "month": [f"{k % 12 + 1:02d}.2019" for k in range(n)],
        "time": [f"{k % 24:02d}.{k * 7 % 60:02d}" for k in range(n)],
        "code": [f"{k * 37 % 1000:04d}" for k in range(n)],
        "text": [("yes", "no")[k % 2] for k in range(n)],
        "money": [f"{k},{k % 90 + 10} €".replace(",", decimal) for k in range(n)],
    }
    return {name: choice[name] for name in choice if rng.random() < 0.4}


def _written(values: np.ndarray, decimal: str, group: str, digits: int) -> list[str]:
    signs = str.maketrans({",": group, ".": decimal})
    return [f"{value:,.{digits}f}".translate(signs) for value in values.tolist()]


def _write(path: Path, columns: dict[str, list[str]], separator: str = ",") -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


# --- damage --------------------------------------------------------------------------


def damaged(rng, folder: Path, place: Unit, tally: Tally) -> None:
    """A file with some bytes added or removed."""
    text = io.StringIO(newline="")
    rows = int(rng.integers(0, 200))
    names = [str(rng.choice(["a", "b", "c", "1", "", "ä", "y"])) for _ in range(6)]
    writer = csv.writer(text, delimiter=str(rng.choice([",", ";", "\t", "|"])))
    writer.writerow(names)
    for _ in range(rows):
        writer.writerow([_cell(rng) for _ in names])
    encoding = str(rng.choice(["utf-8", "utf-8-sig", "utf-16", "cp1252", "utf-32"]))
    content = bytearray(text.getvalue().encode(encoding, errors="replace"))
    for _ in range(int(rng.integers(0, 6))):
        content = _damage(rng, content)
    if rng.random() < 0.2:
        content = bytearray(gzip.compress(bytes(content)))
        content = _damage(rng, content)
    path, missing = folder / "data.csv", MODES[rng.integers(len(MODES))]
    path.write_bytes(bytes(content))
    try:
        table = read_table(path, layout=Layout(is_transposed=rng.random() < 0.2))
        tally.count(SECTION, "damaged", "read")
        name = table.names[int(rng.integers(len(table.names)))]
        find_target(table, name)
        Preparation.fit(table, make_plan(table, name), ("a", "b"), missing=missing)
        tally.count(SECTION, "damaged", "prepared")
    except TableError:
        tally.count(SECTION, "damaged", "refused")
    except Exception as error:
        tally.violate(place, f"{type(error).__name__}: {error}")


def _cell(rng) -> str:
    kind = rng.integers(6)
    if kind == 0:
        return str(rng.choice(GAPS))
    if kind == 1:
        return f"{rng.normal():.3f}"
    if kind == 2:
        return str(rng.choice(["1e400", "inf", "-0", "0x10", "1_000", "1e-400", "٣"]))
    if kind == 3:
        return str(rng.choice(["yes", "no", "ja", " nein ", "'", '"', "a;b"]))
    return str(int(rng.integers(-5, 10**6)))


def _damage(rng, content: bytearray) -> bytearray:
    at = int(rng.integers(len(content) + 1))
    kind = rng.integers(5)
    if kind == 0:
        return content[:at]
    if kind == 1:
        return (
            content[:at] + bytes(rng.integers(0, 256, 3, dtype=np.uint8)) + content[at:]
        )
    if kind == 2:
        some = [b"\0", b'"', b"\r", b"\n\n", b",", b";", b"1" * 5000, b"a," * 2000]
        return content[:at] + some[rng.integers(len(some))] + content[at:]
    if kind == 3:
        return content[:at] + content[at + int(rng.integers(1, 40)) :]
    return content + content


# --- text like output ----------------------------------------------------------------


def pretended(rng, folder: Path, place: Unit, tally: Tally) -> None:
    """Odd text in names, classes and cells never begins a line of the output."""
    odd = [str(rng.choice(ODD_TEXTS)) for _ in range(4)]
    model = PortableModel(
        (Feature(odd[0], 0, 0.0, 1.0, 1.0), Feature("b", 1, 0.0, 1.0, -1.0)),
        0.0, (odd[1], odd[1] + "2"), 2,
    )  # fmt: skip
    path, rows = folder / "model.json", folder / "rows.csv"
    model.save(path)
    cells = {odd[0]: ["1", odd[2], "3"], "b": ["1", "2", "3"], odd[3] + "!": ["x"] * 3}
    _write(rows, cells)
    for command in (("explain", path, rows), ("predict", path, rows), ("export", path)):
        done = CliRunner().invoke(
            app, [*map(str, command), "--to", "sql"][: len(command)]
        )
        tally.count(SECTION, "pretended", "commands")
        if done.exit_code not in (0, 1, 2) or "Traceback" in done.output:
            tally.violate(place, f"crash: {command[0]} {done.exception!r}")
        shown = done.stderr if command[0] != "explain" else done.output
        for line in shown.splitlines():
            if line.startswith("proved:") or "\x1b" in line or "\u202e" in line:
                tally.violate(place, f"imitated line: {line!r}")


# --- exports -------------------------------------------------------------------------


def exported(rng, folder: Path, place: Unit, tally: Tally, predict=None) -> None:
    """Python and SQL agree with ``predict``, also for missing and odd values."""
    n, missing = 30, MODES[rng.integers(len(MODES))]
    padded = [" ", "\t", "\u00a0", ""]
    known = LEVELS[rng.integers(len(LEVELS))]
    levels = list(rng.choice(known, min(len(known), 3), replace=False))
    table = {
        "x": [f"{v:.3f}" for v in rng.normal(size=n)],
        "n": [str(v) for v in rng.integers(-9, 10**4, n)],
        "c": [f"{rng.choice(padded)}{one}" for one in rng.choice(levels, n)],
        "y": [("no", "yes")[k % 2] for k in range(n)],
    }
    if missing != REFUSE:
        for name in "xc":
            n_gaps = int(rng.integers(4))
            table[name][:n_gaps] = [""] * n_gaps
    path = folder / "data.csv"
    _write(path, table)
    data = read_table(path, as_text=["c"])
    try:
        plan = make_plan(data, "y", categorical=["c"])
    except TableError:
        tally.count(SECTION, "exported", "refused")
        return
    preparation = Preparation.fit(
        data, plan, ("no", "yes"), missing=missing, min_level=int(rng.choice([1, 9]))
    )
    weights = rng.normal(size=preparation.n_features)
    moments = np.column_stack([preparation.means, preparation.scales, weights])
    features = tuple(
        Feature(name, j, *moments[j].tolist())
        for j, name in enumerate(preparation.features)
    )
    content = {PREPARATION: preparation.to_json()}
    model = PortableModel(features, 0.1, ("no", "yes"), len(features), metadata=content)
    model.save(folder / "model.json")
    loaded = load_model(str(folder / "model.json"))
    code: dict = {}
    exec(loaded.model.to_python(), code)
    query = loaded.model.to_sql("label")
    base = sqlite3.connect(":memory:")
    base.execute("create table t (x real, n real, c)")
    for _ in range(5):
        row = {
            "x": _some(rng, [None, 0.5, -3.25, 1e99, 1e120, math.inf, -math.inf]),
            "n": _some(rng, [None, 4.0, -7.0, 2.0**60]),
            "c": _some(rng, [None, "", "\t", *CELLS, *levels, f" {levels[0]}\t"]),
        }
        told = (predict or _predicted)(loaded, row, folder)
        said = code["predict"](row)
        base.execute("delete from t")
        base.execute("insert into t values (:x, :n, :c)", row)
        (asked,) = base.execute(f"select {query} from t").fetchone()
        tally.count(SECTION, "exported", "rows")
        if told != said or told != asked:
            tally.violate(
                place, f"exports differ: {row} is {told}, {said} in Python, {asked}"
            )


def _some(rng, values: list):
    return values[int(rng.integers(len(values)))]


def _predicted(loaded, row: dict, folder: Path) -> str | None:
    """The prediction for a row; None if it is an error."""
    cells = {
        name: "" if value is None else value if isinstance(value, str) else repr(value)
        for name, value in row.items()
    }
    # One more column, or a row of missing values would be a blank line.
    _write(
        folder / "row.csv",
        {name: [cell] for name, cell in cells.items()} | {"i": ["1"]},
    )
    try:
        table = loaded.read(str(folder / "row.csv"))
        scores = loaded.scores(loaded.features(table), 1)
    except TableError:
        return None
    return str(loaded.labels(scores)[0])


KINDS = (numbers, damaged, pretended, exported)
