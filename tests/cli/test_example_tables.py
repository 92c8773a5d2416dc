"""The small tables of the examples, one for each situation."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "tables"
FAST = ("--effort", "fast", "--folds", "3", "--model", "model.json", "--certificate",
        "proof.npz")  # fmt: skip
COMMANDS = {
    shlex.split(command)[2]: shlex.split(command)[1:]
    for command in re.findall(
        r"`(frugalsvm [^`]+)`", (FOLDER / "SOURCE.md").read_text()
    )
}
# What each table shows, in the words of the command.
SAID = {
    "loans_with_gaps.csv": "with an indicator in the same feature: income",
    "visits.xlsx": "1 line above the header left out",
    "german.csv": "numbers with decimal commas and points between thousands, like "
    "1.234,5: 'Preis'",
    "genes.csv": "labels of 38 of 40 samples from samples.csv",
    "rare_cities.csv": "(other) in city: 12 categories in fewer than 5 rows each",
    "without_labels.csv": "rows without a target left out",
    "loans_coded.csv": "4 columns of 0 and 1 are categories of purpose and count "
    "as one feature",
    "payments.csv": "class weights: balanced, because only 4.0 % of the rows are 'yes'",
    "members.csv": "dropped note: free text",
}


def test_each_table_has_a_command():
    tables = {one.name for one in FOLDER.iterdir() if one.suffix in (".csv", ".xlsx")}
    assert tables - {"samples.csv"} == set(COMMANDS) == set(SAID)


@pytest.mark.parametrize("name", list(COMMANDS))
def test_from_file_to_predictions_and_proof(run, run_json, folder, name):
    if name.endswith(".xlsx"):
        pytest.importorskip("openpyxl")
    shutil.copytree(FOLDER, folder, dirs_exist_ok=True)
    done = run(*COMMANDS[name], *FAST)
    assert SAID[name] in done.stderr
    command = next(
        line for line in done.stdout.split("\n") if "frugalsvm verify" in line
    )
    run(*shlex.split(command)[1:])
    options = [one for one in COMMANDS[name] if one in ("--transpose",)]
    if "--sheet" in COMMANDS[name]:
        options += ["--sheet", "visits"]
    rows = run_json("predict", "model.json", name, *options, "--strict")["rows"]
    assert len({one["prediction"] for one in rows}) == 2
    for kind in ("sql", "python"):
        run("export", "model.json", "--to", kind)


def test_rows_without_labels_are_refused_first(run):
    done = run("fit", FOLDER / "without_labels.csv", "-t", "customer", code=1)
    assert "--unlabelled drop leaves such rows out" in done.stderr


def test_a_table_the_wrong_way_round_is_noticed(run):
    done = run("fit", FOLDER / "genes.csv", "-t", "type", code=2)
    assert "--transpose, with --labels FILE" in done.stderr


def test_what_a_model_cannot_use_is_dropped(run_json):
    done = run_json("fit", FOLDER / "members.csv", "-t", "member", *FAST[:4])
    reasons = done["data"]["dropped"]
    assert set(reasons) == {"member no", "e-mail", "since", "note", "club"}
    assert "identifiers" in reasons["member no"]
    assert "dates like '2019-01-01'" in reasons["since"]
    assert "identifiers" in reasons["e-mail"]


def test_only_whole_codes_are_called_categories(run, folder):
    rows = [row.split(",") for row in (FOLDER / "loans_coded.csv").read_text().split()]
    left_out = {rows[0].index("purpose_tv"), rows[0].index("housing_rent")}
    kept = [",".join(one for j, one in enumerate(row) if j not in left_out)
            for row in rows]  # fmt: skip
    (folder / "part.csv").write_text("\n".join(kept))
    done = run("fit", "part.csv", "-t", "outcome", *FAST[:2], "--folds", "0")
    assert "7 features" in done.stderr
    assert "columns of 0 and 1" not in done.stderr
