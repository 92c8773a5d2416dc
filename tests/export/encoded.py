"""Random tables with categories, random encoders of them, and exports of models."""

import sqlite3

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC

from frugalsvm import PortableModel
from frugalsvm.export.onnx import OnnxColumns
from frugalsvm.export.origins import input_columns, read_origins

# Rows that a model has not seen.
N_NEW = 25
# Texts that programs confuse, strip or take for gaps and numbers.
TEXTS = [
    "a", "A", "a ", " a", "ä", "a\u0308", "", "O'Neil", '"x"', "NA", "nan", "None",
    "null", "1", "1.0", "01", "True", "(other)", "(missing)", "日本", "x;--", "\\",
    "a\tb", "%", "_",
]  # fmt: skip
NUMBERS = [0, 1, 2, 10, -3, 0.5, 0.1 + 0.2, 1e16, 1e-7]
NAMES = [
    "score",
    'say "hi"',
    "O'Neil",
    "with space",
    "label",
    "X",
    "é",
    "n=1",
    "inner b",
]


def random_table(rng, n_rows):
    """A table with numbers, texts, categories that are numbers, and truth values."""
    names = [NAMES[k] for k in rng.permutation(len(NAMES))[:7]]
    kinds = ["number", "number", "text", "text", "code", "truth", "number"]
    columns = {}
    for name, kind in zip(names, kinds, strict=True):
        columns[name] = _column(rng, kind, n_rows)
    return pd.DataFrame(columns), dict(zip(names, kinds, strict=True))


def _column(rng, kind, n_rows):
    has_gaps = rng.random() < 0.5
    gaps = rng.random(n_rows) < 0.15
    if kind == "number":
        values = rng.normal(size=n_rows) * 10.0 ** rng.integers(-2, 3)
        return np.where(gaps & has_gaps, np.nan, values)
    if kind == "text":
        some = list(rng.choice(len(TEXTS), int(rng.integers(1, 8)), replace=False))
        chances = rng.dirichlet(np.ones(len(some)) / 2)
        values = np.array(
            [TEXTS[k] for k in rng.choice(some, n_rows, p=chances)], object
        )
        # SimpleImputer does not fill None.
        values[gaps & has_gaps] = np.nan
        return values
    if kind == "code":
        some = rng.choice(NUMBERS, int(rng.integers(1, 6)), replace=False)
        values = rng.choice(some, n_rows)
        if rng.random() < 0.5 and not has_gaps:
            return np.trunc(values).astype(np.int64)
        return np.where(gaps & has_gaps, np.nan, values)
    return rng.random(n_rows) < 0.5


def new_rows(rng, table, kinds):
    """Rows with values of the table, with new ones, and with gaps."""
    found = table.sample(N_NEW, replace=True, random_state=int(rng.integers(1 << 30)))
    found = found.reset_index(drop=True).astype(object)
    for name, kind in kinds.items():
        gaps, new = rng.random(N_NEW) < 0.1, rng.random(N_NEW) < 0.2
        strange = {
            "number": list(rng.normal(size=5)), "text": TEXTS,
            "code": [*NUMBERS, 77.25], "truth": [True, False],
        }[kind]  # fmt: skip
        for k in np.flatnonzero(new):
            found.at[k, name] = strange[rng.integers(len(strange))]
        for k in np.flatnonzero(gaps):
            found.at[k, name] = np.nan
    return typed(found, kinds)


def typed(table, kinds):
    numbers = {n: "float64" for n, kind in kinds.items() if kind in ("number", "code")}
    return table.astype(numbers)


def random_encoder(rng, kinds):
    """A column transformer of a table with columns of some kinds."""
    parts = []
    for k, (name, kind) in enumerate(kinds.items()):
        make = {"number": _of_number, "text": _of_category, "code": _of_category,
                "truth": _of_category}[kind]  # fmt: skip
        parts.append((f"part {k}", make(rng, kind), [name]))
        if rng.random() < 0.15 and kind != "truth":
            parts.append((f"gaps {k}", MissingIndicator(features="all"), [name]))
    numbers = [n for n, kind in kinds.items() if kind == "number"]
    if rng.random() < 0.3:
        last = numbers[-1]
        parts = [one for one in parts if one[2] != [last]]
        rest = SimpleImputer() if rng.random() < 0.7 else "drop"
    else:
        rest = "drop"
    order = rng.permutation(len(parts))
    made = ColumnTransformer(
        [parts[k] for k in order], remainder=rest, sparse_threshold=0
    )
    after = [
        [],
        [StandardScaler()],
        [MaxAbsScaler()],
        [SimpleImputer(), RobustScaler()],
    ]
    return make_pipeline(made, *after[rng.integers(4)])


def _scaler(rng):
    some = [StandardScaler(), MinMaxScaler(), RobustScaler(), "passthrough"]
    return some[rng.integers(4)]


def _of_number(rng, kind):
    imputer = SimpleImputer(
        strategy=str(rng.choice(["mean", "median", "constant", "most_frequent"])),
        add_indicator=bool(rng.random() < 0.5), keep_empty_features=True,
    )  # fmt: skip
    steps = [imputer, _scaler(rng)]
    if rng.random() < 0.4:
        steps = steps[::-1]
    return make_pipeline(*steps)


def _of_category(rng, kind):
    steps = []
    if rng.random() < 0.4 and kind != "truth":
        constant = "gone" if kind == "text" else 7
        most = rng.random() < 0.5
        steps.append(
            SimpleImputer(
                strategy="most_frequent" if most else "constant",
                fill_value=None if most else constant,
                add_indicator=bool(rng.random() < 0.4),
            )
        )
    if rng.random() < 0.3:
        unknown = ["error", "use_encoded_value"][rng.integers(2)]
        steps.append(
            OrdinalEncoder(
                handle_unknown=unknown,
                unknown_value=None if unknown == "error" else -1,
                min_frequency=None if rng.random() < 0.5 else 5,
                encoded_missing_value=-2,
            )
        )
    else:
        unknown = ["error", "ignore", "infrequent_if_exist"][rng.integers(3)]
        steps.append(
            OneHotEncoder(
                sparse_output=False, handle_unknown=unknown,
                drop=[None, "first", "if_binary"][rng.integers(3)],
                min_frequency=[None, 5, 0.1][rng.integers(3)],
                max_categories=[None, 3][rng.integers(2)],
            )
        )  # fmt: skip
    if rng.random() < 0.3:
        steps.append(StandardScaler())
    return (
        steps[0]
        if len(steps) == 1
        else Pipeline([(f"step {k}", one) for k, one in enumerate(steps)])
    )


def fitted(rng, classes=(0, 1)):
    """A pipeline, its table, and the kinds of its columns."""
    table, kinds = random_table(rng, 80)
    places = rng.integers(0, len(classes), 80)
    places[: len(classes)] = np.arange(len(classes))
    target = np.array(classes)[places]
    pipeline = make_pipeline(random_encoder(rng, kinds), LinearSVC(max_iter=50))
    return pipeline.fit(table, target), table, kinds


def expected(pipeline, table):
    """Scores; row by row, None where the pipeline raises an error.

    Of more than two classes each row has a list of them.
    """
    try:
        return pipeline.decision_function(table).tolist()
    except (ValueError, TypeError):
        found = []
    for k in range(len(table)):
        try:
            found.append(pipeline.decision_function(table.iloc[[k]])[0].tolist())
        except (ValueError, TypeError):
            found.append(None)
    return found


def plain_rows(table):
    """Rows as dicts, with None for a gap."""
    return [
        {name: None if value is None or value != value else value
         for name, value in row.items()}
        for row in table.astype(object).to_dict("records")
    ]  # fmt: skip


def by_json(model, table):
    again = PortableModel.from_json(model.to_json())
    try:
        return again.decision_function(table).tolist()
    except ValueError:
        found = []
    for k in range(len(table)):
        try:
            found.append(again.decision_function(table.iloc[[k]])[0].tolist())
        except ValueError:
            found.append(None)
    return found


def by_python(model, table):
    space = {}
    exec(model.to_python(), space)
    return [space["decision"](row) for row in plain_rows(table)]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def _unpacked(row):
    """A score, a list of those of several classes, or None if there are none."""
    if None in row:
        assert set(row) == {None}
        return None
    return row[0] if len(row) == 1 else list(row)


def by_sqlite(model, table, kinds, what="score"):
    types = {"number": "REAL", "code": "REAL", "text": "TEXT", "truth": "INTEGER"}
    connection = sqlite3.connect(":memory:")
    columns = ", ".join(f"{quoted(n)} {types[kinds[n]]}" for n in table)
    connection.execute(f"CREATE TABLE t ({columns})")
    marks = ", ".join("?" * table.shape[1])
    rows = [tuple(row.values()) for row in plain_rows(table)]
    connection.executemany(f"INSERT INTO t VALUES ({marks})", rows)
    found = connection.execute(f"SELECT {model.to_sql(what)} FROM t ORDER BY rowid")
    return [_unpacked(row) for row in found]


def with_gaps(model, table):
    """The table as a graph reads it: some texts stand for gaps."""
    gaps = OnnxColumns(read_origins(model)).gaps
    found = {}
    for one, gap in gaps.items():
        name = one.removesuffix(" (input)")
        found[name] = table[name].astype(object).where(table[name] != gap)
    return table.assign(**found)


def by_onnx(model, table):
    """Scores of ONNX Runtime; None for NaN."""
    import onnxruntime

    session = onnxruntime.InferenceSession(model.to_onnx().SerializeToString())
    gaps = OnnxColumns(read_origins(model)).gaps
    rows, given = plain_rows(table), {}
    for one in session.get_inputs():
        name = one.name.removesuffix(" (input)")
        is_text = one.type == "tensor(string)"
        gap = gaps.get(one.name, "") if is_text else np.nan
        values = [gap if row[name] is None else row[name] for row in rows]
        column = np.array(values, dtype=object if is_text else float)
        given[one.name] = column.reshape(-1, 1)
    (scores,) = session.run(["score"], given)
    return [None if np.isnan(one).all() else one.tolist() for one in scores]


def used_only(model, table, like):
    """The table, with the first row of another in columns that a model does not use."""
    unused = [n for n in table if n not in input_columns(model)]
    return table.assign(**{n: like[n].iloc[0] for n in unused})


def by_postgres(ask, model, table, kinds):
    """Scores of PostgreSQL; gaps in numbers are NULL or NaN in turn."""
    types = {"text": "TEXT", "truth": "BOOLEAN"}
    columns = ", ".join(
        f"{quoted(n)} {types.get(kinds[n], 'DOUBLE PRECISION')}" for n in table
    )
    lines = [f"CREATE TEMPORARY TABLE t (place INTEGER, {columns});"]
    for k, row in enumerate(plain_rows(table)):
        values = ", ".join(_literal(row[n], kinds[n], k) for n in table)
        lines.append(f"INSERT INTO t VALUES ({k}, {values});")
    lines.append(f"SELECT {model.to_sql()} FROM t ORDER BY place;")
    rows = [(one or "NULL").split("|") for one in ask("\n".join(lines))]
    return [_unpacked([None if x == "NULL" else float(x) for x in r]) for r in rows]


def _literal(value, kind, k):
    if value is None:
        return "'NaN'" if kind in ("number", "code") and k % 2 else "NULL"
    return "'" + str(value).replace("'", "''") + "'"
